package vaglio_test

import (
	"maps"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	rules "github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// gateAt is a gate in the home of u, with every kind of thing that the guard keeps.
func gateAt(home string) own.Facts {
	return own.Facts{
		Data:     []string{home + "/.local/share/metnos", home + "/.telegram-token"},
		Config:   []string{home + "/vaglio-policy.yaml"},
		Programs: []string{home + "/.local/bin/vaglio"},
		Settings: []string{
			home + "/.claude/settings.json", home + "/.codex/config.toml", home + "/.gemini/settings.json", home + "/.qwen/settings.json",
			home + "/.config/opencode/opencode.json", home + "/.copilot/hooks.json", home + "/.openclaw/openclaw.json", home + "/.cline/hooks.json",
		},
		Local:     []string{".claude/settings.json", ".claude/settings.local.json", ".gemini/settings.json", ".qwen/settings.json", ".cursor/hooks.json"},
		Addresses: []string{"127.0.0.1:8787"},
		Processes: []int{4242},
		Command:   "vaglio serve",
		Units:     []string{"vaglio.service"},
		Env: map[string]string{
			"METNOS_DATA_DIR": home + "/.local/share/metnos", "METNOS_POLICY": home + "/vaglio-policy.yaml",
			"METNOS_TELEGRAM_TOKEN_FILE": home + "/.telegram-token",
		},
	}
}

// TestSteps judges the sessions in testdata, call by call: how the last call of each ends. The
// calls before it pass. A short run judges every tenth session.
func TestSteps(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	data, err := os.ReadFile("testdata/steps.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, n := folderOf{"/home/u/app/a": ""}, 0
	byRules := vaglio.Gate{Judge: rules.Rules()} // as where no policy says otherwise
	engine := engineAt(t, files, byRules)
	for row := range strings.Lines(string(data)) {
		row = strings.TrimRight(row, "\n")
		if file, ok := strings.CutPrefix(row, "file "); ok {
			name, text, _ := strings.Cut(file, " ")
			files["/home/u/app/"+name] = unescaped(text)
			engine = engineAt(t, files, byRules)
			continue
		}
		want, calls, ok := strings.Cut(row, "\t")
		if !ok {
			continue // a heading
		}
		if n++; testing.Short() && n%10 != 0 {
			continue
		}
		at, disk := engine, files
		if strings.Contains(calls, "put: ") {
			disk = maps.Clone(files)
			at = engineAt(t, disk, byRules)
		}
		if end, why := endOf(t, at, disk, strings.Split(calls, " ;; ")); end != want {
			t.Errorf("%s: ends with %s, want %s: %s", calls, end, want, why)
		}
	}
	if n < 300 {
		t.Errorf("only %d rows", n)
	}
}

// engineAt returns an engine whose last judge is effects, behind others that a test names.
func engineAt(t *testing.T, files folderOf, first ...vaglio.Gate) *vaglio.Engine {
	t.Helper()
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := vaglio.New(vaglio.Config{
		Judges: append(first, vaglio.Gate{Judge: judge, MinScore: effects.Threshold, Reads: true}), Home: "/home/u", Files: files,
		Workspaces: []string{"/home/u/app"}, Own: gateAt("/home/u"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// endOf makes the calls of a session until one does not pass. If that is not the last one, it
// says so. `put: NAME: TEXT` is no call: a file is then on the disk. A call behind
// `let: ` is asked about, and a person lets it.
func endOf(t *testing.T, engine *vaglio.Engine, disk folderOf, calls []string) (end, why string) {
	t.Helper()
	var sessions vaglio.Sessions
	for i, line := range calls {
		if file, ok := strings.CutPrefix(line, "put: "); ok {
			name, text, _ := strings.Cut(file, ": ")
			disk[path.Join("/home/u/app", name)] = unescaped(text)
			continue
		}
		line, let := strings.CutPrefix(line, "let: ")
		p := stepOf(t, line)
		p.Facts = sessions.Facts(&p)
		v, err := engine.Judge(t.Context(), p)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", line, err)
		case v.Approved:
			sessions.Note(&p, time.Now(), v.Did)
			continue
		case let:
			sessions.Note(&p, time.Now(), engine.Did(p))
			continue
		}
		if end = "ask"; v.BlockedBy == vaglio.PhaseGuard {
			end = "deny"
		}
		if i < len(calls)-1 {
			end += " too early"
		}
		return end, v.Reason
	}
	return "pass", ""
}

// stepOf reads a call: a command line, or what another tool is given behind the name of one.
func stepOf(t *testing.T, line string) vaglio.Proposal {
	t.Helper()
	p := vaglio.Proposal{Session: "s", Executor: "Bash", Context: vaglio.Context{Cwd: "/home/u/app"}}
	switch what, rest, _ := strings.Cut(line, ": "); what {
	case "background":
		p.Args = vaglio.Args{"command": unescaped(rest), "run_in_background": true}
	case "write":
		name, text, _ := strings.Cut(rest, ": ")
		p.Executor, p.Args = "Write", vaglio.Args{"file_path": "/home/u/app/" + name, "content": unescaped(text)}
	case "edit":
		name, text, _ := strings.Cut(rest, ": ")
		p.Executor, p.Args = "Edit", vaglio.Args{"file_path": "/home/u/app/" + name, "old_string": "x", "new_string": unescaped(text)}
	case "tool":
		name, text, _ := strings.Cut(rest, ": ")
		p.Executor = name
		if err := strictjson.Unmarshal([]byte(text), &p.Args); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	default:
		p.Args = vaglio.Args{"command": unescaped(line)}
	}
	return p
}

// unescaped replaces \n, \t and \\ in a row.
func unescaped(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text)
}
