package project

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// function returns what one of make's functions on texts returns, or a placeholder. A pattern of
// files in what it is given stands for its files, which only the shell that reads the recipe knows.
func (m *makefile) function(name string, args []string) string {
	const longest, longestChange = 64 << 10, 256
	last := len(args) - 1
	if len(args[last]) > longest || len(strings.Join(args[:last], "")) > longestChange {
		return unknownValue(name)
	}
	if of := [3]string{}; name == "foreach" && copy(of[:], args) == len(of) {
		return m.forEach(of[0], of[1], of[2])
	}
	f, known := m.functions[name]
	words := strings.Fields(args[last])
	if !known || last != f.given || len(words) == 0 || strings.ContainsAny(args[last], f.without) || f.given == 2 && !plain(args[:last]) {
		return unknownValue(name)
	}
	out, ok := f.of(m, args[:last], words)
	if m.v.left -= len(out); !ok {
		return unknownValue(name)
	}
	return out
}

// textFunction is a function of make that changes the words of its last argument.
type textFunction struct {
	given   int    // arguments before the words; two are what to replace by what
	without string // characters in the words with which the result is not known
	of      func(m *makefile, given, words []string) (string, bool)
}

// plain reports whether what is to be replaced is known and never goes beyond a word.
func plain(given []string) bool {
	return given[0] != "" && !slices.ContainsFunc(given, func(s string) bool { return strings.ContainsAny(s, "$ \t") })
}

// textFunctions returns those of make's functions whose results follow from their arguments.
func textFunctions() map[string]textFunction {
	return map[string]textFunction{
		"wildcard":  {of: same},
		"strip":     {of: same},
		"sort":      {of: same},
		"notdir":    {of: each(func(_ *makefile, _ []string, w string) string { return path.Base(w) })},
		"addprefix": {given: 1, of: each(func(_ *makefile, given []string, w string) string { return given[0] + w })},
		"addsuffix": {given: 1, of: each(func(_ *makefile, given []string, w string) string { return w + given[0] })},
		"abspath":   {without: "$", of: each(func(m *makefile, _ []string, w string) string { return m.v.in(w) })},
		"realpath":  {without: "$", of: each(func(m *makefile, _ []string, w string) string { return m.v.in(w) })},
		"basename":  {without: "$", of: each(func(_ *makefile, _ []string, w string) string { return strings.TrimSuffix(w, path.Ext(w)) })},
		"dir":       {of: folders},
		"patsubst":  {given: 2, without: "$", of: replaced},
		"subst": {given: 2, without: "$" + globs, of: each(func(_ *makefile, given []string, w string) string {
			return strings.ReplaceAll(w, given[0], given[1])
		})},
		"firstword": {without: "$" + globs, of: func(_ *makefile, _, words []string) (string, bool) { return words[0], true }},
		"lastword":  {without: "$" + globs, of: func(_ *makefile, _, words []string) (string, bool) { return words[len(words)-1], true }},
	}
}

func same(_ *makefile, _, words []string) (string, bool) { return strings.Join(words, " "), true }

// each returns a function that changes every word by itself.
func each(change func(m *makefile, given []string, w string) string) func(m *makefile, given, words []string) (string, bool) {
	return func(m *makefile, given, words []string) (string, bool) {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = change(m, given, w)
		}
		return strings.Join(out, " "), true
	}
}

// folders returns the folders of the words. What stands before the last slash is known up to what is unknown there.
func folders(_ *makefile, _, words []string) (string, bool) {
	if slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "$") && (strings.LastIndexByte(w, '/') < strings.LastIndexAny(w, "$}") || strings.ContainsAny(w, "(`"))
	}) {
		return "", false
	}
	return each(func(_ *makefile, _ []string, w string) string {
		if strings.Contains(w, "$") {
			return w[:strings.LastIndexByte(w, '/')+1]
		}
		return path.Dir(w) + "/"
	})(nil, nil, words)
}

// globs are the characters that make a word a pattern of files.
const globs = "*?["

// replaced returns the words, with those that match a pattern, in which a % stands for anything,
// replaced. It reports false for a pattern of files of which only some may match.
func replaced(_ *makefile, given, words []string) (string, bool) {
	from, to := given[0], given[1]
	begin, end, part := strings.Cut(from, "%")
	has := func(w string) bool {
		return w == from || part && len(w) >= len(begin)+len(end) && strings.HasPrefix(w, begin) && strings.HasSuffix(w, end)
	}
	if slices.ContainsFunc(words, func(w string) bool { return !has(w) && mayEnd(w, end) }) {
		return "", false
	}
	return each(func(_ *makefile, _ []string, w string) string {
		switch {
		case !has(w):
			return w
		case !part:
			return to
		}
		return strings.Replace(to, "%", w[len(begin):len(w)-len(end)], 1)
	})(nil, nil, words)
}

// mayEnd reports whether a pattern of files stands for some with the end.
func mayEnd(pattern, end string) bool {
	at := strings.LastIndexAny(pattern, globs+"]")
	return at >= 0 && (strings.HasSuffix(end, pattern[at+1:]) || strings.HasSuffix(pattern[at+1:], end))
}

// apart returns the parts of a text that a separator outside brackets keeps apart, at most n unless that is negative.
func apart(s string, separator byte, n int) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(s) && len(parts) != n-1; i++ {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case separator:
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:])
}

// shellOutput matches the placeholders of what $(shell …) prints.
var shellOutput = regexp.MustCompile(`\$\{make_shell_(\d+)\}`)

// outputs returns a recipe's line behind commands that fill its placeholders as make does, so that the shell's reader knows where a value comes from.
func (m *makefile) outputs(line string) string {
	var filled []string
	for _, found := range shellOutput.FindAllStringSubmatch(line, -1) {
		if at, err := strconv.Atoi(found[1]); err == nil && !slices.Contains(filled, found[1]) && m.v.spends(len(line)) {
			filled = append(filled, found[1])
			line = "make_shell_" + found[1] + "=$(" + m.codes[at] + "); " + line
		}
	}
	return line
}

// unquoted returns a line for the shell in which placeholders stand outside single quotes, where they would count as text.
func unquoted(line string) string {
	if !strings.Contains(line, "'") || !strings.Contains(line, unknownBegins) {
		return line
	}
	var b strings.Builder
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '\'' && strings.HasPrefix(line[i:], unknownBegins):
			end := i + strings.IndexByte(line[i:], '}') + 1
			b.WriteString(`'"` + line[i:end] + `"'`)
			i = end - 1
			continue
		case c == '\\' && quote != '\'' && i+1 < len(line):
			b.WriteByte(c)
			i++
		default:
			quote = quoteAfter(quote, c)
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// quoteAfter returns the quote that is open behind a character, 0 if none is.
func quoteAfter(open, c byte) byte {
	switch {
	case c == open:
		return 0
	case open == 0 && (c == '\'' || c == '"'):
		return c
	}
	return open
}

// setsEnvironment matches what may give what make runs variables of the environment.
var setsEnvironment = regexp.MustCompile(`(?i)export|include|eval|define|\bload\b|MAKEFLAGS`)

// noName matches characters that a shell variable's name cannot contain.
var noName = regexp.MustCompile(`[^_0-9A-Za-z]`)

// closing returns the index of the bracket that closes the first one, or -1.
func closing(s string) int {
	closer := map[byte]byte{'(': ')', '{': '}'}[s[0]]
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case s[0]:
			depth++
		case closer:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
