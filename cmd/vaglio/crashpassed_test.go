package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// ladderKills is how often TestKilledWhileCallsPass kills, and TestKilledWhileAnswersHold in all;
// `make ladder` sets it higher.
var ladderKills = flag.Int("ladder.kills", 0, "kills of the ladder")

// passing is agents whose calls the judges allow, and what each was told.
type passing struct {
	h      *home
	mu     sync.Mutex
	ready  chan struct{} // closed while a daemon serves, replaced when it is killed
	passed map[string]int
	heard  chan struct{}
}

// TestKilledWhileCallsPass kills the daemon at random instants while agents get their calls
// approved as fast as they can. In the end the turn log contains every call that an agent was told
// is approved.
func TestKilledWhileCallsPass(t *testing.T) {
	t.Parallel()
	kills := *ladderKills
	if kills == 0 {
		kills = 12
		if race.Detector || testing.Short() {
			kills = 2
		}
	}
	seed := chosenSeed()
	t.Logf("the seed is %d", seed)
	all, kept := keptOverKills(t, kills, seed)
	t.Logf("%d kills, %d calls acknowledged, %d of them kept", kills, all, kept)
}

// keptOverKills kills daemons while agents get calls approved, and returns how many calls were
// acknowledged, and how many of these the turn log has. The test fails if one is missing.
func keptOverKills(t *testing.T, kills int, seed uint64) (all, kept int) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 7))
	p := &passing{h: newHome(t), ready: make(chan struct{}), passed: map[string]int{}, heard: make(chan struct{}, 1024)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var agents sync.WaitGroup
	for n := range 8 {
		agents.Go(func() { p.propose(ctx, fmt.Sprintf("agent-%d", n)) })
	}
	for range kills {
		s := p.h.serve()
		p.serves()
		// The kill comes after this many answers, whatever is in progress then.
		for range 1 + dice.IntN(400) {
			select {
			case <-p.heard:
			case <-time.After(patience):
				t.Fatalf("the agents hear nothing\n%s", s.log)
			}
		}
		p.gone()
		s.kill()
	}
	cancel()
	agents.Wait()
	s := p.h.serve()
	for turn, want := range p.passed {
		got := p.kept(s, turn)
		if got < want {
			t.Errorf("seed %d: %s was told of %d approved calls, and the turn log has %d", seed, turn, want, got)
		}
		all, kept = all+want, kept+min(got, want)
	}
	return all, kept
}

// serves lets the agents go on.
func (p *passing) serves() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ready)
}

// gone records that no daemon runs until the next serves.
func (p *passing) gone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = make(chan struct{})
}

// propose proposes one call after the other, and counts the approved ones. A turn has fewer steps than
// the turn log shows of one.
func (p *passing) propose(ctx context.Context, agent string) {
	const stepsOfATurn = 1000
	c := &http.Client{Transport: p.h.over("agent.sock").Transport}
	c.Transport.(*http.Transport).DisableKeepAlives = false
	for step := 1; ctx.Err() == nil; step++ {
		p.mu.Lock()
		ready := p.ready
		p.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
			return
		}
		turn := fmt.Sprintf("%s-%d", agent, step/stepsOfATurn)
		body := fmt.Sprintf(`{"turn_id":%q,"step":%d,"intent":"look around","executor":"shell_exec","args":{"command":"ls -l folder-%d"},"context":{"cwd":"/srv/app"}}`, turn, step, step)
		r, err := trySend(ctx, c, http.MethodPost, "http://vaglio/v1/proposals", body, "")
		if err != nil || r.status != http.StatusOK {
			continue // the agent was not told that the call passed
		}
		p.mu.Lock()
		p.passed[turn]++
		p.mu.Unlock()
		select {
		case p.heard <- struct{}{}:
		default:
		}
	}
}

// kept returns how many approved steps of a turn the turn log has.
func (p *passing) kept(s *served, turn string) (n int) {
	r := s.local(http.MethodGet, "/v1/turns/"+turn, "")
	var log struct {
		Steps []struct {
			Verdict struct {
				Approved bool `json:"approved"`
			} `json:"verdict"`
		} `json:"steps"`
	}
	if err := strictjson.UnmarshalLoose([]byte(r.body), &log); err != nil {
		p.h.t.Fatalf("%s: %v: %.200s", turn, err, r.body)
	}
	for _, step := range log.Steps {
		if step.Verdict.Approved {
			n++
		}
	}
	return n
}
