package history_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world is a store whose asks live through whatever a dispatcher would let happen to them.
type world struct {
	*testing.T
	store  *storetest.Memory
	key    history.Key
	writer history.Writer
	random *rand.Rand
	now    time.Time
	asks   []approval.AskID
	steps  int
	// unread are the records that a baseline left out.
	unread []string
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	key, err := history.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, store: storetest.NewMemory(), key: key, random: rand.New(rand.NewPCG(seed, 1)), now: start,
		writer: history.NewWriter(func(s string) string { return strings.ReplaceAll(s, "secret", "‹masked›") }),
	}
	w.note(history.Event{Kind: history.Began, Baseline: w.baseline(0), Key: key.Verifier()})
	return w
}

func (w *world) seed() string { return fmt.Sprint(w.random.Uint64()) }

func (w *world) baseline(through int64) *history.Baseline {
	w.Helper()
	b, err := history.BaselineAt(w.Context(), w.store, w.store, through, func(err error) { w.unread = append(w.unread, err.Error()) })
	if err != nil {
		w.Fatal(err)
	}
	return &b
}

// note writes an event of the history itself.
func (w *world) note(e history.Event) {
	w.Helper()
	e.At = w.now
	leaves, err := w.writer.Note(e, w.seed())
	if err != nil {
		w.Fatal(err)
	}
	w.put(approval.KindMeta, "history", nil, leaves)
}

func (w *world) put(kind approval.Kind, id string, body []byte, leaves [][]byte) {
	w.Helper()
	_, err := w.store.Update(w.Context(), kind, id, func(r approval.Record) (approval.Record, error) {
		r.Body, r.Leaves = body, leaves
		return r, nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) ask(id approval.AskID) approval.Ask {
	w.Helper()
	r, err := w.store.Get(w.Context(), approval.KindAsk, string(id))
	if err != nil {
		w.Fatal(err)
	}
	ask, err := approval.DecodeAsk(r.Body)
	if err != nil {
		w.Fatal(err)
	}
	return ask
}

// change changes an ask as the dispatcher does, and leaves it alone if that fails.
func (w *world) change(id approval.AskID, change func(*approval.Ask) error) bool {
	w.Helper()
	ask := w.ask(id)
	before := history.Remember(&ask)
	if change(&ask) != nil {
		return false
	}
	w.keep(before, &ask)
	return true
}

func (w *world) keep(before history.Before, ask *approval.Ask) {
	w.Helper()
	leaves, err := w.writer.Change(before, ask, w.now, w.seed())
	if err != nil {
		w.Fatal(err)
	}
	body, err := approval.EncodeAsk(*ask)
	if err != nil {
		w.Fatal(err)
	}
	w.put(approval.KindAsk, string(ask.ID), body, leaves)
}

func (w *world) calls(n int) []approval.Call {
	w.Helper()
	var calls []approval.Call
	for range n {
		p := vaglio.Proposal{
			Agent: "coder", TurnID: "t-1", Intent: "tidy up", Executor: "shell_exec",
			Args: vaglio.Args{"command": fmt.Sprintf("rm -r %d # secret", w.random.Uint64()), "n": 1.50},
		}
		d, err := approval.JudgeDenial(vaglio.Verdict{
			Reason: "it deletes", JudgeKind: "effects", Score: 0.41, TS: 1777300000.1, BlockedBy: vaglio.PhaseJudge,
		})
		if err != nil {
			w.Fatal(err)
		}
		calls = append(calls, approval.Call{Proposal: p, Denial: d, Fingerprint: approval.Fingerprint(w.seed())})
	}
	return calls
}

// open opens an ask of n calls.
func (w *world) open(n int) approval.AskID {
	w.Helper()
	ask, err := approval.Open(approval.Opening{
		Agent: "coder", Intent: "tidy up", TurnID: "t-1", Calls: w.calls(n), Channels: []string{"web"}, At: w.now, ExpiresAt: w.now.Add(30 * time.Minute),
		Route: approval.Route{Name: "prod", EscalateAfter: time.Minute, EscalateTo: "boss"},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.keep(history.Before{}, &ask)
	w.asks = append(w.asks, ask.ID)
	return ask.ID
}

func (w *world) veto() {
	w.Helper()
	w.steps++
	step := approval.Step{
		ID: fmt.Sprintf("turn/%08d", w.steps), At: w.now,
		Proposal: vaglio.Proposal{Agent: "coder", TurnID: "t-1", Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"}},
		Verdict:  &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{ID: "root"}},
		Refusal:  &approval.Refusal{Final: true},
	}
	leaves, err := w.writer.Veto(&step, step.At, w.seed())
	if err != nil {
		w.Fatal(err)
	}
	body, err := approval.EncodeStep(step)
	if err != nil {
		w.Fatal(err)
	}
	w.put(approval.KindStep, step.ID, body, leaves)
}

// drop drops the values of the first leaves.
func (w *world) drop(through int64) {
	w.Helper()
	w.note(history.Event{Kind: history.Dropped, Baseline: w.baseline(through), Through: through, Key: w.key.Verifier()})
	if err := w.store.DropLeaves(w.Context(), through); err != nil {
		w.Fatal(err)
	}
}

func (w *world) size() int64 {
	w.Helper()
	size, err := w.store.TreeSize(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return size
}

// sign returns a checkpoint of the history as it is now.
func (w *world) sign() string {
	w.Helper()
	size := w.size()
	root, err := history.Root(w.Context(), w.store, size)
	if err != nil {
		w.Fatal(err)
	}
	text, err := w.key.Sign(size, root)
	if err != nil {
		w.Fatal(err)
	}
	return text
}

// some returns one of the last asks, and one of its approvals.
func (w *world) some() (approval.AskID, approval.ID) {
	w.Helper()
	id := w.asks[max(0, len(w.asks)-1-w.random.IntN(8))]
	ask := w.ask(id)
	return id, ask.Approvals[w.random.IntN(len(ask.Approvals))].ID
}

// each applies do to the first approval, among the last asks, that allows it.
func (w *world) each(do func(*approval.Ask, *approval.Approval) error) {
	w.Helper()
	for _, id := range w.asks[max(0, len(w.asks)-8):] {
		ask := w.ask(id)
		for i := range ask.Approvals {
			if w.change(id, func(a *approval.Ask) error { return do(a, &a.Approvals[i]) }) {
				return
			}
		}
	}
}

// live lets something happen.
func (w *world) live() {
	w.Helper()
	w.now = w.now.Add(time.Duration(w.random.Int64N(int64(2 * time.Second))))
	if len(w.asks) == 0 {
		w.open(2)
	}
	id, one := w.some()
	route := approval.Route{Name: "prod", Quorum: 2, Approvers: []string{approval.Anyone}}
	routing := approval.Routing{Routes: []approval.Route{route}}
	people := approval.Electorate{
		Terms: []approval.Terms{routing.Terms("prod", "coder")},
		Human: func(id string) (string, bool) { return id, true },
	}
	switch w.random.IntN(15) {
	case 14:
		w.dropValues()
	case 0, 1:
		w.open(1 + w.random.IntN(3))
	case 2:
		w.veto()
	case 3, 4, 5, 6:
		choice := approval.ChoiceAllow
		if w.random.IntN(3) == 0 {
			choice = approval.ChoiceDeny
		}
		by := approval.Person{ID: fmt.Sprint("telegram:", w.random.IntN(4)), Name: "Ann"}
		w.change(id, func(a *approval.Ask) error {
			_, err := a.Vote(approval.Tap{Approval: one, Choice: choice, By: by, Channel: "web", Words: "not with my secret"}, people, w.now, time.Minute)
			return err
		})
	case 7:
		w.change(id, func(a *approval.Ask) error {
			a.Prune(approval.Electorate{Human: func(string) (string, bool) { return "", false }})
			return nil
		})
	case 8:
		w.change(id, func(a *approval.Ask) error { return a.Withdraw(one, w.now) })
	case 9:
		w.change(id, func(a *approval.Ask) error { a.Find(one).Key = ""; return a.Supersede(one, w.now) })
	case 10:
		w.each(func(a *approval.Ask, p *approval.Approval) error { return a.Redeem(p.ID, p.Fingerprint, w.now) })
	case 11:
		w.each(func(a *approval.Ask, p *approval.Approval) error {
			return a.Report(p.ID, approval.Outcome{Succeeded: w.random.IntN(2) == 0, At: w.now, Detail: "done"})
		})
	case 12:
		w.change(id, func(a *approval.Ask) error {
			_, err := a.Join(w.calls(1), []string{"web"}, approval.NewTokens(9), w.now)
			if err != nil {
				a.Escalate(approval.Route{Name: "boss"}, []string{"web"}, approval.NewTokens(99), time.Now())
			}
			return nil
		})
	case 13:
		if w.random.IntN(10) == 0 {
			w.now = w.now.Add(25 * time.Hour)
		}
		w.change(id, func(a *approval.Ask) error { a.Lapse(w.now); return nil })
	}
}

// verify verifies the history against the records and the checkpoints.
func (w *world) verify(checkpoints ...string) history.Report {
	w.Helper()
	return verify(w.T, w.store, w.key, checkpoints...)
}

func verify(t *testing.T, s *storetest.Memory, key history.Key, checkpoints ...string) history.Report {
	t.Helper()
	c := history.Case{Tree: s, Records: s, Verifier: key.Verifier()}
	for i, text := range checkpoints {
		c.Witnesses = append(c.Witnesses, history.Witness{Source: fmt.Sprint("checkpoint ", i), Text: text})
	}
	r, err := history.Verify(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
