package shell

import (
	"slices"
	"strings"
)

// runEnv reads a call of env.
func (r *reader) runEnv(f *frame, k *call, p *program, name string) Word {
	if words, ok := r.envSplit(f, k.argv[1:]); ok {
		return r.runEnv(f, &call{argv: append(k.argv[:1:1], words...), redirs: k.redirs, assigns: k.assigns, span: k.span}, p, name)
	}
	opts, rest := p.parse(k.argv[1:])
	if len(rest) > 0 && rest[0].Is("-") {
		rest = rest[1:]
	}
	assigns, rest := leadingAssigns(rest)
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	h := f.at(k, "env")
	h.assigns = append(h.assigns, assigns...)
	inner := &call{argv: rest, redirs: k.redirs, span: k.span, external: true}
	if len(assigns) > 0 {
		r.codeInAssigns(h, &call{argv: rest, assigns: assigns, span: k.span})
	}
	return r.scoped(func() Word {
		for _, a := range assigns {
			r.assign(h, a.Name, a.Value)
		}
		r.below(opts, &p.way)
		return r.run(h, inner)
	})
}

// envSplit replaces the first -S option by the words of its text; what follows
// it are further words, options included.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) envSplit(f *frame, words []Word) ([]Word, bool) {
	for i := 0; i < len(words); i++ {
		s := words[i].Prefix()
		var text Word
		next := i + 1
		switch at := strings.IndexByte(s, 'S'); {
		case strings.HasPrefix(s, "--split-string="):
			text = words[i].cut(len("--split-string="))
		case s == "--split-string" && next < len(words):
			text = words[next]
			next++
		case len(s) < 2 || s[0] != '-' || s == "--":
			return nil, false
		case s[1] != '-' && at > 0 && !strings.ContainsAny(s[1:at], "uCP"):
			text = words[i].cut(at + 1)
			if text.Is("") && next < len(words) {
				text = words[next]
				next++
			}
		case s == "-u" || s == "-C" || s == "-P" || s == "--unset" || s == "--chdir":
			i++
			continue
		default:
			continue
		}
		return slices.Concat(words[:i], r.splitEnv(f, r.splice(text)), words[next:]), true
	}
	return nil, false
}

// scoped reads something in a copy of the shell's state.
func (r *reader) scoped(read func() Word) Word {
	var out Word
	r.isolated(func() { out = read() })
	return out
}

// splitEnv splits the text of env -S, which knows quotes and ${NAME}, but no
// other expansion.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) splitEnv(f *frame, text string) []Word {
	if !r.step(f, len(text)/8) {
		return nil
	}
	var out []Word
	var b strings.Builder
	quote, has := byte(0), false
	flush := func() {
		if has || b.Len() > 0 {
			out = append(out, r.fillHoles(b.String()))
		}
		b.Reset()
		has = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && quote != '\'':
			i++
			if text[i] == '_' && quote == 0 {
				flush()
				continue
			}
			b.WriteString(ansiC("\\" + text[i:i+1]))
		case quote == 0 && (c == '"' || c == '\''):
			quote, has = c, true
		case c == quote:
			quote = 0
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			flush()
		case c == '$' && quote != '\'' && strings.HasPrefix(text[i:], "${"):
			if end := strings.IndexByte(text[i:], '}'); end > 0 {
				v, _ := r.variable(text[i+2 : i+end])
				b.WriteString(r.splice(v))
				i += end
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	flush()
	return out
}

// variable is the value of a plain variable.
func (r *reader) variable(name string) (Word, bool) {
	e := r.st.get(name)
	switch {
	case e == nil:
		return unknown(name), true
	case e.isList && len(e.list) > 0:
		return e.list[0], true
	case e.unset || len(e.vals) == 0:
		return Word{}, false
	}
	return e.vals[r.pick(name, len(e.vals))], true
}

// runMulticall reads busybox and toybox: the first operand names the program.
func (r *reader) runMulticall(f *frame, k *call, _ *program, name string) Word {
	rest := k.argv[1:]
	if len(rest) == 0 || strings.HasPrefix(rest[0].Prefix(), "-") {
		return r.plain(f, k)
	}
	return r.inner(f, k, name, rest)
}

// runSu reads su and its like: a user, and code by -c.
func (r *reader) runSu(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, name)
	h.privileged = p.privileged
	code := opts.all(p.line...)
	switch {
	case len(code) > 0:
		return r.carried(h, code[len(code)-1], name)
	case opts.any(p.argvWith...) && len(rest) > 0:
		command := p.grammar
		command.permute = false // what follows its name are its own options
		_, rest = command.parse(k.argv[1:])
		return r.run(h, &call{argv: rest, redirs: k.redirs, span: k.span, external: true})
	}
	// su root -- -c "…" hands the rest to the shell.
	for i, w := range rest {
		if s := w.Prefix(); strings.HasPrefix(s, "-") && strings.HasSuffix(s, "c") && i+1 < len(rest) {
			return r.carried(h, rest[i+1], name)
		}
	}
	r.emit(h, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
	if h.stdin.Kind != InputInherited {
		return r.carried(h, h.stdin.Text, name)
	}
	return Word{}
}
