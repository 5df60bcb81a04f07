package standing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/standing"
)

// TestADenialStandsUntilItsTime checks that a denial answers equal calls, and is mentioned
// for like ones, until its time is over, not a moment longer, and for no other agent.
func TestADenialStandsUntilItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		about := func(branch string) approval.Subjects {
			return approval.Subjects{{System: "git", Verb: "push", Object: []approval.Fact{{Name: "branch", Value: branch}, {Name: "remote", Value: "origin"}}}}
		}
		now := time.Now()
		denied := approval.Approval{
			ID: "a-1", State: approval.Denied, Effect: "push main", About: about("main"), EndedAt: now,
			StandsUntil: now.Add(time.Hour), Decision: &approval.Decision{Choice: approval.ChoiceDeny, At: now},
		}
		ask := approval.Ask{ID: "a", Agent: "coder", Approvals: []approval.Approval{denied}}
		var d standing.Denials
		d.Keep(&ask)
		finds := func(agent, effect string) bool { _, ok := d.Find(agent, effect, nil); return ok }
		check := func(when string, stands bool) {
			t.Helper()
			if like := d.Like("coder", about("dev")); finds("coder", "push main") != stands || (like != nil) != stands {
				t.Errorf("%s: found %t, like %+v", when, !stands, like)
			}
		}
		check("at once", true)
		kind := approval.CallKind{System: "git", Verb: "push"}
		var kinds standing.Denials
		of := denied
		of.Kind = &kind
		kinds.Keep(&approval.Ask{ID: "k", Agent: "coder", Approvals: []approval.Approval{of}})
		mail := approval.Subjects{{System: "mail", Verb: "send"}}
		for name, tt := range map[string]struct {
			d     *standing.Denials
			about approval.Subjects
			found bool
		}{"of its kind": {&kinds, about("dev"), true}, "of another": {&kinds, mail, false}, "where no kind is denied": {&d, about("dev"), false}} {
			if id, ok := tt.d.Find("coder", "another effect", tt.about); ok != tt.found || ok && id != "a-1" {
				t.Errorf("a call %s: %q, %t", name, id, ok)
			}
		}
		for _, tt := range []struct {
			d      standing.Denied
			about  approval.Subjects
			covers bool
		}{
			{standing.Denied{About: about("main"), Effect: about("main").Key()}, about("main"), true},
			{standing.Denied{About: about("main"), Effect: about("main").Key()}, about("dev"), true},
			{standing.Denied{About: about("main"), Effect: about("main").Key()}, mail, false},
			{standing.Denied{Effect: "unknown", Kind: &kind}, about("dev"), true},
			{standing.Denied{Effect: "unknown", Kind: &kind}, mail, false},
			{standing.Denied{Effect: "unknown"}, about("dev"), false},
		} {
			if got := tt.d.Covers(tt.about); got != tt.covers {
				t.Errorf("%+v covers %+v: %t", tt.d, tt.about, got)
			}
		}
		if finds("local", "push main") || finds("coder", "push dev") || finds("coder", "") || d.Like("local", about("dev")) != nil || d.Like("coder", about("main")) != nil {
			t.Error("it answers what it is not about")
		}
		time.Sleep(time.Hour - 1)
		check("a moment before its end", true)
		time.Sleep(time.Nanosecond)
		check("at its end", false)
		d.Keep(&approval.Ask{ID: "b", Agent: "coder"})
		if len(d.Agents()) != 0 || len(d.Of("coder")) != 0 {
			t.Errorf("it is kept after its end: %v", d.Of("coder"))
		}
		denied.StandsUntil = time.Now().Add(time.Hour)
		ask.Approvals[0] = denied
		d.Keep(&ask)
		d.Keep(&ask)
		if len(d.Of("coder")) != 1 {
			t.Errorf("kept twice: %v", d.Of("coder"))
		}
		ask.Approvals[0].Lifted = &approval.Act{At: time.Now()}
		d.Keep(&ask)
		if finds("coder", "push main") {
			t.Error("it answers after it was lifted")
		}
	})
}
