// Package unixtext reads the text formats of Unix tools: the escapes and patterns of shells, the
// items of xargs, the commands of sed.
package unixtext

import (
	"strconv"
	"strings"
)

// ANSI decodes the escapes of $'…', echo -e and printf.
func ANSI(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		out, n := escape(s[i+1:])
		b.WriteString(out)
		i += 1 + n
	}
	return b.String()
}

// escape decodes the escape after a backslash, and returns how many bytes it took.
func escape(s string) (string, int) {
	const plain = "a\ab\be\x1bE\x1bf\fn\nr\rt\tv\v"
	if i := strings.IndexByte(plain, s[0]); i >= 0 && i%2 == 0 && s[0] >= 'A' {
		return plain[i+1 : i+2], 1
	}
	switch s[0] {
	case '\\', '\'', '"', '?':
		return s[:1], 1
	case '\n':
		return "", 1
	case 'x', 'u', 'U':
		return coded(s, 1, map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]], 16, s[0] != 'x')
	case 'c':
		if len(s) > 1 {
			return string(rune(s[1] & 0x1f)), 2
		}
	case '0':
		return coded(s, 0, 4, 8, false)
	case '1', '2', '3', '4', '5', '6', '7':
		return coded(s, 0, 3, 8, false)
	}
	return "\\" + s[:1], 1
}

// coded decodes up to limit digits from the given index.
func coded(s string, from, limit, base int, unicode bool) (string, int) {
	n := from
	for n < len(s) && n-from < limit && isDigit(s[n], base) {
		n++
	}
	v, err := strconv.ParseUint(s[from:n], base, 32)
	if err != nil {
		return "\\" + s[:1], 1
	}
	if unicode {
		return string(rune(v)), n //nolint:gosec // An impossible character becomes U+FFFD.
	}
	return string([]byte{byte(v)}), n //nolint:gosec // Shells keep the low byte.
}

// isDigit reports whether a byte is a digit in the base.
func isDigit(c byte, base int) bool {
	if base == 8 {
		return '0' <= c && c <= '7'
	}
	if base == 10 {
		return '0' <= c && c <= '9'
	}
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// SedCommand splits s/pattern/replacement/flags. It removes backslashes before the delimiter.
func SedCommand(script string) (pat, with, flags, rest string, ok bool) {
	delim := script[1]
	var parts [2]string
	i := 2
	for n := range parts {
		var b strings.Builder
		for ; i < len(script) && script[i] != delim; i++ {
			if script[i] == '\\' && i+1 < len(script) {
				if script[i+1] != delim {
					b.WriteByte('\\')
				}
				i++
			}
			b.WriteByte(script[i])
		}
		if i >= len(script) {
			return "", "", "", "", n == 1
		}
		i++
		parts[n] = b.String()
	}
	end := strings.IndexAny(script[i:], "; \n}")
	if end < 0 {
		end = len(script) - i
	}
	return parts[0], parts[1], script[i : i+end], script[i+end:], true
}
