package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// crashSeed repeats the choices of an earlier run; 0 makes new ones. Which call meets which kill
// still depends on the machine.
var crashSeed = flag.Uint64("crash.seed", 0, "seed of the crash run")

// TestKilledAtRandomInstants repeatedly kills the daemon while agents propose and redeem, and while
// a person taps before, during and after. In the end, every acknowledged tap took effect, once; no
// permit was redeemed twice; every card is final; and no message has a button that could still be
// pressed, nor did two messages of one ask ever have any.
func TestKilledAtRandomInstants(t *testing.T) {
	t.Parallel()
	asks, kills := 300, 30
	switch {
	case race.Detector:
		asks, kills = 40, 5 // A few runs show a race, and everything is slower.
	case testing.Short():
		asks, kills = 32, 4
	}
	c := newCrash(t, chosenSeed(), asks)
	if c.run(kills) {
		c.check()
	}
}

// TestKilledWithTapsOnBothChats also posts each ask's cards to Slack, where Ann presses at the same
// time as on Telegram, and not always the same button. Routes send the asks to six Slack channels,
// some to two at once, and some proposals wait for their answer. In the end all cards are final and
// agree, and the thread of each denied ask says so once.
func TestKilledWithTapsOnBothChats(t *testing.T) {
	t.Parallel()
	asks, kills := 160, 20
	if race.Detector || testing.Short() {
		asks, kills = 20, 2
	}
	c := newCrash(t, chosenSeed(), asks)
	c.onSlack()
	stop := c.team.press()
	done := c.run(kills)
	stop()
	if done {
		c.check()
		c.team.check()
	}
}

func chosenSeed() uint64 {
	if *crashSeed != 0 {
		return *crashSeed
	}
	return rand.Uint64()
}

// crash is one run: one store, several daemons over it, one platform.
type crash struct {
	t    *testing.T
	seed uint64
	h    *home
	p    *chat
	// team is the workspace, if the run has two chats.
	team *crashTeam
	asks []*crashAsk
	// agents calls the current daemon.
	agents *http.Client
	fuse   *fuse

	mu sync.Mutex
	// reborn is closed and replaced when the next daemon serves.
	reborn chan struct{}
	// down and later are presses that wait for the daemon's end, and for the next one's start. At the
	// end of the run nothing is put off any more.
	down, later []func()
	putOff      bool
	// seen contains the messages whose buttons the person has looked at.
	seen map[int]bool
	// stir is closed and replaced whenever the platform was called, or an agent was told a decision.
	stir chan struct{}
}

// crashAsk is an ask and what became of it.
type crashAsk struct {
	n    int
	body string
	// wait is how long the proposal waits for its decision, as a parameter; empty if it does not.
	wait string
	plan plan
	id   approval.ID
	// told is the answer that the agent got last.
	told approval.Ruling
	// granted counts redemptions that succeeded; cut counts those whose answer was lost in a kill.
	granted, cut int

	// decision is what the store has in the end.
	decision *approval.Decision

	mu sync.Mutex
	// presses contains Ann's, by query.
	presses map[string]approval.Choice
	// cards contains the messages that had buttons.
	cards []int
}

// plan is what the person does with a card.
type plan int

// The plans.
const (
	tapAtOnce plan = iota
	tapBoth
	tapWhileDown
	tapAfterRestart
	tapAfterStranger
	plans
)

func newCrash(t *testing.T, seed uint64, asks int) *crash {
	t.Helper()
	c := &crash{t: t, seed: seed, fuse: &fuse{}, seen: map[int]bool{}, reborn: make(chan struct{}), stir: make(chan struct{}), putOff: true}
	t.Logf("the seed is %d: go test ./cmd/vaglio -run %s -crash.seed=%d", seed, t.Name(), seed)
	c.p = &chat{Server: telegramtest.New(), t: t, ann: telegramtest.User{ID: 4711, FirstName: "Ann"}}
	c.p.chat = c.p.Private(c.p.ann)
	c.p.url = serveHandler(t, http.HandlerFunc(c.platform))
	c.h = newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711", "METNOS_TELEGRAM_APPROVERS=4711")
	c.agents = c.h.over("agent.sock")
	for n := range asks {
		dice := c.dice(uint64(n) + 1)
		c.asks = append(c.asks, &crashAsk{
			n: n, plan: plan(dice.IntN(int(plans))), presses: map[string]approval.Choice{},
			body: fmt.Sprintf(`{"turn_id":"t-%d","step":1,"intent":"clean up","executor":"shell_exec",
				"args":{"command":"git push --force origin branch-%d"},"context":{"capability":"code:exec","cwd":"/srv/app"}}`, n, n),
		})
	}
	return c
}

// dice returns the random choices for one matter.
func (c *crash) dice(matter uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, matter)) }

// fail reports what went wrong, with the seed.
func (c *crash) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("seed %d: "+format, append([]any{c.seed}, args...)...)
}

// run proposes everything and kills as often as requested. It reports whether everything came to an
// end.
func (c *crash) run(kills int) bool {
	began := time.Now()
	dice := c.dice(0)
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*patience)
	defer cancel()
	var agents sync.WaitGroup
	done := make(chan struct{})
	agents.Go(func() { c.propose(ctx, &agents) })
	go func() { defer close(done); agents.Wait() }()
	killed, finished := 0, false
	for !finished {
		s := c.daemon()
		c.serves()
		if killed < kills {
			// Each ask causes about a dozen events, fewer if most are answered while no daemon runs.
			// The kills must be over well before the asks.
			c.fuse.light(1+dice.IntN(6*len(c.asks)/kills), func() { _ = s.cmd.Process.Kill() }) // it may be dying already
		}
		select {
		case <-s.done:
			killed++
			c.fuse.cut()
			c.press(&c.down)
		case <-done:
			// A kill after the last answer must not meet the daemon that is looked at below.
			if finished = !c.fuse.cut(); !finished {
				<-s.done
				killed++
			}
		case <-ctx.Done():
			c.fail("after %d kills %s\n%s", killed, c.undecided(), s.log)
			cancel()
			<-done
			return false
		}
		if strings.Contains(s.log.String(), "DATA RACE") {
			c.fail("a data race\n%s", s.log)
		}
	}
	c.settled(ctx)
	c.t.Logf("%d asks, %d kills, %d messages, %d calls of the platform, %s", len(c.asks), killed,
		len(c.p.Messages(c.p.chat)), len(c.p.Calls("")), time.Since(began).Round(time.Millisecond))
	if killed < kills*2/3 {
		c.fail("only %d kills of %d happened: the run was over before", killed, kills)
	}
	return true
}

// undecided lists the asks that nobody has decided.
func (c *crash) undecided() string {
	var b strings.Builder
	for _, a := range c.asks {
		a.mu.Lock()
		if a.told == "" {
			fmt.Fprintf(&b, "ask %d (%s) by plan %d waits for ever, though pressed %v\n", a.n, a.id, a.plan, a.presses)
		}
		a.mu.Unlock()
	}
	return b.String()
}

// serves records that a daemon serves, and makes the presses that waited for that.
func (c *crash) serves() {
	c.mu.Lock()
	close(c.reborn)
	c.reborn = make(chan struct{})
	c.mu.Unlock()
	c.press(&c.later)
}

// press makes the presses that were put off.
func (c *crash) press(list *[]func()) {
	c.mu.Lock()
	all := *list
	*list = nil
	c.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// call repeats a request until a daemon answers it. cut counts how often a daemon may have accepted
// it without answering.
func (c *crash) call(ctx context.Context, method, path, body string) (r reply, cut int, err error) {
	for {
		c.mu.Lock()
		reborn := c.reborn
		c.mu.Unlock()
		r, err = trySend(ctx, c.agents, method, "http://vaglio"+path, body, "")
		c.fuse.burn()
		if err == nil && r.status != http.StatusServiceUnavailable && r.status != http.StatusTooManyRequests {
			return r, cut, nil
		}
		if err != nil {
			cut++
		}
		select {
		case <-ctx.Done():
			return r, cut, ctx.Err()
		case <-reborn:
		}
	}
}

// propose makes all proposals, some at a time, and lets each wait for its answer.
func (c *crash) propose(ctx context.Context, waiting *sync.WaitGroup) {
	const agents = 12
	todo := make(chan *crashAsk)
	var all sync.WaitGroup
	for range agents {
		all.Go(func() {
			for a := range todo {
				r, _, err := c.call(ctx, http.MethodPost, "/v1/proposals"+a.wait, a.body)
				if err != nil {
					return
				}
				var answer approval.Answer
				if err := strictjson.Unmarshal([]byte(r.body), &answer); err != nil || answer.Approval == nil {
					c.fail("ask %d is answered %d %s", a.n, r.status, r.body)
					return
				}
				a.mu.Lock()
				a.id = answer.Approval.ID
				a.mu.Unlock()
				waiting.Go(func() { c.follow(ctx, a) })
				if a.plan == tapAtOnce || a.plan == tapBoth {
					c.decided(ctx, a) // so that not all cards arrive at the same time
				}
			}
		})
	}
	for _, a := range c.asks {
		select {
		case todo <- a:
		case <-ctx.Done():
		}
	}
	close(todo)
	all.Wait()
	// All proposals are answered: press at once whatever was put off.
	c.mu.Lock()
	c.putOff = false
	c.mu.Unlock()
	c.press(&c.down)
	c.press(&c.later)
}

// decided waits until the ask's agent knows the decision.
func (c *crash) decided(ctx context.Context, a *crashAsk) {
	for {
		a.mu.Lock()
		over := a.told != ""
		a.mu.Unlock()
		if over || ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		stir := c.stir
		c.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-stir:
		}
	}
}

// follow waits for the decision, and redeems the permit twice at the same time.
func (c *crash) follow(ctx context.Context, a *crashAsk) {
	var answer approval.Answer
	for {
		r, _, err := c.call(ctx, http.MethodGet, "/v1/approvals/"+string(a.id)+"?wait=55s", "")
		if err != nil {
			return
		}
		answer = approval.Answer{}
		if err := strictjson.Unmarshal([]byte(r.body), &answer); err != nil {
			c.fail("ask %d is answered %d %s", a.n, r.status, r.body)
			return
		}
		if answer.Decision != approval.RulingPending {
			break
		}
	}
	if answer.Decision == approval.RulingAllow && answer.Permit != nil {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { c.redeem(ctx, a, answer.Permit.Permit) })
		}
		both.Wait()
	}
	a.mu.Lock()
	a.told = answer.Decision
	a.mu.Unlock()
	c.stirred()
}

func (c *crash) redeem(ctx context.Context, a *crashAsk, permit string) {
	r, cut, err := c.call(ctx, http.MethodPost, "/v1/permits/"+permit+"/redeem", a.body)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cut += cut
	switch r.status {
	case http.StatusNoContent:
		a.granted++
	case http.StatusConflict:
	default:
		c.fail("ask %d: redeeming is answered %d %s", a.n, r.status, r.body)
	}
}
