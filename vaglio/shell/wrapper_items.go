package shell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/wording"
)

// runXargs reads xargs: its command with the items of the input.
func (r *reader) runXargs(f *frame, k *call, p *program, _ string) Word {
	opts, argv := p.parse(k.argv[1:])
	text := f.stdin.Text
	if f.stdin.Kind == InputInherited {
		text = outputOf("")
	}
	if file, ok := opts.Get("a", "arg-file"); ok {
		text = r.content(f, file)
	}
	r.wrapper(f, k)
	if len(argv) == 0 {
		argv = []Word{Text("echo")}
	}
	h := f.at(k, "xargs")
	h.inLoop = true
	h.stdin = Input{}
	items := xargsItems(text, opts)
	if !r.step(f, len(items)*2) {
		return outputOf("xargs")
	}
	mark, replace := opts.Get("I", "J")
	if given, ok := opts.Get("i", "replace"); !replace && ok {
		mark, replace = given, true
	}
	if m, ok := mark.Text(); replace && ok {
		if m == "" {
			m = "{}"
		}
		var out builder
		for _, item := range items {
			if !r.step(f, len(argv)) {
				break
			}
			out.addWord(r.run(h, &call{argv: fillBraces(argv, m, item), span: k.span, external: true}))
		}
		return out.word()
	}
	return r.run(h, &call{argv: slices.Concat(argv, items), span: k.span, external: true})
}

// xargsItems splits the input of xargs.
func xargsItems(text Word, opts options) []Word {
	if text.IsUnknown() {
		p := text.parts[0]
		p.Splits = true
		return []Word{NewWord(p)}
	}
	var items []Word
	byLine := opts.any("I", "J", "i", "replace", "d", "delimiter")
	for _, l := range text.lines() {
		s, ok := l.Text()
		switch {
		case opts.any("0", "null"):
			items = append(items, nullItems(l)...)
		case ok && !byLine:
			for _, item := range unixtext.Items(s) {
				items = append(items, Text(item))
			}
		default:
			if w := trimBlanks(l); !w.Is("") {
				items = append(items, w)
			}
		}
	}
	if len(items) > maxFields {
		items = append(items[:maxFields:maxFields], unknown(""))
	}
	return items
}

// nullItems are the items of a line that null bytes part.
func nullItems(l Word) (items []Word) {
	for more := true; more; {
		var piece Word
		if piece, l, more = l.Split("\x00"); !piece.Is("") {
			items = append(items, piece)
		}
	}
	return items
}

// trimBlanks removes the blanks around a word.
func trimBlanks(w Word) Word {
	p := w.Prefix()
	return w.Cut(len(p) - len(strings.TrimLeft(p, " \t")))
}

// runParallel reads GNU parallel: its command with each argument in turn.
func (r *reader) runParallel(f *frame, k *call, p *program, _ string) Word {
	opts, rest := p.parse(k.argv[1:])
	r.wrapper(f, k)
	argv, items := parallelItems(rest)
	if len(items) == 0 && f.stdin.Kind != InputInherited {
		items = f.stdin.Text.lines()
	}
	if len(items) == 0 {
		items = []Word{unknown("")}
	}
	h := f.at(k, "parallel")
	h.inLoop = true
	h.stdin = Input{}
	mark := "{}"
	if m, ok := opts.Get("I"); ok {
		mark, _ = m.Text()
	}
	var out builder
	for i, item := range items {
		if i > maxRounds || r.stopped {
			r.problem(h, Problem{Kind: ProblemTooBig, Detail: wording.Say("parallel runs over too many words to be read for each")})
			break
		}
		out.addWord(r.parallelOne(h, k, argv, mark, item))
	}
	return out.word()
}

// parallelOne reads the command for one argument, which parallel gives to a
// shell as text.
func (r *reader) parallelOne(f *frame, k *call, argv []Word, mark string, item Word) Word {
	if len(argv) == 0 {
		return r.carried(f, item, "parallel")
	}
	filled := argv
	used := false
	for _, m := range []string{mark, "{1}", "{.}", "{/}", "{//}"} {
		for _, w := range filled {
			_, _, ok := w.Split(m)
			used = used || ok
		}
		filled = fillBraces(filled, m, item)
	}
	if !used {
		filled = append(slices.Clone(filled), item)
	}
	g := *f
	g.lenient = true
	r.carried(&g, spaced(filled), "parallel")
	return r.run(f, &call{argv: filled, span: k.span, external: true})
}

// parallelItems splits the operands at ::: and its kin.
func parallelItems(rest []Word) (argv, items []Word) {
	for i, w := range rest {
		s, _ := w.Text()
		if s == ":::" || s == ":::+" || s == "::::" {
			for _, item := range rest[i+1:] {
				if t, _ := item.Text(); !strings.HasPrefix(t, ":::") {
					if s == "::::" {
						item = outputOf("cat " + item.String())
					}
					items = append(items, item)
				}
			}
			return rest[:i], items
		}
	}
	return rest, nil
}
