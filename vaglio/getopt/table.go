package getopt

import (
	_ "embed" // The table of options.
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed options.txt
var tableText string

// table holds the grammars of all programs, by name.
type table struct {
	grammars map[string]*Grammar
	last     []*Grammar // of the last section
	none     Grammar    // of a program that is not listed
}

// builtin is the table, which is read once and never changed.
var builtin = rows.Once("vaglio/getopt", func() (*table, error) { return read("options.txt", tableText) })

// Of returns what the table says of a program's options. A name covers itself with a version, and name.* every program that begins so.
func Of(program string) *Grammar {
	t := builtin()
	if g := t.grammars[program]; g != nil {
		return g
	}
	kind, _, _ := strings.Cut(program, ".")
	if g := t.grammars[kind+".*"]; g != nil { // mkfs.ext4
		return g
	}
	if g := t.grammars[strings.TrimRight(program, "0123456789.")]; g != nil { // python3.12
		return g
	}
	return &t.none
}

// Taking returns the grammar of a program of which only some options that take a value matter.
func (g *Grammar) Taking(options ...string) *Grammar {
	out := &Grammar{Values: map[string]bool{}, Single: g.Single}
	for _, o := range options {
		out.Values[out.oneDash(o)] = true
	}
	return out
}

// read reads a table. An error names the file, the line and the column.
func read(file, text string) (*table, error) {
	t := &table{grammars: map[string]*Grammar{}}
	return t, rows.Sections(file, text, t.section, t.way)
}

func (t *table) section(names, options []string) error {
	t.last = nil
	var all Grammar // its options are shared, since nothing changes them later
	if err := all.learn(options); err != nil {
		return err
	}
	for _, name := range names {
		if t.grammars[name] != nil {
			return rows.Wrong(name, "%q has its options elsewhere", name)
		}
		g := all
		t.grammars[name], t.last = &g, append(t.last, &g)
	}
	return nil
}

// way reads the options behind some operands, or behind an option.
func (t *table) way(words, options []string) error {
	w := way{grammar: &Grammar{Single: t.last[0].Single, exact: t.last[0].exact, after: len(words)}}
	for _, word := range words {
		w.words = append(w.words, strings.Split(word, "|"))
	}
	for _, g := range t.last {
		g.ways = append(g.ways, w)
	}
	return w.grammar.learn(options)
}

// learn reads options, and what else is known of them.
func (g *Grammar) learn(words []string) error {
	is := map[string]*bool{
		"single": &g.Single, "exact": &g.exact, "bundle": &g.bundle, "once": &g.once, "modes": &g.modes, "signals": &g.signals, "colon": &g.colon,
		"carries": &g.carries,
	}
	for _, w := range words {
		name := strings.TrimRight(w, "?!+")
		switch set := is[w]; {
		case set != nil:
			*set = true
		case w[0] != '-' || g.Values[name] || g.Glued[name] || g.bare[name]:
			return rows.Wrong(w, "%q is not an option, or is listed twice", w)
		case w == name+"?":
			put(&g.Glued, name)
		case w == name+"!":
			put(&g.bare, name)
		default:
			name = g.oneDash(name)
			put(&g.Values, name)
			if strings.HasSuffix(w, "+") {
				put(&g.pairs, name)
			}
			g.long = append(g.long, name)
		}
	}
	slices.Sort(g.long)
	return nil
}

// put adds a name to a set. Most grammars know nothing of most kinds of options: an empty set for each would take as much memory as all names.
func put(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}
