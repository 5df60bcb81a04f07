package effects

import (
	"slices"
	"strings"

	"github.com/DataDog/go-sqllexer"

	"github.com/metnos/vaglio/vaglio/wording"
)

// maxSQL bounds the SQL text that is read, in bytes.
const maxSQL = 1 << 20

// statement is one SQL statement as its significant tokens, upper case but for
// quoted names and texts.
type statement struct {
	words []string
	depth []int // of parentheses, per word
	calls []int // the words that a parenthesis follows
}

// statements splits SQL text. The lexer knows the quoting and the comments of
// the common dialects; ok is false when a text or a comment is not closed.
func statements(text string) (out []statement, ok bool) {
	lex := sqllexer.New(text)
	var cur statement
	depth := 0
	ok = true
	for {
		t := lex.Scan()
		switch t.Type {
		case sqllexer.EOF:
			if len(cur.words) > 0 {
				out = append(out, cur)
			}
			return out, ok
		case sqllexer.ERROR, sqllexer.INCOMPLETE_STRING:
			ok = false
			if t.Type == sqllexer.ERROR {
				return append(out, cur), false
			}
		case sqllexer.SPACE, sqllexer.COMMENT:
			continue
		case sqllexer.MULTILINE_COMMENT:
			// MySQL runs what stands in /*! … */.
			if body, is := strings.CutPrefix(t.Value, "/*!"); is {
				inner, _ := statements(strings.TrimLeft(strings.TrimSuffix(body, "*/"), "0123456789"))
				out = append(out, inner...)
			}
			continue
		default:
		}
		switch v := t.Value; {
		case v == ";":
			if len(cur.words) > 0 {
				out = append(out, cur)
			}
			cur, depth = statement{}, 0
		case v == "(":
			cur.calls = append(cur.calls, len(cur.words)-1)
			depth++
		case v == ")":
			depth = max(0, depth-1)
		case t.Type == sqllexer.STRING || t.Type == sqllexer.QUOTED_IDENT || t.Type == sqllexer.DOLLAR_QUOTED_STRING || t.Type == sqllexer.INCOMPLETE_STRING:
			cur.words, cur.depth = append(cur.words, "'"+v), append(cur.depth, depth)
		default:
			cur.words, cur.depth = append(cur.words, strings.ToUpper(v)), append(cur.depth, depth)
		}
	}
}

// memory names a database that nobody keeps.
const memory = ":memory:"

func inMemory() wording.Clause { return object(memory) }

// sql is the effect of running SQL text.
func (r *reading) sql(text string, where wording.Clause) []Effect {
	if strings.TrimSpace(text) == "" {
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	}
	if len(text) > maxSQL {
		return unknown(say("runs more SQL than is read"), where.String())
	}
	var out []Effect
	if f := strings.Fields(strings.ToLower(text)); runsProgram(f) {
		out = append(out, usual(KindForeignCode).with(sayOf("has the database run a program on %s", where), where.String()))
	}
	rest := r.metaCommands(text, &out)
	list, ok := statements(rest)
	for i := range list {
		if e, changes := list[i].effect(r.judge.tables, where); changes {
			out = append(out, e)
		}
	}
	if !ok {
		out = append(out, usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", where), where.String()))
	}
	if len(out) == 0 {
		return reads()
	}
	return out
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

func (r *reading) metaCommand(s string) []Effect {
	f := strings.Fields(s)
	v := &invocation{cwd: r.world.cwd}
	file := ""
	if len(f) > 1 {
		file = strings.Trim(f[len(f)-1], "'\"")
	}
	switch name := strings.TrimRight(f[0], "+"); name {
	case "\\!", ".shell", ".system", ".sh":
		if r.depth > 3 {
			return unknown(say("runs a shell from SQL"), s)
		}
		r.depth++
		defer func() { r.depth-- }()
		before := len(r.effects)
		r.shellText(strings.TrimSpace(strings.TrimPrefix(s, f[0])))
		got := append([]Effect(nil), r.effects[before:]...)
		r.effects = r.effects[:before]
		return got
	case "\\i", "\\ir", "\\include", ".read", "\\.":
		return unknown(say("runs SQL from the file %s that was not read", file), file)
	case "\\copy":
		if up := strings.ToUpper(s); strings.Contains(up, " FROM ") && !strings.HasPrefix(strings.TrimSpace(up[len("\\copy"):]), "(") {
			return one(KindDatabase, say("loads rows into a table: %s", clip(s, 100)), file)
		}
		return r.write(v, literal(file), "writes")
	case "\\o", "\\out", ".output", ".once", ".backup", ".save", ".clone", ".log", ".excel", "\\w", "\\write", "\\s":
		if file == "" || len(f) < 2 || file == "stdout" {
			return nil
		}
		return r.write(v, literal(file), "writes")
	case ".import", ".restore", ".recover", "\\lo_import", "\\lo_unlink", "\\password", ".load", ".archive", "\\gexec", "\\lo_export":
		return one(KindDatabase, say("changes the database: %s", clip(s, 100)), s)
	}
	return nil
}

// effect says what a statement does, and whether it changes anything.
func (s *statement) effect(t *tables, where wording.Clause) (Effect, bool) {
	verb, at := s.verb()
	e := usual(KindDatabase)
	if strings.Contains(where.String(), memory) {
		return e, false
	}
	target := s.target(at)
	e.Target = strings.TrimSpace(target + " " + where.String())
	e.Why = sayOf("%ss %s in %s", object(strings.ToLower(verb)), object(target), where)
	if t.ofClass("sql-reads", verb) {
		return s.query(t, e, where)
	}
	switch verb {
	case "EXPLAIN", "PROFILE":
		if s.has("ANALYZE") || s.has("ANALYSE") {
			for _, w := range []string{"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"} {
				if s.has(w) {
					e.Why = say("runs the statement that it explains: %s", strings.ToLower(w))
					return e, true
				}
			}
		}
		return e, false
	case "SET", "RESET":
		if s.has("GLOBAL") || s.has("PERSIST") || s.has("PASSWORD") || s.has("@@GLOBAL") {
			return e.with(say("changes a setting of the database server"), where.String()), true
		}
		return e, false
	case "EXEC", "EXECUTE":
		switch strings.ToLower(target) {
		case "sp_help", "sp_who", "sp_who2", "sp_columns", "sp_tables", "sp_helptext", "sp_spaceused", "sp_databases", "sp_helpindex", "sp_helpdb",
			"sp_lock", "sp_depends":
			return e, false
		}
		return e, true
	case "PRAGMA":
		if s.has("=") && !s.hasPrefix("FOREIGN_KEYS") && !s.has("TABLE_INFO") {
			return e.with(say("changes a setting of the database"), where.String()).as(Partial, ReachUser), true
		}
		return e, false
	case "COPY", "UNLOAD", "EXPORT":
		if verb == "COPY" && s.has("TO") && !s.has("PROGRAM") && (s.has("STDOUT") || !s.has("FROM")) {
			return e.with(say("writes query results to a file of the server"), where.String()).as(Partial, ReachUser), !s.has("STDOUT")
		}
		return e.with(sayOf("copies data in or out of %s", where), where.String()), true
	case "DELETE", "UPDATE":
		e.Why = sayOf("%ss rows of %s in %s", object(strings.ToLower(verb)), object(target), where)
		if !s.has("WHERE") && !s.has("LIMIT") {
			e.Why = sayOf("%ss every row of %s in %s", object(strings.ToLower(verb)), object(target), where)
			e.Reach = ReachPublic // as bad as it gets
		}
		return e, true
	case "DROP", "TRUNCATE":
		if verb == "DROP" {
			e.Why = sayOf("drops with all its data %s in %s", object(target), where)
		}
		return e, true
	case "INSERT", "REPLACE", "MERGE", "CREATE", "COMMENT", "LOCK", "REINDEX", "VACUUM", "OPTIMIZE", "REFRESH", "CLUSTER", "CHECKPOINT", "ATTACH",
		"LOAD", "INSTALL", "FLUSH", "NOTIFY", "LISTEN", "CACHE":
		return e.as(Partial, ReachShared), true
	case "":
		return usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", where), where.String()), true
	}
	return e, true // ALTER, GRANT, REVOKE, CALL, EXEC, DO, KILL, …, and what no dialect knows
}

// query judges a statement that reads, for what it may do on the side.
func (s *statement) query(t *tables, e Effect, where wording.Clause) (Effect, bool) {
	for i, w := range s.words {
		if t.ofClass("sql-acts", w) {
			return e.with(sayOf("calls %s on %s, which does more than read", object(strings.ToLower(w)), where), where.String()), true
		}
		switch w {
		case "INTO":
			if s.words[0] == "SELECT" || s.has("OUTFILE") || s.has("DUMPFILE") {
				return e.with(sayOf("writes query results to a new table or file in %s", where), where.String()), true
			}
		case "PG_READ_FILE", "PG_READ_BINARY_FILE", "LOAD_FILE", "PG_SHADOW", "PG_AUTHID", "PASSWORD_HASH":
			return usual(KindCredentials).with(say("reads files or passwords of the database server: %s", strings.ToLower(w)), where.String()), true
		case "DELETE", "UPDATE", "INSERT", "MERGE":
			if s.depth[i] > 0 && (i == 0 || s.words[i-1] == "AS" || s.depth[i-1] < s.depth[i]) && i+1 < len(s.words) &&
				(s.words[i+1] == "FROM" || s.words[i+1] == "INTO" || w == "UPDATE" && s.has("SET")) {
				return e.with(sayOf("%ss rows in %s", object(strings.ToLower(w)), where), where.String()), true
			}
		}
	}
	for _, i := range s.calls {
		if i >= 0 && t.actingFunction(s.words[i]) {
			called := object(strings.ToLower(s.words[i]))
			return e.with(sayOf("calls the function %s in %s, which by its name does more than read", called, where), where.String()), true
		}
	}
	return e, false
}

// actingFunction reports whether a function of a database, which is no one of
// SQL's own, changes something by its name.
func (t *tables) actingFunction(name string) bool {
	words := taskWords(strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "'\"`")))
	if len(words) < 2 {
		return false
	}
	return t.ofClass("acting-function", words[0])
}

// verb finds the statement's main verb: with common table expressions it
// stands behind them.
func (s *statement) verb() (string, int) {
	if len(s.words) == 0 {
		return "", 0
	}
	if s.words[0] != "WITH" {
		return s.words[0], 0
	}
	for i, w := range s.words {
		if s.depth[i] != 0 {
			continue
		}
		switch w {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "FROM":
			return w, i
		}
	}
	return "", 0
}

// target is the object that the statement names, for a person to read.
func (s *statement) target(at int) string {
	for _, w := range s.words[min(at+1, len(s.words)):] {
		switch w {
		case "FROM", "INTO", "IF", "EXISTS", "NOT", "ONLY", "OR", "REPLACE", "TEMP", "TEMPORARY", "IGNORE", "CONCURRENTLY":
			continue
		case "TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "KEYSPACE", "COLLECTION":
			continue
		}
		return strings.ToLower(strings.Trim(w, "'`\"[]"))
	}
	return "something"
}

func (s *statement) has(word string) bool {
	return slices.Contains(s.words, word)
}

func (s *statement) hasPrefix(word string) bool {
	for _, w := range s.words {
		if strings.HasPrefix(w, word) {
			return true
		}
	}
	return false
}

// runsProgram reports whether words of SQL copy to or from a program.
func runsProgram(words []string) bool {
	for i, w := range words {
		if w == "program" && i > 0 && (words[i-1] == "to" || words[i-1] == "from") {
			return true
		}
	}
	return false
}
