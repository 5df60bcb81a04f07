package code

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// option is what a program says of one option or operand of its command line, by Python's argparse.
type option struct {
	flags   []string // none for an operand; the last one was declared first
	dest    string
	values  []shell.Word // what it is if the command line does not say
	several bool         // it may take any number of words
}

// declares records a call that says something of the program's options.
func (p *program) declares(name string, args []value) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !slices.Contains([]string{"add_argument", "set_defaults", "parse_args"}, last) {
		return
	}
	switch plain, named := splitNamed(args); last {
	case "add_argument":
		p.declare(plain, named)
	case "set_defaults":
		for _, dest := range slices.Sorted(maps.Keys(named)) {
			p.options = append(p.options, option{dest: dest, flags: []string{""}, values: named[dest].words()})
		}
	default:
		p.parsed = p.parsed || len(args) > 0 && (len(plain) != 1 || plain[0].kind != kindNone) || !p.plainlyParsed()
	}
}

// declare records one option. What makes its value in another way than argparse does by itself
// leaves all of them unknown.
func (p *program) declare(plain []value, named map[string]value) {
	o := option{}
	for _, v := range plain {
		s, ok := v.text()
		p.parsed = p.parsed || !ok
		o.named(s)
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		p.parsed = !o.attribute(key, named[key]) || p.parsed
	}
	p.options = append(p.options, o)
}

// attribute takes in one keyword; false if it makes values in a way that is not followed.
func (o *option) attribute(key string, v value) bool {
	s, ok := v.text()
	switch key {
	case "default", "const":
		o.values = append(o.values, v.words()...)
	case "nargs":
		o.several = true
	case "dest":
		o.dest = s
		return ok
	case "action":
		return ok
	case "type":
		return slices.Contains([]string{"str", "int", "float", "Path", "pathlib.Path"}, v.path)
	}
	return true
}

// named adds a name of the option: the first long one, or else the first, says where its value is.
func (o *option) named(s string) {
	name := strings.TrimLeft(s, "-")
	if name == s {
		o.dest = s
		return
	}
	if len(o.flags) == 0 || strings.HasPrefix(s, "--") && !strings.HasPrefix(o.flags[0], "--") {
		o.dest = strings.ReplaceAll(name, "-", "_")
	}
	o.flags = append([]string{s}, o.flags...)
}

// parsedOption returns what an option of the program may be, from the command line that runs it
// and from what the program declares. It is false if anything else may say so.
func (p *program) parsedOption(on, dest string) (value, bool) {
	if len(p.options) == 0 || !strings.HasSuffix(on, ".parse_args()") || p.parsed || p.in.Args == nil || !p.spend(len(p.options)+len(p.in.Args)) {
		return value{}, false
	}
	out, found := value{}, false
	for _, o := range p.options {
		if o.dest != dest {
			continue
		}
		found = true
		out.alts = append(out.alts, o.values...)
		for i, w := range p.in.Args {
			out.alts = append(out.alts, o.takes(w, p.in.Args[i+1:])...)
		}
	}
	if !found || len(out.alts) > maxList {
		return value{}, false
	}
	if len(out.alts) == 0 {
		out.kind = kindNone
	}
	return out, true
}

// plainlyParsed reports whether the command line alone decides what the options are.
func (p *program) plainlyParsed() bool {
	text, ok := p.in.Text.Text()
	hidden := slices.ContainsFunc(p.in.Args, shell.Word.IsUnknown) // it may be an option with its value
	elsewhere := []string{
		"sys.argv", "import argv", "setattr", "namespace", "prefix_chars", "__dict__", "vars(", "parents=[", "argument_default",
	}
	return ok && !hidden && p.spend(len(text)/bytesPerStep) && !slices.ContainsFunc(elsewhere, func(s string) bool { return strings.Contains(text, s) })
}

// takes returns the values that a word of the command line, or those behind it, may give an option.
func (o option) takes(w shell.Word, rest []shell.Word) []shell.Word {
	s := w.Prefix()
	switch flag, _, glued := strings.Cut(s, "="); {
	case s == "" || !strings.HasPrefix(s, "-"):
		if len(o.flags) == 0 || o.several {
			return []shell.Word{w}
		}
	case glued && o.is(flag):
		return []shell.Word{behind(w, len(flag)+1)}
	case o.is(s) && len(rest) > 0:
		return rest[:1]
	case slices.ContainsFunc(o.flags, func(f string) bool { return len(f) == 2 && strings.HasPrefix(s, f) }):
		return []shell.Word{behind(w, 2)}
	}
	return nil
}

// is reports whether a word is the option, or the beginning of its name.
func (o option) is(s string) bool {
	return slices.ContainsFunc(o.flags, func(f string) bool { return f == s || strings.HasPrefix(s, "--") && strings.HasPrefix(f, s) })
}

// behind returns a word without its first n bytes, which are known.
func behind(w shell.Word, n int) shell.Word {
	s, ok := w.Text()
	if ok {
		return shell.Text(s[n:])
	}
	parts := slices.Clone(w.Parts())
	parts[0].Text = parts[0].Text[n:]
	return shell.NewWord(parts...)
}

// isTold reports whether a program that a tool finds, such as a test, creates or writes what an
// option says: as what a function is handed, that is for whoever calls it to say.
func (p *program) isTold(verb shell.Verb, w shell.Word) bool {
	return slices.Contains([]shell.Verb{shell.VerbWrite, shell.VerbAppend, shell.VerbCreate}, verb) &&
		slices.ContainsFunc(w.Parts(), func(part shell.Part) bool { return strings.Contains(part.From, ".parse_args().") })
}
