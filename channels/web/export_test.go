package web_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// days returns a desk with a step per day, the newest today.
func days(n int) *desk {
	d := newDesk()
	for i := range n {
		s := passed()
		s.ID = fmt.Sprintf("s%d", i)
		s.At = time.Now().AddDate(0, 0, i+1-n)
		s.Proposal.Args = map[string]any{"path": fmt.Sprintf("/srv/Day-%03d", i), "list": []any{map[string]any{"deep": i}}}
		d.entries = append(d.entries, approval.Entry{Cursor: uint64(i + 1), Step: s})
	}
	return d
}

func TestHistoryIsSearched(t *testing.T) {
	d := days(60)
	answered := d.open("answered", proposal("npm publish"))
	if _, err := d.Decide(t.Context(), approval.Tap{
		Token: token("answered-1", answered.ID, approval.ChoiceDeny), By: approval.Person{ID: "web:owner", Name: "owner"}, Channel: "web", Words: "=Not before Friday",
	}); err != nil {
		t.Fatal(err)
	}
	in := newInbox(t, d).signIn()
	day := func(ago int) string { return time.Now().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for query, want := range map[string]int{
		"q=day-00": 10, "q=DAY-059": 1, "q=fs_read": 50, "q=friday": 1, "q=nothing": 0,
		"from=" + day(2):                   4,
		"to=" + day(58):                    2,
		"from=" + day(9) + "&to=" + day(5): 5,
		"q=day-05&from=" + day(1):          2,
	} {
		doc := sound(t, in.get("/inbox/history?"+query))
		if got := len(doc.class("entry")); got != want {
			t.Errorf("%s: %d entries, want %d", query, got, want)
		}
		files := doc.class("files")
		if (len(files) > 0) != (want > 0) {
			t.Fatalf("%s: %d entries, and files are offered: %t", query, want, len(files) > 0)
		}
		if want == 0 {
			continue
		}
		for _, a := range files[0].all("a") {
			if !strings.Contains(a.attr("href"), "format=") || !strings.Contains(a.attr("href"), strings.Split(query, "=")[0]+"=") {
				t.Errorf("%s: the file is of something else: %s", query, a.attr("href"))
			}
		}
	}
	for query, want := range map[string]string{
		"from=yesterday": "must be days", "to=2026-13-01": "must be days", "from=2026-11-02&to=2026-11-01": "is before the first",
	} {
		rec := in.get("/inbox/history?" + query)
		if words := parse(t, rec).words(); rec.Code != http.StatusBadRequest || !strings.Contains(words, want) {
			t.Errorf("%s: %d %s", query, rec.Code, words)
		}
	}
}

// TestHistoryIsTakenAway checks that a file holds everything that the filter selects,
// beyond one page, and that nothing in it is a formula.
func TestHistoryIsTakenAway(t *testing.T) {
	d := days(1200)
	answered := d.open("answered", proposal("=cmd|calc"))
	if _, err := d.Decide(t.Context(), approval.Tap{
		Token: token("answered-1", answered.ID, approval.ChoiceDeny), By: approval.Person{ID: "web:owner", Name: "owner"}, Channel: "web", Words: "=1+1\n\"quoted\";=2\n＝3; 4-5=6",
	}); err != nil {
		t.Fatal(err)
	}
	in := newInbox(t, d).signIn()
	rec := in.get("/inbox/history/export?format=csv")
	rows, err := csv.NewReader(rec.Body).ReadAll()
	if err != nil || len(rows) != 1+1201 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := rec.Header().Get("Content-Disposition"); got != `attachment; filename="vaglio-history.csv"` {
		t.Errorf("it is sent as %q", got)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	delete(got, "at")
	delete(got, "decided_at")
	want := map[string]string{
		"agent": "claude-code", "turn": "t-81", "step": "2", "executor": "shell_exec", "wanted": "shell_exec =cmd|calc", "outcome": "denied",
		"reason": "score 0.40 is below the threshold 0.75", "ask": "answered-1", "decided_by": "owner (web)", "choice": "deny", "words": "'=1+1\n\"quoted\";'=2\n'＝3; 4-5=6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rec = in.get("/inbox/history/export?format=jsonl&q=day-00")
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(rec.Body.Bytes())); lines.Scan(); n++ {
		var e approval.Entry
		if err := strictjson.Unmarshal(lines.Bytes(), &e); err != nil || !strings.Contains(lines.Text(), "Day-00") {
			t.Fatalf("%v in %s", err, lines.Text())
		}
	}
	if n != 10 {
		t.Errorf("%d lines", n)
	}
	if rec := in.get("/inbox/history/export?format=csv&q=nothing"); strings.Count(rec.Body.String(), "\n") != 1 {
		t.Errorf("a file of nothing: %q", rec.Body)
	}
	if rec := in.get("/inbox/history/export?format=exe"); rec.Code != http.StatusBadRequest {
		t.Errorf("an unknown format: %d", rec.Code)
	}
	if rec := newInbox(t, d).get("/inbox/history/export?format=csv"); rec.Code != http.StatusUnauthorized {
		t.Errorf("signed out: %d", rec.Code)
	}
	d.change(func() { d.fail = errors.New("disk") })
	if rec := in.get("/inbox/history/export?format=csv"); rec.Code != http.StatusInternalServerError {
		t.Errorf("while nothing can be read: %d", rec.Code)
	}
}
