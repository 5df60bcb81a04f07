// Package mask replaces secrets in texts by masks: what a name such as password
// is given, what has the form of an issuer's tokens, what a header or a URL
// holds. What runs is never hidden.
package mask

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Masker replaces secrets in texts by masks. A mask such as
//
//	‹masked 40 chars #3fa9c2d17be0›
//
// tells the length and a keyed tag: equal secrets have equal tags, different
// ones do not, and nobody without the instance's secret can test a guess
// against a tag or forge a mask. Text that looks like a mask and is none is
// itself masked. Masking twice changes nothing.
//
// Where the two promises meet, what runs is shown: of a command line only
// single words are masked, never anything that a shell would act on.
type Masker struct {
	mac func([]byte) []byte
	// put is what stands for a secret instead of its mask; nil in all but [Replaced].
	put func(secret string) string
	// flat says that base64 is not read.
	flat bool
}

// New returns a masker whose tags are made by mac, a keyed hash.
func New(mac func([]byte) []byte) Masker { return Masker{mac: mac} }

// Replaced returns a copy of o in which what put returns stands for every secret,
// as masks do in [Masker.Object]. It tells where in a call the secrets are; nobody
// reads it. put is given what it returned, too.
func Replaced(o map[string]any, put func(secret string) string) map[string]any {
	m := New(func([]byte) []byte { return make([]byte, tagName+tagCheck) })
	m.put = put
	return m.Object(o)
}

// Mask returns s with every secret in it masked.
func (m Masker) Mask(s string) string {
	// What stands beside a mask may be a word of its own only now. More than a
	// few passes are needed by nobody but who wrote a text to need them.
	var carriers []string
	for range maxPasses {
		masked, now := m.pass(s, carriers)
		if masked == s && len(now) == len(carriers) {
			break
		}
		s, carriers = masked, now
	}
	return s
}

const maxPasses = 8

// pass masks what the masker's own rules find, and in the rest what the rules
// of issuers find. It is told which variables carry secrets, and returns them with
// those that it found.
func (m Masker) pass(s string, carriers []string) (masked string, now []string) {
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
	// last is how far it is written, found what issuers' rules found behind.
	last  int
	found []extent
}

func (w *maskWriter) mask(from, to int) {
	w.b.WriteString(w.text[w.last:from])
	w.b.WriteString(w.masker.mask(w.text[from:to]))
	w.last = to
}

// until masks what issuers' rules found before our own finding from..to. Where
// they meet, ours knows better where the secret begins, if it reaches as far.
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

// The brackets that masks are written with.
const (
	Open  = '‹'
	Close = '›'
)

const (
	maskPrefix = string(Open) + "masked "
	maskMiddle = " chars #"
	maskClose  = string(Close)
	// A tag is the secret's name and a check that the masker made it.
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

// genuine returns the length of the mask that s starts with, or 0 when this
// masker did not make it.
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

// Shape returns the length of the text with the shape of a mask that s starts
// with, or 0.
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
	// key does that is shown in bytes, and looked how far base64 was read.
	pemEnd, cookieEnd, hexEnd, looked int
	// held are secrets further on that their command gives away, in order.
	held []extent
	// plain are places where what an option is given is known to be no secret.
	plain []int
	// carriers are variables that stand where a secret does, here or elsewhere.
	carriers []string
	// bare and quoted are the last inert texts that were looked at, name the last name.
	bare, quoted, name extent
	// readNamed, readPairs and readLast are the last words of commands that were read
	// behind verbs for each thing that is looked for, again the bytes that were read anew.
	readNamed, readPairs, readLast, again int
}

// next returns the next secret, or 0, 0 when there is none left. Nothing begins
// within a word. Behind a secret a new word may begin, whatever stands there.
func (sc *scanner) next() (from, to int) {
	inWord := false
	for ; sc.at < len(sc.text); sc.at++ {
		for len(sc.held) > 0 && sc.held[0].from < sc.at {
			sc.held = sc.held[1:]
		}
		if len(sc.held) > 0 && sc.held[0].from == sc.at {
			from, to = sc.held[0].from, sc.held[0].to
			sc.at = to
			return from, to
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
			sc.at = to
			return from, to
		}
	}
	return 0, 0
}

// word returns the secret that the word here is, if any.
func (sc *scanner) word() (from, to int) {
	i := sc.at
	sc.encoded()
	if i < max(sc.pemEnd, sc.hexEnd) {
		if from, to = sc.keyLine(); to > 0 {
			return from, to
		}
	}
	j := i + sc.spelled(i)
	if n := tokenAt(sc.text[j:]); n > 0 {
		return j + tokenShown(sc.text[j:]), j + n
	}
	if n := sc.webhook(); n > 0 {
		return i + n, i + n + span(sc.text[i+n:], inHook)
	}
	sc.partBlock()
	sc.operands()
	sc.call()
	return sc.statement()
}

// sign returns the secret that the sign here gives away, if any.
func (sc *scanner) sign(c byte, afterWord bool) (from, to int) {
	switch {
	case c == '=' || c == ':':
		return sc.assigned()
	case c == '>':
		return sc.element()
	case c == '<' && strings.HasPrefix(sc.text[sc.at:], "<<<"):
		sc.handedToName()
		return 0, 0
	case c == maskPrefix[0]:
		return sc.masked()
	case c == '-':
		return sc.dash(afterWord)
	default:
		return 0, 0
	}
}

// masked steps over a mask, and takes what only pretends to be one.
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
func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }
func isKeyID(c byte) bool        { return isUpper(c) || isDigit(c) }
func isAlphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || isKeyID(c) }
func isWord(c byte) bool         { return isAlphanumeric(c) || c == '_' }
func isURLSafe(c byte) bool      { return isWord(c) || c == '-' }
func isDotted(c byte) bool       { return isURLSafe(c) || c == '.' }
func isBase64(c byte) bool       { return isAlphanumeric(c) || c == '+' || c == '/' || c == '=' }
