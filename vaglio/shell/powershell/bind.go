package powershell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// bound are the words of a command by what they are to it.
type bound struct {
	vals map[string]value // by the parameter's name
	on   map[string]bool  // switches
	rest value            // words that belong to no parameter
	// strange are the parameters that the command has not.
	strange []string
	dry     bool // -WhatIf: the command only says what it would do
}

// isDry says that a word is -WhatIf, and is not turned off by what follows it.
func (r *reader) isDry(a *argument) bool {
	return (a.name == "wi" || len(a.name) > 2 && strings.HasPrefix("whatif", a.name)) && (!a.valued || r.word(a.val).Is("True"))
}

// find gives the parameter that a name or the beginning of one means. Options
// with a slash are not shortened.
func (s *spec) find(name string) *param {
	var found *param
	for i := range s.params {
		p := &s.params[i]
		if p.name == name {
			return p
		}
		if found == nil && name != "" && name[0] != '/' && strings.HasPrefix(p.name, name) {
			found = p
		}
	}
	if found == nil && (name == "pspath" || name == "lp") {
		return s.find("literalpath")
	}
	return found
}

// bind gives every word of a cmdlet to its parameter.
func (r *reader) bind(s *spec, args []argument) *bound {
	b := &bound{vals: map[string]value{}, on: map[string]bool{}}
	var words, rest []value
	given := map[string][]value{}
	for len(args) > 0 {
		a := &args[0]
		args = args[1:]
		p, shared := s.find(a.name), r.t.common(a.name)
		switch {
		case a.name == "":
			words = append(words, a.val)
		case p == nil && shared == nil:
			if len(s.params) > 0 {
				b.strange = append(b.strange, a.name)
			}
			rest = append(rest, a.val)
		case p == nil:
			args = r.shared(b, shared, a, args)
		case p.isFlag:
			b.on[p.name] = !a.valued || !r.word(a.val).Is("False")
		default:
			var v value
			v, args = a.given(args)
			given[p.name] = append(given[p.name], v)
		}
	}
	for name, vals := range given {
		b.vals[name] = r.list(vals)
	}
	b.positions(r, s, words, rest)
	return b
}

// shared minds a parameter that every cmdlet has: some keep its output in a
// variable.
func (r *reader) shared(b *bound, p *param, a *argument, args []argument) []argument {
	if p.isFlag {
		b.dry = b.dry || r.isDry(a)
		return args
	}
	v, args := a.given(args)
	if name, ok := v.text(); ok && strings.HasSuffix(strings.TrimSuffix(p.name, "ariable"), "v") {
		r.setVar(variableName(strings.TrimPrefix(name, "+")), unknownValue(""))
	}
	return args
}

// positions gives the words without a name to the parameters by their places.
func (b *bound) positions(r *reader, s *spec, words, rest []value) {
	free := make([]*param, 0, len(s.params))
	for i := range s.params {
		p := &s.params[i]
		if _, taken := b.vals[p.name]; p.pos >= 0 && !taken && (p.name != "path" || b.vals["literalpath"].isNothing()) {
			free = append(free, p)
		}
	}
	slices.SortStableFunc(free, func(x, y *param) int { return x.pos - y.pos })
	for _, v := range words {
		at := 0
		if v.isBlock && s.find("process") == nil && s.rest == "" {
			at = max(0, slices.IndexFunc(free, func(p *param) bool { return p.role == roleBlock }))
		}
		if len(free) == 0 {
			rest = append(rest, v)
			continue
		}
		b.vals[free[at].name] = v
		free = slices.Delete(free, at, at+1)
	}
	b.rest = r.list(rest)
}

// slashed names those words of a program that are its options: they begin with
// a slash, and may stand together, as in /s/q. What is no option of the row's
// says nothing.
func slashed(s *spec, args []argument) []argument {
	out := make([]argument, 0, len(args))
	for _, a := range args {
		w, _ := a.word.Text()
		w = strings.ToLower(w)
		if glued.MatchString(w) {
			for letter := range strings.SplitSeq(w[1:], "/") {
				if s.find("/"+letter) != nil {
					out = append(out, argument{name: "/" + letter, bare: true})
				}
			}
			continue
		}
		a.name, a.valued = "", false
		prefix := a.word.Prefix()
		name, after, colon := strings.Cut(prefix, ":")
		name = strings.ToLower(name)
		switch {
		case s.find(name) != nil && name != "" && name[0] == '/':
			a.name, a.valued = name, colon && after != ""
			a.val = text(after)
		case isSlashOption(strings.ToLower(prefix)), len(w) == 2 && strings.IndexByte("+-", w[0]) >= 0:
			continue
		}
		out = append(out, a)
	}
	return out
}

// glued are several options of one letter in one word: /s/q.
var glued = regexp.MustCompile(`^(?:/[A-Za-z]){2,}$`)

// isSlashOption says that a word is an option of a program of Windows rather
// than a path.
func isSlashOption(w string) bool {
	if len(w) < 2 || w[0] != '/' || strings.Contains(w[1:], "/") {
		return false
	}
	return len(w) < 4 || strings.Contains(w, ":") || strings.Trim(w[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// take is what a parameter was given, or what the pipe brings to it.
func (b *bound) take(p *param, in value, piped bool) value {
	v, ok := b.vals[p.name]
	if !ok && p.piped && piped {
		return in
	}
	return v
}

// paths are the words of a value as paths of files; what belongs to another
// provider is handled by itself.
func (r *reader) paths(function string, v value, literal, writes bool) []shell.Word {
	if !r.afford(len(v.items), 0) {
		return []shell.Word{unknownWord("")}
	}
	out := make([]shell.Word, 0, len(v.items))
	for _, w := range v.items {
		drive, rest, ok := provider(w)
		if !ok {
			out = append(out, r.path(w, literal))
		} else if writes {
			r.provided(function, drive, rest, w)
		}
	}
	return out
}

// provided notes a change of what is no file: a key of the registry, in the
// words of reg, or what else a provider keeps.
func (r *reader) provided(function, drive, rest string, w shell.Word) {
	if key, ok := r.registryKey(drive, rest); ok {
		order := "add"
		if strings.HasPrefix(function, "Remove-") || strings.HasPrefix(function, "Clear-") {
			order = "delete"
		}
		r.emit(shell.Command{Name: "reg", Argv: []shell.Word{shell.Text("reg"), shell.Text(order), shell.Text(key)}})
		return
	}
	switch drive {
	case "env":
		r.setenv(rest, unknownValue(""))
		r.setVar(drive+":"+strings.ToLower(rest), unknownValue(""))
	case "variable", "function", "alias":
		r.unread("what a name stands for is changed in a way that is not read")
	default:
		r.emit(shell.Command{Name: function, Argv: []shell.Word{shell.Text(function), w}})
	}
}
