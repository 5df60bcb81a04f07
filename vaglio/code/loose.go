package code

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// loose reads a program of a language of which only the calls that matter are
// known.
func (p *program) loose(w shell.Word) {
	src := p.mark(w)
	if len(src) > maxText || !p.spend(len(src)/4) {
		p.problem(shell.ProblemTooBig, wording.Say("the program is longer than 1 MiB"), shell.Word{})
		return
	}
	if w.HasUnknown() {
		p.gap(w)
	}
	if p.lang.has("words") {
		p.words(src)
	} else {
		p.looseCalls(src)
	}
}

// looseTokens are what a loose program is made of: texts, names, the ends of
// statements; a line that begins with a dot goes on with the one before.
var looseTokens = regexp.MustCompile(`(?s)"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\\n])*)'|` + "`((?:\\\\.|[^`\\\\])*)`" +
	`|([\w.:*!/\-\x{80}-\x{10ffff}]+)|(\n\s*\.)|([;\n])`)

// looseCalls reads calls: the texts behind one, up to the statement's end, are
// what it runs or removes.
func (p *program) looseCalls(src string) {
	var before, texts []shell.Word // before are texts that no call has taken
	var call string
	var f *function
	for _, t := range looseTokens.FindAllStringSubmatch(src+"\n", p.left+1) {
		text, name, found := t[1]+t[2]+t[3], t[4], p.looseFind(t[4])
		switch {
		case !p.spend(1):
			return
		case strings.IndexByte("\"'`", t[0][0]) >= 0 && f != nil:
			texts = append(texts, p.unmark(unescape(text)))
			continue
		case strings.IndexByte("\"'`", t[0][0]) >= 0:
			before = append(before, p.unmark(unescape(text)))
			continue
		case found == nil && t[6] == "":
			continue
		}
		p.looseCall(f, call, texts)
		if f, call, texts = found, name, nil; f == nil {
			before = nil
		} else if p.lang.has("before") && len(before) > 0 {
			texts, before = before, nil
		}
	}
}

// looseFind finds what a name does; names that begin with a dot count with
// anything before them, as any name does behind a module's.
func (p *program) looseFind(name string) *function {
	if f := p.lang.tail[strings.TrimPrefix(name, ".")]; f != nil {
		return f
	}
	name = strings.NewReplacer("::", ".", ":", ".").Replace(strings.TrimRight(name, "!"))
	for name != "" {
		if f := p.lang.find(name, ""); f != nil {
			return f
		}
		_, rest, ok := strings.Cut(name, ".")
		if !ok {
			return nil
		}
		name = rest
	}
	return nil
}

// looseCall notes a call and its texts, if there is one and it has any.
func (p *program) looseCall(f *function, name string, texts []shell.Word) {
	switch {
	case f == nil || len(texts) == 0:
		return
	case f.verb == "delete tree":
		p.emit(name, shell.VerbDeleteTree, texts[0])
		return
	case len(texts) > 1:
		p.argv(texts)
	}
	p.shell(texts[0], name)
}

// words reads a program whose statements are words, as tcl's are.
func (p *program) words(src string) {
	vars := map[string]shell.Word{}
	for stmt := range strings.FieldsFuncSeq(src, func(c rune) bool { return strings.ContainsRune("\n;[]", c) }) {
		fields := strings.Fields(strings.NewReplacer("{", "", "}", "", `"`, "").Replace(stmt))
		if !p.spend(1+len(fields)) || len(fields) < 2 {
			continue
		}
		words := p.wordsOf(fields, vars)
		if fields[0] == "set" && len(fields) > 2 {
			vars[fields[1]] = words[2]
		} else if f := p.lang.full[fields[0]]; f != nil {
			p.wordCall(f, fields[0], words[1:])
		} else if f := p.lang.full[fields[0]+"."+fields[1]]; f != nil {
			p.wordCall(f, fields[0]+" "+fields[1], words[2:])
		}
	}
}

// wordsOf are the words of a statement, with what variables are known to hold.
func (p *program) wordsOf(fields []string, vars map[string]shell.Word) []shell.Word {
	words := make([]shell.Word, len(fields))
	for i, w := range fields {
		words[i] = p.unmark(w)
		if name, ok := strings.CutPrefix(w, "$"); ok {
			if words[i], ok = vars[name]; !ok {
				words[i] = unknownWord(name)
			}
		} else if w == "~" || strings.HasPrefix(w, "~/") {
			words[i] = shell.Glue(p.in.Home(""), shell.Text(w[1:]))
		}
	}
	return words
}

// wordCall notes a call and the words behind it.
func (p *program) wordCall(f *function, name string, rest []shell.Word) {
	switch f.verb {
	case "exec":
		p.argv(rest)
	case "open":
		if cmd, ok := strings.CutPrefix(rest[0].Prefix(), "|"); ok {
			p.shell(p.spaced(append([]shell.Word{shell.Text(cmd)}, rest[1:]...), " "), name)
		} else {
			p.emit(name, openVerb(append(rest, shell.Text("r"))[1].Prefix()), rest[0])
		}
	default:
		for _, w := range rest {
			if !strings.HasPrefix(w.Prefix(), "-") {
				p.emit(name, shell.Verb(f.verb), w)
			}
		}
	}
}
