package approval_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

var (
	start  = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	secret = approval.Secret{7, 7, 7}
	owner  = approval.Person{ID: "web:owner", Name: "Owner"}
)

const (
	askFor    = 30 * time.Minute
	permitFor = 10 * time.Minute
)

func judgeDenies(score float64) vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "score below 0.5", TS: 1, JudgeKind: "effects", Score: score, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: score, Confidence: 1, MinScore: 0.5, Reasoning: "deletes a folder that nobody named",
			Signals: []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "removes build"}},
		}},
	}
}

func guardDenies() vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "forbidden shell pattern", TS: 1, JudgeKind: "effects", BlockedBy: vaglio.PhaseGuard,
		Rule: &vaglio.GuardRule{ID: "shell-rm-root", Why: "Removing a root cannot be undone.", Instead: "Name the folder to remove."},
	}
}

func shell(command string) vaglio.Proposal {
	return vaglio.Proposal{
		Agent: "local", TurnID: "t-81", Step: 2, Intent: "clean the old build", Executor: "shell_exec",
		Args:    vaglio.Args{"command": command},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "/home/u/app"},
	}
}

func call(t *testing.T, p vaglio.Proposal) approval.Call {
	t.Helper()
	d, err := approval.JudgeDenial(judgeDenies(0.41))
	if err != nil {
		t.Fatal(err)
	}
	f, err := secret.Fingerprint(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return approval.Call{Proposal: p, Denial: d, Fingerprint: f}
}

func opening(t *testing.T, commands ...string) approval.Opening {
	t.Helper()
	o := approval.Opening{
		Agent: "local", Intent: "clean the old build", TurnID: "t-81",
		Channels: []string{"web", "telegram"}, At: start, ExpiresAt: start.Add(askFor),
	}
	for _, c := range commands {
		o.Calls = append(o.Calls, call(t, shell(c)))
	}
	return o
}

func open(t *testing.T, commands ...string) approval.Ask {
	t.Helper()
	a, err := approval.Open(opening(t, commands...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// tokenFor returns the token of the button with the given meaning.
func tokenFor(t *testing.T, a *approval.Ask, channel string, want approval.Callback) approval.Token {
	t.Helper()
	for token, c := range a.On(channel).Callbacks {
		if c == want {
			return token
		}
	}
	t.Fatalf("no button for %+v on %s", want, channel)
	return ""
}

func TestOpen(t *testing.T) {
	for name, n := range map[string]int{"OneCall": 1, "ThreeCalls": 3} {
		t.Run(name, func(t *testing.T) {
			a := open(t, slices.Repeat([]string{"rm -rf ./build"}, n)...)
			if len(a.Approvals) != n || len(a.Cards) != 2 || !a.Waiting() || a.Done() {
				t.Fatalf("opened %+v", a)
			}
			want := map[approval.Callback]int{}
			for i := range n {
				p := a.Approvals[i]
				if p.ID != approval.ID(string(a.ID)+"-"+string(rune('1'+i))) || p.ID.Ask() != a.ID || p.State != approval.Pending ||
					!p.ExpiresAt.Equal(a.ExpiresAt) || p.Refusal.Final || p.Refusal.Wanted == "" {
					t.Errorf("approval %d is %+v", i+1, p)
				}
				want[approval.Callback{Approval: p.ID, Choice: approval.ChoiceAllow}]++
				want[approval.Callback{Approval: p.ID, Choice: approval.ChoiceDeny}]++
			}
			if n > 1 {
				want[approval.Callback{Choice: approval.ChoiceAllow, Calls: n}]++
				want[approval.Callback{Choice: approval.ChoiceDeny, Calls: n}]++
			}
			seen := map[approval.Token]bool{}
			for i := range a.Cards {
				got := map[approval.Callback]int{}
				for token, c := range a.Cards[i].Callbacks {
					got[c]++
					if len(token) < 26 || seen[token] {
						t.Errorf("token %q is short or used twice", token)
					}
					seen[token] = true
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("buttons on %s (-want +got):\n%s", a.Cards[i].Channel, diff)
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	many := slices.Repeat([]string{"make"}, approval.MaxCalls+1)
	for name, tt := range map[string]struct {
		change func(*approval.Opening)
		field  string
	}{
		"NoAgent":          {func(o *approval.Opening) { o.Agent = "" }, "agent"},
		"NoCalls":          {func(o *approval.Opening) { o.Calls = nil }, "calls"},
		"TooManyCalls":     {func(o *approval.Opening) { o.Calls = opening(t, many...).Calls }, "calls"},
		"NoMoment":         {func(o *approval.Opening) { o.At = time.Time{} }, "at"},
		"NoDeadline":       {func(o *approval.Opening) { o.ExpiresAt = time.Time{} }, "expires_at"},
		"DeadlinePassed":   {func(o *approval.Opening) { o.ExpiresAt = o.At }, "expires_at"},
		"NoFingerprint":    {func(o *approval.Opening) { o.Calls[0].Fingerprint = "" }, "calls"},
		"ChannelTwice":     {func(o *approval.Opening) { o.Channels = []string{"web", "web"} }, "channels"},
		"ChannelWithout":   {func(o *approval.Opening) { o.Channels = []string{""} }, "channels"},
		"ZeroDenial":       {func(o *approval.Opening) { o.Calls[0].Denial = approval.Denial{} }, ""},
		"SecondZeroDenial": {func(o *approval.Opening) { o.Calls = append(o.Calls, approval.Call{Fingerprint: "f"}) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := opening(t, "make clean")
			tt.change(&o)
			a, err := approval.Open(o)
			if a.ID != "" || len(a.Approvals) != 0 {
				t.Errorf("opened %+v", a)
			}
			if tt.field == "" {
				if !errors.Is(err, approval.ErrNotAskable) {
					t.Errorf("error is %v, want ErrNotAskable", err)
				}
				return
			}
			wrong, ok := errors.AsType[*approval.OpeningError](err)
			if !ok || wrong.Field != tt.field {
				t.Errorf("error is %v, want one about %s", err, tt.field)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	o := opening(t, "make clean", "make clean", "make all")
	o.Calls[0].Key, o.Calls[2].Key = "k1", "k3"
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	named := func() []string {
		return slices.DeleteFunc(a.Keys(), func(k string) bool { return strings.HasPrefix(k, "token:") })
	}
	idem := func(k string) string { return approval.IdempotencyKey("local", k) }
	equal := func(i int) string { return approval.FingerprintKey("local", o.Calls[i].Fingerprint) }
	want := func(step string, keys ...string) {
		t.Helper()
		slices.Sort(keys)
		if diff := cmp.Diff(keys, named()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
		tokens := 0
		for _, k := range a.Keys() {
			if strings.HasPrefix(k, "token:") {
				tokens++
			}
		}
		if tokens != 2*(2*3+2) {
			t.Errorf("%s: %d tokens are found, want all", step, tokens)
		}
	}
	turn := approval.TurnKey("local", a.TurnID, a.Intent, "")
	want("open", idem("k1"), idem("k3"), equal(0), equal(2), turn)
	decide(t, &a, approval.Tap{Approval: a.Approvals[2].ID, Choice: approval.ChoiceDeny, By: owner}, start)
	want("denied", idem("k1"), idem("k3"), equal(0), equal(2))
	a.Approvals[2].Settled = true
	want("settled", idem("k1"), idem("k3"), equal(0))
	if err := a.Supersede(a.Approvals[0].ID, start); err != nil {
		t.Fatal(err)
	}
	want("superseded", idem("k3"), equal(0))
	decide(t, &a, approval.Tap{Approval: a.Approvals[1].ID, Choice: approval.ChoiceAllow, By: owner}, start)
	want("allowed", idem("k3"), equal(0))
	if err := a.Redeem(a.Approvals[1].ID, a.Approvals[1].Fingerprint, start); err != nil {
		t.Fatal(err)
	}
	want("spent", idem("k3"))
}

func TestKeysOfDifferentNamesDiffer(t *testing.T) {
	long := strings.Repeat("k", 5000)
	keys := []string{
		approval.IdempotencyKey("a", "b:c"), approval.IdempotencyKey("a:b", "c"), approval.IdempotencyKey("a%3Ab", "c"),
		approval.IdempotencyKey("a", long), approval.IdempotencyKey("a", long+"k"), approval.IdempotencyKey(long, "a"),
		approval.FingerprintKey("a", "b:c"), approval.TokenKey("a:b:c"),
		approval.TurnKey("a", "b:c", "d", ""), approval.TurnKey("a", "b", "c:d", ""), approval.TurnKey("a:b", "c", "d", ""), approval.TurnKey("a", "b", "d", "c"),
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(keys)))); n != len(keys) {
		t.Errorf("%d names give %d keys: %q", len(keys), n, keys)
	}
	for _, k := range keys {
		if err := approval.CheckName("key", k); err != nil {
			t.Errorf("%.80s…: %v", k, err)
		}
	}
	if got := approval.IdempotencyKey("local", "k1"); got != "idem:local:k1" {
		t.Errorf("the key of a common name is %q", got)
	}
}

func TestDoneNeedsEveryCard(t *testing.T) {
	a := open(t, "make clean")
	decide(t, &a, approval.Tap{Ask: a.ID, Choice: approval.ChoiceDeny, By: owner}, start)
	for i := range a.Cards {
		if a.Done() {
			t.Errorf("done while the card on %s is stale", a.Cards[i].Channel)
		}
		a.Cards[i].View = a.View()
	}
	if !a.Done() {
		t.Error("not done although every card shows the end")
	}
	a.Cards[0].View, a.Cards[0].Gone = "", true
	if !a.Done() {
		t.Error("not done although the only stale card is gone")
	}
}

func decide(t *testing.T, a *approval.Ask, tap approval.Tap, at time.Time) approval.Receipt {
	t.Helper()
	r, err := a.Decide(tap, at, permitFor)
	if err != nil {
		t.Fatalf("Decide(%+v): %v", tap, err)
	}
	return r
}

func allTokens(a *approval.Ask) []approval.Token {
	var all []approval.Token
	for i := range a.Cards {
		all = append(all, slices.Collect(maps.Keys(a.Cards[i].Callbacks))...)
	}
	slices.Sort(all)
	return all
}
