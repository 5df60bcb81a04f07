package dispatcher_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestSeriousCallsTakeThePasskey checks that once a passkey exists, a call that cannot be
// undone or that reaches others can be allowed only with it, wherever and however it is
// pressed or edited. Everything else stays as before.
func TestSeriousCallsTakeThePasskey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var registered atomic.Bool
		g := weighing(t, dispatcher.Deciders{Passkeys: dispatcher.Passkeys{Holder: "web:owner", Channel: "web", Registered: registered.Load}})

		first := g.propose(t, push("--force main"), 0)
		if c := g.onlyCard(t); !slices.ContainsFunc(c.Buttons, func(b approval.Button) bool { return b.Choice == approval.ChoiceAllow }) || c.Items[0].Passkey {
			t.Errorf("before there is one, the card is %+v", c)
		}
		registered.Store(true)
		if c := g.onlyCard(t); slices.ContainsFunc(c.Buttons, func(b approval.Button) bool { return b.Choice != approval.ChoiceDeny }) || !c.Items[0].Passkey || len(c.Items[0].Grants) != 0 {
			t.Errorf("the card is %+v", c)
		}
		by := approval.Person{ID: "web:owner", Name: "owner"}
		tap := approval.Tap{Ask: first.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: owner, Channel: "fake"}
		for name, change := range map[string]func(*approval.Tap){
			"on a chat":      func(*approval.Tap) {},
			"on the web":     func(t *approval.Tap) { t.By, t.Channel = by, "web" },
			"at a terminal":  func(t *approval.Tap) { t.By, t.Channel = by, "cli" },
			"with more like": func(t *approval.Tap) { t.Choice = approval.GrantChoices()[0] },
		} {
			one := tap
			change(&one)
			if _, err := g.Decide(t.Context(), one); !errors.Is(err, approval.ErrPasskey) && !errors.Is(err, approval.ErrNoGrant) {
				t.Errorf("%s it is answered %v", name, err)
			}
		}
		e := approval.Editing{ID: first.Approval.ID, Texts: map[string]string{"command": "git push origin --force dev"}, By: by, Channel: "web"}
		shown, err := g.Edit(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		e.Seen = shown.Print
		if _, err := g.Edit(t.Context(), e); !errors.Is(err, approval.ErrPasskey) {
			t.Errorf("edited it is answered %v", err)
		}
		if ask, err := g.Find(t.Context(), string(first.Approval.ID)); err != nil || len(ask.Approvals) != 1 || ask.Approvals[0].State != approval.Pending {
			t.Fatalf("something changed: %+v %v", ask, err)
		}
		e.Passkey = true
		if edited, err := g.Edit(t.Context(), e); err != nil || !edited.Done {
			t.Errorf("edited with one it is answered %+v %v", edited, err)
		}

		second := g.propose(t, push("--force other"), 0)
		tap = approval.Tap{Ask: second.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: by, Channel: "web", Passkey: true}
		if r, err := g.Decide(t.Context(), tap); err != nil || !r.Won {
			t.Errorf("with one it is answered %+v %v", r, err)
		}
		third := g.propose(t, push("--force third"), 0)
		if r, err := g.Decide(t.Context(), approval.Tap{Ask: third.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "fake"}); err != nil || !r.Won {
			t.Errorf("a denial is answered %+v %v", r, err)
		}
		synctest.Wait()
	})
}
