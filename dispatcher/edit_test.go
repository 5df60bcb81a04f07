package dispatcher_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// edit is the owner's edit of a command.
func edit(id approval.ID, command string) approval.Editing {
	return approval.Editing{ID: id, Texts: map[string]string{"command": command}, By: owner, Channel: "fake"}
}

// editTo looks at an edit of a command, and makes it.
func (g *gate) editTo(t *testing.T, id approval.ID, command, words string) approval.Edited {
	t.Helper()
	e := edit(id, command)
	e.Words = words
	shown, err := g.Edit(t.Context(), e)
	if err != nil || shown.Done {
		t.Fatalf("looking at the edit: %+v %v", shown, err)
	}
	if ask, err := g.Find(t.Context(), string(id)); err != nil || ask.Find(id).State != approval.Pending || len(ask.Approvals) != 1 {
		t.Fatalf("looking changed the ask: %+v %v", ask, err)
	}
	e.Seen = shown.Print
	done, err := g.Edit(t.Context(), e)
	if err != nil || !done.Done {
		t.Fatalf("the edit: %+v %v", done, err)
	}
	return done
}

func TestEditThenAllow(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		p := push("main")
		first := g.propose(t, p, 0)
		id := first.Approval.ID
		told := make(chan approval.Answer, 1)
		go func() {
			a, err := g.Await(t.Context(), agent, id, time.Hour)
			if err != nil {
				t.Error(err)
			}
			told <- a
		}()
		synctest.Wait()
		if got := g.channel.card(id.Ask()).Items[0].Editables; !slices.Equal(got, []approval.Editable{{Name: "command", Text: "git push origin main"}}) {
			t.Fatalf("what can be changed: %+v", got)
		}
		edited := g.editTo(t, id, "git push origin dev", "not on main")
		if want := (approval.Difference{Name: "command", Was: "git push origin main", Now: "git push origin dev"}); !slices.Equal(edited.Changed, []approval.Difference{want}) || edited.Passes {
			t.Errorf("it was shown as %+v", edited)
		}
		a := <-told
		if a.Decision != approval.RulingDeny || a.Permit != nil || a.Form == nil || a.Form.Args["command"] != "git push origin dev" || a.Form.LapsesAt.IsZero() {
			t.Fatalf("the waiting agent is told %+v", a)
		}
		for _, want := range []string{"did not run as it was proposed", `{"command":"git push origin dev"}`, "once, until 00:10 UTC", "not on main"} {
			if text := a.Told().Text; !strings.Contains(text, want) {
				t.Errorf("the text lacks %q:\n%s", want, text)
			}
		}
		allowed := g.propose(t, push("dev"), 0)
		if allowed.Decision != approval.RulingAllow || allowed.Permit == nil || allowed.Approval.ID == id {
			t.Fatalf("the changed call: %+v", allowed)
		}
		redeem(t, g, allowed.Permit.Permit, p, dispatcher.ErrOtherCall)
		redeem(t, g, allowed.Permit.Permit, push("dev"), nil)
		redeem(t, g, allowed.Permit.Permit, push("dev"), dispatcher.ErrSpent)
		again := g.propose(t, p, 0)
		if again.Decision != approval.RulingDeny || again.Form != nil || !strings.Contains(again.Told().Text, "changed it") {
			t.Errorf("the call as it was, after the changed one ran: %+v", again)
		}
		synctest.Wait()
		items := g.channel.card(id.Ask()).Items
		if len(items) != 2 || items[0].Edit == nil || items[0].Edit.Approval != items[1].Approval || items[0].State != approval.Denied || items[1].State != approval.Spent {
			t.Errorf("the card shows %+v", items)
		}
		if next := g.propose(t, push("dev"), 0); next.Decision != approval.RulingPending {
			t.Errorf("the changed call a second time: %+v", next)
		}
		wantKinds(t, g, history.Edited, history.Denied, history.Joined, history.Allowed, history.Spent)
		time.Sleep(24 * time.Hour)
		day, err := g.Digest(t.Context(), lastDay(t, g.Dispatcher))
		if err != nil {
			t.Fatal(err)
		}
		// The two calls, the agent's repeats of both, and the changed one once more.
		if c := day.Counts; c.Judged != 5 || c.Vetoed != 5 || c.Fates.Sum() != 5 || c.Fates.Denied != 1 || c.Fates.Repeated != 2 {
			t.Errorf("the digest counts %+v", c)
		}
	})
}

func TestAnEditThatTheJudgesLetThrough(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		if edited := g.editTo(t, id, "git status", ""); !edited.Passes {
			t.Fatalf("it was shown as %+v", edited)
		}
		a, err := g.Await(t.Context(), agent, id, 0)
		if err != nil || a.Decision != approval.RulingDeny || a.Form == nil || !a.Form.LapsesAt.IsZero() || !strings.Contains(a.Told().Text, "nobody's leave") {
			t.Fatalf("the agent is told %+v %v", a, err)
		}
		if passed := g.propose(t, shell("git status"), 0); passed.Decision != approval.RulingAllow || passed.Permit != nil {
			t.Errorf("the changed call: %+v", passed)
		}
	})
}

func TestAnEditThatCannotBe(t *testing.T) {
	key := func(want string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*approval.OrderError](err)
			return ok && e.Key == want && e.Error() != "" && !strings.Contains(e.Value, "line 0")
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for name, tc := range map[string]struct {
		change func(*approval.Editing)
		fits   func(error) bool
	}{
		"unclosed":  {func(e *approval.Editing) { e.Texts["command"] = "git push 'origin" }, key(approval.OrderUnread)},
		"nul":       {func(e *approval.Editing) { e.Texts["command"] = "git push\x00" }, key(approval.OrderUnread)},
		"guard":     {func(e *approval.Editing) { e.Texts["command"] = "rm -rf /" }, key(approval.OrderGuard)},
		"unchanged": {func(e *approval.Editing) { e.Texts["command"] = "git push origin main" }, key(approval.OrderUnchanged)},
		"nothing":   {func(e *approval.Editing) { e.Texts = nil }, key(approval.OrderUnchanged)},
		"other-arg": {func(e *approval.Editing) { e.Texts["timeout"] = "9" }, key(approval.OrderArgument)},
		"long":      {func(e *approval.Editing) { e.Texts["command"] = "echo " + strings.Repeat("x", approval.MaxEdit) }, key(approval.OrderLong)},
		"secret": {func(e *approval.Editing) {
			e.Texts["command"] = "git push https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com/a/b main"
		}, key(approval.OrderMasked)},
		"asked-already": {func(e *approval.Editing) { e.Texts["command"] = "git push origin next" }, key(approval.OrderSame)},
		"unseen":        {func(e *approval.Editing) { e.Seen = "another" }, key(approval.OrderShown)},
		"stranger":      {func(e *approval.Editing) { e.By.ID = "fake:eve" }, is(approval.ErrNotApprover)},
		"nobody":        {func(e *approval.Editing) { e.By.ID = "" }, is(approval.ErrNotApprover)},
		"unknown":       {func(e *approval.Editing) { e.ID = "aaaabbbbccccdddd-1" }, is(approval.ErrNotFound)},
		"long-words": {func(e *approval.Editing) { e.Words = strings.Repeat("x", approval.MaxWords+1) }, func(err error) bool {
			_, ok := errors.AsType[*approval.WordsError](err)
			return ok
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				id := g.propose(t, push("main"), 0).Approval.ID
				g.propose(t, push("next"), 0)
				e := edit(id, "git push origin dev")
				tc.change(&e)
				shown, err := g.Edit(t.Context(), e)
				if err == nil {
					e.Seen = shown.Print
					_, err = g.Edit(t.Context(), e)
				}
				if !tc.fits(err) {
					t.Errorf("got %v", err)
				}
				ask, err := g.Find(t.Context(), string(id))
				if err != nil || len(ask.Approvals) != 1 || ask.Find(id).State != approval.Pending || ask.Find(id).Edit != nil {
					t.Errorf("it changed %+v %v", ask, err)
				}
			})
		})
	}
}

// TestAnEditIsOfWhatWaits: what was answered before cannot be changed any more.
func TestAnEditIsOfWhatWaits(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		e := edit(id, "git push origin dev")
		shown, err := g.Edit(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		g.decide(t, id, approval.ChoiceDeny, "")
		for _, e.Seen = range []approval.Fingerprint{shown.Print, ""} { // done, and only looked at
			_, err = g.Edit(t.Context(), e)
			if bad, ok := errors.AsType[*approval.OrderError](err); !ok || bad.Key != approval.OrderNothing {
				t.Errorf("after the denial, %q: %v", e.Seen, err)
			}
		}
	})
}

// TestAnEditOfOneCallOfSeveral leaves the others as they were, with buttons.
func TestAnEditOfOneCallOfSeveral(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		var plan []dispatcher.Request
		for _, p := range []vaglio.Proposal{push("main"), push("next"), push("master")} {
			p.TurnID = "t"
			plan = append(plan, dispatcher.Request{Proposal: p})
		}
		answers, err := g.ProposePlan(t.Context(), agent, plan)
		if err != nil {
			t.Fatal(err)
		}
		e := edit(answers[1].Approval.ID, "git push origin dev")
		shown, err := g.Edit(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		e.Seen = shown.Print
		if _, err := g.Edit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		card := g.channel.card(e.ID.Ask())
		if len(card.Items) != 4 || len(card.Buttons) != 2 || card.Items[0].State != approval.Pending || card.Items[3].State != approval.Allowed {
			t.Fatalf("the card: %+v", card)
		}
		r, err := g.Decide(t.Context(), approval.Tap{Token: card.Buttons[1].Token, By: owner, Channel: "fake"})
		if err != nil || !r.Won || len(r.Approvals) != 2 {
			t.Errorf("denying what waits: %+v %v", r.Approvals, err)
		}
		if got := r.Ask.Approvals[3].State; got != approval.Allowed {
			t.Errorf("the changed call is %s then", got)
		}
	})
}

// TestAnEditIsJudgedOnceAsItWasShown: looking at an edit and making it take one
// judgement each, and what runs another file than was shown is not made.
func TestAnEditIsJudgedOnceAsItWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge, files := &strict{}, disk{"/srv/deploy.sh": "make deploy"}
		d := dispatcher.New(dispatcher.Config{
			Store: storetest.NewMemory(), Channels: []dispatcher.Channel{newFakeChannel()}, Engine: newEngine(t, judge, files),
			Secret: approval.Secret{1}, Deciders: dispatcher.Deciders{Approvers: []string{owner.ID}},
		})
		a, err := d.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make clean")})
		if err != nil {
			t.Fatal(err)
		}
		e := edit(a.Approval.ID, "bash /srv/deploy.sh")
		did := func(what string, calls int) (approval.Edited, error) {
			t.Helper()
			before := judge.calls
			edited, err := d.Edit(t.Context(), e)
			if got := judge.calls - before; got != calls {
				t.Errorf("%s was judged %d times, want %d", what, got, calls)
			}
			return edited, err
		}
		shown, err := did("looking", 1)
		if err != nil {
			t.Fatal(err)
		}
		files["/srv/deploy.sh"] = "make destroy"
		e.Seen = shown.Print
		anew, err := did("making what is not as shown", 1)
		if bad, ok := errors.AsType[*approval.OrderError](err); !ok || bad.Key != approval.OrderShown || anew.Done || anew.Print == shown.Print || len(anew.Changed) != 1 {
			t.Fatalf("after the file changed: %+v %v", anew, err)
		}
		if ask, err := d.Find(t.Context(), string(e.ID)); err != nil || len(ask.Approvals) != 1 || ask.Find(e.ID).State != approval.Pending {
			t.Fatalf("it changed %+v %v", ask, err)
		}
		e.Seen = anew.Print
		if made, err := did("making it", 1); err != nil || !made.Done {
			t.Fatalf("as it was shown anew: %+v %v", made, err)
		}
	})
}
