package dispatcher_test

import (
	"context"
	"encoding/json" //nolint:depguard // The table has fields that the test does not read.
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// P1: what was harmless when a person allowed it may be forbidden when it runs. The guard
// is asked again, and no permit stands against it.
func TestGuardRunsAgainAtRedemption(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		dir := t.TempDir()
		notes, link := filepath.Join(dir, "notes"), filepath.Join(dir, "link")
		if err := errors.Join(os.WriteFile(notes, nil, 0o600), os.Symlink(notes, link)); err != nil {
			t.Fatal(err)
		}
		p := vaglio.Proposal{Executor: "fs_write", Args: vaglio.Args{"path": link}}
		shown := p
		shown.TurnID = "t"
		a := g.propose(t, shown, 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err := errors.Join(os.Remove(link), os.Symlink("/etc/shadow", link)); err != nil {
			t.Fatal(err)
		}
		err := g.Redeem(t.Context(), agent, a.Permit.Permit, p)
		if denied, ok := errors.AsType[*dispatcher.GuardError](err); !ok || denied.Verdict.BlockedBy != vaglio.PhaseGuard {
			t.Errorf("Redeem: %v", err)
		}
		if told := g.events(t, history.Vetoed); len(told) != 1 || told[0].Approval != a.Approval.ID || told[0].Turn != "t" {
			t.Errorf("the history tells %+v", told)
		}
	})
}

// P1: an agent that declares less about a call when it redeems hides nothing, because the
// guard also reads the call as it was shown.
func TestGuardReadsTheCallAsItWasShown(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		dir := t.TempDir()
		notes, link := filepath.Join(dir, "notes"), filepath.Join(dir, "link")
		if err := errors.Join(os.WriteFile(notes, nil, 0o600), os.Symlink(notes, link)); err != nil {
			t.Fatal(err)
		}
		bare := vaglio.Proposal{Executor: "frobnicate", Args: vaglio.Args{"input": "cat " + link}}
		shown := bare
		shown.Context.Capability = vaglio.Capabilities{"code:exec"}
		a := g.propose(t, shown, 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err := errors.Join(os.Remove(link), os.Symlink("/etc/shadow", link)); err != nil {
			t.Fatal(err)
		}
		if _, denied, err := newEngine(t, &strict{}, nil).Guard(t.Context(), bare); denied || err != nil {
			t.Fatal("the guard denies the call as it comes: this test needs one that it does not")
		}
		err := g.Redeem(t.Context(), agent, a.Permit.Permit, bare)
		if denied, ok := errors.AsType[*dispatcher.GuardError](err); !ok || denied.Verdict.BlockedBy != vaglio.PhaseGuard {
			t.Errorf("Redeem: %v", err)
		}
		if b, _ := g.Await(t.Context(), agent, a.Approval.ID, 0); b.Approval.State != approval.Allowed {
			t.Errorf("a veto spent the permit: %s", b.Approval.State)
		}
	})
}

// P1: no row of the seed's table that the guard denies leaves anything behind that a person
// could allow.
func TestNoGuardDenialOfTheSeedIsAsked(t *testing.T) {
	var table struct {
		Metnos []struct {
			ID       string          `json:"id"`
			Executor string          `json:"executor"`
			Args     vaglio.Args     `json:"args"`
			Context  json.RawMessage `json:"context"`
			Expected struct {
				BlockedBy *string `json:"blocked_by"`
			} `json:"expected"`
		} `json:"metnos"`
	}
	data, err := os.ReadFile("../vaglio/testdata/conformance.json")
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	in(t, func(t *testing.T, g *gate) {
		denied := 0
		for _, row := range table.Metnos {
			if row.Expected.BlockedBy == nil || *row.Expected.BlockedBy != "guard" {
				continue
			}
			denied++
			p := vaglio.Proposal{TurnID: "seed", Step: denied, Executor: row.Executor, Args: row.Args}
			if err := json.Unmarshal(row.Context, &p.Context); err != nil {
				t.Fatalf("%s: %v", row.ID, err)
			}
			a := g.propose(t, p, time.Hour)
			if a.Decision != approval.RulingDeny || a.Approval != nil || a.Permit != nil || a.Refusal == nil || !a.Refusal.Final {
				t.Errorf("%s: got %+v", row.ID, a)
			}
		}
		synctest.Wait()
		if calls, _ := g.channel.tries(); denied < 50 || calls != 0 {
			t.Errorf("%d rows were denied, %d cards were posted", denied, calls)
		}
		for range g.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
			t.Fatal("a guard denial left an ask, and with it a button")
		}
		page, err := g.History(t.Context(), approval.Filter{Outcome: "guard", Limit: 1000})
		if err != nil || len(page.Entries) != denied || page.Older != 0 {
			t.Errorf("the history has %d guard denials of %d, %v", len(page.Entries), denied, err)
		}
	})
}

// P2, P4, P5, P9 over random lives: agents, people, time, crashes of the process and faults
// of the store and the channel, in any order. After each life no approval was decided
// twice, no permit ran two calls, and every card shows its ask's state.
func TestRandomLives(t *testing.T) {
	lives := uint64(24)
	if testing.Short() {
		lives = 6
	}
	for seed := range lives {
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newLife(t, seed).live(200) })
		})
	}
}

// life is one random history and what an observer saw of it.
type life struct {
	t     *testing.T
	rand  *rand.Rand
	g     *gate
	mu    sync.Mutex
	ids   []approval.ID
	won   map[approval.ID]int
	said  map[approval.ID]approval.Decision
	spent map[approval.ID]int
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{
		t: t, rand: rand.New(rand.NewPCG(seed, 7)),
		won: make(map[approval.ID]int), said: make(map[approval.ID]approval.Decision), spent: make(map[approval.ID]int),
	}
	channel, weather := newFakeChannel(), rand.New(rand.NewPCG(seed, 8))
	channel.failing(func(int) error {
		switch weather.IntN(6) {
		case 0:
			return errors.New("bad gateway")
		case 1:
			return &approval.RetryError{After: time.Duration(weather.IntN(90)) * time.Second, Err: errors.New("slow down")}
		}
		return nil
	})
	l.g = start(t, storetest.NewMemory(), channel)
	return l
}

func (l *life) live(moves int) {
	for range moves {
		l.move()
	}
	l.g.channel.failing(nil)
	time.Sleep(time.Hour)
	synctest.Wait()
	l.check()
	l.g.end()
	storetest.Asks(l.t, l.g.store)
}

func (l *life) move() {
	switch n := l.rand.IntN(100); {
	case n < 30:
		l.propose()
	case n < 60:
		l.tap()
	case n < 75:
		l.redeem()
	case n < 80:
		l.withdraw()
	case n < 95:
		time.Sleep(time.Duration(l.rand.IntN(300)) * time.Second)
	default:
		l.g.end()
		l.g = start(l.t, l.g.store, l.g.channel)
	}
}

func (l *life) propose() {
	rs, turn := make([]dispatcher.Request, 1+l.rand.IntN(3)), l.rand.IntN(3) == 0
	for i := range rs {
		p := shell(fmt.Sprintf("make target-%d", l.rand.IntN(12)))
		if turn {
			p.TurnID, p.Step = "t", 1+l.rand.IntN(5)
		}
		rs[i] = dispatcher.Request{Proposal: p, Wait: time.Duration(l.rand.IntN(3)) * time.Second}
	}
	answers, err := l.g.ProposePlan(l.t.Context(), agent, rs)
	if err != nil {
		l.t.Fatalf("ProposePlan: %v", err)
	}
	for _, a := range answers {
		l.ids = append(l.ids, a.Approval.ID)
	}
}

func (l *life) some() (approval.ID, bool) {
	if len(l.ids) == 0 {
		return "", false
	}
	return l.ids[l.rand.IntN(len(l.ids))], true
}

// tap presses up to four buttons of one card at once.
func (l *life) tap() {
	id, ok := l.some()
	if !ok {
		return
	}
	taps := make([]approval.Tap, 1+l.rand.IntN(4))
	for i := range taps {
		taps[i] = approval.Tap{Ask: id.Ask(), Approval: id, Choice: approval.ChoiceDeny, By: owner, Channel: "fake"}
		if l.rand.IntN(2) == 0 {
			taps[i].Choice = approval.ChoiceAllow
		}
		if l.rand.IntN(4) == 0 {
			taps[i].Approval = ""
		}
	}
	var wg sync.WaitGroup
	for _, tap := range taps {
		wg.Go(func() { l.press(tap) })
	}
	wg.Wait()
}

func (l *life) press(tap approval.Tap) {
	r, err := l.g.Decide(l.t.Context(), tap)
	if err != nil {
		l.t.Errorf("Decide: %v", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range r.Ask.Approvals {
		if a.Decision == nil {
			continue
		}
		if was, ok := l.said[a.ID]; ok && was != *a.Decision {
			l.t.Errorf("approval %s was decided as %+v, then as %+v", a.ID, was, *a.Decision)
		}
		l.said[a.ID] = *a.Decision
	}
	if r.Won {
		l.won[tap.Approval]++
		if tap.Approval != "" && l.won[tap.Approval] > 1 {
			l.t.Errorf("approval %s was decided twice", tap.Approval)
		}
	}
}

// redeem tries one permit twice at once, and sometimes with another call.
func (l *life) redeem() {
	id, ok := l.some()
	if !ok {
		return
	}
	a, err := l.g.Await(l.t.Context(), agent, id, 0)
	if err != nil {
		l.t.Fatalf("Await: %v", err)
	}
	if a.Permit == nil {
		return
	}
	ask, err := l.g.Find(l.t.Context(), string(id))
	if err != nil {
		l.t.Fatalf("Find: %v", err)
	}
	p := ask.Find(id).Proposal
	if l.rand.IntN(4) == 0 {
		p.Args = vaglio.Args{"command": "make something else"}
		if err := l.g.Redeem(l.t.Context(), agent, a.Permit.Permit, p); err == nil {
			l.t.Errorf("the permit of %s ran another call", id)
		}
		return
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := l.g.Redeem(l.t.Context(), agent, a.Permit.Permit, p); err == nil {
				l.mu.Lock()
				l.spent[id]++
				l.mu.Unlock()
			}
		})
	}
	wg.Wait()
	if l.spent[id] > 1 {
		l.t.Errorf("the permit of %s was spent %d times", id, l.spent[id])
	}
}

func (l *life) withdraw() {
	if id, ok := l.some(); ok {
		if _, err := l.g.Withdraw(l.t.Context(), agent, id); err != nil && !isMove(err) {
			l.t.Errorf("Withdraw: %v", err)
		}
	}
}

// check compares what callers were told with what is stored, and every card with its ask.
func (l *life) check() {
	for id, said := range l.said {
		ask, err := l.g.Find(l.t.Context(), string(id))
		if err != nil {
			l.t.Errorf("Find: %v", err)
			continue
		}
		if now := ask.Find(id).Decision; now == nil || *now != said {
			l.t.Errorf("approval %s: a person was told %+v, kept is %+v", id, said, now)
		}
		if ask.Waiting() {
			l.t.Errorf("ask %s still waits an hour after its deadline", ask.ID)
		}
		if shown := ask.On("fake"); shown.Stale(ask.View()) {
			l.t.Errorf("the card of %s shows %q, the ask is %q", ask.ID, shown.View, ask.View())
		}
		if shown := ask.On("fake"); shown.Ref != "" && l.g.channel.card(ask.ID).View != ask.View() {
			l.t.Errorf("the message of %s shows %q, the ask is %q", ask.ID, l.g.channel.card(ask.ID).View, ask.View())
		}
	}
}

// P3: what a caller was told is on disk even if the store fails around it. Every call of
// the store fails once, in turn; nothing acknowledged is lost, and nothing that failed is
// half done.
func TestStoreFaultsNeverAllow(t *testing.T) {
	for n := range 60 {
		synctest.Test(t, func(t *testing.T) {
			store := storetest.NewMemory()
			g := start(t, store, newFakeChannel())
			late := n%2 == 1
			if late {
				store.FailLate(n/2+1, errors.New("connection is cut"))
			} else {
				store.Fail(n/2+1, errors.New("disk is full"))
			}
			a, err := g.Propose(context.Background(), agent, dispatcher.Request{Proposal: shell("make clean")})
			if err == nil && a.Decision != approval.RulingPending {
				t.Fatalf("fault %d: proposed: %+v", n, a)
			}
			if err == nil {
				r, err := g.Decide(context.Background(), approval.Tap{
					Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "fake",
				})
				b, awaitErr := g.Await(context.Background(), agent, a.Approval.ID, 0)
				if awaitErr != nil { // This is where the fault struck; it does so only once.
					b, awaitErr = g.Await(context.Background(), agent, a.Approval.ID, 0)
				}
				if awaitErr != nil {
					t.Fatalf("fault %d: Await: %v", n, awaitErr)
				}
				told := err == nil && r.Won
				// Only an answer cut off after the commit may leave the person with an
				// error and a decision that stands.
				if denied := b.Approval.State == approval.Denied; told && !denied || denied && !told && !late {
					t.Errorf("fault %d: the person was told %v %v, the agent %s", n, r.Won, err, b.Approval.State)
				}
			}
			time.Sleep(2 * time.Hour)
			g.end()
			storetest.Asks(t, store.Reopen())
		})
	}
}
