package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
)

type only struct {
	shell.NoFolders
	file, text string
}

// Content returns the text of the file.
func (o only) Content(file string) (string, bool) { return o.text, file == o.file }

// Written returns what a file with this text may run, whatever is asked of it, judging by its name or its first line.
func (r *Reader) Written(file, text string) []shell.Task {
	if !strings.HasPrefix(text, "#!") && !slices.ContainsFunc(r.named.rowsOf(file), (*row).knows) {
		return nil // as for most files
	}
	v := r.visit(file, text)
	v.written(file, text)
	return v.tasks
}

// Guessed returns what else in a file with this text may be commands. Prose runs nothing.
func (r *Reader) Guessed(file, text string) []shell.Task {
	if r.IsProse(file) {
		return nil
	}
	v := r.visit(file, text)
	v.noCalls = true // they are among what it runs
	v.written(file, text)
	v.noCalls = false
	from := len(v.tasks)
	v.guess(file, text)
	return v.tasks[from:]
}

// Loaded returns what a file with this text may run, and what in it may be commands. Prose runs nothing.
func (r *Reader) Loaded(file, text string) []shell.Task {
	if r.IsProse(file) {
		return nil
	}
	return append(r.Written(file, text), r.Guessed(file, text)...)
}

// plainFile is a file whose name says nothing.
const plainFile = "/-"

// IsPlain reports whether nothing is known of a file's name. Then [Reader.Loaded] treats the file like all such files in its folder.
func (r *Reader) IsPlain(file string) bool {
	tells := func(row *row) bool { return !row.names(plainFile) }
	return file != "" && !r.isSettings(path.Base(file)) && !slices.ContainsFunc(r.named.rowsOf(file), tells)
}

// Alike returns the file that [Reader.Loaded] treats like another one: a nameless one of its folder with its ending, if its name tells no more, or itself.
func (r *Reader) Alike(file string) string {
	if r.IsPlain(file) {
		return path.Dir(file) + plainFile
	}
	bare := path.Dir(file) + plainFile + path.Ext(file)
	if file == "" || r.language(file) != r.language(bare) || r.isSettings(path.Base(file)) || !slices.Equal(r.named.rowsOf(file), r.named.rowsOf(bare)) {
		return file
	}
	return bare
}

// Telling returns the lines of a text in which [Reader.Loaded] finds anything, for a plain file.
func (r *Reader) Telling(text string) string {
	tasks := r.Loaded(plainFile, text)
	if strings.HasPrefix(text, "#!") || strings.ContainsAny(text, "\\\t\r") || len(tasks) >= maxTasks-1 || len(text) > maxBytes {
		return text // its lines cannot be read one by one
	}
	var told strings.Builder
	for n, line := range strings.Split(text, "\n") {
		if slices.ContainsFunc(tasks, func(t shell.Task) bool { return t.Line == n+1 }) {
			told.WriteString("\n" + line)
		}
	}
	return told.String()
}

// visit returns a search in a file with this text, whatever is asked of it.
func (r *Reader) visit(file, text string) *visit {
	return &visit{
		c: shell.TaskCall{Files: only{file: file, text: text}}, words: []string{file}, dir: path.Dir(file), left: maxBytes,
		looked: map[string]bool{}, reader: r, all: true,
	}
}

func (v *visit) written(file, text string) {
	if strings.HasPrefix(text, "#!") {
		v.add(file, 1, languageOf(text), text)
		return
	}
	for _, row := range v.reader.named.rowsOf(file) {
		if row.knows() {
			as := *row
			as.files = row.namedAs(file)
			as.read(v, &as)
		}
	}
}

// asked returns the names of what runs: those that the words name, or all.
func asked[T any](v *visit, names []string, of map[string]T) []string {
	switch {
	case v.all:
		return slices.Sorted(maps.Keys(of))
	case v.among:
		return slices.Concat(names, lists.All(v.words, partsOf))
	}
	return names
}

// guess adds a file as a program in the language of its extension or its first line, or else what in it may be commands.
func (v *visit) guess(file, text string) {
	language := v.reader.tasksLanguage(file)
	if strings.HasPrefix(text, "#!") {
		language = languageOf(text)
	}
	v.guessed(func() {
		runs := func(t shell.Task) bool { return t.File == file && t.Language == language && t.Text == text }
		if language != "" && !slices.ContainsFunc(v.tasks, runs) {
			v.add(file, 1, language, text)
		}
		switch {
		case isBats(file):
			v.bats(file, text)
		case language == "" && !v.reader.IsCalled(file), v.setsUp(file):
			v.commands(file, text)
		case v.once("calls " + file):
			v.calls(file, text)
		}
	})
}

// setsUp reports whether a file is a program that configures a tool. It may contain the tool's own words, with commands among them.
func (v *visit) setsUp(file string) bool {
	return (v.reader.language(file) != "" || v.reader.IsCalled(file)) && v.reader.isSettings(path.Base(file))
}

// isSettings reports whether a program of this name configures a tool, in words of its own: gulpfile.js is named after one, profile.js is not.
func (r *Reader) isSettings(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	tool, ok := strings.CutSuffix(stem, "file")
	return settingsName.MatchString(name) || ok && tool != "" && r.isProgram(tool)
}

var settingsName = regexp.MustCompile(`(?i)conf|^\.|^(?:build|project|setup|package)\.`)

// guessed marks what keep adds as a guess.
func (v *visit) guessed(keep func()) {
	v.marked(keep, func(t *shell.Task) { t.Found, t.Guess = true, true })
}

// found marks what keep adds as found by the program, or among words of its own: a name that nobody knows may be what the project builds.
func (v *visit) found(keep func()) {
	v.marked(keep, func(t *shell.Task) { t.Found = true })
}

func (v *visit) marked(keep func(), mark func(t *shell.Task)) {
	from := len(v.tasks)
	keep()
	for i := range v.tasks[from:] {
		mark(&v.tasks[from+i])
	}
}

// readText adds what may be commands in files of unknown form.
func readText(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		if r.language != "" && path.Ext(name) == "" {
			name += "." + r.language
		}
		if file, text, ok := v.content(name); ok && v.once("text "+file) {
			v.found(func() { v.commands(file, v.asked(file, v.reader.tasksLanguage(file), text)) })
		}
	}
}
