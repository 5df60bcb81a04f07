package place

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Local brings a path into the form that the tables know: the home in place of a leading ~ or $HOME, the path of a file: URL, and a Windows drive as a folder
// below the root, in lower case. It returns any other path unchanged. The result may be relative. If home is empty, its names are left alone.
func Local(p, home string) string {
	switch {
	case p == "":
		return ""
	case p[0] == '~', p[0] == '$':
		return withHome(p, home)
	case len(p) > len("file:/") && strings.EqualFold(p[:len("file:")], "file:"):
		if q := FileURL(p); q != p && q != "" {
			return unpercent(q)
		}
	case len(p) == len("c:") && p[1] == ':' && isLetter(p[0]), hasDrive(p):
		return "/" + strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	case strings.HasPrefix(p, `\\?\`), strings.HasPrefix(p, `\\.\`): // a literal name, or a device
		return drive(strings.ToLower(strings.ReplaceAll(p, `\`, "/")))
	}
	return p
}

func withHome(p, home string) string {
	if rest, ok := CutHome(p); ok && home != "" {
		return strings.TrimRight(home, "/") + "/" + strings.TrimPrefix(rest, "/")
	}
	return p
}

// CutHome returns what follows the user's home, written as ~ or $HOME, at the beginning of a path.
func CutHome(p string) (rest string, ok bool) {
	for _, name := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(p, name); ok && IsStep(rest) {
			return rest, true
		}
	}
	return "", false
}

// Join returns a path as seen from a folder, cleaned. If the folder is empty, a relative path stays relative.
func Join(cwd, p string) string {
	if p == "" || p[0] == '/' || cwd == "" {
		return Clean(p)
	}
	return Clean(cwd + "/" + p)
}

// Inside reports whether a clean path is one of the roots or lies below one.
func Inside(roots []string, clean string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		// The end first: most pairs of paths share their folder, and few end a step there.
		return len(root) <= len(clean) && (IsStep(clean[len(root):]) || root == "/") && strings.HasPrefix(clean, root)
	})
}

// ByProcess removes detours through a process's root or cwd in /proc from a clean path. cwd is the folder of the process that asks, "" if unknown.
func ByProcess(clean, cwd string) string {
	for range strings.Count(clean, "/proc/") + rounds {
		rest, ok := strings.CutPrefix(clean, "/proc/")
		if !ok {
			return clean
		}
		who, below, _ := strings.Cut(rest, "/")
		link, in, _ := strings.Cut(below, "/")
		switch {
		case link == "root", link == "cwd" && who == "1":
			clean = Clean("/" + in)
		case link == "cwd" && (who == "self" || who == "thread-self") && cwd != "":
			clean = Clean(cwd + "/" + in)
		default:
			return clean
		}
	}
	return clean
}

// IsNameByte reports whether a byte next to a path makes it another path.
func IsNameByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c >= utf8.RuneSelf || ('0' <= c && c <= '9') || isLetter(c)
}

// Mentions reports whether a text contains a name as whole steps of a path.
func Mentions(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		if (at == 0 || !IsNameByte(text[at-1])) && (end == len(text) || !IsNameByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

// ReplaceHome replaces $HOME, except where it begins a longer name.
func ReplaceHome(text, with string) string {
	const name = "$HOME"
	at := strings.Index(text, name)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(text, name) {
		b.WriteString(text[:at])
		text = text[at+len(name):]
		if text != "" && IsNameByte(text[0]) && text[0] != '.' && text[0] != '-' {
			b.WriteString(name)
			continue
		}
		b.WriteString(with)
	}
	b.WriteString(text)
	return b.String()
}
