package place

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/unixtext"
)

// Hint is a set of facts known about a text that may name a path.
type Hint uint8

// The facts.
const (
	Named   Hint = 1 << iota // it stands where paths stand, perhaps several
	Content                  // nobody opens it
	Line                     // it is a command line
	Key                      // it is the key of a map
)

// IsPlain reports whether a text contains nothing that may need decoding or splitting.
func IsPlain(text string) bool { return traitsOf(text) == 0 }

// Spellings yields what a text may name besides what it literally says: each path of several, each of its alternatives, and its decoded forms. fold says that
// the system treats a backslash as a slash.
func Spellings(text string, h Hint, fold bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		t := traitsOf(text)
		if h&(Content|Key|Line) == 0 {
			if t&slash != 0 && !several(text, h, yield) {
				return
			}
			if t&group != 0 && !strings.ContainsAny(text, " \t\n;") {
				for _, one := range unixtext.Braced(text) {
					if !yield(one) {
						return
					}
				}
			}
		}
		if t&coded != 0 {
			Decodings(text, h&(Content|Line) == 0, fold)(yield)
		}
	}
}

// several yields the parts of a text that contains several paths, or one in brackets: a list with commas, colons or lines, a JSON list, an angle bracket. A
// part must begin like a path. It returns false if yield did.
func several(text string, h Hint, yield func(string) bool) bool {
	listed := h&Named != 0 || strings.IndexByte("[{<@", text[0]) >= 0
	if !listed && !strings.Contains(text, "file:/") || !strings.ContainsAny(text, ",;:|<>[]{}\"'@ \t\n") {
		return true
	}
	marks := marksIn(text)
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(marks, r) }) {
		part = fileOf(part)
		if len(part) == len(text) || part[0] != '/' && part[0] != '~' {
			continue
		}
		if !yield(part) {
			return false
		}
	}
	return true
}

// marksIn returns the bytes that separate the paths in a text.
func marksIn(s string) string {
	marks := ",;|<>[]{}\"'@\t\n"
	if strings.ContainsRune("/~[{<@\"'", rune(s[0])) {
		marks += " " // what begins with a word is a sentence, in which the seed allows mentioning a path
	}
	if !strings.Contains(s, "://") && !strings.Contains(s, "file:") {
		marks += ":"
	}
	return marks
}

// fileOf returns the path of a file URL in a part, or the part itself.
func fileOf(part string) string {
	switch at := strings.Index(part, "file:/"); {
	case at > 0:
		return FileURL(strings.TrimRight(part[at:], "!"))
	case at == 0:
		return FileURL(part)
	default:
		return part
	}
}

// OfSteps returns the path whose steps a list holds, or "".
func OfSteps(list []string) string {
	const least, most = 2, 32
	if len(list) < least || len(list) > most || list[0] != "" && list[0][0] != '/' && list[0][0] != '~' {
		return ""
	}
	whole := list[0]
	for _, step := range list[1:] {
		if step == "" || strings.ContainsAny(step, "/ \t\n") {
			return ""
		}
		whole = strings.TrimSuffix(whole, "/") + "/" + step
	}
	return whole
}

// PlainLine returns a command line without invisible characters, with the home itself as ~, and without slashes and dots that change nothing.
func PlainLine(line string) string {
	line = Visible(line)
	if strings.Contains(line, "$") {
		line = homeAsTilde(line)
	}
	for _, idle := range [...]string{"/./", "//"} {
		for strings.Contains(line, idle) {
			line = strings.ReplaceAll(line, idle, "/")
		}
	}
	return line
}

// homeAsTilde replaces the home itself by ~. It leaves paths below the home alone: a folder there may well be the workspace.
func homeAsTilde(line string) string {
	line = strings.ReplaceAll(line, "${HOME}", "$HOME")
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "$HOME")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		line = after
		rest := strings.TrimLeft(after, "/")
		if rest != "" && IsNameByte(rest[0]) && (rest[0] != '-' || len(rest) < len(after)) {
			b.WriteString("$HOME")
			continue
		}
		b.WriteByte('~')
	}
}

// trait is a set of features of a text. Most texts need only one look.
type trait uint8

const (
	slash trait = 1 << iota
	group       // alternatives
	coded       // something that may be decoded
	other       // a name of the home, or a blank around it
)

func traitsOf(text string) (t trait) {
	for i := range len(text) {
		t |= traitOf[text[i]]
	}
	if len(text) > 1 && strings.IndexByte("\"'`", text[0]) >= 0 {
		t |= coded
	}
	if text != "" && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		t |= other
	}
	return t
}

// traitOf holds the traits of each byte.
var traitOf = func() (of [256]trait) { //nolint:gochecknoglobals // Made once, never changed.
	for c := utf8.RuneSelf; c < len(of); c++ {
		of[c] = coded
	}
	for chars, t := range map[string]trait{"/": slash, "{(": group, "%&\\:\x00": coded, "$~": other} {
		for _, c := range []byte(chars) {
			of[c] = t
		}
	}
	return of
}()
