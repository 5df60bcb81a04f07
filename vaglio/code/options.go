package code

import (
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/internal/sourcetext"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

//go:embed options.txt
var optionsText string

// optionRules say how the programs of a language read their command line; see options.txt.
type optionRules struct {
	names    map[string]map[string]attributes // by kind and name
	patterns map[string]*sourcetext.Patterns
}

type attributes map[string]string

func (a attributes) has(key string) bool { _, ok := a[key]; return ok }

// at returns the index of the argument whose number a key has, -1 if it has none.
func (a attributes) at(key string) int {
	n, _ := strconv.Atoi(a[key])
	return n - 1
}

func (t *table) parseOptions(line string) (err error) {
	head, rest, ok := strings.Cut(line, ":")
	words, list := strings.Fields(head), strings.Fields(rest)
	if !ok || len(words) < 2 || t.languages[words[0]] == nil {
		return rows.Wrong(line, "no options of a language: %q", line)
	}
	o, kind, all := &t.languages[words[0]].options, words[1], attributes{}
	if o.names == nil {
		*o = optionRules{map[string]map[string]attributes{}, map[string]*sourcetext.Patterns{}}
	}
	if len(words) == 2 {
		o.patterns[kind], err = sourcetext.Compile(list)
		return err
	}
	for _, w := range list {
		key, val, _ := strings.Cut(w, "=")
		all[key] = val
	}
	for _, name := range words[2:] {
		if o.names[kind] == nil {
			o.names[kind] = map[string]attributes{}
		}
		o.names[kind][name] = all
	}
	return nil
}

// call returns what a function says of options, nil if nothing.
func (o *optionRules) call(name string) attributes {
	how := o.names["call"][name]
	if how == nil {
		how = o.names["call"][name[max(strings.LastIndexByte(name, '.'), 0):]]
	}
	if head := name[:strings.IndexAny(name+".", ".(")]; how.has("of") && !slices.Contains(strings.Split(how["of"], "|"), head) {
		return nil
	}
	return how
}

// field returns what the members of a name are, nil if they are no options.
func (o *optionRules) field(name string) attributes {
	for end, how := range o.names["fields"] {
		if strings.HasSuffix(name, end) {
			return how
		}
	}
	return nil
}

// finds reports whether a pattern matches a text without its blanks, apart from what is plain.
func (o *optionRules) finds(pattern, plainly, text string) bool {
	sought := o.patterns[pattern]
	return sought != nil && sought.In(text, o.patterns[plainly])
}

// option is what a program says of one option or operand of its command line.
type option struct {
	names  []string     // as plainly as [plainName]
	usual  []shell.Word // what it is if the command line does not say
	bare   bool         // operands may be its values
	param  bool         // the parameter of that name has the value
	many   bool         // it has several
	made   bool         // a function of the program makes its value
	isPath bool
	block  *routine // it is given the value
}

var (
	dashedNames = regexp.MustCompile(`--?\w[\w-]*`)
	usualIn     = regexp.MustCompile(`^\s*(-.*)\[default: ([^\]]*)\]`)
	bareNames   = regexp.MustCompile(`[<\[](\w+)|^([\w-]+)$`)
)

// optionNames returns the names in a declaration: -o, --out <dir>, or name, or verb <operand>.
func optionNames(s string) []string {
	if !strings.HasPrefix(s, "-") {
		return lists.Each(bareNames.FindAllStringSubmatch(s, -1), func(m []string) string { return plainName(m[1] + m[2]) })
	}
	return lists.Each(dashedNames.FindAllString(strings.ReplaceAll(s, "[no-]", ""), -1), plainName)
}

// plainName returns a name without what its spellings differ in: out-dir, out_dir, outDir, --out-dir.
func plainName(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "-", ""), "_", ""))
}

// takes returns the words of a command line that may be values of the option. Long names may be abbreviated, short ones stand together: -o x, -vo x, -ox, -o=x.
func (o *option) takes(line []shell.Word) (out []shell.Word) {
	for i, w := range line {
		s, rest := w.Prefix(), line[i+1:]
		switch head, _, glued := strings.Cut(s, "="); {
		case !strings.HasPrefix(s, "-"):
			if o.bare {
				out = append(out, w)
			}
		case glued && o.is(head):
			out = append(out, w.Cut(len(head)+1))
		case o.is(head), o.short(head) > 0 && w.Cut(o.short(head)).Is(""):
			out = append(out, rest[:min(1, len(rest))]...)
		case o.short(head) > 0:
			out = append(out, cut(w.Cut(o.short(head)), "=", ""))
		}
	}
	return out
}

// in reports whether a word of the command line has the option.
func (o *option) in(w shell.Word) bool {
	head, _, _ := strings.Cut(w.Prefix(), "=")
	return strings.HasPrefix(head, "-") && (o.is(head) || o.short(head) > 0)
}

// short returns where a short name of the option ends in a word of such names, 0 if there is none.
func (o *option) short(head string) int {
	for _, name := range o.names {
		if len(name) == 1 && !strings.HasPrefix(head, "--") {
			return strings.Index(strings.ToLower(head), name) + 1
		}
	}
	return 0
}

// is reports whether a word with a dash is the option, its opposite, or the beginning of its name.
func (o *option) is(s string) bool {
	name := plainName(s)
	return slices.ContainsFunc(o.names, func(n string) bool {
		return n == name || "no"+n == name || name != "" && strings.HasPrefix(s, "--") && strings.HasPrefix(n, name)
	})
}

// ranBy returns the first words of the command that runs the program.
func (p *program) ranBy(most int) []shell.Word {
	if p.in.Words == nil {
		return nil
	}
	return p.in.Words(most)
}

// ownWords returns the program's own words, if it is known which of a tool's these are: those behind the first operand, and behind more files.
func (p *program) ownWords() (words []shell.Word, own bool) {
	if p.in.Args != nil {
		return p.in.Args, true
	}
	how, all := p.runHow()
	if how == nil || len(all) < 3 || all[2].HasUnknown() || strings.HasPrefix(all[2].Prefix(), "-") {
		return nil, false
	}
	isFile := func(w shell.Word) bool { return strings.HasSuffix(w.Suffix(), how["files"]) }
	for words = all[3:]; len(words) > 0 && isFile(words[0]) && isFile(all[2]); {
		words = words[1:]
	}
	return words, true
}

// runHow returns how the tool that found the program runs it with its words, nil if it does not. Few languages have such a tool.
func (p *program) runHow() (how attributes, words []shell.Word) {
	if all := p.lang.options.names["runs"]; all != nil {
		if words = p.ranBy(2); len(words) > 1 {
			how = all[words[1].String()]
		}
	}
	if how == nil || !words[0].Is(how["tool"]) {
		return nil, nil
	}
	return how, p.ranBy(math.MaxInt)
}

// sought is what [optionRules.finds] is asked.
type sought struct {
	rules                *optionRules
	pattern, plain, text string
}

// finds asks [optionRules.finds] once, however many classes and options depend on it. What is too much to be looked through counts as found.
func (p *program) finds(pattern, plain, text string) bool {
	what := sought{&p.lang.options, pattern, plain, text}
	is, known := p.sought[what]
	if !known {
		if p.sought == nil {
			p.sought = map[sought]bool{}
		}
		is = !p.spend(len(text)/bytesPerStep/bytesPerStep) || p.lang.options.finds(pattern, plain, text)
		p.sought[what] = is
	}
	return is || !p.spend(1)
}

// arguments returns the program's own arguments as the language lists them: for skip 1 just the arguments, for 0 after the name of
// the script, for 2 after the interpreter and, if the program is in a file, the script.
func (p *program) arguments(skip int) value {
	out := slices.Repeat([]value{text("-")}, max(0, 1-skip))
	if skip == 2 {
		out = append(out, text(p.lang.name))
		if p.in.File {
			out = append(out, text("-"))
		}
	}
	words, told := p.wordsTold()
	if words == nil && !told {
		return unknown("")
	}
	known := told && (p.in.Args != nil) != p.in.Found && p.lang.options.patterns["moved"] != nil
	for _, w := range words {
		known = known && !w.HasUnknown()
		out = append(out, textOf(w))
	}
	list := listOf(out...)
	if known {
		list.path = allArguments
	}
	return list
}

// wordsTold returns the program's own words, and whether nothing changes them. There are neither if the language says
// which of a tool's words they are, and these are none or may be changed.
func (p *program) wordsTold() (words []shell.Word, told bool) {
	_, told = p.commandLine()
	words, own := p.ownWords()
	if p.in.Args == nil && (!own || !told) && p.lang.options.names["runs"] != nil {
		return nil, false
	}
	if words == nil {
		words = []shell.Word{}
	}
	return words, told
}

// handled returns the operands as what may be a list of them, or any of them.
func (v value) handled(list bool) value {
	if list {
		v.kind, v.path = kindText, "handled()"
	}
	return v
}

// handles gives functions the operands and the options. An action has its operands one by one, if the program has no commands of its own.
func (p *program) handles(how attributes, fns []*routine) {
	all, operands := []option{{bare: true}}, []option(nil)
	for _, o := range p.options {
		if o.bare {
			all, operands = append(all, o), append(operands, o)
		}
	}
	v := p.told(all...).handled(true)
	leading, known := p.leading()
	known = known && !how.has("operand") && !strings.Contains(p.src, ".command(")
	for _, f := range fns {
		args := slices.Repeat([]value{v}, max(len(f.params), 1))
		for i := 0; known && i < min(len(leading), len(operands), len(args)) && !operands[i].many; i++ {
			args[i] = textOf(leading[i])
		}
		p.invoke(f, args)
	}
}

// leading returns the words of the command line that stand before its first option; false if that is not known.
func (p *program) leading() ([]shell.Word, bool) {
	line, known := p.commandLine()
	if p.in.Args == nil { // it may begin with the program's own name
		return nil, false
	}
	at := slices.IndexFunc(line, func(w shell.Word) bool { return w.HasUnknown() || strings.HasPrefix(w.Prefix(), "-") })
	if at < 0 {
		at = len(line)
	}
	return line[:at], known
}

// behind returns the words of a command line behind the name of one of the program's commands.
func (p *program) behind(line []shell.Word) []shell.Word {
	if len(line) > 0 && slices.ContainsFunc(p.commands, line[0].Is) {
		return line[1:]
	}
	return line
}

// operands returns the operands of the command line. Words behind an option may be its value.
func (p *program) operands() value {
	named := p.commands
	p.commands = nil
	v := listOf(p.told(option{bare: true}).elements()...)
	p.commands = named
	leading, _ := p.leading()
	v.some = len(leading) < len(v.list)
	return v
}

// isTellable reports whether the command line says what an option is, if the program has one; an operand, if it is among the words that are known.
func (p *program) isTellable(o *option) bool {
	if o.made || !o.bare || p.in.Args != nil || p.lang.options.names["runs"] == nil {
		return !o.made
	}
	how, _ := p.runHow()
	return how != nil
}

var prefixIn = regexp.MustCompile(`env_prefix\s*=\s*["'](\w*)["']`)

// variableFor returns what the variables of the environment say that have the name of a field of settings.
func (p *program) variableFor(field string) value {
	prefixes := [][]string{{"", ""}}
	if found := prefixIn.FindAllStringSubmatch(p.src, -1); len(found) > 0 {
		prefixes = found
	}
	out := value{kind: kindNone}
	if strings.Contains(p.src, "alias") || strings.Count(p.src, "env_prefix") > len(prefixes) || !p.spend(len(p.src)/bytesPerStep) {
		return unknown(field)
	}
	for _, prefix := range prefixes {
		for _, name := range []string{prefix[1] + field, strings.ToUpper(prefix[1] + field), strings.ToLower(prefix[1] + field)} {
			if v := p.env(text(name)); v.kind != kindNone {
				out = out.or(v)
			}
		}
	}
	return out
}

// mayRefield reports whether the objects of a class may get fields in a way that is not followed.
func (p *program) mayRefield(class *routine, all []*program) bool {
	return !p.nowhere("refielded", "plain") || slices.ContainsFunc(all, func(m *program) bool {
		return m != p && m != class.toks && p.finds("sets", "own", m.src)
	})
}

// dumps reports whether a function puts objects into a form from which they can be made again.
func (p *program) dumps(call string) bool {
	name, _, _ := strings.Cut(call, "(")
	return p.lang.options.names["dumps"][name] != nil
}

// isTold reports whether a program that a tool finds, such as a test, creates or writes what an
// option says: as what a function is handed, that is for whoever calls it to say.
func (p *program) isTold(verb shell.Verb, w shell.Word) bool {
	return slices.Contains([]shell.Verb{shell.VerbWrite, shell.VerbAppend, shell.VerbCreate}, verb) &&
		slices.ContainsFunc(w.Parts(), func(part shell.Part) bool {
			of := part.From[:max(strings.LastIndexByte(part.From, '.'), 0)]
			return part.From == "option()" || p.lang.options.field(of) != nil || p.lang.options.names["words"][of] != nil
		})
}

// stands notes a value that is a function of the table which does what cannot be undone. Who takes it may not be followed.
func (p *program) stands(v value) value {
	name := p.canonical(v.path)
	of, last, _ := strings.Cut(name, ".")
	if p != p.root || p.stand[name] != 0 || last == "" || v.given() || p.is("=") || p.tok(p.at-2).Word("typeof") || p.tok(p.at-4).Word("typeof") {
		return v
	}
	if f := p.lang.find(name, ""); f != nil && wordclass.Is("acting-verb", strings.Fields(f.verb)[0]) && (p.lang.full[name] == f || p.modules[of]) {
		p.stand[name] = p.at
	}
	return v
}
