package commands

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// reader finds what a program in some language names.
type reader struct {
	find func(b *Base, text string) []string
	// role is [operation.Mention] if some of what it finds may not be names.
	role operation.Role
}

// readers are the languages for which the tables know what a program names.
func readers() map[string]reader {
	return map[string]reader{
		"awk":     {find: readByAwk, role: operation.Mention},
		"sql":     {find: (*Base).FilesRead, role: operation.Mention},
		"program": {find: (*Base).LinesRun, role: operation.Option},
	}
}

// scripts adds what the words name as programs in a language.
func (u *use) scripts(a *act, language string) {
	r := readers()[language]
	for _, text := range u.parsed.Words {
		for _, name := range r.find(u.base, text) {
			u.add(a, shell.Text(name), r.role)
		}
	}
}

// readByAwk returns the texts in an awk program that reads lines itself. Any of them may be a file name.
func readByAwk(_ *Base, program string) []string {
	if !strings.Contains(program, "getline") {
		return nil
	}
	var out []string
	for i, text := range strings.Split(program, `"`) {
		if i%2 == 1 {
			out = append(out, text)
		}
	}
	return out
}

// LinesRun returns the command lines that database statements pass to a shell: copy from program '...'.
func (*Base) LinesRun(statements string) (lines []string) {
	return lists.Each(toProgram.FindAllStringSubmatch(statements, -1), func(m []string) string { return strings.ReplaceAll(m[1], "''", "'") })
}

var toProgram = regexp.MustCompile(`(?i)\bprogram\s+e?'((?:[^']|'')*)'`)

// FilesRead returns the words of a database statement that follow a word which reads a file. Everything else in it is data.
func (b *Base) FilesRead(statement string) []string {
	if !strings.ContainsAny(statement, "/~.") {
		return nil
	}
	var out []string
	before := ""
	for word := range strings.FieldsFuncSeq(statement, func(r rune) bool { return strings.ContainsRune("'\"`(),;=<>{}[] \t\n", r) }) {
		if b.Nouns["reads-next"][strings.ToLower(before)] {
			out = append(out, word)
		}
		before = word
	}
	return out
}
