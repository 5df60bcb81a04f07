package mask

import (
	"slices"
	"strings"
)

// dash returns the secret that the dash at sc.at reveals, if any.
func (sc *scanner) dash(afterWord bool) (from, to int) {
	switch s := sc.text[sc.at:]; {
	case afterWord && framed(s): // after an escaped line end
		sc.keyBlock(s)
		return 0, 0
	case afterWord || sc.at > 0 && sc.text[sc.at-1] == '-':
		return 0, 0
	}
	return sc.dashes()
}

// dashes handles the frame of a key block, and a flag whose value follows.
func (sc *scanner) dashes() (from, to int) {
	s := sc.text[sc.at:]
	if framed(s) {
		sc.keyBlock(s)
		return 0, 0
	}
	dashes := span(s, func(c byte) bool { return c == '-' })
	name := dashes + span(s[dashes:], isURLSafe)
	if dashes > 2 || name == dashes || span(s[name:], isBlank) == 0 {
		return 0, 0
	}
	v := sc.valueAfter(sc.at + name)
	v.spaced = false // there is no sign
	if slices.Contains(sc.plain, sc.pastBlanks(sc.at+name)) {
		return 0, 0
	}
	sc.handedHere(sc.at, sc.at+name)
	kind := sc.flag(s[dashes:name], &v)
	if here := sc.pastBlanks(sc.at + name); kind == surelySecret && strings.HasPrefix(sc.text[here:], "<<<") {
		sc.secretAt(here+len("<<<"), 0)
		return 0, 0
	}
	if kind == notSecret || strings.HasPrefix(sc.text[v.from:], "-") || strings.HasSuffix(sc.text[v.from:v.to], ".txt") || sc.keep(v, kind, ' ') {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}

// flag says how surely a flag's value is a secret, and narrows the value to the secret.
func (sc *scanner) flag(name string, v *value) secrecy {
	kind := secrecyOf(name)
	switch {
	case (name == "u" || name == "user") && sc.commandHas("curl"):
		_, password, _ := strings.Cut(sc.text[v.from:v.to], ":")
		v.from = v.to - len(password)
		return surelySecret
	case name == "auth":
		return sc.authFlag(v)
	case kind == userColon:
		*v = sc.behindUser(*v)
		return surelySecret
	case sc.signsIn(name, *v):
		return surelySecret
	case kind == notSecret && sc.fillsNamed(name):
		return seldomSecret
	case kind == credentials || kind == cookies:
		return notSecret
	default:
		return kind
	}
}

// authFlag is flag for a flag whose value is a method such as CRAM-MD5, a user and
// password, or a token.
func (sc *scanner) authFlag(v *value) secrecy {
	text := sc.text[v.from:v.to]
	if strings.Contains(text, ":") {
		*v = sc.behindUser(*v)
		return surelySecret
	}
	if text == strings.ToUpper(text) {
		return notSecret
	}
	return seldomSecret
}

// commandHas reports whether the same command contains a word before sc.at.
func (sc *scanner) commandHas(word string) bool {
	const most = 500 // bytes: a bound on the work, not a rule
	before := sc.text[max(0, sc.at-most):sc.at]
	return strings.Contains(before[strings.LastIndexAny(before, ";|&\n")+1:], word)
}
