package code

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/code/unfold"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// loose reads a program in a language of which only the relevant calls are known.
func (p *program) loose(w shell.Word) {
	src := p.mark(w)
	if len(src) > maxText || !p.spend(len(src)/4) {
		p.problem(shell.ProblemTooBig, wording.Say("the program is longer than 1 MiB"), shell.Word{})
		return
	}
	if w.HasUnknown() {
		p.gap(w)
	}
	if p.lang.has("words") {
		p.words(joinedNames.ReplaceAllString(src, "source $1"), map[string]shell.Word{})
	} else {
		whole := true
		src = unfold.Requoted(src, p.lang.has)
		if p.lang.has("unfolds") && p.spend(len(src)/bytesPerStep) {
			src, whole = unfold.Source(src, p.unfolds)
		}
		p.single = !p.in.File && !strings.Contains(src, "\n")
		spelled := p.launched(unfold.Spelled(src))
		folders := []string(nil)
		if p.around.gets, folders = unfold.Surroundings(spelled); len(folders) > 0 {
			p.around.dirs = append([]shell.Word{shell.Text(".")}, shell.Texts(folders)...)
		}
		if p.looseCalls(spelled); !whole {
			p.problem(shell.ProblemUnread, wording.Say("the program does too much to be read in full"), shell.Word{})
		}
		p.around = surroundings{}
	}
}

// looseTokens matches the parts of a loose program: texts, names, and ends of statements. A line that begins with a dot continues the line before it.
var looseTokens = regexp.MustCompile(`(?s)"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\\n])*)'|` + "`((?:\\\\.|[^`\\\\])*)`" +
	`|([\w.:*!/\-\x{80}-\x{10ffff}]+)|(\n\s*\.)|([;\n])`)

// looseCalls reads calls: the texts after one, up to the end of the statement, are what it runs or removes.
func (p *program) looseCalls(src string) {
	var before []shell.Word // the texts that no call has taken yet
	var c openCall
	held := p.heldIn(src)
	p.records = p.lang.keeps(src) // tests have data of their own
	p.inside = sync.OnceValue(func() bool { return !leadsOut(src) })
	src += "\n"
	for _, at := range looseTokens.FindAllStringSubmatchIndex(src, p.left+1) {
		t := submatches(src, at)
		text, name, found := t[1]+t[2]+t[3], t[4], p.looseFind(t[4])
		if c.shut > 0 && at[0] > c.shut {
			p.looseCall(&c)
			before = append(before, c.texts...) // what is called on it may be for them
			c = openCall{}
			clear(held.taken) // another statement begins
		}
		switch {
		case !p.spend(1):
			return
		case c.shut > 0 && t[6] != "":
			continue
		case strings.IndexByte("\"'`", t[0][0]) >= 0:
			p.looseText(&c, &before, t[0][0], text)
			belowNamed(c.under, c.texts)
			continue
		case t[6] == "" && (found == nil || c.f != nil && found.verb[0] == '='):
			p.looseStep(&c, name, src[at[1]:], p.stepOf(name, found, held, c.f))
			continue
		}
		p.looseCall(&c)
		p.evaluates(found, name, src[at[1]:])
		c = openCall{f: found, name: name, shut: p.argumentsOf(found, src, at[1]), given: p.isGiven(found, src, at)}
		c.texts, before = p.calledOn(found, name, before)
		clear(held.taken) // another statement begins
	}
}

// looseHeld matches a name that is given a text, or a list of them.
var (
	looseHeld   = regexp.MustCompile(`(?:#define\s+(\w+)\s+|\b(\w+)\s*(?:\[\w*\])?\s*:?=\s*)[\[{(]?\s*((?:(?:` + heldText + `)[\s,]*)+)`)
	looseQuoted = regexp.MustCompile(heldText)
)

const heldText = `"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`

// heldTexts are the texts that the names of a loose program are given, wherever that is.
type heldTexts struct {
	texts map[string][]shell.Word
	taken map[string]bool
}

func (p *program) heldIn(src string) *heldTexts {
	const most = 64
	held := &heldTexts{texts: map[string][]shell.Word{}, taken: map[string]bool{}}
	for _, m := range looseHeld.FindAllStringSubmatch(src, most) {
		held.texts[m[1]+m[2]] = lists.Each(looseQuoted.FindAllString(m[3], most), func(q string) shell.Word { return p.unmark(unescape(q[1 : len(q)-1])) })
	}
	return held
}

// take returns what a name is given, once in each statement.
func (h *heldTexts) take(name string) []shell.Word {
	name = strings.Trim(name, "*.:!&")
	if h.taken[name] {
		return nil
	}
	h.taken[name] = true
	return h.texts[name]
}

// calledOn returns which of the texts before a call it is for, and which are for none yet.
func (p *program) calledOn(f *function, name string, before []shell.Word) (its, others []shell.Word) {
	switch {
	case f == nil:
		return nil, nil
	case p.lang.has("before") && len(before) > 0 && strings.ContainsAny(name[:1], ".!"): // what is called on them
		return before, nil
	default:
		return nil, before
	}
}

// looseText records a text, with the call that it is for or with the others, or runs it if its quote says so.
func (p *program) looseText(c *openCall, others *[]shell.Word, quote byte, text string) {
	to := others
	if c.f != nil {
		to = &c.texts
	}
	if quote == '`' && p.lang.has("backtick") {
		p.shell(p.unmark(text), "`")
		return
	}
	text = filledIn.ReplaceAllStringFunc(text, func(hole string) string {
		if f := p.looseFind(hole[2 : len(hole)-1]); f != nil && f.verb == "=folder" {
			return p.ownFolder()
		}
		return hole
	})
	w := p.unmark(unescape(strings.ReplaceAll(text, `\(`, `\\(`))) // which begins a value in Swift
	switch {
	case len(*to) > 0:
	case text == "HOME" || text == "USERPROFILE" || text == "user.home":
		w = p.homeStep()
	case text == "java.io.tmpdir":
		w = tempStep()
	}
	*to = append(*to, w)
}

// filledIn matches a name in a text, in whose place its value stands.
var filledIn = regexp.MustCompile(`\$\{[\w.]+\}`)

// looseFind returns what a name does. Names that begin with a dot match after anything, as any name does after a module's.
func (p *program) looseFind(name string) *function {
	if f := p.lang.tail[strings.TrimPrefix(name, ".")]; f != nil {
		return f
	}
	if method, ok := strings.CutPrefix(name, "*."); ok && p.lang.has("unfolds") {
		return p.lang.method[method]
	}
	name = strings.ReplaceAll(strings.ReplaceAll(strings.TrimRight(name, "!."), "::", "."), ":", ".")
	for name = name[max(0, len(name)-maxName):]; ; {
		f, at := p.lang.find(name, ""), strings.IndexAny(name, "./")
		if f != nil || at < 0 {
			return f
		}
		name = name[at+1:]
	}
}

// maxName is how long a name is that is looked up, without the modules that it begins with.
const maxName = 200

// looseCall records a call and its texts, if there is one and it has any.
func (p *program) looseCall(c *openCall) {
	f, name := c.f, c.name
	switch texts := steps(c.texts); {
	case f == nil || len(texts) == 0 && !c.given || f.verb[0] == '=':
	case f.verb == "delete tree":
		p.looseDelete(f, name, texts)
	case f.verb == "create", f.verb == "read":
		p.emit(name, shell.Verb(f.verb), p.onePath(texts)...)
	case f.verb == "open":
		p.emit(name, openVerb(append(texts, shell.Text("r"))[1].Prefix()), texts[0])
	case f.verb == "script", f.verb == "load", f.verb == "restore", f.verb == "eval":
		p.table.further[f.verb](p, f, name, []value{textOf(texts[0])}, nil)
	case f.verb == "write":
		p.looseWrite(f, name, texts)
	case len(texts) <= 1 || !p.looseWords(name, texts):
		p.shell(append(texts, unknownWord(name))[0], name) // unknown, if no text says it
	}
}

// isGiven reports whether a shell is given what no text may say, in a program of one line; at is where its name stands.
func (p *program) isGiven(f *function, src string, at []int) bool {
	return p.single && f != nil && f.verb == "shell" && givenName.MatchString(src[max(0, at[0]-1):min(len(src), at[1]+maxName)])
}

// givenName matches a call that is given a name, with what stands before it: call(name), (call name).
var givenName = regexp.MustCompile(`(?s)^(?:\([^\s()]+\s+[\w$@%*(]|.?[^\s()]+\s*\(\s*[\w$@%*])`)

// saidText matches what stands between a function that runs text and that text, or code in its place: another argument, the text's own name, functions.
var saidText = regexp.MustCompile("^[\\s(]*([\\w.]+\\s*,\\s*|\\w+\\s*=\\s*)?((?:[\\w.-]+[\\s(]+)*)[\"'`:{\\[]")

// evaluates notes a call that runs text which does not stand there in so many words, as it is or as functions return it.
func (p *program) evaluates(f *function, name, behind string) {
	if f == nil || f.verb != "eval" {
		return
	}
	m := saidText.FindStringSubmatch(behind[:min(len(behind), maxName)])
	if m == nil || f.args[0] > 0 && m[1] == "" || slices.ContainsFunc(strings.Fields(strings.ReplaceAll(m[2], "(", " ")), func(name string) bool {
		of := p.looseFind(name)
		return of == nil || of.verb != "=same"
	}) {
		p.gap(unknownWord(name))
	}
}

// looseDelete records a deletion of what one path or several name.
func (p *program) looseDelete(f *function, name string, texts []shell.Word) {
	if f.from < 0 {
		texts = p.onePath(texts)
	}
	for _, w := range texts {
		p.emit(name, shell.VerbDeleteTree, w)
	}
}

// toFolder matches a path that ends with a step to a folder.
var toFolder = regexp.MustCompile(`(^|/)\.\.?$`)

// steps joins . and .. with the texts behind them: they are steps of one path.
func steps(texts []shell.Word) (out []shell.Word) {
	for _, w := range texts {
		if n := len(out) - 1; n >= 0 && toFolder.MatchString(out[n].Prefix()) {
			if out[n] = shell.Glue(out[n], shell.Text("/"), w); strings.HasPrefix(w.Prefix(), "/") { // it begins anew
				out[n] = w
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// statements matches the statements of a program whose statements consist of words. looseWords matches words: a text in braces or quotes is one.
var (
	statements = regexp.MustCompile(`(?:` + braced + `|"(?:\\.|[^"\\])*"|[^\n;\[\]{}"])+`)
	looseWords = regexp.MustCompile(braced + `|"(?:\\.|[^"\\])*"|[^\s{}"]+`)
	// joinedNames matches the name of a file that a program puts together, as [file join $dir x.tcl] does.
	joinedNames = regexp.MustCompile(`(?m)\bsource\s+\[[^;\n]*?([\w./-]+\.\w+)[\]\s]*$`)
)

const braced = `\{(?:[^{}]|\{[^{}]*\})*\}`

// words reads a program whose statements consist of words, as in tcl.
func (p *program) words(src string, vars map[string]shell.Word) {
	set := "" // the variable that the next statement's value is for
	for _, stmt := range statements.FindAllString(src, -1) {
		words := p.wordsOf(stmt, vars)
		if !p.spend(1+len(words)) || len(words) < 2 {
			continue
		}
		split := strings.Contains(stmt, "{*}") // its words are split once more
		if words[0].Is("eval") {
			if split, words = true, words[1:]; words[0].HasUnknown() {
				p.gap(words[0])
			}
		}
		sets := false
		if set, sets = p.setsVariable(words, set, vars); !sets && (len(words) < 2 || !p.wordCall(words, split)) {
			p.blocks(stmt, vars)
		}
	}
}

// setsVariable reports whether a statement sets a variable, or the one that the statement before it
// is to set. It returns the variable that the next statement's value is for.
func (p *program) setsVariable(words []shell.Word, waits string, vars map[string]shell.Word) (next string, ok bool) {
	switch {
	case words[0].Is("list") && waits != "":
		vars[waits] = p.spaced(words[1:], " ")
	case words[0].Is("set") && len(words) == 2:
		return words[1].String(), true
	case words[0].Is("set") && len(words) > 2:
		vars[words[1].String()] = words[2]
		p.wordSet(words[1].String(), words[2])
	default:
		return "", false
	}
	return "", true
}

// blocks reads the texts in a statement that may be programs.
func (p *program) blocks(stmt string, vars map[string]shell.Word) {
	for _, inner := range looseWords.FindAllString(stmt, -1) {
		if strings.ContainsAny(inner[:1], `{"`) && strings.ContainsAny(inner, " \t\n") {
			p.words(inner[1:len(inner)-1], vars)
		}
	}
}

// wordCall reads a statement that calls a function of the table; false if it does not.
func (p *program) wordCall(words []shell.Word, split bool) bool {
	name := words[0].String()
	switch f, pair := p.lang.full[name], p.lang.full[name+"."+words[1].String()]; {
	case f != nil && f.verb == "open":
		p.wordOpen(name, words[1:])
	case f != nil && f.verb == "script":
		p.script(words[len(words)-1])
	case f != nil && split:
		p.shell(p.spaced(words[1:], " "), name)
	case f != nil:
		p.argv(words[1:])
	case pair != nil:
		for _, w := range words[2:] {
			if !strings.HasPrefix(w.Prefix(), "-") {
				p.emit(name, shell.Verb(pair.verb), w)
			}
		}
	default:
		return false
	}
	return true
}

// wordSet notes a variable that is one of the environment, as env(PATH) is in tcl.
func (p *program) wordSet(name string, value shell.Word) {
	if of, ok := strings.CutPrefix(name, "env("); ok && value.Prefix() != "" {
		p.export(shell.Assign{Name: strings.TrimSuffix(of, ")"), Value: value})
	}
}

func (p *program) wordsOf(stmt string, vars map[string]shell.Word) (out []shell.Word) {
	for _, f := range looseWords.FindAllString(stmt, -1) {
		inBraces := f[0] == '{'
		if f == "{*}" || inBraces && len(f) == 2 {
			continue
		}
		if inBraces || f[0] == '"' {
			f = f[1 : len(f)-1]
		}
		w := p.unmark(f)
		if name, ok := strings.CutPrefix(f, "$"); ok && !inBraces {
			if w, ok = vars[name]; !ok {
				w = unknownWord(name)
			}
		} else if !inBraces {
			w = p.expanded(p.unmark(unescape(f)))
		}
		out = append(out, w)
	}
	return out
}

// wordOpen reads the opening of a file, or of a command after a bar.
func (p *program) wordOpen(name string, rest []shell.Word) {
	if cmd, ok := strings.CutPrefix(rest[0].Prefix(), "|"); ok {
		p.shell(p.spaced(append([]shell.Word{shell.Text(cmd)}, rest[1:]...), " "), name)
		return
	}
	p.emit(name, openVerb(append(rest, shell.Text("r"))[1].Prefix()), rest[0])
}

// addressSet returns the address that a call sets for a later request, "" if it is not known, none if it sets none.
func addressSet(args []value, named map[string]value) []string {
	to, ok := optionOf(args, named, "CURLOPT_URL")
	if nth(args, 1).path == "CURLOPT_URL" {
		to, ok = nth(args, 2), true
	}
	if said, _ := to.text(); ok {
		return []string{said}
	}
	return nil
}

// looseRecord notes what may change what an application keeps, by its name: a call, or a function that is handed on as &Repo.delete/1 is.
func (p *program) looseRecord(name string) {
	name, _, _ = strings.Cut(name, "/")
	if name = strings.TrimRight(name, "!"); p.records && p.mayChangeBy(name[strings.LastIndexByte(name, '.')+1:]) {
		p.calls(shell.Call{Function: name, Verb: shell.VerbClient})
	}
}
