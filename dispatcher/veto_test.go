package dispatcher_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// TestEveryIDOfADigestTellsWhy checks that every call that a digest lists has an id under
// which people are told why.
func TestEveryIDOfADigestTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := printing(t, storetest.NewMemory(), morning)
		time.Sleep(time.Hour)
		secret := "ghp_" + strings.Repeat("a1B2", 9)
		for i := range 4 {
			for _, command := range []string{"rm -rf / " + secret, fmt.Sprintf("make %d", i/2)} {
				call := dispatcher.Request{Proposal: shell(command)}
				call.Proposal.TurnID, call.Proposal.Step = "t", i // every second make joins the one before it
				if _, err := p.Propose(t.Context(), agent, call); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(24 * time.Hour)
		d, err := p.Digest(t.Context(), lastDay(t, p.Dispatcher))
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[bool]int{}
		for _, g := range d.Groups {
			for _, v := range g.Actions {
				id := string(v.ID)
				kinds[approval.IsVetoID(id)]++
				for _, asked := range []string{id, id[:len(approval.VetoMark)+4]} {
					c, err := p.Why(t.Context(), asked, "chat")
					if err != nil || len(c.Items) == 0 || len(c.Buttons) > 0 {
						t.Fatalf("%s: %+v, %v", asked, c, err)
					}
					if c.Items[0].Refusal.Wanted == "" || strings.Contains(fmt.Sprint(c), secret) || approval.IsVetoID(id) != (c.Items[0].State == "") {
						t.Errorf("%s: %+v", asked, c)
					}
				}
			}
		}
		if kinds[true] != 4 || kinds[false] != 2 {
			t.Errorf("%d ids of vetoes, %d of asks: %+v", kinds[true], kinds[false], d.Groups)
		}
		for _, bad := range []string{"veto-", "veto-abc", "veto-aaaaaaaaaa", "veto-aaaaaaaaaaa"} {
			if _, err := p.Why(t.Context(), bad, "chat"); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("%s: %v", bad, err)
			}
		}
		// It is not an ask: nobody can decide it.
		veto := d.Groups[0].Actions[0].ID
		if !approval.IsVetoID(string(veto)) {
			veto = d.Groups[1].Actions[0].ID
		}
		tap := approval.Tap{Ask: veto.Ask(), Choice: approval.ChoiceAllow, By: owner, Channel: "chat"}
		if _, err := p.Decide(t.Context(), tap); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("a veto was decided: %v", err)
		}
		tap.Ask = approval.AskID(veto)
		if _, err := p.Decide(t.Context(), tap); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("a veto was decided: %v", err)
		}
	})
}

// TestWhatAClientRefusedForGoodIsPutToNobody checks that a call that the client itself
// refused for good is denied without a card, whatever happens to it elsewhere, and that the
// guard still comes first.
func TestWhatAClientRefusedForGoodIsPutToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := printing(t, storetest.NewMemory(), morning)
		time.Sleep(time.Hour)
		for command, by := range map[string]vaglio.Phase{"ls": vaglio.PhaseJudge, "rm -rf /": vaglio.PhaseGuard} {
			call := dispatcher.Request{Proposal: shell(command), Key: command, Wait: time.Minute}
			call.Proposal.Context.Concerns = []vaglio.Concern{vaglio.ConcernAsks, vaglio.ConcernFinal}
			a, err := p.Propose(t.Context(), agent, call)
			if err != nil || a.Decision != approval.RulingDeny || a.Approval != nil || a.Permit != nil || a.Verdict.BlockedBy != by || !a.Refusal.Final {
				t.Errorf("%s: %+v, %v", command, a, err)
			}
			// The same call, made again, is asked about as usual.
			call.Proposal.Context.Concerns, call.Wait = nil, 0
			if a, err := p.Propose(t.Context(), agent, call); err != nil || (a.Approval != nil) != (by == vaglio.PhaseJudge) {
				t.Errorf("%s: %+v, %v", command, a, err)
			}
		}
		time.Sleep(24 * time.Hour)
		d, err := p.Digest(t.Context(), lastDay(t, p.Dispatcher))
		if err != nil || d.Counts.Fates.Unasked != 1 || d.Counts.Vetoed != 2 || d.Counts.Guard != 2 {
			t.Errorf("%+v, %v", d.Counts, err)
		}
	})
}
