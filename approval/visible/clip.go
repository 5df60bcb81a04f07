package visible

import (
	"strconv"
	"unicode/utf8"
)

// Clip cuts s to at most n characters. If it cuts, the result says so, and the remark
// counts towards n.
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

// Quote quotes at most n characters of foreign text: on one line, in quotation marks that
// it cannot close, with everything invisible escaped.
func Quote(s string, n int) string {
	return strconv.Quote(Clip(s, n))
}
