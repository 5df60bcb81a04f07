package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// expander expands the parts of one shell word into fields.
type expander struct {
	r     *reader
	f     *frame
	out   []Word
	cur   word.Builder
	has   bool // the current field exists even if it is empty
	ifs   string
	split bool // unquoted expansions split into fields
	globs bool // metacharacters are active
}

// words expands the words of a command into its arguments.
func (r *reader) words(f *frame, list []*syntax.Word) []Word {
	out := make([]Word, 0, len(list))
	for _, w := range list {
		if lit, ok := plainLit(w); ok {
			if out = append(out, Text(lit)); !r.step(f, wordCost+len(lit)/bytesPerStep) {
				return out
			}
			continue
		}
		more := r.fields(f, w)
		out = append(out, more...)
		if len(out) > maxFields {
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the command expands to too many words")})
			return out[:maxFields]
		}
		if !r.step(f, wordCost*(1+len(more))) {
			return out
		}
	}
	return out
}

// plainLit returns the text of a word in which nothing is special.
func plainLit(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, "\\*?[~{"+holeOpen)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar && !strings.Contains(p.Value, holeOpen)
	}
	return "", false
}

// fields expands one word into any number of fields.
func (r *reader) fields(f *frame, w *syntax.Word) (out []Word) {
	for _, parts := range r.braces(f, w) {
		if r.stopped {
			break
		}
		e := expander{r: r, f: f, ifs: r.ifs(), split: true, globs: true}
		e.parts(parts, false, tildeArg)
		e.end()
		for _, field := range e.out {
			r.step(f, field.Size()/bytesPerStep)
		}
		out = append(out, e.out...)
	}
	return out
}

// word expands a word into exactly one text, as an assignment or a pattern does.
func (r *reader) word(f *frame, w *syntax.Word) Word { return r.single(f, w, true) }

// text expands a word into one text in which no character is part of a pattern.
func (r *reader) text(f *frame, w *syntax.Word) Word { return r.single(f, w, false).Quoted() }

func (r *reader) single(f *frame, w *syntax.Word, globs bool) Word {
	if w == nil {
		return Word{}
	}
	if lit, ok := plainLit(w); ok {
		r.step(f, len(lit)/bytesPerStep)
		return Text(lit)
	}
	e := expander{r: r, f: f, globs: globs}
	e.parts(w.Parts, false, tildeAssign)
	r.step(f, e.cur.Size()/bytesPerStep)
	return e.cur.Word()
}

// end finishes the current field.
func (e *expander) end() {
	if e.has || !e.cur.Empty() {
		e.out = append(e.out, e.cur.Word())
	}
	e.cur = word.Builder{}
	e.has = false
}

// tildeMode says where a tilde stands for a home folder.
type tildeMode uint8

const (
	tildeNone tildeMode = iota
	tildeArg
	tildeAssign
)

func (e *expander) parts(parts []syntax.WordPart, quoted bool, tilde tildeMode) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			e.lit(p.Value, quoted, tilde, i == 0, i == len(parts)-1)
		case *syntax.SglQuoted:
			e.has = true
			s := p.Value
			if p.Dollar {
				s, _, _ = strings.Cut(unixtext.ANSI(s), "\x00") // a word ends there
			}
			e.quotedText(s)
		case *syntax.DblQuoted:
			e.dblQuoted(p)
		case *syntax.ParamExp:
			e.param(p, quoted)
		case *syntax.CmdSubst:
			e.value(e.r.substitute(e.f, p), quoted)
		case *syntax.ArithmExp:
			e.value(e.r.arithmWord(e.f, p.X), quoted)
		case *syntax.ProcSubst:
			e.cur.AddWord(e.r.procSubst(e.f, p))
			e.has = true
		case *syntax.ExtGlob:
			e.glob(p.Op.String() + p.Pattern.Value + ")")
		}
	}
}

// dblQuoted adds a double-quoted part. An empty "$@" makes no field.
func (e *expander) dblQuoted(p *syntax.DblQuoted) {
	if len(p.Parts) == 1 {
		if pe, ok := p.Parts[0].(*syntax.ParamExp); ok && listParam(pe) && len(e.r.paramList(e.f, pe)) == 0 {
			return
		}
	}
	e.has = true
	e.parts(p.Parts, true, tildeNone)
}

// quotedText adds literal text and fills its holes with the spliced-in words.
func (e *expander) quotedText(s string) {
	if !strings.Contains(s, holeOpen) {
		e.cur.AddText(s)
		return
	}
	e.cur.AddWord(e.r.fillHoles(s).Quoted())
}

// lit adds a literal and interprets the escapes of its context.
func (e *expander) lit(s string, quoted bool, tilde tildeMode, first, last bool) {
	if quoted {
		e.quotedText(unixtext.Unescape(s))
		return
	}
	if !strings.ContainsAny(s, "\\*?[~"+holeOpen) {
		e.cur.AddText(s)
		return
	}
	if tilde == tildeAssign || tilde == tildeArg && first {
		s = e.tildes(s, tilde, first, last)
	}
	e.marked(s, "\\*?["+holeOpen)
}

// marked adds text in which some characters are special.
func (e *expander) marked(s, marks string) {
	for s != "" && !e.r.stopped {
		i := strings.IndexAny(s, marks)
		if i < 0 {
			e.cur.AddText(s)
			return
		}
		e.cur.AddText(s[:i])
		s = e.special(s[i:])
	}
}

// special adds what begins with a special character and returns the rest of s.
func (e *expander) special(s string) string {
	switch s[0] {
	case '\\':
		e.has = true
		if len(s) == 1 {
			e.cur.AddText("\\")
			return ""
		}
		if strings.HasPrefix(s[1:], holeOpen) {
			return s[1:]
		}
		if s[1] != '\n' {
			e.cur.AddText(s[1:2])
		}
		return s[2:]
	case '*', '?':
		e.glob(s[:1])
		return s[1:]
	case '[':
		if n := unixtext.Bracket(s); n > 0 {
			e.glob(s[:n])
			return s[n:]
		}
		e.cur.AddText("[")
		if !e.r.step(e.f, unixtext.MaxBracket/bytesPerStep) {
			return ""
		}
		return s[1:]
	}
	w, rest, ok := e.r.takeHole(s)
	if !ok {
		e.cur.AddText(s[:1])
		return s[1:]
	}
	e.has = true
	e.cur.AddWord(w)
	return rest
}

func (e *expander) glob(s string) {
	if e.globs && e.r.step(e.f, word.PartSize/bytesPerStep) {
		e.cur.Add(Part{Kind: PartGlob, Text: s})
		return
	}
	e.cur.AddText(s)
}

// tildes replaces the tildes at the start of a literal, and those after = or : in an assignment. It adds the homes and returns what is left to add.
func (e *expander) tildes(s string, mode tildeMode, first, last bool) string {
	if mode == tildeArg {
		if i := strings.IndexByte(s, '='); i > 0 && syntax.ValidName(s[:i]) {
			e.cur.AddText(s[:i+1])
			s, mode = s[i+1:], tildeAssign
		}
	}
	for first && strings.HasPrefix(s, "~") {
		end, ends := tildeEnd(s, mode, last)
		home, ok := e.r.home(s[1:end])
		if !ends || !ok {
			return s
		}
		e.has = true
		e.cur.AddWord(home)
		s = s[end:]
		next := strings.Index(s, ":~")
		if mode != tildeAssign || next < 0 || strings.ContainsAny(s[:next], "\\*?[") {
			return s
		}
		e.cur.AddText(s[:next+1])
		s = s[next+1:]
	}
	return s
}

// tildeEnd returns where the name after a tilde ends; false if the tilde stands for no home, as in ~"user".
func tildeEnd(s string, mode tildeMode, last bool) (int, bool) {
	end := strings.IndexAny(s, "/:\\")
	if end < 0 {
		return len(s), last
	}
	return end, s[end] != '\\' && (mode != tildeArg || s[end] != ':')
}

// home returns the home folder that a tilde with a user's name stands for.
func (r *reader) home(user string) (Word, bool) {
	switch {
	case user == "":
		if home, ok := r.value("HOME"); ok {
			return home.Quoted(), true
		}
		return word.NotEmpty("HOME"), true
	case user == "+":
		return r.cwd(), true
	case user == "-":
		return r.prevCwd(), true
	case user == "root":
		return Text("/root"), true
	case user == r.opts.User && r.opts.Home != "":
		return Text(r.opts.Home), true
	}
	for i := range len(user) {
		if c := user[i]; !isNameByte(c) && c != '-' && c != '.' {
			return Word{}, false
		}
	}
	return word.NotEmpty("~" + user), true
}

// Cut stands for the command that an unknown part comes from, if it is what was left when a variable's value was cut: the variable's name says nothing of it.
const Cut = "…"

func cutOf(name string) Word {
	return NewWord(Part{Kind: PartUnknown, Name: name, From: Cut, MayBeEmpty: true})
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// value adds the result of an expansion: as it is if quoted, otherwise split at the field separators and with its metacharacters active.
func (e *expander) value(w Word, quoted bool) {
	if w.Size() > word.MaxSize {
		e.r.problem(e.f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a word becomes longer than 1 MiB")})
		w = word.OutputOf("")
	}
	if !e.r.step(e.f, w.Size()/16) {
		return
	}
	if quoted {
		e.cur.AddWord(w.Quoted())
		return
	}
	for _, p := range w.Parts() {
		if p.Kind == PartText {
			e.unquoted(p.Text)
			continue
		}
		p.Splits = e.split && p.Kind == PartUnknown
		e.cur.Add(p)
	}
}

// unquoted adds text that an expansion produced outside quotes.
func (e *expander) unquoted(s string) {
	for s != "" {
		i := len(s)
		if e.split && e.ifs != "" {
			if k := strings.IndexAny(s, e.ifs); k >= 0 {
				i = k
			}
		}
		e.marked(s[:i], "*?[") // metacharacters stay active
		if i == len(s) {
			return
		}
		s = e.separator(s[i:])
	}
}

// separator ends the field at a run of separators: blanks run together, while any other separator ends its own field.
func (e *expander) separator(s string) string {
	hard := false
	for s != "" && strings.IndexByte(e.ifs, s[0]) >= 0 {
		soft := strings.IndexByte(" \t\n", s[0]) >= 0
		if hard && !soft {
			break
		}
		hard, s = hard || !soft, s[1:]
	}
	e.has = e.has || hard
	e.end()
	return s
}

func (r *reader) ifs() string {
	w, ok := r.value("IFS")
	if s, known := w.Text(); ok && known {
		return s
	}
	return " \t\n"
}

// userEntry returns what getent passwd prints of a user whose home is known.
func (r *reader) userEntry(args []Word) (Word, bool) {
	home, known := r.home(append(args, Word{}, Word{})[1].Prefix())
	if len(args) != 2 || !args[0].Is("passwd") || args[1].Is("") || args[1].HasUnknown() || !known {
		return Word{}, false
	}
	field := Glue(word.OutputOf("getent"), Text(":"))
	return Glue(args[1], Text(":x:"), field, field, field, home, Text(":"), word.OutputOf("getent"), Text("\n")), true
}

// captured returns what a substitution leaves of an output.
func captured(w Word) Word {
	return w.MapText(func(s string) string { return strings.ReplaceAll(s, "\x00", "") }).
		MapSuffix(func(s string) string { return strings.TrimRight(s, "\n") })
}
