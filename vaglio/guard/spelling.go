package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// expand replaces a leading tilde, and $HOME and ${HOME} anywhere.
func (s *scan) expand(form string) string {
	form = s.expandUser(form)
	if s.g.home == "" || !strings.Contains(form, "$") {
		return form
	}
	home := strings.TrimRight(s.g.home, "/")
	return replaceHome(strings.ReplaceAll(form, "${HOME}", home), home)
}

// replaceHome replaces $HOME where no longer name begins with it.
func replaceHome(text, with string) string {
	const name = "$HOME"
	at := strings.Index(text, name)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(text, name) {
		b.WriteString(text[:at])
		text = text[at+len(name):]
		if text != "" && isNameByte(text[0]) && text[0] != '.' && text[0] != '-' {
			b.WriteString(name)
			continue
		}
		b.WriteString(with)
	}
	b.WriteString(text)
	return b.String()
}

func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// visible takes out what nobody sees and writes compatibility forms plainly.
func visible(text string) string {
	if isASCII(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
	return norm.NFKC.String(text)
}

// isInvisible says whether a rune leaves no mark: formats, joiners, fillers
// and variation selectors.
func isInvisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff:
		return true
	default:
		return unicode.Is(unicode.Cf, r)
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unquoted takes the quotes off a text that stands in them as a whole.
func unquoted(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'' || text[0] == '`') {
		return text[1 : n-1]
	}
	return text
}

// unpercent decodes %XX once and leaves what is no escape. Two overlong forms
// that old programs read as "/" and "." are read so, too.
func unpercent(text string) string {
	at := strings.IndexByte(text, '%')
	if at < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for i := at; i < len(text); i++ {
		if r, ok := unicodePercent(text[i:]); ok {
			out = utf8.AppendRune(out, r)
			i += len("%u002f") - 1
			continue
		}
		if text[i] == '%' && i+2 < len(text) {
			high, okHigh := unhex(text[i+1])
			low, okLow := unhex(text[i+2])
			if okHigh && okLow {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(out), "\xc0\xaf", "/"), "\xc0\xae", ".")
}

// unicodePercent reads %uXXXX, which some old programs write.
func unicodePercent(text string) (rune, bool) {
	const length = len("%u002f")
	if len(text) < length || text[0] != '%' || (text[1] != 'u' && text[1] != 'U') {
		return 0, false
	}
	r, n := escape(`\u` + text[2:length])
	return r, n > 0
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

// fileURL gives the path of a file: URL.
func fileURL(text string) string {
	trimmed := strings.TrimSpace(text)
	const scheme = "file:"
	if len(trimmed) < len(scheme) || !strings.EqualFold(trimmed[:len(scheme)], scheme) {
		return text
	}
	rest := trimmed[len(scheme):]
	if rest == "" || (rest[0] != '/' && rest[0] != '\\') {
		return text
	}
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		if at := strings.IndexByte(authority, '/'); at >= 0 {
			rest = authority[at:]
		}
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// forwardSlashes reads a Windows path as one with forward slashes and without
// its drive.
func (s *scan) forwardSlashes(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	drive := len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
	if !drive && !strings.HasPrefix(text, `\\`) && !strings.HasPrefix(text, `~\`) && !strings.HasPrefix(text, "$") && !s.g.fold {
		return text
	}
	return strings.ReplaceAll(text, `\`, "/")
}

// trait is a set of what a text holds, so that most texts need one look.
type trait uint16

const (
	slash trait = 1 << iota
	encoded
	dollar
	tilde
	backslash
	colon
	nul
	wide
	blank
	quoted
	grouped
)

func traitsOf(text string) trait {
	var t trait
	for i := range len(text) {
		t |= traitOf(text[i])
	}
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'' || text[0] == '`') {
		t |= quoted
	}
	if text != "" && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		t |= blank
	}
	return t
}

func traitOf(c byte) trait {
	switch c {
	case '/':
		return slash
	case '%', '&':
		return encoded
	case '{', '(':
		return grouped
	case '$':
		return dollar
	case '~':
		return tilde
	case '\\':
		return backslash
	case ':':
		return colon
	case 0:
		return nul
	default:
		if c >= utf8.RuneSelf {
			return wide | blank
		}
		return 0
	}
}
