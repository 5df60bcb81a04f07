package mask

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Texts returns a copy of a list with every secret masked.
func (m Masker) Texts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.Mask(list[i])
	}
	return list
}

// Object returns a copy of o with every secret in its keys and values masked. A value under
// a name such as password is masked as a whole.
func (m Masker) Object(o map[string]any) map[string]any {
	masked := make(map[string]any, len(o))
	for _, of := range verbs()["acts"] {
		does, _ := o[of].(string)
		m.opens = m.opens || opens(does)
	}
	for key, v := range o {
		if list, ok := v.([]any); ok {
			masked[m.Mask(key)] = m.arguments(o, list, m.list(m.beside(o, key), list))
		} else {
			masked[m.Mask(key)] = m.named(m.beside(o, key), v)
		}
	}
	return masked
}

// For returns a masker for the arguments of a tool. The name of one may say that what it is given is a secret:
// update_secret is given a value.
func (m Masker) For(tool string) Masker {
	if m.holds = ""; secrecyOf(tool) != notSecret {
		m.holds = tool
	}
	words := wordsOf(strings.ReplaceAll(tool, "_", " "))
	m.opens = opens(tool)
	m.secret = slices.Contains(words, "secret")
	m.names = m.secret && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(verbs()["reads"], w) })
	return m
}

// opens reports whether what is done, by its name, lets in who knows a code: disarm_alarm, lock.unlock.
func opens(does string) bool {
	return slices.ContainsFunc(wordsOf(does), func(word string) bool { return secrecyOf(word+code) != notSecret })
}

// code is the name of much else, too.
const code = "code"

// wordsOf returns the words of a name or of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// beside returns the name of a key's value: the key, or, of a key called value, what stands beside
// it as its name, as in {"name": "DB_PASSWORD", "value": …}, or the tool that is given it.
func (m Masker) beside(o map[string]any, key string) string {
	switch {
	case m.calls(o, key):
		return "" // that of a secret which is looked at or deleted, or whose value stands beside it
	case gives(key) && m.holder(o) != "":
		return m.holder(o)
	case key == code && m.opens && digits(o[key]), slices.Contains(verbs()["types"], key) && typesSecret(o):
		return surelyNamed
	case !isValue(key):
		return key
	}
	return cmp.Or(secretName(o), key)
}

// calls reports whether a key says only what a secret is called.
func (m Masker) calls(o map[string]any, key string) bool {
	name, text := o[key].(string)
	return text && key == "secret" && !looksSecret(name) && (m.names || m.secret && given(o))
}

// holder returns the name of what a value is that the tool is given, if its name says that it is a secret, or an argument
// what that is called.
func (m Masker) holder(o map[string]any) string {
	for _, called := range []string{"secret", "secret_id", "secretId", "secret_name", "secretName"} {
		if _, ok := o[called].(string); ok && m.secret {
			return cmp.Or(m.holds, surelyNamed)
		}
	}
	return m.holds
}

// given reports whether an object has a value among its members.
func given(o map[string]any) bool {
	for key, v := range o {
		if gives(key) && v != nil && v != "" {
			return true
		}
	}
	return false
}

// gives reports whether a key is that of the value of what stands beside it.
func gives(key string) bool {
	return slices.Contains(verbs()["gives"], strings.ToLower(strings.ReplaceAll(key, "_", "")))
}

// secretName returns the name of a secret that stands beside its value, or the last part of it; empty if there is none.
func secretName(o map[string]any) string {
	for _, of := range []string{"name", "key", "k", "field", "header", "variable"} {
		name, _ := o[of].(string)
		if last := name[strings.LastIndexByte(name, '/')+1:]; secrecyOf(last) != notSecret {
			return last
		}
	}
	return ""
}

// typesSecret reports whether what a browser's tool types goes into a field for a password.
func typesSecret(o map[string]any) bool {
	return slices.ContainsFunc(verbs()["into"], func(of string) bool {
		into, _ := o[of].(string)
		return intoSecret(into)
	})
}

// surelyNamed is a name whose value is always a secret.
const surelyNamed = "password"

// intoSecret reports whether a field of a page, by the words or the selector that describe it, takes a password.
func intoSecret(field string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }), func(word string) bool {
		return secrecyOf(word) == surelySecret
	})
}

// digits reports whether a value is a number, as what is typed at a door is, and nothing that could run.
func digits(v any) bool {
	text, ok := v.(string)
	_, number := v.(strictjson.Number)
	return number || ok && len(text) > 2 && span(text, isDigit) == len(text)
}

// Copied returns a copy of v, a string or a decoded JSON value, in which every genuine mask
// is masked itself. In text that has not been masked yet, somebody else wrote those masks,
// and they must not pass for the masker's own. Calling Copied twice masks twice.
func (m Masker) Copied(v any) any {
	switch v := v.(type) {
	case string:
		return m.copied(v)
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = m.Copied(v[i])
		}
		return v
	case map[string]any:
		masked := make(map[string]any, len(v))
		for key, one := range v {
			masked[m.copied(key)] = m.Copied(one)
		}
		return masked
	}
	return v
}

func (m Masker) copied(s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, maskPrefix)
		if at < 0 {
			return b.String() + s
		}
		n := m.genuine(s[at:])
		b.WriteString(s[:at])
		if n == 0 {
			n = len(maskPrefix)
			b.WriteString(maskPrefix)
		} else {
			b.WriteString(m.mask(s[at : at+n]))
		}
		s = s[at+n:]
	}
}

// named masks a value that stands under a name.
func (m Masker) named(name string, v any) any {
	kind := secrecyOf(name)
	switch v := v.(type) {
	case string:
		if kind.hides(v) {
			if masked, ok := m.address(v); ok {
				return masked
			}
			return m.whole(v)
		}
		return m.issued(name, m.Mask(v)) // in this order: a masked user would hide the password behind it
	case strictjson.Number:
		if kind != notSecret && kind != userColon && len(v) >= 4 {
			return m.whole(string(v))
		}
		return v
	case []any:
		return m.list(name, v)
	case map[string]any:
		return m.members(name, v)
	default:
		return v
	}
}

// members masks an object: all of its members if it is itself a secret. If it has a value among them, that is
// the secret, and the others say what it is called and of which kind it is.
func (m Masker) members(name string, o map[string]any) map[string]any {
	if secrecyOf(name) != surelySecret && (m.holds == "" || name != m.holds) {
		return m.Object(o)
	}
	masked := make(map[string]any, len(o))
	for key, v := range o {
		under := name
		if given(o) && !gives(key) {
			under = m.beside(o, key)
		}
		masked[m.Mask(key)] = m.named(under, v)
	}
	return masked
}

// list masks the elements of a list. If the list is a command's arguments, it also masks
// what follows a flag such as --password.
func (m Masker) list(name string, list []any) []any {
	masked := make([]any, len(list))
	for i, v := range list {
		under := name
		if flag, ok := before(list, i); ok && strings.HasPrefix(flag, "-") {
			if kind := secrecyOf(strings.TrimLeft(flag, "-")); kind == surelySecret || kind == maybeSecret {
				under = flag
			}
		}
		if pair, ok := v.([]any); ok && len(pair) == 2 {
			masked[i] = m.pair(name, pair)
			continue
		}
		masked[i] = m.named(under, v)
	}
	return masked
}

// pair masks a list of two in a list: it may be a header's name and its value.
func (m Masker) pair(under string, pair []any) []any {
	name, named := pair[0].(string)
	value, ok := pair[1].(string)
	kind := secrecyOf(name)
	if named && ok && kind != notSecret && (kind == credentials || strings.ContainsAny(name, "-_") || looksSecret(value)) {
		return []any{m.Mask(name), m.named(name, value)}
	}
	return m.list(under, pair)
}

// arguments masks the words of an already masked list that its command takes as secrets by
// their position. The program is the first word, or stands beside the list, as in
// {"command": "mysql", "args": […]}.
func (m Masker) arguments(beside map[string]any, list, masked []any) []any {
	const most = 64 // words: a bound on the work
	line, ends := "", []int{}
	for _, v := range list[:min(len(list), most)] {
		word, ok := v.(string)
		if !ok {
			return masked
		}
		line += asWord(word) + " "
		ends = append(ends, len(line))
	}
	m.byPlace("", line, ends, masked)
	for _, v := range beside {
		if program, ok := v.(string); ok && len(takers()[program[strings.LastIndexByte(program, '/')+1:]]) > 0 {
			m.byPlace(program+" ", line, ends, masked)
		}
	}
	return masked
}

// byPlace masks the words of a list that the command line they form reveals as secrets.
// ends holds where each word ends in the line.
func (m Masker) byPlace(program, line string, ends []int, masked []any) {
	sc := scanner{masker: m, text: program + line}
	for {
		from, to := sc.next()
		if to == 0 {
			return
		}
		i, _ := slices.BinarySearch(ends, from-len(program)+1)
		if i >= len(ends) { // The secret is in the program.
			continue
		}
		word, _ := masked[i].(string)
		if secret := sc.text[from:to]; strings.HasSuffix(word, secret) && len(secret) > 0 {
			masked[i] = strings.TrimSuffix(word, secret) + m.mask(secret)
		}
	}
}

// asWord returns a text as a word of a command line: as it is, quoted, or, if quotation
// marks cannot preserve it, as a neutral word.
func asWord(text string) string {
	switch {
	case text != "" && span(text, inertQuoted) == len(text):
		return text
	case !strings.ContainsAny(text, "'\n\x00"):
		return "'" + text + "'"
	default:
		return "_"
	}
}

// issued masks a short value whose name and looks together reveal a secret, as in
// {"heroku_key": …}. The tokens of some issuers have no format of their own.
func (m Masker) issued(name, v string) string {
	const short = 512 // bytes: longer than any of them
	if len(name)+len(v) > short {
		return v
	}
	begin := len(name) + len("=")
	found, _ := builtin().find(name + "=" + v)
	w := maskWriter{masker: m, text: v}
	for _, p := range found {
		if p.from >= begin {
			w.mask(p.from-begin, p.to-begin)
		}
	}
	w.b.WriteString(v[w.last:])
	return w.b.String()
}

func before(list []any, i int) (string, bool) {
	if i == 0 {
		return "", false
	}
	s, ok := list[i-1].(string)
	return s, ok
}

func (m Masker) whole(secret string) string {
	if m.genuine(secret) == len(secret) {
		return secret
	}
	return m.mask(secret)
}

// hides reports whether a text under a name of this kind is masked as a whole.
func (k secrecy) hides(v string) bool {
	if user, secret, ok := strings.Cut(v, ":"); k == userColon && (!ok || user == "" || strings.ContainsAny(secret, ":/")) {
		return false
	}
	if k == maybeSecret && len(v) < leastKnown+2 && span(v, isUpper) == len(v) {
		return false // the token that is traded: ETH
	}
	header := k == credentials || k == cookies
	return k != notSecret && opaque(v) && (header || !commandLike(v))
}

// opaque reports whether a value under a secret's name can be masked as a whole: it is not
// a placeholder, and holds nothing that a shell would act on.
func opaque(v string) bool {
	return v != "" && !placeholder(v) && !strings.ContainsAny(v, "`\n") && !strings.Contains(v, "$(") && !strings.Contains(v, "${")
}

// commandLike reports whether a value could be a command with arguments that an agent wants
// to run under a secret's name. A password may contain any sign and a passphrase blanks,
// but a text with both is shown.
func commandLike(v string) bool {
	return strings.ContainsAny(v, " \t\n") && strings.ContainsAny(v, signs)
}

// signs are those that a command has and a passphrase has not.
const signs = "-/;|&<>=~*$"
