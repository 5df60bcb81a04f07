package powershell

import "strings"

// percent replaces %NAME%, !NAME! and the variables of loops in a word.
func (r *reader) percent(s string) value {
	if !strings.ContainsAny(s, "%!") || !r.step(1+len(s)/bytesPerStep) {
		return text(s)
	}
	var parts []value
	c := cursor{src: s}
	for !c.done() {
		i := strings.IndexAny(c.rest(), "%!")
		if i < 0 {
			parts = append(parts, text(c.take(len(s))))
			break
		}
		if i > 0 {
			parts = append(parts, text(c.take(i)))
		}
		v, n := r.percentAt(c.rest())
		if n == 0 {
			v = text(c.rest()[:1])
		}
		c.take(n)
		parts = append(parts, v)
	}
	return r.glue(parts)
}

// percentAt reads the variable at the beginning of a text and says how long it
// is there, 0 for none.
func (r *reader) percentAt(s string) (value, int) {
	if s[0] == '%' && len(s) > 1 {
		if v, n := r.loopVariable(s); n > 0 {
			return v, n
		}
		if strings.IndexByte("0123456789*~", s[1]) >= 0 {
			return unknownValue(""), 2
		}
	}
	name, _, ok := strings.Cut(s[1:], s[:1])
	if !ok || name == "" {
		return value{}, 0
	}
	n := len(name) + 2
	base, change, changes := strings.Cut(name, ":")
	if !changes || base == "" {
		return r.variable("env:" + strings.ToLower(name)), n
	}
	v := r.variable("env:" + strings.ToLower(base))
	if from, to, ok := strings.Cut(change, "="); ok && !strings.HasPrefix(from, "~") {
		return r.replaced(v, from, to, true), n
	}
	return madeOf(v, ""), n // %NAME:~1,2%
}

// loopVariable reads %x, %%x and %~dpx.
func (r *reader) loopVariable(s string) (value, int) {
	lead := 1
	if s[1] == '%' {
		lead = 2
	}
	after := s[lead:]
	const most = 16 // letters of what is taken of the path
	modifiers := 0
	if strings.HasPrefix(after, "~") {
		start := after[:min(len(after), most)]
		modifiers = len(start) - len(strings.TrimLeft(start, "~dpnxfsatz"))
	}
	for _, at := range [...]int{0, max(modifiers-1, 0), modifiers} {
		if at >= len(after) {
			continue
		}
		v, ok := r.vars["%"+strings.ToLower(after[at:at+1])]
		if ok && (at+1 == len(after) || after[at+1] != '%' || lead == 2) {
			return v, lead + at + 1
		}
	}
	return value{}, 0
}
