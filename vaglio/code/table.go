package code

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/imports"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/code/unfold"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

//go:embed verbs.txt
var verbsText string

// language says what programs in a language look like and what their functions do.
type language struct {
	name     string
	comments []string
	// concat lists the operators that join texts; sigils are the marks that begin names; fills begins an expression inside a string, document a here-document.
	concat                  []string
	sigils, fills, document string
	flags                   []string
	tests                   string   // what a program holds if a runner of tests calls its functions
	runs                    []string // what runs a file of it
	// full holds functions by full name, tail by last name after anything, method on a path or an unknown object, path on a path.
	full, tail, method, path map[string]*function
	alias                    map[string]string
	runners                  map[string]bool // modules with functions that run what they are given
	imports                  *imports.Finder // nil where nothing is known of them
	options                  optionRules
}

// function says what a function does.
type function struct {
	verb string // a shell.Verb, a verb that is read further, or "=" and an operation
	// args are the targets, counted from 0; if from is not negative, all arguments from there on are, too.
	args []int
	from int
	// method says that the function's object is its first argument.
	method bool
	// text replaces the targets: a fixed target, or the separator and the end of what is printed.
	text string
}

func (l *language) has(flag string) bool  { return slices.Contains(l.flags, flag) }
func (l *language) keeps(src string) bool { return l.has("records") && !strings.Contains(src, l.tests) }

// find returns what a function does by its full name; on says what kind of object it is a method of, "" if none.
func (l *language) find(name, on string) *function {
	at := strings.LastIndexByte(name, '.')
	last := name[at+1:]
	if f := l.path[last]; f != nil && on == onPath {
		return f
	}
	if f := l.full[name]; f != nil {
		return f
	}
	if at > 0 {
		if f := l.tail[name[strings.LastIndexByte(name[:at], '.')+1:]]; f != nil {
			return f
		}
	}
	if f := l.method[last]; f != nil && (on == onPath || on == onUnknown) {
		return f
	}
	return l.tail[last]
}

// The kinds of objects that a method may have.
const (
	onPath    = "path"
	onText    = "text"
	onUnknown = "unknown"
)

// table is what is known about all languages.
type table struct {
	languages map[string]*language
	pures     map[string]pure
	further   map[string]further
}

func parseTable(text string) (*table, error) {
	out := &table{languages: map[string]*language{}, pures: pures(), further: furtherVerbs()}
	if err := rows.Read("verbs.txt", text, out.parseLine); err != nil {
		return nil, err
	}
	return out, rows.Read("options.txt", optionsText, out.parseOptions)
}

func (t *table) parseLine(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	lang := t.languages[name]
	if lang == nil {
		lang = &language{name: name, alias: map[string]string{}, runners: map[string]bool{}, runs: []string{name}}
		for _, m := range []*map[string]*function{&lang.full, &lang.tail, &lang.method, &lang.path} {
			*m = map[string]*function{}
		}
		t.languages[name] = lang
	}
	if rest, ok := strings.CutPrefix(rest, "syntax "); ok {
		return lang.syntax(strings.Fields(rest))
	}
	if rest, ok := strings.CutPrefix(rest, "comments: "); ok {
		lang.comments = strings.Fields(rest)
		return nil
	}
	head, names, ok := strings.Cut(rest, ": ")
	if !ok {
		return rows.Wrong(line, "no colon in %q", line)
	}
	verb, targets, _ := strings.Cut(head, " ")
	if verb == "alias" {
		for n := range strings.FieldsSeq(names) {
			lang.alias[n] = targets
		}
		return nil
	}
	f, err := t.parseFunction(verb, strings.TrimSpace(targets))
	if err != nil {
		return err
	}
	for n := range strings.FieldsSeq(names) {
		lang.add(n, f)
	}
	return nil
}

func (l *language) add(name string, f *function) {
	if n, ok := strings.CutPrefix(name, "Path."); ok && l.full["Path"] == nil {
		l.path[n] = f
		l.full["pathlib."+name] = f
		return
	}
	switch rest, _ := strings.CutPrefix(name, "@."); {
	case rest != name:
		l.method[rest] = f
	case strings.HasPrefix(name, "~."):
		g := *f
		g.method = true
		l.tail[name[2:]] = &g
	case name[0] == '.':
		l.tail[name[1:]] = f
	default:
		l.full[name] = f
		if at := strings.LastIndexByte(name, '.'); at > 0 && slices.Contains([]string{"shell", "exec", "eval"}, f.verb) {
			l.runners[name[:at]] = true
		}
	}
}

func (l *language) syntax(words []string) error {
	for _, w := range words {
		key, value, ok := strings.Cut(strings.TrimSuffix(w, ":"), "=")
		switch {
		case !ok && key != "":
			l.flags = append(l.flags, key)
		case key == "concat":
			l.concat = append(strings.Split(value, ","), join)
		case key == "sigils":
			l.sigils = value
		case key == "fills":
			l.fills = value
		case key == "document":
			l.document = value
		case key == "records":
			l.flags, l.tests = append(l.flags, key), value
		case key == "runs":
			l.runs = strings.Split(value, ",")
		case key != "":
			return rows.Wrong(w, "unknown setting %q", w)
		}
	}
	return nil
}

func (t *table) parseFunction(verb, targets string) (*function, error) {
	f := &function{verb: strings.ReplaceAll(verb, "_", " "), from: -1}
	if err := t.checkVerb(verb, f.verb); err != nil {
		return nil, err
	}
	if f.verb == "print" || targets != "" && (targets[0] == '=' || targets[0] == '\\') {
		f.text = strings.NewReplacer(`\s`, " ", `\n`, "\n", `\t`, "\t").Replace(strings.TrimPrefix(targets, "="))
		return f, nil
	}
	for word := range strings.SplitSeq(targets, ",") {
		if targets == "" {
			break
		}
		number, all := strings.CutSuffix(word, "-")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 && verb[0] != '=' {
			return nil, rows.Wrong(word, "%q is not a target", word)
		}
		if all {
			f.from = n - 1
		} else {
			f.args = append(f.args, n-1)
		}
	}
	return f, nil
}

// checkVerb refuses a verb that nothing reads; verb is its spelling in the table, known the engine's.
func (t *table) checkVerb(verb, known string) error {
	if op, ok := strings.CutPrefix(verb, "="); ok && t.pures[op] == nil {
		return rows.Wrong(op, "unknown operation %q", op)
	} else if !ok && known != "program" && t.further[known] == nil && !slices.Contains(verbs(), shell.Verb(known)) {
		return rows.Wrong(verb, "unknown verb %q", verb)
	}
	return nil
}

// verbs are those that need no further reading.
func verbs() []shell.Verb {
	return []shell.Verb{
		shell.VerbDelete, shell.VerbDeleteTree, shell.VerbWrite, shell.VerbAppend, shell.VerbRead, shell.VerbList, shell.VerbPermissions,
		shell.VerbMove, shell.VerbCopy, shell.VerbLink, shell.VerbCreate, shell.VerbEnter, shell.VerbKill, shell.VerbFork, shell.VerbNetwork, shell.VerbSend,
		shell.VerbClient, shell.VerbEnvironment,
	}
}

// unfolds returns what a function does to files, for languages that are not followed.
func (p *program) unfolds(name string) unfold.Kind {
	f := p.looseFind(name)
	switch {
	case f == nil:
		return unfoldsMethod(p.lang.method[name[strings.LastIndexAny(name, ".:")+1:]])
	case f.verb == "=temp" && f.args != nil:
		return unfold.Temp
	case f.verb[0] == '=':
		return unfold.Makes
	case f.actsOnFiles() && len(f.args) < 2:
		return unfold.First
	case f.actsOnFiles():
		return unfold.Acts
	}
	return unfold.None
}

// unfoldsMethod is [program.unfolds] for what a method does to its object; there may be none.
func unfoldsMethod(method *function) unfold.Kind {
	switch {
	case method == nil || !method.actsOnFiles():
		return unfold.None
	case method.verb == "delete tree" || len(method.args) > 1:
		return unfold.Below
	default:
		return unfold.Object
	}
}

// actsOnFiles reports whether a function deletes, writes or reads what it is given.
func (f *function) actsOnFiles() bool {
	return f.verb == "delete tree" || f.verb == "write" || f.verb == "read"
}

// onePath returns the texts of a call that names one file: the steps of its path, or the first of them.
func (p *program) onePath(texts []shell.Word) []shell.Word {
	if !p.lang.has("unfolds") {
		return texts[:1]
	}
	whole := texts[0]
	for _, w := range texts[1:] {
		if whole = shell.Glue(whole, shell.Text("/"), w); strings.HasPrefix(w.Prefix(), "/") { // it begins anew
			whole = w
		}
	}
	return []shell.Word{whole}
}

// tempStep returns the folder for temporary files as a step to what the next text names below it.
func tempStep() shell.Word { return shell.Text("/tmp/.") }

// stepTo returns the folder that a function stands for, as a step.
func (p *program) stepTo(f *function) []shell.Word {
	switch {
	case f.verb == "=home":
		return []shell.Word{p.homeStep()}
	case f.verb == "=cwd":
		return shell.Texts([]string{"."})
	case f.verb == "=temp" && f.args != nil:
		return []shell.Word{tempStep()}
	case f.verb == "=temp":
		return shell.Texts([]string{"/tmp/new/."})
	case f.verb == "=fresh": // a name that nothing has yet
		return []shell.Word{freshName()}
	}
	return nil
}

// maybePath matches a text that may be the name of a file rather than what is put into one: it has no blanks, or says where it leads.
var maybePath = regexp.MustCompile(`^[/~.]|^[^\s]*[/.~][^\s]*$`)

// looseWrite records a call that writes; which of its texts it writes to depends on the function.
func (p *program) looseWrite(f *function, name string, texts []shell.Word) {
	if p.lang.has("unfolds") && len(f.args) < 2 {
		texts = p.onePath(texts)
	}
	texts = slices.DeleteFunc(texts, func(w shell.Word) bool { return !maybePath.MatchString(w.Prefix()) })
	if p.emit(name, shell.VerbWrite, texts...); p.dumps(name) && len(texts) == 1 {
		p.step(shell.ProgramStep{File: texts[0], Write: shell.Text(shell.Dumped), Writes: true})
	}
}

// looseWords reads a call that runs a program and its words, and reports whether it runs nothing else.
func (p *program) looseWords(name string, texts []shell.Word) bool {
	line := len(texts) == 2 && p.lang.has("wordline") // a program, and all of its words in one text
	if !line {
		p.argv(texts)
	}
	args := texts[1].Prefix() // or what is joined to a beginning, or the program's words
	if line = line || strings.HasSuffix(texts[0].Suffix(), " ") || strings.HasPrefix(args, "-") && strings.Contains(args, " "); line {
		p.shell(p.spaced(texts, " "), name)
	}
	return line
}

func openVerb(mode string) shell.Verb {
	switch {
	case strings.Contains(mode, "APPEND") || strings.HasPrefix(mode, "a") || strings.HasPrefix(mode, ">>"), slices.Contains([]string{"+<", "r+", "r+b"}, mode):
		return shell.VerbAppend
	case strings.HasPrefix(mode, ">") || strings.HasPrefix(mode, "+"), strings.ContainsAny(mode, "wx+") && !strings.Contains(mode, "RDONLY"),
		strings.Contains(mode, "WR"), strings.Contains(mode, "TRUNC"):
		return shell.VerbWrite
	}
	return shell.VerbRead
}

// restores reads a call that makes objects of what a file holds, which may run code that the file names: always, with
// the option that the table says, or unless that is given.
func (p *program) restores(f *function, name string, args []value, named map[string]value) value {
	option, unless := strings.CutPrefix(f.text, "!")
	_, given := optionOf(args, named, option)
	if len(args) == 0 {
		args = f.targets(p, nil, named)
	}
	file := first(args)
	if _, held := contentOf(file.word()); !held {
		file = p.content(file)
	}
	switch {
	case f.text != "" && given == unless:
	case f.text == "" && len(f.args) == 0: // nothing here has it
		p.gap(remote(name).word())
	default:
		p.thaws(file, false)
	}
	return unknown(name + "()")
}

// thaws reads what makes objects of a text: one that is a file's, or comes from elsewhere, may run code; with all, every other one that is not known may, too.
func (p *program) thaws(v value, all bool) value {
	for _, w := range v.words() {
		switch file, is := contentOf(w); {
		case is:
			p.script(file)
		case strings.HasPrefix(w.String(), "$(cat "):
			if p.later == 0 { // if later, the callers say whose file
				p.problem(shell.ProblemDynamicCode, wording.Say(shell.RestoresUnnamed, p.lang.name), w)
			}
		case all, w.Remote():
			p.gap(w)
		}
	}
	return unknown("loads()")
}

// pickle reads the call inside a serialized object. Of any other object nothing is known.
func pickle(p *program, v value, _ []value) value {
	s, _ := v.text()
	if m := serialised.FindStringSubmatch(s); m != nil {
		return p.call(unknown(strings.Trim(m[1]+m[2]+"."+m[3], ".")), value{}, []value{text(strings.Trim(m[4], ` []"'-`))})
	}
	return p.thaws(v, true)
}

// runTask runs a task of a framework, as its own program would.
func (p *program) runTask(f *function, _ string, args []value, _ map[string]value) value {
	if p.later == 0 || !p.in.File { // tests make their databases anew
		p.argv(append(shell.Texts(strings.Fields(f.text)), listOf(withoutOptions(args)...).words()...))
	}
	return value{}
}

// loads reads a call that loads a compiled library, as the loader does that a variable tells to. One without a folder is the system's, and not known.
func (p *program) loads(f *function, name string, args []value, named map[string]value) value {
	for _, w := range listOf(f.targets(p, args, named)...).words() {
		if strings.Contains(w.String(), "/") {
			p.argv([]shell.Word{shell.Text("env"), shell.Glue(shell.Text("LD_AUDIT="), w), shell.Text("python3"), shell.Text("--version")})
		}
	}
	return unknown(name + "()")
}
