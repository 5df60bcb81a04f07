// Package page says whether a script that runs on a web page only looks at the page.
package page

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Name
	String
	Number
	Op
)

// Token is one lexeme of a script. The text of a string is its value, with marks for unknown parts.
type Token struct {
	Kind Kind
	Text string
	// Match is the index of the counterpart of a bracket, -1 if there is none.
	Match int
	// Group says that a bracket surrounds the parts of a text.
	Group bool
}

func (t Token) is(ops ...string) bool { return t.Kind == Op && slices.Contains(ops, t.Text) }

func (t Token) word(words ...string) bool { return t.Kind == Name && slices.Contains(words, t.Text) }

func (t Token) quoted() bool { return t.Kind == String || t.Group && t.Text == "(" }

// LooksOnly reports whether a script only looks at the page: it calls only functions of its own and
// those in the word class page-look, binds only names of its own, and otherwise mentions only names
// in page-global. Anything else it does, known or not, makes the answer false.
func LooksOnly(tokens []Token) bool {
	s := page{tokens: tokens, own: map[string]bool{}, routine: map[string]bool{}, keys: map[string]bool{}, texts: map[string]bool{}}
	for i := range tokens {
		s.declare(i)
	}
	for i := range tokens {
		if !s.looks(i) {
			return false
		}
	}
	return len(tokens) > 0
}

// page is a script of a web page, with the names that it binds itself: all of them, those of its
// functions, the keys of its objects, and the names that may hold more than a number.
type page struct {
	tokens                    []Token
	own, routine, keys, texts map[string]bool
}

// tok returns the token at an index, or a zero token.
func (s *page) tok(i int) Token {
	if i >= 0 && i < len(s.tokens) {
		return s.tokens[i]
	}
	return Token{}
}

// over returns the index of the bracket that closes the one at i, or i.
func (s *page) over(i int) int { return max(i, s.tok(i).Match) }

// declare records the names that a token binds: through const, let or var, as a function, as
// parameters.
func (s *page) declare(i int) {
	switch t := s.tok(i); {
	case t.word("const", "let", "var", "catch"):
		s.names(i+1, s.over(i+1)+1)
		if value := s.tok(i + 3); s.tok(i+2).is("=") && (value.word("function", "async") || s.arrow(i+3)) {
			s.routine[s.tok(i+1).Text] = true
		}
	case t.word("function"):
		s.routine[s.tok(i+1).Text] = s.tok(i+1).Kind == Name
		for open := i + 1; open < i+3; open++ {
			if s.tok(open).is("(") {
				s.names(open, s.over(open)+1)
			}
		}
	case t.is("=>") && s.tok(i-1).is(")"):
		s.names(s.tok(i-1).Match, i)
	case t.is("=>"):
		s.names(i-1, i)
	default:
		s.note(i)
	}
}

// note records a key of an object, and a name that is set to something other than a number.
func (s *page) note(i int) {
	t, next := s.tok(i), s.tok(i+1)
	number := next.Kind == Number && s.tok(i+2).is(";")
	switch {
	case s.tok(i-1).is("{", ",") && next.is(":", ",", "}"):
		s.keys[t.Text] = true
	case t.is("=", "+=") && !number:
		s.texts[s.tok(i-1).Text] = true
	}
}

// names records the names that a pattern or parameters bind, without those in their defaults.
func (s *page) names(from, to int) {
	for i := max(from, 0); i < to; i++ {
		if t := s.tok(i); t.Kind == Name && (i == from || s.tok(i-1).is("(", ",", "{", "[", ":", "...")) {
			s.own[t.Text], s.texts[t.Text] = true, s.texts[t.Text] || !s.tok(i+1).is("=")
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
	case t.Kind == Name:
		return t.Text == "//" || s.mentions(i)
	case t.Kind == Op && !t.Group:
		return s.operates(i)
	default:
		return !strings.Contains(strings.ToLower(t.Text), "password")
	}
}

// operates reports whether an operator changes only names of the script's own.
func (s *page) operates(i int) bool {
	switch s.tok(i).Text {
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
	case wordclass.Is("page-private", t.Text), next.quoted() && !wordclass.Is("page-word", t.Text): // a template for a tag function
		return false
	case wordclass.Is("page-root", t.Text): // everything that it holds is more than a look
		return next.is(".", "?.")
	case prev.is(".", "?."): // a member of what is looked at
		return !t.word("top", "parent") || !wordclass.Is("page-root", s.tok(i-2).Text)
	case prev.word("new"):
		return wordclass.Is("page-maker", t.Text)
	case s.own[t.Text], s.routine[t.Text], wordclass.Is("page-global", t.Text), wordclass.Is("page-word", t.Text):
		return true
	}
	return prev.is("{", ",") && next.is(":") || next.is("(") && wordclass.Is("page-function", t.Text)
}

// picks reports whether a bracket makes a list or accesses an allowed element: by number, by a
// literal name or, of the script's own objects, by any name.
func (s *page) picks(i int) bool {
	prev, in := s.tok(i-1), s.tok(i+1)
	switch {
	case prev.is("{", ",") && s.tok(s.over(i)+1).is(":"): // a computed key
		return false
	case !prev.is(")", "]", "?.") && (prev.Kind != Name || wordclass.Is("page-word", prev.Text)):
		return true
	case !s.tok(i + 2).is("]"):
		return false
	case in.Kind == Name:
		return s.holds(i-1) || s.holds(i+1) && !s.texts[in.Text]
	default:
		return !wordclass.Is("page-private", in.Text)
	}
}

// binds reports whether "=" or "of" sets a name of the script's own.
func (s *page) binds(i int) bool {
	if m := s.tok(i - 1).Match; m >= 0 {
		return s.tok(m-1).word("const", "let", "var")
	}
	return s.holds(i - 1)
}

// holds reports whether a token is a name that the script itself bound, and not a member of
// something.
func (s *page) holds(i int) bool { return s.own[s.tok(i).Text] && !s.tok(i-1).is(".", "?.") }

// calls reports whether a bracket calls something that only looks, or calls nothing.
func (s *page) calls(i int) bool {
	callee, before := s.tok(i-1), s.tok(i-2)
	switch {
	case callee.is(")"):
		return s.inPlace(callee.Match)
	case callee.is("]", "?.", "}") || callee.quoted():
		return false
	case callee.Kind != Name || wordclass.Is("page-word", callee.Text):
		return true
	case before.is(".", "?."):
		return s.method(i)
	}
	return s.routine[callee.Text] || before.word("function", "new") || wordclass.Is("page-function", callee.Text) && !s.own[callee.Text]
}

// method reports whether the method that a bracket calls only looks: no object of the script has a
// method of its name, and it gets no foreign function if it would call one.
func (s *page) method(i int) bool {
	name := s.tok(i - 1).Text
	held := wordclass.Is("page-holder", name) && (s.holds(i-3) || s.tok(i-3).word("searchParams"))
	return !s.keys[name] && (held || wordclass.Is("page-look", name)) && s.takes(i, wordclass.Kind("page-taker", name))
}

// takes reports whether a call that may call its arguments gets no foreign function: in any of its
// arguments, or in those after the first.
func (s *page) takes(i int, kind string) bool {
	end := s.tok(i).Match
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
	if s.tok(i+1).is(",", ")") && (s.routine[t.Text] || wordclass.Is("page-cast", t.Text)) {
		return true
	}
	return s.arrow(i) || t.word("function", "async", "null", "//") || t.quoted() || t.Kind == Number || t.is("{", "[", "-")
}

// inPlace reports whether the bracket before a call holds a function that is called immediately,
// or belongs to a statement that is not a call.
func (s *page) inPlace(open int) bool {
	in := open + 1
	return open >= 0 && (s.tok(in).word("function", "async") || s.arrow(in)) || s.tok(open-1).word("if", "for", "while")
}
