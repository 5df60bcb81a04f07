package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// only is one file.
type only struct {
	shell.NoFolders
	file, text string
}

// Content returns the text of the file.
func (o only) Content(file string) (string, bool) { return o.text, file == o.file }

// Written returns what a file may run once it holds a text: whatever is asked
// for of it, told by its name or its first line.
func (r *Reader) Written(file, text string) []shell.Task {
	v := r.later(file, text)
	v.written(file, text)
	return v.tasks
}

// Loaded returns what a file may run once it holds a text, and what in it may be
// commands. Of prose that is nothing.
func (r *Reader) Loaded(file, text string) []shell.Task {
	if r.isProse(file) {
		return nil
	}
	v := r.later(file, text)
	v.written(file, text)
	v.guess(file, text)
	return v.tasks
}

func (r *Reader) later(file, text string) *visit {
	return &visit{
		c: shell.TaskCall{Files: only{file: file, text: text}}, words: []string{file}, dir: path.Dir(file), left: maxBytes,
		seen: map[string]bool{}, looked: map[string]bool{}, reader: r, all: true,
	}
}

func (v *visit) written(file, text string) {
	if strings.HasPrefix(text, "#!") {
		v.add(file, 1, languageOf(text), text)
		return
	}
	for i := range v.reader.table[""] {
		row := &v.reader.table[""][i]
		files := namedAs(file, row.files)
		if len(files) == 0 || row.name == "text" { // a guess denies nothing for good
			continue
		}
		as := *row
		as.files = files
		as.read(v, &as)
	}
}

// namedAs are those of a row's files that a file is, by its own name.
func namedAs(file string, names []string) (files []string) {
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "@/") && strings.Contains(file, name[1:]):
			files = append(files, name)
		case file == "" || name[len(name)-1] != file[len(file)-1]: // so it is of most
		case strings.HasPrefix(name, "@.") && strings.HasSuffix(file, name[1:]):
			files = append(files, name)
		case strings.HasSuffix(file, name) && strings.HasSuffix(file[:len(file)-len(name)], "/"):
			if name[0] != '@' {
				name = file
			}
			files = append(files, name)
		}
	}
	return files
}

// asked are the names of what is run: those that the words name, or all.
func asked[T any](v *visit, names []string, of map[string]T) []string {
	switch {
	case v.all:
		return slices.Sorted(maps.Keys(of))
	case v.among:
		names = slices.Clone(names)
		for _, w := range v.words {
			names = append(names, wordParts.Split(w, -1)...)
		}
	}
	return names
}
