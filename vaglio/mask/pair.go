package mask

import (
	"regexp"
	"strings"
)

// pairsValue matches the value of a pair, from the comma on.
var pairsValue = regexp.MustCompile(`\A,\s{0,8}\\?["'][^"'\\]*\\?["']\s{0,8},?\s{0,8}[\])]`)

// The bounds, in bytes, on how far the end of a pair is looked for, on its name and on the blanks in it.
const mostPair, mostPairName, mostPairBlanks = 8192, 64, 8

// paired returns the secret of a pair that a list spells out, whose comma is at sc.at: ["Authorization",
// "Bearer …"]. [Masker.pair] does the same for lists that are values.
func (sc *scanner) paired() (from, to int) {
	name, bracket := pairsName(sc.text[:sc.at])
	if name == "" || !pairsValue.MatchString(sc.text[sc.at:min(len(sc.text), sc.at+mostPair)]) {
		return 0, 0
	}
	v := sc.valueAfter(sc.at + 1)
	kind := secrecyOf(name)
	if !isPair(kind, name, sc.text[v.from:v.to], bracket == '(') || kind == cookies && sc.inCookies(name, v) {
		return 0, 0
	}
	if v, kind = sc.inHeader(v, kind); sc.keep(v, kind, ':') {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}

// pairsName returns the quoted name with which a pair begins at the end of a text, and the bracket before
// it. Most commas stand behind none, so it is read from the comma back.
func pairsName(before string) (name string, bracket byte) {
	rest, mark := cutQuote(pastBlanksBack(before))
	n := 0
	for n < min(len(rest), mostPairName) && isDotted(rest[len(rest)-1-n]) {
		n++
	}
	name = rest[len(rest)-n:]
	rest, opens := cutQuote(rest[:len(rest)-n])
	if rest = pastBlanksBack(rest); mark == "" || opens != mark || rest == "" {
		return "", 0
	}
	if bracket = rest[len(rest)-1]; bracket != '[' && bracket != '(' {
		return "", 0
	}
	return name, bracket
}

// cutQuote cuts the quotation mark off the end of a text, with a backslash before it.
func cutQuote(s string) (rest, mark string) {
	n := len(s)
	if n == 0 || s[n-1] != '"' && s[n-1] != '\'' {
		return s, ""
	}
	if n--; n > 0 && s[n-1] == '\\' {
		n--
	}
	return s[:n], s[n:]
}

// pastBlanksBack returns a text without the few blanks at its end.
func pastBlanksBack(s string) string {
	n := len(s)
	for n > max(0, len(s)-mostPairBlanks) && strings.IndexByte(" \t\n\r\f", s[n-1]) >= 0 {
		n--
	}
	return s[:n]
}

// isPair reports whether a pair's value may be the secret of its name. Between parentheses they may be two
// words that a function is handed.
func isPair(kind secrecy, name, value string, inCall bool) bool {
	joins, looks := strings.ContainsAny(name, "-_"), looksSecret(value)
	switch {
	case kind == notSecret || kind == credentials:
		return kind == credentials
	case inCall:
		return joins && looks
	default:
		return joins || looks
	}
}
