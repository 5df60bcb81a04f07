package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// only is one file.
type only struct{ file, text string }

// Content returns the text of the file.
func (o only) Content(file string) (string, bool) { return o.text, file == o.file }

// Written returns what a file may run once it holds a text: whatever is asked
// for of it, told by its name or its first line.
func (r *Reader) Written(file, text string) []shell.Task {
	v := &visit{
		c: shell.TaskCall{Files: only{file, text}}, words: []string{file}, dir: path.Dir(file), left: maxBytes,
		seen: map[string]bool{}, imports: r.imports, all: true,
	}
	if strings.HasPrefix(text, "#!") {
		v.add(file, 1, languageOf(text), text)
		return v.tasks
	}
	for _, row := range r.table[""] {
		row.files = slices.DeleteFunc(slices.Clone(row.files), func(name string) bool {
			return !strings.HasPrefix(name, "@.") && !strings.HasSuffix(file, "/"+name)
		})
		for i, name := range row.files {
			if name[0] != '@' {
				row.files[i] = file
			}
		}
		if len(row.files) > 0 {
			row.read(v, &row)
		}
	}
	return v.tasks
}

// asked are the names of what is run: those that the words name, or all.
func asked[T any](v *visit, names []string, of map[string]T) []string {
	if v.all {
		return slices.Sorted(maps.Keys(of))
	}
	return names
}
