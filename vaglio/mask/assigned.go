package mask

import (
	"slices"
	"strings"
)

// value is what a name is given.
type value struct {
	from, to int
	// quoted and spaced say how: in quotation marks, with spaces around the sign.
	quoted, spaced bool
}

// assigned looks at an equals sign or a colon: at what stands before it for a
// name whose value is a secret, and behind it for the value.
func (sc *scanner) assigned() (from, to int) {
	s, i := sc.text, sc.at
	if s[i] == ':' {
		if from, to = sc.colon(); to > from {
			return from, to
		}
	}
	name, spaced := nameBefore(s, i)
	kind := sc.secrecyHere(name)
	if kind == notSecret {
		return 0, 0
	}
	if kind == cookies {
		if i >= sc.cookieEnd {
			sc.cookieEnd = i + lineEnd(s[i:])
		}
		return 0, 0
	}
	v := sc.valueAfter(i+1, spaced)
	if sc.shellsOwn(name, v, s[i]) {
		return 0, 0
	}
	if v, kind = sc.inHeader(v, kind); sc.keep(v, kind, s[i]) {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}

// secrecyHere judges the name before the sign here, by where it stands, too.
func (sc *scanner) secrecyHere(name string) secrecy {
	s, i := sc.text, sc.at
	switch {
	case i < sc.cookieEnd && s[i] == '=':
		return surelySecret
	case name == "value":
		return secrecyOf(sc.valueOf())
	case name == "sig" && i > len("?sig") && strings.IndexByte("?&", s[i-len("?sig")]) >= 0:
		return maybeSecret // of a signed URL
	default:
		return secrecyOf(name)
	}
}

// inHeader narrows the value of a header to the secret. What curl sends as one
// is surely a secret, although it looks like code.
func (sc *scanner) inHeader(v value, kind secrecy) (value, secrecy) {
	if kind == credentials {
		v, kind = sc.pastScheme(v)
	}
	if kind == maybeSecret && sc.text[sc.at] == ':' && sc.commandHas("curl") {
		kind = surelySecret
	}
	return v, kind
}

// colon looks at a colon in a URL, and in the token of a bot.
func (sc *scanner) colon() (from, to int) {
	if strings.HasPrefix(sc.text[sc.at:], "://") {
		return sc.userinfo()
	}
	if n := telegram(sc.text, sc.at); n > 0 {
		return sc.at + 1, sc.at + 1 + n
	}
	return 0, 0
}

// shellsOwn reports whether a name that sounds like a password's has another
// meaning where it stands: a shell's folder, a word of sudoers.
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

// pastScheme returns what follows the scheme in the value of a header. Behind a
// scheme there is surely a secret.
func (sc *scanner) pastScheme(v value) (value, secrecy) {
	switch strings.ToLower(sc.text[v.from:v.to]) {
	case "bearer", "basic", "token", "digest", "apikey", "negotiate", "aws4-hmac-sha256":
		v.from = v.to + span(sc.text[v.to:], isBlank)
		v.to = v.from + inertSpan(sc.text[v.from:], inertQuoted)
		return v, surelySecret
	default:
		return v, maybeSecret
	}
}

// keep reports whether a value is shown: because it is empty, stands for
// something else, or is code.
func (sc *scanner) keep(v value, kind secrecy, sign byte) bool {
	text := sc.text[v.from:v.to]
	if strings.HasPrefix(text, "-----BEGIN") {
		return true // Its lines are a key's, and masked as such.
	}
	if text == "" || placeholder(text) || !v.quoted && sc.called(v) {
		return true
	}
	if kind == surelySecret {
		return false
	}
	return len(text) < 4 || !v.quoted && isName(text) && (v.spaced || sign != '=')
}

// called reports whether the value is the name of a function that is called, or
// of a list that is looked into.
func (sc *scanner) called(v value) bool {
	rest := sc.text[v.to:]
	return (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "[")) && isName(sc.text[v.from:v.to])
}

// nameBefore returns the name that stands before a sign, and whether there is
// a space between the two.
func nameBefore(s string, end int) (name string, spaced bool) {
	at := end
	for at > 0 && end-at < 8 && s[at-1] == ' ' {
		at--
	}
	spaced = at < end
	if at > 0 && (s[at-1] == '"' || s[at-1] == '\'') {
		at--
		if at > 0 && s[at-1] == '\\' {
			at--
		}
	}
	start := at
	for start > 0 && at-start < 64 && isDotted(s[start-1]) {
		start--
	}
	return s[start:at], spaced
}

// valueAfter returns the value that begins behind a sign. It ends where
// anything begins that a shell or a program would act on. What a program
// assigns by a := sign is code, unless it is quoted.
func (sc *scanner) valueAfter(at int, spaced bool) value {
	s := sc.text
	v, walrus := value{spaced: spaced}, false
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
	v.spaced = v.spaced && blanks > 0
	at += blanks
	if strings.HasPrefix(s[at:], `\`) {
		at++
	}
	in := inertBare
	if strings.HasPrefix(s[at:], `"`) || strings.HasPrefix(s[at:], "'") {
		v.quoted, in = true, inertQuoted
		at++
	}
	v.from, v.to = at, at
	if v.quoted || !walrus {
		v.to += inertSpan(s[at:], in)
	}
	return v
}

// inertSpan is span, and ends before a mask and before a dollar sign that opens
// a substitution.
func inertSpan(s string, in func(byte) bool) int {
	for i := range len(s) {
		switch {
		case !in(s[i]):
			return i
		case s[i] == maskPrefix[0] && strings.HasPrefix(s[i:], string(Open)):
			return i
		case s[i] == '$' && i+1 < len(s) && strings.IndexByte("({'\"", s[i+1]) >= 0:
			return i
		}
	}
	return len(s)
}

// inertBare reports whether a byte can be part of a bare value: nothing that
// ends a word, and nothing that a shell acts on.
func inertBare(c byte) bool { return inertQuoted(c) && c != ',' && c != '#' }

func inertQuoted(c byte) bool {
	switch c {
	case '"', '\'', '`', '\\', ';', '&', '|', '<', '>', '(', ')', '{', '}', '[', ']':
		return false
	}
	return c > ' ' && c != 0x7F
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func lineEnd(s string) int {
	if i := strings.IndexAny(s, "\"'\n"); i >= 0 {
		return i
	}
	return len(s)
}

// telegram returns the length of a bot token's secret part behind a colon.
func telegram(s string, colon int) int {
	digits := 0
	for colon-digits > 0 && isDigit(s[colon-digits-1]) {
		digits++
	}
	rest := s[colon+1:]
	if digits < 6 || digits > 16 || !strings.HasPrefix(rest, "A") {
		return 0
	}
	if n := span(rest, isURLSafe); n >= 35 {
		return n
	}
	return 0
}

// userinfo looks behind the scheme of a URL for a password, or for a token that
// stands in a user's place.
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
	if to == from || !strings.HasPrefix(s[to:], "@") || placeholder(s[from:to]) {
		return 0, 0
	}
	return from, to
}

func inUserinfo(c byte) bool { return inertQuoted(c) && c != '/' && c != '@' }

// dashes looks at a key block's frame, and at a flag whose value follows.
func (sc *scanner) dashes() (from, to int) {
	s := sc.text[sc.at:]
	if strings.HasPrefix(s, "-----BEGIN ") {
		sc.keyBlock(s)
		return 0, 0
	}
	dashes := span(s, func(c byte) bool { return c == '-' })
	name := dashes + span(s[dashes:], isURLSafe)
	if dashes > 2 || name == dashes || span(s[name:], isBlank) == 0 {
		return 0, 0
	}
	v := sc.valueAfter(sc.at+name, false)
	if slices.Contains(sc.plain, sc.pastBlanks(sc.at+name)) {
		return 0, 0
	}
	sc.handedHere(sc.at, sc.at+name)
	kind := sc.flag(s[dashes:name], &v)
	if kind == notSecret || strings.HasPrefix(sc.text[v.from:], "-") || sc.keep(v, kind, ' ') {
		return 0, 0
	}
	v = sc.narrow(v)
	return v.from, v.to
}

// flag says how surely a flag's value is a secret, and narrows the value to it.
func (sc *scanner) flag(name string, v *value) secrecy {
	switch {
	case (name == "u" || name == "user") && sc.commandHas("curl"):
		_, password, ok := strings.Cut(sc.text[v.from:v.to], ":")
		if !ok {
			return notSecret
		}
		v.from = v.to - len(password)
		return surelySecret
	case name == "auth":
		// What follows is a method, or a user and a password.
		_, password, ok := strings.Cut(sc.text[v.from:v.to], ":")
		if !ok {
			return notSecret
		}
		v.from = v.to - len(password)
		return surelySecret
	case sc.signsIn(name, *v):
		return surelySecret
	}
	if kind := secrecyOf(name); kind == surelySecret || kind == maybeSecret {
		return kind
	}
	return notSecret
}

// commandHas reports whether a word stands before, in the same command.
func (sc *scanner) commandHas(word string) bool {
	const most = 500 // bytes: a bound on the work, not a rule
	before := sc.text[max(0, sc.at-most):sc.at]
	return strings.Contains(before[strings.LastIndexAny(before, ";|&\n")+1:], word)
}

// leastKeyLine is the length of the shortest line of a key that is not the last one.
const leastKeyLine = 24

// keyBlock notes how far a private key reaches, when s starts with one.
func (sc *scanner) keyBlock(s string) {
	if sc.at < sc.pemEnd {
		return
	}
	const frame = "-----"
	head := strings.Index(s[len(frame):], frame)
	if head < 0 || head > 60 || !strings.Contains(s[:head+len(frame)], "PRIVATE KEY") {
		return
	}
	body := head + 2*len(frame)
	start := strings.TrimLeft(s[body:], "\r\n\\rn ")
	// Its first line is one of a key, or a header of it.
	if span(start, isBase64) < leastKeyLine && !strings.HasPrefix(start, "MI") && !strings.HasPrefix(start, "Proc-Type") {
		return
	}
	end := len(s)
	if i := strings.Index(s[body:], frame+"END"); i >= 0 {
		end = body + i
	}
	sc.pemEnd = sc.at + end
}

// puttyLines begins the private part of PuTTY's key files, which ends with puttyMAC.
const puttyLines, puttyMAC = "Private-Lines:", "Private-MAC"

// puttyKey notes how far the private part of PuTTY's key file reaches, when s starts
// with one.
func (sc *scanner) puttyKey(s string) {
	if sc.at > 0 && sc.text[sc.at-1] == '\\' { // behind a line's end that is spelled
		s = strings.TrimPrefix(s, "n")
	}
	rest, ok := strings.CutPrefix(s, puttyLines)
	if !ok || sc.at < sc.pemEnd {
		return
	}
	rest = strings.TrimLeft(rest, " ")
	if count := span(rest, isDigit); count == 0 || strings.TrimLeft(rest[count:], "\r\n\\") == rest[count:] {
		return
	}
	end := strings.Index(s, puttyMAC)
	if end < 0 {
		end = len(s)
	}
	sc.pemEnd = len(sc.text) - len(s) + end
}

// keyLine returns the length of the line of a key that begins here. Only what
// no shell would run as a command with arguments is masked.
func (sc *scanner) keyLine() int {
	rest := sc.text[sc.at:sc.pemEnd]
	n := span(rest, isBase64)
	last := strings.TrimLeft(rest[n:], "\r\n\\rn ") == ""
	if n >= leastKeyLine || last && n >= 4 {
		return n
	}
	return 0
}
