package install

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/metnos/vaglio/internal/strictjson"
)

// indentOf returns the file's indentation: the blanks before its first indented line.
func indentOf(now []byte) string {
	_, rest, ok := strings.Cut(string(now), "\n")
	for ok && rest != "" {
		var line string
		line, rest, ok = strings.Cut(rest, "\n")
		if blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; blank != "" && strings.TrimSpace(line) != "" && len(blank) <= 8 {
			return blank
		}
	}
	return "  "
}

// member returns the member with that name, and adds it if it is missing.
func member(o *hujson.Object, name string, empty hujson.ValueTrimmed, in string, depth int) *hujson.Value {
	for i := range o.Members {
		if nameOf(o.Members[i]) == name {
			return &o.Members[i].Value
		}
	}
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: empty},
	}
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	follow(last, &m.Name, &m.Value, &o.AfterExtra, in, depth)
	o.Members = append(o.Members, m)
	return &o.Members[len(o.Members)-1].Value
}

// appendTo appends a value to a list.
func appendTo(list *hujson.Array, v any, in string, depth int) error {
	text, err := strictjson.MarshalIndent(v)
	if err != nil {
		return err //nolint:wrapcheck // It cannot happen: our entries are plain.
	}
	entry, err := hujson.Parse(indented(text, in, depth))
	if err != nil {
		return err //nolint:wrapcheck // As above.
	}
	var last *hujson.Value
	if n := len(list.Elements); n > 0 {
		last = &list.Elements[n-1]
	}
	follow(last, &entry, &entry, &list.AfterExtra, in, depth)
	list.Elements = append(list.Elements, entry)
	return nil
}

// indented replaces an indentation of two blanks in JSON by the file's own.
func indented(text []byte, in string, depth int) []byte {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		if i > 0 {
			lines[i] = strings.Repeat(in, depth+(len(line)-len(rest))/2) + rest
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// follow lays out a new value after the last one, which is nil if there is none. What precedes
// the closing bracket stays there, but a comment stays with the value that it follows. A
// non-nil AfterExtra is how hujson marks that a comma follows the value.
func follow(last, head, tail *hujson.Value, closing *hujson.Extra, in string, depth int) {
	head.BeforeExtra = newline(in, depth)
	if !blank(*closing) {
		head.BeforeExtra = append(trimmed(*closing), head.BeforeExtra...)
		*closing = newline(in, depth-1)
	}
	if len(*closing) == 0 || last == nil {
		*closing = newline(in, depth-1)
	}
	if last != nil {
		tail.AfterExtra, last.AfterExtra = last.AfterExtra, nil
	}
}

// without removes the values for which gone returns true. Comments before them move to what
// follows.
func without[T any](all []T, closing *hujson.Extra, head, tail func(*T) *hujson.Extra, gone func(*T) bool) []T {
	kept := make([]T, 0, len(all))
	var comments hujson.Extra
	var comma hujson.Extra
	if n := len(all); n > 0 {
		comma = *tail(&all[n-1])
	}
	for i := range all {
		before := head(&all[i])
		if gone(&all[i]) {
			if !blank(*before) {
				comments = append(comments, trimmed(*before)...)
			}
			continue
		}
		*before = append(comments, *before...)
		comments = nil
		kept = append(kept, all[i])
	}
	*closing = append(comments, *closing...)
	if n := len(kept); n > 0 {
		*tail(&kept[n-1]) = comma
		// A list that was on one line stays on one line.
		if n < len(all) && blank(*closing) && !slices.ContainsFunc(kept, func(v T) bool { return strings.Contains(string(*head(&v)), "\n") }) {
			*closing = nil
		}
	}
	return kept
}

// trimmed returns e without trailing whitespace.
func trimmed(e hujson.Extra) hujson.Extra {
	return hujson.Extra(strings.TrimRight(string(e), " \t\r\n"))
}

func blank(e hujson.Extra) bool { return strings.TrimSpace(string(e)) == "" }

func newline(in string, depth int) hujson.Extra {
	return hujson.Extra("\n" + strings.Repeat(in, depth))
}
