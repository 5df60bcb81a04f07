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
	if !strings.HasSuffix(strings.TrimRight(before, " \t\r\n"), `"`) && !strings.HasSuffix(strings.TrimRight(before, " \t\r\n"), `'`) {
		return 0, 0
	}
	opens := strings.LastIndexAny(before, "[(")
	name := pairsName.FindStringSubmatch(before)
	if name == nil || name[1] != name[3] || secrecyOf(name[2]) == notSecret || !pairsValue.MatchString(sc.text[sc.at:min(len(sc.text), sc.at+mostPair)]) {
		return 0, 0
	}
	v := sc.valueAfter(sc.at + 1)
	kind := secrecyOf(name[2])
	looks, joins := looksSecret(sc.text[v.from:v.to]), strings.ContainsAny(name[2], "-_")
	if sc.text[sc.at-len(before)+opens] == '(' { // maybe a call, to which two words are handed
		looks, joins = looks && joins, false
	}
	if kind != credentials && !looks && !joins || kind == cookies && sc.inCookies(name[2], v) {
		return 0, 0
	}
	if v, kind = sc.inHeader(v, kind); sc.keep(v, kind, ':') {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}
