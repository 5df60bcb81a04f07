package main

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/strictjson"
)

// fuse runs a function after a number of events.
type fuse struct {
	mu   sync.Mutex
	left int
	blow func()
}

// light makes blow run at the event with the given number.
func (f *fuse) light(after int, blow func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.blow = after, blow
}

// burn counts one event.
func (f *fuse) burn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 && f.blow != nil {
		f.blow()
	}
}

// cut puts the fuse out, and reports whether it has blown.
func (f *fuse) cut() (blown bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	blown = f.blow != nil && f.left <= 0
	f.blow = nil
	return blown
}

// serveHandler serves h on this machine, and returns the URL.
func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

// over returns a client of one of the daemon's sockets.
func (h *home) over(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.data(socket))
		},
	}}
}

// platform is the Bot API. A kill can happen before a call takes effect, and after that but before
// it is answered.
func (c *crash) platform(w http.ResponseWriter, r *http.Request) {
	c.fuse.burn()
	answer := httptest.NewRecorder()
	c.p.ServeHTTP(answer, r)
	c.look()
	c.stirred()
	c.fuse.burn()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a daemon that was killed does not read it
}

// stirred wakes whoever waits for something to happen.
func (c *crash) stirred() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.stir)
	c.stir = make(chan struct{})
}

var branch = regexp.MustCompile(`origin branch-(\d+)\b`)

// askOf returns the ask that a message is about.
func (c *crash) askOf(m telegramtest.Message) *crashAsk {
	found := branch.FindStringSubmatch(m.Text)
	if found == nil {
		return nil
	}
	n, err := strconv.Atoi(found[1])
	if err != nil || n >= len(c.asks) {
		return nil
	}
	return c.asks[n]
}

// look lets the person see cards that now have buttons.
func (c *crash) look() {
	var fresh []telegramtest.Message
	c.mu.Lock()
	for _, m := range c.p.Messages(c.p.chat) {
		if len(m.Buttons()) > 0 && !c.seen[m.ID] {
			c.seen[m.ID] = true
			fresh = append(fresh, m)
		}
	}
	c.mu.Unlock()
	for _, m := range fresh {
		if a := c.askOf(m); a != nil {
			a.mu.Lock()
			a.cards = append(a.cards, m.ID)
			a.mu.Unlock()
			c.act(a, m)
		}
	}
}

// act does what the person planned.
func (c *crash) act(a *crashAsk, m telegramtest.Message) {
	dice := c.dice(1<<32 + uint64(a.n))
	choices := []string{"Allow once", "Deny"}
	if dice.IntN(2) == 0 {
		slices.Reverse(choices)
	}
	tap := func() { c.tap(a, m, choices[0]) }
	switch a.plan {
	case tapBoth:
		tap()
		c.tap(a, m, choices[1])
	case tapWhileDown:
		c.postpone(&c.down, tap)
	case tapAfterRestart:
		c.postpone(&c.later, tap)
	case tapAfterStranger:
		_, _ = c.p.Press(telegramtest.User{ID: 666, FirstName: "Eve"}, c.p.chat, m.ID, "Allow once") // she decides nothing
		tap()
	default:
		tap()
	}
}

// postpone puts a press off as long as there will be another kill.
func (c *crash) postpone(list *[]func(), tap func()) {
	c.mu.Lock()
	putOff := c.putOff
	if putOff {
		*list = append(*list, tap)
	}
	c.mu.Unlock()
	if !putOff {
		tap()
	}
}

// tap presses a button as Ann, if the card still has it.
func (c *crash) tap(a *crashAsk, m telegramtest.Message, label string) {
	id, err := c.p.press(m.ID, label)
	if err != nil {
		return // another press was faster, or a newer card took its place
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.presses[id] = map[string]approval.Choice{"Allow once": approval.ChoiceAllow, "Deny": approval.ChoiceDeny}[label]
}

// live returns the messages that have a button.
func (c *crash) live() []telegramtest.Message {
	return slices.DeleteFunc(c.p.Messages(c.p.chat), func(m telegramtest.Message) bool { return len(m.Buttons()) == 0 })
}

// settled waits until the daemon has nothing more to show.
func (c *crash) settled(ctx context.Context) {
	for {
		c.mu.Lock()
		stir := c.stir
		c.mu.Unlock()
		if len(c.live()) == 0 && c.unfinished() == "" && (c.team == nil || c.team.unfinished() == "") {
			return
		}
		select {
		case <-ctx.Done():
			return // check reports what is left
		case <-stir:
		}
	}
}

// unfinished names an ask that no message shows as decided.
func (c *crash) unfinished() string {
	shown := map[int]int{}
	for _, m := range c.p.Messages(c.p.chat) {
		if a := c.askOf(m); a != nil && (strings.Contains(m.Text, "Allowed once by Ann") || strings.Contains(m.Text, "Denied by Ann")) {
			shown[a.n]++
		}
	}
	for _, a := range c.asks {
		if shown[a.n] != 1 {
			return "ask " + strconv.Itoa(a.n) + " is shown as it ended by " + strconv.Itoa(shown[a.n]) + " messages"
		}
	}
	return ""
}

// check compares what is stored with what was acknowledged.
func (c *crash) check() {
	c.t.Helper()
	for _, m := range c.live() {
		c.fail("message %d still has buttons: %q %v", m.ID, m.Text, m.Buttons())
	}
	if left := c.unfinished(); left != "" {
		c.fail("%s", left)
	}
	answers := map[string]telegramtest.Answer{}
	for _, a := range c.p.Answers() {
		answers[a.ID] = a
		if a.User != c.p.ann.ID && !strings.HasPrefix(a.Text, "You are not among those who may decide") {
			c.fail("a stranger was told %q", a.Text)
		}
	}
	desk := c.h.over("admin.sock")
	acknowledged := 0
	for _, a := range c.asks {
		acknowledged += c.checkAsk(a, desk, answers)
	}
	c.t.Logf("%d taps were acknowledged", acknowledged)
	if r := c.h.run("", "log", "verify"); r.code != exitOK {
		c.fail("the history: %s%s", r.out, r.err)
	}
	orphans := 0
	for _, m := range c.p.Messages(c.p.chat) {
		if c.askOf(m) != nil && strings.Contains(m.Text, "The buttons are on their way") {
			orphans++
		}
	}
	c.t.Logf("%d messages never got buttons, and say so", orphans)
}

// checkAsk checks one ask, and returns how many of its taps were acknowledged.
func (c *crash) checkAsk(a *crashAsk, desk *http.Client, answers map[string]telegramtest.Answer) (acknowledged int) {
	c.t.Helper()
	r, err := trySend(c.t.Context(), desk, http.MethodGet, "http://vaglio/why/"+string(a.id), "", "")
	var kept owner.Approvals
	if err == nil {
		err = strictjson.Unmarshal([]byte(r.body), &kept)
	}
	if err != nil || len(kept.Approvals) != 1 || kept.Approvals[0].Decision == nil {
		c.fail("ask %d is kept as %d %s, %v", a.n, r.status, r.body, err)
		return 0
	}
	k := kept.Approvals[0]
	a.decision = k.Decision
	onSlack := c.team != nil && k.Decision.By.ID == "slack:"+slackAnn
	if !onSlack && k.Decision.By.ID != "telegram:4711" {
		c.fail("ask %d was decided by %s", a.n, k.Decision.By.ID)
	}
	for id, choice := range a.presses {
		switch answers[id].Text {
		case "Allowed once.", "Denied.":
			acknowledged++
			if k.Decision.Choice != choice || onSlack {
				c.fail("ask %d: the tap to %s was answered %q, and kept is %s", a.n, choice, answers[id].Text, k.Decision.Choice)
			}
		}
	}
	if len(a.cards) != 1 {
		c.fail("ask %d: the messages %v had buttons; it is one that can be answered", a.n, a.cards)
	}
	if acknowledged > 1 {
		c.fail("ask %d: %d taps were told that they decided", a.n, acknowledged)
	}
	if len(a.presses) == 1 && !onSlack {
		for _, choice := range a.presses {
			if choice != k.Decision.Choice {
				c.fail("ask %d: the one tap said %s, and kept is %s", a.n, choice, k.Decision.Choice)
			}
		}
	}
	want := map[approval.Choice]approval.Ruling{approval.ChoiceAllow: approval.RulingAllow, approval.ChoiceDeny: approval.RulingDeny}[k.Decision.Choice]
	if a.told != want {
		c.fail("ask %d: the agent was told %q, and kept is %s", a.n, a.told, k.Decision.Choice)
	}
	switch {
	case a.granted > 1, a.granted == 1 && want != approval.RulingAllow:
		c.fail("ask %d: its permit was spent %d times", a.n, a.granted)
	case want == approval.RulingAllow && a.granted == 0 && a.cut == 0:
		c.fail("ask %d: nobody could spend its permit", a.n)
	case want == approval.RulingAllow && (k.Permit == nil || k.Permit.SpentAt.IsZero()):
		c.fail("ask %d: its permit was used and is not kept as spent: %+v", a.n, k.Permit)
	}
	return acknowledged
}
