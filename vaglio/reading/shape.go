package reading

import (
	_ "embed" // The table.
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed shapes.txt
var shapesText string

// shape is what lines of a language look like.
type shape struct {
	language string
	lines    *regexp.Regexp
}

// shapes is the table, in its order. A mistake in it, which the tests rule out, stops
// the program.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var shapes = sync.OnceValue(func() (all []shape) {
	for _, row := range rows.Of(shapesText) {
		language, pattern, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		all = append(all, shape{strings.Trim(language, "-"), regexp.MustCompile(pattern)})
	}
	return all
})

// shapeOf returns the language that a text is clearly written in, or "" if it may be anything. It looks for what one language has and the shell has not.
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
	const looked, longest = 200, 1024 // lines, and bytes of one
	n := 0
	for line := range strings.SplitSeq(trimmed, "\n") {
		if n++; n > looked {
			break
		}
		line = strings.TrimSpace(line)
		if lang := shapeOfLine(line[:min(len(line), longest)]); lang != "" {
			return lang
		}
	}
	return ""
}

// shapeOfLine gives the language that the table tells of a line, or "".
func shapeOfLine(line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	for _, s := range shapes() {
		if s.lines.MatchString(line) {
			return s.language
		}
	}
	return ""
}
