package mask

import "strings"

// addressSecret returns the secret of an address that stands where a secret is
// expected: what follows its question mark or number sign, else who logs in. Its
// host and its path are where it goes, and shown. ok is false for any other value;
// from equals to where nothing of the address is left to be masked.
func addressSecret(v string) (from, to int, ok bool) {
	n := span(v, inScheme)
	rest, ok := strings.CutPrefix(v[n:], "://")
	if n == 0 || !ok || isDigit(v[0]) {
		return 0, 0, false
	}
	at := n + len("://")
	plain, _, _ := strings.Cut(rest, string(Open)) // A mask has a number sign of its own.
	if i := strings.IndexAny(plain, "?#"); i >= 0 {
		if from = at + i + 1; hidable(v[from:]) {
			return from, len(v), true
		}
	}
	from, to = login(v, at)
	return from, to, true
}

func inScheme(c byte) bool { return isAlphanumeric(c) || c == '+' || c == '.' || c == '-' }

// login returns what of who logs in is to be masked, of an address whose host
// begins there or behind it.
func login(v string, at int) (from, to int) {
	rest := v[at:]
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	user := strings.LastIndexByte(authority, '@')
	if user < 0 {
		return 0, 0
	}
	from, to = at, at+user
	if i := strings.IndexByte(authority[:user], ':'); i >= 0 {
		from = at + i + 1
	}
	if hidable(v[from:to]) {
		return from, to
	}
	return 0, 0
}

// hidable reports whether a part of an address is something to be masked that is
// not masked yet.
func hidable(part string) bool {
	return part != "" && !placeholder(part) && !strings.HasPrefix(part, maskPrefix)
}

// narrow returns the part of a value to be masked: of an address its secret, of
// anything else the whole.
func (sc *scanner) narrow(v value) value {
	if from, to, ok := addressSecret(sc.text[v.from:v.to]); ok {
		v.from, v.to = v.from+from, v.from+to
	}
	return v
}

// address masks what is secret of an address that stands under a secret's name,
// and returns ok only for one.
func (m Masker) address(v string) (masked string, ok bool) {
	for range 2 { // what follows the question mark, and who logs in
		from, to, is := addressSecret(v)
		if !is {
			return v, false
		}
		if to == from {
			break
		}
		v = v[:from] + m.mask(v[from:to]) + v[to:]
	}
	return m.Mask(v), true
}
