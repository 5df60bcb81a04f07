package code

import (
	"regexp"
	"strings"
)

// CellOf splits a notebook's cell into the word behind %% that says what the whole cell is, the
// words behind it, and what they are about; without such a word, that is the whole cell.
func CellOf(text string) (magic, args, body string) {
	marked, ok := strings.CutPrefix(strings.TrimSpace(text), "%%")
	if !ok {
		return "", "", text
	}
	head, body, _ := strings.Cut(marked, "\n")
	magic, args, _ = strings.Cut(strings.TrimSpace(head), " ")
	return magic, args, body
}

// CellLine is a line of a cell, and the command line that it hands to a shell.
type CellLine struct{ Line, Command string }

// CellLines returns what the lines of a cell hand to a shell, and the cell without them.
func CellLines(text string) (lines []CellLine, rest string) {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if command, ok := cellCommand(line); ok {
			lines, line = append(lines, CellLine{line, command}), ""
		}
		kept = append(kept, line)
	}
	return lines, strings.Join(kept, "\n")
}

// cellName is a name of Python that gets a value, or a part of what it names.
const cellName = `[A-Za-z_][\w.]*\s*(?:[\[:][^,=]*)?`

// cellForms are what one line of a cell hands to a shell, and the command line that it stands for: behind a
// mark, perhaps as what names get; as a command by its name; as a program of Python.
var cellForms = [...]struct { //nolint:gochecknoglobals // Made once, never changed.
	form    *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`^(?:` + cellName + `(?:,\s*` + cellName + `)*=\s*(?:!!?|%sx |%system )|!!?|%sx |%system )(.*)`), "$1"},
	{regexp.MustCompile(`^%((?:pip|conda|cd|rm|cp|mv|mkdir|cat|ls) .*)`), "$1"},
	{regexp.MustCompile(`^%run (.*)`), "python3 $1"},
}

// cellCommand returns the command line that one line of a cell passes to a shell.
func cellCommand(line string) (string, bool) {
	line = strings.TrimSpace(line)
	for _, f := range cellForms {
		if m := f.form.FindStringSubmatchIndex(line); m != nil {
			return string(f.form.ExpandString(nil, f.command, line, m)), true
		}
	}
	return "", false
}
