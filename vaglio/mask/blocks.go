package mask

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastKeyLine is the length of the shortest line of a key that is not the last one.
const leastKeyLine = 24

// frames are what a private key's block begins and ends with: in PEM, and in the form
// of SSH2 that came before.
func frames() [2]struct{ begin, close, end string } {
	return [...]struct{ begin, close, end string }{{"-----BEGIN ", "-----", "-----END"}, {"---- BEGIN ", " ----", "---- END"}}
}

// framed reports whether a text begins as a frame does.
func framed(s string) bool {
	return strings.HasPrefix(s, "----") && (strings.HasPrefix(s, "-----BEGIN ") || strings.HasPrefix(s, "---- BEGIN "))
}

// keyBlock notes how far a private key reaches, when s starts with one.
func (sc *scanner) keyBlock(s string) {
	if sc.at < sc.pemEnd {
		return
	}
	const longest = 70
	for _, f := range frames() {
		rest, ok := strings.CutPrefix(s, f.begin)
		if !ok {
			continue
		}
		head := strings.Index(rest[:min(len(rest), longest)], f.close)
		if head < 0 || !strings.Contains(rest[:head], "PRIVATE KEY") {
			continue
		}
		body := len(f.begin) + head + len(f.close)
		// Its first line is one of a key, or a header of it.
		start := pastBreaks(s[body:])
		name := span(start, isURLSafe)
		if span(start, isBase64) < leastKeyLine && !strings.HasPrefix(start, "MI") && (name == 0 || !strings.HasPrefix(start[name:], ": ")) {
			continue
		}
		end := len(s)
		if i := strings.Index(s[body:], f.end); i >= 0 {
			end = body + i
		}
		sc.pemEnd = sc.at + end
	}
}

// pastBreaks steps over what stands between the lines of a text that was written into
// another: ends of lines, also spelled, blanks, marks of changes and of quotations.
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

// privatePart begins the private part of a key's file in which a line says what follows.
type privatePart struct {
	begin, end string
	// digits says that it names how many lines follow, hex that they are bytes in pairs.
	digits, hex bool
}

// privateParts are those of PuTTY, of BIND, and of what openssl and certtool show of a
// key, which is all of it.
func privateParts() []privatePart {
	return []privatePart{
		{begin: "Private-Lines:", end: "Private-MAC", digits: true},
		{begin: "Private-key-format:", end: "Created:"},
		{begin: "Private-Key:", hex: true},
		{begin: "private key:", hex: true},
		{begin: "private exponent:", hex: true},
	}
}

// spelled returns the length of what of a word belongs to a line's end that is spelled,
// as in two lines of JSON.
func (sc *scanner) spelled(at int) int {
	if at > 0 && sc.text[at-1] == '\\' && strings.IndexByte("nrt", sc.text[at]) >= 0 {
		return 1
	}
	return 0
}

// beginsKey reports whether a value is the first word of a private key, whose lines are
// masked as such.
func beginsKey(s string) bool {
	return strings.HasPrefix(s, "-----BEGIN") || s == "----" || beginsPart(s)
}

// beginsPart reports whether a text may begin as a private part does.
func beginsPart(s string) bool {
	return strings.HasPrefix(s, "Private-") || strings.HasPrefix(s, "private ")
}

// opensKey reports whether a text, or what it quotes, begins as a private key does, whose
// lines are masked as such.
func opensKey(s string) bool {
	s = strings.TrimLeft(s, "$'\"")
	return framed(s) || slices.ContainsFunc(privateParts(), func(p privatePart) bool { return strings.HasPrefix(s, p.begin) })
}

// partBlock notes how far the private part of a key's file reaches, when the word here
// begins one.
func (sc *scanner) partBlock() {
	s := sc.text[sc.at+sc.spelled(sc.at):]
	if !beginsPart(s) {
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

// keyLine returns where the line of a key lies that begins here. Only what no shell
// would run as a command with arguments is masked.
func (sc *scanner) keyLine() (from, to int) {
	from = sc.at + sc.spelled(sc.at)
	if from < sc.hexEnd {
		if n := span(sc.text[from:sc.hexEnd], isHexPair); n >= leastSecret && strings.Count(sc.text[from:from+n], ":") >= n/3-1 {
			return from, from + n
		}
	}
	if from >= sc.pemEnd {
		return 0, 0
	}
	rest := sc.text[from:sc.pemEnd]
	n := span(rest, isBase64)
	left := pastBreaks(rest[n:])
	const sum = 5 // an equals sign and the checksum of OpenPGP's armour
	last := left == "" || n > 0 && strings.HasPrefix(left, "=") && len(left) >= sum && pastBreaks(left[sum:]) == ""
	if n >= leastKeyLine || last && n >= 4 {
		return from, from + n
	}
	return 0, 0
}

func isHexPair(c byte) bool { return isLowerHex(c) || 'A' <= c && c <= 'F' || c == ':' }

// leastEncoded is the length of the shortest base64 that is read, mostEncoded of what is
// read at once.
const leastEncoded, mostEncoded = 40, 64 << 10

// encoded reads the base64 that begins here, over as many lines as it has, and notes how
// far it reaches where it stands for a text with a secret in it.
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

// joined are the lines of base64 that s begins with, of which the first has that width,
// and where they end.
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
		// Lines have whole groups of four; a word behind them seldom has.
		if n = span(next[:min(len(next), width+1)], inBase64); n > width || (n+span(next[n:], isPadding))%4 != 0 {
			break
		}
	}
	return all.String(), end
}

func inBase64(c byte) bool  { return isBase64(c) && !isPadding(c) }
func isPadding(c byte) bool { return c == '=' }

// decoded is the text that base64 stands for, "" where it stands for none. What the last
// line was taken for may be a word.
func decoded(s string) string {
	const group = 4
	if len(s)%group == 1 {
		s = s[:len(s)-1]
	}
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	text := string(raw)
	if !readable(text) {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	if !readable(text) {
		return ""
	}
	return text
}

// readable reports whether a text has signs that are written alone.
func readable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}
