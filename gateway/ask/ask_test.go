package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/client"
)

// gate has an answer for each key, as the daemon does, and asks the person as long as later is
// nil.
type gate struct {
	answers map[string]client.Answer
	later   *client.Answer
	// spent are the permits that another call has used.
	spent map[string]bool
	asked []string
}

func (g *gate) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	g.asked = append(g.asked, "propose "+r.Key)
	a, ok := g.answers[r.Key]
	if !ok {
		return a, fmt.Errorf("the key %q is not expected", r.Key)
	}
	return a, nil
}

func (g *gate) Await(ctx context.Context, id client.ID, wait time.Duration) (client.Answer, error) {
	g.asked = append(g.asked, "await "+string(id))
	if g.later != nil {
		return *g.later, nil
	}
	select {
	case <-ctx.Done():
		return client.Answer{}, ctx.Err()
	case <-time.After(wait):
		return waiting(id), nil
	}
}

func (g *gate) Withdraw(ctx context.Context, id client.ID) (client.Answer, error) {
	g.asked = append(g.asked, "withdraw "+string(id))
	return client.Answer{}, ctx.Err()
}

func (g *gate) Redeem(_ context.Context, permit string, _ client.Proposal) error {
	g.asked = append(g.asked, "redeem "+permit)
	if g.spent[permit] {
		return &client.ProblemError{Type: "/problems/spent", Status: 409, Detail: "this permit is spent"}
	}
	return nil
}

func (g *gate) Report(context.Context, client.ID, client.Outcome) error { return nil }

func waiting(id client.ID) client.Answer {
	return client.Answer{Decision: client.Pending, Approval: &client.Approval{ID: id}}
}

func allowed(id client.ID) client.Answer {
	return client.Answer{Decision: client.Allow, Approval: &client.Approval{ID: id, Words: "go"}, Permit: &client.Permit{Permit: "p-" + string(id)}}
}

// A call whose permit an equal call has spent is proposed again under another key. Under the
// first key it would find the spent permit forever, and the next yes would be lost.
func TestASpentPermitIsAskedForAnew(t *testing.T) {
	t.Parallel()
	next := allowed("b")
	g := &gate{answers: map[string]client.Answer{"k": allowed("a"), "k.1": waiting("b")}, spent: map[string]bool{"p-a": true}, later: &next}
	var told []client.ID
	for range 2 { // The client repeats the call under the same key.
		r, err := Ask(t.Context(), g, Call{Key: "k", Until: time.Now().Add(time.Hour), Held: func(id client.ID) { told = append(told, id) }})
		if err != nil || !r.Run || r.Approval != "b" || r.Words != "go" {
			t.Fatalf("%+v %v", r, err)
		}
		g.answers["k.1"] = next
	}
	want := []string{"propose k", "redeem p-a", "propose k.1", "await b", "redeem p-b", "propose k", "redeem p-a", "propose k.1", "redeem p-b"}
	if diff := cmp.Diff(want, g.asked); diff != "" || len(told) != 1 {
		t.Errorf("told %v\n%s", told, diff)
	}
}

// A key of maximum length leaves room for the number of the attempt.
func TestKeysStayWhatTheDaemonTakes(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", LongestKey)
	g := &gate{answers: map[string]client.Answer{}, spent: map[string]bool{"p-a": true}}
	for _, more := range []string{"", ".1", ".2", ".3", ".4"} {
		g.answers[key+more] = allowed("a")
	}
	r, err := Ask(t.Context(), g, Call{Key: key, Until: time.Now()})
	if err != nil || r.Run || !strings.Contains(r.Text, "repeat the same call") {
		t.Errorf("%+v %v", r, err)
	}
	const most = 200
	for _, asked := range g.asked {
		if _, sent, ok := strings.Cut(asked, "propose "); ok && len(sent) > most {
			t.Errorf("a key of %d characters", len(sent))
		}
	}
}

// If the client goes away, the question is withdrawn; if its time is up, the question stays.
func TestWhoGoesAndWhoseTimeIsUp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  error
		last  string
	}{
		{"gone", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		}, context.Canceled, "withdraw a"},
		{"time is up", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, nil, "await a"},
		{"nobody answers", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Hour)
		}, nil, "await a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.bound(t.Context())
				defer cancel()
				g := &gate{answers: map[string]client.Answer{"k": waiting("a")}}
				r, err := Ask(ctx, g, Call{Key: "k", Until: time.Now().Add(time.Hour)})
				if !errors.Is(err, tc.want) || r.Run || r.Approval != "a" || g.asked[len(g.asked)-1] != tc.last {
					t.Errorf("%+v %v %v", r, err, g.asked)
				}
				if tc.want == nil && !strings.Contains(r.Text, "held as a: nobody has answered yet. Repeat the same call") {
					t.Errorf("%q", r.Text)
				}
			})
		})
	}
}

// A call that a person changed is proposed in its new form, once, if the caller can make it so.
// If it may not run at once, the agent is told what the person wants.
func TestAChangedCall(t *testing.T) {
	t.Parallel()
	changed := client.Answer{
		Decision: client.Deny, Text: "changed", Approval: &client.Approval{ID: "a", State: "denied"},
		Edited: &client.Edited{Executor: "Bash", Args: map[string]any{"command": "ls"}},
	}
	other := changed
	other.Edited = &client.Edited{Executor: "Write", Args: map[string]any{}}
	passed := client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}
	for name, tc := range map[string]struct {
		first, form client.Answer
		edits, run  bool
		asked       []string
	}{
		"permitted":     {changed, allowed("b"), true, true, []string{"propose k", "propose k.edited", "redeem p-b"}},
		"passed":        {changed, passed, true, true, []string{"propose k", "propose k.edited"}},
		"no approval":   {changed, client.Answer{Decision: client.Allow, Permit: &client.Permit{}}, true, false, []string{"propose k", "propose k.edited"}},
		"spent":         {changed, allowed("s"), true, false, []string{"propose k", "propose k.edited", "redeem p-s"}},
		"waits":         {changed, waiting("b"), true, false, []string{"propose k", "propose k.edited"}},
		"changed again": {changed, changed, true, false, []string{"propose k", "propose k.edited"}},
		"cannot":        {changed, allowed("b"), false, false, []string{"propose k"}},
		"another tool":  {other, allowed("b"), true, false, []string{"propose k"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &gate{answers: map[string]client.Answer{"k": tc.first, "k.edited": tc.form}, spent: map[string]bool{"p-s": true}}
			r, err := Ask(t.Context(), g, Call{Key: "k", Proposal: client.Proposal{Executor: "Bash", Args: map[string]any{"command": "rm x"}}, Edits: tc.edits, Until: time.Now()})
			if err != nil || r.Run != tc.run || tc.run != (r.Edited["command"] == "ls") || !tc.run && r.Text != "changed" {
				t.Errorf("%+v %v", r, err)
			}
			if diff := cmp.Diff(tc.asked, g.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// script is a gate with prepared answers.
type script struct {
	gate
	proposed, awaited scripted
	again             client.Answer // to what the agent answers
	redeemed          error
	said              []string
	reported          error
}

type scripted struct {
	answer client.Answer
	err    error
}

func (s *script) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	s.said = append(s.said, r.Answer)
	if r.Answer != "" {
		return s.again, nil
	}
	return s.proposed.answer, s.proposed.err
}

func (s *script) Await(context.Context, client.ID, time.Duration) (client.Answer, error) {
	s.asked = append(s.asked, "await")
	return s.awaited.answer, s.awaited.err
}

func (s *script) Redeem(context.Context, string, client.Proposal) error {
	return s.redeemed
}

func (s *script) Report(ctx context.Context, id client.ID, _ client.Outcome) error {
	s.said = append(s.said, string(id))
	if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
		return errors.New("a report has no time of its own")
	}
	return s.reported
}

// Whatever the gate answers, a call runs only after a clear yes, and otherwise the agent is told
// why not.
func TestEveryOtherAnswerIsARefusal(t *testing.T) {
	t.Parallel()
	question := &client.Question{Words: "why?"}
	asked := waiting("a")
	asked.Question, asked.Text = question, "a person asks: why?"
	told := waiting("a")
	told.Question = &client.Question{Words: "why?", Repeated: true}
	problem := &client.ProblemError{Detail: "no", Field: "/args"}
	for name, tc := range map[string]struct {
		script
		answer string
		want   Ruling
	}{
		"approved":               {script{proposed: scripted{answer: client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}}}, "", Ruling{Run: true}},
		"allowed, not approved":  {script{proposed: scripted{answer: client.Answer{Decision: client.Allow}}}, "", refuse(strange)},
		"a permit of no call":    {script{proposed: scripted{answer: client.Answer{Decision: client.Allow, Permit: &client.Permit{}, Verdict: client.Verdict{Approved: true}}}}, "", refuse(strange)},
		"a yes without a permit": {script{proposed: scripted{answer: waiting("a")}, awaited: scripted{answer: client.Answer{Decision: client.Allow, Approval: &client.Approval{ID: "a"}}}}, "", refuse(strange)},
		"an unknown decision":    {script{proposed: scripted{answer: client.Answer{Decision: "maybe", Verdict: client.Verdict{Approved: true}}}}, "", refuse(strange)},
		"denied":                 {script{proposed: scripted{answer: client.Answer{Decision: client.Deny, Text: "no"}}}, "", Ruling{Text: "no"}},
		"denied without a word":  {script{proposed: scripted{answer: client.Answer{Decision: client.Deny}}}, "", refuse("vaglio refused it without a reason")},
		"pending on nothing":     {script{proposed: scripted{answer: client.Answer{Decision: client.Pending}}}, "", refuse(strange)},
		"pending without a name": {script{proposed: scripted{answer: waiting("")}}, "", refuse(strange)},
		"no daemon":              {script{proposed: scripted{err: errors.New("away")}}, "", refuse("away")},
		"a field":                {script{proposed: scripted{err: problem}}, "", refuse("no (/args)")},
		"no field":               {script{proposed: scripted{err: &client.ProblemError{Detail: "no"}}}, "", refuse("no")},
		"too large":              {script{proposed: scripted{err: &client.ProblemError{Status: 413, Detail: "no", Field: "/args"}}}, "", refuse("no; make the call smaller, such as by writing a long file in several parts")},
		"too late":               {script{proposed: scripted{err: context.DeadlineExceeded}}, "", refuse("vaglio did not answer in time")},
		"stopped":                {script{proposed: scripted{err: context.Canceled}}, "", refuse("it was stopped")},
		"the wait fails":         {script{proposed: scripted{answer: waiting("a")}, awaited: scripted{err: errors.New("away")}}, "", held("away", "a")},
		"asked at once":          {script{proposed: scripted{answer: asked}}, "", Ruling{Approval: "a", Text: "a person asks: why?"}},
		"asked while it waits":   {script{proposed: scripted{answer: waiting("a")}, awaited: scripted{answer: asked}}, "", Ruling{Approval: "a", Text: "a person asks: why?"}},
		"asked before":           {script{proposed: scripted{answer: told}, awaited: scripted{answer: allowed("a")}}, "", Ruling{Run: true, Approval: "a", Words: "go"}},
		"answered":               {script{proposed: scripted{answer: told}, again: allowed("b")}, "because", Ruling{Run: true, Approval: "b", Words: "go"}},
		"the permit fails":       {script{proposed: scripted{answer: allowed("a")}, redeemed: problem}, "", refuse("it was allowed, but its permit could not be redeemed: no (/args)")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := tc.script
			got, err := Ask(t.Context(), &g, Call{Key: "k", Until: time.Now(), Answer: func(q client.Question) string {
				if q.Words != "why?" {
					t.Errorf("asked %q", q.Words)
				}
				return tc.answer
			}})
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if want := 1 + min(len(tc.answer), 1); len(g.said) != want || g.said[len(g.said)-1] != tc.answer {
				t.Errorf("the agent said %q", g.said)
			}
			if awaited := len(g.asked) > 0; awaited != (tc.awaited.err != nil || tc.awaited.answer.Decision != "") {
				t.Errorf("the gate was waited for: %v", awaited)
			}
		})
	}
}

// leaver is a gate whose agent goes away while it proposes what a person changed.
type leaver struct {
	gate
	leave context.CancelFunc
}

func (l *leaver) Propose(ctx context.Context, r client.Request) (client.Answer, error) {
	if strings.HasSuffix(r.Key, ".edited") {
		l.leave()
	}
	return l.gate.Propose(ctx, r)
}

// If the agent has gone away, a yes does not let its call run.
func TestAnAgentThatIsGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	passed := client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}
	for name, s := range map[string]*script{
		"passed": {proposed: scripted{answer: passed}}, "no daemon": {proposed: scripted{err: errors.New("away")}},
		"the permit fails": {proposed: scripted{answer: allowed("a")}, redeemed: errors.New("away")},
	} {
		if _, err := Ask(ctx, s, Call{Key: "k"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	changed := client.Answer{Decision: client.Deny, Text: "changed", Edited: &client.Edited{Executor: "Bash", Args: map[string]any{}}}
	for name, answers := range map[string]map[string]client.Answer{"asked": {"k": changed}, "passed": {"k": changed, "k.edited": passed}} {
		late, cancel := context.WithCancel(t.Context())
		call := Call{Key: "k", Edits: true, Proposal: client.Proposal{Executor: "Bash"}}
		if r, err := Ask(late, &leaver{gate{answers: answers}, cancel}, call); !errors.Is(err, context.Canceled) || r.Run {
			t.Errorf("while the changed call is proposed, %s: %v, %+v", name, err, r)
		}
	}
	s := &script{}
	if err := errors.Join(Report(ctx, s, "", client.Outcome{}), Report(ctx, s, "a", client.Outcome{})); err != nil || strings.Join(s.said, " ") != "a" {
		t.Errorf("%v, reported %q", err, s.said)
	}
}
