// Package settings reads the lines and the settings of configuration files with their positions.
package settings

import "strings"

// Line is one line with its number.
type Line struct {
	// Number counts from 1.
	Number int
	Text   string
}

// Lines returns the lines of a text. Lines that a backslash continues are joined into one.
func Lines(text string) []Line {
	out := make([]Line, 0, 1+strings.Count(text, "\n"))
	var joined []string // the parts of a line that continues
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
			l = "\n" + strings.TrimPrefix(l, "\t") // the shell joins the lines of a recipe
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

// Entry is one setting in a file in git's format. Names are in lower case, except for the
// subsection.
type Entry struct {
	Line                     int
	Section, Sub, Key, Value string
}

// Git returns the settings in a file in git's format.
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

// unquoted returns a value without its quotes and its comment.
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
