package dispatcher_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/about"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// errDisk is what a torn store fails with.
var errDisk = errors.New("the disk is gone")

// torn is a store of which one operation fails: the one after left more that a request
// makes. What goes on beside the request works.
type torn struct {
	*storetest.Memory

	left  int
	fails bool
}

// request marks the context of what the operations are counted of.
type request struct{}

// fault returns the error of the next operation, if it is to fail.
func (s *torn) fault(ctx context.Context) error {
	if ctx.Value(request{}) == nil {
		return nil
	}
	if s.left--; s.left != 0 {
		return nil
	}
	s.fails = true
	return errDisk
}

func (s *torn) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	if err := s.fault(ctx); err != nil {
		return approval.Record{}, err
	}
	return s.Memory.Update(ctx, kind, id, change)
}

func (s *torn) Get(ctx context.Context, kind approval.Kind, id string) (approval.Record, error) {
	if err := s.fault(ctx); err != nil {
		return approval.Record{}, err
	}
	return s.Memory.Get(ctx, kind, id)
}

func (s *torn) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	if err := s.fault(ctx); err != nil {
		return func(yield func(approval.Record, error) bool) { yield(approval.Record{}, err) }
	}
	return s.Memory.List(ctx, q)
}

func (s *torn) Append(ctx context.Context, e *approval.JournalEntry) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Memory.Append(ctx, e)
}

func (s *torn) Entries(ctx context.Context, span approval.Span) iter.Seq2[approval.JournalEntry, error] {
	if err := s.fault(ctx); err != nil {
		return func(yield func(approval.JournalEntry, error) bool) { yield(approval.JournalEntry{}, err) }
	}
	return s.Memory.Entries(ctx, span)
}

// tearing runs a test in a bubble with a dispatcher that understands calls, over a torn store.
func tearing(t *testing.T, test func(t *testing.T, g *gate, s *torn)) {
	t.Helper()
	understandingOver(t, func(m *storetest.Memory) *torn { return &torn{Memory: m} }, test)
}

// understandingOver runs a test in a bubble with a dispatcher that understands calls, over
// what over makes of a store in memory, whose invariants it checks at the end.
func understandingOver[S dispatcher.Store](t *testing.T, over func(*storetest.Memory) S, test func(t *testing.T, g *gate, s S)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		kept := storetest.NewMemory()
		s := over(kept)
		judge, err := effects.New(effects.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		namer, err := about.New(judge, "/home/u")
		if err != nil {
			t.Fatal(err)
		}
		engine, err := vaglio.New(vaglio.Config{
			Judges: []vaglio.Gate{{Judge: judge, MinScore: 0.5, Needs: vaglio.Needs{Turn: true}}}, Kind: judge.Kind(), Home: "/home/u",
		})
		if err != nil {
			t.Fatal(err)
		}
		g := running(t, dispatcher.Config{
			Store: s, Channels: []dispatcher.Channel{newFakeChannel()}, Engine: engine,
			Deciders: dispatcher.Deciders{Routing: approval.Routing{
				Members: []approval.Member{{Name: "ann", IDs: []string{owner.ID}}, {Name: "bob", IDs: []string{"fake:bob"}}},
				Routes:  []approval.Route{{Name: "all", Channels: []string{"fake"}, Approvers: []string{"ann", "bob"}}},
				Rules:   []approval.Rule{{Route: "all"}},
			}},
			Effects: dispatcher.Effects{Name: namer.Key, About: func(p vaglio.Proposal) approval.About {
				p.Context.Reading = engine.Read(p)
				return namer.Of(p)
			}},
		})
		g.store = kept
		test(t, g, s)
		g.end()
		storetest.Asks(t, kept)
	})
}

// TestNothingIsAnsweredThatTheStoreRefused makes each operation of the store fail that a
// request makes, one at a time. P6, P3: the request then fails, too, so that nobody is told
// what is not on disk; and once the store works again, the same request succeeds.
func TestNothingIsAnsweredThatTheStoreRefused(t *testing.T) {
	for name, prepare := range requests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				over := false
				tearing(t, func(t *testing.T, g *gate, s *torn) {
					ask := prepare(t, g)
					synctest.Wait()
					s.left = n
					err := ask(context.WithValue(t.Context(), request{}, true))
					if over = !s.fails; over {
						if err != nil {
							t.Errorf("without a fault: %v", err)
						}
						return
					}
					if !errors.Is(err, errDisk) {
						t.Errorf("fault %d is told as %v", n, err)
					}
					if err := ask(t.Context()); err != nil {
						t.Errorf("after fault %d, again: %v", n, err)
					}
				})
				if over {
					break
				}
			}
		})
	}
}

// TestAnEditIsDoneOrNot makes each operation of the store fail that an edit makes, one at a time. If
// the person is told an error, nothing has changed, and the same edit succeeds; otherwise it is on
// disk.
func TestAnEditIsDoneOrNot(t *testing.T) {
	for n, over := 1, false; !over; n++ {
		tearing(t, func(t *testing.T, g *gate, s *torn) {
			p := push("main")
			p.TurnID = "t-1"
			id := g.propose(t, p, 0).Approval.ID
			e := edit(id, "git push origin other")
			shown, err := g.Edit(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			e.Seen = shown.Print
			synctest.Wait()
			s.left = n
			edited, err := g.Edit(context.WithValue(t.Context(), request{}, true), e)
			over = !s.fails
			kept, errFind := g.Find(t.Context(), string(id))
			if errFind != nil {
				t.Fatal(errFind)
			}
			waits := kept.Find(id).State == approval.Pending && kept.Find(id).Edit == nil
			if err == nil && (waits || !edited.Done) || err != nil && (!waits || !errors.Is(err, errDisk)) {
				t.Fatalf("fault %d is told as %v, done %v; the call waits: %v", n, err, edited.Done, waits)
			}
			if err == nil {
				return
			}
			if edited, err = g.Edit(t.Context(), e); err != nil || !edited.Done {
				t.Errorf("after fault %d, again: %+v, %v", n, edited, err)
			}
		})
	}
}

// requests returns what is asked of a dispatcher, each after what precedes it.
func requests() map[string]func(*testing.T, *gate) func(context.Context) error {
	asked := func(t *testing.T, g *gate) approval.ID { return g.propose(t, push("main"), 0).Approval.ID }
	ordering := func(o approval.Order, choice approval.Choice) func(*testing.T, *gate) func(context.Context) error {
		return func(t *testing.T, g *gate) func(context.Context) error {
			id := asked(t, g)
			if choice != "" {
				if _, err := g.press(t, id, choice); err != nil {
					t.Fatal(err)
				}
			}
			o := o
			if o.Agent == "" {
				o.ID = string(id)
			}
			o.By, o.Channel = owner, "fake"
			return func(ctx context.Context) error {
				_, err := g.Order(ctx, o)
				return err
			}
		}
	}
	proposing := func(wants approval.Ruling, calls ...dispatcher.Request) func(*testing.T, *gate) func(context.Context) error {
		return func(t *testing.T, g *gate) func(context.Context) error {
			asked(t, g)
			return func(ctx context.Context) error {
				answers, err := g.ProposePlan(ctx, agent, calls)
				for _, a := range answers {
					if a.Decision != wants {
						t.Errorf("answered %s, want %s", a.Decision, wants)
					}
				}
				return err
			}
		}
	}
	return map[string]func(*testing.T, *gate) func(context.Context) error{
		"a harmless call":        proposing(approval.RulingAllow, dispatcher.Request{Proposal: shell("ls"), Key: "k"}),
		"a call that is asked":   proposing(approval.RulingPending, dispatcher.Request{Proposal: shell("kubectl delete namespace a"), Key: "k"}),
		"a call that joins":      proposing(approval.RulingPending, dispatcher.Request{Proposal: push("main"), Answer: "because"}),
		"a call that is refused": proposing(approval.RulingDeny, dispatcher.Request{Proposal: shell("rm -rf /"), Key: "k"}),
		"a plan": proposing(approval.RulingPending,
			dispatcher.Request{Proposal: shell("kubectl delete namespace a"), Key: "k"}, dispatcher.Request{Proposal: shell("kubectl delete namespace b"), Key: "k"}),
		"a changed call": func(t *testing.T, g *gate) func(context.Context) error {
			p := shell("kubectl delete namespace a")
			p.TurnID, p.Step = "t-1", 1
			g.propose(t, p, 0)
			p.Args = shell("ls").Args
			return func(ctx context.Context) error {
				_, err := g.Propose(ctx, agent, dispatcher.Request{Proposal: p})
				return err
			}
		},
		"a tap": func(t *testing.T, g *gate) func(context.Context) error {
			id := asked(t, g)
			return func(ctx context.Context) error {
				_, err := g.Decide(ctx, approval.Tap{Ask: id.Ask(), Approval: id, Choice: approval.ChoiceAllow, By: owner, Channel: "fake"})
				return err
			}
		},
		"a withdrawal": func(t *testing.T, g *gate) func(context.Context) error {
			id := asked(t, g)
			return func(ctx context.Context) error {
				_, err := g.Withdraw(ctx, agent, id)
				return err
			}
		},
		"a redemption": func(t *testing.T, g *gate) func(context.Context) error {
			id := asked(t, g)
			if _, err := g.press(t, id, approval.ChoiceAllow); err != nil {
				t.Fatal(err)
			}
			a, err := g.Await(t.Context(), agent, id, 0)
			if err != nil || a.Permit == nil {
				t.Fatalf("%+v, %v", a, err)
			}
			return func(ctx context.Context) error { return g.Redeem(ctx, agent, a.Permit.Permit, push("main")) }
		},
		"the preview of an edit": func(t *testing.T, g *gate) func(context.Context) error {
			p := push("main")
			p.TurnID = "t-1"
			id := g.propose(t, p, 0).Approval.ID
			return func(ctx context.Context) error {
				_, err := g.Edit(ctx, edit(id, "git push origin other"))
				return err
			}
		},
		"the void of permits": func(t *testing.T, g *gate) func(context.Context) error {
			if _, err := g.press(t, asked(t, g), approval.ChoiceAllow); err != nil {
				t.Fatal(err)
			}
			g.propose(t, shell("kubectl delete namespace a"), 0)
			return func(ctx context.Context) error {
				_, err := g.VoidPermits(ctx, owner, "fake")
				return err
			}
		},
		"a stop":               ordering(approval.Order{Verb: approval.VerbStop, Agent: agent, All: true}, ""),
		"a stop, with a grant": ordering(approval.Order{Verb: approval.VerbStop, Agent: agent, All: true}, approval.ChoiceHour),
		"a question":           ordering(approval.Order{Verb: approval.VerbAsk, Words: "why?"}, ""),
		"a snooze":             ordering(approval.Order{Verb: approval.VerbSnooze, For: 8 * time.Minute}, ""),
		"a hand-over":          ordering(approval.Order{Verb: approval.VerbHand, To: "bob"}, ""),
		"a lift":               ordering(approval.Order{Verb: approval.VerbLift}, approval.ChoiceDeny),
		"a grant's end":        ordering(approval.Order{Verb: approval.VerbEnd}, approval.ChoiceHour),
		"a revocation":         ordering(approval.Order{Verb: approval.VerbRevoke}, approval.ChoiceAllow),
		"a release": func(t *testing.T, g *gate) func(context.Context) error {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
				t.Fatal(err)
			}
			return func(ctx context.Context) error {
				_, err := g.Order(ctx, approval.Order{Verb: approval.VerbGo, By: owner, Channel: "fake"})
				return err
			}
		},
	}
}
