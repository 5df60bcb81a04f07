package project

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
)

//go:embed tools.txt
var tableText string

// table holds what programs run from files, by the program's name.
type table map[string][]row

// row is one line of the table.
type row struct {
	with     []string // words of which one must be there; none asks for nothing
	how      string   // the reader's name
	language string
	files    []string
	read     func(v *visit, r *row)
}

func (r *row) applies(words []string) bool {
	return len(r.with) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(r.with, w) })
}

// readers are the formats of files that a line of the table may name.
func readers() map[string]func(v *visit, r *row) {
	return map[string]func(v *visit, r *row){
		"code": readCode, "makefile": readMakefile, "scripts": readScripts, "justfile": readJustfile,
		"taskfile": readTaskfile, "precommit": readPreCommit, "gitconfig": readGitConfig, "githook": readGitHook, "gitrefs": readGitRefs,
		"changed": readChanged, "generate": readChanged,
		"setting": readSetting, "imports": readImports,
	}
}

// parseTable reads lines of the form "program… | words | reader language: file…".
func parseTable(text string) (table, error) {
	t := table{}
	known := readers()
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		const columns = 3
		parts := strings.SplitN(line, "|", columns)
		if len(parts) != columns {
			return nil, fmt.Errorf("tools.txt:%d: want programs | words | reader: files, got %q", n, line)
		}
		how, files, _ := strings.Cut(parts[2], ":")
		name, language, _ := strings.Cut(strings.TrimSpace(how), " ")
		if known[name] == nil {
			return nil, fmt.Errorf("tools.txt:%d: there is no reader %q", n, name)
		}
		r := row{with: strings.Fields(parts[1]), how: name, language: strings.TrimSpace(language), files: strings.Fields(files), read: known[name]}
		for program := range strings.FieldsSeq(parts[0]) {
			t[program] = append(t[program], r)
		}
		t[""] = append(t[""], r)
	}
	return t, nil
}

// readChanged takes the files that the session wrote, in the folder of the
// command or below it, whose names end as the row tells: a runner finds them by
// itself.
func readChanged(v *visit, r *row) {
	for _, file := range v.c.Changed {
		fits := slices.ContainsFunc(r.files, func(end string) bool { return strings.HasSuffix(file, end) })
		if !fits || !strings.HasPrefix(file, strings.TrimSuffix(v.dir, "/")+"/") || !v.once(file) {
			continue
		}
		text, ok := v.c.Files.Content(file)
		if ok && r.how != "generate" {
			v.add(file, 1, r.language, text)
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if run, ok := strings.CutPrefix(line, "//go:generate "); ok {
				v.add(file, i+1, "sh", run)
			}
		}
	}
}

// endingOf is that of files which a language finds by a name without one.
func endingOf(language string) string {
	switch language {
	case "ruby":
		return ".rb"
	case "node":
		return ".js"
	}
	return ""
}

// readCode takes the files as programs of the row's language, or of the one that
// their first line tells.
func readCode(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		if file, text, ok := v.first(name, name+endingOf(r.language)); ok && v.once(file) {
			v.add(file, 1, cmp.Or(r.language, languageOf(text)), text)
		}
	}
}

// named are the names of a row, with the words for which some of them stand: @-r
// for the value of an option, @.py for the words that end so.
func (v *visit) named(files []string) []string {
	var all []string
	for _, name := range files {
		mark, ok := strings.CutPrefix(name, "@")
		switch {
		case !ok:
			all = append(all, name)
		case strings.HasPrefix(mark, "-"):
			if name, ok := value(v.words, mark); ok {
				all = append(all, name)
			}
		default:
			all = append(all, slices.DeleteFunc(operands(v.words), func(w string) bool { return !strings.HasSuffix(w, mark) })...)
		}
	}
	return all
}

// readSetting takes the value of one setting of the files, which the row names in
// the place of a language, as a command line.
func readSetting(v *visit, r *row) {
	for _, name := range r.files {
		file, text, _ := v.content(name)
		for _, l := range settings.Lines(text) {
			if key, line, ok := strings.Cut(l.Text, "="); ok && strings.TrimSpace(key) == r.language {
				v.add(file, l.Number, "sh", line)
			}
		}
	}
}
