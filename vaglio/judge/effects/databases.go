package effects

import (
	"slices"
	"strings"

	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// client judges a client of a database by the statements that stand in its words, in
// the files that it is told, or else in its input.
func (c *call) client() []Effect {
	kept, file := c.r.judge.tables.ofClass("keeps-in-file", c.name), c.operand(0)
	if kept && strings.Contains(file, " ") && !strings.Contains(file, ".") {
		c.about = append(c.about, c.operands[0]) // a statement instead of a file
	}
	where := c.database(kept, file)
	c.r.localDB = kept && file != "" && c.operands[0].known && c.host == "" && !c.production() && c.r.world.placeOf(c.operands[0], c.cwd) == placeWorkspace
	defer func() { c.r.localDB = false }()
	var out []Effect
	for _, t := range c.about {
		if !t.known && strings.Trim(t.text, "$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_(){}") == "" {
			out = append(out, unknown(sayOf("runs SQL that is not known on %s", where), where.String())...)
			continue
		}
		out = append(out, c.r.sql(t.text, where)...)
	}
	for _, f := range c.with {
		if text, ok := c.content(f.text); ok && f.known {
			out = append(out, c.r.sql(text, where)...)
			continue
		}
		out = append(out, unreadSQL(f, where)...)
	}
	if len(out) > 0 {
		return append(out, c.writeAll("writes", c.values("-o", "--output", "-L"))...)
	}
	switch text, all := c.input(); {
	case all && text.text != "":
		return c.r.sql(text.text, where)
	case c.stdin.kind == shell.InputFile:
		return unreadSQL(c.stdin.file, where)
	case c.stdin.kind != shell.InputInherited:
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	case kept:
		return reads()
	}
	return unknown(sayOf("opens a session on %s whose commands are not known", where), where.String())
}

func unreadSQL(file arg, where wording.Clause) []Effect {
	return one(KindDatabase, sayOf("runs SQL from the file %s, which was not read, on %s", object(file.text), where), file.text)
}

// database is the one that a client works on: by the table, by its file, by its host or
// as its first word. One in memory or in a temporary file is nobody's.
func (c *call) database(kept bool, file string) wording.Clause {
	switch h, ok := c.value("-h", "--host", "-S"); {
	case c.why != "":
		return wording.Say(wording.Phrase(c.why))
	case kept && (file == "" && c.name == "duckdb" || file == memory || file != "" && c.operands[0].known && c.r.world.placeOf(c.operands[0], c.cwd) == placeTemp):
		return object(memory)
	case kept:
		return object(file)
	case ok && h.text != "":
		return wording.Say("the database on %s", h.text)
	}
	if name := c.operand(c.took); name != "" && !strings.ContainsAny(name, " :/;$") {
		return object(name)
	}
	return wording.Say(theDatabase)
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
	c := &call{invocation: &invocation{name: "sql", cwd: r.world.cwd}, r: r}
	var words []arg
	for w := range strings.FieldsSeq(s) {
		words = append(words, literal(strings.Trim(w, "'\"")))
	}
	words[0].text = strings.TrimRight(words[0].text, "+")
	if line, ok := strings.CutPrefix(s, words[0].text+" "); ok && r.judge.tables.ofClass("runs-line", words[0].text) {
		if r.depth > 3 {
			return unknown(say("runs a shell from SQL"), s)
		}
		r.depth++
		defer func() { r.depth-- }()
		return r.aside(strings.TrimSpace(line))
	}
	return c.rows("(client-line)", words...)
}

// aside is what a line of the shell would do that another language carries.
func (r *reading) aside(line string) []Effect {
	before := len(r.effects)
	r.script(readings.ReadLine(line, r.shellOptions()))
	got := slices.Clone(r.effects[before:])
	r.effects = r.effects[:before]
	return got
}
