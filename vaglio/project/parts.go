package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// notation finds where a part of a file begins that runs only if its name is asked for. here marks the parts that run on this machine, if the others run in a
// container; variable is how variables are written that the file sets.
type notation struct {
	head, name *regexp.Regexp
	inner      *regexp.Regexp // what may precede the head of one in a line, and the head
	here       string
	variable   *regexp.Regexp
}

// notations are those of files that are no trees. Where the name may stand anywhere in the part, a pattern of its own finds it.
//
//nolint:gochecknoglobals // Made once, never changed.
var notations = map[string]notation{
	"rules":    {head: regexp.MustCompile(`^\w+\(`), name: regexp.MustCompile(`\bname\s*=\s*["']([^"']+)["']`), variable: regexp.MustCompile(`\$[@<^]`)},
	"targets":  {head: regexp.MustCompile(`^([\w.-]+):\s*$`), here: "LOCALLY"},
	"edges":    {head: regexp.MustCompile(`^(?:build|rule)\s+([^:\n]+)`), variable: regexp.MustCompile(`\$\{?(\w+)\}?`)},
	"sections": {head: regexp.MustCompile(`^\[tasks\.["']?([\w-]+)["']?\]`)},
	"aliases":  {head: regexp.MustCompile(`^\s*["']?([\w.-]+)["']?:?\s+\[`), inner: regexp.MustCompile(`([\[,][ \t]*)(["']?[\w.-]+["']?:[ \t]+\[)`)},
	// Only the body of a task that is registered, or of a task of some type, is put off.
	"registered": {
		head: regexp.MustCompile(`^\s*(?:val\s+\w+\s+(?:by|=)\s+)?(?:tasks\.)?` +
			`(?:register(?:<\w+>)?\(\s*["'](\w+)["']\s*[,)]|task\s+["']?(\w+)["']?\s*\(\s*type\b)`),
		variable: regexp.MustCompile(`\$\{?(?:rootProject\.|project\.)?(?:projectDir|rootDir|buildDir)\b\}?`),
	},
}

// part is what runs of a file if one of its names is asked for, or what runs in any case.
type part struct {
	file, text string // the whole file
	names      []string
	node       any      // in a tree
	own        []string // its lines, in other files
	lines      []int    // the indexes of the first of them and of the one after the last
	kept       bool
}

// partsReader is a search for the parts of files that a command asks for.
type partsReader struct {
	*visit

	keys  []string // whose values are parts, by name; in other files, names of none
	form  *notation
	parts []*part
	live  map[string]bool // what is asked for or mentioned

	language string   // in which the parts are read, too
	of, says string   // whose tasks the parts run, and the word before command lines
	words    []string // what is asked for, which the program may let be abbreviated then
}

// readParts adds what may be commands in the parts that the words name, or that those mention, and in what belongs to no part. If the words name none, all
// run, unless the row says that the program has tasks of its own.
func readParts(v *visit, r *row) {
	s := getopt.Of(v.c.Name).Split(v.words, getopt.Manner{Loose: true}, nil, nil)
	scripts := scriptsOf(v.c.Name, v.words)
	if scripts == nil && len(s.Operands) > 0 {
		return // as with --ignore-scripts
	}
	p, own := partsOfRow(v, r)
	files := map[string]string{}
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok && v.once("parts "+r.language+" "+file) {
			files[file] = text
			p.split(file, text)
		}
	}
	for _, w := range append(s.All(), scripts...) {
		p.asks(w)
		p.words = append(p.words, strings.Split(w, ":")...)
	}
	p.choose(v.all || v.asksForAll() || !own && !slices.ContainsFunc(p.parts, p.asked))
	v.guessed(func() {
		for _, file := range slices.Sorted(maps.Keys(files)) {
			p.run(file, files[file])
		}
	})
}

// partsOfRow returns a search for what a row says.
func partsOfRow(v *visit, r *row) (p *partsReader, own bool) {
	p = &partsReader{visit: v, live: map[string]bool{}}
	for word := range strings.FieldsSeq(r.language) {
		name, what, _ := strings.Cut(word, ":")
		form, is := notations[what]
		switch {
		case word == "own":
			own = true
		case name == "form" && is:
			p.form = &form
		case name == "as":
			p.language = what
		case name == "of":
			p.of, p.says, _ = strings.Cut(what, ",")
		default:
			p.keys = append(p.keys, word)
		}
	}
	return p, own
}

// asksForAll reports whether the words may name anything: patterns, unknown words, //lib/..., :all.
func (v *visit) asksForAll() bool {
	return slices.ContainsFunc(v.c.Args, shell.Word.HasUnknown) || slices.ContainsFunc(v.words, func(w string) bool {
		return strings.ContainsAny(w, "*?[") || strings.HasSuffix(w, "...") || strings.HasSuffix(w, ":all")
	})
}

// asks records the names in a text: //lib:a, web#build, +all, build:prod.
func (p *partsReader) asks(text string) {
	between := func(c rune) bool { return strings.ContainsRune("/#+:,@ \t\n\"'`()[]{}$^;", c) }
	for _, name := range append(partsOf(text), strings.FieldsFunc(text, between)...) {
		p.live[strings.Trim(name, "/+^#")] = true
	}
}

// asked reports whether one of a part's names is asked for, also in short or with what runs before and after it.
func (p *partsReader) asked(t *part) bool {
	return slices.ContainsFunc(t.names, func(name string) bool {
		_, base, _ := strings.Cut(name, ":")
		short := func(w string) bool { return w != "" && p.language != "" && abbreviates(w, name) }
		of := func(when string) bool { return p.live[strings.TrimLeft(strings.TrimPrefix(name, when), "_")] }
		return slices.ContainsFunc(p.words, short) || p.live[name] || base != "" && p.live[base] || of("pre") || of("post")
	})
}

// abbreviates reports whether a word may stand for a name: pR for publishRelease.
func abbreviates(word, name string) bool {
	if word[0] != name[0] {
		return false
	}
	for _, c := range word {
		at := strings.IndexRune(name, c)
		if at < 0 {
			return false
		}
		name = name[at+1:]
	}
	return true
}

// choose keeps the parts that are asked for, and those that they mention.
func (p *partsReader) choose(all bool) {
	for again := true; again && p.spends(len(p.parts)); {
		again = false
		for _, t := range p.parts {
			if !t.kept && (all || len(t.names) == 0 || p.asked(t)) {
				t.kept, again = true, true
				if len(t.names) > 0 || t.lines != nil { // what else is in a tree names nothing
					p.mentions(t)
				}
			}
		}
	}
}

// mentions records the names in a part.
func (p *partsReader) mentions(t *part) {
	if t.lines != nil {
		p.asks(strings.Join(t.own, "\n"))
		return
	}
	for _, s := range leaves(t.node) {
		p.asks(s)
	}
}

func (p *partsReader) split(file, text string) {
	var tree map[string]any
	if (wordclass.Is("tree-ending", path.Ext(file)) || settings.IsTOML(file)) && p.form == nil && p.parsed(file, text, &tree) && tree != nil {
		p.tree(file, text, "", tree)
		return
	}
	all := p.lines(text)
	for i := 0; i < len(all); {
		end, names := i+1, p.names(all, i)
		if names != nil {
			end = endOf(all, i)
			if p.form.name != nil {
				names = lists.Each(p.form.name.FindAllStringSubmatch(strings.Join(all[i:end], "\n"), -1), func(m []string) string { return m[1] })
			}
		}
		p.parts = append(p.parts, &part{file: file, text: text, names: names, own: all[i:end], lines: []int{i, end}})
		i = end
	}
}

// names returns the names of the part that begins in a line, and nil if none begins there.
func (p *partsReader) names(all []string, at int) []string {
	if p.form == nil || !p.spends(len(all[at])) {
		return nil
	}
	m := p.form.head.FindStringSubmatch(all[at])
	if m == nil || slices.Contains(p.keys, m[len(m)-1]) {
		return nil
	}
	return append([]string{}, strings.Fields(strings.Join(m[1:], " "))...)
}

// endOf returns the index of the line after the part that begins in a line: it ends before the next line not indented more, except one that only closes it.
func endOf(all []string, from int) int {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
	section := strings.HasPrefix(all[from], "[")
	for i := from + 1; i < len(all); i++ {
		rest := strings.TrimSpace(all[i])
		switch closes := rest != "" && strings.Contains(")}]", rest[:1]); {
		case rest == "" || indent(all[i]) > indent(all[from]) || section && rest[0] != '[':
		case closes && !section:
			return i + 1
		default:
			return i
		}
	}
	return len(all)
}

// tree finds the parts of a tree. Without keys, all of it is one.
func (p *partsReader) tree(file, text, key string, node any) {
	byName := slices.Contains(p.keys, key)
	add := func(node any, names ...string) {
		p.parts = append(p.parts, &part{file: file, text: text, names: names, node: node})
	}
	if len(p.keys) == 0 {
		add(node)
		return
	}
	switch n := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n)) {
			if byName {
				add(n[name], name)
			} else {
				p.tree(file, text, name, n[name])
			}
		}
	case []any:
		for _, e := range n {
			m, _ := e.(map[string]any)
			if name, ok := m["name"].(string); ok && byName {
				add(m, name)
			} else {
				p.tree(file, text, "", e)
			}
		}
	}
}

// leaves returns the texts in a tree. Those of a list may also be the words of one command, and so may what stands beside it as its program.
func leaves(node any) (all []string) {
	switch n := node.(type) {
	case string:
		return []string{n}
	case []any:
		if words := texts(n); len(words) > 1 && !strings.Contains(words[0], " ") { // else they are lines
			all = append(all, words[0]+" "+quoted(words[1:]...))
		}
		all = append(all, lists.All(n, leaves)...)
	case map[string]any:
		if program, ok := n["command"].(string); ok && n["args"] != nil {
			words, _ := n["args"].(string)
			list, _ := n["args"].([]any)
			all = append(all, program+" "+words+" "+quoted(texts(list)...))
		}
		all = append(all, lists.All(slices.Sorted(maps.Keys(n)), func(name string) []string { return leaves(n[name]) })...)
	}
	return all
}

// run adds what may be commands in the parts of a file that are kept.
func (p *partsReader) run(file, text string) {
	all, lines := p.lines(text), false
	for _, t := range p.parts {
		switch {
		case t.file != file:
		case t.lines != nil:
			lines = true
			p.leave(t, all[t.lines[0]:t.lines[1]])
		case t.kept:
			p.leaf(t)
		}
	}
	if !lines {
		return
	}
	kept, from := p.set(text+gradleFolders, strings.Join(all, "\n")), len(p.tasks)
	p.commands(file, kept)
	p.calls(file, kept)
	for i := range p.tasks[from:] { // a line that was parted counts as one
		p.tasks[from+i].Line -= strings.Count(strings.Join(all[:p.tasks[from+i].Line-1], ""), "\f")
	}
	if p.language == "" {
		return
	}
	if p.runsOf == nil {
		p.runsOf = map[string]string{}
	}
	p.runsOf[file] = kept
	p.add(file, 1, p.language, kept)
}

// leave clears a part's lines, if it does not run or not on this machine, and adds the scripts that others name.
func (p *partsReader) leave(t *part, own []string) {
	switch {
	case !t.kept, p.form != nil && !strings.Contains(strings.Join(own, "\n"), p.form.here):
		for i, line := range own {
			own[i] = line[len(strings.TrimRight(line, "\f")):]
		}
	case p.form != nil && p.form.name != nil && len(t.names) > 0:
		p.scripts(t.file, own)
	case p.of != "" && len(t.names) > 0:
		for i, line := range own {
			name := p.form.head.FindString(line)
			own[i] = name + p.tasksIn(line[len(name):])
		}
	}
}

// leaf adds what may be commands in a part of a tree.
func (p *partsReader) leaf(t *part) {
	for _, s := range leaves(t.node) {
		first, _, _ := strings.Cut(s, " '")
		for _, l := range settings.Lines(s) {
			lines := p.reader.commandsIn(l.Text)
			if word, _, more := strings.Cut(setBefore.ReplaceAllString(l.Text, ""), " "); p.reader.begins(word, more) {
				lines = []string{l.Text}
			}
			for _, line := range lines {
				p.addFrom(t.file, t.text, first, line)
			}
		}
	}
}

// setBefore matches the variables that are set for a command.
var setBefore = regexp.MustCompile(`^(?:\w+=\S*[ \t]+)+`)

// scripts adds the scripts that a rule names: sh_binary(srcs = ["x.sh"]).
func (p *partsReader) scripts(file string, rule []string) {
	for _, name := range partsOf(strings.Join(rule, " ")) {
		if ext := path.Ext(name); ext == ".sh" || ext == ".bash" {
			if script, text, ok := p.content(path.Join(path.Dir(file), name)); ok && p.once(script) {
				p.code(script, "sh", text)
			}
		}
	}
}

// set returns a text with its variables replaced by all that the file sets them to, or by their names.
func (p *partsReader) set(file, text string) string {
	if p.form == nil || p.form.variable == nil {
		return text
	}
	const most = 50 // values of one variable
	values := map[string][]string{}
	for _, m := range madeEqual.FindAllStringSubmatch(file, -1) {
		if all := values[m[1]]; len(all) < most && !slices.Contains(all, m[2]) {
			values[m[1]] = append(all, m[2])
		}
	}
	return p.form.variable.ReplaceAllStringFunc(text, func(name string) string {
		name = strings.Trim(name, "${}")
		name = name[strings.LastIndexByte(name, '.')+1:]
		if all := strings.Join(values[name], " "); all != "" && p.spends(len(all)) {
			return all
		}
		return name
	})
}

// gradleFolders sets the variables of the folders that gradle always has.
const gradleFolders = "\nprojectDir = .\nrootDir = .\nbuildDir = build"

// madeEqual matches a line that sets a variable.
var madeEqual = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*(.*)$`)
