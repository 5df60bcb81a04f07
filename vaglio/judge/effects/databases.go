package effects

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/sql"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// client judges a database client by the statements in its words, in the files that it is given, or else in its input.
func (c *command) client() []Effect {
	file := c.operand(0)
	kept := c.r.judge.tables.ofClass("keeps-in-file", c.name) && (strings.HasPrefix(file, "file:") || !urls.IsFar(file))
	if kept && strings.Contains(file, " ") && !strings.Contains(file, ".") {
		c.about = append(c.about, c.operands[0]) // a statement instead of a file
	}
	at := c.keptAt(kept)
	where := c.database(kept, file == "" && c.name == "duckdb" || file == spoken.Memory || at == placeTemp)
	c.r.database = database{c.databaseHere(at), c.isFixed(kept, at), at != placeWorkspace && at != placeUnknown, ""}
	defer func() { c.r.database = database{} }()
	out := c.statements(where)
	if c.readsOn() {
		return append(out, c.fed(where, kept)...)
	}
	return append(out, c.writeAll("writes", c.values("-o", "--output", "-L", "--log-file", "--tee"))...)
}

// isFixed reports whether nothing that a person keeps can be lost in the client's database, whatever it is told.
func (c *command) isFixed(kept bool, at where) bool {
	return at == placeWorkspace && c.r.anyhow(c.invocation, c.operands[0]) || kept && (at == placeTemp || c.has("-readonly", "--readonly")) || c.ownServer()
}

// fed returns the effects of the statements in the input.
func (c *command) fed(where wording.Clause, kept bool) []Effect {
	switch text, all := c.input(); {
	case all && text.text != "":
		return c.sql(text.text, where)
	case c.stdin.kind == shell.InputFile:
		if text, ok := c.handed(); ok {
			return c.sql(text, where)
		}
		return unreadSQL(c.stdin.file, where)
	case len(c.stdin.text.from) > 0:
		return unknown(sayOf("runs the output of %s as SQL in %s", wording.List(c.stdin.text.from), where), where.String())
	case c.stdin.kind != shell.InputInherited:
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	case kept:
		return reads()
	}
	return unknown(sayOf("opens a session on %s whose commands are not known", where), where.String())
}

// statements returns the effects of the statements in words, and in the files that words name.
func (c *command) statements(where wording.Clause) (out []Effect) {
	for _, t := range c.about {
		if !t.known && strings.Trim(t.text, "$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_(){}") == "" {
			out = append(out, unknown(sayOf("runs SQL that is not known on %s", where), where.String())...)
		} else {
			out = append(out, c.sql(t.text, where)...)
		}
	}
	for _, f := range c.with {
		read, all := c.contents(f)
		out = append(out, lists.All(read, func(text string) []Effect { return c.sql(text, where) })...)
		if !all {
			out = append(out, unreadSQL(f, where)...)
		}
	}
	return out
}

// database names the database that a client works on: by the table, by its file, by its host or by
// its first word. A database in memory or in a temporary file belongs to nobody.
func (c *command) database(kept, nobodys bool) wording.Clause {
	name := c.databaseName()
	at, err := url.Parse(c.operand(0))
	switch h, _ := c.value("-h", "--host", "-S"); {
	case err == nil && at.Host != "" && len(at.Path) > 1:
		return wording.Say("%s on %s", at.Path[1:], at.Hostname())
	case c.why != "":
		return wording.Say(wording.Phrase(c.why))
	case kept && nobodys:
		return object(spoken.Memory)
	case kept:
		return object(c.operand(0))
	case h.text != "" && name != "":
		return wording.Say("%s on %s", name, h.text)
	case h.text != "":
		return wording.Say("the database on %s", h.text)
	case name != "":
		return object(name)
	}
	return wording.Say(spoken.TheDatabase)
}

// databaseName returns the name of the database, "" if it is given in another way.
func (c *command) databaseName() string {
	d, _ := c.value("-d", "--dbname", "-D", "--database")
	name := cmp.Or(d.text, c.operand(c.took), join(c.variables("PGDATABASE")))
	if strings.ContainsAny(name, " :/;$") {
		return ""
	}
	return name
}

// maxSQL limits the SQL text that is read, in bytes.
const maxSQL = 1 << 20

// sql returns the effects of running SQL text.
func (r *reading) sql(text string, where wording.Clause) []Effect {
	if strings.TrimSpace(text) == "" {
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	}
	if len(text) > maxSQL {
		return unknown(say("runs more SQL than is read"), where.String())
	}
	var out []Effect
	rest := r.metaCommands(text, where, &out)
	if r.database.opened != "" {
		where = object(r.database.opened)
	}
	if m := started.FindStringSubmatch(text); m != nil {
		out = append(out, usual(KindForeignCode).with(sayOf("runs the program %s by SQL in %s", object(sql.Unquoted(m[1])), where), where.String()))
	}
	list, ok := sql.Statements(rest)
	if out = append(out, inGraph(list, text, r.changes(list, where))...); !ok {
		out = append(out, usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", where), where.String()))
	}
	if len(out) == 0 {
		return one(KindRead, readBy(list), "")
	}
	return out
}

// changes returns the effects of the statements that change something.
func (r *reading) changes(list []sql.Statement, where wording.Clause) (out []Effect) {
	nobodys := r.database.fixed || strings.Contains(where.String(), spoken.Memory)
	local, lost := r.database.here, nobodys && !r.leadsOut(list)
	for i := range list {
		s := statement{&list[i], r, where, lost}
		if file, attaches := s.Attached(); attaches && nobodys && file != spoken.Memory {
			r.opens(file)
			where, local = object(file), "" // the statements after it may be about this file
			if lost {
				lost = false
				continue
			}
		}
		switch e, changes := s.effect(); {
		case !changes:
		case s.acts() == "" && s.losesNothing(local):
			out = append(out, own(e.Why)...)
		default:
			e.counts, e.Reach = e.Reach, cmp.Or(local, e.Reach)
			out = append(out, e)
		}
	}
	return out
}

// losesNothing reports whether a statement only adds to a database on this machine, or copies rows to a file of the workspace.
func (s statement) losesNothing(local Reach) bool {
	return local == ReachWorkspace && s.Words[0] == "COPY" && s.CopiesOut() && !s.leaves() || local != "" && s.Adds() && !s.r.database.apart
}

// readBy says what is read, if that is a single table.
func readBy(list []sql.Statement) wording.Sentence {
	if len(list) == 1 && list[0].Words[0] == "SELECT" && !list[0].Has("JOIN") {
		at := slices.Index(list[0].Words, "FROM")
		if from := list[0].Words[at+1:]; at > 0 && len(from) > 0 && !slices.Contains(from, ",") && !slices.Contains(from, "FROM") {
			return wording.Sentence{{Phrase: "reads"}, object(strings.ToLower(sql.Unquoted(from[0])))}
		}
	}
	return say("reads")
}

// statement is a statement on one database.
type statement struct {
	*sql.Statement
	r     *reading
	where wording.Clause
	lost  bool // its changes to the database affect nobody, or are not kept
}

// effect returns what a statement does, and whether it changes anything.
func (s statement) effect() (Effect, bool) {
	verb, _ := s.Verb()
	e, name := usual(KindDatabase), s.acts()
	switch {
	case name == "" && s.lost && !s.leaves():
		return e, false
	case name != "" && (s.Adds() || s.tables().ofClass("sql-reads", verb)):
		return e.with(sayOf("calls %s on %s, which does more than read", object(strings.ToLower(name)), s.where), s.where.String()), true
	}
	return s.change()
}

// change returns what a statement does in the database, and whether it changes anything.
func (s statement) change() (Effect, bool) {
	verb, at := s.Verb()
	e := usual(KindDatabase)
	if verb == "GRANT" || verb == "REVOKE" {
		at = max(at, slices.Index(s.Words, "ON"))
	}
	target, class := s.Target(at)
	e.Target, e.Why = strings.TrimSpace(target+" "+s.where.String()), s.said(verb, class, target)
	if s.tables().ofClass("sql-reads", verb) {
		return s.query(e)
	}
	switch verb {
	case "EXPLAIN", "PROFILE", "SET", "RESET", "PRAGMA", "EXEC", "EXECUTE":
		return s.mayChange(verb, target, e)
	case "COPY", "UNLOAD", "EXPORT":
		return s.copies(verb, e)
	case "DELETE", "UPDATE", "INSERT":
		return s.rows(verb, target, e), true
	case "CREATE", "COMMENT", "LOCK", "REINDEX", "VACUUM", "OPTIMIZE", "REFRESH", "CLUSTER", "CHECKPOINT", "ATTACH",
		"LOAD", "INSTALL", "FLUSH", "NOTIFY", "LISTEN", "CACHE", "GRANT", "REVOKE":
		return e.as(Partial, ReachShared), true
	case "DROP", "TRUNCATE": // as deleting every row is; an index holds none of its own
		e = e.as(Irreversible, ReachPublic)
	case "":
		return usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", s.where), s.where.String()), true
	}
	if s.Adds() {
		e = e.as(Partial, ReachShared)
	}
	return e, true // Also for statements that no dialect knows.
}

func (s statement) copies(verb string, e Effect) (Effect, bool) {
	if verb == "COPY" && s.CopiesOut() {
		return e.with(say("writes query results to a file of the server"), s.where.String()).as(Partial, ReachUser), !s.Has("STDOUT")
	}
	return e.with(sayOf("copies data in or out of %s", s.where), s.where.String()), true
}

func (s statement) tables() *tables { return s.r.judge.tables }

// acts returns the name in a statement that acts outside the database, "" if there is none.
func (s statement) acts() string {
	named := slices.IndexFunc(s.Words, func(w string) bool { return s.tables().ofClass("sql-acts", w) })
	if named >= 0 {
		return s.Words[named]
	}
	for _, name := range s.Called() {
		name = strings.ToUpper(sql.Unquoted(name))
		if s.tables().ofClass("sql-acts", name) || s.tables().ofClass("sql-acts-called", name) {
			return name
		}
	}
	return ""
}

// leaves reports whether a statement writes a file outside the workspace.
func (s statement) leaves() bool {
	verb, _ := s.Verb()
	if s.Extends() {
		return true
	}
	if verb != "COPY" && verb != "EXPORT" || verb == "COPY" && !s.CopiesOut() || s.Has("STDOUT") {
		return false
	}
	file := slices.IndexFunc(s.Words, func(w string) bool { return w == "TO" || w == "DATABASE" }) + 1
	if file == 0 || file == len(s.Words) {
		return true
	}
	name := sql.Unquoted(s.Words[file])
	at := s.r.world.placeOf(literal(name), s.r.world.cwd)
	return at != placeWorkspace && at != placeTemp || urls.IsFar(name)
}

// said says what a statement does to its target.
func (s statement) said(verb, class, target string) wording.Sentence {
	part, named := s.Parts()
	if drops := spoken.Statement("drop-" + part + map[bool]string{true: "s"}[len(named) > 1]); drops != "" {
		return spoken.InDatabase(sayOf(drops, wording.List(named), object(target)), s.where)
	}
	switch {
	case verb == "CREATE" && !s.Adds():
		verb += " OR REPLACE"
	case verb == "ALTER" && s.Has("SUPERUSER"):
		verb += " SUPERUSER"
	case verb == "ALTER" && s.Has("WHERE") && s.Has("DELETE", "UPDATE"): // of ClickHouse
		verb = map[bool]string{true: "DELETE", false: "UPDATE"}[s.Has("DELETE")]
	}
	said := spoken.StatementOn(verb, class, target, s.where)
	if to := slices.Index(s.Words, map[string]string{"GRANT": "TO", "REVOKE": "FROM"}[verb]) + 1; to > 0 && to < len(s.Words) {
		verb += map[bool]string{true: "-on"}[s.Has("ON")] + map[bool]string{true: "-tables"}[s.Has("TABLES")]
		whom, _ := s.Target(to - 1)
		said[0] = sayOf(spoken.Statement(verb), map[bool]wording.Clause{true: said[0].Args[0], false: object(target)}[s.Has("ON")], object(whom))[0]
	}
	return said
}

// mayChange judges a statement that changes something only with certain words.
func (s statement) mayChange(verb, target string, e Effect) (Effect, bool) {
	switch verb {
	case "SET", "RESET":
		e = e.with(say("changes a setting of the database server"), s.where.String())
		if s.Has("PASSWORD") { // the old one cannot be restored
			return e, true
		}
		return e.as(Partial, ReachShared), s.Has("GLOBAL", "PERSIST", "@@GLOBAL")
	case "PRAGMA":
		return e.with(say("changes a setting of the database"), s.where.String()).as(Partial, ReachUser),
			s.Has("=") && !strings.Contains(" "+strings.Join(s.Words, " "), " FOREIGN_KEYS") && !s.Has("TABLE_INFO")
	case "EXEC", "EXECUTE":
		return e, !s.tables().ofClass("sql-tells", strings.ToLower(target))
	}
	for _, w := range []string{"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"} {
		if i := slices.Index(s.Words, w); i > 0 {
			explained, _ := statement{s.From(i), s.r, s.where, s.lost}.effect()
			return explained, s.Has("ANALYZE", "ANALYSE")
		}
	}
	return e, false
}

// rows judges a change to rows. Changing all rows is the worst case; rows that are only added can be removed.
func (s statement) rows(verb, target string, e Effect) Effect {
	if verb == "INSERT" && !s.Has("UPDATE", "REPLACE", "OVERWRITE") {
		return e.as(Partial, ReachShared)
	}
	if verb == "INSERT" {
		return e.with(spoken.StatementOn("MERGE", "", target, s.where), e.Target)
	}
	if !s.Has("WHERE", "LIMIT") {
		e.Why, e.Reach = spoken.StatementOn(verb+" *", "", target, s.where), ReachPublic
	}
	return e
}

// query judges a statement that reads by its possible side effects.
func (s statement) query(e Effect) (Effect, bool) {
	for _, verb := range []string{"DELETE", "UPDATE", "MERGE", "INSERT"} { // the heaviest first
		for i, w := range s.Words {
			if w == verb && s.BeginsAt(i) {
				return statement{s.From(i), s.r, s.where, s.lost}.change()
			}
		}
	}
	for _, w := range s.Words {
		switch w {
		case "INTO":
			if s.Words[0] == "SELECT" || s.Has("OUTFILE", "DUMPFILE") {
				return e.with(sayOf("writes query results to a new table or file in %s", s.where), s.where.String()), true
			}
		case "PG_READ_FILE", "PG_READ_BINARY_FILE", "LOAD_FILE", "PG_SHADOW", "PG_AUTHID", "PASSWORD_HASH":
			return usual(KindCredentials).with(say("reads files or passwords of the database server: %s", strings.ToLower(w)), s.where.String()), true
		}
	}
	if i := slices.IndexFunc(s.Called(), s.tables().actingFunction); i >= 0 {
		called := object(strings.ToLower(s.Called()[i]))
		return e.with(sayOf("calls the function %s in %s, which by its name does more than read", called, s.where), s.where.String()), true
	}
	return s.secrets(e)
}

// metaCommand judges one line that a database client interprets itself.
func (r *reading) metaCommand(s string, where wording.Clause) []Effect {
	c := &command{invocation: r.plain("sql"), r: r}
	words := lists.Each(strings.Fields(s), func(w string) arg { return literal(strings.Trim(w, "'\"")) })
	words[0].text = strings.TrimRight(words[0].text, "+")
	if len(words) == 2 && r.judge.tables.ofClass("includes", words[0].text) && r.depth < 3 {
		if text, ok := c.content(words[1].text); ok {
			r.depth++
			defer func() { r.depth-- }()
			return r.sql(text, where)
		}
	}
	if r.movesOn(s, words) {
		r.opens(words[len(words)-1].text)
	}
	_, line, runs := strings.Cut(s, " ")
	if runs = runs && r.judge.tables.ofClass("runs-line", words[0].text); !runs && s[0] == '\\' { // psql runs what stands between backticks
		_, line, runs = strings.Cut(s, "`")
		line, _, _ = strings.Cut(line, "`")
	}
	if runs {
		return r.aside(strings.TrimSpace(line))
	}
	return c.rows("(client-line)", words...)
}

func unreadSQL(file arg, where wording.Clause) []Effect {
	return one(KindDatabase, sayOf("runs SQL from the file %s, which was not read, in %s", object(file.text), where), file.text)
}
