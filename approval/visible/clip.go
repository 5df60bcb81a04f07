package visible

import (
	"strconv"
	"unicode/utf8"
)

// Clip returns the first characters of s, and says so when there were more:
// the result has at most n characters, the remark included.
func Clip(s string, n int) string {
	total := utf8.RuneCountInString(s)
	if total <= n {
		return s
	}
	remark := " [cut: " + strconv.Itoa(total) + " characters in all]"
	keep := max(n-len(remark), 0)
	for i := range s {
		if keep == 0 {
			return s[:i] + remark
		}
		keep--
	}
	return s
}

// Quote frames what somebody else wrote: on one line, in quotation marks that
// it cannot close, with everything unseen spelt out, at most n characters of
// it.
func Quote(s string, n int) string {
	return strconv.Quote(Clip(s, n))
}
