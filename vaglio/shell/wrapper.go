package shell

import (
	"slices"
	"strings"
)

// runEnv reads a call of env.
func (r *reader) runEnv(f *frame, k *call, p *program, _ string) Word {
	for i := 1; i < len(k.argv); {
		text, n, ok := splitString(k.argv[i:])
		if ok { // what follows it are further words, options included
			line := append(slices.Clone(k.argv[:i]), text)
			for _, w := range k.argv[i+n:] {
				line = append(line, Text(r.quote(w)))
			}
			return r.carried(f.at(k, "env"), spaced(line), "env -S")
		}
		if n == 0 {
			break
		}
		i += n
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

// splitString is the text of the option -S, if the words begin with it, and how
// many words the first option takes; none if there is no option.
func splitString(words []Word) (text Word, n int, ok bool) {
	s := words[0].Prefix()
	switch at := strings.IndexByte(s, 'S'); {
	case strings.HasPrefix(s, "--split-string="):
		return words[0].Cut(len("--split-string=")), 1, true
	case s == "--split-string" && len(words) > 1:
		return words[1], 2, true
	case len(s) < 2 || s[0] != '-' || s == "--":
		return Word{}, 0, false
	case s[1] != '-' && at > 0 && !strings.ContainsAny(s[1:at], "uCP"):
		if text = words[0].Cut(at + 1); text.Is("") && len(words) > 1 {
			return words[1], 2, true
		}
		return text, 1, true
	}
	return Word{}, wordsOf(s), false
}

// wordsOf is how many words an option of env takes.
func wordsOf(option string) int {
	if slices.Contains([]string{"-u", "-C", "-P", "--unset", "--chdir"}, option) {
		return 2
	}
	return 1
}

// scoped reads something in a copy of the shell's state.
func (r *reader) scoped(read func() Word) Word {
	var out Word
	r.isolated(func() { out = read() })
	return out
}

// splitter collects the fields of a text with quotes.
type splitter struct {
	out   []Word
	cur   strings.Builder
	quote byte
	has   bool // the current field exists even when it is empty
}

// end finishes the current field.
func (q *splitter) end() {
	if q.has || q.cur.Len() > 0 {
		q.out = append(q.out, Text(q.cur.String()))
	}
	q.cur.Reset()
	q.has = false
}

// quotes reports whether a character opens or closes a quoted stretch.
func (q *splitter) quotes(c byte) bool {
	switch {
	case q.quote == 0 && (c == '"' || c == '\''):
		q.quote, q.has = c, true
	case c == q.quote:
		q.quote = 0
	default:
		return false
	}
	return true
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
