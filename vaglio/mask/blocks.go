package mask

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastKeyLine is the length of a private key's shortest line, not counting the last.
const leastKeyLine = 24

// The lines that delimit a private key's block, in PEM and in the older format of SSH2, and
// what its first line looks like, be it of the key or of a header.
var (
	keyHead  = regexp.MustCompile(`\A----[- ]BEGIN [^-\n]*PRIVATE KEY[^-\n]*----`)
	keyStart = regexp.MustCompile(`\A(?:[A-Za-z0-9+/=]{24}|MI|[\w-]+: )`)
	keyFoot  = regexp.MustCompile(`----[- ]END`)
)

// framed reports whether a text begins like the first of these lines.
func framed(s string) bool {
	return strings.HasPrefix(s, "-----BEGIN ") || strings.HasPrefix(s, "---- BEGIN ")
}

// keyBlock records where the private key ends with which s begins.
func (sc *scanner) keyBlock(s string) {
	if sc.at < sc.pemEnd {
		return
	}
	head := keyHead.FindString(s)
	if body := s[len(head):]; head != "" && keyStart.MatchString(pastBreaks(body)) {
		sc.pemEnd = sc.at + len(head) + len(keyFoot.Split(body, 2)[0])
	}
}

// pastBreaks skips what separates the lines of a text embedded in another: line ends, also
// as escape sequences, blanks, and the marks of diffs and quotations.
func pastBreaks(s string) string {
	for {
		rest := strings.TrimLeft(s, "\r\n\t +->|*\"',")
		for _, spelled := range []string{`\n`, `\r`, `\t`} {
			if backslashes := span(rest, func(c byte) bool { return c == '\\' }); backslashes > 0 {
				rest = strings.TrimPrefix(rest[backslashes-1:], spelled)
			}
		}
		if rest == s {
			return s
		}
		s = rest
	}
}

// privatePart is a part of a key file that holds the private key and is announced by a line
// of text.
type privatePart struct {
	begin, end string
	// digits reports that begin is followed by the number of lines; hex that the part
	// consists of bytes in hexadecimal.
	digits, hex bool
}

// privateParts returns the private parts of PuTTY's and BIND's files, and of the output of
// openssl and certtool, which is private to its end.
func privateParts() []privatePart {
	return []privatePart{
		{begin: "Private-Lines:", end: "Private-MAC", digits: true},
		{begin: "Private-key-format:", end: "Created:"},
		{begin: "Private-Key:", hex: true},
		{begin: "private key:", hex: true},
		{begin: "private exponent:", hex: true},
	}
}

// spelled returns how many bytes of the word at a place belong to an escaped line end, as
// in a JSON string of two lines.
func (sc *scanner) spelled(at int) int {
	if at > 0 && sc.text[at-1] == '\\' && strings.IndexByte("nrt", sc.text[at]) >= 0 {
		return 1
	}
	return 0
}

// opensKey reports whether a text, or what it quotes, begins a private key, which is masked
// line by line.
func opensKey(s string) bool {
	s = strings.TrimLeft(s, "$'\"")
	return framed(s) || slices.ContainsFunc(privateParts(), func(p privatePart) bool { return strings.HasPrefix(s, p.begin) })
}

// partBlock records where the private part of a key file ends that begins with the word at
// sc.at.
func (sc *scanner) partBlock() {
	s := sc.text[sc.at+sc.spelled(sc.at):]
	if !strings.HasPrefix(s, "Private-") && !strings.HasPrefix(s, "private ") {
		return
	}
	for _, p := range privateParts() {
		rest, ok := strings.CutPrefix(s, p.begin)
		if !ok {
			continue
		}
		if p.digits {
			rest = strings.TrimLeft(rest, " ")
			count := span(rest, isDigit)
			if rest = rest[count:]; count == 0 || pastBreaks(rest) == rest {
				continue
			}
		}
		end := len(s)
		if i := strings.Index(s, p.end); p.end != "" && i >= 0 {
			end = i
		}
		end += len(sc.text) - len(s)
		switch {
		case p.hex:
			sc.hexEnd = max(sc.hexEnd, end)
		case sc.at >= sc.pemEnd:
			sc.pemEnd = end
		}
	}
}

// keyLine returns the line of a key that begins at sc.at. It masks only what no shell would
// run as a command with arguments.
func (sc *scanner) keyLine() (from, to int) {
	from = sc.at + sc.spelled(sc.at)
	if from < sc.hexEnd {
		if pairs := hexPairs.FindString(sc.text[from:sc.hexEnd]); pairs != "" {
			return from, from + len(pairs)
		}
	}
	if from >= sc.pemEnd {
		return 0, 0
	}
	rest := sc.text[from:sc.pemEnd]
	n := span(rest, isBase64)
	left := pastBreaks(rest[n:])
	const sum = 5 // an equals sign and the checksum of OpenPGP's armor
	last := left == "" || n > 0 && strings.HasPrefix(left, "=") && len(left) >= sum && pastBreaks(left[sum:]) == ""
	if n >= leastKeyLine || last && n >= 4 {
		return from, from + n
	}
	return 0, 0
}

var hexPairs = regexp.MustCompile(`\A(?:[[:xdigit:]]{2}:){2,}[[:xdigit:]]{0,2}`)

// leastEncoded is the length of the shortest base64 that is decoded, and mostEncoded the
// most that is decoded at once.
const leastEncoded, mostEncoded = 40, 64 << 10

// encoded decodes the base64 that begins at sc.at, across its lines, and if it holds a
// secret, records where it ends.
func (sc *scanner) encoded() {
	s := sc.text[sc.at:]
	if sc.masker.flat || sc.at < sc.looked || len(s) < leastEncoded || !inBase64(s[leastEncoded-1]) {
		return
	}
	width := span(s[:min(len(s), mostEncoded)], inBase64)
	sc.looked = sc.at + width
	if width < leastEncoded {
		return
	}
	all, end := joined(s, width)
	sc.looked = sc.at + end
	text := decoded(all)
	flat := Masker{mac: sc.masker.mac, flat: true}
	if masked, _ := flat.pass(text, nil); masked != text {
		sc.pemEnd = max(sc.pemEnd, sc.at+end+span(s[end:], isPadding))
	}
}

// joined returns the lines of base64 with which s begins, without what separates them, and
// where they end. The first line has the given width.
func joined(s string, width int) (lines string, end int) {
	var all strings.Builder
	at := 0
	for n := width; n > 0 && all.Len() < mostEncoded; {
		all.WriteString(s[at : at+n])
		end = at + n
		next := pastBreaks(s[end:])
		if n < width || len(next) == len(s)-end {
			break // the last line
		}
		at = len(s) - len(next)
		// Lines consist of groups of four; a word that follows them seldom does.
		if n = span(next[:min(len(next), width+1)], inBase64); n > width || (n+span(next[n:], isPadding))%4 != 0 {
			break
		}
	}
	return all.String(), end
}

func inBase64(c byte) bool  { return isBase64(c) && !isPadding(c) }
func isPadding(c byte) bool { return c == '=' }

// decoded returns the text that base64 encodes, or "" if it encodes none. It drops an
// undecodable last line, which may really be a word after the base64.
func decoded(s string) string {
	const group = 4
	if len(s)%group == 1 {
		s = s[:len(s)-1]
	}
	raw, _ := base64.RawStdEncoding.DecodeString(s) // of its characters, and of a length that has no error
	text := string(raw)
	if !readable(text) {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	if !readable(text) {
		return ""
	}
	return text
}

// readable reports whether a text is UTF-8 without control characters other than tabs and
// line ends.
func readable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}
