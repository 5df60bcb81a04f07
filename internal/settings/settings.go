// Package settings reads the lines and the settings of configuration files, each
// with its place.
package settings

import "strings"

// Line is one line with its place.
type Line struct {
	// Number counts from 1.
	Number int
	Text   string
}

// Lines are the lines of a text, each with those that continue it behind a
// backslash.
func Lines(text string) []Line {
	out := make([]Line, 0, 1+strings.Count(text, "\n"))
	var joined []string // what the line consists of that goes on
	recipe, n := false, 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimRight(l, "\r\n")
		more := strings.HasSuffix(l, `\`)
		if len(joined) == 0 {
			recipe = strings.HasPrefix(l, "\t")
			out = append(out, Line{n, l})
		}
		if !more && len(joined) == 0 {
			continue
		}
		switch {
		case recipe && len(joined) > 0:
			l = "\n" + strings.TrimPrefix(l, "\t") // the shell joins a recipe's lines
		case !recipe:
			l = strings.TrimSuffix(l, `\`)
		}
		joined = append(joined, l)
		out[len(out)-1].Text = ""
		if !more {
			out[len(out)-1].Text, joined = strings.Join(joined, ""), nil
		}
	}
	if len(joined) > 0 {
		out[len(out)-1].Text = strings.Join(joined, "")
	}
	return out
}

// Entry is one setting of a file as git keeps them, its name in lower case but
// for the subsection.
type Entry struct {
	Line                     int
	Section, Sub, Key, Value string
}

// Git are the settings of a file of git's.
func Git(text string) []Entry {
	var all []Entry
	section, sub := "", ""
	for _, l := range Lines(text) {
		line := strings.TrimSpace(l.Text)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, _, _ := strings.Cut(line[1:], "]")
			section, sub, _ = strings.Cut(head, " ")
			section, sub = strings.ToLower(section), strings.Trim(sub, `"`)
		default:
			key, val, _ := strings.Cut(line, "=")
			all = append(all, Entry{l.Number, section, sub, strings.ToLower(strings.TrimSpace(key)), unquoted(val)})
		}
	}
	return all
}

// unquoted is a value without its quotes and its comment.
func unquoted(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
