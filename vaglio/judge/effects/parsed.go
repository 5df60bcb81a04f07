package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
)

// tables is what the knowledge base says, as the rules look it up.
type tables struct {
	base     *commands.Base
	sections map[string][]*commands.Section
	harmless map[string]bool
	devtools map[string]bool
	verbs    map[string]verb
	nouns    map[string]map[string]bool // class to nouns
	vars     map[string]string          // variables that switch safeguards off
}

// verb is what a verb does, and whether it is usually a noun.
type verb struct {
	effect Effect
	light  bool // stays with the agent
	weak   bool // usually a noun
	phrase bool // of two words
}

func loadTables() (*tables, error) {
	b, err := commands.Load()
	if err != nil {
		return nil, err
	}
	t := &tables{base: b, sections: b.Judged, harmless: b.Harmless, devtools: b.Devtools, nouns: b.Nouns, vars: b.Vars, verbs: map[string]verb{}}
	for name, v := range b.Verbs {
		t.verbs[name] = verb{effect: effectOf(v.Outcome), light: v.Light, weak: v.Weak, phrase: v.Phrase}
	}
	return t, nil
}

// ofClass says whether a word is of a class of the knowledge base.
func (t *tables) ofClass(class, word string) bool { return t.nouns[class][word] }

// knows says whether the tables say anything of a program.
func (t *tables) knows(name string) bool {
	return t.sections[name] != nil || t.harmless[name] || t.devtools[name]
}

// effectOf is the effect that a table states.
func effectOf(o commands.Outcome) Effect {
	e := usual(o.Kind)
	e.Reversibility, e.Reach = o.Reversibility, o.Reach
	e.Sure = min(e.Sure, o.Sure)
	return e
}

// parsed are a command's arguments, told apart.
type parsed struct {
	*commands.Parsed
	flags    []flag
	operands []arg
	all      []arg
}

type flag struct {
	name  string
	value arg
	has   bool // a value was given
	off   bool // the value switches it off
}

// parse tells options and operands apart.
func parse(args []arg, sec *commands.Section) *parsed {
	texts := make([]string, len(args))
	for i := range args {
		texts[i] = args[i].text
	}
	p := &parsed{Parsed: commands.Parse(texts, sec), all: args}
	for i := range p.Flags {
		f := &p.Flags[i]
		o := flag{name: f.Name, has: f.Has, off: f.Off}
		if f.Has {
			o.value = args[f.At].slice(f.Cut)
		}
		p.flags = append(p.flags, o)
	}
	for _, i := range p.Operands {
		p.operands = append(p.operands, args[i])
	}
	return p
}

// has reports whether one of the options is present and not switched off.
func (p *parsed) has(names ...string) bool {
	for i := range p.flags {
		if !p.flags[i].off && slices.Contains(names, p.flags[i].name) {
			return true
		}
	}
	return false
}

// value returns the last value given to one of the options.
func (p *parsed) value(names ...string) (arg, bool) {
	for _, v := range slices.Backward(p.flags) {
		if v.has && slices.Contains(names, v.name) {
			return v.value, true
		}
	}
	return arg{}, false
}

// values returns all values given to the options.
func (p *parsed) values(names ...string) []arg {
	var out []arg
	for i := range p.flags {
		for _, n := range names {
			if p.flags[i].name == n && p.flags[i].has {
				out = append(out, p.flags[i].value)
			}
		}
	}
	return out
}

// operand returns the text of the n-th operand, "" if there is none.
func (p *parsed) operand(n int) string {
	if n >= 0 && n < len(p.operands) {
		return p.operands[n].text
	}
	return ""
}

// rest joins the operands from n on, for a person to read.
func (p *parsed) rest(n int) string {
	if n >= len(p.operands) {
		return ""
	}
	return join(p.operands[n:])
}

func join(args []arg) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
		if b.Len() > 160 {
			b.WriteString(" …")
			break
		}
	}
	return b.String()
}

// holdsAny reports whether one of the parts stands somewhere in a text.
func holdsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// startsAny reports whether a text begins with one of the parts.
func startsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(s, p) })
}
