package mask

import (
	"slices"
	"strings"
)

// value is what a name is given.
type value struct {
	from, to int
	// by is the length of what stands before it of a variable that has it by default.
	by int
	// quoted and spaced say how: in quotation marks, with spaces around the sign; as
	// valueAfter leaves it, behind the sign.
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
	v := sc.given(name, spaced)
	if sc.shellsOwn(name, v, s[i]) {
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

// given is what stands behind the sign here; nothing where that is an option.
func (sc *scanner) given(name string, spaced bool) value {
	at := sc.at + 1
	if sc.text[sc.at] == ':' && strings.HasSuffix(sc.text[:sc.at-len(name)], "${") {
		at++ // of ${NAME:- or ${NAME:=
	}
	v := sc.valueAfter(at)
	v.spaced = v.spaced && spaced
	if v.from > at && strings.HasPrefix(sc.text[v.from:], "--") {
		v.to = v.from
	}
	return v
}

// secrecyHere judges the name before the sign here, by where it stands, too.
func (sc *scanner) secrecyHere(name string) secrecy {
	switch here := sc.text[sc.at:]; {
	case strings.HasPrefix(here, "::"), strings.HasPrefix(here, ":?"): // of a name's part, of ${NAME:?…}
		return notSecret
	case name == "value":
		return secrecyOf(sc.valueOf())
	case (name == "sig" || name == "key") && sc.at >= len("?sig") && strings.IndexByte("?&", sc.text[sc.at-len("?sig")]) >= 0:
		return maybeSecret // of a signed URL
	case sc.text[sc.at] == '=':
		return sc.secrecyEquals(name)
	default:
		return secrecyOf(name)
	}
}

// secrecyEquals judges the name before the equals sign here.
func (sc *scanner) secrecyEquals(name string) secrecy {
	if sc.at < sc.cookieEnd || slices.Contains(sc.carriers, name) {
		return surelySecret
	}
	kind := secrecyOf(name)
	if kind == notSecret && (hasSecretPart(name) || sc.isKey(name) || strings.HasPrefix(name, "-") && sc.fillsNamed(name)) {
		return seldomSecret
	}
	return kind
}

// isKey reports whether a variable such as STRIPE_KEY is given what looks like a key here.
func (sc *scanner) isKey(name string) bool {
	if !strings.HasSuffix(name, "_KEY") || name != strings.ToUpper(name) {
		return false
	}
	near := scanner{text: sc.text[:min(len(sc.text), sc.at+mostBeside)]}
	v := near.valueAfter(sc.at + 1)
	text := sc.text[v.from:v.to]
	return looksRandom(text) && !strings.ContainsAny(text, "-_")
}

// hasSecretPart reports whether a variable's name says of a part of it, which is not the
// last, that it is a secret's, as POETRY_PYPI_TOKEN_PYPI does.
func hasSecretPart(name string) bool {
	return name == strings.ToUpper(name) && slices.ContainsFunc(strings.Split(name, "_"), func(part string) bool {
		return part == "TOKEN" || part == "SECRET" || endsAsPassword(part)
	})
}

// joined reports whether the colon here only joins words, as in arn:…:secret:name-2 and
// token:refresh2, and gives no value.
func (sc *scanner) joined(name string, v value, kind secrecy) bool {
	s, i := sc.text, sc.at
	if s[i] != ':' || v.quoted || v.from != i+1 || kind != maybeSecret && kind != seldomSecret || i < len(name) {
		return false
	}
	return isName(name) && !strings.Contains(name, "_") || i > len(name) && s[i-len(name)-1] == ':'
}

// behindUser narrows a value such as user:secret to the secret; to nothing where it has
// another form.
func (sc *scanner) behindUser(v value) value {
	user, secret, _ := strings.Cut(sc.text[v.from:v.to], ":")
	v.from = v.to - len(secret)
	if user == "" || strings.ContainsAny(secret, ":/") {
		v.from = v.to
	}
	return v
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
	const longest = len("aws4-hmac-sha256")
	switch strings.ToLower(sc.text[v.from:min(v.to, v.from+longest+1)]) {
	case "bearer", "basic", "token", "digest", "apikey", "negotiate", "aws4-hmac-sha256":
		v.from = v.to + span(sc.text[v.to:], isBlank)
		v.to = sc.inertEnd(v.from, true)
		return v, surelySecret
	default:
		return v, maybeSecret
	}
}

// nameBefore returns the name that stands before a sign, and whether there is
// a space between the two.
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
	start := at
	for start > 0 && at-start < 64 && isDotted(s[start-1]) {
		start--
	}
	return s[start:at], spaced
}

// valueAfter returns the value that begins behind a sign. It ends where
// anything begins that a shell or a program would act on. What a program
// assigns by a := sign is code, unless it is quoted.
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
	if strings.HasPrefix(s[at:], `"`) || strings.HasPrefix(s[at:], "'") {
		v.quoted = true
		at++
	}
	v.by = byDefault(s[at:])
	at += v.by
	v.from, v.to = at, at
	if v.quoted || !walrus {
		v.to = sc.inertEnd(at, v.quoted)
	}
	return v
}

// byDefault returns the length of what stands before the text that variables have by
// default: of ${NAME:- and the like.
func byDefault(s string) (n int) {
	const most = 4 // variables in one another: a bound on the work
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

// pastTemplate returns where the text in quotation marks begins that a template says there;
// where it says none, the same place.
func pastTemplate(s string, at int) int {
	rest, ok := strings.CutPrefix(s[at:], "{{")
	if rest = strings.TrimLeft(rest, " "); ok && strings.HasPrefix(rest, "'") {
		return len(s) - len(rest)
	}
	return at
}

// inertEnd returns where the inert text ends that begins at a place, bare or in
// quotation marks. Within one text the end is the same from every place: names
// that follow one another in it do not each look as far.
func (sc *scanner) inertEnd(at int, quoted bool) int {
	run, in := &sc.bare, inertBare
	if quoted {
		run, in = &sc.quoted, inertQuoted
	}
	if at < run.from || at > run.to || run.to == 0 {
		*run = extent{at, at + inertSpan(sc.text[at:], in)}
	}
	return run.to
}

// inertSpan is span, and ends before a mask and before a dollar sign that opens
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
	sc.refers(from)
	if to == from || !strings.HasPrefix(s[to:], "@") || placeholder(s[from:to]) {
		return 0, 0
	}
	return from, to
}

func inUserinfo(c byte) bool { return inertQuoted(c) && c != '/' && c != '@' }
