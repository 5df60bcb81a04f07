// Package rows reads the built-in tables, which are text files of lines.
package rows

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Once returns a function that reads a package's own tables once. It panics on a mistake in them,
// which the package's tests rule out.
func Once[T any](room string, read func() (T, error)) func() T {
	return sync.OnceValue(func() T {
		t, err := read()
		if err != nil {
			panic(room + ": " + err.Error())
		}
		return t
	})
}

// Of yields the lines of a table unchanged, with their numbers counted from 1. It leaves out empty
// lines and lines that begin with a #.
func Of(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if s := strings.TrimSpace(line); s != "" && s[0] != '#' && !yield(n, line) {
				return
			}
		}
	}
}

// Read calls a function for each line of a table, without the blanks around it. Its error names
// the place of the mistake.
func Read(file, text string, read func(row string) error) error {
	for n, raw := range Of(text) {
		if err := read(strings.TrimSpace(raw)); err != nil {
			return Located(file, n, raw, err)
		}
	}
	return nil
}

// ReadJoined is [Read] for a table in which a line that begins with a blank continues the one
// before it, and after a comma that one's last word.
func ReadJoined(file, text string, read func(row string) error) error {
	row, first, lines := "", 0, []string(nil)
	end := func() error {
		if row == "" {
			return nil
		}
		err := read(row)
		m := &mistake{}
		for i, raw := range lines {
			if errors.As(err, &m) && column(raw, m.token) > 0 {
				return Located(file, first+i, raw, err)
			}
		}
		return Located(file, first, row, err)
	}
	for n, raw := range Of(text) {
		if raw[0] != ' ' || row == "" {
			if err := end(); err != nil {
				return err
			}
			row, first, lines = "", n, nil
		} else if !strings.HasSuffix(row, ",") {
			row += " "
		}
		row += strings.TrimSpace(raw)
		for first+len(lines) < n { // comments
			lines = append(lines, "")
		}
		lines = append(lines, raw)
	}
	return end()
}

// Sections reads a table in which `[names] attributes` begins a section, to which lines
// `words = attributes` belong. `@list = elements` gives a list a name that stands for it among
// attributes, and between the commas of an attribute. Lines are joined as by [ReadJoined].
func Sections(file, text string, section, line func(words, attributes []string) error) error {
	lists, begun := map[string][]string{}, false
	return ReadJoined(file, text, func(row string) error {
		words := strings.Fields(row)
		end := slices.IndexFunc(words, func(w string) bool { return w == "=" || strings.HasSuffix(w, "]") })
		named := words[0][0] == '['
		switch {
		case end < 0 || named == (words[end] == "=") || end == 0 && !named:
			return Wrong(words[0], "want [names] attributes, words = attributes or @list = elements, got %q", words[0])
		case named:
			begun = true
			return section(strings.Fields(strings.Trim(strings.Join(words[:end+1], " "), "[]")), expanded(words[end+1:], lists))
		case words[0][0] == '@':
			lists[words[0]] = expanded(words[end+1:], lists)
			return nil
		case !begun:
			return Wrong(words[0], "%q stands below no [names]", words[0])
		}
		return line(words[:end], expanded(words[end+1:], lists))
	})
}

// expanded returns attributes with lists in the place of their names.
func expanded(attributes []string, lists map[string][]string) (all []string) {
	for _, a := range attributes {
		if list, ok := lists[a]; ok {
			all = append(all, list...)
			continue
		}
		name, value, _ := strings.Cut(a, "=")
		if strings.Contains(value, "@") {
			elements := strings.Split(value, ",")
			for i, e := range elements {
				if list, ok := lists[e]; ok {
					elements[i] = strings.Join(list, ",")
				}
			}
			a = name + "=" + strings.Join(elements, ",")
		}
		all = append(all, a)
	}
	return all
}

// mistake is an error in a table, at a token.
type mistake struct{ token, what string }

func (m *mistake) Error() string { return m.what }

// Wrong returns an error about a token in a row.
func Wrong(token, format string, args ...any) error {
	return &mistake{token: token, what: fmt.Sprintf(format, args...)}
}

// Located returns an error with its place in a file: file:line:column.
func Located(file string, line int, raw string, err error) error {
	if err == nil {
		return nil
	}
	m := &mistake{}
	errors.As(err, &m)
	return fmt.Errorf("%s:%d:%d: %w", file, line, max(column(raw, m.token), 1), err)
}

// column returns where a token stands in a line, counted from 1: as a whole word, or else within
// one. It is 0 if the token is not there.
func column(raw, token string) int {
	if token == "" {
		return 0
	}
	padded := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, " "+raw+" ")
	if at := strings.Index(padded, " "+token+" "); at >= 0 {
		return at + 1
	}
	return strings.Index(raw, token) + 1
}
