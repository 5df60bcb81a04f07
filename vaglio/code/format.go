package code

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

func replaced(p *program, v value, rest []value) value {
	from, ok := first(rest).text()
	to := nth(rest, 1)
	if !ok || v.multi() || to.fn != nil {
		out := unknown("replace()")
		out.alts = []shell.Word{unknownWord("replace()")}
		return out
	}
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s, known := w.Text()
		switch {
		case !known:
			out.alts = append(out.alts, w)
		case from == "" || !p.spend(len(s)/bytesPerStep+1):
			out.alts = append(out.alts, unknownWord("replace()"))
		default:
			joined := joinWith(p, to, splitAt(text(s), from).list)
			out.alts = append(out.alts, joined.words()...)
		}
	}
	out.alts = capped(out.alts)
	return out
}

func format(p *program, args []value, named map[string]value) value {
	if len(args) == 0 {
		return unknown("format()")
	}
	if p.lang.name != "python" {
		return p.formatted(args[0], args[1:])
	}
	s, ok := args[0].text()
	if !ok {
		return args[0]
	}
	out, next := text(""), 1
	for {
		open := strings.IndexByte(s, '{')
		end := strings.IndexByte(s[max(open, 0):], '}') + max(open, 0)
		if open < 0 || end <= open {
			return p.glue(out, text(strings.ReplaceAll(s, "}}", "}")))
		}
		if strings.HasPrefix(s[open:], "{{") {
			out, s = p.glue(out, text(s[:open+1])), s[open+2:]
			continue
		}
		key, spec, _ := strings.Cut(s[open+1:end], ":")
		key, _, _ = strings.Cut(key, "!")
		v, found := named[key]
		if n, err := strconv.Atoi(key); err == nil && n >= 0 {
			v = nth(args, n+1)
		} else if key == "" {
			v = nth(args, next)
			next++
		} else if !found {
			v = unknown(key)
		}
		if spec == "c" {
			v = characters([]value{v})
		}
		out, s = p.glue(p.glue(out, text(s[:open])), v), s[end+1:]
	}
}

func (p *program) fillNamed(format, m value) value {
	out := format
	for i, k := range m.keys {
		out = replaced(p, out, []value{text("%(" + k + ")s"), m.list[i]})
	}
	return out
}

func substitute(p *program, args []value, named map[string]value) value {
	out := first(args)
	for n, v := range named {
		out = replaced(p, replaced(p, out, []value{text("${" + n + "}"), v}), []value{text("$" + n), v})
	}
	return out
}

func (p *program) formatted(format value, args []value) value {
	s, ok := format.text()
	if !ok {
		return format
	}
	var flat []value
	for _, a := range args {
		if a.spread && a.multi() {
			flat = append(flat, a.list...)
		} else {
			flat = append(flat, a)
		}
	}
	out, n := text(""), 0
	for {
		at := strings.IndexByte(s, '%')
		if at < 0 || at+1 >= len(s) {
			return p.glue(out, text(s))
		}
		end := at + 1
		for end < len(s)-1 && strings.IndexByte("-+ #0123456789.*", s[end]) >= 0 {
			end++
		}
		if s[end] == '%' {
			out, s = p.glue(out, text(s[:at+1])), s[end+1:]
			continue
		}
		v := nth(flat, n)
		n++
		if i, isInt := v.int(); s[end] == 'c' && isInt && i > 9 {
			v = characters([]value{v})
		}
		if v.multi() {
			v = unknown("")
		}
		out, s = p.glue(p.glue(out, text(s[:at])), v), s[end+1:]
	}
}

func translate(_ *program, v value, rest []value) value {
	table := first(rest)
	var pairs []string
	for i, k := range table.keys {
		to, ok := table.list[i].text()
		if n, isInt := table.list[i].int(); isInt && table.list[i].kind == kindNumber {
			to = string(rune(n)) //nolint:gosec // Not above 32 bits.
		} else if !ok && table.list[i].kind != kindNone {
			return unknown("translate()")
		}
		if n, err := strconv.Atoi(k); err == nil && n > 9 {
			k = string(rune(n)) //nolint:gosec // Not above 32 bits.
		}
		pairs = append(pairs, k, to)
	}
	return v.each(always(strings.NewReplacer(pairs...).Replace))
}

func maketrans(_ *program, v value, rest []value) value {
	if v.multi() || len(rest) == 0 {
		return v
	}
	a, _ := v.text()
	b, _ := rest[0].text()
	out, from, to := value{kind: kindMap}, []rune(a), []rune(b)
	for i := range min(len(from), len(to)) {
		out = out.with(string(from[i]), text(string(to[i])))
	}
	return out
}
