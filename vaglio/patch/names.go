package patch

import (
	"path"
	"strconv"
	"strings"
)

// namesIn returns the names that a header line may mean, and whether it means that there is no
// file. A tab ends a name; if there is none, programs disagree on whether the first space does.
func namesIn(s string) (names []string, null bool) {
	s = strings.TrimLeft(s, " ")
	if q, err := strconv.QuotedPrefix(s); err == nil && s != "" && s[0] == '"' {
		s = unquoted(q)
		return []string{s}, s == "/dev/null"
	}
	name, _, tab := strings.Cut(s, "\t")
	name = strings.TrimRight(name, " ")
	first, _, _ := strings.Cut(name, " ")
	switch {
	case name == "":
		return nil, false
	case first == "/dev/null":
		return nil, true
	case tab || first == name:
		return []string{name}, false
	}
	return []string{first, name}, false
}

// unquoted removes C quoting from a name, if it is quoted.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if u, err := strconv.Unquote(s); err == nil && s[0] == '"' {
		return u
	}
	return s
}

// quotedPair reads two names at least one of which is quoted.
func quotedPair(s string) (a, b string, ok bool) {
	if s == "" || s[0] != '"' {
		at := strings.Index(s, " \"")
		if at < 0 || !strings.HasSuffix(s, "\"") {
			return "", "", false
		}
		return s[:at], unquoted(s[at+1:]), true
	}
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", false
	}
	return unquoted(q), unquoted(s[len(q):]), true
}

// stripped returns the paths that a name may stand for.
func (r *reader) stripped(name string) []string {
	if n := r.o.Strip; n >= 0 {
		return []string{strip(name, n)}
	}
	p := name
	if len(p) > 2 && p[1] == '/' && strings.IndexByte("abciwo12", p[0]) >= 0 {
		p = p[2:]
	}
	if base := path.Base(p); r.o.Strip == StripBase && base != p {
		return []string{p, base}
	}
	return []string{p}
}

// strip removes n leading folders from a name; it returns "" if there are fewer.
func strip(name string, n int) string {
	for range n {
		i := strings.IndexByte(name, '/')
		if i < 0 {
			return ""
		}
		name = strings.TrimLeft(name[i:], "/")
	}
	return name
}
