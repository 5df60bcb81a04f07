package place

import (
	"encoding/hex"
	"html"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// rounds is how often a text is decoded. Text encoded more than three times was not written
// for a program that decodes once.
const rounds = 3

// Decodings yields what a text that names a path may stand for after a program has decoded
// it: every intermediate form, layer by layer. escapes says that the text is neither a
// program's line nor content, where escapes are data; fold says that the system treats a
// backslash as a slash.
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

// drive turns a Windows drive, also behind a prefix for literal names, into a folder below
// the root.
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
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
	return norm.NFKC.String(text)
}

// isInvisible reports whether a rune is invisible: formats, joiners, fillers and variation
// selectors.
func isInvisible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff:
		return true
	default:
		return unicode.Is(unicode.Cf, r)
	}
}

// unquoted removes the quotes around a text.
func unquoted(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'' || text[0] == '`') {
		return text[1 : n-1]
	}
	return text
}

// unpercent decodes %XX once and leaves anything else. It also decodes two overlong forms
// that old programs read as "/" and ".".
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
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				out = append(out, c...)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(out), "\xc0\xaf", "/"), "\xc0\xae", ".")
}

// unicodePercent decodes %uXXXX, which some old programs write.
func unicodePercent(text string) (rune, bool) {
	const length = len("%u002f")
	if len(text) < length || text[0] != '%' || (text[1] != 'u' && text[1] != 'U') {
		return 0, false
	}
	r, n := escape(`\u` + text[2:length])
	return r, n > 0
}

// FileURL returns the path of a file: URL. Other texts it returns unchanged.
func FileURL(text string) string {
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

// unescaped decodes the escapes of programming languages for a character: \u002f, \u{2f},
// \x2f, \057. It leaves anything else.
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

// escape decodes the escape at the beginning of a text, and returns its length; 0 if there is
// none.
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

// streamed returns the path in the name of a stream: what follows the last equal sign of
// php://filter and the like, or the path of scheme:///path and of scheme:scheme:///path. An
// address with a host contains no path.
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
