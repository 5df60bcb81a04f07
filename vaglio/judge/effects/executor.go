package effects

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	agents "github.com/metnos/vaglio/vaglio/clients"
	"github.com/metnos/vaglio/vaglio/commands"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// tool is a proposal's executor, with what its name and arguments say.
type tool struct {
	r      *reading
	name   string   // without its server's prefix
	server string   // the server's name, "" if unknown
	words  []string // of the name, in lower case
	args   vaglio.Args
	rd     *readings.Reading
	verbs  []Effect         // of programs that a general-purpose tool may run
	known  catalog.Executor // what the catalog knows; empty if it is not listed
}

// executor reads a proposal: first what it would run, then what its executor, by its name, does to what the arguments name.
func (r *reading) executor(p vaglio.Proposal) {
	t := &tool{r: r, args: p.Args, rd: p.Context.Reading}
	if t.rd == nil {
		t.rd = r.judge.reader.Read(p.Call())
	}
	r.means, r.world.leads = t.rd.Means, t.rd.Means.Leads
	t.known = *cmp.Or(p.Context.Known, &catalog.Executor{})
	t.name, t.server = readings.SplitName(p.Executor)
	t.words = readings.Unversioned(readings.Words(t.name))
	r.stays = t.is("run_in_background", "is_background", "background")
	defer t.ungated()
	if t.ofClient(p) || t.editor() || t.onPage() {
		return
	}
	t.opened()
	ran := t.commands()
	if ran && (t.rd.Patched || t.runner()) {
		return
	}
	before := len(r.effects)
	defer t.unlessNamed(before)
	t.addresses()
	readers := []func() bool{t.sql, t.commandLine, t.file, t.graph, t.request, t.browser}
	if !slices.ContainsFunc(readers, func(read func() bool) bool { return read() }) {
		r.add(t.hinted(t.byName())...)
	}
	if ran {
		t.beside(before)
	}
}

// commands judges the command lines and programs of a call, and what could not be read of it. It reports whether there were any.
func (t *tool) commands() bool {
	for i := range t.rd.Commands {
		c := &t.rd.Commands[i]
		before := len(t.r.effects)
		t.r.script(c.Script)
		if c.IsLine() && !c.Doubt { // the one that a card shows, or a single word, which has no lines
			numbered(t.r.effects[before:], strings.Repeat(" ", c.Shift)+strings.ReplaceAll(c.Text, "\r\n", "\n"))
		}
		t.r.add(t.r.environment(c.Env)...)
		switch {
		case c.Doubt:
			t.r.certain(before)
			if beyond(c.Script) {
				t.r.add(unknown(say("could not be read: what the call holds is too much"), c.At)...)
			}
		case c.Verb && t.r.unknownSince(before): // perhaps a verb for a general-purpose tool
			t.verbs = append(t.verbs, t.r.effects[before:]...)
			t.r.effects = t.r.effects[:before]
		}
	}
	for _, g := range t.rd.Gaps {
		at := wording.Say("what the call holds")
		if g.At != "" {
			at = object(g.At)
		}
		said := sayOf("could not be read: %s %s", at, g.Why)
		if g.Doubt {
			said = wording.Sentence{g.Why}
		}
		t.r.add(unknown(said, g.At)...)
	}
	return len(t.r.effects) > 0
}

// unlessNamed adds what programs named by single words may do, unless the executor's name already says what it does. That it only reads does not count.
func (t *tool) unlessNamed(since int) {
	if onlyReads(t.r.effects[since:]) {
		t.r.add(t.verbs...)
	}
}

// environment returns the effects of variables beside a command.
func (r *reading) environment(env map[string]string) []Effect {
	return r.variables(lists.Each(slices.Sorted(maps.Keys(env)), func(name string) assignment { return assignment{name, literal(env[name])} }))
}

// certain drops effects of unknown kind and reads from those found since.
func (r *reading) certain(since int) {
	kept := slices.DeleteFunc(r.effects[since:], func(e Effect) bool { return e.Kind == KindUnknown || e.Kind == KindRead })
	r.effects = r.effects[:since+len(kept)]
}

// beyond reports whether a text is too much to read, so that its meaning in another language is unknown as well.
func beyond(s *shell.Script) bool {
	return slices.ContainsFunc(s.Problems, func(p shell.Problem) bool { return p.Kind.TooMuch() })
}

func (r *reading) unknownSince(since int) bool {
	return len(r.effects) > since && !slices.ContainsFunc(r.effects[since:], func(e Effect) bool { return e.Kind != KindUnknown })
}

// runner reports whether the executor's name only says that it runs what it is given.
func (t *tool) runner() bool {
	more := func(w string) bool { return !readings.IsRunner(w) && !t.runs(w) && !t.execsIn(w) }
	return t.known.Shell || !slices.ContainsFunc(t.words, more) || readings.IsRunner(strings.ToLower(t.name))
}

// execsIn reports whether a word only says where a tool executes its command, in what is there already: no argument says more than where and how long.
func (t *tool) execsIn(where string) bool {
	of := func(class, word string) bool { return t.r.judge.tables.ofClass(class, word) }
	return t.has("exec") && t.noun("exec-place") && of("exec-place", where) && !slices.ContainsFunc(readings.SortedKeys(t.args), func(key string) bool {
		return t.rd.Role(key)&readings.RoleCommand == 0 && !of("exec-key", readings.Normal(key))
	})
}

// runs reports whether a command of the call is a program with that name.
func (t *tool) runs(program string) bool {
	is := func(c shell.Command) bool { return c.Name == program }
	return slices.ContainsFunc(t.rd.Commands, func(l readings.Command) bool { return slices.ContainsFunc(l.Script.Commands, is) })
}

// beside weighs what an executor's name says when its arguments hold something to run. Reading adds nothing. An unknown effect adds nothing either, unless
// there are other arguments beside the command or the executor does not declare the command: then it may do something else.
func (t *tool) beside(since int) {
	if t.rd.OnlyRuns || !t.r.unknownSince(since) {
		t.r.certain(since)
	}
}

// has reports whether the name contains one of the words.
func (t *tool) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(t.words, w) })
}

func (t *tool) hasServer(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t.server, w) })
}

// uploads reports whether a tool's name says that it hands on the files that its arguments name.
func (t *tool) uploads() bool { return t.has("upload", "uploads") && len(t.rd.Paths) > 0 }

// text returns the first of the arguments that is a non-empty text.
func (t *tool) text(keys ...string) (string, bool) {
	for _, k := range keys {
		if s, _ := t.args[k].(string); s != "" {
			return s, true
		}
	}
	return "", false
}

// list returns the first of the arguments that is a text or a list of texts.
func (t *tool) list(keys ...string) []string {
	for _, k := range keys {
		switch v := t.args[k].(type) {
		case string:
			if v != "" {
				return []string{v}
			}
		case []any:
			var out []string
			if len(v) > maxCommands {
				t.r.add(usual(KindUnknown).with(say("names more than is read"), k))
				v = v[:maxCommands]
			}
			for _, e := range v {
				if s, ok := e.(string); ok {
					out = append(out, s)
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// is reports whether one of the arguments is true.
func (t *tool) is(keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return t.args[k] == true || t.args[k] == "true" || t.args[k] == "yes" })
}

// mentions reports whether the arguments, as JSON, contain one of the texts.
func (t *tool) mentions(texts ...string) bool {
	data, err := strictjson.Marshal(t.args)
	return slices.ContainsFunc(texts, func(s string) bool { return err != nil || strings.Contains(string(data), s) })
}

// sql reads executors that run database statements.
func (t *tool) sql() bool {
	where := wording.Say(spoken.TheDatabase)
	if name, ok := t.text("database", "db", "connection", "dsn", "databaseName", "database_name", "dbName", "databaseId", "database_id",
		"projectId", "project_id", "projectRef", "project_ref"); ok {
		where = object(name)
	}
	found := false
	for _, s := range t.rd.Statements {
		if t.noun("sql-looks") && (!readings.IsStatement(s.Text) || s.At == "query" && t.noun("searched") && !t.ofDatabase()) {
			continue
		}
		found = true
		t.r.add(t.r.sql(s.Text, where)...)
	}
	return found
}

// ofDatabase reports whether a tool or its server is named after a database.
func (t *tool) ofDatabase() bool {
	return t.noun("sql-server") || slices.ContainsFunc(readings.Words(t.server), func(w string) bool { return t.r.judge.tables.ofClass("sql-server", w) })
}

// under returns the texts under the keys of a role.
func (t *tool) under(role readings.Role) (out []string) {
	for _, k := range readings.SortedKeys(t.args) {
		if t.rd.Role(k)&role != 0 {
			out = append(out, t.list(k)...)
		}
	}
	return out
}

// given reports whether there is anything under a key of a role.
func (t *tool) given(role readings.Role) bool {
	return slices.ContainsFunc(readings.SortedKeys(t.args), func(k string) bool { return t.args[k] != nil && t.rd.Role(k)&role != 0 })
}

// requested returns the addresses that a call names.
func (t *tool) requested() []string {
	return lists.Each(t.rd.URLs, func(u readings.Text) string { return u.Text })
}

// addresses judges what a call gives away through the addresses that it names, whatever its executor does with them.
func (t *tool) addresses() {
	for _, u := range t.rd.URLs {
		if what, carries := t.r.judge.tables.urls().Carries(u.Text); carries {
			t.r.add(one(KindSend, sayOf("sends data inside the address (%s): %s", what, object(u.Text)), u.Text)...)
		}
	}
}

// ofClient judges a call by what is known about its client's tool. It reports false for a tool that the table leaves to the call's shape, and for an unknown
// tool, which is a gap of the reading. Whatever the call would run counts in any case.
func (t *tool) ofClient(p vaglio.Proposal) bool {
	known := t.r.judge.clients.Tool(p.Context.Client, p.Executor)
	if known == nil {
		return false
	}
	does := known.Does(p.Args)
	if does.Rule == agents.RuleShape {
		return false
	}
	ran := t.commands()
	t.addresses()
	before := len(t.r.effects)
	t.r.add(t.clientRule(does, ran)...)
	if ran && t.r.effects[before].Kind == KindRead {
		t.r.effects = t.r.effects[:before]
	}
	return true
}

// clientRule returns the effects for a line of a client's table, at least one.
func (t *tool) clientRule(does commands.Outcome, ran bool) []Effect {
	switch does.Rule {
	case "":
		return []Effect{effectOf(does).with(tabled(does), "")}
	case agents.RuleRuns:
		if ran {
			return reads()
		}
		return unknown(say("runs something that is not named"), "")
	case agents.RuleFetches:
		if len(t.rd.URLs) == 0 {
			return unknown(say("contacts an address that is not named"), "")
		}
		return append(reads(), lists.All(t.rd.URLs, func(u readings.Text) []Effect { return t.r.request("GET", u.Text, "") })...)
	case agents.RuleWrites:
		out := own(say("writes"))
		for _, p := range t.rd.Paths {
			if p.Role&readings.RoleGoal != 0 {
				out = append(out, t.r.write(t.r.plain("tool"), literal(p.Text), "writes")...)
			}
		}
		return out
	default:
		return unknown(say("does what no rule tells: %s", does.Rule), "")
	}
}

func (t *tool) target() string {
	if s, ok := t.text(wordclass.Of("key-of-target")...); ok {
		return clip(s, 80)
	}
	return t.name
}

func isTrue(b *bool) bool { return b != nil && *b }

// putBefore reports whether a command before this one, other than a build, was given the name of a file that is not there.
func (r *reading) putBefore(v *invocation, name string) bool {
	if !v.direct() || strings.ContainsAny(name, "*?[") || !r.isAbsent(name) || r.did.Built(name) {
		return false
	}
	for e := v.outOf; e != nil; e = e.outOf {
		puts := func(a arg) bool {
			p := r.world.clean(a.text[strings.IndexByte(a.text, '=')+1:], e.cwd)
			return a.known && slices.Contains([]string{p, strings.TrimSuffix(p, path.Ext(p))}, name)
		}
		named := func(a arg) bool { return puts(a) || r.judge.tables.ofClass("names-pieces", e.name) }
		if e.direct() && e.name != v.name && slices.ContainsFunc(e.args, named) && !r.judge.tables.RunsProject(e.name, texts(e.args)) {
			return true
		}
	}
	return false
}

// transferred says on which machine a client for file transfers does what its lines say: on the one that it is given, or that a line opens.
func (c *command) transferred(section string, lines []string, out []Effect) []Effect {
	there := invocation{host: c.operand(0)}
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return !strings.HasPrefix(strings.TrimSpace(l), "open ") || strings.ContainsAny(l, "&|>")
	})
	if there.host == "" && len(lines) == 1 {
		words := strings.Fields(lines[0])
		there.host = words[len(words)-1]
	}
	for i := range out {
		if strings.HasPrefix(section, "(") && out[i].Reach == ReachUser && (out[i].Kind == KindSend || out[i].Kind == KindDelete) { // not fetched
			there.afar(&out[i])
		}
	}
	return out
}
