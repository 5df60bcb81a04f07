package mask

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// statement handles a word of SQL after which a quoted password follows, and a word of a
// .netrc file, where the password is not quoted.
func (sc *scanner) statement() (from, to int) {
	s := sc.text[sc.at:]
	end := identifiedBy(s)
	if foldPrefix(s, "password for ") { // SET PASSWORD FOR user = '…'
		const most = 80 // bytes between the two
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

// namedHere returns what follows the name of a password and a blank, if it looks like a
// password: walletpassphrase SECRET, a line of settings, prose.
func (sc *scanner) namedHere() (from, to int) {
	if sc.at >= sc.name.to {
		sc.name = extent{sc.at, sc.at + span(sc.text[sc.at:], isURLSafe)}
	}
	end := sc.name.to
	if end-sc.at > mostName && sc.at > sc.name.from {
		return 0, 0 // It was examined at its beginning, or will be further on.
	}
	name := sc.text[max(sc.at, end-mostName):end] // A name is judged by its end.
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

// endsAsPassword is a quick test that avoids judging the name of every word.
func endsAsPassword(word string) bool {
	const least = len("word")
	if len(word) <= least || strings.EqualFold(word, "passwd") {
		return false
	}
	end := word[len(word)-least:]
	return strings.EqualFold(end, "word") || strings.EqualFold(end, "pass") || strings.EqualFold(end, "sswd") || strings.EqualFold(end, "rase")
}

// identifiedBy returns where the text after IDENTIFIED [WITH plugin] BY begins, or 0 if s
// does not begin that way.
func identifiedBy(s string) int {
	const most = 80 // bytes between the two
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

// foldPrefix reports whether a text begins with a prefix, ignoring case.
func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// netrc reports whether a machine and its login precede sc.at, as in a .netrc file.
func (sc *scanner) netrc() bool {
	const most = 200 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	i := strings.LastIndex(before, "machine ")
	return i >= 0 && strings.Contains(before[i:], "login ")
}

// element handles the end of an XML start tag whose name is a secret's.
func (sc *scanner) element() (from, to int) {
	name := dottedBefore(sc.text[:sc.at])
	if !strings.HasSuffix(sc.text[:sc.at-len(name)], "<") {
		return 0, 0
	}
	v := value{from: sc.at + 1, to: sc.inertEnd(sc.at+1, true)}
	if kind := secrecyOf(name); kind == notSecret || !strings.HasPrefix(sc.text[v.to:], "</") || sc.keep(v, kind, '=') {
		return 0, 0
	}
	return v.from, v.to
}

// fillsNamed reports whether an option such as --value gives a value to a secret named
// earlier in the same command: config set DB_PASSWORD --value SECRET.
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

// isValue reports whether a key is called value.
func isValue(name string) bool { return name == "value" || name == "val" || name == "v" }

// behindValue matches a value and the name that stands behind it. Its counted repetitions make
// it large, so that only what masks compiles it.
//
//nolint:gochecknoglobals // Made once, then only looked at.
var behindValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A:\s{0,8}"[^"\\]{0,400}"\s{0,8},\s{0,8}"(?:name|key|k|field|header|variable)"\s{0,8}:\s{0,8}"([\w.-]{1,64})"`)
})

// valueOf returns the name that accompanies a key called value, as in {"name":
// "DB_PASSWORD", "value": …} and in Kubernetes' lists of variables.
func (sc *scanner) valueOf() string {
	const most = 120 // bytes
	if behind := behindValue().FindStringSubmatch(sc.text[sc.at:]); behind != nil && secrecyOf(behind[1]) != notSecret {
		return behind[1]
	}
	before := sc.text[max(0, sc.at-most):sc.at]
	i, word := -1, ""
	for _, of := range []string{"name", "type", " key", "\"key", "'key", "\"k", "field", "header", "variable"} {
		if at := strings.LastIndex(before, of); at > i {
			i, word = at, of
		}
	}
	if i < 0 {
		return ""
	}
	rest := strings.TrimLeft(before[i+len(word):], `"'\`)
	rest = strings.TrimLeft(rest, " ")
	if rest == "" || rest[0] != ':' && rest[0] != '=' {
		return ""
	}
	rest = rest[1:]
	rest = strings.TrimLeft(rest, ` "'\`)
	return rest[:span(rest, isDotted)]
}
