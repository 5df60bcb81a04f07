package mask

import "strings"

// statement looks at a word of SQL behind which a password stands in quotation marks,
// and at one of a .netrc, where it stands without.
func (sc *scanner) statement() (from, to int) {
	s := sc.text[sc.at:]
	end := identifiedBy(s)
	if end == 0 && foldPrefix(s, "password ") {
		end = len("password ")
	}
	if end == 0 {
		return 0, 0
	}
	end += span(s[end:], isBlank)
	quote := strings.TrimPrefix(s[end:], `\`)
	if !strings.HasPrefix(quote, "'") && !strings.HasPrefix(quote, `"`) && !sc.netrc() {
		return 0, 0
	}
	v := sc.valueAfter(sc.at+end, false)
	if placeholder(sc.text[v.from:v.to]) {
		return 0, 0
	}
	return v.from, v.to
}

// identifiedBy returns where what follows IDENTIFIED [WITH plugin] BY begins, 0 where
// the text does not begin so.
func identifiedBy(s string) int {
	const most = 80 // bytes from one to the other
	if !foldPrefix(s, "identified ") {
		return 0
	}
	near := strings.ToLower(s[:min(len(s), most)])
	by := strings.Index(near, " by ")
	if by < 0 || strings.ContainsAny(near[:by], ";\n") {
		return 0
	}
	return by + len(" by ")
}

// foldPrefix reports whether a text begins with a prefix, in any case.
func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// netrc reports whether a machine and who logs in there stand before, as in a .netrc.
func (sc *scanner) netrc() bool {
	const most = 200 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	i := strings.LastIndex(before, "machine ")
	return i >= 0 && strings.Contains(before[i:], "login ")
}

// valueOf returns the name beside the name of a value, as {"name": "DB_PASSWORD",
// "value": …} and the lists of variables of Kubernetes have it.
func (sc *scanner) valueOf() string {
	const most = 120 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	i := strings.LastIndex(before, "name")
	if i < 0 {
		return ""
	}
	rest := strings.TrimLeft(before[i+len("name"):], `"'\`)
	rest, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), ":")
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, ` "'\`)
	return rest[:span(rest, isDotted)]
}
