package spoken

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Memory names a database that nobody keeps.
const Memory = ":memory:"

// TheDatabase is what a database is called whose name is unknown.
const TheDatabase = wording.Phrase("the database")

// StatementOn says what a statement with that verb does to objects of a class.
func StatementOn(verb, class, target string, where wording.Clause) wording.Sentence {
	said := map[string]wording.Phrase{
		"DELETE": "deletes rows of %s", "DELETE *": "deletes every row of %s", "UPDATE": "updates rows of %s", "UPDATE *": "updates every row of %s",
		"INSERT": "adds rows to %s", "REPLACE": "adds or changes rows of %s", "MERGE": "adds or changes rows of %s",
		"CREATE": "creates %s", "CREATE OR REPLACE": "creates or replaces %s", "ALTER": "changes %s", "ALTER SUPERUSER": "makes %s a superuser",
		"TRUNCATE": "empties %s", "DROP": "drops %s", "RENAME": "renames %s", "CALL": "calls the procedure %s", "EXEC": "calls the procedure %s",
		"REMOVE": "drops %s", "GRANT": "changes who may use %s", "REVOKE": "changes who may use %s",
	}[verb]
	switch {
	case target == "":
		return wording.Sentence{{Phrase: "runs the statement %s in %s", Args: []wording.Clause{{Text: strings.TrimSuffix(verb, " *")}, where}}}
	case said == "":
		return wording.Sentence{{Phrase: "runs the statement %s on %s in %s", Args: []wording.Clause{{Text: verb}, {Text: target}, where}}}
	}
	what := wording.Clause{Text: target}
	if thing, _, _ := ThingOf([]string{cmp.Or(class, map[string]string{"TRUNCATE": "table"}[verb])}); thing != nil {
		what = wording.Say(thing.One, target)
		if names := strings.Split(target, ", "); len(names) > 1 {
			what = wording.Clause{Phrase: thing.Several, Args: []wording.Clause{wording.List(names)}}
		}
	}
	does := wording.Sentence{{Phrase: said, Args: []wording.Clause{what}}}
	if class == "DATABASE" || class == "database" {
		return OnServer(does, where)
	}
	return InDatabase(does, where)
}

// InDatabase adds the database, if its name is known.
func InDatabase(said wording.Sentence, where wording.Clause) wording.Sentence {
	if where.Phrase == TheDatabase {
		return said
	}
	return append(said, wording.Clause{Phrase: "in %s", Args: []wording.Clause{where}})
}

// Opened names the database that a program opens by what its functions were given: an address, its name, its host, or
// [Memory] if nobody keeps it.
func Opened(of []string) wording.Clause {
	for _, text := range of {
		if at, err := url.Parse(strings.TrimPrefix(text, "uri=")); err == nil && at.Hostname() != "" && len(at.Path) > 1 {
			return wording.Say("%s on %s", at.Path[1:], at.Hostname())
		}
		said := fieldsOf(text)
		name, host := cmp.Or(said["dbname"], said["database"]), cmp.Or(said["host"], said["server"])
		switch {
		case name != "" && host != "":
			return wording.Say("%s on %s", name, host)
		case host != "":
			return wording.Say("the database on %s", host)
		case strings.HasSuffix(text, Memory):
			return wording.Clause{Text: Memory}
		case name != "":
			return wording.Clause{Text: name}
		case strings.HasPrefix(text, "/"):
			return wording.Clause{Text: text}
		}
	}
	return wording.Say("the database that the program opens")
}

// fieldsOf returns the fields of what a library's function was given to connect to: of "host=db1 dbname=shop" or
// "mysql:host=db1;dbname=shop".
func fieldsOf(text string) map[string]string {
	said := map[string]string{}
	for field := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ' ' || c == ';' }) {
		key, value, _ := strings.Cut(field, "=")
		said[strings.ToLower(key[strings.LastIndexByte(key, ':')+1:])] = value
	}
	return said
}
