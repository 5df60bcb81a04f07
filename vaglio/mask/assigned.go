package mask

import (
	"regexp"
	"slices"
	"strings"
)

// value is the value given to a name.
type value struct {
	from, to int
	// by is the length of what precedes the value if it is the default of a shell variable,
	// as in ${NAME:-value}.
	by int
	// quoted reports that the value is in quotation marks, spaced that there are blanks
	// around the sign; valueAfter only looks at the blanks after the sign.
	quoted, spaced bool
}

// assigned handles an equals sign or a colon. If the name before it is one whose value is a
// secret, assigned returns that value.
func (sc *scanner) assigned() (from, to int) {
	s, i := sc.text, sc.at
	if s[i] == ':' {
		if from, to = sc.colon(); to > from {
			return from, to
		}
	}
	name, spaced := nameBefore(s, i)
	kind := sc.secrecyHere(name)
	if kind == notSecret || slices.Contains(sc.plain, i+1) {
		return 0, 0
	}
	v := sc.given(name, spaced)
	if kind == cookies && sc.inCookies(name, v) || sc.shellsOwn(name, v, s[i]) {
		return 0, 0
	}
	if kind == userColon {
		v = sc.behindUser(v)
	}
	if v, kind = sc.inHeader(v, kind); sc.keep(v, kind, s[i]) || sc.joined(name, v, kind) {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}

// inCookies reports whether a value is one of cookies, each of which has a name of its own, and
// notes where they end.
func (sc *scanner) inCookies(name string, v value) bool {
	whole := secrecyOf(name[strings.LastIndexAny(name, "_-.")+1:]) == cookies && !strings.ContainsAny(name, "_.")
	if !whole && !v.quoted && sc.text[sc.at] != ':' {
		return false // of one cookie, or code
	}
	line := &sc.cookieLine
	if v.from < line.from || v.from > line.to {
		*line = extent{v.from, v.from + span(sc.text[v.from:], func(c byte) bool { return c != '"' && c != '\'' && c != '\n' })}
		sc.lastCookie = v.from + strings.LastIndexByte(sc.text[v.from:line.to], '=')
	}
	if sc.lastCookie < v.from {
		return false
	}
	sc.cookieEnd = max(sc.cookieEnd, line.to)
	return true
}

// given returns the value after the sign at sc.at. It is empty if an option stands there.
func (sc *scanner) given(name string, spaced bool) value {
	at := sc.at + 1
	if sc.text[sc.at] == ':' && strings.HasSuffix(sc.text[:sc.at-len(name)], "${") {
		at++ // in ${NAME:-value} or ${NAME:=value}
	}
	v := sc.valueAfter(at)
	if v.spaced && !v.quoted && strings.HasPrefix(sc.text[v.from:], "--") {
		v.to = v.from
	}
	v.spaced = v.spaced && spaced
	return v
}

// secrecyHere judges the name before the sign at sc.at, taking its surroundings into
// account.
func (sc *scanner) secrecyHere(name string) secrecy {
	switch here := sc.text[sc.at:]; {
	case strings.HasPrefix(here, "::"), strings.HasPrefix(here, ":?"): // a qualified name, ${NAME:?…}
		return notSecret
	case isValue(name):
		return secrecyOf(sc.valueOf())
	case signsURL(name) && sc.at > len(name) && strings.IndexByte("?&", sc.text[sc.at-len(name)-1]) >= 0:
		return maybeSecret
	case sc.text[sc.at] == '=':
		return sc.secrecyEquals(name)
	default:
		return secrecyOf(name)
	}
}

// signsURL reports whether a parameter of an address lets whoever has the address in.
func signsURL(name string) bool {
	return name == "sig" || name == "key" || strings.HasSuffix(strings.ToLower(name), "signature")
}

// secrecyEquals judges the name before the equals sign at sc.at.
func (sc *scanner) secrecyEquals(name string) secrecy {
	if sc.at < sc.cookieEnd || sc.carriers[name] {
		return surelySecret
	}
	kind := secrecyOf(name)
	if kind == notSecret && (hasSecretPart(name) || sc.isKey(name) || strings.HasPrefix(name, "-") && sc.fillsNamed(name)) {
		return seldomSecret
	}
	return kind
}

// isKey reports whether a variable such as STRIPE_KEY is given something that looks like a
// key.
func (sc *scanner) isKey(name string) bool {
	if !strings.HasSuffix(name, "_KEY") || name != strings.ToUpper(name) {
		return false
	}
	near := scanner{text: sc.text[:min(len(sc.text), sc.at+mostBeside)]}
	v := near.valueAfter(sc.at + 1)
	text := sc.text[v.from:v.to]
	if by, rest, ok := strings.Cut(text, "_"); ok && isName(by) { // the issuer's; a hash has none
		const least = 24
		if text = rest; len(rest) >= least && span(rest, isLowerHex) == len(rest) && strings.ContainsAny(rest, "0123456789") {
			return true
		}
	}
	return looksRandom(text) && !strings.ContainsAny(text, "-_")
}

// hasSecretPart reports whether any part of a variable's name, not only its end, names a
// secret, as in POETRY_PYPI_TOKEN_PYPI.
func hasSecretPart(name string) bool {
	return name == strings.ToUpper(name) && slices.ContainsFunc(strings.Split(name, "_"), func(part string) bool {
		return part == "TOKEN" || part == "SECRET" || endsAsPassword(part)
	})
}

// joined reports whether the colon at sc.at only joins words, as in arn:…:secret:name-2 and
// token:refresh2, instead of giving a value.
func (sc *scanner) joined(name string, v value, kind secrecy) bool {
	s, i := sc.text, sc.at
	return s[i] == ':' && v.from == i+1 && (kind == maybeSecret || kind == seldomSecret) && isName(name) && !strings.Contains(name, "_")
}

// behindUser narrows a value such as user:secret to the secret, and a value of any other
// form to nothing.
func (sc *scanner) behindUser(v value) value {
	user, secret, _ := strings.Cut(sc.text[v.from:v.to], ":")
	v.from = v.to - len(secret)
	if user == "" || strings.ContainsAny(secret, ":/") {
		v.from = v.to
	}
	return v
}

// inHeader narrows a header's value to its secret. What curl sends in a header is surely a
// secret, even if it looks like code.
func (sc *scanner) inHeader(v value, kind secrecy) (value, secrecy) {
	if kind == credentials || v.quoted && schemes.MatchString(sc.text[v.from:v.to]) {
		v, kind = sc.pastScheme(v)
	}
	if kind == maybeSecret && sc.text[sc.at] == ':' && sc.commandHas("curl") {
		v.to, kind = max(v.to, sc.inertEnd(v.from, true)), surelySecret
	}
	return v, kind
}

// colon handles the colon of a URL and of a Telegram bot's token.
func (sc *scanner) colon() (from, to int) {
	if strings.HasPrefix(sc.text[sc.at:], "://") {
		return sc.userinfo()
	}
	if n := telegram(sc.text, sc.at); n > 0 {
		return sc.at + 1, sc.at + 1 + n
	}
	return 0, 0
}

// shellsOwn reports whether a name that looks like a password's means something else here:
// the shell's working directory, or a tag of sudoers.
func (sc *scanner) shellsOwn(name string, v value, sign byte) bool {
	switch name {
	case "PWD", "OLDPWD":
		return v.to > v.from && strings.IndexByte("/~.", sc.text[v.from]) >= 0
	case "NOPASSWD", "PASSWD":
		return sign == ':'
	case "pwd":
		return sc.commandHas("alias ")
	default:
		return false
	}
}

var schemes = regexp.MustCompile(`(?i)\A(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\z`)

// pastScheme returns what follows the scheme in a header's value. Whatever follows a known
// scheme is surely a secret; behind another word it must look like one.
func (sc *scanner) pastScheme(v value) (value, secrecy) {
	const least = 16
	word, behind := sc.text[v.from:v.to], v
	behind.from = v.to + span(sc.text[v.to:], isBlank)
	behind.to = sc.inertEnd(behind.from, true)
	switch text := sc.text[behind.from:behind.to]; {
	case schemes.MatchString(word), behind.from > v.to && isName(word) && len(text) >= least && looksSecret(text):
		return behind, surelySecret
	case behind.from > v.to && strings.HasPrefix(sc.text[behind.from:], maskPrefix):
		v.to = v.from // It is masked already.
		return v, notSecret
	}
	return v, maybeSecret
}

// nameBefore returns the name before the sign at end, and reports whether spaces stand
// between them.
func nameBefore(s string, end int) (name string, spaced bool) {
	at := end
	for at > 0 && end-at < 8 && s[at-1] == ' ' {
		at--
	}
	spaced = at < end
	at = len(strings.TrimSuffix(s[:at], "]")) // environ['NAME'] =
	if quoted := strings.TrimSuffix(strings.TrimSuffix(s[:at], `"`), "'"); len(quoted) < at {
		at = len(strings.TrimSuffix(quoted, `\`))
	}
	return dottedBefore(s[:at]), spaced
}

// dottedBefore returns the name at the end of a text, or the end of a long one.
func dottedBefore(s string) string {
	at := len(s)
	for at > max(0, len(s)-mostName) && isDotted(s[at-1]) {
		at--
	}
	return s[at:]
}

// valueAfter returns the value after a sign, which ends before anything that a shell or a
// program would act on. What a program assigns with := is code unless it is quoted.
func (sc *scanner) valueAfter(at int) value {
	s := sc.text
	v, walrus := value{}, false
	switch rest := s[at:]; {
	case strings.HasPrefix(rest, "=") && s[at-1] != ':':
		return v // a comparison
	case strings.HasPrefix(rest, "="):
		walrus = true
		at++
	case strings.HasPrefix(rest, ">"):
		at++
	}
	blanks := min(span(s[at:], isBlank), 8)
	v.spaced = blanks > 0
	at += blanks
	if strings.HasPrefix(s[at:], `\`) {
		at++
	}
	at = pastTemplate(s, at)
	if strings.HasPrefix(s[at:], "$'") || strings.HasPrefix(s[at:], `$"`) {
		at++
	}
	if strings.HasPrefix(s[at:], `"`) || strings.HasPrefix(s[at:], "'") {
		v.quoted = true
		at++
	}
	v.by = byDefault(s[at:])
	at += v.by
	v.from, v.to = at, at
	if v.quoted || !walrus {
		v.to = max(sc.inertEnd(at, v.quoted), at+len(inGroups.FindString(s[at:])))
	}
	return v
}

// inGroups matches a number that is written in groups of digits, as a card's is.
var inGroups = regexp.MustCompile(`\A[0-9]+(?: [0-9]{2,7}\b)+`)

// byDefault returns the length of what precedes the default of a shell variable, as in
// ${NAME:-.
func byDefault(s string) (n int) {
	const most = 4 // nested variables: a bound on the work
	for range most {
		bare, opens := strings.CutPrefix(s[n:], "${")
		name := span(bare, isWord)
		sign := strings.TrimPrefix(bare[name:], ":")
		if !opens || name == 0 || sign == "" || sign[0] != '-' && sign[0] != '=' {
			break
		}
		n = len(s) - len(sign) + 1
	}
	return n
}

// pastTemplate returns where the quoted string of a template begins, or at if there is
// none.
func pastTemplate(s string, at int) int {
	rest, ok := strings.CutPrefix(s[at:], "{{")
	if rest = strings.TrimLeft(rest, " "); ok && strings.HasPrefix(rest, "'") {
		return len(s) - len(rest)
	}
	return at
}

// inertEnd returns the end of the inert text that begins at a place, quoted or bare. The
// end is the same from every place within one such text, so it is remembered: names that
// follow one another do not each search that far.
func (sc *scanner) inertEnd(at int, quoted bool) int {
	run, in := &sc.bare, inertBare
	if quoted {
		run, in = &sc.quoted, inertQuoted
	}
	if at < run.from || at > run.to {
		*run = extent{at, at + inertSpan(sc.text[at:], in)}
	}
	return run.to
}

// inertSpan is like span, but also stops before a mask and before a dollar sign that begins
// a substitution.
func inertSpan(s string, in func(byte) bool) int {
	for i := range len(s) {
		switch {
		case !in(s[i]):
			return i
		case s[i] == maskPrefix[0] && strings.HasPrefix(s[i:], maskPrefix):
			return i
		case s[i] == '$' && i+1 < len(s) && strings.IndexByte("({'\"", s[i+1]) >= 0:
			return i
		}
	}
	return len(s)
}

// inertBare reports whether a byte can be part of a bare value: it ends no word, and no
// shell acts on it.
func inertBare(c byte) bool { return inertQuoted(c) && c != ',' && c != '#' }

func inertQuoted(c byte) bool {
	switch c {
	case '"', '\'', '`', '\\', ';', '&', '|', '<', '>', '(', ')', '{', '}', '[', ']':
		return false
	}
	return c > ' ' && c != 0x7F
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// telegram returns the length of the secret part of a bot's token, which follows a colon.
func telegram(s string, colon int) int {
	bot, rest := strings.TrimRight(s[:colon], "0123456789"), s[colon+1:]
	if colon-len(bot) < 6 || !strings.HasPrefix(rest, "A") {
		return 0
	}
	if n := span(rest, isURLSafe); n >= 35 {
		return n
	}
	return 0
}

// userinfo looks after a URL's scheme for a password, or for a token in place of a user.
func (sc *scanner) userinfo() (from, to int) {
	s, at := sc.text, sc.at+len("://")
	name := at + inertSpan(s[at:], func(c byte) bool { return inUserinfo(c) && c != ':' })
	if strings.HasPrefix(s[name:], "@") && name-at >= 20 {
		return at, name
	}
	if !strings.HasPrefix(s[name:], ":") {
		return 0, 0
	}
	from = name + 1
	to = from + inertSpan(s[from:], inUserinfo)
	sc.refers(from)
	if to == from || !strings.HasPrefix(s[to:], "@") || placeholder(s[from:to]) {
		return 0, 0
	}
	return from, to
}

// inUserinfo reports whether a byte can be part of a user's name or password in a URL. Unlike
// elsewhere, & and ; may be (RFC 3986, section 3.2.1): the @ that must follow makes whatever
// stands behind them no command that exists.
func inUserinfo(c byte) bool { return (inertQuoted(c) || c == '&' || c == ';') && c != '/' && c != '@' }
