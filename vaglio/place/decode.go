package place

import (
	"encoding/hex"
	"html"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// rounds is how often a text is decoded. Text encoded more than three times was not written for a program that decodes once.
const rounds = 3

// Decodings yields what a text that names a path may stand for after a program has decoded it: every intermediate form, layer by layer. escapes says that the
// text is neither a program's line nor content, where escapes are data; fold says that the system treats a backslash as a slash.
func Decodings(text string, escapes, fold bool) iter.Seq[string] {
	slashes := windowsSlashes
	if fold {
		slashes = allSlashes
	}
	return func(yield func(string) bool) {
		for range rounds {
			before := text
			if cut := strings.IndexByte(text, 0); cut >= 0 && !yield(text[:cut]) {
				return
			}
			for i, step := range [...]func(string) string{
				windowsHome, unescaped, html.UnescapeString, withoutNUL, Visible, unquoted, unpercent, FileURL, streamed, slashes, drive,
			} {
				const ofTexts = 3
				if i < ofTexts && !escapes {
					continue
				}
				next := step(text)
				if next == text {
					continue
				}
				if text = next; !yield(text) {
					return
				}
			}
			if text == before {
				return
			}
		}
	}
}

// windowsSlashes converts what can only be a Windows path to forward slashes.
func windowsSlashes(text string) string {
	if !hasDrive(text) && !strings.HasPrefix(text, `\\`) && !strings.HasPrefix(text, `~\`) && !strings.HasPrefix(text, "$") {
		return text
	}
	return allSlashes(text)
}

func allSlashes(text string) string { return strings.ReplaceAll(text, `\`, "/") }

// hasDrive reports whether a text begins with a Windows drive.
func hasDrive(text string) bool {
	return len(text) > 2 && text[1] == ':' && isLetter(text[0]) && (text[2] == '\\' || text[2] == '/')
}

// drive turns a Windows drive, also behind a prefix for literal names, into a folder below the root.
func drive(text string) string {
	for _, mark := range [...]string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(text, mark); ok && hasDrive(rest) {
			text = rest
		}
	}
	if !hasDrive(text) {
		return text
	}
	return "/" + strings.ToLower(strings.ReplaceAll(text, `\`, "/"))
}

func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// Visible removes invisible characters and replaces compatibility forms by plain ones.
func Visible(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if isInVisible(r) {
			return -1
		}
		return r
	}, text)
	return norm.NFKC.String(text)
}

// isInvisible reports whether a rune is invisible: formats, joiners, fillers and variation selectors.
func isInVisible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff:
		return true
	default:
		return unicode.Is(unicode.Cf, r)
	}
}

func unquoted(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'' || text[0] == '`') {
		return text[1 : n-1]
	}
	return text
}

// percents are the escapes of addresses, and those that some old programs write.
var percents = regexp.MustCompile(`%([uU][[:xdigit:]]{4}|[[:xdigit:]]{2})`)

// unpercent decodes %XX once and leaves anything else. It also decodes two overlong forms that old programs read as "/" and ".".
func unpercent(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	text = percents.ReplaceAllStringFunc(text, func(m string) string {
		if code := strings.TrimLeft(m, "%uU"); len(m) > len("%2f") {
			return character(code, 16, m)
		}
		c, _ := hex.DecodeString(m[1:])
		return string(c)
	})
	return strings.ReplaceAll(strings.ReplaceAll(text, "\xc0\xaf", "/"), "\xc0\xae", ".")
}

// FileURL returns the path of a file: URL. Other texts it returns unchanged.
func FileURL(text string) string {
	trimmed := strings.TrimSpace(text)
	const scheme = "file:"
	if len(trimmed) <= len(scheme) || !strings.EqualFold(trimmed[:len(scheme)], scheme) {
		return text
	}
	rest := trimmed[len(scheme):]
	if rest[0] != '/' && rest[0] != '\\' {
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

// escapes are those that programming languages have for a character.
var escapes = regexp.MustCompile(`\\([uUx]\{[[:xdigit:]]+\}|u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|x[[:xdigit:]]{2}|[0-3][0-7]{2})`)

// unescaped decodes the escapes of a text: \u002f, \u{2f}, \x2f, \057. What is no such escape stays.
func unescaped(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return escapes.ReplaceAllStringFunc(text, func(m string) string {
		base := 16
		if m[1] <= '3' {
			base = 8
		}
		return character(strings.Trim(m, `\uUx{}`), base, m)
	})
}

// character is that of a code; what has none stays as it was written.
func character(digits string, base int, written string) string {
	v, err := strconv.ParseInt(digits, base, 32)
	if err != nil || v == 0 {
		return written
	}
	return string(rune(v))
}

// streamed returns the path in the name of a stream: what follows the last equal sign of php://filter and the like, or the path of scheme:///path and of
// scheme:scheme:///path. An address with a host contains no path.
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

// windowsHome replaces a leading Windows variable that names the home by $HOME.
func windowsHome(text string) string {
	for _, name := range [...]string{"%userprofile%", "%home%", "%homedrive%%homepath%"} {
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return "$HOME" + text[len(name):]
		}
	}
	return text
}
