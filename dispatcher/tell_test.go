package dispatcher_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// tellers is a chat with threads.
type tellers struct {
	chat
	lines sync.Mutex
	told  []line
	looks int
}

// line is a line in a thread.
type line struct {
	ref  string
	card approval.Card
	turn report.Counts
}

func (c *tellers) Tell(_ context.Context, ref string, card approval.Card, turn report.Counts, again bool) error {
	c.lines.Lock()
	defer c.lines.Unlock()
	if again {
		c.looks++
		for _, l := range c.told {
			if l.ref == ref {
				return nil
			}
		}
	}
	sent, err := c.verdict("tell")
	if sent {
		c.told = append(c.told, line{ref, card, turn})
	}
	return err
}

func (c *tellers) all() []line {
	c.lines.Lock()
	defer c.lines.Unlock()
	return append([]line(nil), c.told...)
}

// threaded runs a test with a chat that has threads.
func threaded(t *testing.T, test func(t *testing.T, h *house, c *tellers)) {
	t.Helper()
	housed(t, func(t *testing.T, h *house) {
		c := &tellers{chat: chat{name: "team"}}
		h.also = []dispatcher.Channel{c}
		h.restart()
		test(t, h, c)
	})
}

// allowed opens an ask, allows it and redeems the permit.
func (h *house) allowed(command string, step int) approval.ID {
	h.t.Helper()
	a := h.ask(command, step)
	settle()
	if _, err := h.Decide(h.t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: owner, Channel: "team"}); err != nil {
		h.t.Fatal(err)
	}
	return a.Approval.ID
}

func (h *house) spent() approval.ID {
	h.t.Helper()
	id := h.allowed("make a", 1)
	a, err := h.Await(h.t.Context(), agent, id, 0)
	if err != nil || a.Permit == nil {
		h.t.Fatalf("got %+v, %v", a, err)
	}
	if err := h.Redeem(h.t.Context(), agent, a.Permit.Permit, inTurn("make a", 1).Proposal); err != nil {
		h.t.Fatal(err)
	}
	return id
}

// TestTheEndIsTold checks that however an ask ends, its thread says so, once, and not
// before.
func TestTheEndIsTold(t *testing.T) {
	for want, end := range map[approval.State]func(h *house){
		approval.Denied: func(h *house) {
			a := h.ask("make a", 1)
			settle()
			_, err := h.Decide(h.t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "team", Words: "no"})
			if err != nil {
				h.t.Fatal(err)
			}
		},
		approval.Expired: func(h *house) { h.ask("make a", 1); settle(); time.Sleep(time.Hour) },
		approval.Withdrawn: func(h *house) {
			a := h.ask("make a", 1)
			settle()
			if _, err := h.Withdraw(h.t.Context(), agent, a.Approval.ID); err != nil {
				h.t.Fatal(err)
			}
		},
		approval.Superseded: func(h *house) {
			h.ask("make a", 1)
			time.Sleep(time.Minute)
			p := inTurn("make b", 1)
			p.Proposal.Executor = "fs_read"
			if _, err := h.Propose(h.t.Context(), agent, p); err != nil {
				h.t.Fatal(err)
			}
		},
		approval.Lapsed: func(h *house) { h.allowed("make a", 1); time.Sleep(time.Hour) },
		approval.Succeeded: func(h *house) {
			id := h.spent()
			settle()
			if err := h.Report(h.t.Context(), agent, id, approval.Outcome{Succeeded: true}); err != nil {
				h.t.Fatal(err)
			}
		},
		approval.Failed: func(h *house) {
			if err := h.Report(h.t.Context(), agent, h.spent(), approval.Outcome{}); err != nil {
				h.t.Fatal(err)
			}
		},
		approval.Unknown: func(h *house) {
			h.spent()
			time.Sleep(approval.ReportWithin - time.Minute)
			if n := len(h.also[0].(*tellers).all()); n != 0 {
				h.t.Errorf("%d lines while it runs", n)
			}
			time.Sleep(time.Hour)
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			threaded(t, func(t *testing.T, h *house, c *tellers) {
				end(h)
				settle()
				lines, cards := c.all(), c.seen()
				if len(lines) != 1 || len(cards) != 1 || lines[0].ref != cards[0].ref || lines[0].card.Items[0].State != want {
					t.Fatalf("the threads tell %+v below %+v", lines, cards)
				}
				h.restart()
				time.Sleep(time.Hour)
				if n := len(c.all()); n != 1 {
					t.Errorf("after a restart %d lines", n)
				}
			})
		})
	}
}

// TestTheEndOfAllCallsIsTold checks that the thread of an ask with several calls says so
// when all of them are over.
func TestTheEndOfAllCallsIsTold(t *testing.T) {
	threaded(t, func(t *testing.T, h *house, c *tellers) {
		first, second := h.ask("make a", 1), h.ask("make b", 2)
		settle()
		for i, id := range []approval.ID{first.Approval.ID, second.Approval.ID} {
			if n := len(c.all()); n != 0 {
				t.Errorf("%d lines when %d calls are over", n, i)
			}
			_, err := h.Decide(t.Context(), approval.Tap{Ask: id.Ask(), Approval: id, Choice: approval.ChoiceDeny, By: owner, Channel: "team"})
			if err != nil {
				t.Fatal(err)
			}
			settle()
		}
		if lines := c.all(); len(lines) != 1 || len(lines[0].card.Items) != 2 {
			t.Errorf("the threads tell %+v", lines)
		}
	})
}

// TestTheTurnIsCounted checks that the line counts what the turn did, as a digest does.
func TestTheTurnIsCounted(t *testing.T) {
	threaded(t, func(t *testing.T, h *house, c *tellers) {
		for i, p := range []vaglio.Proposal{
			{Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/a"}},
			{Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/b"}},
			{Executor: "fs_read", Args: vaglio.Args{"path": "/etc/shadow"}},
			{Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/c"}},
		} {
			p.TurnID, p.Step, p.Intent = "t-1", 10+i, "clean up"
			if i == 3 {
				p.TurnID = "another"
			}
			if _, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: p}); err != nil {
				t.Fatal(err)
			}
		}
		id := h.spent()
		time.Sleep(time.Minute)
		other := h.ask("make b", 2)
		settle()
		if err := h.Report(t.Context(), agent, id, approval.Outcome{Succeeded: true}); err != nil {
			t.Fatal(err)
		}
		settle()
		lines := c.all()
		if len(lines) != 1 {
			t.Fatalf("%d lines", len(lines))
		}
		want := report.Counts{
			Judged: 5, Approved: 2, Guard: 1, Vetoed: 2,
			Fates: report.Fates{Allowed: 1, Waiting: 1, Runs: report.Runs{Succeeded: 1}},
		}
		if lines[0].turn != want {
			t.Errorf("counted is %+v, want %+v", lines[0].turn, want)
		}
		if _, err := h.Withdraw(t.Context(), agent, other.Approval.ID); err != nil {
			t.Fatal(err)
		}
		settle()
		if lines = c.all(); len(lines) != 2 || lines[1].turn.Fates.Withdrawn != 1 || lines[1].turn.Fates.Waiting != 0 {
			t.Errorf("then %+v", lines)
		}
	})
}

// TestTheEndIsToldOnce checks that whatever fails while the end is told, at whatever call
// of the store, and wherever the process dies, the thread finally has one line.
func TestTheEndIsToldOnce(t *testing.T) {
	fault := errors.New("connection is cut")
	unsure := &approval.RetryError{Err: fault}
	for _, platform := range []struct {
		sent bool
		err  error
	}{{true, nil}, {true, unsure}, {false, unsure}, {false, &approval.RetryError{Unsent: true, Err: fault}}} {
		for n := range 14 {
			if race.Detector && n%4 != 0 {
				continue // The same runs side by side in each case; the others show how it ends.
			}
			for _, late := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					threaded(t, func(t *testing.T, h *house, c *tellers) {
						h.ask("make a", 1)
						settle()
						told := 0
						c.failing(func(kind string) (bool, error) {
							if kind != "tell" || told > 0 {
								return true, nil
							}
							told++
							if dies {
								h.store.Break(fault)
							}
							return platform.sent, platform.err
						})
						if late {
							h.store.FailLate(n+1, fault)
						} else {
							h.store.Fail(n+1, fault)
						}
						for range 3 {
							m := c.seen()[0]
							tap := approval.Tap{Ask: m.card.Ask, Choice: approval.ChoiceDeny, By: owner, Channel: "team"}
							if _, err := h.Decide(context.Background(), tap); err == nil {
								break
							}
						}
						settle()
						time.Sleep(time.Second)
						if dies {
							h.restart()
						}
						time.Sleep(time.Hour)
						synctest.Wait()
						if lines := c.all(); len(lines) != 1 || lines[0].card.Items[0].State != approval.Denied {
							t.Errorf("fault %d late %v, dies %v, platform %+v: %d lines", n, late, dies, platform, len(lines))
						}
					})
				}
			}
		}
	}
}

// TestTheEndIsOwedOverARestart checks that what is owed when the process ends is told by
// the next one, even if newer asks came.
func TestTheEndIsOwedOverARestart(t *testing.T) {
	threaded(t, func(t *testing.T, h *house, c *tellers) {
		a := h.ask("make a", 1)
		settle()
		c.failingOn("tell", &approval.RetryError{After: time.Hour, Unsent: true, Err: errors.New("slow down")})
		if _, err := h.Withdraw(t.Context(), agent, a.Approval.ID); err != nil {
			t.Fatal(err)
		}
		settle()
		time.Sleep(time.Minute)
		h.ask("make b", 2)
		settle()
		c.failing(nil)
		h.restart()
		settle()
		if lines := c.all(); len(lines) != 1 || lines[0].card.Items[0].State != approval.Withdrawn {
			t.Errorf("told is %+v", lines)
		}
	})
}
