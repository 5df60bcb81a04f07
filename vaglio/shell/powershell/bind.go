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

// commonFlag and commonValue are parameters that every cmdlet has.
func commonFlag(name string) bool {
	switch name {
	case "verbose", "vb", "debug", "db", "confirm", "cf", "?", "usetransaction":
		return true
	default:
		return whatIf(name)
	}
}

func whatIf(name string) bool {
	return name == "whatif" || name == "wi" || name == "what" || name == "wha"
}

func commonValue(name string) bool {
	for _, full := range [...]string{
		"erroraction", "warningaction", "informationaction", "progressaction", "errorvariable", "warningvariable",
		"informationvariable", "outvariable", "outbuffer", "pipelinevariable",
	} {
		if len(name) > 4 && strings.HasPrefix(full, name) {
			return true
		}
	}
	switch name {
	case "ea", "wa", "ev", "wv", "ov", "ob", "pv", "infa", "iv":
		return true
	}
	return false
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
func (s *spec) bind(args []argument) *bound {
	b := &bound{vals: map[string]value{}, on: map[string]bool{}}
	var words, rest []value
	given := map[string][]value{}
	for i := 0; i < len(args); i++ {
		a := &args[i]
		if a.name == "" {
			words = append(words, a.val)
			continue
		}
		if a.name == "@" {
			words = append(words, b.spread(s, a.val)...)
			continue
		}
		p := s.find(a.name)
		switch {
		case p == nil && whatIf(a.name):
			b.dry = !a.valued || !wordOf(a.val).Is("False")
		case p == nil && commonFlag(a.name):
		case p != nil && p.isFlag:
			b.on[p.name] = !a.valued || !wordOf(a.val).Is("False")
		case p == nil && !commonValue(a.name):
			if len(s.params) > 0 {
				b.strange = append(b.strange, a.name)
			}
			rest = append(rest, a.val)
		default:
			v := a.val
			if !a.valued && i+1 < len(args) && args[i+1].name == "" {
				i++
				v = args[i].val
			}
			if p != nil {
				given[p.name] = append(given[p.name], v)
			}
		}
	}
	for name, vals := range given {
		b.vals[name] = list(vals)
	}
	b.positions(s, words, rest)
	return b
}

// spread gives what a table holds to the parameters of its names.
func (b *bound) spread(s *spec, v value) []value {
	if v.table == nil {
		return []value{v}
	}
	for _, name := range slices.Sorted(maps.Keys(v.table)) {
		p := s.find(name)
		switch {
		case p == nil:
			b.dry = b.dry || whatIf(name)
		case p.isFlag:
			b.on[p.name] = !wordOf(v.table[name]).Is("False")
		default:
			b.vals[p.name] = v.table[name]
		}
	}
	return nil
}

// positions gives the words without a name to the parameters by their places.
func (b *bound) positions(s *spec, words, rest []value) {
	free := make([]*param, 0, len(s.params))
	for i := range s.params {
		p := &s.params[i]
		if _, taken := b.vals[p.name]; p.pos >= 0 && !taken && (p.name != "path" || b.vals["literalpath"].isNothing()) {
			free = append(free, p)
		}
	}
	slices.SortStableFunc(free, func(x, y *param) int { return x.pos - y.pos })
	for _, v := range words {
		if v.block != nil && s.find("process") == nil && s.rest == "" {
			if i := slices.IndexFunc(free, func(p *param) bool { return p.role == roleBlock || p.role == roleFilter }); i >= 0 {
				b.vals[free[i].name] = v
				free = slices.Delete(free, i, i+1)
				continue
			}
		}
		if len(free) == 0 {
			rest = append(rest, v)
			continue
		}
		b.vals[free[0].name] = v
		free = free[1:]
	}
	b.rest = list(rest)
}

// bindSlashes gives every word of a program whose options begin with a slash
// to its parameter.
func (s *spec) bindSlashes(args []argument) *bound {
	b := &bound{vals: map[string]value{}, on: map[string]bool{}}
	var words []value
	given := map[string][]value{}
	args = apart(args)
	for i := 0; i < len(args); i++ {
		w := strings.ToLower(args[i].word.Prefix())
		name, after, colon := strings.Cut(w, ":")
		p := s.exact(name)
		switch {
		case p != nil && p.isFlag:
			b.on[p.name] = true
		case p != nil && colon && after != "":
			b.vals[p.name] = text(args[i].word.String()[len(name)+1:])
		case p != nil && i+1 < len(args):
			i++
			given[p.name] = append(given[p.name], args[i].val)
		case isSlashOption(w):
		case len(w) > 1 && (w[0] == '+' || w[0] == '-') && len(w) == 2:
		default:
			words = append(words, args[i].val)
		}
	}
	for name, vals := range given {
		b.vals[name] = list(vals)
	}
	b.positions(s, words, nil)
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
			w := shell.Text("/" + letter)
			out = append(out, argument{val: one(w), word: w})
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
	out := make([]shell.Word, 0, len(v.items))
	for _, w := range v.items {
		drive, rest, ok := provider(w)
		if !ok {
			out = append(out, r.path(w, literal))
			continue
		}
		if key, isKey := registryKey(drive, rest); isKey {
			if writes {
				r.registry(function, key)
			}
			continue
		}
		switch drive {
		case "env", "variable", "function", "alias":
		default:
			if writes {
				r.emit(shell.Command{Name: function, Argv: []shell.Word{shell.Text(function), w}})
			}
		}
	}
	return out
}

// registry adds a change of the registry, in the words of reg.
func (r *reader) registry(function, key string) {
	order := "add"
	if strings.HasPrefix(function, "Remove-") || strings.HasPrefix(function, "Clear-") {
		order = "delete"
	}
	r.emit(shell.Command{Name: "reg", Argv: []shell.Word{shell.Text("reg"), shell.Text(order), shell.Text(key)}})
}
