package standing_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/standing"
)

// push is about a push of a branch.
func push(branch string) approval.Subjects {
	return approval.Subjects{{System: "git", Verb: "push", Object: []approval.Fact{{Name: "branch", Value: branch}, {Name: "remote", Value: "origin"}}}}
}

// allowedCall returns a call that a person has just allowed, and may grant.
func allowedCall(id approval.ID, key, branch string) approval.Approval {
	return approval.Approval{
		ID: id, State: approval.Allowed, Grantable: key, About: push(branch),
		Decision: &approval.Decision{Choice: approval.ChoiceAllow, At: time.Now()},
	}
}

// TestAnAllowanceIsOfferedForAnHour checks that an allowance of the last hour offers a
// grant on the card of an equal call, or else of one that is like it, and a longer grant if
// one was used up.
func TestAnAllowanceIsOfferedForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l standing.Allowances
		keep := func(ask approval.AskID, all ...approval.Approval) {
			l.Keep(&approval.Ask{ID: ask, Agent: "coder", Approvals: all})
		}
		again := func(when, key, branch string, want approval.ID, most int) {
			t.Helper()
			like, got := l.Again("coder", key, push(branch))
			if (like == nil) != (want == "") || like != nil && like.Approval != want || got != most {
				t.Errorf("%s: %q of %s is like %+v, %d calls; want %q, %d", when, key, branch, like, got, want, most)
			}
		}
		again("before all", "push main", "main", "", 0)
		keep("a", allowedCall("a-1", "push main", "main"))
		again("equal", "push main", "main", "a-1", 0)
		again("like it", "push dev", "dev", "a-1", 0)
		again("of no key", "", "main", "", 0)
		again("equal, of another key", "push it", "main", "", 0)
		if like, _ := l.Again("local", "push main", push("main")); like != nil {
			t.Errorf("another agent's: %+v", like)
		}
		for name, spoil := range map[string]func(*approval.Approval){
			"undecided":  func(p *approval.Approval) { p.Decision = nil },
			"denied":     func(p *approval.Approval) { p.Decision.Choice = approval.ChoiceDeny },
			"by a grant": func(p *approval.Approval) { p.Decision.Grant = "g-1" },
			"not more":   func(p *approval.Approval) { p.Grantable = "" },
		} {
			p := allowedCall("b-1", "push other", "other")
			spoil(&p)
			keep("b", p)
			if like, _ := l.Again("coder", "push other", nil); like != nil {
				t.Errorf("what is %s is offered: %+v", name, like)
			}
			var alone standing.Allowances
			if alone.Keep(&approval.Ask{ID: "b", Agent: "coder", Approvals: []approval.Approval{p}}); len(alone.Agents()) != 0 {
				t.Errorf("what is %s is kept", name)
			}
		}
		time.Sleep(time.Minute)
		keep("c", allowedCall("c-1", "push main", "main"))
		again("the newer of two", "push main", "main", "c-1", 0)
		again("like the newer of two", "push dev", "dev", "c-1", 0)
		keep("c")
		again("the newer taken back", "push main", "main", "a-1", 0)

		used := allowedCall("d-1", "push main", "main")
		used.Grant = &approval.Grant{At: time.Now(), Most: 2}
		keep("d", used)
		again("with a grant that is not used", "push main", "main", "d-1", 0)
		used.Grant.Most = 1
		keep("d", used)
		again("with a grant of one call, which is this one", "push main", "main", "d-1", 0)
		time.Sleep(time.Minute)
		used.Grant.Uses = []approval.Use{{Ask: "x", At: time.Now()}}
		used.Grant.Most = 3
		keep("d", used)
		again("with one that is used in part", "push main", "main", "d-1", 0)
		used.Grant.Most = 2
		keep("d", used)
		again("with one that is used up", "push main", "main", "d-1", approval.MaxUses)
		time.Sleep(time.Minute)
		keep("e", allowedCall("e-1", "push main", "main"))
		again("used up before a newer one", "push main", "main", "e-1", approval.MaxUses)
		keep("e")

		time.Sleep(standing.Lately - time.Minute - 1)
		again("a moment before its end", "push main", "main", "d-1", approval.MaxUses)
		time.Sleep(time.Nanosecond)
		again("at its end", "push main", "main", "", 0)
		again("like it, at its end", "push dev", "dev", "", 0)
		keep("d", used)
		again("kept when it is over", "push main", "main", "", 0)
	})
}

// TestABrakeIsKnownAsItWasWritten checks that a brake holds for its agent or for all until
// somebody releases it or its time is over, and that nothing is said while the brakes
// cannot be read.
func TestABrakeIsKnownAsItWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		var stored []approval.Record
		var failed error
		reads := 0
		brakes := standing.Brakes{List: func(context.Context) iter.Seq2[approval.Record, error] {
			reads++
			return func(yield func(approval.Record, error) bool) {
				for _, r := range stored {
					if !yield(r, nil) {
						return
					}
				}
				if failed != nil {
					yield(approval.Record{}, failed)
				}
			}
		}}
		record := func(b approval.Brake) approval.Record {
			body, err := approval.EncodeBrake(b)
			if err != nil {
				t.Fatal(err)
			}
			return approval.Record{Body: body}
		}
		unknown := func(why string) {
			t.Helper()
			if b, err := brakes.Of(ctx, "coder"); err == nil || b != nil || failed != nil && !errors.Is(err, failed) {
				t.Errorf("%s: %v, %v", why, b, err)
			}
			if all, err := brakes.Holding(ctx); err == nil || all != nil {
				t.Errorf("%s: holding %v, %v", why, all, err)
			}
			if all, err := brakes.All(ctx); err == nil || all != nil {
				t.Errorf("%s: all %v, %v", why, all, err)
			}
			err := brakes.Change(ctx, "coder", func(b approval.Brake) (approval.Brake, error) { t.Errorf("%s: written", why); return b, nil })
			if err == nil {
				t.Errorf("%s: put", why)
			}
		}
		failed = errors.New("the disk is gone")
		unknown("a store that cannot be read")
		failed, stored = nil, []approval.Record{{Body: []byte(`{"v":1}`)}}
		unknown("a brake that cannot be read")

		now := time.Now()
		late := approval.Brake{Agent: "late", At: now.Add(-time.Hour), Until: now.Add(time.Hour)}
		coder := approval.Brake{Agent: "coder", At: now}
		stored = []approval.Record{record(coder), record(late)}
		is := func(when string, names, holding []string) {
			t.Helper()
			for _, agent := range []string{"coder", "late", "other"} {
				b, err := brakes.Of(ctx, agent)
				want := slices.Contains(holding, agent) || slices.Contains(holding, approval.Everyone)
				if err != nil || (b != nil) != want || b != nil && b.Agent != agent && b.Agent != approval.Everyone {
					t.Errorf("%s: %s is stopped by %+v, %v", when, agent, b, err)
				}
			}
			for _, list := range []struct {
				of   func(context.Context) ([]approval.Brake, error)
				want []string
			}{{brakes.All, names}, {brakes.Holding, holding}} {
				all, err := list.of(ctx)
				var got []string
				for i := range all {
					got = append(got, all[i].Agent)
				}
				if err != nil || !slices.Equal(got, list.want) {
					t.Errorf("%s: %v, %v; want %v", when, got, err, list.want)
				}
			}
		}
		reads = 0
		is("read", []string{"late", "coder"}, []string{"late", "coder"})
		if reads != 1 {
			t.Errorf("they were read %d times", reads)
		}
		keep := func(known approval.Brake) (approval.Brake, error) {
			if !known.Same(&coder) {
				t.Errorf("it is changed from %+v", known)
			}
			return approval.Brake{}, approval.ErrKeep
		}
		if err := brakes.Change(ctx, "coder", keep); !errors.Is(err, approval.ErrKeep) {
			t.Error(err)
		}
		is("kept", []string{"late", "coder"}, []string{"late", "coder"})
		all := approval.Brake{Agent: approval.Everyone, At: now.Add(time.Second)}
		broken := errors.New("full")
		stored = append(stored, record(all)) // It is on disk in spite of the error.
		if err := brakes.Change(ctx, all.Agent, func(approval.Brake) (approval.Brake, error) { return all, broken }); !errors.Is(err, broken) || reads != 1 {
			t.Errorf("%v, and read %d times", err, reads)
		}
		is("after a write that failed", []string{"late", "coder", approval.Everyone}, []string{"late", "coder", approval.Everyone})
		if reads != 2 {
			t.Errorf("after a write that failed they were read %d times", reads)
		}
		all.Released = &approval.Act{At: now}
		if err := brakes.Change(ctx, all.Agent, func(approval.Brake) (approval.Brake, error) { return all, nil }); err != nil {
			t.Fatal(err)
		}
		is("let go", []string{"late", "coder", approval.Everyone}, []string{"late", "coder"})
		time.Sleep(time.Hour)
		is("over", []string{"late", "coder", approval.Everyone}, []string{"coder"})
		if reads != 2 {
			t.Errorf("they were read %d times", reads)
		}
	})
}

// TestAGrantIsFoundWhileItLives checks that a grant is found by its agent while it lives.
func TestAGrantIsFoundWhileItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g standing.Grants
		granted := func(id approval.ID, key string) approval.Approval {
			p := allowedCall(id, key, "main")
			p.Grant = &approval.Grant{Key: key, At: time.Now(), Until: time.Now().Add(time.Hour), Most: 5}
			return p
		}
		of := func(when, agent, key string, want ...approval.ID) {
			t.Helper()
			if got := g.Of(agent, func(o *standing.Granted) bool { return key == "" || o.Key == key }); !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v for %q, want %v", when, agent, got, key, want)
			}
		}
		of("before all", "coder", "")
		g.Keep(&approval.Ask{ID: "b", Agent: "local", Approvals: []approval.Approval{granted("b-1", "push")}})
		ask := approval.Ask{ID: "a", Agent: "coder", Approvals: []approval.Approval{granted("a-2", "push"), granted("a-1", "merge"), allowedCall("a-3", "push", "main")}}
		for range 2 {
			g.Keep(&ask)
		}
		other := approval.Ask{ID: "c", Agent: "coder", Approvals: []approval.Approval{granted("c-1", "push")}}
		g.Keep(&other)
		of("kept", "coder", "", "a-1", "a-2", "c-1")
		of("kept", "coder", "push", "a-2", "c-1")
		of("kept", "local", "", "b-1")
		of("kept", approval.Everyone, "push", "a-2", "b-1", "c-1")
		of("kept", "nobody", "")
		ask.Approvals[0].Grant.Ended = &approval.Ending{At: time.Now()}
		g.Keep(&ask)
		of("ended", "coder", "", "a-1", "c-1")
		time.Sleep(time.Hour)
		g.Keep(&ask)
		of("over", "coder", "", "c-1")
		g.Keep(&other)
		of("all over", "coder", "")
		of("all over", "local", "", "b-1")
	})
}

// TestACallJoinsWhatIsAkin checks that calls join an ask that waits in their turn, for
// their intent and on their route, only if every one of them is akin to it.
func TestACallJoinsWhatIsAkin(t *testing.T) {
	t.Parallel()
	waiting := func(id approval.AskID, branches ...string) approval.Ask {
		ask := approval.Ask{ID: id, Agent: "coder", TurnID: "t", Intent: "ship it"}
		for _, b := range branches {
			ask.Approvals = append(ask.Approvals, approval.Approval{State: approval.Pending, About: push(b)})
		}
		return ask
	}
	var h standing.Hosts
	opening := func(branches ...string) *approval.Opening {
		o := &approval.Opening{Agent: "coder", TurnID: "t", Intent: "ship it"}
		for _, b := range branches {
			about := push(b)
			if b == "" {
				about = approval.Subjects{{System: "mail", Verb: "send"}}
			}
			o.Calls = append(o.Calls, approval.Call{About: about})
		}
		return o
	}
	akin := func(when string, o *approval.Opening, want ...approval.AskID) {
		t.Helper()
		if got := h.Akin(o); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	akin("before all", opening("dev"))
	first, second := waiting("a", "main"), waiting("b", "dev", "next")
	h.Keep(&first)
	h.Keep(&second)
	akin("the newest first", opening("x"), "b", "a")
	h.Keep(&first)
	akin("kept anew", opening("x"), "a", "b")
	akin("all akin", opening("x", "y"), "a", "b")
	akin("one is not", opening("x", ""))
	for name, differ := range map[string]func(*approval.Opening){
		"another agent":  func(o *approval.Opening) { o.Agent = "local" },
		"another turn":   func(o *approval.Opening) { o.TurnID = "u" },
		"another intent": func(o *approval.Opening) { o.Intent = "stop it" },
		"another route":  func(o *approval.Opening) { o.Route.Name = "careful" },
	} {
		o := opening("x")
		differ(o)
		akin(name, o)
	}
	second.Approvals[0].State = approval.Denied
	h.Keep(&second)
	akin("one is answered", opening("x"), "a")
	first.Closed = true
	h.Keep(&first)
	akin("all are over", opening("x"))
}
