package effects

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// clientCode returns the effects of an inline program through a client library that holds passwords.
func (c *command) clientCode(code string) []Effect {
	library := c.r.judge.tables.libraryIn(strings.ToLower(code))
	if !c.r.judge.tables.ofClass("client-of-passwords", library) {
		return nil
	}
	return one(KindCredentials, say("reads stored passwords by %s", library), library)
}

// libraryIn returns the service library that a lower-case text names, "" if none.
func (t *tables) libraryIn(lower string) (library string) {
	for _, s := range t.inText("client-library", lower) {
		if s = strings.Trim(s[strings.LastIndexByte(s, ' ')+1:], "'@(."); library == "" || t.ofClass("client-of-passwords", s) {
			library = s
		}
	}
	return library
}

// libraryCall returns the effects of a call on an object of a library, judging by the names of both. An unknown library only
// counts if the call reaches something all the same. A program in a file may create or change things.
func (r *reading) libraryCall(v *invocation) []Effect {
	t, name := r.judge.tables, v.Call.Function
	words := readings.Words(name[strings.LastIndexByte(name, '.')+1:])
	head := name[:max(strings.IndexAny(name, ".("), 0)]
	library := t.libraryIn(strings.ToLower("import " + head + " from " + head + " from '" + head + "' require('" + head + "') " + name))
	kept := r.changesKept(v)
	itself := v.File != "" && t.isOfPages(library, v.Call.Function) && !kept || r.ofFileDatabase(library, v)
	if len(words) == 0 || itself || library == "" && !kept && !t.reaches(v, words) {
		return reads()
	}
	library = cmp.Or(library, head)
	out := r.clientCall(library, words, v.Call)
	if len(v.args) > 0 {
		out = r.statementCall(library, words[0], v.args[0], v.Call.Of)
	}
	return slices.DeleteFunc(out, func(e Effect) bool { return v.File != "" && t.isUsual(library, name, &e) })
}

// isUsual reports whether an effect of a library's call is what a program in a file may have: it creates or changes things, or some of what it keeps itself.
func (t *tables) isUsual(library, name string, e *Effect) bool {
	changes := (e.Kind == KindCreate || e.Kind == KindOverwrite) && e.Reversibility != Irreversible && !t.ofClass("client-of-people", library)
	return changes || e.Reach != ReachPublic && t.isOfPages(library, name)
}

// namesObject reports whether a function's name mentions a kind of thing of a service. A function that may belong to any module does not count.
func (t *tables) namesObject(name string, words []string) bool {
	return !strings.Contains(name, shell.AnyOf) && slices.ContainsFunc(words, func(w string) bool {
		return t.ofClass("client-object", strings.TrimSuffix(w, "s"))
	})
}

// clientCall returns the effects of one method call of a library; words are those of the method's name.
func (r *reading) clientCall(library string, words []string, call *shell.Call) []Effect {
	t, name, word := r.judge.tables, strings.Join(words, "_"), words[0]
	if t.isPlumbing(library, name, word) {
		return nil
	}
	v := t.callVerb(name)
	e := v.effect
	if e.Kind == "" || e.Kind == KindRead || v.light && e.Kind != KindDelete {
		return nil
	}
	e.Sure = 0.6
	said, final := spoken.Method(call.Function, library, texts(argsOf(call.Given)), call.Of, readings.Words)
	if final {
		e.Reversibility = Irreversible
	}
	if strings.HasPrefix(string(said[0].Phrase), "sends mail to ") {
		e.Reach = ReachPublic
	}
	return []Effect{e.atLeastShared().with(said, library+" "+name)}
}

// statementCall returns the effects of a call that may pass SQL.
func (r *reading) statementCall(library, word string, text arg, of []string) []Effect {
	switch {
	case isStatement(text, of):
		return r.sql(text.text, spoken.Opened(of))
	case !text.known && slices.Contains([]string{"execute", "executemany", "executescript", "executeraw"}, word):
		return unknown(say("runs statements that were not read by %s", library), library)
	}
	return nil
}

// reaches reports whether a call reaches a service whose library is not known: by the kind of thing that it names, or
// because it runs a statement, or changes records of an application: User.delete_all, Order.where(…).update(…).
func (t *tables) reaches(v *invocation, words []string) bool {
	return t.namesObject(v.Call.Function, words) || runsStatement(v) || (v.File == "" || v.Own && !v.Guess) && changesRecords(v.Call, words)
}

// changesRecords reports whether a method changes an application's records: as its words say, or as some of them do on what leads to records, or on a class
// that the program does not define: User.destroy, Order.last.decrement. What delete and remove are given further on is taken out of a list.
func changesRecords(call *shell.Call, words []string) bool {
	name, method, class := call.Function, strings.Join(words, "_"), strings.TrimSuffix(ofModel.FindString(call.Function), ".")
	lists := len(call.Given) > 0 && strings.Count(name, ".") > 1 && wordclass.Is("takes-out", method)
	return wordclass.Is("record-call", method) || wordclass.Within("record-chain", strings.ToLower(name)) && wordclass.Is("record-verb", words[0]) ||
		class != "" && !lists && !strings.Contains(name, ".new") && !wordclass.Is("value-class", strings.ToLower(class)) &&
			slices.ContainsFunc(words, func(w string) bool { return wordclass.Is("model-verb", w) })
}

// ofModel finds the name of a class, or what a client of a database is called.
var ofModel = regexp.MustCompile(`^(?:[A-Z]\w*[a-z]\w*|db)\.`)

// runsStatement reports whether a call runs a statement, whatever its library: in a program of a file, on what it connected to
// itself, since the tests of a project have databases of their own.
func runsStatement(v *invocation) bool {
	return len(v.args) > 0 && isStatement(v.args[0], v.Call.Of) && (v.File == "" || wordclass.Within("connecting", strings.ToLower(v.Call.Function)))
}

// isStatement reports whether a text is one of SQL: by its form, or because a database in memory takes nothing else.
func isStatement(text arg, of []string) bool {
	return readings.IsStatement(text.text+" ;") || text.known && spoken.Opened(of).Text == spoken.Memory
}

// actingFunction reports whether a database function, other than SQL's own, changes something judging by its name.
func (t *tables) actingFunction(name string) bool {
	words := readings.Words(strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "'\"`")))
	return len(words) >= 2 && t.ofClass("acting-function", words[0])
}

// callVerb returns what a method does, judging by its name: delete_object, flushall, chat_postMessage.
func (t *tables) callVerb(name string) verb {
	if v := t.verbIn(readings.Words(name), false); v.effect.Kind != "" && !v.weak {
		return v.verb
	}
	for w := range t.Nouns["client-prefix"] {
		if strings.HasPrefix(strings.ToLower(name), w) {
			return t.verbs[w]
		}
	}
	return verb{}
}

// programText returns the inline program on an interpreter's command line or in its input, "" if there is none.
func (c *command) programText() string {
	for i, a := range c.all {
		if i > 0 && slices.Contains([]string{"-c", "-e", "-r", "--eval", "-p", "--print", "-E"}, c.all[i-1].text) {
			return a.text
		}
		if !strings.HasPrefix(a.text, "-") {
			break
		}
	}
	if text, all := c.input(); all {
		return text.text
	}
	return ""
}

func mongoRule(c *command) []Effect {
	out := lists.All(c.values("--eval"), func(t arg) []Effect { return c.mongoCode(t.text) })
	scripts := slices.DeleteFunc(slices.Clone(c.operands), func(a arg) bool { return !strings.HasSuffix(a.text, ".js") })
	out = append(out, lists.All(append(c.values("--file", "-f"), scripts...), func(f arg) []Effect {
		if texts, all := c.contents(f); all && len(texts) == 1 {
			return c.mongoCode(texts[0])
		}
		return one(KindDatabase, say("runs the script %s, which was not read, in the database", f.text), f.text)
	})...)
	if len(out) > 0 {
		return out
	}
	if text, all := c.input(); all && text.text != "" {
		return c.mongoCode(text.text)
	}
	if text, ok := c.handed(); ok {
		return c.mongoCode(text)
	}
	return unknown(say("opens a session on the database whose commands are not known"), c.name)
}

// methodCalls are the methods that program text calls, and orders the keys of what it gives to command(). started is a program that SQL runs.
var (
	methodCalls = regexp.MustCompile(`[."'{ \[]([a-z]+)(?:\(|["']\]\()`)
	orders      = regexp.MustCompile(`[."'{ \[]([a-z]+)["' ]*:`)
	started     = regexp.MustCompile(`(?i)\b(?:to|from)\s+program\s*((?:u&|e)?'(?:[^']|'')*'|[:$][^;\n]*)`)
)

// mongoCode judges program text by the methods that it calls, whose names go on with more than the word, and by operators such as $out.
func (c *command) mongoCode(code string) []Effect {
	t, lower := c.r.judge.tables, strings.ToLower(code)
	called := methodCalls.FindAllStringSubmatch(lower, -1)
	if strings.Contains(lower, "command(") {
		called = append(called, orders.FindAllStringSubmatch(lower, -1)...)
	}
	for w := range t.Nouns["mongo-changes"] {
		calls := func(m []string) bool { return strings.HasPrefix(m[1], w) }
		if strings.ContainsAny(w, "$(") && strings.Contains(lower, w) || slices.ContainsFunc(called, calls) {
			said := spoken.Collection(code, clip(code, 120), c.database(false, false))
			if len(t.inText("mongo-leads-out", lower)) > 0 || !c.ownServer() {
				return one(KindDatabase, said, "mongo")
			}
			return own(said)
		}
	}
	if len(t.inText("mongo-reads", lower)) > 0 {
		return reads()
	}
	return unknown(say("runs code in the database that is not known: %s", code), "mongo")
}

// metaCommands judges the lines of psql (\d) and sqlite3 (.tables) that are not SQL, and returns the rest.
func (r *reading) metaCommands(text string, where wording.Clause, out *[]Effect) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		s := strings.TrimSpace(l)
		if !strings.HasPrefix(s, "\\") && (!strings.HasPrefix(s, ".") || len(s) < 2 || s[1] < 'a' || s[1] > 'z') {
			b.WriteString(l)
			for _, after := range strings.SplitN(s, "\\", maxCommands)[1:] { // a command of psql may follow a statement
				if e := r.metaCommand("\\"+after, where); e[0].Kind != KindRead {
					*out = append(*out, e...)
				}
			}
			continue
		}
		if len(*out) >= maxCommands {
			*out = append(*out, unknown(say("runs more SQL than is read"), where.String())...)
			return ""
		}
		*out = append(*out, r.metaCommand(s, where)...)
	}
	return b.String()
}

// ungated adds the effects of putting commands into files whose commands an agent's client runs without asking the gate.
func (t *tool) ungated() {
	put := map[string][]string{} // by file, the texts that are put there; none if that is not known
	for _, w := range t.rd.Written() {
		text, _ := t.edited(w)
		put[w.File] = append(put[w.File], text)
	}
	for i := range t.rd.Commands {
		t.puts(t.rd.Commands[i].Script, put)
	}
	for i := range t.r.did {
		folder := t.r.did[i].Deed == vaglio.Wrote && path.Ext(t.r.did[i].Path) == ""
		if f := &t.r.did[i]; put[f.Path] == nil && f.Deed != vaglio.Moved && !folder {
			put[f.Path] = nil
		}
	}
	for _, file := range slices.Sorted(maps.Keys(put)) {
		if len(put[file]) > 0 || readings.IsUngated(file) {
			t.r.add(t.r.carries(file, put[file])...)
		}
	}
}

// puts gathers what a script puts into files, and adds the effects of files that come to stand where they steer what runs by itself.
func (t *tool) puts(s *shell.Script, put map[string][]string) {
	for file, word := range s.Wrote {
		if text, known := t.r.textOf(word); known {
			put[file] = append(put[file], text)
		}
	}
	for _, l := range s.Lands {
		if text, known := t.r.landed(s, l.From); known {
			put[l.To] = append(put[l.To], text)
		}
		if !readings.IsUngated(l.To) && t.r.world.placeOf(literal(l.To), t.r.world.cwd) == placeControl {
			t.r.add(t.r.write(t.r.plain("tool"), literal(l.To), "copies files to")...)
		}
	}
}

// carries returns the effect of putting texts into a file from which a client may run commands without asking the gate.
func (r *reading) carries(file string, texts []string) []Effect {
	if len(texts) == 0 {
		return beyondGate(say("puts into %s what is not known, and an agent's client may run it without asking", file), file)
	}
	for _, text := range texts {
		script, tasks := readings.ReadUngated(readings.Written{File: file, Text: text}, r.shellOptions())
		switch {
		case len(script.Commands) > 0:
			v := invocationOf(&script.Commands[0])
			words := join(append([]arg{literal(v.name)}, v.args...))
			return beyondGate(say("puts a command into %s that an agent's client runs without asking: %s", file, words), file)
		case len(tasks) > 0 && tasks[0].Closed != nil:
			return beyondGate(wording.Sentence{wording.Say(tasks[0].Closed.Why, file)}, file)
		case len(tasks) > 0:
			return beyondGate(say("puts into %s what an agent's client runs without asking", file), file)
		}
	}
	return nil
}

func beyondGate(why wording.Sentence, file string) []Effect {
	e := usual(KindOverwrite).with(why, file)
	e.Reach = ReachUser
	return []Effect{e}
}

// edited returns what a file holds after an edit, if that is known, otherwise the text that is put into it.
func (t *tool) edited(w readings.Written) (text string, whole bool) {
	if t.r.means.Files == nil || !readings.RunsElsewhere(w.File) {
		return w.Text, false
	}
	held, _ := t.r.means.Files.Content(w.File) // nothing if it is unknown
	edits, _ := t.args["edits"].([]any)
	if len(edits) == 0 {
		edits = []any{map[string]any(t.args)}
	}
	for _, e := range edits {
		one, _ := e.(map[string]any)
		old := textUnder(one, func(key string) bool { return wordclass.Is("replaced-key", key) })
		if old == "" || !strings.Contains(held, old) {
			return w.Text, false
		}
		replacing := textUnder(one, func(key string) bool { return wordclass.Is("replacing-key", key) })
		held = strings.ReplaceAll(held, old, replacing)
	}
	return held, true
}

// textUnder returns the text under the first key, in normal form, that is looked for; "" if there is none.
func textUnder(args map[string]any, looked func(key string) bool) string {
	for _, key := range readings.SortedKeys(args) {
		if text, _ := args[key].(string); text != "" && looked(readings.Normal(key)) {
			return text
		}
	}
	return ""
}

// plainSettings reports whether all that the call writes into a project's .npmrc are settings that run nothing, name no account, and fetch from nowhere but
// the usual registries; or tasks of an editor run only when a person asks; or a hook is harmless; or a build server only tests.
func (r *reading) plainSettings(v *invocation, a arg, at where) bool {
	p := r.world.clean(a.text, v.cwd)
	text, known := r.wrote[p].Text()
	switch {
	case at == placeSecret:
		return r.makesKnown(v, a)
	case at != placeControl, !known, text == "", !r.world.inside(p):
	case strings.HasSuffix(p, "/.vscode/tasks.json"):
		return !strings.ContainsAny(text, "\\") && !strings.Contains(strings.ToLower(text), "runon")
	case path.Base(path.Dir(p)) == ".husky": // git's hooks, which are read again when git runs them
		return staysHere(r.aside(text))
	case path.Base(p) == ".npmrc":
		lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\r' || c == '\n' }) // as npm does
		other := func(line string) bool { return !r.judge.tables.plainSetting(strings.TrimSpace(line)) }
		return !strings.Contains(text, "$") && !slices.ContainsFunc(lines, other)
	default:
		return r.onlyTests(readings.Written{File: p, Text: text})
	}
	return false
}

// onlyTests reports whether a build server does nothing, because a file holds a text, but what may be done unasked in a container: it
// takes no secrets, and only actions of known makers.
func (r *reading) onlyTests(w readings.Written) bool {
	t, was := r.judge.tables, *r
	defer func() { r.did, r.wrote, r.unparsed, r.notes = was.did, was.wrote, was.unparsed, was.notes }()
	s, taken := readings.ReadBuild(w, r.shellOptions())
	return s != nil && len(t.inText("opens-build", strings.ToLower(w.Text))) == 0 && staysHere(r.read(s)) &&
		!slices.ContainsFunc(taken, func(from string) bool { return !t.ofClass("build-maker", from) }) &&
		!slices.ContainsFunc(r.facts.Loaded(), func(file string) bool { return strings.Contains(w.Text, path.Base(file)) })
}

func (t *tables) plainSetting(line string) bool {
	key, value, _ := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	return key == "" || key[0] == '#' || key[0] == ';' || t.ofClass("npm-plain", key) ||
		(key == "registry" || strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry")) && t.urls().IsRegistry(value)
}

// textOf returns the text of a word that may consist of files.
func (r *reading) textOf(w shell.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts() {
		text, known := p.Text, p.Kind == shell.PartText
		if p.File != "" && r.means.Files != nil {
			text, known = r.means.Files.Content(p.File)
		}
		if b.WriteString(text); !known {
			return "", false
		}
	}
	return b.String(), true
}
