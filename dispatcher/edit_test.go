package dispatcher_test

import (
	"context"
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
	"github.com/metnos/vaglio/vaglio/audit"
)

// edit is the owner's edit of a command.
func edit(id approval.ID, command string) approval.Editing {
	return approval.Editing{ID: id, Texts: map[string]string{"command": command}, By: owner, Channel: "fake"}
}

// editTo previews an edit of a command, and makes it.
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
	told := func(key, value string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*approval.OrderError](err)
			return ok && e.Key == key && strings.HasPrefix(e.Value, value)
		}
	}
	forbidden, _, err := newEngine(t, &strict{}, nil).Guard(t.Context(), shell("rm -rf /"))
	if err != nil || forbidden.Rule == nil || forbidden.Rule.Why == forbidden.Reason {
		t.Fatalf("the guard says %+v %v", forbidden, err)
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	judged := map[string]bool{"guard": true, "asked-already": true, "unseen": true, "long-words": true}
	for name, tc := range map[string]struct {
		change func(*approval.Editing)
		fits   func(error) bool
	}{
		"unclosed": {func(e *approval.Editing) { e.Texts["command"] = "git push 'origin" }, told(approval.OrderUnread, "line 1, column 10: ")},
		"nul": {func(e *approval.Editing) { e.Texts["command"] = "git push\x00" }, func(err error) bool {
			return key(approval.OrderUnread)(err) && !strings.Contains(err.(*approval.OrderError).Value, "judged") //nolint:errorlint // As key has it.
		}},
		"guard":     {func(e *approval.Editing) { e.Texts["command"] = "rm -rf /" }, told(approval.OrderGuard, strings.TrimSuffix(forbidden.Rule.Why, "."))},
		"unchanged": {func(e *approval.Editing) { e.Texts["command"] = "git push origin main" }, key(approval.OrderUnchanged)},
		"nothing":   {func(e *approval.Editing) { e.Texts = nil }, key(approval.OrderUnchanged)},
		"other-arg": {func(e *approval.Editing) { e.Texts["timeout"] = "9" }, key(approval.OrderArgument)},
		"long":      {func(e *approval.Editing) { e.Texts["command"] = "echo " + strings.Repeat("x", approval.MaxEdit) }, key(approval.OrderLong)},
		"secret": {func(e *approval.Editing) {
			e.Texts["command"] = "git push https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com/a/b main"
		}, key(approval.OrderMasked)},
		"asked-already":        {func(e *approval.Editing) { e.Texts["command"] = "git push origin next" }, key(approval.OrderSame)},
		"unseen":               {func(e *approval.Editing) { e.Seen = "another" }, key(approval.OrderShown)},
		"stranger":             {func(e *approval.Editing) { e.By.ID = "fake:eve" }, is(approval.ErrNotApprover)},
		"nobody":               {func(e *approval.Editing) { e.By.ID = "" }, is(approval.ErrNotApprover)},
		"unknown":              {func(e *approval.Editing) { e.ID = "aaaabbbbccccdddd-1" }, is(approval.ErrNotFound)},
		"no-such-call":         {func(e *approval.Editing) { e.ID = approval.ID(e.ID.Ask() + "-9") }, is(approval.ErrNotFound)},
		"a stranger's unknown": {func(e *approval.Editing) { e.ID, e.By.ID = "aaaabbbbccccdddd-1", "fake:eve" }, is(approval.ErrNotApprover)},
		"long-words": {func(e *approval.Editing) { e.Words = strings.Repeat("x", approval.MaxWords+1) }, func(err error) bool {
			_, ok := errors.AsType[*approval.WordsError](err)
			return ok
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				p := push("main")
				p.TurnID, p.Step = "t-1", 1
				id := g.propose(t, p, 0).Approval.ID
				g.propose(t, push("next"), 0)
				e := edit(id, "git push origin dev")
				tc.change(&e)
				shown, err := g.Edit(t.Context(), e)
				steps := 1
				if n := len(g.steps(t)); e.Seen == "" && n != steps {
					t.Errorf("looking at it is in the turn's log: %d steps", n)
				}
				if judged[name] {
					steps++ // as in the audit log
				}
				switch {
				case err == nil:
					e.Seen = shown.Print
				case !tc.fits(err):
					t.Errorf("looking at it gives %v", err)
				default:
					e.Seen = "another"
				}
				if _, err = g.Edit(t.Context(), e); !tc.fits(err) {
					t.Errorf("got %v", err)
				}
				if n := len(g.steps(t)); n != steps {
					t.Errorf("the turn's log has %d steps, want %d", n, steps)
				}
				ask, err := g.Find(t.Context(), string(id))
				if err != nil || len(ask.Approvals) != 1 || ask.Find(id).State != approval.Pending || ask.Find(id).Edit != nil {
					t.Errorf("it changed %+v %v", ask, err)
				}
			})
		})
	}
}

// steps returns the steps of the turn t-1.
func (g *gate) steps(t *testing.T) []approval.Step {
	t.Helper()
	log, err := g.Turn(t.Context(), approval.TurnQuery{Agent: agent, Turn: "t-1"})
	steps := log.Steps
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// TestAnEditThatFails checks that the error of a failing store, or of a caller who went
// away, is returned as it is.
func TestAnEditThatFails(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Edit(gone, edit(id, "git push origin dev")); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who went away is told %v", err)
		}
		broken := errors.New("the disk is gone")
		g.store.Break(broken)
		if _, err := g.Edit(t.Context(), edit(id, "git push origin dev")); !errors.Is(err, broken) {
			t.Errorf("with a store that fails it gives %v", err)
		}
		g.store.Break(nil)
	})
}

// TestAnEditIsOfWhatWaits checks that what was answered before can no longer be changed.
func TestAnEditIsOfWhatWaits(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		e := edit(id, "git push origin dev")
		shown, err := g.Edit(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		g.decide(t, id, approval.ChoiceDeny, "")
		for _, e.Seen = range []approval.Fingerprint{shown.Print, ""} { // making it, and only previewing it
			_, err = g.Edit(t.Context(), e)
			if bad, ok := errors.AsType[*approval.OrderError](err); !ok || bad.Key != approval.OrderNothing {
				t.Errorf("after the denial, %q: %v", e.Seen, err)
			}
		}
	})
}

// TestAnEditOfOneCallOfSeveral checks that the other calls stay as they were, with their
// buttons.
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

// auditLog keeps the records of verdicts.
type auditLog []audit.Record

func (l *auditLog) Append(r audit.Record) { *l = append(*l, r) } //nolint:gocritic // As the log has it.

// TestAnEditIsJudgedOnceAsItWasShown checks that previewing an edit and making it take one
// judgment each, that only making it is logged, and that an edit is not made if it would
// run another file than was shown.
func TestAnEditIsJudgedOnceAsItWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge, files := &strict{}, disk{"/srv/deploy.sh": "make deploy"}
		var logged auditLog
		engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge, MinScore: 0.5}}, Kind: judge.Kind(), Home: "/home/u", Files: files, Log: &logged})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcher.New(dispatcher.Config{
			Store: storetest.NewMemory(), Channels: []dispatcher.Channel{newFakeChannel()}, Engine: engine,
			Secret: approval.Secret{1}, Deciders: dispatcher.Deciders{Approvers: []string{owner.ID}},
		})
		a, err := d.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make clean")})
		if err != nil {
			t.Fatal(err)
		}
		e := edit(a.Approval.ID, "bash /srv/deploy.sh")
		did := func(what string, records int) (approval.Edited, error) {
			t.Helper()
			before, recorded := judge.calls, len(logged)
			edited, err := d.Edit(t.Context(), e)
			if got, more := judge.calls-before, len(logged)-recorded; got != 1 || more != records {
				t.Errorf("%s was judged %d times, and the log has %d records of it, want %d", what, got, more, records)
			}
			return edited, err
		}
		shown, err := did("looking", 0)
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
