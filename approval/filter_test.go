package approval_test

import (
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// TestFilter checks that a filter's text is looked up in what people see of an entry, and
// that its days bound the entries.
func TestFilter(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e := approval.Entry{
		Step: approval.Step{At: at, Approval: "ask1-1", Proposal: vaglio.Proposal{
			Agent: "Coder", TurnID: "t-9", Executor: "send_mail", Intent: "tell Ann",
			Args: vaglio.Args{"to": "ann@example.org", "parts": []any{map[string]any{"Body": "Größe"}}, "n": 42, "sure": true},
		}},
		Approval: &approval.Approval{Decision: &approval.Decision{Words: "Not today", By: approval.Person{Name: "Bob"}}},
	}
	for text, want := range map[string]bool{
		"": true, "coder": true, "T-9": true, "SEND_": true, "tell ann": true, "ANN@": true, "body": true, "größe": true, "GRÖSSE": false, "42": true,
		"true": true, "ask1": true, "not TODAY": true, "bob": true, "carol": false,
	} {
		if got := (approval.Filter{Text: text}).Finds(&e); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, tt := range []struct {
		since, until time.Time
		want         bool
	}{
		{time.Time{}, time.Time{}, true},
		{at, time.Time{}, true},
		{at.Add(1), time.Time{}, false},
		{time.Time{}, at, false},
		{time.Time{}, at.Add(1), true},
	} {
		f := approval.Filter{Since: tt.since, Until: tt.until}
		if got := f.Fits(&e); got != tt.want {
			t.Errorf("from %v to %v: %v", tt.since, tt.until, got)
		}
		if f.Over(&e.Step) {
			t.Errorf("from %v: nothing older is looked at, though a clock may have been set back", tt.since)
		}
	}
	if f := (approval.Filter{Since: at.AddDate(0, 0, 2)}); !f.Over(&e.Step) {
		t.Error("what is older is read to its end")
	}
}
