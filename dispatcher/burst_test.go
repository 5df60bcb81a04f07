package dispatcher_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestABurstSharesCards checks that calls which a turn makes in parallel share cards, each
// with an approval of its own, however they race.
func TestABurstSharesCards(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		const calls = 2*approval.MaxGathered + 5
		ids := make([]approval.ID, calls)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() { ids[i] = h.ask(fmt.Sprint("make target-", i), i+1).Approval.ID })
		}
		wg.Wait()
		settle()
		asks := map[approval.AskID]int{}
		for _, id := range ids {
			asks[id.Ask()]++
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(ids)))); n != calls || len(asks) != 3 {
			t.Errorf("%d calls have %d approvals on %d cards", calls, n, len(asks))
		}
		messages := h.chat.seen()
		if len(messages) != 3 {
			t.Errorf("%d messages were posted", len(messages))
		}
		for _, m := range messages {
			if len(m.card.Items) != asks[m.card.Ask] {
				t.Errorf("a card lists %d calls of %d", len(m.card.Items), asks[m.card.Ask])
			}
		}
		h.press(messages[0], all, approval.ChoiceAllow)
		h.press(messages[1], 3, approval.ChoiceDeny)
		settle()
		for _, id := range ids {
			want := approval.Pending
			switch id {
			case messages[1].card.Items[3].Approval:
				want = approval.Denied
			default:
				if id.Ask() == messages[0].card.Ask {
					want = approval.Allowed
				}
			}
			if got := h.state(id); got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
		}
	})
}

// TestWhatIsNoBurstHasACardOfItsOwn checks that calls of another turn, intent or agent get
// a card of their own, as do calls that come late or after an answer.
func TestWhatIsNoBurstHasACardOfItsOwn(t *testing.T) {
	for name, second := range map[string]func(h *house, r *dispatcher.Request) string{
		"AnotherTurn":   func(_ *house, r *dispatcher.Request) string { r.Proposal.TurnID = "t-2"; return agent },
		"AnotherIntent": func(_ *house, r *dispatcher.Request) string { r.Proposal.Intent = "tidy"; return agent },
		"NoTurn":        func(_ *house, r *dispatcher.Request) string { r.Proposal.TurnID = ""; return agent },
		"AnotherAgent":  func(*house, *dispatcher.Request) string { return "other" },
		"Late":          func(*house, *dispatcher.Request) string { time.Sleep(approval.GatherFor); return agent },
		"AfterAnAnswer": func(h *house, _ *dispatcher.Request) string {
			settle()
			h.press(h.chat.seen()[0], all, approval.ChoiceDeny)
			return agent
		},
		"AfterAWithdrawal": func(h *house, _ *dispatcher.Request) string {
			if _, err := h.Withdraw(h.t.Context(), agent, h.onlyCard(h.t).Items[0].Approval); err != nil {
				h.t.Error(err)
			}
			return agent
		},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				first := h.ask("make a", 1)
				r := inTurn("make b", 2)
				who := second(h, &r)
				b, err := h.Propose(t.Context(), who, r)
				if err != nil || b.Decision != approval.RulingPending || b.Approval.ID.Ask() == first.Approval.ID.Ask() {
					t.Errorf("got %+v, %v", b.Approval, err)
				}
				// The turn continues with the new card.
				r.Proposal.Args, r.Proposal.Step = shell("make c").Args, 3
				if c, err := h.Propose(t.Context(), who, r); name != "NoTurn" && (err != nil || c.Approval.ID.Ask() != b.Approval.ID.Ask()) {
					t.Errorf("the third call: %+v, %v", c.Approval, err)
				}
			})
		})
	}
}

// P5: a press decides what its card showed, and nothing that has joined since.
func TestAPressDecidesWhatItsCardShowed(t *testing.T) {
	for _, choice := range []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny} {
		t.Run(string(choice), func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				want := map[approval.Choice]approval.State{approval.ChoiceAllow: approval.Allowed, approval.ChoiceDeny: approval.Denied}[choice]
				a := h.ask("make a", 1)
				settle()
				one := h.chat.seen()[0]
				h.chat.failingOn("amend", errors.New("slow network"))
				b := h.ask("make b", 2)
				h.chat.failing(nil)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				two := h.chat.seen()[0]
				if len(one.card.Items) != 1 || len(two.card.Items) != 2 {
					t.Fatalf("the card shows %d, then %d calls", len(one.card.Items), len(two.card.Items))
				}
				c := h.ask("make c", 3)

				r := h.press(two, all, choice)
				if !r.Won || !slices.Equal(r.Approvals, []approval.ID{a.Approval.ID, b.Approval.ID}) {
					t.Errorf("pressed for two: %+v", r)
				}
				for id, state := range map[approval.ID]approval.State{a.Approval.ID: want, b.Approval.ID: want, c.Approval.ID: approval.Pending} {
					if got := h.state(id); got != state {
						t.Errorf("%s is %s, want %s", id, got, state)
					}
				}
				if r := h.press(one, all, choice); r.Won || !slices.Equal(r.Approvals, []approval.ID{a.Approval.ID}) {
					t.Errorf("the button for one: %+v", r)
				}
				settle()
				last := h.chat.seen()[0]
				if len(last.card.Items) != 3 || len(last.card.Items[2].Buttons) != 2 {
					t.Fatalf("the card shows %+v", last.card)
				}
				if r := h.press(last, all, choice); !r.Won || !slices.Equal(r.Approvals, []approval.ID{c.Approval.ID}) {
					t.Errorf("the rest: %+v", r)
				}
			})
		})
	}
}

// TestWordsMeanWhatTheCardShowed checks that words about a card, sent without a button,
// concern what the card was known to show.
func TestWordsMeanWhatTheCardShowed(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("make a", 1)
		settle()
		h.chat.failingOn("amend", errors.New("slow network"))
		b := h.ask("make b", 2)
		settle()
		r, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "chat", Words: "no"})
		if err != nil || !r.Won || h.state(a.Approval.ID) != approval.Denied || h.state(b.Approval.ID) != approval.Pending {
			t.Errorf("got %+v, %v; the second call is %s", r.Approvals, err, h.state(b.Approval.ID))
		}
	})
}

// P3, P9: a crash between a call's joining and the amending of the card loses nothing. The
// card eventually lists both calls, and its old buttons mean the first.
func TestACrashBetweenJoiningAndAmending(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("make a", 1)
		settle()
		old := h.chat.seen()[0]
		h.chat.failingOn("amend", errors.New("network is down"))
		b := h.ask("make b", 2)
		h.restart()
		h.chat.failing(nil)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		now := h.chat.seen()
		if len(now) != 1 || len(now[0].card.Items) != 2 {
			t.Fatalf("after the restart there are %d messages, the first lists %d calls", len(now), len(now[0].card.Items))
		}
		h.press(old, all, approval.ChoiceAllow)
		if h.state(a.Approval.ID) != approval.Allowed || h.state(b.Approval.ID) != approval.Pending {
			t.Errorf("the old button made %s and %s", h.state(a.Approval.ID), h.state(b.Approval.ID))
		}
	})
}

// P5 under race: people press what they see while calls join and deliveries fail. Nothing
// is ever allowed that was not on the card whose button was pressed, and no call is decided
// twice.
func TestPressesRaceWithJoining(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		housed(t, func(t *testing.T, h *house) {
			r := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			h.chat.failing(func(string) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				n := r.IntN(6)
				return n != 0, map[bool]error{true: errors.New("no answer")}[n < 2]
			})
			shown := map[approval.ID]bool{}
			var wg sync.WaitGroup
			for i := range 12 {
				mu.Lock()
				pause, press := time.Duration(r.IntN(3000))*time.Millisecond, r.IntN(3) == 0
				mu.Unlock()
				wg.Go(func() {
					time.Sleep(pause)
					h.ask(fmt.Sprint("make ", i), i+1)
				})
				wg.Go(func() {
					time.Sleep(pause + time.Duration(i)*50*time.Millisecond)
					for _, m := range h.chat.seen() {
						if !press || len(m.card.Buttons) == 0 {
							continue
						}
						mu.Lock()
						for _, it := range m.card.Items {
							shown[it.Approval] = true
						}
						mu.Unlock()
						got := h.press(m, all, approval.ChoiceAllow)
						for _, id := range got.Approvals {
							if !slices.ContainsFunc(m.card.Items, func(it approval.Item) bool { return it.Approval == id }) {
								t.Errorf("seed %d: a press meant %s, which its card did not show", seed, id)
							}
						}
					}
				})
			}
			wg.Wait()
			h.chat.failing(nil)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			for rec, err := range h.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
				if err != nil {
					t.Fatal(err)
				}
				a, err := approval.DecodeAsk(rec.Body)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range a.Approvals {
					if p.Decision != nil && !shown[p.ID] {
						t.Errorf("seed %d: %s was decided and never seen", seed, p.ID)
					}
				}
			}
		})
	}
}
