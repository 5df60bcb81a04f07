package sql_test

import (
	"slices"
	"testing"

	"github.com/metnos/vaglio/internal/sql"
)

func TestStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, verb, target, class string
		adds, out                 bool
		called                    []string
	}{
		{text: "select count(*) from t", verb: "SELECT", target: "count", called: []string{"COUNT"}},
		{text: "delete from only Users where id = 1", verb: "DELETE", target: "users"},
		{text: "DROP TABLE if exists a, b", verb: "DROP", target: "a, b", class: "table"},
		{text: "create index concurrently i on t", verb: "CREATE", target: "i", class: "index", adds: true},
		{text: "create or replace view v as select 1", verb: "CREATE", target: "v", class: "view"},
		{text: "alter table t add c int", verb: "ALTER", target: "t", class: "table", adds: true},
		{text: "alter table t add c int, drop d", verb: "ALTER", target: "t", class: "table"},
		{text: "with x as (select 1) update t set a = 1", verb: "UPDATE", target: "t", called: []string{"AS"}},
		{text: "copy t to stdout", verb: "COPY", target: "t", out: true},
		{text: "copy t to program 'x'", verb: "COPY", target: "t"},
		{text: "/*!50000 truncate `t` */", verb: "TRUNCATE", target: "t"},
		{text: "-- drop table t\nvacuum", verb: "VACUUM", target: ""},
	} {
		list, ok := sql.Statements(c.text)
		if len(list) != 1 || !ok {
			t.Errorf("%s: %d statements, closed %v", c.text, len(list), ok)
			continue
		}
		s := &list[0]
		verb, at := s.Verb()
		target, class := s.Target(at)
		if verb != c.verb || target != c.target || class != c.class || s.Adds() != c.adds || s.CopiesOut() != c.out || !slices.Equal(s.Called(), c.called) {
			t.Errorf("%s: %s %q (%q) adds %v, copies out %v, calls %v", c.text, verb, target, class, s.Adds(), s.CopiesOut(), s.Called())
		}
	}
}

func TestTextsAreNoStatements(t *testing.T) {
	t.Parallel()
	if list, ok := sql.Statements("select ';drop table t'; select 2"); len(list) != 2 || !ok {
		t.Errorf("%d statements, closed %v", len(list), ok)
	}
	if _, ok := sql.Statements("select 'open"); ok {
		t.Error("a text that is not closed was taken for one that is")
	}
	list, _ := sql.Statements("select update from t where a = (delete from u)")
	found := []string{}
	for i, w := range list[0].Words {
		if (w == "UPDATE" || w == "DELETE") && list[0].BeginsAt(i) {
			found = append(found, w)
		}
	}
	if !slices.Equal(found, []string{"DELETE"}) {
		t.Errorf("statements begin at %v", found)
	}
}
