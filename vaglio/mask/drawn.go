package mask

import (
	"encoding/base64"
	"strings"
)

// classOf returns 0 for a digit, 1 for a capital, 2 for a small letter and 3 for anything else.
func classOf(c byte) int {
	switch {
	case isDigit(c):
		return 0
	case isUpper(c):
		return 1
	case isLower(c):
		return 2
	default:
		return 3
	}
}

// random reports whether a text was drawn from letters of both cases and digits: it changes between
// them often, most letters that stand side by side do so in no word, and it is no text in base64.
func random(s string) bool {
	n := lettersOf(s)
	mixed := n.of[0] >= 1 && n.of[1] >= 3 && n.of[2] >= 3 && n.of[3]*8 <= len(s)
	return mixed && n.changes*20 >= len(s)*7 && n.usual*5 <= n.pairs*3 && !spells(s)
}

// letters says of what a text is made: how many bytes of each class, how often the class changes, how many
// pairs of letters there are but for a capital in the middle of a word, and how many of these words have.
type letters struct {
	of                    [4]int
	changes, pairs, usual int
}

func lettersOf(s string) (n letters) {
	last := -1
	for i := range len(s) {
		class := classOf(s[i])
		n.of[class]++
		if class != last {
			n.changes++
		}
		if (last == 1 || last == class) && (class == 1 || class == 2) {
			if n.pairs++; inWords(s[i-1], s[i]) {
				n.usual++
			}
		}
		last = class
	}
	return n
}

// inWords reports whether two letters often stand side by side in words.
func inWords(a, b byte) bool {
	behind := [...]string{
		"bcdgilmnprstuv", "aeilru", "aehikot", "aeior", "acdelmnrstvx", "aeiort", "aehinor", "aeiot", "acdelmnorstvz", "", "eis", "adeilosty",
		"abeiop", "acdegiost", "bcdflmnoprstuvw", "aehiloprt", "u", "acdeimnorst", "aceghiopstu", "aehiorstuy", "abceilmnprst", "aeio", "aeio", "ept", "", "aeio",
	}
	return strings.IndexByte(behind[a|0x20-'a'], b|0x20) >= 0
}

// spells reports whether a text's beginning is a text in base64.
func spells(s string) bool {
	const enough = 24 // bytes of base64 that random ones do not pass
	text, err := base64.RawURLEncoding.DecodeString(s[:min(len(s), enough)&^3])
	return err == nil && span(string(text), func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' }) == len(text)
}
