package main

import (
	"bufio"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/filetest"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// turnRow is a labelled turn: the calls of one session, with the last call's label, and the files as
// they are before it.
type turnRow struct {
	Calls []struct {
		Executor string      `json:"executor"`
		Args     vaglio.Args `json:"args"`
		Intent   string      `json:"intent"`
	} `json:"calls"`
	Files []struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	} `json:"files"`
	Root   string `json:"root"`
	Cwd    string `json:"cwd"`
	Home   string `json:"home"`
	Cat    string `json:"cat"`
	Form   string `json:"form"`
	Expect string `json:"expect"`
}

// replayTurns puts the calls of labelled turns to the gate one after the other, as the dispatcher
// does, and prints how many turns are stopped: if the gate sees the agent's files, and if it only
// remembers what went through it (the agent works elsewhere). A call before the last that is asked
// about counts as allowed by a person; one that the guard denies ends the turn and stops it.
func replayTurns(t *testing.T, dir string) {
	t.Helper()
	const home = "/home/user"
	rows := turnRows(t, filepath.Join(dir, "two_step.jsonl"))
	t.Logf("%-14s %-6s %-22s %6s %9s %9s %9s", "turns", "label", "what the gate sees", "turns", "stopped", "passed", "earlier asked")
	for _, sees := range []string{"files", "memory"} {
		disk := &seenFiles{}
		engine := corpusEngine(t, home, disk)
		type tally struct{ rows, stopped, earlier int }
		tallies := map[string]*tally{}
		for i := range rows {
			r := &rows[i]
			stopped, earlier := r.replay(t, engine, disk, sees == "files")
			label := "stop"
			if r.Expect == "pass" {
				label = "pass"
			}
			v := tallies[label]
			if v == nil {
				v = &tally{}
				tallies[label] = v
			}
			v.rows++
			v.stopped += count(stopped)
			v.earlier += count(earlier)
			if os.Getenv("VAGLIO_CORPORA_MISSES") != "" && (stopped || label == "pass" && earlier) == (label == "pass") {
				t.Logf("WRONG two_step (%s) %s, %s: want %s", sees, r.Cat, r.Form, r.Expect)
			}
		}
		for _, label := range slices.Sorted(maps.Keys(tallies)) {
			v := tallies[label]
			t.Logf("%-14s %-6s %-22s %6d %9d %9d %9d", "two_step", label, sees, v.rows, v.stopped, v.rows-v.stopped, v.earlier)
		}
	}
}

// replay reports whether the turn was stopped at its last call or denied earlier, and whether an
// earlier call was asked about.
func (r *turnRow) replay(t *testing.T, engine *vaglio.Engine, disk *seenFiles, files bool) (stopped, earlier bool) {
	t.Helper()
	disk.texts = map[string]string{}
	if files {
		disk.texts[r.Root+"/.git/HEAD"] = "ref: refs/heads/main\n"
	}
	var sessions vaglio.Sessions
	for i, c := range r.Calls {
		last := i == len(r.Calls)-1
		if last && files {
			for _, f := range r.Files {
				disk.texts[path.Join(r.Root, f.Path)] = f.Content
			}
		}
		p := vaglio.Proposal{Session: "s", Intent: c.Intent, Executor: c.Executor, Args: c.Args, Context: vaglio.Context{Cwd: r.Cwd}}
		p.Facts = sessions.Facts(&p)
		v, err := engine.Judge(t.Context(), p)
		switch word := verdictWord(t, v, err); {
		case last:
			return word != "pass", earlier
		case word == "block" || word == "error":
			return true, earlier
		case word == "ask":
			earlier = true
		}
		sessions.Note(&p, time.Now(), v.Did)
	}
	return false, earlier
}

func turnRows(t *testing.T, file string) []turnRow {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []turnRow
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r turnRow
		if err := strictjson.UnmarshalLoose(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		rows = append(rows, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// seenFiles contains files in memory, by their absolute paths.
type seenFiles struct{ texts map[string]string }

func (f *seenFiles) Read(folders []string, name string, limit int) ([]byte, error) {
	inside := slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
	if text, ok := f.texts[name]; ok && inside && len(text) <= limit {
		return []byte(text), nil
	}
	return nil, vaglio.ErrAbsent
}

func (f *seenFiles) Look(name string) (string, vaglio.FileKind) {
	for file := range f.texts {
		switch {
		case file == name:
			return name, vaglio.RegularFile
		case strings.HasPrefix(file, name+"/"):
			return name, vaglio.Folder
		}
	}
	return name, vaglio.NoFile
}

func (f *seenFiles) List(folder string, most int) ([]vaglio.Entry, bool) {
	return filetest.List(f.texts, folder, most)
}
