package mask

import (
	"encoding/base64"
	"strings"
)

// unescaped reads the percent escapes of the run of an address's characters that begins at sc.at,
// as an address within another has them. The secrets in what they stand for are held, and one that
// begins here is returned.
func (sc *scanner) unescaped() (from, to int) {
	if sc.masker.flat || sc.at < sc.escaped {
		return 0, 0
	}
	n := span(sc.text[sc.at:min(len(sc.text), sc.at+mostEncoded)], inEscaped)
	sc.escaped = sc.at + n
	text, places := unescape(sc.text[sc.at : sc.at+n])
	if len(text) == n {
		return 0, 0
	}
	at := 0
	seek := Masker{mac: sc.masker.mac, flat: true, put: func(secret string) string {
		if i := strings.Index(text[at:], secret); i >= 0 {
			begin, end := at+i, at+i+len(secret)
			sc.holdPlace(sc.at+places[begin], sc.at+places[end])
			at = end
		}
		return ""
	}}
	seek.pass(text, nil)
	if len(sc.held) > 0 && sc.held[0].from == sc.at {
		return sc.held[0].from, sc.held[0].to
	}
	return 0, 0
}

// inEscaped reports whether a byte can stand in a part of an address that was escaped as a whole.
func inEscaped(c byte) bool { return isDotted(c) || c == '%' || c == '~' || c == '+' || c == '*' }

// unescape returns the text that percent escapes stand for, and where each of its bytes, and its
// end, stood.
func unescape(s string) (text string, places []int) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		places = append(places, i)
		if c == '+' {
			c = ' '
		}
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c = hexDigit(s[i+1])<<4 | hexDigit(s[i+2])
			i += 2
		}
		out = append(out, c)
	}
	return string(out), append(places, len(s))
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func hexDigit(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// basic returns what stands behind the word basic, if that is a name and a password in base64.
func (sc *scanner) basic() (from, to int) {
	const word = "basic "
	s := sc.text[sc.at:]
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return 0, 0
	}
	n := span(s[len(word):], isBase64)
	raw, err := base64.StdEncoding.DecodeString(s[len(word) : len(word)+n])
	if user, password, ok := strings.Cut(string(raw), ":"); err != nil || !ok || !readable(string(raw)) || user+password == "" {
		return 0, 0
	}
	return sc.at + len(word), sc.at + len(word) + n
}
