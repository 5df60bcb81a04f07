package dispatcher_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
)

// A bubble's clock begins at midnight UTC, and asks wait half an hour.
const remindAfter = dispatcher.DefaultAskFor * 2 / 3

// reminders returns the number of reminders sent.
func (h *house) reminders() int {
	synctest.Wait()
	_, reminded := h.chat.told()
	return len(reminded)
}

func TestPeopleAreRemindedOnce(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.ask("make a", 1)
		time.Sleep(remindAfter - time.Second)
		if n := h.reminders(); n != 0 {
			t.Fatalf("%d reminders came early", n)
		}
		time.Sleep(2 * time.Second)
		if n := h.reminders(); n != 1 {
			t.Fatalf("%d reminders came", n)
		}
		h.restart()
		time.Sleep(dispatcher.DefaultAskFor)
		if n := h.reminders(); n != 1 {
			t.Errorf("%d reminders came in all", n)
		}
	})
}

func TestNobodyIsRemindedInVain(t *testing.T) {
	for name, tt := range map[string]func(t *testing.T, h *house){
		"Answered": func(_ *testing.T, h *house) {
			h.ask("make a", 1)
			settle()
			h.press(h.chat.seen()[0], all, approval.ChoiceDeny)
		},
		"AnsweredInPart": func(_ *testing.T, h *house) {
			h.ask("make a", 1)
			h.ask("make b", 2)
			settle()
			h.press(h.chat.seen()[0], 0, approval.ChoiceAllow)
		},
		"Withdrawn": func(t *testing.T, h *house) {
			if _, err := h.Withdraw(t.Context(), agent, h.ask("make a", 1).Approval.ID); err != nil {
				t.Error(err)
			}
		},
		"NeverSeen": func(_ *testing.T, h *house) {
			h.chat.failingOn("post", errors.New("no network"))
			h.ask("make a", 1)
		},
		"SeenLate": func(_ *testing.T, h *house) {
			h.chat.failingOn("post", &approval.RetryError{After: time.Minute, Unsent: true, Err: errors.New("no network")})
			h.ask("make a", 1)
			time.Sleep(remindAfter + time.Minute)
			h.chat.failing(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				tt(t, h)
				time.Sleep(2 * dispatcher.DefaultAskFor)
				if n := h.reminders(); n != 0 {
					t.Errorf("%d reminders came", n)
				}
			})
		})
	}
}

// TestAReminderBringsItsCardBack checks that a card which the reminder does not find is posted
// again, once, and that it is its own reminder.
func TestAReminderBringsItsCardBack(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.ask("make a", 1)
		settle()
		first := h.chat.seen()
		h.chat.failingOn("remind", approval.ErrRepost)
		time.Sleep(remindAfter + time.Minute)
		h.chat.failing(nil)
		time.Sleep(2 * time.Minute)
		again := h.chat.seen()
		if len(first) != 1 || len(again) != 2 || h.reminders() != 0 {
			t.Fatalf("of %d cards there are %d, and %d reminders came", len(first), len(again), h.reminders())
		}
		if r := h.press(again[1], all, approval.ChoiceDeny); !r.Won {
			t.Errorf("a press on it: %+v", r)
		}
	})
}

// TestAReminderIsNotLost checks that a failed reminder is tried again, and that one that
// was due while no dispatcher ran is sent at startup.
func TestAReminderIsNotLost(t *testing.T) {
	for name, trouble := range map[string]func(h *house){
		"Failing": func(h *house) {
			h.chat.failingOn("remind", errors.New("no network"))
			time.Sleep(remindAfter + 2*time.Minute)
			h.chat.failing(nil)
			time.Sleep(time.Minute)
		},
		"Down": func(h *house) {
			settle()
			h.end()
			time.Sleep(remindAfter + 2*time.Minute)
			h.restart()
			settle()
		},
		"CrashedBefore": func(h *house) {
			h.chat.failingOn("remind", errors.New("no network"))
			time.Sleep(remindAfter)
			h.end()
			h.chat.failing(nil)
			h.restart()
			settle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				h.ask("make a", 1)
				trouble(h)
				if n := h.reminders(); n != 1 {
					t.Errorf("%d reminders came", n)
				}
				time.Sleep(dispatcher.DefaultAskFor)
				if n := h.reminders(); n != 1 {
					t.Errorf("%d reminders came in all", n)
				}
			})
		})
	}
}

func TestQuietHours(t *testing.T) {
	minutes := func(h, m int) int { return h*60 + m }
	for name, tt := range map[string]struct {
		quiet     dispatcher.Quiet
		silent    bool
		reminders int
	}{
		"None":           {dispatcher.Quiet{}, false, 1},
		"AllTheWhile":    {dispatcher.Quiet{From: minutes(22, 0), To: minutes(7, 0)}, true, 0},
		"EndsInTime":     {dispatcher.Quiet{From: minutes(22, 0), To: minutes(0, 25)}, true, 1},
		"EndsBeforeIt":   {dispatcher.Quiet{From: minutes(22, 0), To: minutes(0, 10)}, true, 1},
		"BeginsBeforeIt": {dispatcher.Quiet{From: minutes(0, 15), To: minutes(0, 45)}, false, 0},
		"Elsewhere":      {dispatcher.Quiet{From: minutes(22, 0), To: minutes(7, 0), Zone: time.FixedZone("far", -12*3600)}, false, 1},
		"AtHome":         {dispatcher.Quiet{From: minutes(10, 0), To: minutes(13, 0), Zone: time.FixedZone("far", -12*3600)}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				h.quiet = tt.quiet
				h.restart()
				a := h.ask("make a", 1)
				settle()
				if c := h.chat.seen()[0].card; c.Silent != tt.silent {
					t.Errorf("the card is silent: %v", c.Silent)
				}
				time.Sleep(dispatcher.DefaultAskFor)
				if n := h.reminders(); n != tt.reminders {
					t.Errorf("%d reminders came, want %d", n, tt.reminders)
				}
				if got := h.state(a.Approval.ID); got != approval.Expired {
					t.Errorf("the deadline did not run on: it is %s", got)
				}
			})
		})
	}
}

// TestAReminderIsPutOff checks that a postponed reminder comes once, when the person said,
// even if one came before and across a restart. The deadline stays.
func TestAReminderIsPutOff(t *testing.T) {
	for name, tt := range map[string]struct {
		at      time.Duration
		restart bool
		came    int // reminders before the new one
	}{
		"before it came": {time.Minute, false, 0}, "after it came": {remindAfter + time.Second, false, 1}, "across a restart": {time.Minute, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				a := h.ask("make a", 1)
				time.Sleep(tt.at)
				done, err := h.order(t, approval.Order{Verb: approval.VerbSnooze, ID: string(a.Approval.ID), For: 8 * time.Minute})
				if err != nil || !done.Until.Equal(time.Now().Add(8*time.Minute)) {
					t.Fatalf("%+v %v", done, err)
				}
				if tt.restart {
					h.restart()
				}
				time.Sleep(8*time.Minute - time.Second)
				if n := h.reminders(); n != tt.came {
					t.Errorf("%d reminders came early", n)
				}
				time.Sleep(2 * time.Second)
				if n := h.reminders(); n != tt.came+1 {
					t.Errorf("%d reminders came in time", n)
				}
				time.Sleep(dispatcher.DefaultAskFor)
				if n := h.reminders(); n != tt.came+1 || h.state(a.Approval.ID) != approval.Expired {
					t.Errorf("%d reminders came in all, and it is %s", n, h.state(a.Approval.ID))
				}
				if _, err := h.order(t, approval.Order{Verb: approval.VerbSnooze, ID: string(a.Approval.ID)}); err == nil {
					t.Error("what is over was put off")
				}
				wantKinds(t, h.gate, history.Snoozed)
			})
		})
	}
}

// TestAnAskIsHandedOver checks that the person to whom an ask is handed over is told and
// can answer it, that it cannot be handed to somebody unknown to the policy, and that
// whoever handed it over can no longer answer.
func TestAnAskIsHandedOver(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.routing = approval.Routing{
			Members: []approval.Member{{Name: "owner", IDs: []string{owner.ID}}, {Name: "bob", IDs: []string{"chat:bob"}}, {Name: "cleo", IDs: []string{"chat:cleo"}}},
			Routes:  []approval.Route{{Name: "ops", Approvers: []string{"owner"}}}, Rules: []approval.Rule{{Route: "ops"}},
		}
		h.restart()
		a := h.ask("make a", 1)
		settle()
		hand := func(by, to string) error {
			_, err := h.Order(t.Context(), approval.Order{Verb: approval.VerbHand, ID: string(a.Approval.ID), To: to, By: approval.Person{ID: by, Name: by}, Channel: "chat"})
			return err
		}
		tap := func(by string) error {
			_, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: approval.Person{ID: by}, Channel: "chat"})
			return err
		}
		if err := tap("chat:bob"); !errors.Is(err, approval.ErrNotApprover) {
			t.Errorf("whom the route does not name: %v", err)
		}
		for to, key := range map[string]string{"nobody": approval.OrderPerson, "chat:4711": approval.OrderPerson, "owner": approval.OrderSelf} {
			if bad, ok := errors.AsType[*approval.OrderError](hand(owner.ID, to)); !ok || bad.Key != key {
				t.Errorf("to %s: %v", to, bad)
			}
		}
		if err := hand("chat:bob", "cleo"); !errors.Is(err, approval.ErrNotApprover) {
			t.Errorf("by whom the route does not name: %v", err)
		}
		if err := hand(owner.ID, "Bob"); err != nil {
			t.Fatal(err)
		}
		if n := h.reminders(); n != 1 {
			t.Errorf("%d people were told at once", n)
		}
		if c := h.onlyCard(t); len(c.Handed) != 1 || c.Handed[0].To != "bob" {
			t.Errorf("the card says %+v", c.Handed)
		}
		h.restart()
		if err := hand("chat:bob", "cleo"); err != nil {
			t.Fatal(err)
		}
		if err := tap("chat:bob"); !errors.Is(err, approval.ErrNotApprover) {
			t.Errorf("who handed it on answers: %v", err)
		}
		if err := tap("chat:cleo"); err != nil || h.state(a.Approval.ID) != approval.Allowed {
			t.Errorf("who has it now: %v, and it is %s", err, h.state(a.Approval.ID))
		}
		if bad, ok := errors.AsType[*approval.OrderError](hand(owner.ID, "bob")); !ok || bad.Key != approval.OrderNothing {
			t.Errorf("what is over: %v", bad)
		}
		wantKinds(t, h.gate, history.HandedOver, history.HandedOver, history.Allowed)
	})
}

// TestARevealIsTold checks that the history records each time who was shown what is masked.
func TestARevealIsTold(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("make a", 1)
		for range 2 {
			if err := h.Reveal(t.Context(), a.Approval.ID.Ask(), owner, "web"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if err := h.Reveal(t.Context(), "none", owner, "web"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("an ask that is not there: %v", err)
		}
		wantKinds(t, h.gate, history.Revealed, history.Revealed)
	})
}
