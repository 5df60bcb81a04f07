// Package page says whether a script that runs on a web page only looks at the page.
package page

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// LooksOnly reports whether a script only looks at the page: it calls only functions of its own and those in the word class page-look, binds only names
// of its own, and otherwise mentions only names in page-global. Anything else it does, known or not, makes the answer false.
func LooksOnly(tokens lex.Tokens) bool {
	s := page{Tokens: tokens, own: map[string]bool{}, routine: map[string]bool{}, keys: map[string]bool{}, texts: map[string]bool{}}
	for i := range tokens {
		s.declare(i)
	}
	for i := range tokens {
		if !s.looks(i) {
			return false
		}
	}
	for name := range s.own { // elsewhere it may stand for the page's
		if wordclass.Is("page-global", name) || wordclass.Is("page-root", name) {
			return false
		}
	}
	return len(tokens) > 0
}

// page is a script of a web page, with the names that it binds itself: all of them, those of its
// functions, the keys of its objects, and the names that may hold more than a number.
type page struct {
	lex.Tokens
	own, routine, keys, texts map[string]bool
}

// declare records the names that a token binds: through const, let or var, as a function, as parameters.
func (s *page) declare(i int) {
	switch t := s.At(i); {
	case t.Word("catch"):
		s.names(i+1, s.Over(i+1)+1)
	case t.Word("const", "let", "var"):
		for at := i; at >= 0; at = s.comma(at + 1) {
			s.bind(at + 1)
		}
	case t.Word("function"):
		s.routine[s.At(i+1).Text] = s.At(i + 1).Word()
		for open := i + 1; open < i+3; open++ {
			if s.At(open).Is("(") {
				s.names(open, s.Over(open)+1)
			}
		}
	case t.Is("=>") && s.At(i-1).Is(")"):
		s.names(s.At(i-1).Match, i)
	case t.Is("=>"):
		s.names(i-1, i)
	default:
		s.note(i)
	}
}

// bind records what one declaration of a statement binds.
func (s *page) bind(i int) {
	s.names(i, s.Over(i)+1)
	if value := s.At(i + 2); s.At(i+1).Is("=") && (value.Word("function", "async") || s.arrow(i+2)) {
		s.routine[s.At(i).Text] = true
	}
}

// note records a key of an object, and a name that is set to something other than a number.
func (s *page) note(i int) {
	t, next := s.At(i), s.At(i+1)
	number := next.Kind == lex.Number && s.At(i+2).Is(";")
	switch {
	case s.past(i, -1).Is("{", ",") && s.past(i, 1).Is(":", ",", "}"):
		s.keys[t.Text] = true
	case t.Is("=", "+=") && !number:
		s.texts[s.At(i-1).Text] = true
	}
}

// names records the names that a pattern or parameters bind, without those in their defaults.
func (s *page) names(from, to int) {
	for i := max(from, 0); i < to; i++ {
		if t := s.At(i); t.Word() && (i == from || s.At(i-1).Is("(", ",", "{", "[", ":", "...")) {
			s.own[t.Text], s.texts[t.Text] = true, s.texts[t.Text] || !s.At(i+1).Is("=")
		}
	}
}

// past returns the token before or behind one, line ends apart.
func (s *page) past(i, step int) lex.Token {
	i += step
	for s.At(i).Is(";") && s.At(i).Line {
		i += step
	}
	return s.At(i)
}

// comma returns where the next comma of the statement is that a token belongs to, -1 if nowhere.
func (s *page) comma(i int) int {
	for !s.At(i).Is(",") {
		if t := s.At(i); t.Kind == lex.End || t.Is(";", ")", "]", "}") && !t.Group {
			return -1
		}
		i = s.Over(i) + 1
	}
	if t := s.At(i + 1); t.Is(";") && t.Line {
		i++
	}
	return i
}

// arrow reports whether an arrow function begins at a token.
func (s *page) arrow(i int) bool { return s.At(s.Over(i) + 1).Is("=>") }

// looks reports whether a token belongs to code that only looks at a page.
func (s *page) looks(i int) bool {
	switch t := s.At(i); {
	case t.Word("of"):
		return s.binds(i)
	case t.Word("in"):
		return s.binds(i) || s.At(i-1).Quoted()
	case t.Word():
		return t.Text == "//" || s.clears(i) || s.mentions(i)
	case t.Is() && !t.Group:
		return s.operates(i)
	default:
		return !strings.Contains(strings.ToLower(t.Text), "password")
	}
}

// operates reports whether an operator changes only names of the script's own.
func (s *page) operates(i int) bool {
	switch s.At(i).Text {
	case "=":
		return s.binds(i) || s.scrolls(i) || s.styles(i) || s.goes(i)
	case "+=", "-=", "*=", "/=", "**=", "||=", "&&=", "??=", "//=":
		return s.holds(i-1) || s.scrolls(i)
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
	t, prev, next := s.At(i), s.At(i-1), s.At(i+1)
	switch {
	case wordclass.Is("page-private", t.Text), next.Quoted() && !wordclass.Is("page-word", t.Text): // a template for a tag function
		return false
	case wordclass.Is("page-root", t.Text): // everything that it holds is more than a look
		return s.isHeld(i)
	case prev.Is(".", "?."): // a member of what is looked at
		return !t.Word("top", "parent") || !wordclass.Is("page-root", s.At(i-2).Text)
	case prev.Word("new"):
		return wordclass.Is("page-maker", t.Text)
	case s.own[t.Text], s.routine[t.Text], wordclass.Is("page-global", t.Text), wordclass.Is("page-word", t.Text):
		return true
	}
	return s.past(i, -1).Is("{", ",") && next.Is(":") || next.Is("(") && wordclass.Is("page-function", t.Text)
}

// isHeld reports whether something of what a root of the page holds follows, also behind (x || document).
func (s *page) isHeld(i int) bool {
	next := s.At(i + 1)
	return next.Is(".", "?.") || s.At(i).Word("document") && next.Is(")") && s.At(i+2).Is(".")
}

// counts reports whether tokens are arithmetic that ends in a number, so that no member but an element can have its name.
func (s *page) counts(from, to int) (number bool) {
	for i := from; i < to; i++ {
		switch t := s.At(i); {
		case t.Is("-", "*", "/", "%"):
			number = true
		case t.Is("+"):
			number = false
		case !t.Word() && !t.Is(".") && t.Kind != lex.Number:
			return false
		}
	}
	return number
}

// scrolls reports whether an operator only moves what is shown.
func (s *page) scrolls(i int) bool {
	return s.At(i-1).Word("scrollTop", "scrollLeft") && s.At(i-2).Is(".")
}

// styles reports whether "=" sets an element's style to a text that names no address.
func (s *page) styles(i int) bool {
	value := s.At(i + 1)
	return s.At(i-3).Word("style") && s.At(i-4).Is(".") && s.At(i-1).Word() && value.Kind == lex.String && s.ends(i+2) &&
		!strings.ContainsAny(value.Text, "(\\")
}

// clears reports whether a name stands for what the tab keeps until it is closed, and the script only empties that.
func (s *page) clears(i int) bool {
	return s.At(i).Word("sessionStorage") && s.At(i+1).Is(".") && s.At(i+2).Word("clear") && s.At(i+3).Is("(") && s.At(i+4).Is(")")
}

// ends reports whether an expression ends before a token.
func (s *page) ends(i int) bool { return s.At(i).Kind == lex.End || s.At(i).Is(";", ",", ")", "}") }

// goes reports whether "=" opens another page of the same site, by an address with which nothing of the page goes.
func (s *page) goes(i int) bool {
	t := s.At(i + 1)
	to, ok := strings.CutPrefix(t.Text, "/")
	return s.At(i-3).Word("location") && s.At(i-1).Word("href") && t.Kind == lex.String && ok && !strings.HasPrefix(to, "/") &&
		!strings.ContainsFunc(to, func(r rune) bool { return r < ' ' || r == '\\' }) && s.ends(i+2)
}

// picks reports whether a bracket makes a list or accesses an allowed element: by number, by a literal name or, of the script's own objects, by any name.
func (s *page) picks(i int) bool {
	prev, in := s.At(i-1), s.At(i+1)
	switch {
	case s.past(i, -1).Is("{", ",") && s.At(s.Over(i)+1).Is(":"): // a computed key
		return false
	case !prev.Is(")", "]", "?.") && (!prev.Word() || wordclass.Is("page-word", prev.Text)):
		return true
	case !s.At(i + 2).Is("]"):
		return s.counts(i+1, s.At(i).Match)
	case in.Word():
		return s.holds(i-1) || s.holds(i+1) && !s.texts[in.Text]
	default:
		return !wordclass.Is("page-private", in.Text)
	}
}

// binds reports whether "=" or "of" sets a name of the script's own.
func (s *page) binds(i int) bool {
	if m := s.At(i - 1).Match; m >= 0 {
		return s.At(m-1).Word("const", "let", "var")
	}
	return s.holds(i - 1)
}

// holds reports whether a token is a name that the script itself bound, and not a member of something.
func (s *page) holds(i int) bool { return s.own[s.At(i).Text] && !s.At(i-1).Is(".", "?.") }

// calls reports whether a bracket calls something that only looks, or calls nothing.
func (s *page) calls(i int) bool {
	callee, before := s.At(i-1), s.At(i-2)
	switch {
	case callee.Is(")"):
		return s.inPlace(callee.Match)
	case callee.Is("]", "?.", "}") || callee.Quoted():
		return false
	case !callee.Word() || wordclass.Is("page-word", callee.Text):
		return true
	case before.Is(".", "?."):
		return s.method(i)
	}
	return s.routine[callee.Text] || before.Word("function", "new") || wordclass.Is("page-function", callee.Text) && !s.own[callee.Text]
}

// method reports whether the method that a bracket calls only looks: no object of the script has a
// method of its name, and it gets no foreign function if it would call one.
func (s *page) method(i int) bool {
	name := s.At(i - 1).Text
	held := wordclass.Is("page-holder", name) && (s.holds(i-3) || s.At(i-3).Word("searchParams"))
	shown := name == "setAttribute" && s.At(i+2).Is(",") && wordclass.Is("page-shown", s.At(i+1).Text) || name == "clear" && s.clears(i-3)
	return !s.keys[name] && (held || shown || wordclass.Is("page-look", name)) && s.takes(i, wordclass.Kind("page-taker", name))
}

// takes reports whether a call that may call its arguments gets no foreign function: in any of its arguments, or in those after the first.
func (s *page) takes(i int, kind string) bool {
	end := s.At(i).Match
	for at, n := i+1, 0; kind != "" && at < end; n++ {
		if (kind == "each" || n > 0) && !s.harmless(at) {
			return false
		}
		for at < end && !s.At(at).Is(",") {
			at = s.Over(at) + 1
		}
		at++
	}
	return true
}

// harmless reports whether an argument is not a function, or a function of the script's own.
func (s *page) harmless(i int) bool {
	t := s.At(i)
	return s.At(i+1).Is(",", ")") && (s.routine[t.Text] || wordclass.Is("page-cast", t.Text)) ||
		s.arrow(i) || t.Word("function", "async", "null", "//") || t.Quoted() || t.Kind == lex.Number || t.Is("{", "[", "-")
}

// inPlace reports whether the bracket before a call holds a function that is called immediately, or belongs to a statement that is not a call.
func (s *page) inPlace(open int) bool {
	in := open + 1
	return open >= 0 && (s.At(in).Word("function", "async") || s.arrow(in)) || s.At(open-1).Word("if", "for", "while")
}
