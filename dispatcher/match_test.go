package dispatcher_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestTheWorstTakesDigits checks that if the inbox can be reached from everywhere, allowing
// one of the worst calls on a chat takes the digits that only the inbox's card shows. The
// chat's card shows others, which the inbox takes. A wrong answer is stored, so that
// neither a restart nor a simultaneous tap gives further tries.
func TestTheWorstTakesDigits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := weighing(t, dispatcher.Deciders{
			Approvers: []string{"fake:1", "web:owner"},
			Match:     approval.Match{Channel: "web", Reader: "web:owner", Reached: true},
		})

		id := g.propose(t, push("--force main"), 0).Approval.ID
		digits := func() string {
			c, err := g.Card(t.Context(), id.Ask(), "web")
			if err != nil {
				t.Fatal(err)
			}
			return c.Digits
		}
		chat := func() string {
			c, err := g.Card(t.Context(), id.Ask(), "fake")
			if err != nil {
				t.Fatal(err)
			}
			return c.Digits
		}
		if posted := g.onlyCard(t).Digits; posted == "" || posted != chat() {
			t.Errorf("the chat's card shows %q, and then %q", posted, chat())
		}
		tap := approval.Tap{Ask: id.Ask(), Choice: approval.ChoiceAllow, By: approval.Person{ID: "fake:1", Name: "Ann"}, Channel: "fake"}
		if _, err := g.Decide(t.Context(), tap); !isMatch(err) || len(digits()) != 2 {
			t.Fatalf("without digits it is answered %v, and the inbox shows %q", err, digits())
		}
		tap.Digits = wrongly(digits())
		var race sync.WaitGroup
		for range 8 {
			race.Go(func() {
				if r, err := g.Decide(t.Context(), tap); err == nil && (r.Won || r.Mismatch == nil) || err != nil && !isMatch(err) {
					t.Errorf("wrong ones are answered %+v %v", r, err)
				}
			})
		}
		race.Wait()
		ask, err := g.Find(t.Context(), string(id))
		if err != nil || ask.Mismatches != approval.MaxMismatches || ask.Approvals[0].State != approval.Pending || digits() != "" {
			t.Errorf("after eight wrong answers it is %+v %v", ask, err)
		}
		by := approval.Person{ID: "web:owner", Name: "owner"}
		if r, err := g.Decide(t.Context(), approval.Tap{Ask: id.Ask(), Choice: approval.ChoiceAllow, By: by, Channel: "web", Digits: chat()}); err != nil || !r.Won {
			t.Errorf("in the inbox it is answered %+v %v", r, err)
		}

		id = g.propose(t, push("--force other"), 0).Approval.ID
		tap.Ask, tap.Digits = id.Ask(), digits()
		if r, err := g.Decide(t.Context(), tap); err != nil || !r.Won {
			t.Errorf("the right ones are answered %+v %v", r, err)
		}
		synctest.Wait()
	})
}

// TestNewKeysMakeNewDigits checks that a card never shows digits made with former keys,
// because whoever types them would lose a try.
func TestNewKeysMakeNewDigits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := weighing(t, dispatcher.Deciders{
			Approvers: []string{"fake:1", "web:owner"},
			Match:     approval.Match{Channel: "web", Reader: "web:owner", Reached: true},
		})
		asked := map[approval.AskID]string{}
		for _, branch := range []string{"main", "next", "docs", "site"} {
			id := g.propose(t, push("--force "+branch), 0).Approval.ID.Ask()
			synctest.Wait()
			asked[id] = g.channel.card(id).Digits
		}
		g.Rekey(approval.Permits{Secret: approval.Secret{2}, Former: approval.Secret{1}})
		if _, err := g.VoidPermits(t.Context(), owner, "terminal"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		same := 0
		for id, before := range asked {
			posted := g.channel.card(id).Digits
			if now, err := g.Card(t.Context(), id, "fake"); err != nil || posted != now.Digits {
				t.Errorf("the chat shows %q and takes %q: %v", posted, now.Digits, err)
			}
			if posted == before {
				same++
			}
		}
		if same == len(asked) { // One of ninety numbers may well come again.
			t.Errorf("the cards show what they showed before: %v", asked)
		}
	})
}

// weighing runs a dispatcher that asks about what the shipped one does, with a chat.
func weighing(t *testing.T, by dispatcher.Deciders) *gate { //nolint:gocritic // As the configuration has them.
	t.Helper()
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	channel := newFakeChannel()
	g := running(t, dispatcher.Config{Channels: []dispatcher.Channel{channel}, Engine: newEngine(t, judge, disk{}), Deciders: by})
	g.channel = channel
	return g
}

// isMatch reports whether a yes was refused because digits are missing.
func isMatch(err error) bool {
	_, ok := errors.AsType[*approval.MatchError](err)
	return ok
}

// TestEachSideShowsDigitsOfItsOwn uses several cards, because on one in ninety both sides
// show the same two digits.
func TestEachSideShowsDigitsOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := weighing(t, dispatcher.Deciders{
			Approvers: []string{"fake:1", "web:owner"},
			Match:     approval.Match{Channel: "web", Reader: "web:owner", Reached: true},
		})
		for _, branch := range []string{"main", "production", "release", "live", "stable", "master"} {
			id := g.propose(t, push("--force "+branch), 0).Approval.ID.Ask()
			chat, errChat := g.Card(t.Context(), id, "fake")
			inbox, errInbox := g.Card(t.Context(), id, "web")
			if errChat != nil || errInbox != nil || chat.Digits == "" || inbox.Digits == "" {
				t.Fatal(errChat, errInbox, chat.Digits, inbox.Digits)
			}
			if chat.Digits != inbox.Digits {
				return
			}
		}
		t.Error("the chat's cards show the digits of the inbox")
	})
}

// wrongly returns digits that no few attempts can make right: no number begins with 0.
func wrongly(digits string) string { return "0" + digits[1:] }
