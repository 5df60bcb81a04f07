package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestWhatAnswersHoldIsSaid opens a call that is like a denied one and has a grant: the
// page says what differs and what is left, as the chats do.
func TestWhatAnswersHoldIsSaid(t *testing.T) {
	d := newDesk()
	d.open("nearness", proposal("git push origin dev"))
	d.change(func() {
		d.asks[0].Approvals[0].Like = &approval.Likeness{At: time.Now(), Differences: []approval.Difference{
			{Name: "ref", Was: "main", Now: "dev"}, {Name: "flag", Now: "--tags"}, {Name: "remote", Was: "fork"},
		}}
	})
	d.open("granted1", proposal("git push origin main"))
	d.change(func() {
		a := &d.asks[1].Approvals[0]
		a.State, a.Decision = approval.Allowed, &approval.Decision{Choice: approval.ChoiceAllow, At: time.Now()}
		a.Grant = &approval.Grant{Most: 10, At: time.Now(), Until: time.Now().Add(-time.Minute)}
	})
	in := newInbox(t, d).signIn()
	for page, want := range map[string]string{
		"/inbox/ask/nearness": "what differs: ref main → dev, flag --tags is new, remote fork is gone",
		"/inbox/ask/granted1": "The grant is over: 1 of 10 were used.",
	} {
		if said := parse(t, in.get(page)).id(t, "main").words(); !strings.Contains(said, want) {
			t.Errorf("%s: %q is not in %s", page, want, said)
		}
	}
	if warned := parse(t, in.get("/inbox/ask/nearness")).id(t, "main").class("cut"); len(warned) != 1 || !strings.Contains(warned[0].words(), "ref main → dev") {
		t.Errorf("a call that is like a denied one does not warn: %v", warned)
	}
}
