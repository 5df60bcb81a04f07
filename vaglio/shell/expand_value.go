package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/wording"
)

// tildes replaces the tildes that a literal begins with, or that follow = or :
// in an assignment, and adds the homes; it returns what is left to add.
func (e *expander) tildes(s string, mode tildeMode, first, last bool) string {
	if mode == tildeArg {
		if i := strings.IndexByte(s, '='); i > 0 && syntax.ValidName(s[:i]) {
			e.cur.addText(s[:i+1])
			s, mode = s[i+1:], tildeAssign
		}
	}
	for first && strings.HasPrefix(s, "~") {
		end, ok := tildeEnd(s, mode, last)
		if !ok {
			return s
		}
		home, ok := e.r.home(s[1:end])
		if !ok {
			return s
		}
		e.has = true
		e.cur.addWord(home)
		s = s[end:]
		next := strings.Index(s, ":~")
		if mode != tildeAssign || next < 0 || strings.ContainsAny(s[:next], "\\*?[") {
			return s
		}
		e.cur.addText(s[:next+1])
		s = s[next+1:]
	}
	return s
}

// tildeEnd is where the name behind a tilde ends; false if it stands for no
// home, as in ~"user".
func tildeEnd(s string, mode tildeMode, last bool) (int, bool) {
	end := strings.IndexAny(s, "/:\\")
	if end < 0 {
		return len(s), last
	}
	return end, s[end] != '\\' && (mode != tildeArg || s[end] != ':')
}

// home is the home folder that a tilde with a user's name stands for.
func (r *reader) home(user string) (Word, bool) {
	switch {
	case user == "":
		if home, ok := r.value("HOME"); ok {
			return home.quoted(), true
		}
		return unknownHome("HOME"), true
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
	return unknownHome("~" + user), true
}

// unknownHome is a home folder that is not known; it is not empty.
func unknownHome(name string) Word {
	return NewWord(Part{Kind: PartUnknown, Name: name})
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// value adds the result of an expansion: as it is when quoted, else split at
// the field separators and with its metacharacters active.
func (e *expander) value(w Word, quoted bool) {
	if w.Size() > maxValue {
		e.r.problem(e.f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a word becomes longer than 1 MiB")})
		w = outputOf("")
	}
	if !e.r.step(e.f, w.Size()/16) {
		return
	}
	if quoted {
		e.cur.addWord(w.quoted())
		return
	}
	for _, p := range w.Parts() {
		if p.Kind == PartText {
			e.unquoted(p.Text)
			continue
		}
		p.Splits = e.split && p.Kind == PartUnknown
		e.cur.add(p)
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
		e.marked(s[:i], "*?[") // whose metacharacters work
		if i == len(s) {
			return
		}
		s = e.separator(s[i:])
	}
}

// separator ends the field at a run of separators: blanks run together, any
// other separator ends a field of its own.
func (e *expander) separator(s string) string {
	hard := false
	for s != "" && strings.IndexByte(e.ifs, s[0]) >= 0 {
		if strings.IndexByte(" \t\n", s[0]) < 0 {
			if hard {
				break
			}
			hard = true
		}
		s = s[1:]
	}
	if hard {
		e.has = true
	}
	e.end()
	return s
}

// ifs are the field separators.
func (r *reader) ifs() string {
	w, ok := r.value("IFS")
	if s, known := w.Text(); ok && known {
		return s
	}
	return " \t\n"
}
