package guard

import (
	"iter"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// code tries a program in its language. Where nobody names one it is read as a
// shell reads it and as the common languages do; what only some can read is no
// finding.
func (s *commandSet) code(text string) string {
	if lines := cellLines(text); lines != "" {
		if id := s.g.readLine(lines, s.o); id != "" && id != unreadableRule {
			return id
		}
	}
	if s.lang == "sh" {
		return s.g.readLine(text, s.o)
	}
	if s.lang != "" {
		return s.inline(s.lang, text)
	}
	if id := s.g.readLine(text, s.o); id != "" && id != unreadableRule {
		return id
	}
	for _, lang := range [...]string{"python", "node"} {
		if id := s.inline(lang, text); id != "" && id != unreadableRule {
			return id
		}
	}
	return ""
}

func (s *commandSet) inline(lang, text string) string {
	flag := "-c"
	switch lang {
	case "node", "perl", "ruby", "lua":
		flag = "-e"
	case "php":
		flag = "-r"
	}
	return s.g.examine(shell.ReadArgv([]string{lang, flag, text}, s.o))
}

// cellLines gives the lines of a notebook's cell that a shell runs.
func cellLines(text string) string {
	trimmed := strings.TrimSpace(text)
	for _, magic := range [...]string{"%%bash", "%%sh", "%%script bash", "%%script sh", "%%!"} {
		if rest, ok := strings.CutPrefix(trimmed, magic); ok {
			return rest
		}
	}
	if !strings.Contains(text, "!") && !strings.Contains(text, "%") {
		return ""
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		for _, mark := range [...]string{"!!", "!", "%sx ", "%system "} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				lines = append(lines, rest)
				break
			}
		}
	}
	return strings.Join(lines, "\n")
}

// languageOf finds the language in the name of an executor or an argument.
func languageOf(name string) string {
	for t := range tokens(name) {
		switch t {
		case "python", "python3", "py", "ipython", "jupyter", "notebook":
			return "python"
		case "node", "nodejs", "javascript", "js", "typescript", "ts", "deno", "bun":
			return "node"
		case "perl", "ruby", "php", "lua":
			return t
		case "bash", "sh", "shell", "zsh", "dash", "ksh":
			return "sh"
		}
	}
	return ""
}

// tokens yields the words of a name in snake, kebab, dotted or camel case, in
// lower case.
func tokens(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(name); i++ {
			border := i == len(name) || !isAlnum(name[i])
			if !border && !isHump(name, i) {
				continue
			}
			if i > start && !yield(strings.ToLower(name[start:i])) {
				return
			}
			start = i
			if border {
				start++
			}
		}
	}
}

// isHump says that a word begins at i in camel case.
func isHump(name string, i int) bool {
	return i > 0 && i < len(name) && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z'
}

func isAlnum(c byte) bool { return isLetter(c) || ('0' <= c && c <= '9') }
