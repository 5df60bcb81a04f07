package mask

import "strings"

// addressSecret returns the secret of an address that stands where a secret is expected:
// what follows its question mark or number sign, or else the credentials before its host.
// The host and the path say where it goes, and stay visible. ok is false for anything but
// an address; from equals to if the address has nothing left to mask.
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

// login returns the part of the user information to mask, in an address whose authority
// begins at the given place: the password, or all of it if there is none.
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

// hidable reports whether part of an address is to be masked and is not masked yet.
func hidable(part string) bool {
	return part != "" && !placeholder(part) && !strings.HasPrefix(part, maskPrefix)
}

// narrow returns the part of a value to mask: the secret of an address, or the whole of any
// other value.
func (sc *scanner) narrow(v value) value {
	if from, to, ok := addressSecret(sc.text[v.from:v.to]); ok {
		v.from, v.to = v.from+from, v.from+to
	}
	return v
}

// address masks the secrets of an address that stands under a secret's name. ok is false
// for anything but an address.
func (m Masker) address(v string) (masked string, ok bool) {
	for range 2 { // first what follows the question mark, then the credentials
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
