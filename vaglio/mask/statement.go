package mask

import (
	"slices"
	"strings"
)

// statement looks at a word of SQL behind which a password stands in quotation marks,
// and at one of a .netrc, where it stands without.
func (sc *scanner) statement() (from, to int) {
	s := sc.text[sc.at:]
	end := identifiedBy(s)
	if foldPrefix(s, "password for ") { // SET PASSWORD FOR user = '…'
		const most = 80 // bytes from one to the other
		end = strings.IndexByte(s[:min(len(s), most)], '=') + 1
	}
	if end == 0 && (foldPrefix(s, "password ") || foldPrefix(s, "password(")) {
		end = len("password ")
	}
	if end == 0 {
		return sc.namedHere()
	}
	end += span(s[end:], isBlank)
	quote := strings.TrimPrefix(s[end:], `\`)
	if !strings.HasPrefix(quote, "'") && !strings.HasPrefix(quote, `"`) && !sc.netrc() {
		return sc.namedHere()
	}
	v := sc.valueAfter(sc.at + end)
	if placeholder(sc.text[v.from:v.to]) {
		return 0, 0
	}
	return v.from, v.to
}

// namedHere returns what stands behind the name of a password and a blank, where it
// looks like one: walletpassphrase SECRET, a line of settings, prose.
func (sc *scanner) namedHere() (from, to int) {
	if sc.at >= sc.name.to {
		sc.name = extent{sc.at, sc.at + span(sc.text[sc.at:], isURLSafe)}
	}
	end := sc.name.to
	if end-sc.at > mostName && sc.at > sc.name.from {
		return 0, 0 // It was looked at from its beginning, or is from further on.
	}
	name := sc.text[max(sc.at, end-mostName):end] // by the end of which it is judged
	if end == len(sc.text) || !isBlank(sc.text[end]) || !endsAsPassword(name) || secrecyOf(name) != surelySecret {
		return 0, 0
	}
	before := strings.TrimRight(sc.text[max(0, sc.at-mostBeside):sc.at], " \t")
	if slices.Contains(verbs()["reads"], before[strings.LastIndexAny(before, " \t\n")+1:]) {
		return 0, 0
	}
	v := sc.valueAfter(end)
	if text := sc.text[v.from:v.to]; v.quoted || !looksRandom(text) || strings.ContainsAny(text, "-_") {
		return 0, 0
	}
	return v.from, v.to
}

// endsAsPassword is quicker than to judge every word's name.
func endsAsPassword(word string) bool {
	const least = len("word")
	if len(word) <= least || strings.EqualFold(word, "passwd") {
		return false
	}
	end := word[len(word)-least:]
	return strings.EqualFold(end, "word") || strings.EqualFold(end, "pass") || strings.EqualFold(end, "sswd") || strings.EqualFold(end, "rase")
}

// identifiedBy returns where what follows IDENTIFIED [WITH plugin] BY begins, 0 where
// the text does not begin so.
func identifiedBy(s string) int {
	const most = 80 // bytes from one to the other
	if !foldPrefix(s, "identified ") {
		return 0
	}
	near := strings.ToLower(s[:min(len(s), most)])
	by := strings.Index(near, " by ")
	if by < 0 || strings.ContainsAny(near[:by], ";\n") {
		return 0
	}
	return by + len(" by ")
}

// foldPrefix reports whether a text begins with a prefix, in any case.
func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// netrc reports whether a machine and who logs in there stand before, as in a .netrc.
func (sc *scanner) netrc() bool {
	const most = 200 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	i := strings.LastIndex(before, "machine ")
	return i >= 0 && strings.Contains(before[i:], "login ")
}

// element looks at the end of the opening tag of an element of XML whose name is a secret's.
func (sc *scanner) element() (from, to int) {
	s, i := sc.text, sc.at
	start := i
	for start > 0 && i-start < 64 && isDotted(s[start-1]) {
		start--
	}
	if start == i || start == 0 || s[start-1] != '<' {
		return 0, 0
	}
	v := value{from: i + 1, to: sc.inertEnd(i+1, true), quoted: true}
	if kind := secrecyOf(s[start:i]); kind == notSecret || !strings.HasPrefix(s[v.to:], "</") || sc.keep(v, kind, '=') {
		return 0, 0
	}
	return v.from, v.to
}

// fillsNamed reports whether an option such as --value gives what a name of a secret
// before it in the same command names: config set DB_PASSWORD --value SECRET.
func (sc *scanner) fillsNamed(option string) bool {
	if !slices.Contains(verbs()["gives"], strings.ToLower(strings.TrimLeft(option, "-"))) {
		return false
	}
	before := sc.text[max(0, sc.at-mostBeside):sc.at]
	before = before[strings.LastIndexAny(before, ";|&\n")+1:]
	return slices.ContainsFunc(strings.Fields(before), func(word string) bool {
		word = strings.TrimSuffix(strings.Trim(word, `"'`), "=")
		return secrecyOf(word[strings.LastIndexAny(word, ":/=")+1:]) != notSecret
	})
}

// valueOf returns the name beside the name of a value, as {"name": "DB_PASSWORD",
// "value": …} and the lists of variables of Kubernetes have it.
func (sc *scanner) valueOf() string {
	const most = 120 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	i := max(strings.LastIndex(before, "name"), strings.LastIndex(before, "type"), strings.LastIndex(before, " key"))
	if i < 0 {
		return ""
	}
	rest := strings.TrimLeft(before[i+len("name"):], `"'\`)
	rest = strings.TrimLeft(rest, " ")
	if rest[0] != ':' && rest[0] != '=' { // At least the word value is left.
		return ""
	}
	rest = rest[1:]
	rest = strings.TrimLeft(rest, ` "'\`)
	return rest[:span(rest, isDotted)]
}
