package reading

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// shapeOf returns the language that a text is clearly written in, or "" if it may be anything. It
// looks for what one language has and the shell has not.
func shapeOf(text string) string {
	trimmed := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(trimmed, "#!"); ok {
		first, _, _ := strings.Cut(rest, "\n")
		for word := range strings.FieldsSeq(first) {
			if lang := languageWord(strings.TrimRight(path.Base(word), "0123456789.")); lang != "" {
				return lang
			}
		}
		return langShell
	}
	if strings.HasPrefix(trimmed, "<?php") {
		return "php"
	}
	const looked = 200 // lines
	n := 0
	for line := range strings.SplitSeq(trimmed, "\n") {
		if n++; n > looked {
			break
		}
		if lang := shapeOfLine(line); lang != "" {
			return lang
		}
	}
	return ""
}

// shapeOfLine returns the language of one line, or "".
func shapeOfLine(line string) string {
	line = strings.TrimSpace(line)
	switch {
	case line == "" || line[0] == '#':
		return ""
	case strings.HasPrefix(line, "async def "):
		return langPython
	case isNode(line):
		return langNode
	case isPerl(line):
		return "perl"
	case isRuby(line):
		return "ruby"
	case isPython(line):
		return langPython
	default:
		return ""
	}
}

func isNode(line string) bool {
	for _, start := range [...]string{"const ", "let ", "var "} {
		if rest, ok := strings.CutPrefix(line, start); ok && strings.Contains(rest, "=") && !isAssignment(rest) {
			return true
		}
	}
	if strings.HasPrefix(line, "import ") && (strings.Contains(line, " from '") || strings.Contains(line, ` from "`)) {
		return true
	}
	return beginsWith(line, "console.", "require(", "process.", "module.exports", "await ", "async ", "function(", "(()=>", "(() =>", "(async", "new Promise(",
		"globalThis.", "Deno.", "Bun.", "JSON.", "document.", "window.") && strings.ContainsAny(line, "(={") ||
		!strings.HasPrefix(line, "node ") && (strings.Contains(line, "require('") || strings.Contains(line, `require("`))
}

func beginsWith(line string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
}

// isAssignment reports whether a line begins like a shell assignment: the shell's let takes
// NAME=value without blanks.
func isAssignment(rest string) bool {
	name, value, _ := strings.Cut(rest, "=")
	return !strings.HasSuffix(name, " ") && !strings.HasPrefix(value, " ")
}

func isPerl(line string) bool {
	return beginsWith(line, "use strict", "use warnings", "my $", "my @", "my %")
}

func isRuby(line string) bool {
	return beginsWith(line, "require '", `require "`, "puts ", "FileUtils.") ||
		strings.Contains(line, " do |") || strings.Contains(line, ".each {|") || strings.Contains(line, ".each { |")
}

func isPython(line string) bool {
	first, rest, blank := strings.Cut(line, " ")
	switch first {
	case "import":
		name, _, _ := strings.Cut(rest, ",")
		name, _, _ = strings.Cut(name, " as ")
		return blank && isDotted(strings.TrimSpace(name), ";#")
	case "from":
		return strings.Contains(rest, " import ")
	case "def", "class", "async":
		return strings.HasSuffix(line, ":") || strings.Contains(line, "):")
	case "with", "while", "if", "elif", "for", "try:", "except":
		return strings.HasSuffix(line, ":") || first == "for" && strings.Contains(line, " in range(")
	case "@property", "lambda", "raise", "assert", "nonlocal", "yield":
		return true
	}
	return isCall(line) || isPythonAssignment(line) || isSum(line)
}

// isSum reports whether a line is a sum, comparison or list of numbers and names that begins with
// a number, a parenthesis or a bracket.
func isSum(line string) bool {
	if c := line[0]; c != '(' && c != '[' && (c < '0' || c > '9') {
		return false
	}
	for i := range len(line) {
		if !isAlnum(line[i]) && strings.IndexByte(" _.+-*/%()[],<>=", line[i]) < 0 {
			return false
		}
	}
	return strings.ContainsAny(line, "+-*/%") && line[0] != '(' && line[0] != '[' || strings.ContainsAny(line, ",")
}

// isDotted reports whether a text is a dotted name up to its end or to one of the marks.
func isDotted(s, marks string) bool {
	if at := strings.IndexAny(s, marks); at >= 0 {
		s = strings.TrimSpace(s[:at])
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && s[0] != '.' && ('0' > s[0] || s[0] > '9')
}

// isCall reports whether a line begins with a call: name(argument or a.b(. In a shell, a name
// before empty parentheses defines a function.
func isCall(line string) bool {
	name, given, _ := strings.Cut(line, "(")
	return given != "" && isDotted(name, "[") && (given[0] != ')' || strings.Contains(name, "."))
}

// isPythonAssignment reports whether a line assigns with blanks around the sign, which no shell
// does.
func isPythonAssignment(line string) bool {
	for _, sign := range [...]string{" = ", " += ", " -= ", " *= "} {
		name, value, ok := strings.Cut(line, sign)
		if ok && value != "" && isTargets(name) {
			return true
		}
	}
	return false
}

func isTargets(name string) bool {
	for part := range strings.SplitSeq(name, ",") {
		if !isDotted(strings.TrimSpace(part), "[:") {
			return false
		}
	}
	return true
}

// IsStatement reports whether a text is clearly a database statement, or several after one that
// only opens a transaction or prepares.
func IsStatement(text string) bool {
	words := strings.Fields(strings.ToUpper(uncommented(text)))
	if len(words) == 0 {
		return false
	}
	rest := strings.Join(words[1:], " ")
	if strings.HasPrefix(uncommented(text), words[0]) && defines(words, rest) {
		return true
	}
	switch strings.TrimRight(words[0], ";") {
	case "BEGIN", "START", "SET", "USE", "LOCK", "PRAGMA", "ROLLBACK", "COMMIT", "SAVEPOINT":
		_, next, more := strings.Cut(text, ";")
		return more && IsStatement(next)
	case "WITH":
		return strings.Contains(rest, " AS ") && strings.Contains(rest, "SELECT") || strings.Contains(rest, " AS(")
	}
	return beginsStatement(words) && goesOn(rest)
}

// beginsStatement reports whether words, in capitals, begin with a statement's verb and something
// after it.
func beginsStatement(words []string) bool {
	return len(words) > 1 && wordclass.Is("statement-verb", words[0])
}

// goesOn reports whether the words after a statement's verb are those of a statement.
func goesOn(rest string) bool {
	return strings.ContainsAny(rest, "*=;(") || strings.Contains(" "+rest, " FROM ") || strings.Contains(rest, "TABLE") || strings.Contains(rest, "INTO")
}

// defines reports whether words define or drop something, grant rights, or change a graph. The
// caller makes sure that the text has its first word in capitals, unlike a search.
func defines(words []string, rest string) bool {
	class := len(words) > 2 && strings.Contains(" USER ROLE DATABASE SCHEMA INDEX VIEW MATERIALIZED FUNCTION TABLE ", " "+words[1]+" ")
	switch words[0] {
	case "DROP", "ALTER", "CREATE", "REMOVE", "REINDEX", "REFRESH":
		return class
	case "TRUNCATE":
		ends := slices.Contains([]string{"CASCADE", "RESTRICT", "IDENTITY"}, words[len(words)-1])
		return len(words) == 2 || len(words) > 2 && (ends || strings.HasSuffix(words[1], ","))
	case "GRANT", "REVOKE":
		return strings.Contains(rest, " TO ") || strings.Contains(rest, " FROM ")
	}
	return words[0] == "MATCH" && strings.Contains(rest, "(") && (strings.Contains(rest, "DELETE") || strings.Contains(rest, " SET "))
}

// uncommented returns a statement from its first word on. It keeps the comments that MySQL runs.
func uncommented(text string) string {
	for {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "/*!"):
			text = strings.TrimLeft(text[len("/*!"):], "0123456789")
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			return text
		}
	}
}
