package code

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/dial"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// library records a call of something from a library: of a program with the call's name, or of a
// service that the call changes. Functions that are called later, if ever, change nothing yet.
func (p *program) library(name string, args []value) {
	plain, named := splitNamed(args)
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	switch {
	case p.runsNamed(name, last, plain, named) || (p.later == 0 || !p.in.File) && p.sends(name, last, plain, named):
	case p.later > 0 && p.in.File, p.queries(name, last, plain, named), !p.taken(name):
	case last == "send" && strings.HasSuffix(first(plain).path, "Command()"): // the command was read by itself
	case p.mayChangeBy(last):
		p.calls(shell.Call{Function: name, Verb: shell.VerbClient, Given: given(plain, named), Of: p.madeOf(name)})
	}
}

// queries records a call that takes a statement by its name, or is given one that changes something, for a connection
// that may have been made elsewhere: mysqli_query($db, "DELETE …"), client.query({text: "DELETE …"}).
func (p *program) queries(name, last string, plain []value, named map[string]value) bool {
	taken := p.taken(name) || p.lang.name == "php" && !strings.HasPrefix(name, "$")
	text, takes := first(plain).word(), taken && wordclass.Is("client-statement", last)
	if w, changes := changeAmong(last, plain, named); changes && (taken || !p.in.File) {
		text, takes = w, true
	}
	if takes && (!p.in.File || text.IsUnknown() && p.in.Path == "" || wordclass.Within("changing-statement", strings.ToLower(text.Prefix()))) {
		p.calls(shell.Call{Function: name, Verb: shell.VerbClient, Targets: []shell.Word{text}, Of: p.madeOf(name)})
	}
	return takes
}

// changeAmong returns the statement that changes something among what a function is given that may take one, by its name.
func changeAmong(last string, plain []value, named map[string]value) (statement shell.Word, ok bool) {
	if last == "sql" || strings.HasSuffix(last, ")") || wordclass.Within("statement-call", last) {
		for _, w := range given(plain, named) {
			if verb, of, _ := strings.Cut(w.Prefix(), " "); of != "" && wordclass.Is("changing-statement", strings.ToLower(verb)) {
				return w, true
			}
		}
	}
	return shell.Word{}, false
}

// noteOf notes the one text, or the address, that a library's function was given, unless that differs from before.
func (p *program) noteOf(result string, args []value) {
	plain, named := splitNamed(args)
	addresses := slices.DeleteFunc(slices.Clone(plain), func(a value) bool {
		said, _ := a.text()
		return len(args) != 1 && !strings.ContainsAny(said, ":=")
	})
	text, _ := first(addresses).text()
	var fields []string
	options := wordclass.Kinds("connection")
	for _, of := range slices.Sorted(maps.Keys(options)) {
		if said, ok := optionOf(plain, named, options[of]...); ok {
			told, _ := said.text()
			fields = append(fields, of+"="+told)
		}
	}
	text = cmp.Or(strings.Join(fields, " "), text)
	if was, seen := p.of[result]; seen && was != text {
		text = ""
	}
	p.of[result] = text
}

// madeOf returns what each function whose result a name goes on from was given, "" if it is not known.
func (p *program) madeOf(name string) (out []string) {
	for i := range len(name) + 1 {
		if strings.HasSuffix(name[:i], ")") {
			out = append(out, p.of[name[:i]])
		}
	}
	return out
}

// given returns the arguments of a method as the words of a command.
func given(plain []value, named map[string]value) []shell.Word {
	out, options := listOf(withoutOptions(plain)...).words(), map[string]value{}
	for _, a := range plain {
		maps.Copy(options, a.fields())
	}
	maps.Copy(options, named)
	for _, key := range slices.Sorted(maps.Keys(options)) {
		out = append(append(out, shell.Text("--"+key)), listOf(options[key]).words()...)
	}
	return out
}

// anyLibrary records a call on an unknown object in a program that is not a file: the object may belong to any module that the program imports.
func (p *program) anyLibrary(on value, name string, args []value) {
	name = p.canonical(name)
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	var words []shell.Word
	if wordclass.Is("client-statement", last) {
		words = append(words, first(args).word())
	}
	own := on.given() && wordclass.Is("client-verb", last) // lists and texts have methods with such names
	if p.in.File || own || p.taken(name) || words == nil && !wordclass.Within("client-verb", last) {
		return
	}
	for _, module := range slices.Sorted(maps.Keys(p.modules)) {
		p.emit(module+shell.AnyOf+"."+last, shell.VerbClient, words...)
	}
}

// runsNamed reads a call that, judging by its name, runs a program, or runs its arguments if they begin with a known program.
func (p *program) runsNamed(name, last string, plain []value, named map[string]value) bool {
	program := p.programWords(name)
	if program == nil && last != "push" && !wordclass.Within("spawn-verb", last) {
		return false
	}
	words := listOf(plain...).words()
	switch {
	case program == nil && last == "push" && named["force"].kind == kindOther:
		program = []shell.Word{shell.Text("git"), shell.Text("push"), shell.Text("--force")}
	case program != nil:
		defer p.surroundings(plain, named)()
		for _, option := range slices.Sorted(maps.Keys(named)) {
			if option[0] != '_' { // how it runs
				words = append(words, shell.Text("--"+strings.ReplaceAll(option, "_", "-")))
			}
		}
	case last == "push" || !harms(words):
		return false
	}
	p.argv(append(program, words...))
	return true
}

// harms reports whether words begin with a program whose arguments say what it changes or fetches.
func harms(words []shell.Word) bool {
	return len(words) > 1 && slices.ContainsFunc([]string{"takes-words", "acts-on-system", "fetches"}, func(class string) bool {
		return wordclass.Is(class, words[0].String())
	})
}

// taken reports whether a name begins with that of a module that the program imports, or with one that it has from where it runs.
func (p *program) taken(name string) bool {
	head, lang, last := name[:max(strings.IndexAny(name, ".("), 0)], p.lang.name, name[strings.LastIndexByte(name, '.')+1:]
	upper := "A" <= head && head < "[" && slices.Contains([]string{"ruby", "php", "perl"}, lang)
	_, own := p.vars[head]
	return p.modules[head] || head != "" && p.classes[head] == nil && (lang == "go" || upper || !p.in.File && !own && p.fns[head] == nil && p.fns[last] == nil)
}

// programWords returns a program and its first words, from a name below a library whose functions are called like programs.
func (p *program) programWords(name string) (words []shell.Word) {
	for i := range name {
		if name[i] != '.' {
			continue
		}
		if f := p.lang.full[name[:i]]; f != nil && f.verb == "program" && !strings.Contains(name[i:], "(") {
			for part := range strings.SplitSeq(f.text+name[i:], ".") {
				if part != "" {
					words = append(words, shell.Text(strings.ReplaceAll(part, "_", "-")))
				}
			}
			return words
		}
	}
	return nil
}

// made returns the result of a library function, which may concern only this machine.
func made(name string, args []value) value {
	if slices.ContainsFunc(listOf(args...).words(), func(w shell.Word) bool { return wordclass.Within("this-machine", w.Prefix()) }) {
		return unknown(name + "(localhost)")
	}
	return unknown(name + "()")
}

// sends records a call that sends something to an address, first or behind HTTP's method. A queue may put one in, a map delete it, alone.
func (p *program) sends(name, method string, plain []value, named map[string]value) bool {
	to, library := plain, strings.Split(name, ".")[0]
	if said, _ := first(plain).text(); strings.HasSuffix(strings.ToLower(method), "request") && dial.Method(said) != "" {
		to, method = plain[1:], "post"
	}
	if method != "post" && (dial.Method(method) == "" || len(plain)+len(named) < 2) || !slices.ContainsFunc(first(to).words(), dial.IsAddress) ||
		wordclass.Is("answers-requests", library) { // it says what a test is answered
		return false
	}
	p.request(name, shell.VerbSend, to[:1], plain, named)
	return true
}

// request records a call that connects to an address. It sends something if there is a method that does.
func (p *program) request(name string, verb shell.Verb, targets, args []value, named map[string]value) {
	call := shell.Call{Function: name, Verb: verb, Method: methodIn(name, args, named)}
	if call.Method != "" {
		call.Verb, call.Sends = shell.VerbSend, p.contained(args[min(len(targets), len(args)):], named)
	}
	targets = withoutOptions(targets)
	if v, ok := optionOf(args, named, "url", "hostname", "host"); ok && len(targets) == 0 {
		targets = []value{v}
	}
	call.Of = addressSet(args, named)
	p.falls(call, targets)
}

// contained returns the files whose content is among the arguments of a call.
func (p *program) contained(args []value, named map[string]value) (files []string) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		args = append(slices.Clip(args), named[name])
	}
	for _, w := range listOf(flattened(flattened(args))...).words() {
		said, _ := w.Text()
		file := p.held[said]
		for _, part := range w.Parts() {
			if name, ok := strings.CutPrefix(part.From, fileContent); ok {
				file = name
			}
		}
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// methodIn returns the HTTP method that a request's arguments, options or name say; what carries data without such a word is a POST.
func methodIn(name string, args []value, named map[string]value) string {
	option, _ := optionOf(args, named, "method")
	said, _ := option.text()
	method := cmp.Or(dial.Method(said), dial.Method(name))
	for _, v := range flattened(flattened(args)) {
		said, _ = v.text()
		if said = cmp.Or(v.path, said); said == strings.ToUpper(said) && !strings.Contains(said, "/") { // 'POST', CURLOPT_POST
			method = cmp.Or(dial.Method(said), method)
		}
	}
	_, carries := optionOf(args, named, "data", "json", "body", "files", "content")
	if carries || strings.HasSuffix(name, "urlopen") && len(args) > 1 && args[1].kind != kindNone {
		method = cmp.Or(method, "POST")
	}
	return method
}

// fieldsOf notes the folder and the environment that a program in go gives the command that it makes in this statement: c.Dir = ….
func (p *program) fieldsOf() {
	from, at := p.at, p.at
	for from > 0 && !p.toks[from-1].Is(";", "{", "}") {
		from--
	}
	if !p.tok(from+1).Is(":=", "=") {
		return
	}
	same := func(i int) bool { return p.toks[i].Word(p.toks[from].Text) }
	for i := at; i < len(p.toks) && p.spend(1) && (!same(i) || !p.tok(i+1).Is(":=", "=")); i++ {
		if same(i) && p.tok(i+1).Is(".") && p.tok(i+3).Is("=") {
			p.at = i + 4
			p.fieldOf(p.toks[i+2].Text)
		}
	}
	p.at = at
}

// assigns returns the variables that a value sets: a map, a list of names and values, or one text NAME=value.
func assigns(v value) (out []shell.Assign) {
	for i, e := range v.list {
		name, to := e.name, e.word()
		said, _ := e.text()
		set, whole, one := strings.Cut(said, "=")
		switch {
		case v.kind == kindMap && i < len(v.keys):
			name = v.keys[i]
		case name != "": // NAME="value"
		case len(v.list) == 1 && one:
			name, to = set, shell.Text(whole)
		case i+1 < len(v.list):
			name, to = said, v.list[i+1].word()
		}
		if envName.MatchString(name) {
			out = append(out, shell.Assign{Name: name, Value: to})
		}
	}
	return out
}

// fieldOf notes what a field of a command gets.
func (p *program) fieldOf(name string) {
	switch name {
	case "Dir":
		if v := p.expression(); v.word().Prefix() != "" {
			p.around.dirs = v.words()
		}
	case "Env":
		for _, t := range p.toks[p.at:p.until(p.at, func(i int) bool { return p.toks[i].Is(";") })] {
			if name, val, ok := strings.Cut(t.Text, "="); ok && t.Quoted() && envName.MatchString(name) {
				p.around.gets = append(p.around.gets, shell.Assign{Name: name, Value: shell.Text(val)})
			}
		}
	}
}

// starts records a command that the program runs, in each of the folders that it may run in.
func (p *program) starts(s shell.ProgramStep) {
	s.Loop, s.Perhaps = p.loop > 0, p.perhaps()
	if n := len(p.exports) + len(p.around.gets); n > 0 && p.spend(n) {
		s.Assigns = slices.Concat(p.exports, p.around.gets)
	}
	if s.Input = cmp.Or(s.Input, p.around.input); s.Input == nil && p.mayFeed() {
		s.Input = new(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: p.lang.name, MayBeEmpty: true}))
		p.started = &s
	}
	for i := range p.around.dirs {
		s.Dir = &p.around.dirs[i]
		p.step(s)
	}
	if len(p.around.dirs) == 0 {
		p.step(s)
	}
}

// mayFeed reports whether the program may write the input of what it starts. A shell that it starts
// may then be told anything. The text is searched once, however many commands it starts.
func (p *program) mayFeed() bool {
	if p.feeds == nil {
		p.feeds = new(writesInput.MatchString(p.src))
	}
	return *p.feeds
}

// writesInput matches what programs have that write the input of what they start.
var writesInput = regexp.MustCompile(`(?i)stdin|popen|proc_open|\bopen[23]\b|communicate|sendline|\b_in\b|\.pipe\b`)

// surroundings notes the folder and the environment that the options of a call give a command, until the function that it returns is called.
func (p *program) surroundings(args []value, named map[string]value) (leave func()) {
	around := p.around
	p.around = surroundings{}
	if in, ok := optionOf(args, named, "input", "stdin_data"); ok {
		p.around.input = new(in.word())
	}
	if dir, ok := optionOf(args, named, "cwd", "chdir"); ok {
		p.around.dirs = dir.words()
	}
	env, ok := optionOf(args, named, "env")
	if at := slices.IndexFunc(args, func(a value) bool { return a.kind == kindMap }); !ok && at >= 0 && p.lang.name != "node" {
		env = args[at] // system({"NAME" => "value"}, command), os.execve(file, words, {"NAME": "value"})
	}
	p.around.gets = assigns(env)
	if dir, env := nth(args, 3), nth(args, 4); p.lang.name == "php" { // proc_open(command, files, pipes, folder, variables)
		if dir.kind != kindNone && dir.word().Prefix() != "" {
			p.around.dirs = dir.words()
		}
		p.around.gets = append(p.around.gets, assigns(env)...)
	}
	return func() { p.around = around }
}

// withoutSurroundings returns the arguments that are the command: behind an environment, as in system(ENV.to_h, command), and without options.
func (p *program) withoutSurroundings(args []value) []value {
	if _, env := p.namedBy(first(args)); env && len(args) > 1 {
		args = args[1:]
	}
	return withoutOptions(args)
}

// namedBy returns the environment if a value is one of the names in it, perhaps in another order.
func (p *program) namedBy(name value) (env value, is bool) {
	for of := name.path; of != ""; of = of[:max(strings.LastIndexByte(of, '.'), 0)] {
		if env = (value{path: of}); p.isEnvironment(env) {
			return env, true
		}
	}
	return value{}, false
}

// holdsEnvironment reports whether a value is the program's environment, perhaps in another form.
func (p *program) holdsEnvironment(v value) bool {
	for name := v.path; ; {
		if p.isEnvironment(value{path: name}) {
			return true
		}
		at := strings.LastIndexByte(name, '.')
		if at < 0 || !wholeOf.MatchString(strings.TrimSuffix(name, "()")) {
			return false
		}
		name = name[:at]
	}
}

// isForLater reports whether a function that is handed on is called by a runner of tests, or for an event that stands before it.
func isForLater(name string, args []value, at int) bool {
	_, event := first(args).text()
	return event && at > 0 || wordclass.Is("test-hook", strings.ToLower(name))
}
