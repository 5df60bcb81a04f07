package httpapi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

// gate is a dispatcher in memory that keeps the dispatcher's contract. The executor decides the
// answer: "ok" is approved, "ask" is put to a person, "guarded" is denied for good.
type gate struct {
	mu      sync.Mutex
	asks    map[approval.ID]*asked
	keys    map[string]approval.ID
	steps   map[string][]approval.Step
	changed chan struct{}
	stopped bool
	// parked counts the calls that wait in Await, and watched are those that wait for a change.
	parked  int
	watched map[*func()]struct{}
	// fails, if set, is returned by every call.
	fails error
	// panics makes Propose panic.
	panics bool
}

type asked struct {
	agent  string
	call   vaglio.Proposal
	answer approval.Answer
}

func newGate() *gate {
	return &gate{
		asks: map[approval.ID]*asked{}, keys: map[string]approval.ID{},
		steps: map[string][]approval.Step{}, changed: make(chan struct{}), watched: map[*func()]struct{}{},
	}
}

func (g *gate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
	for changed := range g.watched {
		go (*changed)()
	}
	clear(g.watched)
}

func verdict(approved bool, by vaglio.Phase) vaglio.Verdict {
	v := vaglio.Verdict{Approved: approved, Reason: "because", TS: 1777300000.1, JudgeKind: "rule-based-v1", BlockedBy: by, Score: 0.7}
	if by == vaglio.PhaseGuard {
		v.Score, v.Rule = 0, &vaglio.GuardRule{ID: "path.root", Why: "why", Instead: "instead"}
		return v
	}
	v.Results = []vaglio.GradientResult{{
		Judge: "rule-based-v1", Score: 0.7, Confidence: 1, Reasoning: "r",
		Signals: []vaglio.Signal{{Category: "c", Score: -0.1, Message: "m"}}, Metadata: map[string]any{"k": "v"},
	}}
	return v
}

func (g *gate) propose(ctx context.Context, agent string, r dispatcher.Request) (approval.Answer, error) {
	answer, err := g.open(agent, r)
	if err != nil || answer.Decision != approval.RulingPending || answer.Approval == nil || r.Apart {
		return answer, err
	}
	awaited, err := g.Await(ctx, agent, answer.Approval.ID, r.Wait)
	if err != nil {
		return approval.Answer{}, err
	}
	return *awaited, nil
}

func (g *gate) open(agent string, r dispatcher.Request) (approval.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.panics:
		panic("the gate is broken: secret-token")
	case g.fails != nil:
		return approval.Answer{}, g.fails
	case g.stopped:
		return approval.Answer{}, dispatcher.ErrStopping
	case r.Proposal.Agent != agent:
		return approval.Answer{}, fmt.Errorf("agent %q proposes as %q", agent, r.Proposal.Agent)
	}
	step := approval.Step{ID: fmt.Sprint(len(g.steps)), At: time.Now(), Proposal: r.Proposal}
	var answer approval.Answer
	switch r.Proposal.Executor {
	case "ok":
		answer = approval.Answer{Decision: approval.RulingAllow, Verdict: verdict(true, vaglio.PhaseNone)}
	case "judged":
		return approval.Unjudged("llm-v1"), nil
	case "guarded":
		v := verdict(false, vaglio.PhaseGuard)
		answer = approval.Answer{Decision: approval.RulingDeny, Verdict: v, Refusal: &approval.Refusal{
			Final: true, Phase: vaglio.PhaseGuard, Wanted: "w", Why: "y", Rule: v.Rule.ID, Alternatives: []string{"a"},
		}}
	default:
		answer = g.ask(agent, r)
		step.Approval = answer.Approval.ID
	}
	step.Verdict, step.Refusal = &answer.Verdict, answer.Refusal
	g.steps[agent+"/"+r.Proposal.TurnID] = append(g.steps[agent+"/"+r.Proposal.TurnID], step)
	return answer, nil
}

func (g *gate) ask(agent string, r dispatcher.Request) approval.Answer {
	if id, ok := g.keys[agent+"/"+r.Key]; ok && r.Key != "" {
		return g.asks[id].answer
	}
	id := approval.ID(fmt.Sprintf("%s-1", strings.ToLower(string(approval.NewAskID()))))
	a := &asked{agent: agent, call: r.Proposal, answer: approval.Answer{
		Decision: approval.RulingPending, Verdict: verdict(false, vaglio.PhaseJudge),
		Refusal:  &approval.Refusal{Phase: vaglio.PhaseJudge, Wanted: "w", Why: "y"},
		Approval: &approval.Summary{ID: id, State: approval.Pending, ExpiresAt: time.Now().Add(time.Hour)},
	}}
	g.asks[id] = a
	g.keys[agent+"/"+r.Key] = id
	return a.answer
}

func (g *gate) ProposePlan(ctx context.Context, agent string, rs []dispatcher.Request) ([]approval.Answer, error) {
	out := make([]approval.Answer, len(rs))
	for i, r := range rs {
		if len(rs) > 1 {
			r.Key = ""
		}
		a, err := g.propose(ctx, agent, r)
		if err != nil {
			return nil, &dispatcher.CallError{Index: i, Err: err}
		}
		out[i] = a
	}
	return out, nil
}

func (g *gate) find(agent string, id approval.ID) (*asked, error) {
	if g.fails != nil {
		return nil, g.fails
	}
	a := g.asks[id]
	if a == nil || a.agent != agent {
		return nil, fmt.Errorf("find: %w", approval.ErrNotFound)
	}
	return a, nil
}

func (g *gate) Await(ctx context.Context, agent string, id approval.ID, wait time.Duration) (*approval.Answer, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		g.mu.Lock()
		a, err := g.find(agent, id)
		if err != nil || a.answer.Decision != approval.RulingPending || wait == 0 || g.stopped {
			defer g.mu.Unlock()
			if err != nil {
				return nil, err
			}
			answer := a.answer
			return &answer, nil
		}
		next := g.changed
		g.parked++
		g.mu.Unlock()
		var ended error
		select {
		case <-next:
		case <-timer.C:
			wait = 0
		case <-ctx.Done():
			ended = ctx.Err()
		}
		g.mu.Lock()
		g.parked--
		g.mu.Unlock()
		if ended != nil {
			return nil, ended
		}
	}
}

func (g *gate) AwaitChange(_ context.Context, agent string, id approval.ID, changed func()) (*approval.Answer, func(), error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, err := g.find(agent, id)
	if err != nil {
		return nil, nil, err
	}
	answer := a.answer
	if !answer.Waits() || g.stopped {
		return &answer, nil, nil
	}
	g.watched[&changed] = struct{}{}
	return &answer, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.watched, &changed)
	}, nil
}

func (g *gate) Withdraw(_ context.Context, agent string, id approval.ID) (approval.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, err := g.find(agent, id)
	if err != nil {
		return approval.Answer{}, err
	}
	if a.answer.Approval.State != approval.Pending {
		return approval.Answer{}, &approval.MoveError{ID: id, State: a.answer.Approval.State, Event: approval.Withdraw}
	}
	g.end(a, approval.RulingDeny, approval.Withdrawn)
	return a.answer, nil
}

func (g *gate) end(a *asked, r approval.Ruling, s approval.State) {
	summary := *a.answer.Approval
	now := time.Now()
	summary.State, summary.DecidedAt = s, &now
	a.answer.Decision, a.answer.Approval = r, &summary
	g.tell()
}

// decide is a person's answer.
func (g *gate) decide(id approval.ID, s approval.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.asks[id]
	if s != approval.Allowed {
		g.end(a, approval.RulingDeny, s)
		return
	}
	a.answer.Refusal = nil
	a.answer.Permit = &approval.PermitText{Permit: "permit-" + string(id), LapsesAt: time.Now().Add(time.Minute)}
	g.end(a, approval.RulingAllow, s)
}

func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	g.tell()
}

func (g *gate) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parked + len(g.watched)
}

func (g *gate) Redeem(_ context.Context, agent, permit string, p vaglio.Proposal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := approval.ID(strings.TrimPrefix(permit, "permit-"))
	a, err := g.find(agent, id)
	if err != nil {
		return err
	}
	if p.Executor == "guarded" {
		return &dispatcher.GuardError{Verdict: verdict(false, vaglio.PhaseGuard)}
	}
	switch a.answer.Approval.State {
	case approval.Allowed:
	case approval.Spent:
		return dispatcher.ErrSpent
	case approval.Lapsed:
		return dispatcher.ErrLapsed
	default:
		return &approval.MoveError{ID: id, State: a.answer.Approval.State, Event: approval.Redeem}
	}
	if p.Executor != a.call.Executor || !cmp.Equal(p.Args, a.call.Args) {
		return dispatcher.ErrOtherCall
	}
	a.answer.Approval.State = approval.Spent
	return nil
}

func (g *gate) Report(_ context.Context, agent string, id approval.ID, o approval.Outcome) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, err := g.find(agent, id)
	if err != nil {
		return err
	}
	if a.answer.Approval.State != approval.Spent {
		return &approval.MoveError{ID: id, State: a.answer.Approval.State, Event: approval.Succeed}
	}
	a.answer.Approval.State = approval.Succeeded
	if !o.Succeeded {
		a.answer.Approval.State = approval.Failed
	}
	return nil
}

func (g *gate) Turn(_ context.Context, q approval.TurnQuery) (approval.TurnPage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return approval.TurnPage{Steps: g.steps[q.Agent+"/"+q.Turn]}, g.fails
}
