// Package sql splits a text into its SQL statements, and says what each does to what, in the
// common dialects: by its words, without a grammar.
package sql

import (
	"slices"
	"strings"

	"github.com/DataDog/go-sqllexer"
)

// Statement is one SQL statement as its significant tokens.
type Statement struct {
	// Words are in upper case. A quoted name or text keeps its case and follows a single
	// quote.
	Words []string

	sets  bool  // it has the word SET
	depth []int // of parentheses, per word
	calls []int // indexes of the words that a parenthesis follows
}

// Statements returns the statements of a text. The lexer knows the quoting and the comments
// of the common dialects. ok is false if a text or a comment is not closed.
func Statements(text string) (out []Statement, ok bool) {
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
			// MySQL runs the content of /*! … */.
			if body, is := strings.CutPrefix(t.Value, "/*!"); is {
				inner, _ := Statements(strings.TrimLeft(strings.TrimSuffix(body, "*/"), "0123456789"))
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

// splitter collects tokens into statements.
type splitter struct {
	Statement
	done  []Statement
	level int // of parentheses
}

// end ends a statement that has words.
func (s *splitter) end() {
	if len(s.Words) > 0 {
		s.done = append(s.done, s.Statement)
	}
	s.Statement, s.level = Statement{}, 0
}

// take adds a token as a word, unless it is a separator.
func (s *splitter) take(token, word string) {
	switch token {
	case ";":
		s.end()
	case "(":
		if len(s.Words) > 0 {
			s.calls = append(s.calls, len(s.Words)-1)
		}
		s.level++
	case ")":
		s.level = max(0, s.level-1)
	default:
		s.Words, s.depth, s.sets = append(s.Words, word), append(s.depth, s.level), s.sets || word == "SET"
	}
}

// Verb returns the statement's main verb and its index. It follows any common table
// expressions.
func (s *Statement) Verb() (string, int) {
	if len(s.Words) == 0 {
		return "", 0
	}
	if s.Words[0] != "WITH" {
		return s.Words[0], 0
	}
	for i, w := range s.Words {
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

// Graph reports whether the statement is about patterns of a graph, as those of Cypher are.
func (s *Statement) Graph() bool {
	switch verb, at := s.Verb(); verb {
	case "MATCH", "OPTIONAL", "UNWIND", "FOREACH":
		return true
	case "CREATE", "MERGE":
		return slices.Contains(s.calls, at)
	}
	return false
}

// Target returns the objects that the statement names, for a person to read, and their class.
func (s *Statement) Target(at int) (names, class string) {
	var named []string
	for more, rest := true, s.Words[min(at+1, len(s.Words)):]; len(rest) > 0; rest = rest[1:] {
		switch w := rest[0]; w {
		case "FROM", "INTO", "IF", "EXISTS", "NOT", "ONLY", "OR", "REPLACE", "TEMP", "TEMPORARY", "IGNORE", "CONCURRENTLY", "MATERIALIZED",
			"UNIQUE", "ON", "FULL", "VERBOSE", "ALL", "TABLES", "IN":
		case "TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "KEYSPACE", "COLLECTION", "FUNCTION", "TRIGGER", "SEQUENCE":
			class = strings.ToLower(w)
		case ",":
			more = true
		case "`": // the lexer takes it for an operator
		default:
			if !more {
				return strings.Join(named, ", "), class
			}
			if class == "" && named == nil && s.names(rest) {
				class = strings.ToLower(w) // One that is not listed.
				continue
			}
			name := strings.ToLower(Unquoted(w))
			if strings.HasSuffix(w, ".") {
				name += "*"
			}
			named, more = append(named, name), false
		}
	}
	return strings.Join(named, ", "), class
}

// Parts returns what an ALTER drops of its target, and of which class that is; of several classes, the first.
func (s *Statement) Parts() (class string, named []string) {
	for i := 0; i < len(s.Words) && s.Words[0] == "ALTER"; i++ {
		rest := append(slices.Clone(s.Words[i:min(i+8, len(s.Words))]), ",") // a name needs no more
		if name, of := (&Statement{Words: rest[:slices.Index(rest, ",")]}).Target(0); s.Words[i] == "DROP" && of != "" && (class == "" || class == of) {
			class, named = of, append(named, name)
		}
	}
	return class, named
}

// names reports whether the first of the words is the class of the statement's object.
func (s *Statement) names(rest []string) bool {
	granted := (s.Words[0] == "GRANT" || s.Words[0] == "REVOKE") && slices.Contains([]string{"ROLE", "USER", "GROUP"}, rest[0])
	return len(rest) > 1 && rest[1] != "SET" && (granted || slices.Contains([]string{"DROP", "CREATE", "ALTER"}, s.Words[0]))
}

// Adds reports whether a statement creates something in a database or extends its structure,
// so that no row is lost, as none is with an index.
func (s *Statement) Adds() bool {
	if s.Words[0] == "DROP" {
		return len(s.Words) > 1 && s.Words[1] == "INDEX" && !s.Has("CASCADE")
	}
	if s.Words[0] == "COPY" {
		return s.says("FROM") && !s.Has("PROGRAM")
	}
	if s.Words[0] == "CREATE" || s.Words[0] == "INSERT" {
		return !s.Has("REPLACE", "UPDATE", "OVERWRITE")
	}
	return s.Words[0] == "ALTER" && s.Has("ADD", "RENAME") && !s.Has("DROP", "TYPE", "MODIFY", "CHANGE")
}

// CopiesOut reports whether rows are copied to a file or to the caller.
func (s *Statement) CopiesOut() bool {
	return s.says("TO") && !s.Has("PROGRAM") && (s.Has("STDOUT") || !s.says("FROM"))
}

// says reports whether a word stands in the statement itself, not in brackets.
func (s *Statement) says(word string) bool {
	for i, w := range s.Words {
		if w == word && s.depth[i] == 0 {
			return true
		}
	}
	return false
}

// Extends reports whether a statement loads an extension that is not DuckDB's own.
func (s *Statement) Extends() bool {
	loads := slices.Contains([]string{"INSTALL", "FORCE", "LOAD"}, s.Words[0])
	return loads && (s.Has("FROM") || strings.ContainsAny(strings.Join(s.Words, ""), "/."))
}

// Attached returns the file of another database that a statement opens.
func (s *Statement) Attached() (file string, ok bool) {
	if s.Words[0] != "ATTACH" {
		return "", false
	}
	for _, w := range s.Words[1:] {
		if !slices.Contains([]string{"DATABASE", "IF", "NOT", "EXISTS"}, w) {
			return Unquoted(w), true
		}
	}
	return "", true
}

// Unquoted returns a word without its quotes.
func Unquoted(word string) string { return strings.Trim(word, "'`\"[]") }

// BeginsAt reports whether the word begins a nested statement, and is not just a name.
func (s *Statement) BeginsAt(i int) bool {
	if s.depth[i] == 0 || i+1 == len(s.Words) || i > 0 && s.Words[i-1] != "AS" && s.depth[i-1] >= s.depth[i] {
		return false
	}
	next := s.Words[i+1]
	return next == "FROM" || next == "INTO" || s.Words[i] == "UPDATE" && s.sets
}

// Called returns the functions that a statement calls.
func (s *Statement) Called() (names []string) {
	for _, at := range s.calls {
		names = append(names, s.Words[at])
	}
	return names
}

// From returns the nested statement that begins at a word.
func (s *Statement) From(at int) *Statement {
	return &Statement{Words: s.Words[at:], depth: s.depth[at:], sets: s.sets}
}

// Has reports whether a statement contains one of the words.
func (s *Statement) Has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(s.Words, w) })
}

// Shown returns the names of the columns that the queries in the statement show, in upper case, but
// for those of which only a count or a length is.
func (s *Statement) Shown() (out []string) {
	open := map[int]bool{} // the depths of the queries that have not come to their FROM
	measures := none       // the depth of a call that tells only how much there is
	for i, w := range s.Words {
		if s.depth[i] <= measures {
			measures = none
		}
		if w == "FROM" {
			delete(open, s.depth[i])
		}
		if len(open) > 0 && measures == none && s.isColumn(i) {
			name := strings.ToUpper(Unquoted(w))
			out = append(out, Unquoted(name[strings.LastIndexByte(name, '.')+1:]))
		}
		switch {
		case w == "SELECT":
			open[s.depth[i]] = true
		case measures == none && s.isCall(i) && slices.Contains(measuring, w):
			measures = s.depth[i]
		}
	}
	return out
}

// none is no depth.
const none = -1

// measuring are the functions that tell only how much there is.
//
//nolint:gochecknoglobals // Never changed.
var measuring = []string{"COUNT", "SUM", "AVG", "LENGTH", "CHAR_LENGTH", "OCTET_LENGTH"}

// isCall reports whether a parenthesis follows a word.
func (s *Statement) isCall(i int) bool {
	_, is := slices.BinarySearch(s.calls, i)
	return is
}

// isColumn reports whether a word may be a column whose value is used, not a text, a new name or one
// that is only compared.
func (s *Statement) isColumn(i int) bool {
	named := s.Words[i-1] == "AS" || s.depth[i-1] > s.depth[i] || s.isCall(i)
	compared := i+1 < len(s.Words) && slices.Contains([]string{"IS", "=", "<>", "!=", "<", ">", "LIKE", "IN"}, s.Words[i+1])
	return !named && !compared && !strings.HasPrefix(s.Words[i], "''")
}
