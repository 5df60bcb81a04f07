package mask

import "strings"

// keep reports whether a value is shown: because it is empty, stands for
// something else, or is code.
func (sc *scanner) keep(v value, kind secrecy, sign byte) bool {
	text := sc.text[v.from:v.to]
	sc.refers(v.from - v.by)
	if beginsKey(text) || text == "" || placeholder(text) || !v.quoted && sc.unquoted(v, sign) {
		return true
	}
	switch kind {
	case seldomSecret:
		return !looksGiven(text)
	case surelySecret:
		return false
	default:
		return len(text) < 4 || !v.quoted && isName(text) && !joinedByEquals(v, sign)
	}
}

// looksGiven reports whether a value looks like a secret, and gives no other name a value
// as sed's s/NAME=1/NAME=2/ does.
func looksGiven(text string) bool {
	return looksSecret(text) && !strings.Contains(strings.TrimRight(text, "="), "=")
}

// joinedByEquals reports whether a value stands right behind an equals sign.
func joinedByEquals(v value, sign byte) bool { return sign == '=' && !v.spaced }

// unquoted reports whether a value is code or prose, as it stands in no quotation marks.
func (sc *scanner) unquoted(v value, sign byte) bool {
	return sc.called(v) || sc.prose(v, sign) || v.spaced && inCode(sc.text[v.from:v.to])
}

// prose reports whether what a colon stands before is a word of a sentence, or the name of
// what follows, as in sed's s/password: .*/password: …/.
func (sc *scanner) prose(v value, sign byte) bool {
	text := sc.text[v.from:v.to]
	return sc.goesOn(v.to) && (sign == ':' && isName(text) || strings.HasSuffix(text, ":"))
}

// inCode reports whether what is assigned, with spaces around the sign, is a part of
// something, another name of a secret, or a command of PowerShell's such as Read-Host.
func inCode(text string) bool {
	if isName(text) {
		return strings.Contains(text, ".") || secrecyOf(text) != notSecret
	}
	verb, noun, ok := strings.Cut(text, "-")
	return ok && isName(verb+noun) && verb != "" && noun != "" && isUpper(verb[0]) && isUpper(noun[0])
}

// goesOn reports whether a word follows on the same line.
func (sc *scanner) goesOn(at int) bool {
	rest := sc.text[at:]
	n := span(rest, isBlank)
	return n > 0 && n < len(rest) && isWord(rest[n])
}

// called reports whether the value is the name of a function that is called, or
// of a list that is looked into.
func (sc *scanner) called(v value) bool {
	rest := sc.text[v.to:]
	return (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "[")) && isName(strings.ReplaceAll(sc.text[v.from:v.to], "::", "."))
}
