// Package mask replaces secrets in texts with masks: the values of names such as password,
// tokens in their issuers' formats, and the credentials in headers and URLs. It never hides
// what runs.
package mask

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Masker replaces secrets in texts with masks. A mask such as
//
//	‹masked 40 chars #3fa9c2d17be0›
//
// gives the secret's length and a keyed tag. Equal secrets have equal tags, and different
// secrets have different tags. Without the instance's key, nobody can test a guess against
// a tag or forge a mask. Text that looks like a mask but is not genuine is masked itself.
// Masking twice changes nothing.
//
// Where hiding secrets and showing what runs conflict, what runs is shown: of a command
// line, only single words are masked, however they are quoted, never anything that a shell
// would act on.
type Masker struct {
	mac func([]byte) []byte
	// put returns the replacement for a secret; it is nil, for a mask, except in [Replaced].
	put func(secret string) string
	// holds is the name of a tool that is given a secret; empty for any other.
	holds string
	// opens says that a code which the tool is given opens something, secret that its name speaks of one, names that it is told which.
	opens, secret, names bool
	// flat reports that base64 and percent escapes are not decoded.
	flat bool
	// known are secrets that are masked wherever they stand by themselves, the longest first.
	known []string
	// read counts the bytes of commands that are read as words; only tests count.
	read *int
}

// New returns a masker that makes tags with mac, a keyed hash.
func New(mac func([]byte) []byte) Masker { return Masker{mac: mac} }

// Replaced returns a copy of o, the arguments of a tool, with put's result in place of every secret, exactly where
// [Masker.Object] puts masks. It serves to locate the secrets of a call, not to be read. It
// can also call put with an earlier result of put.
func Replaced(tool string, o map[string]any, put func(secret string) string) map[string]any {
	m := New(func([]byte) []byte { return make([]byte, tagName+tagCheck) })
	m.put = put
	return m.For(tool).Object(o)
}

// leastKnown is the length in bytes of the shortest secret that is masked by itself: a shorter one is part of too much else.
const leastKnown = 4

// Knowing returns a masker that masks the secrets of o also where nothing around them shows
// that they are some, such as in a sentence about o.
func (m Masker) Knowing(o map[string]any) Masker {
	m.known = slices.Clone(m.known)
	Replaced(m.holds, o, func(secret string) string {
		ofMasks := strings.Contains(maskPrefix+maskMiddle, secret) // masking twice changes nothing
		if len(secret) >= leastKnown && !ofMasks && !slices.Contains(m.known, secret) {
			m.known = append(m.known, secret)
		}
		return secret
	})
	slices.SortStableFunc(m.known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return m
}

// maskKnown masks the known secrets in s where they do not stand within a longer word.
func (m Masker) maskKnown(s string) string {
	for _, secret := range m.known {
		var b strings.Builder
		last := 0
		for at := 0; ; {
			i := strings.Index(s[at:], secret)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(secret)
			if at = to; from > 0 && inWord(s[from-1]) && inWord(s[from]) || to < len(s) && inWord(s[to]) && inWord(s[to-1]) {
				continue
			}
			b.WriteString(s[last:from] + m.mask(secret))
			last = to
		}
		s = b.String() + s[last:]
	}
	return s
}

func inWord(c byte) bool { return isAlphanumeric(c) || c == '_' || c >= utf8.RuneSelf }

// Mask returns s with every secret in it masked.
func (m Masker) Mask(s string) string {
	s = m.maskKnown(s)
	// A mask can turn what stands next to it into a word of its own, so another pass may
	// find more. Only a text written for the purpose needs more than a few passes.
	var carriers map[string]bool
	for range maxPasses {
		known := len(carriers)
		masked, now := m.pass(s, carriers)
		if masked == s && len(now) == known {
			break
		}
		s, carriers = masked, now
	}
	return s
}

const maxPasses = 8

// pass masks what the masker's own rules find, and what the issuers' rules find in the
// rest. It takes the variables known to carry secrets, and returns them with those it has
// found.
func (m Masker) pass(s string, carriers map[string]bool) (masked string, now map[string]bool) {
	found, own := builtin().find(s)
	if len(found) == 0 && !own {
		return s, carriers
	}
	w := maskWriter{masker: m, text: s, found: found}
	sc := scanner{masker: m, text: s, carriers: carriers}
	if own {
		sc.passLines()
		sc.talked()
	}
	for own && sc.at < len(s) {
		from, to := sc.next()
		if to == 0 {
			break
		}
		w.until(from, to)
		w.mask(from, to)
	}
	w.until(len(s), len(s))
	if w.last == 0 {
		return s, sc.carriers
	}
	w.b.WriteString(s[w.last:])
	return w.b.String(), sc.carriers
}

// maskWriter writes a text with masks in it, from left to right.
type maskWriter struct {
	masker Masker
	text   string
	b      strings.Builder
	// last is how far the text is written, and found is what the issuers' rules found
	// beyond it.
	last  int
	found []extent
}

func (w *maskWriter) mask(from, to int) {
	w.b.WriteString(w.text[w.last:from])
	w.b.WriteString(w.masker.mask(w.text[from:to]))
	w.last = to
}

// until masks what the issuers' rules found before our own finding from..to. Where they
// overlap, ours is taken to know better where the secret begins, unless theirs reaches
// further.
func (w *maskWriter) until(from, to int) {
	for len(w.found) > 0 && w.found[0].from < from {
		p := w.found[0]
		begin, end := max(p.from, w.last), min(p.to, from)
		if end-begin >= leastSecret && (p.to <= from || p.to > to) {
			w.mask(begin, end)
		}
		if p.to > to {
			return
		}
		w.found = w.found[1:]
	}
}

// The brackets of a mask.
const (
	Open  = '‹'
	Close = '›'
)

const (
	maskPrefix = string(Open) + "masked "
	maskMiddle = " chars #"
	maskClose  = string(Close)
	// A tag consists of the secret's name and a check that proves the masker made it.
	tagName, tagCheck = 8, 4
)

// mask returns the mask of a whole secret.
func (m Masker) mask(secret string) string {
	if m.put != nil {
		return m.put(secret)
	}
	n := strconv.Itoa(utf8.RuneCountInString(secret))
	name := hex.EncodeToString(m.mac([]byte("name " + secret)))[:tagName]
	return maskPrefix + n + maskMiddle + name + m.check(n, name) + maskClose
}

func (m Masker) check(n, name string) string {
	return hex.EncodeToString(m.mac(fmt.Appendf(nil, "check %s %s", n, name)))[:tagCheck]
}

// genuine returns the length of the mask with which s starts, or 0 if this masker made
// none.
func (m Masker) genuine(s string) int {
	n := Shape(s)
	if n == 0 {
		return 0
	}
	count, tag, _ := strings.Cut(s[len(maskPrefix):n-len(maskClose)], maskMiddle)
	if tag[tagName:] != m.check(count, tag[:tagName]) {
		return 0
	}
	return n
}

// Shape returns the length of the text in the shape of a mask with which s starts, or 0.
func Shape(s string) int {
	rest, ok := strings.CutPrefix(s, maskPrefix)
	if !ok {
		return 0
	}
	digits := span(rest, isDigit)
	if digits == 0 || digits > 9 {
		return 0
	}
	rest, ok = strings.CutPrefix(rest[digits:], maskMiddle)
	if !ok || span(rest, isLowerHex) != tagName+tagCheck || !strings.HasPrefix(rest[tagName+tagCheck:], maskClose) {
		return 0
	}
	return len(maskPrefix) + digits + len(maskMiddle) + tagName + tagCheck + len(maskClose)
}

// scanner finds the secrets of a text, from left to right.
type scanner struct {
	masker Masker
	text   string
	at     int
	// pemEnd and cookieEnd are where a key block and a cookie header end, hexEnd where a
	// key in hexadecimal ends, looked how far base64 has been read, and escaped how far percent
	// escapes have.
	pemEnd, cookieEnd, hexEnd, looked, escaped int
	// cookieLine is the text that was looked at last for cookies, up to its end, and lastCookie where its
	// last equals sign is. Headers that follow one another in a line do not each search that far.
	cookieLine extent
	lastCookie int
	// phraseEnd is where the words end that were looked at as a mnemonic.
	phraseEnd int
	// held are the secrets further on that their command reveals, in order.
	held []extent
	// plain are the places where an option's value is known not to be a secret.
	plain []int
	// carriers are the variables that are used as a secret, here or elsewhere.
	carriers map[string]bool
	// bare and quoted are the inert texts examined last, and name is the last name.
	bare, quoted, name extent
	// marks are the quotation marks of the text, once they were asked for.
	marks quoting
	// readNamed, readPairs and readLast are how far commands have been read after verbs,
	// for each kind of search; again counts the bytes read more than once.
	readNamed, readPairs, readLast, again int
}

// next returns the next secret, or 0, 0 if there is none left. A secret begins only at the
// beginning of a word, and a word can begin right after a secret.
func (sc *scanner) next() (from, to int) {
	inWord := false
	for ; sc.at < len(sc.text); sc.at++ {
		for len(sc.held) > 0 && sc.held[0].from < sc.at {
			sc.held = sc.held[1:]
		}
		if len(sc.held) > 0 && sc.held[0].from == sc.at {
			return sc.found(sc.held[0].from, sc.held[0].to)
		}
		c := sc.text[sc.at]
		if isWord(c) {
			if inWord {
				continue
			}
			inWord = true
			from, to = sc.word()
		} else {
			from, to = sc.sign(c, inWord)
			inWord = false
		}
		if to > from {
			return sc.found(from, to)
		}
	}
	return 0, 0
}

// found passes a secret, and those further on that overlap with it.
func (sc *scanner) found(from, to int) (begin, end int) {
	for len(sc.held) > 0 && sc.held[0].from < to {
		if sc.held[0].from >= from {
			to = max(to, sc.held[0].to)
		}
		sc.held = sc.held[1:]
	}
	sc.at = to
	return from, to
}

// word returns the secret that the word at sc.at is, if any.
func (sc *scanner) word() (from, to int) {
	i := sc.at
	sc.encoded()
	if from, to = sc.unescaped(); to > 0 {
		return from, to
	}
	if from, to = sc.basic(); to > 0 {
		return from, to
	}
	if from, to = sc.keyLine(); to > 0 {
		return from, to
	}
	j := i + sc.spelled(i)
	if n := tokenAt(sc.text[j:]); n > 0 {
		return j + tokenShown(sc.text[j:]), j + n
	}
	if n := sc.webhook(); n > 0 {
		return i + n, i + n + span(sc.text[i+n:], inHook)
	}
	sc.partBlock()
	if from, to = sc.mnemonic(); to > 0 {
		return from, to
	}
	sc.operands()
	sc.call()
	return sc.through(sc.statement())
}

// through returns a secret with the rest of the string whose beginning it is.
func (sc *scanner) through(from, to int) (begin, end int) {
	if to > from {
		to = sc.goesOnTo(from, to)
	}
	return from, to
}

// sign returns the secret that the character at sc.at reveals, if any.
func (sc *scanner) sign(c byte, afterWord bool) (from, to int) {
	switch {
	case c == '=' || c == ':':
		return sc.through(sc.assigned())
	case c == ',':
		return sc.through(sc.paired())
	case c == '>':
		return sc.element()
	case c == '<' && strings.HasPrefix(sc.text[sc.at:], "<<<"):
		sc.handedToName()
		return 0, 0
	case c == maskPrefix[0]:
		return sc.masked()
	case c == '-':
		return sc.through(sc.dash(afterWord))
	default:
		return 0, 0
	}
}

// masked skips a genuine mask, and returns the beginning of a false one as a secret.
func (sc *scanner) masked() (from, to int) {
	rest := sc.text[sc.at:]
	if n := sc.masker.genuine(rest); n > 0 {
		sc.at += n - 1
		return 0, 0
	}
	if word := strings.TrimSuffix(maskPrefix, " "); strings.HasPrefix(rest, word) {
		return sc.at, sc.at + len(word)
	}
	return 0, 0
}

// span returns how many bytes at the start of s are in the set.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isLowerHex(c byte) bool     { return isDigit(c) || 'a' <= c && c <= 'f' }
func isLower(c byte) bool        { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }
func isKeyID(c byte) bool        { return isUpper(c) || isDigit(c) }
func isAlphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || isKeyID(c) }
func isWord(c byte) bool         { return isAlphanumeric(c) || c == '_' }
func isURLSafe(c byte) bool      { return isWord(c) || c == '-' }
func isDotted(c byte) bool       { return isURLSafe(c) || c == '.' }
func isBase64(c byte) bool       { return isAlphanumeric(c) || c == '+' || c == '/' || c == '=' }
