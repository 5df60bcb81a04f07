package shell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
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
func (r *reader) envSplit(f *frame, words []Word) ([]Word, bool) {
	for i := 0; i < len(words); {
		text, n, ok := splitString(words[i:])
		if ok {
			return slices.Concat(words[:i], r.splitEnv(f, r.splice(text)), words[i+n:]), true
		}
		if n == 0 {
			break
		}
		i += n
	}
	return nil, false
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
	return Word{}, 1 + int(truth(slices.Contains([]string{"-u", "-C", "-P", "--unset", "--chdir"}, s))), false
}

// scoped reads something in a copy of the shell's state.
func (r *reader) scoped(read func() Word) Word {
	var out Word
	r.isolated(func() { out = read() })
	return out
}

// splitEnv splits the text of env -S, which knows quotes and ${NAME}, but no
// other expansion.
func (r *reader) splitEnv(f *frame, text string) []Word {
	if !r.step(f, len(text)/8) {
		return nil
	}
	q := splitter{word: r.fillHoles}
	for text != "" {
		text = text[r.envPart(&q, text):]
	}
	q.end()
	return q.out
}

// envPart adds what a text begins with and returns its length.
func (r *reader) envPart(q *splitter, text string) int {
	c := text[0]
	switch {
	case c == '\\' && len(text) > 1 && q.quote != '\'':
		if text[1] == '_' && q.quote == 0 {
			q.end()
		} else {
			q.cur.WriteString(unixtext.ANSI(text[:2]))
		}
		return 2
	case q.quotes(c):
		return 1
	case q.quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		q.end()
		return 1
	case q.quote != '\'' && strings.HasPrefix(text, "${"):
		if end := strings.IndexByte(text, '}'); end > 0 {
			v, _ := r.variable(text[2:end])
			q.cur.WriteString(r.splice(v))
			return end + 1
		}
	}
	q.cur.WriteByte(c)
	return 1
}

// splitter collects the fields of a text with quotes.
type splitter struct {
	word  func(string) Word // what a field's text stands for
	out   []Word
	cur   strings.Builder
	quote byte
	has   bool // the current field exists even when it is empty
}

// end finishes the current field.
func (q *splitter) end() {
	if q.has || q.cur.Len() > 0 {
		q.out = append(q.out, q.word(q.cur.String()))
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
