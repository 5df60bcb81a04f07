package code

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func delimited(s string) (body, rest string, ok bool) {
	open, shut := s[0], s[0]
	if i := strings.IndexByte("([{<", open); i >= 0 {
		shut = ")]}>"[i]
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == shut && depth == 0:
			return s[1:i], s[i+1:], true
		case s[i] == shut:
			depth--
		case s[i] == open:
			depth++
		}
	}
	return s[1:], "", false
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		switch at := strings.IndexByte("abefnrtv0", c); {
		case c == '\n':
		case c == 'x' || c == 'u' || c == 'U' || '0' <= c && c <= '7':
			i += decodeNumber(&b, s[i:]) - 1
		case at >= 0:
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x00"[at])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func decodeNumber(b *strings.Builder, s string) int {
	from, end, base := 1, 1, 16
	switch {
	case len(s) > 1 && s[1] == '{':
		from, end = 2, strings.IndexByte(s, '}')
	case s[0] >= '0' && s[0] <= '7':
		for from, base = 0, 8; end < min(3, len(s)) && s[end] >= '0' && s[end] <= '7'; {
			end++
		}
	default:
		for most := map[byte]int{'x': 3, 'u': 5, 'U': 9}[s[0]]; end < min(most, len(s)) && strings.IndexByte("0123456789abcdefABCDEF", s[end]) >= 0; {
			end++
		}
	}
	if end <= from && from > 0 {
		b.WriteByte(s[0])
		return 1
	}
	n, err := strconv.ParseUint(s[from:end], base, 32)
	if err != nil || n > utf8.MaxRune {
		b.WriteByte(s[0])
		return 1
	}
	if s[0] == 'x' && n > 0x7f && n <= 0xff {
		b.WriteByte(byte(n & 0xff))
	} else {
		b.WriteRune(rune(n))
	}
	if from == 2 {
		end++
	}
	return end
}
