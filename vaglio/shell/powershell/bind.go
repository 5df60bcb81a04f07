package powershell

import (
	"maps"
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

func whatIf(name string) bool {
	return name == "whatif" || name == "wi" || name == "what" || name == "wha"
}

// find gives the parameter that a name or the beginning of one means.
func (s *spec) find(name string) *param {
	var found *param
	for i := range s.params {
		p := &s.params[i]
		if p.name == name {
			return p
		}
		if found == nil && strings.HasPrefix(p.name, name) {
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
		p := s.find(a.name)
		_, common := r.t.common(a.name)
		switch {
		case a.name == "":
			words = append(words, a.val)
		case a.name == "@":
			words = append(words, r.spread(b, s, a.val)...)
		case p == nil && !common:
			if len(s.params) > 0 {
				b.strange = append(b.strange, a.name)
			}
			rest = append(rest, a.val)
		case r.isFlag(p, a.name):
			r.turn(b, p, a)
		default:
			var v value
			if v, args = a.given(args); p != nil {
				given[p.name] = append(given[p.name], v)
			}
		}
	}
	r.give(b, given)
	b.positions(r, s, words, rest)
	return b
}

// given is the value of a named argument, which may be the next one.
func (a *argument) given(next []argument) (value, []argument) {
	if !a.valued && len(next) > 0 && next[0].name == "" {
		return next[0].val, next[1:]
	}
	return a.val, next
}

func (r *reader) isFlag(p *param, name string) bool {
	if p != nil {
		return p.isFlag
	}
	flag, _ := r.t.common(name)
	return flag
}

// turn sets a switch, or one that every cmdlet has.
func (r *reader) turn(b *bound, p *param, a *argument) {
	on := !a.valued || !r.word(a.val).Is("False")
	switch {
	case p != nil:
		b.on[p.name] = on
	case whatIf(a.name):
		b.dry = on
	}
}

// give gives each parameter the values that stand behind its name.
func (r *reader) give(b *bound, given map[string][]value) {
	for name, vals := range given {
		b.vals[name] = r.list(vals)
	}
}

// spread gives what a table holds to the parameters of its names.
func (r *reader) spread(b *bound, s *spec, v value) []value {
	if v.table == nil || !r.step(len(v.table)) {
		return []value{v}
	}
	for _, name := range slices.Sorted(maps.Keys(v.table)) {
		p := s.find(name)
		switch {
		case p == nil:
			b.dry = b.dry || whatIf(name)
		case p.isFlag:
			b.on[p.name] = !r.word(v.table[name]).Is("False")
		default:
			b.vals[p.name] = v.table[name]
		}
	}
	return nil
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
		if v.block != nil && s.find("process") == nil && s.rest == "" {
			at = max(0, slices.IndexFunc(free, func(p *param) bool { return p.role == roleBlock || p.role == roleFilter }))
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

// bindSlashes gives every word of a program whose options begin with a slash
// to its parameter.
func (r *reader) bindSlashes(s *spec, args []argument) *bound {
	b := &bound{vals: map[string]value{}, on: map[string]bool{}}
	var words []value
	given := map[string][]value{}
	for args = apart(args); len(args) > 0; {
		a := &args[0]
		args = args[1:]
		w := strings.ToLower(a.word.Prefix())
		name, after, _ := strings.Cut(w, ":")
		p := s.exact(name)
		switch {
		case p != nil && p.isFlag:
			b.on[p.name] = true
		case p != nil && after != "":
			given[p.name] = append(given[p.name], text(a.word.Prefix()[len(name)+1:]))
		case p != nil && len(args) > 0:
			given[p.name] = append(given[p.name], args[0].val)
			args = args[1:]
		case isSlashOption(w) || len(w) == 2 && strings.IndexByte("+-", w[0]) >= 0:
		default:
			words = append(words, a.val)
		}
	}
	r.give(b, given)
	b.positions(r, s, words, nil)
	return b
}

// apart splits options that are written together, as in /s/q.
func apart(args []argument) []argument {
	out := make([]argument, 0, len(args))
	for _, a := range args {
		s, ok := a.word.Text()
		if !ok || !gluedOptions(s) {
			out = append(out, a)
			continue
		}
		for letter := range strings.SplitSeq(s[1:], "/") {
			out = append(out, plainArg(shell.Text("/"+letter)))
		}
	}
	return out
}

// gluedOptions says that a word is several options of one letter: /s/q.
func gluedOptions(s string) bool {
	if len(s) < 4 || len(s)%2 != 0 {
		return false
	}
	for i := 0; i < len(s); i += 2 {
		if s[i] != '/' || !isLetter(s[i+1]) {
			return false
		}
	}
	return true
}

func (s *spec) exact(name string) *param {
	for i := range s.params {
		if s.params[i].name == name {
			return &s.params[i]
		}
	}
	return nil
}

// isSlashOption says that a word is an option of a program of Windows rather
// than a path.
func isSlashOption(w string) bool {
	return len(w) > 1 && w[0] == '/' && !strings.Contains(w[1:], "/") && (len(w) < 4 || strings.Contains(w, ":") || isOptionWord(w[1:]))
}

func isOptionWord(w string) bool {
	for i := range len(w) {
		if !isLetter(w[i]) {
			return false
		}
	}
	return len(w) > 2
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
	if key, ok := registryKey(drive, rest); ok {
		order := "add"
		if strings.HasPrefix(function, "Remove-") || strings.HasPrefix(function, "Clear-") {
			order = "delete"
		}
		r.emit(shell.Command{Name: "reg", Argv: []shell.Word{shell.Text("reg"), shell.Text(order), shell.Text(key)}})
		return
	}
	switch drive {
	case "env", "variable", "function", "alias":
	default:
		r.emit(shell.Command{Name: function, Argv: []shell.Word{shell.Text(function), w}})
	}
}
