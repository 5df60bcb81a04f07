package approval_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// further returns calls that can join an ask made by open.
func further(t *testing.T, commands ...string) []approval.Call {
	t.Helper()
	calls := opening(t, commands...).Calls
	for i := range calls {
		calls[i].Fingerprint = approval.Fingerprint("further " + commands[i])
	}
	return calls
}

func channelsOf(a *approval.Ask) (names []string) {
	for i := range a.Cards {
		names = append(names, a.Cards[i].Channel)
	}
	return names
}

func TestJoin(t *testing.T) {
	a := open(t, "make a")
	one := approval.NewCard(a, "web", masker).Buttons
	calls := further(t, "make b", "make c")
	ids, err := a.Join(calls, channelsOf(&a), approval.NewTokens(a.JoinTokens(2)), start.Add(time.Second))
	if err != nil || !slices.Equal(ids, []approval.ID{approval.ID(a.ID + "-2"), approval.ID(a.ID + "-3")}) {
		t.Fatalf("joined as %v, %v", ids, err)
	}
	c := approval.NewCard(a, "web", masker)
	if len(c.Items) != 3 || len(c.Buttons) != 2 || len(c.Items[0].Buttons) != 2 || len(c.Items[2].Buttons) != 2 {
		t.Fatalf("the card is %+v", c)
	}
	for _, b := range one {
		if got := a.On("web").Callbacks[b.Token]; got.Approval != a.Approvals[0].ID || got.Replaced {
			t.Errorf("the first button means %+v", got)
		}
	}
	if p := a.Approvals[2]; p.State != approval.Pending || !p.ExpiresAt.Equal(a.ExpiresAt) || p.Refusal.Wanted == "" {
		t.Errorf("the third approval is %+v", p)
	}
	seen := map[approval.Token]bool{}
	for i := range a.Cards {
		for token := range a.Cards[i].Callbacks {
			if seen[token] {
				t.Errorf("the token %s is on two cards", token)
			}
			seen[token] = true
		}
	}
}

// joining holds the arguments of Join.
type joining struct {
	ask      *approval.Ask
	calls    []approval.Call
	channels []string
	tokens   []approval.Token
	at       time.Time
}

// TestJoinRefuses checks that calls that cannot join leave the ask unchanged.
func TestJoinRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(j *joining)
		want   error
	}{
		"TooLate":       {func(j *joining) { j.at = start.Add(approval.GatherFor) }, approval.ErrNoJoining},
		"ClockSetBack":  {func(j *joining) { j.at = start.Add(-time.Hour) }, approval.ErrNoJoining},
		"Answered":      {func(j *joining) { j.ask.Approvals[0].State = approval.Denied }, approval.ErrNoJoining},
		"Closed":        {func(j *joining) { j.ask.Closed = true }, approval.ErrNoJoining},
		"Gone":          {func(j *joining) { j.ask.Cards[0].Gone = true }, approval.ErrNoJoining},
		"NoTurn":        {func(j *joining) { j.ask.TurnID, j.calls[0].Proposal.TurnID = "", "" }, approval.ErrNoJoining},
		"AnotherTurn":   {func(j *joining) { j.calls[0].Proposal.TurnID = "t-9" }, approval.ErrNoJoining},
		"AnotherIntent": {func(j *joining) { j.calls[0].Proposal.Intent = "something else" }, approval.ErrNoJoining},
		"AnotherAgent":  {func(j *joining) { j.calls[0].Proposal.Agent = "other" }, approval.ErrNoJoining},
		"OtherChannels": {func(j *joining) { j.channels = []string{"web", "slack"} }, approval.ErrNoJoining},
		"TooFewTokens":  {func(j *joining) { j.tokens = j.tokens[1:] }, approval.ErrNoJoining},
		"NoFingerprint": {func(j *joining) { j.calls[0].Fingerprint = "" }, approval.ErrNoJoining},
		"NoDenial":      {func(j *joining) { j.calls[0].Denial = approval.Denial{} }, approval.ErrNotAskable},
		"AskedAlready":  {func(j *joining) { j.calls[0].Fingerprint = j.ask.Approvals[0].Fingerprint }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make a")
			j := joining{&a, further(t, "make b"), channelsOf(&a), approval.NewTokens(a.JoinTokens(1)), start}
			tt.change(&j)
			view, keys := a.View(), len(a.Keys())
			ids, err := a.Join(j.calls, j.channels, j.tokens, j.at)
			if tt.want != nil && !errors.Is(err, tt.want) || err == nil || len(ids) != 0 {
				t.Errorf("got %v, %v", ids, err)
			}
			if _, held := errors.AsType[*approval.KeyError](err); tt.want == nil && !held {
				t.Errorf("got %v, want a KeyError", err)
			}
			if a.View() != view || len(a.Keys()) != keys {
				t.Errorf("the ask changed: %s", a.View())
			}
		})
	}
	a := open(t, "make a")
	for i := 1; i < approval.MaxGathered; i++ {
		if _, err := a.Join(further(t, string(rune('a'+i))), channelsOf(&a), approval.NewTokens(a.JoinTokens(1)), start); err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	if _, err := a.Join(further(t, "one more"), channelsOf(&a), approval.NewTokens(a.JoinTokens(1)), start); !errors.Is(err, approval.ErrNoJoining) {
		t.Errorf("an eleventh call: %v", err)
	}
}

// TestWhatIsAkinJoinsLater checks which calls join an ask that people may already be
// reading: those with the same verb in the same system, during the first two thirds of the
// ask's time.
func TestWhatIsAkinJoinsLater(t *testing.T) {
	pushTo := func(ref string) approval.Subjects {
		return approval.Subjects{{System: "git", Verb: "push", Object: []approval.Fact{{Name: "ref", Value: ref}}}}
	}
	write := func(path string) approval.Subjects {
		return approval.Subjects{{System: approval.Files, Verb: "write", Object: []approval.Fact{{Name: "path", Value: path}}}}
	}
	for name, tt := range map[string]struct {
		asked, further approval.Subjects
		change         func(a *approval.Ask)
		// after is how much of the ask's time has passed, in sixths.
		after time.Duration
		joins bool
	}{
		"near":                     {pushTo("main"), pushTo("dev"), nil, 3, true},
		"equal, spelled anew":      {pushTo("main"), pushTo("main"), nil, 3, true},
		"another verb":             {pushTo("main"), approval.Subjects{{System: "git", Verb: "tag"}}, nil, 3, false},
		"another system":           {pushTo("main"), approval.Subjects{{System: "npm", Verb: "push"}}, nil, 3, false},
		"files side by side":       {write("/w/a"), write("/w/b"), nil, 3, true},
		"files elsewhere":          {write("/w/a"), write("/etc/b"), nil, 3, false},
		"what is not known":        {nil, nil, nil, 3, false},
		"not known, and known":     {pushTo("main"), nil, nil, 3, false},
		"the turn went on":         {pushTo("main"), pushTo("dev"), func(a *approval.Ask) { a.Yielded = true }, 3, true},
		"the turn went on at once": {pushTo("main"), nil, func(a *approval.Ask) { a.Yielded = true }, 0, false},
		"little time is left":      {pushTo("main"), pushTo("dev"), nil, 4, false},
		"answered":                 {pushTo("main"), pushTo("dev"), func(a *approval.Ask) { a.Approvals[0].State = approval.Denied }, 3, false},
		"asked back":               {pushTo("main"), pushTo("dev"), func(a *approval.Ask) { a.Closed = true }, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make a")
			a.Approvals[0].About = tt.asked
			if tt.change != nil {
				tt.change(&a)
			}
			calls := further(t, "make b")
			calls[0].About = tt.further
			at := a.OpenedAt.Add(a.ExpiresAt.Sub(a.OpenedAt) / 6 * tt.after)
			ids, err := a.Join(calls, channelsOf(&a), approval.NewTokens(a.JoinTokens(1)), at)
			if tt.joins != (err == nil) || !tt.joins && (!errors.Is(err, approval.ErrNoJoining) || len(a.Approvals) != 1) {
				t.Errorf("joined as %v, %v", ids, err)
			}
		})
	}
}

// TestJoinSettlesAnOlderProgramsButtons checks that when a call joins, a button for all
// calls made by an older program keeps meaning the calls of its time.
func TestJoinSettlesAnOlderProgramsButtons(t *testing.T) {
	a := open(t, "make a", "make b")
	s := a.On("web")
	s.Ref = "m1"
	var all approval.Token
	for token, c := range s.Callbacks {
		if c.Approval == "" {
			c.Calls = 0
			s.Callbacks[token] = c
			if c.Choice == approval.ChoiceAllow {
				all = token
			}
		}
	}
	if _, err := a.Join(further(t, "make c"), channelsOf(&a), approval.NewTokens(a.JoinTokens(1)), start); err != nil {
		t.Fatal(err)
	}
	r := decide(t, &a, approval.Tap{Token: all, By: owner, Channel: "web"}, start)
	if !r.Won || len(r.Approvals) != 2 || a.View() != "allowed,allowed,pending" || a.On("web").Posted != 2 {
		t.Errorf("it decides %v: %s", r.Approvals, a.View())
	}
}

func TestRepost(t *testing.T) {
	a := open(t, "make a", "make b")
	before := approval.NewCard(a, "web", masker)
	if a.Repost("elsewhere", approval.NewTokens(100)) || a.Repost("web", approval.NewTokens(a.PostTokens()-1)) {
		t.Error("buttons were made of nothing")
	}
	if got := approval.NewCard(a, "web", masker); !slices.Equal(got.Buttons, before.Buttons) {
		t.Error("what was refused changed the card")
	}
	if !a.Repost("web", approval.NewTokens(a.PostTokens())) {
		t.Fatal("refused")
	}
	after := approval.NewCard(a, "web", masker)
	for _, b := range slices.Concat(before.Buttons, before.Items[0].Buttons) {
		if slices.Contains(slices.Concat(after.Buttons, after.Items[0].Buttons), b) {
			t.Errorf("the button %s is still on the card", b.Token)
		}
		r := decide(t, &a, approval.Tap{Token: b.Token, By: owner, Channel: "web"}, start)
		if r.Won || !r.Replaced {
			t.Errorf("it decides: %+v", r)
		}
	}
	if a.View() != "pending,pending" {
		t.Errorf("the ask is %s", a.View())
	}
	if r := decide(t, &a, approval.Tap{Token: after.Buttons[0].Token, By: owner, Channel: "web"}, start); !r.Won || len(r.Approvals) != 2 {
		t.Errorf("the new button: %+v", r)
	}
}

func TestRemindAt(t *testing.T) {
	a := open(t, "make a", "make b")
	a.ExpiresAt = start.Add(30 * time.Minute)
	if got := a.RemindAt(); !got.Equal(start.Add(20 * time.Minute)) {
		t.Errorf("reminds at %v", got)
	}
	short := a
	short.ExpiresAt = start.Add(15*time.Minute - time.Second)
	if got := short.RemindAt(); !got.IsZero() {
		t.Errorf("a short ask reminds at %v", got)
	}
	decide(t, &a, approval.Tap{Approval: a.Approvals[0].ID, Choice: approval.ChoiceAllow, By: owner}, start)
	if got := a.RemindAt(); !got.IsZero() {
		t.Errorf("one that somebody answers reminds at %v", got)
	}
}

// TestSnooze checks when people are reminded of an ask that was put off or handed over.
func TestSnooze(t *testing.T) {
	by := func(after time.Duration) approval.Act {
		return approval.Act{By: approval.Person{ID: "web:owner", Name: "Ada"}, Channel: "web", At: start.Add(after)}
	}
	for name, tt := range map[string]struct {
		change func(a *approval.Ask)
		span   time.Duration
		key    string // of the error; "" if it is put off
	}{
		"ten minutes":       {func(*approval.Ask) {}, 10 * time.Minute, ""},
		"reminded before":   {func(a *approval.Ask) { a.Cards[0].Reminded = true }, 10 * time.Minute, ""},
		"again":             {func(a *approval.Ask) { _ = a.Snooze(by(0), time.Minute) }, 10 * time.Minute, ""},
		"no time":           {func(*approval.Ask) {}, 0, approval.OrderSnooze},
		"less than no time": {func(*approval.Ask) {}, -time.Minute, approval.OrderSnooze},
		"past the deadline": {func(a *approval.Ask) { a.ExpiresAt = start.Add(10 * time.Minute) }, 10 * time.Minute, approval.OrderSnooze},
		"over":              {func(a *approval.Ask) { a.ExpiresAt = start }, 10 * time.Minute, approval.OrderNothing},
		"answered in part": {func(a *approval.Ask) {
			a.Approvals[0].State, a.Approvals[0].Decision = approval.Denied, &approval.Decision{Choice: approval.ChoiceDeny}
		}, 10 * time.Minute, approval.OrderNothing},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make a", "make b")
			a.ExpiresAt = start.Add(2 * time.Hour)
			tt.change(&a)
			deadline, before := a.ExpiresAt, a.RemindAt()
			err := a.Snooze(by(time.Second), tt.span)
			bad, _ := errors.AsType[*approval.OrderError](err)
			if (err == nil) != (tt.key == "") || err != nil && (bad == nil || bad.Key != tt.key || !a.RemindAt().IsZero() && !a.RemindAt().Equal(before)) {
				t.Fatalf("%v, want %q; reminded at %s", err, tt.key, a.RemindAt())
			}
			if !a.ExpiresAt.Equal(deadline) {
				t.Error("the deadline moved")
			}
			if err != nil {
				return
			}
			if want := start.Add(time.Second + tt.span); !a.RemindAt().Equal(want) || a.Cards[0].Reminded {
				t.Errorf("reminded at %s, want %s", a.RemindAt(), want)
			}
			view := a.View()
			if err := a.HandOver(by(time.Minute), "web:bob", approval.Everybody()); err != nil || !a.RemindAt().Equal(start.Add(time.Minute)) || a.View() == view {
				t.Errorf("handed over: %v, reminded at %s", err, a.RemindAt())
			}
			if err := a.Snooze(by(2*time.Minute), tt.span); err != nil || !a.RemindAt().Equal(start.Add(2*time.Minute+tt.span)) {
				t.Errorf("put off by the other: %v, reminded at %s", err, a.RemindAt())
			}
		})
	}
}
