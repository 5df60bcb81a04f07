package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestABrakeIsTheSameWhileItStandsAsItDid compares a brake with later states of itself.
func TestABrakeIsTheSameWhileItStandsAsItDid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	b := approval.Brake{Agent: "coder", At: at}
	released := approval.Brake{Agent: "coder", At: at, Released: &approval.Act{At: at}}
	for name, tt := range map[string]struct {
		other approval.Brake
		same  bool
	}{
		"itself":          {b, true},
		"told of":         {approval.Brake{Agent: "coder", At: at.In(time.FixedZone("", 3600)), Told: []string{"web"}}, true},
		"of another":      {approval.Brake{Agent: "deployer", At: at}, false},
		"pulled anew":     {approval.Brake{Agent: "coder", At: at.Add(1)}, false},
		"let go of since": {released, false},
	} {
		if got := b.Same(&tt.other); got != tt.same {
			t.Errorf("%s: the same: %t", name, got)
		}
		if got := tt.other.Same(&b); got != tt.same {
			t.Errorf("%s, the other way: the same: %t", name, got)
		}
	}
	if !released.Same(&released) {
		t.Error("what was let go is not the same as itself")
	}
}

// TestWhoMayDecideMayStop checks who may apply a brake, with and without a route.
func TestWhoMayDecideMayStop(t *testing.T) {
	t.Parallel()
	var plain approval.Routing
	routed := approval.Routing{Routes: []approval.Route{
		{Name: "one", Approvers: []string{"ann"}},
		{Name: "two", Approvers: []string{"bob"}},
	}}
	for _, tt := range []struct {
		r     *approval.Routing
		human string
		may   bool
	}{{&plain, "anybody", true}, {&plain, "", false}, {&routed, "ann", true}, {&routed, "bob", true}, {&routed, "carl", false}, {&routed, "", false}} {
		for _, agent := range []string{"", "coder"} {
			if got := tt.r.MayStop(tt.human, agent); got != tt.may {
				t.Errorf("%q stops %q, with %d routes: %t", tt.human, agent, len(tt.r.Routes), got)
			}
		}
	}
}

// TestATimeOfAnOrderIsOneThatCanPass parses durations as people write them.
func TestATimeOfAnOrderIsOneThatCanPass(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"10m": 10 * time.Minute, "1ns": 1, "0s": 0, "-1h": 0, "soon": 0, "": 0, "90": 0} {
		for verb, key := range map[approval.Verb]string{approval.VerbStop: approval.OrderTime, approval.VerbSnooze: approval.OrderSnooze} {
			o := approval.Order{Verb: verb}
			err := o.Span(text)
			bad, refused := errors.AsType[*approval.OrderError](err)
			if o.For != want || refused != (want == 0) || refused && (bad.Key != key || bad.Value != text) {
				t.Errorf("%s for %q: %v, %v; want %v", verb, text, o.For, err, want)
			}
		}
	}
}

// TestEachReasonOfAnOrderSaysItself checks that each reason names its subject, and that
// none can be mistaken for another.
func TestEachReasonOfAnOrderSaysItself(t *testing.T) {
	t.Parallel()
	for key, say := range map[string]string{
		approval.OrderAgent: "no agent", approval.OrderRunning: "is not stopped", approval.OrderNothing: "is already over",
		approval.OrderTime: "not a time for the brake", approval.OrderWords: "a question needs words", approval.OrderAsked: "has not answered the last question",
		approval.OrderRounds: "after 2 questions", approval.OrderSnooze: "reminder cannot be put off", approval.OrderPerson: "not an approver's name",
		approval.OrderSelf: "has it already", approval.OrderHand: "more than one person has to allow", approval.OrderArgument: "not an argument that can be changed",
		approval.OrderLong: "more characters", approval.OrderMasked: "hold a secret", approval.OrderUnchanged: "as it was proposed",
		approval.OrderUnread: "the-value: nothing changed", approval.OrderGuard: "the guard refuses it", approval.OrderSame: "in this form",
		approval.OrderShown: "no longer what was shown", approval.OrderSeveral: "needs more than one person", approval.OrderElsewhere: "would be put to other people", approval.OrderCaller: "an agent's program",
		approval.OrderLineage: "cannot be seen", approval.OrderTerminal: "no terminal", approval.OrderUnseen: "was not shown at this terminal",
		approval.OrderName: "was not confirmed", approval.OrderObscured: "only the inbox can show", approval.OrderPasskey: "needs a passkey",
		"one that a later version has": "is already over",
	} {
		text := (&approval.OrderError{Key: key, Value: "the-value"}).Error()
		wordless := key == approval.OrderWords || key == approval.OrderLineage || key == approval.OrderTerminal
		if !strings.Contains(text, say) || strings.Contains(text, "the-value") == wordless {
			t.Errorf("%s: %s; want %q", key, text, say)
		}
	}
}

// TestABrakeHoldsUntilItIsOver checks a brake's state at each moment, after what happened
// to it, and what can happen to it then.
func TestABrakeHoldsUntilItIsOver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	timed := approval.Brake{Agent: "coder", At: at, Until: at.Add(time.Hour)}
	endless := approval.Brake{Agent: "coder", At: at}
	released := timed
	released.Released = &approval.Act{At: at}
	for _, tt := range []struct {
		b     approval.Brake
		after time.Duration
		holds bool
	}{
		{timed, 0, true},
		{timed, time.Hour - 1, true},
		{timed, time.Hour, false},
		{timed, 9 * time.Hour, false},
		{timed, -time.Hour, true},
		{endless, 0, true},
		{endless, 10 * approval.MaxBrake, true},
		{endless, -time.Hour, true},
		{released, 0, false},
		{released, time.Minute, false},
		{approval.Brake{Agent: "coder"}, 0, false},
	} {
		if got := tt.b.Holds(at.Add(tt.after)); got != tt.holds {
			t.Errorf("%+v holds after %v: %t", tt.b, tt.after, got)
		}
	}
	if approval.MaxBrake != 168*time.Hour {
		t.Errorf("a brake holds %v at most, and people are told 7 days", approval.MaxBrake)
	}
	for _, tt := range []struct {
		from     approval.BrakeState
		event    approval.BrakeEvent
		to       approval.BrakeState
		possible bool
	}{
		{approval.BrakeOff, approval.Pull, approval.BrakeOn, true},
		{approval.BrakeOff, approval.Release, "", false},
		{approval.BrakeOff, approval.Elapse, "", false},
		{approval.BrakeOn, approval.Pull, approval.BrakeOn, true},
		{approval.BrakeOn, approval.Release, approval.BrakeOff, true},
		{approval.BrakeOn, approval.Elapse, approval.BrakeOff, true},
	} {
		if to, ok := tt.from.Then(tt.event); to != tt.to || ok != tt.possible {
			t.Errorf("%s, %s: %q, %t", tt.from, tt.event, to, ok)
		}
	}
}

// TestABrakeIsReadAsItWasWritten decodes a stored brake, and rejects what is not one.
func TestABrakeIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	b := approval.Brake{Agent: "coder", By: approval.Person{ID: "ann"}, At: at, Until: at.Add(time.Hour), All: true, Words: "look first"}
	body, err := approval.EncodeBrake(b)
	if err != nil || !strings.Contains(string(body), `"v":1`) {
		t.Fatalf("%s, %v", body, err)
	}
	if got, err := approval.DecodeBrake(body); err != nil || !got.Same(&b) || got.Words != b.Words || !got.All || !got.Until.Equal(b.Until) || got.By.ID != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{`{"v":1}`: "is empty", `{"v":2,"brake":{}}`: "newer", `{"v":1,"brake":`: "", `{"v":1,"brake":{"agent":7}}`: ""} {
		if got, err := approval.DecodeBrake([]byte(text)); err == nil || got.Agent != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestABrakeDeniesWhatWaits stops an ask in which one call waits and one is decided.
func TestABrakeDeniesWhatWaits(t *testing.T) {
	t.Parallel()
	ask := open(t, "make a", "make b", "make c")
	brake := approval.Brake{Agent: ask.Agent, By: owner, Channel: "web", At: start, Words: "look first"}
	decide(t, &ask, approval.Tap{Approval: ask.Approvals[0].ID, Choice: approval.ChoiceAllow, By: owner}, start)
	if n := ask.Stop(&brake, start); n != 2 {
		t.Errorf("%d calls were denied", n)
	}
	if ask.Approvals[0].State != approval.Allowed || ask.Approvals[0].Decision.Brake {
		t.Errorf("what was allowed is %s", ask.Approvals[0].State)
	}
	for i := range ask.Approvals[1:] {
		p := &ask.Approvals[1+i]
		d := p.Decision
		if p.State != approval.Denied || !p.Settled || p.Answers(start) || d == nil || !d.Brake || d.Choice != approval.ChoiceDeny || d.By != owner || d.Channel != "web" || d.Words != "look first" {
			t.Errorf("%s is %s, settled %t, by %+v", p.ID, p.State, p.Settled, d)
		}
	}
	if n := ask.Stop(&brake, start); n != 0 {
		t.Errorf("%d calls were denied again", n)
	}
	late := open(t, "make a")
	if n := late.Stop(&brake, late.ExpiresAt); n != 0 || late.Approvals[0].State != approval.Expired {
		t.Errorf("after its deadline %d calls were denied, and the first is %s", n, late.Approvals[0].State)
	}
	r := approval.Stopped(approval.Refusal{Why: "the judge's", Words: "old"}, &brake)
	if r.Why != "" || r.Words != "look first" || !strings.Contains(r.Who, "stopped the agent") || len(r.Alternatives) != 1 || r.Allow == "" {
		t.Errorf("%+v", r)
	}
}
