package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/strictjson"
)

// crash is a world in which the daemon is killed again and again.
type crash struct {
	*platform
	h    *home
	asks int
	done chan struct{} // closed when every call has ended

	mu   sync.Mutex
	dice *rand.Rand
	// presses are what was pressed, by the query's id.
	presses map[string]pressed
	// runs counts the redeemed permits of each call, and ends how each ended.
	runs []int
	ends []approval.Answer
}

type pressed struct {
	ask   int
	allow bool
}

// crashAsks is how many calls the test asks about: a few, or as many as
// VAGLIO_CRASH says.
func crashAsks(t *testing.T) int {
	t.Helper()
	text := os.Getenv("VAGLIO_CRASH")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTelegramSurvivesKills kills the daemon at random instants while agents
// ask and a person taps, and then looks at every tap, permit and card.
func TestTelegramSurvivesKills(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	n := crashAsks(t)
	c := &crash{
		platform: newPlatform(t), asks: n, done: make(chan struct{}), dice: rand.New(rand.NewPCG(seed, 1)),
		presses: map[string]pressed{}, runs: make([]int, n), ends: make([]approval.Answer, n),
	}
	c.h = newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_JUDGE_THRESHOLD=0.75")
	s := c.serve(c.h)
	c.pair(s)

	var work, people sync.WaitGroup
	next := make(chan int)
	for range 8 {
		work.Go(func() {
			for i := range next {
				c.agent(i)
			}
		})
	}
	people.Go(c.person)
	kills := 0
	people.Go(func() { kills, s = c.killer(s) })
	for i := range n {
		next <- i
	}
	close(next)
	work.Wait()
	close(c.done)
	people.Wait()
	t.Logf("%d calls, %d kills, %d presses, %d answers", n, kills, len(c.presses), len(c.Answers()))
	c.settled(s)
	c.taps()
	c.cards()
	s.stop()
}

func (c *crash) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// over reports whether every call has ended, after a pause.
func (c *crash) over(pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
}

// killer kills and starts the daemon until every call has ended, and returns
// the one that lives.
func (c *crash) killer(s *served) (kills int, alive *served) {
	for !c.over(time.Duration(20+c.roll(400)) * time.Millisecond) {
		s.kill()
		kills++
		c.over(time.Duration(c.roll(60)) * time.Millisecond)
		s = c.h.start(func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, "--telegram-api", c.url) })
	}
	return kills, s
}

var callNumber = regexp.MustCompile(`origin b(\d+)x`)

// person presses what there is to press, now and then twice, also while nobody
// listens, and again when nothing comes of it.
func (c *crash) person() {
	again := map[int]time.Time{}
	for !c.over(3 * time.Millisecond) {
		for _, m := range c.Messages(c.chat) {
			found := callNumber.FindStringSubmatch(m.Text)
			if len(m.Buttons()) < 2 || found == nil || time.Now().Before(again[m.ID]) || c.roll(4) > 0 {
				continue
			}
			again[m.ID] = time.Now().Add(time.Duration(200+c.roll(2000)) * time.Millisecond)
			ask, _ := strconv.Atoi(found[1])
			for range 1 + c.roll(2) {
				allow := c.roll(2) == 0
				b := m.Buttons()[1]
				if allow {
					b = m.Buttons()[0]
				}
				id := c.PressData(c.ann, c.chat, m.ID, b.Data)
				c.mu.Lock()
				c.presses[id] = pressed{ask, allow}
				c.mu.Unlock()
			}
		}
	}
}

// agent proposes a call, waits for the person, and runs it if it may.
func (c *crash) agent(i int) {
	body := fmt.Sprintf(`{"turn_id":"t-%d","step":1,"intent":"clean up","executor":"shell_exec",
 "args":{"command":"git push --force origin b%dx"},"context":{"mode":"local","capability":"code:exec","critical":true,"cwd":"/srv/app"}}`, i, i)
	a := c.ask(http.MethodPost, "/v1/proposals?wait=0s", body)
	for a.Decision == approval.RulingPending {
		a = c.ask(http.MethodGet, "/v1/approvals/"+string(a.Approval.ID)+"?wait=20s", "")
	}
	c.mu.Lock()
	c.ends[i] = a
	c.mu.Unlock()
	if a.Permit == nil {
		return
	}
	// An agent that does not hear of its redemption may not run the call; one
	// that is told 409 neither.
	for {
		r, err := c.try(http.MethodPost, "/v1/permits/"+a.Permit.Permit+"/redeem", body)
		switch {
		case err != nil:
			continue
		case r.status == http.StatusNoContent:
			c.mu.Lock()
			c.runs[i]++
			c.mu.Unlock()
			continue // Once more: it must be refused.
		case r.status != http.StatusConflict:
			c.t.Errorf("call %d: redeeming: %d %s", i, r.status, r.body)
		}
		return
	}
}

// ask calls the daemon until one is there that answers.
func (c *crash) ask(method, path, body string) (a approval.Answer) {
	for {
		r, err := c.try(method, path, body)
		switch {
		case err != nil, r.status == http.StatusServiceUnavailable:
		case r.status != http.StatusOK || strictjson.Unmarshal([]byte(r.body), &a) != nil:
			c.t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			return approval.Answer{}
		default:
			return a
		}
	}
}

// try makes one call over the agents' socket, which has one name over all the
// daemon's lives.
func (c *crash) try(method, path, body string) (reply, error) {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.h.data("agent.sock"))
		},
	}}
	r, err := trySend(context.WithoutCancel(c.t.Context()), client, method, "http://vaglio"+path, body, "")
	if err != nil {
		time.Sleep(5 * time.Millisecond) // A daemon that was killed takes a moment to come back.
	}
	return r, err
}

// settled waits until no card has buttons and no press is left.
func (c *crash) settled(s *served) {
	c.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		live := 0
		for _, m := range c.Messages(c.chat) {
			if len(m.Buttons()) > 0 {
				live++
			}
		}
		if live == 0 && c.Queued() == 0 {
			return
		}
		select {
		case <-deadline:
			c.t.Fatalf("%d messages have buttons, %d updates wait\n%s", live, c.Queued(), s.log)
		case <-tick.C:
		}
	}
}

// taps holds what was acknowledged against what became of the calls.
func (c *crash) taps() {
	won := make([]int, c.asks)
	for _, answer := range c.Answers() {
		p, ok := c.presses[answer.ID]
		if !ok {
			continue
		}
		end := c.ends[p.ask]
		if end.Approval == nil {
			c.t.Fatalf("call %d was never asked about: %+v", p.ask, end)
		}
		allowed := end.Permit != nil
		switch answer.Text {
		case "Allowed once.", "Denied.":
			won[p.ask]++
			if said := answer.Text == "Allowed once."; said != p.allow || said != allowed {
				c.t.Errorf("call %d: pressed allow %v, told %q, and it was allowed: %v", p.ask, p.allow, answer.Text, allowed)
			}
		default:
			if told := strings.Contains(answer.Text, "Allowed"); told != allowed {
				c.t.Errorf("call %d: told %q, and it was allowed: %v", p.ask, answer.Text, allowed)
			}
		}
	}
	for i, n := range won {
		if n > 1 {
			c.t.Errorf("call %d was decided by %d taps", i, n)
		}
		if allowed := c.ends[i].Permit != nil; c.runs[i] > 1 || c.runs[i] == 1 && !allowed {
			c.t.Errorf("call %d: allowed %v, run %d times", i, allowed, c.runs[i])
		}
	}
}

// cards holds every message against how its call ended.
func (c *crash) cards() {
	final, orphans := make([]int, c.asks), 0
	for _, m := range c.Messages(c.chat) {
		found := callNumber.FindStringSubmatch(m.Text)
		if found == nil || !m.From.IsBot {
			continue
		}
		ask, err := strconv.Atoi(found[1])
		if err != nil {
			c.t.Fatal(err)
		}
		word := "Denied by Ann"
		if c.ends[ask].Permit != nil {
			word = "Allowed once by Ann"
		}
		switch {
		case strings.Contains(m.Text, word):
			final[ask]++
		case strings.Contains(m.Text, "a newer card has them") && !m.Edited:
			orphans++ // It never had buttons, and says so.
		default:
			c.t.Errorf("call %d: a card says %q", ask, m.Text)
		}
	}
	for i, n := range final {
		if n != 1 {
			c.t.Errorf("call %d has %d final cards, want 1", i, n)
		}
	}
	c.t.Logf("%d messages were left without buttons by a kill", orphans)
}
