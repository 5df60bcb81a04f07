package code

import (
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// LooksOnly reports whether a script that runs on a web page does no more than look
// at it: it calls what page-look of the words names and functions of its own, binds
// names of its own, and mentions nothing else but page-global. Whatever it does
// besides, be it known or not, makes the answer no.
func (r *Reader) LooksOnly(script string) bool {
	run := &run{left: len(script) + 1, again: maxAgain, said: map[string]bool{}, out: &shell.ProgramResult{}}
	p := newProgram(run, r.table, r.table.languages["node"], &shell.Program{Language: "node"})
	if len(script) > maxText {
		return false
	}
	newLexer(p, script).run()
	s := page{program: p, own: map[string]bool{}, routine: map[string]bool{}}
	for i := range p.toks {
		s.declare(i)
	}
	for i := range p.toks {
		if !s.looks(i) {
			return false
		}
	}
	return !p.stopped && len(p.toks) > 0
}

// page is a script of a web page, by the names that it binds itself: all of them, and those of
// its functions.
type page struct {
	*program

	own, routine map[string]bool
}

// declare notes the names that are bound at a token: by const, let or var, as a function, as parameters.
func (s *page) declare(i int) {
	switch t := s.tok(i); {
	case t.word("const", "let", "var"):
		s.names(i+1, s.past(i+1))
		if value := s.tok(i + 3); s.tok(i+2).is("=") && (value.word("function", "async") || s.arrow(i+3)) {
			s.routine[s.tok(i+1).text] = true
		}
	case t.word("function"):
		s.routine[s.tok(i+1).text] = s.tok(i+1).kind == tokenName
		for open := i + 1; open < i+3; open++ {
			if s.tok(open).is("(") {
				s.names(open, s.past(open))
			}
		}
	case t.word("catch"):
		s.names(i+1, s.past(i+1))
	case t.is("=>") && s.tok(i-1).is(")"):
		s.names(int(s.tok(i-1).match), i)
	case t.is("=>"):
		s.names(i-1, i)
	}
}

// names notes the names that a pattern or parameters bind, not those of their defaults.
func (s *page) names(from, to int) {
	for i := max(from, 0); i < to; i++ {
		if s.tok(i).kind == tokenName && (i == from || s.tok(i-1).is("(", ",", "{", "[", ":", "...")) {
			s.own[s.tok(i).text] = true
		}
	}
}

// past is the place behind what begins at a token: a bracket up to its counterpart, or a name.
func (s *page) past(i int) int { return max(int(s.tok(i).match), i) + 1 }

// arrow reports whether a function with an arrow begins at a token.
func (s *page) arrow(i int) bool { return s.tok(s.past(i)).is("=>") }

// looks reports whether a token belongs to what only looks at a page.
func (s *page) looks(i int) bool {
	switch t := s.tok(i); {
	case t.is("="):
		return s.binds(i)
	case t.is("+=", "-=", "*=", "/=", "**=", "||=", "&&=", "??=", "//="):
		return s.holds(i - 1)
	case t.is("++", "--"):
		return s.holds(i-1) || s.holds(i+1)
	case t.is("(") && !t.group:
		return s.calls(i)
	case t.kind == tokenName:
		return t.text == "//" || s.mentions(i)
	}
	return true
}

// mentions reports whether a name may stand where it does.
func (s *page) mentions(i int) bool {
	t, prev, next := s.tok(i), s.tok(i-1), s.tok(i+1)
	switch {
	case next.quoted() && !wordclass.Is("page-word", t.text): // a template that a function is given
		return false
	case wordclass.Is("page-private", t.text):
		return false
	case prev.is(".", "?."), prev.is("{", ",") && next.is(":"): // of what is looked at, or a key
		return true
	case prev.word("new"):
		return wordclass.Is("page-maker", t.text)
	}
	return s.own[t.text] || s.routine[t.text] || wordclass.Is("page-global", t.text) || wordclass.Is("page-word", t.text) ||
		next.is("(") && wordclass.Is("page-look", t.text)
}

// binds reports whether "=" sets a name of the script's own.
func (s *page) binds(i int) bool {
	if m := int(s.tok(i - 1).match); m >= 0 {
		return s.tok(m-1).word("const", "let", "var")
	}
	return s.holds(i - 1)
}

// holds reports whether a token is a name that the script bound itself, and no member of anything.
func (s *page) holds(i int) bool { return s.own[s.tok(i).text] && !s.tok(i-1).is(".", "?.") }

// calls reports whether what a bracket calls only looks; one that calls nothing does.
func (s *page) calls(i int) bool {
	callee, before := s.tok(i-1), s.tok(i-2)
	switch {
	case callee.is(")"):
		return s.inPlace(int(callee.match))
	case callee.is("]", "?.", "}") || callee.quoted():
		return false
	case callee.kind != tokenName || wordclass.Is("page-word", callee.text):
		return true
	case before.is(".", "?."):
		return wordclass.Is("page-look", callee.text) || wordclass.Is("page-holder", callee.text) && (s.holds(i-3) || s.tok(i-3).word("searchParams"))
	}
	return s.routine[callee.text] || before.word("function", "new") || wordclass.Is("page-look", callee.text)
}

// inPlace reports whether the bracket before a call holds a function, which is called where it
// stands, or belongs to what no call is.
func (s *page) inPlace(open int) bool {
	in := open + 1
	return open >= 0 && (s.tok(in).word("function", "async") || s.arrow(in)) || s.tok(open-1).word("if", "for", "while")
}
