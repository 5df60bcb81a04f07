package code

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// LooksOnly reports whether a script that runs on a web page only looks at the page: it calls only
// functions of its own and those in the word class page-look, binds only names of its own, and
// otherwise mentions only names in page-global. Anything else it does, known or not, makes the
// answer false.
func (r *Reader) LooksOnly(script string) bool {
	if len(script) > maxText {
		return false
	}
	p := r.tokens("node", script)
	s := page{program: p, own: map[string]bool{}, routine: map[string]bool{}, keys: map[string]bool{}, texts: map[string]bool{}}
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

// page is a script of a web page, with the names that it binds itself: all of them, those of its
// functions, the keys of its objects, and the names that may hold more than a number.
type page struct {
	*program

	own, routine, keys, texts map[string]bool
}

// declare records the names that a token binds: through const, let or var, as a function, as
// parameters.
func (s *page) declare(i int) {
	switch t := s.tok(i); {
	case t.word("const", "let", "var", "catch"):
		s.names(i+1, s.over(i+1)+1)
		if value := s.tok(i + 3); s.tok(i+2).is("=") && (value.word("function", "async") || s.arrow(i+3)) {
			s.routine[s.tok(i+1).text] = true
		}
	case t.word("function"):
		s.routine[s.tok(i+1).text] = s.tok(i+1).kind == tokenName
		for open := i + 1; open < i+3; open++ {
			if s.tok(open).is("(") {
				s.names(open, s.over(open)+1)
			}
		}
	case t.is("=>") && s.tok(i-1).is(")"):
		s.names(int(s.tok(i-1).match), i)
	case t.is("=>"):
		s.names(i-1, i)
	default:
		s.note(i)
	}
}

// note records a key of an object, and a name that is set to something other than a number.
func (s *page) note(i int) {
	t, next := s.tok(i), s.tok(i+1)
	number := next.kind == tokenNumber && s.tok(i+2).is(";")
	switch {
	case s.tok(i-1).is("{", ",") && next.is(":", ",", "}"):
		s.keys[t.text] = true
	case t.is("=", "+=") && !number:
		s.texts[s.tok(i-1).text] = true
	}
}

// names records the names that a pattern or parameters bind, without those in their defaults.
func (s *page) names(from, to int) {
	for i := max(from, 0); i < to; i++ {
		if t := s.tok(i); t.kind == tokenName && (i == from || s.tok(i-1).is("(", ",", "{", "[", ":", "...")) {
			s.own[t.text], s.texts[t.text] = true, s.texts[t.text] || !s.tok(i+1).is("=")
		}
	}
}

// arrow reports whether an arrow function begins at a token.
func (s *page) arrow(i int) bool { return s.tok(s.over(i) + 1).is("=>") }

// looks reports whether a token belongs to code that only looks at a page.
func (s *page) looks(i int) bool {
	switch t := s.tok(i); {
	case t.word("of"):
		return s.binds(i)
	case t.word("in"):
		return s.binds(i) || s.tok(i-1).quoted()
	case t.kind == tokenName:
		return t.text == "//" || s.mentions(i)
	case t.kind == tokenOp && !t.group:
		return s.operates(i)
	default:
		return !strings.Contains(strings.ToLower(t.text), "password")
	}
}

// operates reports whether an operator changes only names of the script's own.
func (s *page) operates(i int) bool {
	switch s.tok(i).text {
	case "=":
		return s.binds(i)
	case "+=", "-=", "*=", "/=", "**=", "||=", "&&=", "??=", "//=":
		return s.holds(i - 1)
	case "++", "--":
		return s.holds(i-1) || s.holds(i+1)
	case "(":
		return s.calls(i)
	case "[":
		return s.picks(i)
	default:
		return true
	}
}

// mentions reports whether a name is allowed where it is.
func (s *page) mentions(i int) bool {
	t, prev, next := s.tok(i), s.tok(i-1), s.tok(i+1)
	switch {
	case wordclass.Is("page-private", t.text), next.quoted() && !wordclass.Is("page-word", t.text): // a template for a tag function
		return false
	case wordclass.Is("page-root", t.text): // everything that it holds is more than a look
		return next.is(".", "?.")
	case prev.is(".", "?."): // a member of what is looked at
		return !t.word("top", "parent") || !wordclass.Is("page-root", s.tok(i-2).text)
	case prev.word("new"):
		return wordclass.Is("page-maker", t.text)
	case s.own[t.text], s.routine[t.text], wordclass.Is("page-global", t.text), wordclass.Is("page-word", t.text):
		return true
	}
	return prev.is("{", ",") && next.is(":") || next.is("(") && wordclass.Is("page-function", t.text)
}

// picks reports whether a bracket makes a list or accesses an allowed element: by number, by a
// literal name or, of the script's own objects, by any name.
func (s *page) picks(i int) bool {
	prev, in := s.tok(i-1), s.tok(i+1)
	switch {
	case prev.is("{", ",") && s.tok(s.over(i)+1).is(":"): // a computed key
		return false
	case !prev.is(")", "]", "?.") && (prev.kind != tokenName || wordclass.Is("page-word", prev.text)):
		return true
	case !s.tok(i + 2).is("]"):
		return false
	case in.kind == tokenName:
		return s.holds(i-1) || s.holds(i+1) && !s.texts[in.text]
	default:
		return !wordclass.Is("page-private", in.text)
	}
}

// binds reports whether "=" or "of" sets a name of the script's own.
func (s *page) binds(i int) bool {
	if m := int(s.tok(i - 1).match); m >= 0 {
		return s.tok(m-1).word("const", "let", "var")
	}
	return s.holds(i - 1)
}

// holds reports whether a token is a name that the script itself bound, and not a member of
// something.
func (s *page) holds(i int) bool { return s.own[s.tok(i).text] && !s.tok(i-1).is(".", "?.") }

// calls reports whether a bracket calls something that only looks, or calls nothing.
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
		return s.method(i)
	}
	return s.routine[callee.text] || before.word("function", "new") || wordclass.Is("page-function", callee.text) && !s.own[callee.text]
}

// method reports whether the method that a bracket calls only looks: no object of the script has a
// method of its name, and it gets no foreign function if it would call one.
func (s *page) method(i int) bool {
	name := s.tok(i - 1).text
	held := wordclass.Is("page-holder", name) && (s.holds(i-3) || s.tok(i-3).word("searchParams"))
	return !s.keys[name] && (held || wordclass.Is("page-look", name)) && s.takes(i, wordclass.Kind("page-taker", name))
}

// takes reports whether a call that may call its arguments gets no foreign function: in any of its
// arguments, or in those after the first.
func (s *page) takes(i int, kind string) bool {
	end := int(s.tok(i).match)
	for at, n := i+1, 0; kind != "" && at < end; n++ {
		if (kind == "each" || n > 0) && !s.harmless(at) {
			return false
		}
		for at < end && !s.tok(at).is(",") {
			at = s.over(at) + 1
		}
		at++
	}
	return true
}

// harmless reports whether an argument is not a function, or a function of the script's own.
func (s *page) harmless(i int) bool {
	t := s.tok(i)
	if s.tok(i+1).is(",", ")") && (s.routine[t.text] || wordclass.Is("page-cast", t.text)) {
		return true
	}
	return s.arrow(i) || t.word("function", "async", "null", "//") || t.quoted() || t.kind == tokenNumber || t.is("{", "[", "-")
}

// inPlace reports whether the bracket before a call holds a function that is called immediately,
// or belongs to a statement that is not a call.
func (s *page) inPlace(open int) bool {
	in := open + 1
	return open >= 0 && (s.tok(in).word("function", "async") || s.arrow(in)) || s.tok(open-1).word("if", "for", "while")
}
