package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/DataDog/go-sqllexer"

	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
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
	var s splitter
	ok = true
	for {
		t := lex.Scan()
		switch t.Type {
		case sqllexer.EOF:
			s.end()
			return s.done, ok
		case sqllexer.ERROR:
			s.end()
			return s.done, false
		case sqllexer.SPACE, sqllexer.COMMENT:
		case sqllexer.MULTILINE_COMMENT:
			// MySQL runs what stands in /*! … */.
			if body, is := strings.CutPrefix(t.Value, "/*!"); is {
				inner, _ := statements(strings.TrimLeft(strings.TrimSuffix(body, "*/"), "0123456789"))
				s.done = append(s.done, inner...)
			}
		case sqllexer.STRING, sqllexer.QUOTED_IDENT, sqllexer.DOLLAR_QUOTED_STRING, sqllexer.INCOMPLETE_STRING:
			ok = ok && t.Type != sqllexer.INCOMPLETE_STRING
			s.take(t.Value, "'"+t.Value)
		default:
			s.take(t.Value, strings.ToUpper(t.Value))
		}
	}
}

// splitter gathers tokens into statements.
type splitter struct {
	statement
	done  []statement
	level int // of parentheses
}

// end ends a statement that has words.
func (s *splitter) end() {
	if len(s.words) > 0 {
		s.done = append(s.done, s.statement)
	}
	s.statement, s.level = statement{}, 0
}

// take adds a token, which is a word unless it is a sign that divides.
func (s *splitter) take(token, word string) {
	switch token {
	case ";":
		s.end()
	case "(":
		if len(s.words) > 0 {
			s.calls = append(s.calls, len(s.words)-1)
		}
		s.level++
	case ")":
		s.level = max(0, s.level-1)
	default:
		s.words, s.depth = append(s.words, word), append(s.depth, s.level)
	}
}

// memory names a database that nobody keeps, theDatabase one without a known name.
const memory, theDatabase = ":memory:", wording.Phrase("the database")

// sql is the effect of running SQL text.
func (r *reading) sql(text string, where wording.Clause) []Effect {
	if strings.TrimSpace(text) == "" {
		return unknown(sayOf("runs SQL that was not read on %s", where), where.String())
	}
	if len(text) > maxSQL {
		return unknown(say("runs more SQL than is read"), where.String())
	}
	var out []Effect
	if f := strings.Join(strings.Fields(" . "+strings.ToLower(text)+" . "), " "); strings.Contains(f, " to program ") || strings.Contains(f, " from program ") {
		out = append(out, usual(KindForeignCode).with(sayOf("has the database run a program on %s", where), where.String()))
	}
	list, ok := statements(r.metaCommands(text, &out))
	for i := range list {
		if r.localDB && list[i].adds() {
			continue
		}
		if e, changes := list[i].effect(r.judge.tables, where); changes {
			out = append(out, e.inFolder(r.localDB))
		}
	}
	if !ok {
		out = append(out, usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", where), where.String()))
	}
	if len(out) == 0 {
		return one(KindRead, readBy(list), "")
	}
	return out
}

// readBy says what is read, where that is one table alone.
func readBy(list []statement) wording.Sentence {
	if len(list) == 1 && list[0].words[0] == "SELECT" && !list[0].has("JOIN") {
		at := slices.Index(list[0].words, "FROM")
		if from := list[0].words[at+1:]; at > 0 && len(from) > 0 && !slices.Contains(from, ",") && !slices.Contains(from, "FROM") {
			return wording.Sentence{{Phrase: "reads"}, object(strings.ToLower(strings.Trim(from[0], "'`\"[]")))}
		}
	}
	return say("reads")
}

// effect says what a statement does, and whether it changes anything.
func (s *statement) effect(t *tables, where wording.Clause) (Effect, bool) {
	verb, at := s.verb()
	e := usual(KindDatabase)
	if strings.Contains(where.String(), memory) {
		return e, false
	}
	if verb == "GRANT" || verb == "REVOKE" {
		at = max(at, slices.Index(s.words, "ON"))
	}
	target, class := s.target(at)
	e.Target = strings.TrimSpace(target + " " + where.String())
	e.Why = s.said(verb, class, target, where)
	if t.ofClass("sql-reads", verb) {
		return s.query(t, e, where)
	}
	switch verb {
	case "EXPLAIN", "PROFILE", "SET", "RESET", "PRAGMA", "EXEC", "EXECUTE":
		return s.mayChange(t, verb, target, e, where)
	case "COPY", "UNLOAD", "EXPORT":
		if verb == "COPY" && s.copiesOut() {
			return e.with(say("writes query results to a file of the server"), where.String()).as(Partial, ReachUser), !s.has("STDOUT")
		}
		return e.with(sayOf("copies data in or out of %s", where), where.String()), true
	case "DELETE", "UPDATE", "INSERT":
		return s.rows(verb, target, e, where), true
	case "CREATE", "COMMENT", "LOCK", "REINDEX", "VACUUM", "OPTIMIZE", "REFRESH", "CLUSTER", "CHECKPOINT", "ATTACH",
		"LOAD", "INSTALL", "FLUSH", "NOTIFY", "LISTEN", "CACHE", "GRANT", "REVOKE":
		return e.as(Partial, ReachShared), true
	case "":
		return usual(KindUnknown).with(sayOf("runs SQL that could not be read on %s", where), where.String()), true
	}
	return map[bool]Effect{true: e.as(Partial, ReachShared), false: e}[s.adds()], true // What no dialect knows, too.
}

// said is what a statement does to what it is about.
func (s *statement) said(verb, class, target string, where wording.Clause) wording.Sentence {
	if n := len(s.words); n == 6 && s.words[n-3]+" "+s.words[n-2] == "DROP COLUMN" { // and nothing else
		return saidIn(say("drops the column %s of %s", strings.ToLower(strings.Trim(s.words[n-1], "'`\"[]")), target), where)
	}
	if verb == "CREATE" && !s.adds() {
		verb += " OR REPLACE"
	}
	return statementSaid(verb, class, target, where)
}

// adds reports whether a statement makes something new in a database, or adds to
// the form of what is there, so that nothing is lost.
func (s *statement) adds() bool {
	if s.words[0] == "CREATE" {
		return !s.has("REPLACE")
	}
	return s.words[0] == "ALTER" && (s.has("ADD") || s.has("RENAME")) && !s.has("DROP") && !s.has("TYPE") && !s.has("MODIFY") && !s.has("CHANGE")
}

// copiesOut reports whether rows are copied to a file or to whoever asks.
func (s *statement) copiesOut() bool {
	return s.has("TO") && !s.has("PROGRAM") && (s.has("STDOUT") || !s.has("FROM"))
}

// mayChange judges a statement whose words say whether it changes anything.
func (s *statement) mayChange(t *tables, verb, target string, e Effect, where wording.Clause) (Effect, bool) {
	switch verb {
	case "SET", "RESET":
		e = e.with(say("changes a setting of the database server"), where.String())
		if s.has("PASSWORD") { // nobody knows the old one
			return e, true
		}
		return e.as(Partial, ReachShared), s.has("GLOBAL") || s.has("PERSIST") || s.has("@@GLOBAL")
	case "PRAGMA":
		return e.with(say("changes a setting of the database"), where.String()).as(Partial, ReachUser),
			s.has("=") && !strings.Contains(" "+strings.Join(s.words, " "), " FOREIGN_KEYS") && !s.has("TABLE_INFO")
	case "EXEC", "EXECUTE":
		return e, !t.ofClass("sql-tells", strings.ToLower(target))
	}
	for _, w := range []string{"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"} {
		if i := slices.Index(s.words, w); i > 0 {
			explained, _ := (&statement{words: s.words[i:], depth: s.depth[i:]}).effect(t, where)
			return explained, s.has("ANALYZE") || s.has("ANALYSE")
		}
	}
	return e, false
}

// rows judges a change of rows: of all of them, it is as bad as it gets. Those only added can be taken out.
func (s *statement) rows(verb, target string, e Effect, where wording.Clause) Effect {
	if verb == "INSERT" && !s.has("UPDATE") && !s.has("REPLACE") && !s.has("OVERWRITE") {
		return e.as(Partial, ReachShared)
	}
	if verb == "INSERT" {
		return e.with(statementSaid("MERGE", "", target, where), e.Target)
	}
	if !s.has("WHERE") && !s.has("LIMIT") {
		e.Why, e.Reach = statementSaid(verb+" *", "", target, where), ReachPublic
	}
	return e
}

// statementSaid says what a statement of that verb does to objects of a class.
func statementSaid(verb, class, target string, where wording.Clause) wording.Sentence {
	said := map[string]wording.Phrase{
		"DELETE": "deletes rows of %s", "DELETE *": "deletes every row of %s", "UPDATE": "updates rows of %s", "UPDATE *": "updates every row of %s",
		"INSERT": "adds rows to %s", "REPLACE": "adds or changes rows of %s", "MERGE": "adds or changes rows of %s",
		"CREATE": "creates %s", "CREATE OR REPLACE": "creates or replaces %s", "ALTER": "changes %s", "TRUNCATE": "empties %s", "DROP": "drops %s",
		"REMOVE": "drops %s", "GRANT": "changes who may use %s", "REVOKE": "changes who may use %s",
	}[verb]
	if said == "" {
		return sayOf("runs the statement %s on %s in %s", object(strings.ToLower(verb)), object(target), where)
	}
	what := object(target)
	if thing, _, _ := spoken.ThingOf([]string{cmp.Or(class, map[string]string{"TRUNCATE": "table"}[verb])}); thing != nil {
		what = wording.Say(map[bool]wording.Phrase{true: thing.Several, false: thing.One}[strings.Contains(target, ", ")], target)
	}
	return saidIn(sayOf(said, what), where)
}

// saidIn says in which database something is done, where its name is known.
func saidIn(said wording.Sentence, where wording.Clause) wording.Sentence {
	if where.Phrase == theDatabase {
		return said
	}
	return append(said, wording.Clause{Phrase: "in %s", Args: []wording.Clause{where}})
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
			if s.beginsAt(i) {
				return e.with(sayOf("changes rows in %s: %s", where, object(strings.ToLower(w))), where.String()), true
			}
		}
	}
	for _, i := range s.calls {
		if t.actingFunction(s.words[i]) {
			called := object(strings.ToLower(s.words[i]))
			return e.with(sayOf("calls the function %s in %s, which by its name does more than read", called, where), where.String()), true
		}
	}
	return e, false
}

// beginsAt reports whether a verb begins a statement inside of this one, rather
// than being a name.
func (s *statement) beginsAt(i int) bool {
	if s.depth[i] == 0 || i+1 == len(s.words) || i > 0 && s.words[i-1] != "AS" && s.depth[i-1] >= s.depth[i] {
		return false
	}
	next := s.words[i+1]
	return next == "FROM" || next == "INTO" || s.words[i] == "UPDATE" && s.has("SET")
}

// actingFunction reports whether a function of a database, which is no one of
// SQL's own, changes something by its name.
func (t *tables) actingFunction(name string) bool {
	words := readings.Words(strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "'\"`")))
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

// target is the objects that the statement names, for a person to read, and of which
// class they are.
func (s *statement) target(at int) (names, class string) {
	var named []string
	for more, rest := true, s.words[min(at+1, len(s.words)):]; len(rest) > 0; rest = rest[1:] {
		switch w := rest[0]; w {
		case "FROM", "INTO", "IF", "EXISTS", "NOT", "ONLY", "OR", "REPLACE", "TEMP", "TEMPORARY", "IGNORE", "CONCURRENTLY", "MATERIALIZED",
			"UNIQUE", "ON", "FULL", "VERBOSE":
		case "TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "KEYSPACE", "COLLECTION", "FUNCTION", "TRIGGER", "SEQUENCE":
			class = strings.ToLower(w)
		case ",":
			more = true
		default:
			if !more {
				return strings.Join(named, ", "), class
			}
			if at == 0 && class == "" && named == nil && len(rest) > 1 && rest[1] != "SET" && slices.Contains([]string{"DROP", "CREATE", "ALTER"}, s.words[0]) {
				class = strings.ToLower(w) // One that is not listed.
				continue
			}
			named, more = append(named, strings.ToLower(strings.Trim(w, "'`\"[]"))+map[bool]string{true: "*"}[strings.HasSuffix(w, ".")]), false
		}
	}
	return cmp.Or(strings.Join(named, ", "), "something"), class
}

func (s *statement) has(word string) bool { return slices.Contains(s.words, word) }
