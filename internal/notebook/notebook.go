// Package notebook reads the cells of IPython's notebooks: their marks, and the lines that they hand to a shell.
package notebook

import (
	"regexp"
	"strings"
)

// Split splits a cell into the word behind %% that says what the whole cell is, the
// words behind it, and what they are about; without such a word, that is the whole cell.
func Split(text string) (magic, args, body string) {
	marked, ok := strings.CutPrefix(strings.TrimSpace(text), "%%")
	if !ok {
		return "", "", text
	}
	head, body, _ := strings.Cut(marked, "\n")
	magic, args, _ = strings.Cut(strings.TrimSpace(head), " ")
	return magic, args, body
}

// Line is a line of a cell, and the command line that it hands to a shell.
type Line struct{ Text, Command string }

// Lines returns what the lines of a cell hand to a shell, and the cell without them.
func Lines(text string) (lines []Line, rest string) {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if command, ok := commandOf(line); ok {
			lines, line = append(lines, Line{line, command}), ""
		}
		kept = append(kept, line)
	}
	return lines, strings.Join(kept, "\n")
}

// names is a name of Python that gets a value, or a part of what it names.
const names = `[A-Za-z_][\w.]*\s*(?:[\[:][^,=]*)?`

// forms are what one line of a cell hands to a shell, and the command line that it stands for: behind a
// mark, perhaps as what names get; as a command by its name; as a program of Python.
var forms = [...]struct { //nolint:gochecknoglobals // Made once, never changed.
	form    *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`^(?:` + names + `(?:,\s*` + names + `)*=\s*(?:!!?|%sx |%system )|!!?|%sx |%system )(.*)`), "$1"},
	{regexp.MustCompile(`^%((?:pip|conda|cd|rm|cp|mv|mkdir|cat|ls) .*)`), "$1"},
	{regexp.MustCompile(`^%run (.*)`), "python3 $1"},
}

// commandOf returns the command line that one line of a cell passes to a shell.
func commandOf(line string) (string, bool) {
	line = strings.TrimSpace(line)
	for _, f := range forms {
		if m := f.form.FindStringSubmatchIndex(line); m != nil {
			return string(f.form.ExpandString(nil, f.command, line, m)), true
		}
	}
	return "", false
}
