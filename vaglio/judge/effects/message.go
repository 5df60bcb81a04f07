package effects

import "strings"

// sentence says an effect to a person who is woken by it: what, to what, can
// it be undone, who is affected.
func (e Effect) sentence() string {
	why := e.Why
	if why == "" {
		why = strings.TrimSpace(phraseOf(e.Kind) + " " + e.Target)
	}
	why = strings.ToUpper(why[:1]) + strings.TrimRight(why[1:], " :")
	if e.Kind == KindRead {
		return why + "."
	}
	var b strings.Builder
	b.WriteString(clip(why, 240))
	if e.Kind == KindUnknown {
		b.WriteString("; what it would do is not known.")
		return b.String()
	}
	b.WriteString("; ")
	switch e.Reversibility {
	case Reversible:
		b.WriteString("it can be undone, ")
	case Partial:
		b.WriteString("it can be undone only in part, ")
	case Irreversible:
		b.WriteString("it cannot be undone, ")
	}
	switch e.Reach {
	case ReachWorkspace:
		b.WriteString("and touches the workspace only")
	case ReachUser:
		b.WriteString("and touches more than the workspace")
	case ReachSystem:
		b.WriteString("and touches the whole machine")
	case ReachShared:
		b.WriteString("and others are affected")
	case ReachPublic:
		if e.Kind == KindDatabase {
			b.WriteString("and everyone who uses it is affected")
			break
		}
		b.WriteString("and it leaves for the outside world")
	}
	if e.Sure < 0.5 {
		b.WriteString(" (as far as it could be read)")
	}
	b.WriteByte('.')
	return b.String()
}

// clip shortens a text to n bytes at a word's end.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	cut := strings.LastIndexByte(s[:n], ' ')
	if cut < n/2 {
		cut = n
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
	}
	return s[:cut] + " …"
}
