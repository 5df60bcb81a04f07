package powershell

import "strings"

// enclosed takes what stands in brackets and gives what is between them.
func (p *parser) enclosed() string {
	n := closing(p.rest())
	if n < 0 {
		p.r.unclosed()
		n = len(p.rest())
	}
	s := p.take(n + 1)
	p.r.step(1 + len(s)/bytesPerStep)
	return s[1:min(n, len(s))]
}

// grouped takes what stands in brackets and reads it.
func (p *parser) grouped() value { return p.r.source(p.enclosed()) }

// quoted takes a text in quotes.
func (p *parser) quoted() value {
	if p.take(1) == `"` {
		return p.expandable('"')
	}
	var b strings.Builder
	for {
		s, closed := p.until("'")
		b.WriteString(s)
		if !closed {
			p.r.unclosed()
		}
		if p.peek(0) != '\'' {
			return text(b.String())
		}
		b.WriteString(p.take(1))
	}
}

// lines takes a text that stands between @" and "@ on lines of their own.
func (p *parser) lines(quote string) value {
	p.until("\n")
	p.pos-- // the first line may be the last one, too
	s, closed := p.until("\n" + quote + "@")
	if !closed {
		p.r.unclosed()
	}
	s = strings.TrimPrefix(s, "\n")
	if quote == "'" {
		return text(s)
	}
	in := &parser{r: p.r, cursor: cursor{src: s}}
	return in.expandable(0)
}

// expandable takes a text with variables, up to the quote or to the end for 0.
func (p *parser) expandable(quote byte) value {
	var parts []value
	var b strings.Builder
	closed := quote == 0
	for !p.done() && !p.r.stopped {
		c, next := p.peek(0), p.peek(1)
		if c == quote && next != quote {
			p.take(1)
			closed = true
			break
		}
		switch {
		case c == quote:
			b.WriteString(p.take(2)[:1])
		case c == '`':
			b.WriteString(p.escape())
		case c == '$' && beginsVariable(next):
			parts = append(parts, text(b.String()))
			b.Reset()
			p.r.step(1)
			parts = append(parts, p.dollar())
		default:
			b.WriteString(p.take(1))
		}
	}
	if !closed {
		p.r.unclosed()
	}
	v := p.r.glue(append(parts, text(b.String())))
	v.files = false
	return v
}

func beginsVariable(c byte) bool {
	return isNameByte(c) || c != 0 && strings.IndexByte("({?$^", c) >= 0
}

// escape takes a backtick and what it escapes.
func (p *parser) escape() string {
	c := p.peek(1)
	p.take(2)
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'a', 'b', 'f', 'v', 'e':
		return " "
	case 0, '0', '\n':
		return ""
	default:
		return string([]byte{c})
	}
}

// dollar takes a variable, or $(…).
func (p *parser) dollar() value {
	p.take(1)
	switch c := p.peek(0); {
	case c == '(':
		return p.grouped()
	case c == '$', c == '?', c == '^':
		p.take(1)
		return unknownValue("")
	case c != '{' && !isNameByte(c):
		return text("$")
	}
	return p.r.variable(variableName(p.variableName()))
}

// variableName takes the name behind a dollar or an at sign.
func (p *parser) variableName() string {
	if p.peek(0) == '{' {
		p.take(1)
		name, closed := p.until("}")
		if !closed {
			p.r.unclosed()
		}
		return name
	}
	name := p.name()
	if n := nameLength(p.rest()[min(1, len(p.rest())):]); name != "" && p.peek(0) == ':' && n > 0 {
		name += p.take(1 + n)
	}
	return name
}

// endsBare says whether text without quotes ends here.
func (p *parser) endsBare() bool {
	switch c, next := p.peek(0), p.peek(1); c {
	case '@':
		return next == '(' || next == '{'
	case '`':
		return next == '\n'
	default:
		return isBlank(c) || strings.IndexByte("\n;|&(){},'\"$>", c) >= 0
	}
}

// bare takes text without quotes, one byte at least.
func (p *parser) bare() string {
	var b strings.Builder
	for first := true; !p.done() && (first || !p.endsBare()); first = false {
		if p.peek(0) == '`' {
			b.WriteString(p.escape())
		} else {
			b.WriteString(p.take(1))
		}
	}
	return b.String()
}
