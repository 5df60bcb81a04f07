package reading

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// What statements of databases look like, with one blank between words.
var (
	// opening only opens a transaction, or prepares for what follows.
	opening = regexp.MustCompile(`(?i)^(BEGIN|START|SET|USE|LOCK|PRAGMA|ROLLBACK|COMMIT|SAVEPOINT);*(\s|$)`)
	// defining defines, drops or empties something.
	defining = regexp.MustCompile(`^((DROP|ALTER|CREATE|REMOVE|REINDEX|REFRESH) (USER|ROLE|DATABASE|SCHEMA|INDEX|VIEW|MATERIALIZED|FUNCTION|TABLE) .` +
		`|TRUNCATE ([^ ]+|[^ ]+, .*|.* (CASCADE|RESTRICT|IDENTITY))$)`)
	// going is what stands behind the verb of a statement.
	going = regexp.MustCompile(`[*=;(]|(^| )FROM |TABLE|INTO`)
)

// IsStatement says whether a text is clearly a statement of a database, or several behind what only opens a transaction or prepares for them.
func IsStatement(text string) bool {
	text = uncommented(text)
	for opening.MatchString(text) {
		_, text, _ = strings.Cut(text, ";")
		text = uncommented(text)
	}
	words := strings.Fields(strings.ToUpper(text))
	if len(words) == 0 {
		return false
	}
	rest := strings.Join(words[1:], " ")
	switch {
	case strings.HasPrefix(text, words[0]) && defines(words[0], rest):
		return true
	case words[0] == "WITH":
		return strings.Contains(rest, " AS ") && strings.Contains(rest, "SELECT") || strings.Contains(rest, " AS(")
	}
	return beginsStatement(words) && going.MatchString(rest)
}

// defines says whether words that stand in capitals, as no search does, define or drop something, give rights, or change a graph.
func defines(verb, rest string) bool {
	switch verb {
	case "GRANT", "REVOKE":
		return strings.Contains(rest, " TO ") || strings.Contains(rest, " FROM ")
	case "MATCH":
		return strings.Contains(rest, "(") && (strings.Contains(rest, "DELETE") || strings.Contains(rest, " SET "))
	}
	return defining.MatchString(verb + " " + rest)
}

// beginsStatement says whether words, in capitals, begin as a statement does, with something behind its verb.
func beginsStatement(words []string) bool {
	return len(words) > 1 && wordclass.Is("statement-verb", words[0])
}

// uncommented is a statement from its first word on. What MySQL runs of a comment is no comment.
func uncommented(text string) string {
	for {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "/*!"):
			text = strings.TrimLeft(text[len("/*!"):], "0123456789")
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			return text
		}
	}
}
