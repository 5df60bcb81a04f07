package mask

import (
	"regexp"
	"strings"
)

// The ends of a name before the comma of a pair, and what may follow its value.
var (
	pairsName  = regexp.MustCompile(`[\[(]\s{0,8}(\\?["'])([\w.-]{1,64})(\\?["'])\s{0,8}\z`)
	pairsValue = regexp.MustCompile(`\A,\s{0,8}\\?["'][^"'\\]*\\?["']\s{0,8},?\s{0,8}[\])]`)
)

// mostPair bounds how far the end of a pair is looked for, in bytes.
const mostPair = 8192

// paired returns the secret of a pair that a list spells out, whose comma is at sc.at: ["Authorization",
// "Bearer …"]. [Masker.pair] does the same for lists that are values.
func (sc *scanner) paired() (from, to int) {
	before := sc.text[max(0, sc.at-mostBeside):sc.at]
	if end := strings.TrimRight(before, " \t\r\n"); !strings.HasSuffix(end, `"`) && !strings.HasSuffix(end, `'`) {
		return 0, 0
	}
	found := pairsName.FindStringSubmatch(before)
	if found == nil || found[1] != found[3] || !pairsValue.MatchString(sc.text[sc.at:min(len(sc.text), sc.at+mostPair)]) {
		return 0, 0
	}
	name, v := found[2], sc.valueAfter(sc.at+1)
	kind := secrecyOf(name)
	if !isPair(kind, name, sc.text[v.from:v.to], found[0][0] == '(') || kind == cookies && sc.inCookies(name, v) {
		return 0, 0
	}
	if v, kind = sc.inHeader(v, kind); sc.keep(v, kind, ':') {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
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
