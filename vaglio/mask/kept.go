package mask

import "strings"

// keep reports whether a value stays visible because it is empty, a placeholder, code, or
// unlike a secret. It also records the variable to which the value refers.
func (sc *scanner) keep(v value, kind secrecy, sign byte) bool {
	text := sc.text[v.from:v.to]
	sc.refers(v.from - v.by)
	if opensKey(sc.text[v.from:]) || text == "" || placeholder(text) || !v.quoted && sc.unquoted(v, sign) {
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

// looksGiven reports whether a value looks like a secret and assigns nothing to another
// name, as sed's s/NAME=1/NAME=2/ does.
func looksGiven(text string) bool {
	return looksSecret(text) && !strings.Contains(strings.TrimRight(text, "="), "=")
}

// joinedByEquals reports whether a value directly follows an equals sign.
func joinedByEquals(v value, sign byte) bool { return sign == '=' && !v.spaced }

// unquoted reports whether a value without quotation marks is code or prose.
func (sc *scanner) unquoted(v value, sign byte) bool {
	return sc.called(v) || sc.prose(v, sign) || v.spaced && inCode(sc.text[v.from:v.to])
}

// prose reports whether a value is a word of a sentence after a colon, or the name of what
// follows, as in sed's s/password: .*/password: …/.
func (sc *scanner) prose(v value, sign byte) bool {
	text := sc.text[v.from:v.to]
	return sc.goesOn(v.to) && (sign == ':' && isName(text) || strings.HasSuffix(text, ":"))
}

// inCode reports whether a value assigned with spaces around the sign is code: a field of
// something, another name of a secret, or a PowerShell command such as Read-Host.
func inCode(text string) bool {
	if isName(text) {
		return strings.Contains(text, ".") || secrecyOf(text) != notSecret
	}
	verb, noun, ok := strings.Cut(text, "-")
	return ok && isName(verb+noun) && verb != "" && noun != "" && isUpper(verb[0]) && isUpper(noun[0])
}

// goesOn reports whether another word follows on the same line.
func (sc *scanner) goesOn(at int) bool {
	rest := strings.TrimLeft(sc.text[at:], " \t")
	return rest != "" && isWord(rest[0])
}

// called reports whether the value is the name of a function being called, or of a list
// being indexed.
func (sc *scanner) called(v value) bool {
	rest := sc.text[v.to:]
	return (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "[")) && isName(strings.ReplaceAll(sc.text[v.from:v.to], "::", "."))
}
