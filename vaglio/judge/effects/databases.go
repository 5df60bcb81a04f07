package effects

import (
	"slices"
	"strings"

	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// client judges a database client: SQL in options, in files, or on its input.
func (c *call) client() []Effect {
	where := c.database()
	var out []Effect
	for _, t := range c.values(c.options[0]...) {
		if !t.known && strings.Trim(t.text, "$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_(){}") == "" {
			out = append(out, unknown(sayOf("runs SQL that is not known on %s", where), where.String())...)
			continue
		}
		out = append(out, c.r.sql(t.text, where)...)
	}
	for _, f := range c.values(c.options[1]...) {
		if text, ok := c.content(f.text); ok && f.known {
			out = append(out, c.r.sql(text, where)...)
			continue
		}
		why := sayOf("runs SQL from the file %s, which was not read, on %s", object(f.text), where)
		out = append(out, one(KindDatabase, why, f.text)...)
	}
	if len(out) > 0 {
		return append(out, c.writeAll("writes", c.values("-o", "--output", "-L"))...)
	}
	return c.fed(where)
}

// fed judges what a database client that is told nothing else reads from its input.
func (c *call) fed(where wording.Clause) []Effect {
	switch text, all := c.input(); {
	case all && text.text != "":
		return c.r.sql(text.text, where)
	case c.stdin.kind == shell.InputFile:
		return []Effect{usual(KindDatabase).with(sayOf("runs SQL from the file %s, which was not read, on %s", object(c.stdin.file.text), where),
			c.stdin.file.text)}
	case c.stdin.kind != shell.InputInherited:
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	}
	return unknown(sayOf("opens a session on %s whose commands are not known", where), where.String())
}

// database is the one that a client is told, by its host or as its first word.
func (c *call) database() wording.Clause {
	if h, ok := c.value("-h", "--host", "-S"); ok && h.text != "" {
		return wording.Say("the database on %s", h.text)
	}
	if name := c.operand(c.took); name != "" && !strings.ContainsAny(name, " :/;$") {
		return object(name)
	}
	return wording.Say(theDatabase)
}

func sqliteRule(c *call) []Effect {
	if c.has("-readonly", "-safe") {
		return reads()
	}
	texts, where := c.sqliteTexts()
	c.r.localDB = len(c.operands) > 0 && c.operands[0].known && c.host == "" && !c.production() && c.r.world.placeOf(c.operands[0], c.cwd) == placeWorkspace
	defer func() { c.r.localDB = false }()
	var out []Effect
	for _, t := range texts {
		out = append(out, c.r.sql(t.text, where)...)
	}
	if len(texts) > 0 {
		return out
	}
	if c.stdin.kind == shell.InputInherited {
		return reads()
	}
	return c.fed(where)
}

// sqliteTexts are the statements of a command line, and on which database they
// run: one in memory or in a temporary file is nobody's.
func (c *call) sqliteTexts() ([]arg, wording.Clause) {
	ops, file := c.operands, c.operand(0)
	texts := append(c.values("-cmd", "-c", "-s", "-init"), ops[min(1, len(ops)):]...)
	where := object(file)
	if !strings.Contains(file, ".") && strings.Contains(file, " ") {
		texts, where = ops, wording.Say("a database in memory")
	}
	if c.name == "duckdb" && len(ops) == 0 || file == ":memory:" || len(ops) > 0 && ops[0].known && c.r.world.placeOf(ops[0], c.cwd) == placeTemp {
		where = object(memory) // nobody keeps anything there
	}
	return texts, where
}

// redisRule judges the commands that a client of a key store reads from its input.
func redisRule(c *call) []Effect {
	text, all := c.input()
	switch {
	case all && text.text != "":
	case c.stdin.kind != shell.InputInherited:
		return unknown(say("runs commands on the key store that were not read"), "redis")
	default:
		return unknown(say("opens a session on the key store whose commands are not known"), "redis")
	}
	var out []Effect
	for l := range strings.Lines(text.text) {
		if len(out) >= maxCommands {
			return append(out, unknown(say("runs more commands on the key store than are read"), "redis")...)
		}
		var words []arg
		for f := range strings.FieldsSeq(l) {
			words = append(words, literal(f))
		}
		if len(words) > 0 {
			out = append(out, c.rows("redis-cli", words...)...)
		}
	}
	return out
}

func mongoRule(c *call) []Effect {
	var out []Effect
	for _, t := range c.values("--eval") {
		out = append(out, mongoCode(t.text, c.r.judge.tables.Nouns)...)
	}
	scripts := slices.DeleteFunc(slices.Clone(c.operands), func(a arg) bool { return !strings.HasSuffix(a.text, ".js") })
	for _, f := range append(c.values("--file", "-f"), scripts...) {
		out = append(out, one(KindDatabase, say("runs the script %s, which was not read, in the database", f.text), f.text)...)
	}
	if len(out) > 0 {
		return out
	}
	if text, all := c.input(); all && text.text != "" {
		return mongoCode(text.text, c.r.judge.tables.Nouns)
	}
	return unknown(say("opens a session on the database whose commands are not known"), c.name)
}

// calls reports whether program text calls a method that begins with a word,
// or holds an operator such as $out.
func calls(code, word string) bool {
	if strings.ContainsAny(word, "$(") {
		return strings.Contains(code, word)
	}
	command := strings.Contains(code, "command(")
	for rest := code; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		before := i > 0 && strings.IndexByte(`."'{ [`, rest[i-1]) >= 0
		rest = rest[i+len(word):]
		after := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz")
		if before && (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "\"](") || strings.HasPrefix(after, "'](") ||
			command && strings.HasPrefix(strings.TrimLeft(after, "\"' "), ":")) {
			return true
		}
	}
}

func mongoCode(code string, nouns map[string]map[string]bool) []Effect {
	lower := strings.ToLower(code)
	for w := range nouns["mongo-changes"] {
		if calls(lower, w) {
			return one(KindDatabase, say("changes the database: %s", clip(code, 120)), "mongo")
		}
	}
	for w := range nouns["mongo-reads"] {
		if strings.Contains(lower, w) {
			return reads()
		}
	}
	return unknown(say("runs code in the database that is not known: %s", clip(code, 120)), "mongo")
}

// sqlArg judges the statement that is the last operand, or the input.
func sqlArg(c *call) []Effect {
	if n := len(c.operands); n > c.took {
		return c.r.sql(c.operand(n-1), wording.Say(theDatabase))
	}
	return c.fed(wording.Say(theDatabase))
}

// cypherRule judges a query of a graph.
func cypherRule(c *call) []Effect {
	text := c.rest(0)
	if t, all := c.input(); text == "" && all {
		text = t.text
	}
	switch {
	case text == "":
		return unknown(say("runs queries that were not read"), c.name)
	case c.r.judge.tables.inText("graph-changes", " "+strings.ToLower(text)+" ") != nil:
		return one(KindDatabase, say("changes the graph: %s", clip(text, 120)), "graph")
	}
	return reads()
}

// metaCommands judges the lines of psql (\d) and sqlite3 (.tables) that are no
// SQL and returns what is left.
func (r *reading) metaCommands(text string, out *[]Effect) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		s := strings.TrimSpace(l)
		if !strings.HasPrefix(s, "\\") && (!strings.HasPrefix(s, ".") || len(s) < 2 || s[1] < 'a' || s[1] > 'z') {
			if i := strings.Index(s, "\\g"); i >= 0 && strings.Contains(s[i:], "gexec") {
				*out = append(*out, usual(KindUnknown).with(say("runs SQL that a query makes up"), ""))
			}
			b.WriteString(l)
			continue
		}
		*out = append(*out, r.metaCommand(s)...)
	}
	return b.String()
}

// metaCommand judges one line that a client of a database takes for itself.
func (r *reading) metaCommand(s string) []Effect {
	f := strings.Fields(s)
	v := &invocation{cwd: r.world.cwd}
	file := ""
	if len(f) > 1 {
		file = strings.Trim(f[len(f)-1], "'\"")
	}
	switch strings.TrimRight(f[0], "+") {
	case "\\!", ".shell", ".system", ".sh":
		if r.depth > 3 {
			return unknown(say("runs a shell from SQL"), s)
		}
		r.depth++
		defer func() { r.depth-- }()
		return r.aside(strings.TrimSpace(strings.TrimPrefix(s, f[0])))
	case "\\i", "\\ir", "\\include", ".read", "\\.":
		return unknown(say("runs SQL from the file %s that was not read", file), file)
	case "\\copy":
		if up := strings.ToUpper(s); strings.Contains(up, " FROM ") && !strings.HasPrefix(strings.TrimSpace(up[len("\\copy"):]), "(") {
			return one(KindDatabase, say("loads rows into a table: %s", clip(s, 100)), file)
		}
		return r.write(v, literal(file), "writes")
	case "\\o", "\\out", ".output", ".once", ".backup", ".save", ".clone", ".log", ".excel", "\\w", "\\write", "\\s":
		if file == "" || file == "stdout" {
			return nil
		}
		return r.write(v, literal(file), "writes")
	case ".import", ".restore", ".recover", "\\lo_import", "\\lo_unlink", "\\password", ".load", ".archive", "\\gexec", "\\lo_export":
		return one(KindDatabase, say("changes the database: %s", clip(s, 100)), s)
	}
	return nil
}

// aside is what a line of the shell would do that another language carries.
func (r *reading) aside(line string) []Effect {
	before := len(r.effects)
	r.script(readings.ReadLine(line, r.shellOptions()))
	got := slices.Clone(r.effects[before:])
	r.effects = r.effects[:before]
	return got
}
