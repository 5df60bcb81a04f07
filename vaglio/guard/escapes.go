package guard

import (
	"html"
	"strconv"
	"strings"
)

// unescaped decodes the escapes that programming languages have for a
// character: \u002f, \u{2f}, \x2f, \057. What is no such escape stays.
func unescaped(text string) string {
	at := strings.IndexByte(text, '\\')
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:at])
	for text = text[at:]; text != ""; {
		if r, n := escape(text); n > 0 {
			b.WriteRune(r)
			text = text[n:]
			continue
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}

// escape reads the escape that a text begins with, and how long it is; 0 where
// there is none.
func escape(text string) (r rune, length int) {
	const shortest = 4
	if len(text) < shortest || text[0] != '\\' {
		return 0, 0
	}
	digits, base, n := text[2:], 16, 0
	switch text[1] {
	case 'u':
		n = 4
	case 'U':
		n = 8
	case 'x':
		n = 2
	case '0', '1', '2', '3':
		digits, base, n = text[1:], 8, 3
	default:
		return 0, 0
	}
	start := len(text) - len(digits)
	if digits[0] == '{' && base == 16 {
		end := strings.IndexByte(digits, '}')
		if end < 0 {
			return 0, 0
		}
		return character(digits[1:end], base, start+end+1)
	}
	if len(digits) < n {
		return 0, 0
	}
	return character(digits[:n], base, start+n)
}

func character(digits string, base, length int) (r rune, n int) {
	v, err := strconv.ParseInt(digits, base, 32)
	if err != nil || v <= 0 || strings.HasPrefix(digits, "+") {
		return 0, 0
	}
	return rune(v), length
}

// entities decodes the characters that HTML and XML spell with an ampersand.
func entities(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	return html.UnescapeString(text)
}

// streamed gives the path inside a name of a stream: of php://filter and its
// like what stands behind the last equal sign, of scheme:///path and of
// scheme:scheme:///path the path. An address with a host is none.
func streamed(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.ContainsAny(scheme, "/ \t\n") {
		return text
	}
	if at := strings.LastIndexByte(rest, '='); at >= 0 && strings.HasPrefix(strings.ToLower(scheme), "php") {
		if rest = rest[at+1:]; strings.Contains(rest, "://") {
			return streamed(rest)
		}
		return rest
	}
	if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "~") {
		return rest
	}
	return text
}

// windowsHome writes a leading variable of Windows that names the home as
// $HOME.
func windowsHome(text string) string {
	for _, name := range [...]string{"%userprofile%", "%home%", "%homedrive%%homepath%"} {
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return "$HOME" + text[len(name):]
		}
	}
	return text
}

// maxBraced bounds how many paths a text with braces is tried as.
const maxBraced = 64

// braced gives the paths that a text with braces or alternatives stands for:
// /etc/{a,b}, /etc/@(a|b). A text without them gives none.
func braced(text string) []string {
	todo, done := []string{text}, []string(nil)
	for len(todo) > 0 && len(todo)+len(done) <= maxBraced {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before, parts, after := alternatives(t)
		if parts == nil {
			done = append(done, t)
			continue
		}
		for _, p := range parts {
			todo = append(todo, before+p+after)
		}
	}
	if len(done) == 1 && done[0] == text {
		return nil
	}
	return append(done, todo...)
}

// alternatives finds the first innermost group of alternatives in a text.
func alternatives(text string) (before string, parts []string, after string) {
	for end := 0; end < len(text); end++ {
		if text[end] != '}' && text[end] != ')' {
			continue
		}
		open, mark := "{", ","
		if text[end] == ')' {
			open, mark = "(", "|"
		}
		start := strings.LastIndex(text[:end], open)
		if start < 0 {
			continue
		}
		inner, before := text[start+1:end], text[:start]
		if open == "{" {
			if !strings.Contains(inner, mark) || strings.HasSuffix(before, "$") {
				continue
			}
			return before, strings.Split(inner, mark), text[end+1:]
		}
		if n := len(before); n > 0 && strings.IndexByte("@+?*", before[n-1]) >= 0 {
			return before[:n-1], strings.Split(inner, mark), text[end+1:]
		}
	}
	return text, nil, ""
}

// globbed writes the wildcards of a path as those of a spot.
func globbed(where string) string {
	if !strings.ContainsAny(where, "*?[") {
		return where
	}
	var b strings.Builder
	for i := 0; i < len(where); i++ {
		switch where[i] {
		case '*':
			b.WriteByte(anyText)
		case '?':
			b.WriteByte(anyByte)
		case '[':
			if end := strings.IndexByte(where[i:], ']'); end > 1 && !strings.Contains(where[i:i+end], "/") {
				b.WriteByte(anyByte)
				i += end
				continue
			}
			b.WriteByte('[')
		default:
			b.WriteByte(where[i])
		}
	}
	return b.String()
}
