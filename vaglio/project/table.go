package project

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed tools.txt
var tableText string

// table holds what programs run from files, by the program's name.
type table map[string][]row

// row is one line of the table.
type row struct {
	with     []string // words of which one must be there; none asks for nothing
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
		"taskfile": readTaskfile, "precommit": readPreCommit, "gitconfig": readGitConfig, "githook": readGitHook,
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
		r := row{with: strings.Fields(parts[1]), language: strings.TrimSpace(language), files: strings.Fields(files), read: known[name]}
		for program := range strings.FieldsSeq(parts[0]) {
			t[program] = append(t[program], r)
		}
	}
	return t, nil
}

// readCode takes the files as programs of the row's language.
func readCode(v *visit, r *row) {
	for _, name := range r.files {
		if file, text, ok := v.content(name); ok && v.once(file) {
			v.add(file, 1, r.language, text)
		}
	}
}
