package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// crashTeam is the workspace of a crash run.
type crashTeam struct {
	*workspace
	c *crash

	mu sync.Mutex
	// presses contains Ann's, by ask and by delivery.
	presses map[int]map[string]approval.Choice
	// cards contains the messages in which she saw buttons, by ask.
	cards map[int]map[spot]bool
}

// spot is the place of a message.
type spot struct{ channel, ts string }

// onSlack shows the run's cards in a workspace, too.
func (c *crash) onSlack() {
	w := &workspace{Server: slacktest.New(), t: c.t}
	w.AddUser(slacktest.User{ID: slackAnn, Name: "ann", RealName: "Ann"})
	var routes, rules strings.Builder
	for k, channels := range crashChannels() {
		names := `"telegram"`
		for _, id := range channels {
			w.AddChannel(id, slackAnn)
			names += `, "slack:` + id + `"`
		}
		fmt.Fprintf(&routes, "    - {name: route-%d, channels: [%s], approvers: [ann]}\n", k, names)
		fmt.Fprintf(&rules, "    - {executors: [exec_%d], route: route-%d}\n", k, k)
	}
	c.h.policy(c.t, fmt.Sprintf("approval:\n  members: {ann: [%q, %q]}\n  routes:\n%s  rules:\n%s    - {route: route-0}\n",
		"telegram:4711", "slack:"+slackAnn, &routes, &rules))
	for _, a := range c.asks {
		a.body = strings.Replace(a.body, "shell_exec", fmt.Sprintf("exec_%d", a.n%len(crashChannels())), 1)
		if a.n%3 == 0 {
			a.wait = "?wait=2s"
		}
	}
	c.team = &crashTeam{workspace: w, c: c, presses: map[int]map[string]approval.Choice{}, cards: map[int]map[spot]bool{}}
	w.url = serveHandler(c.t, http.HandlerFunc(c.team.platform))
	c.t.Cleanup(w.Drop)
	c.h.env = append(c.h.env, "METNOS_SLACK_BOT_TOKEN="+slacktest.BotToken, "METNOS_SLACK_APP_TOKEN="+slacktest.AppToken,
		"METNOS_SLACK_CHANNEL="+slackHome, "METNOS_SLACK_APPROVERS="+slackAnn)
}

// crashChannels returns the Slack channels of each route.
func crashChannels() [][]string {
	return [][]string{{slackHome}, {"C0000000002"}, {"C0000000003"}, {"C0000000004"}, {"C0000000005", "C0000000006"}}
}

// everywhere returns the messages of all channels.
func (m *crashTeam) everywhere() (all []slacktest.Message) {
	for _, channels := range crashChannels() {
		for _, id := range channels {
			all = append(all, m.Messages(id)...)
		}
	}
	return all
}

// daemon starts the next daemon.
func (c *crash) daemon() *served {
	c.t.Helper()
	return c.h.start(func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "--telegram-api", c.p.url)
		if c.team != nil {
			cmd.Args = append(cmd.Args, "--slack-api", c.team.url+"/api")
		}
	})
}

// platform is the Web API. A kill can happen before a call takes effect, and after that but before
// it is answered. Sockets pass.
func (m *crashTeam) platform(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		m.ServeHTTP(w, r)
		return
	}
	m.c.fuse.burn()
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, r)
	m.c.stirred()
	m.c.fuse.burn()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a daemon that was killed does not read it
}

// press lets Ann press on Slack until the returned function is called: on each card once, and again
// if she sees that a press was lost.
func (m *crashTeam) press() (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			m.look()
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// look presses on cards that have buttons and no press on its way.
func (m *crashTeam) look() {
	for _, card := range m.everywhere() {
		n, ok := m.askOf(&card)
		if !ok || len(card.Buttons()) == 0 {
			continue
		}
		m.saw(n, spot{card.Channel, card.TS})
		if !m.onTelegram(n) {
			continue
		}
		dice := m.c.dice(1<<40 + uint64(n))
		if dice.IntN(3) == 0 || m.Sockets() == 0 || m.onItsWay(n) {
			continue // a third is left to Telegram
		}
		label, choice := "Allow once", approval.ChoiceAllow
		if dice.IntN(2) == 0 {
			label, choice = "Deny", approval.ChoiceDeny
		}
		id, err := m.Press(slackAnn, card.Channel, card.TS, label)
		if err != nil {
			continue // the card has become final
		}
		m.mu.Lock()
		if m.presses[n] == nil {
			m.presses[n] = map[string]approval.Choice{}
		}
		m.presses[n][id] = choice
		m.mu.Unlock()
	}
}

// saw records that the ask had buttons there.
func (m *crashTeam) saw(n int, at spot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cards[n] == nil {
		m.cards[n] = map[spot]bool{}
	}
	m.cards[n][at] = true
}

// onTelegram reports whether the ask's card has arrived there, too. If the ask is decided first, it
// never does.
func (m *crashTeam) onTelegram(n int) bool {
	a := m.c.asks[n]
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.cards) > 0
}

// onItsWay reports whether a press on the ask's card was received, or may still be.
func (m *crashTeam) onItsWay(n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.presses[n] {
		if d := m.Delivery(id); !d.Lost && (!d.Acked.IsZero() || time.Since(d.Sent) < slacktest.AckWithin) {
			return true
		}
	}
	return false
}

// askOf returns the ask that a channel's message is about.
func (m *crashTeam) askOf(card *slacktest.Message) (n int, ok bool) {
	found := branch.FindStringSubmatch(card.Shown())
	if found == nil || card.ThreadTS != "" {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil && n < len(m.c.asks)
}

var ended = regexp.MustCompile(`(Allowed once|Denied) by Ann \((\S+)\)`)

// finals returns how the cards of each ask say that it ended; empty for a card that does not.
func (m *crashTeam) finals() map[int][]string {
	all := map[int][]string{}
	for _, card := range m.everywhere() {
		if n, ok := m.askOf(&card); ok {
			all[n] = append(all[n], ended.FindString(card.Shown()))
		}
	}
	return all
}

// unfinished names what is not final in the workspace.
func (m *crashTeam) unfinished() string {
	for _, card := range m.everywhere() {
		if len(card.Buttons()) > 0 {
			return "message " + card.TS + " has buttons: " + card.Shown()
		}
	}
	for n, all := range m.finals() {
		if len(all) > len(crashChannels()[n%len(crashChannels())]) || slices.Contains(all, "") {
			return "ask " + strconv.Itoa(n) + " is shown as " + strings.Join(all, ", and as ")
		}
	}
	if lost := m.lost(); lost != "" {
		return lost
	}
	return m.untold()
}

// lost names a message whose channel nowhere shows the end of its ask, or that shows neither the end
// nor that a newer card took its place.
func (m *crashTeam) lost() string {
	final := map[int]map[string]bool{}
	texts := map[spot]string{}
	for _, card := range m.everywhere() {
		texts[spot{card.Channel, card.TS}] = card.Shown()
		if n, ok := m.askOf(&card); ok && ended.MatchString(card.Shown()) {
			if final[n] == nil {
				final[n] = map[string]bool{}
			}
			final[n][card.Channel] = true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, cards := range m.cards {
		for at := range cards {
			text := texts[at]
			if !final[n][at.channel] || !ended.MatchString(text) && !strings.Contains(text, "A newer card has replaced this one.") {
				return fmt.Sprintf("message %s of ask %d shows %q, and the end is shown in %v", at, n, text, final[n])
			}
		}
	}
	return ""
}

// untold names a card of a denied ask whose thread does not say so exactly once. An allowed ask is
// not over: nobody reports how its call ended.
func (m *crashTeam) untold() string {
	all := m.everywhere()
	told := map[string]int{}
	for _, line := range all {
		if line.ThreadTS != "" && strings.Contains(line.Shown(), "Denied by Ann") {
			told[line.Channel+line.ThreadTS]++
		}
	}
	for _, card := range all {
		n, ok := m.askOf(&card)
		if want := strings.HasPrefix(ended.FindString(card.Shown()), "Denied"); ok && want && told[card.Channel+card.TS] != 1 {
			return fmt.Sprintf("the thread of ask %d tells its end %d times", n, told[card.Channel+card.TS])
		}
	}
	return ""
}

// ackBy is when a press is acknowledged although nothing is committed yet. An earlier
// acknowledgement means that it is.
const ackBy = 2 * time.Second

// check compares both chats with what is stored, and that with what was acknowledged.
func (m *crashTeam) check() {
	m.t.Helper()
	if left := m.unfinished(); left != "" {
		m.c.fail("on Slack: %s", left)
	}
	finals, there := m.finals(), map[int][]string{}
	for _, msg := range m.c.p.Messages(m.c.p.chat) {
		if a := m.c.askOf(msg); a != nil {
			if how := ended.FindString(msg.Text); how != "" {
				there[a.n] = append(there[a.n], how)
			}
		}
	}
	words := map[approval.Choice]string{approval.ChoiceAllow: "Allowed once", approval.ChoiceDeny: "Denied"}
	pressed, acked, won := 0, 0, 0
	acks := map[int]bool{}
	for _, a := range m.c.asks {
		if a.decision == nil {
			continue // reported already
		}
		want := words[a.decision.Choice] + " by Ann (" + a.decision.By.ID + ")"
		mine := strings.HasPrefix(a.decision.By.ID, "slack:")
		// If Telegram decided an ask before its card came here, the card never comes. If it came, it
		// shows the end; see lost.
		absent := len(finals[a.n]) == 0 && !mine && len(m.cards[a.n]) == 0
		agree := len(finals[a.n]) > 0 && !slices.ContainsFunc(finals[a.n], func(how string) bool { return how != want })
		if !absent && !agree || !slices.Equal(there[a.n], []string{want}) {
			m.c.fail("ask %d: kept is %q, Slack tells %q and Telegram %q", a.n, want, finals[a.n], there[a.n])
		}
		if mine {
			won++
		}
		chosen := slices.Collect(maps.Values(m.presses[a.n]))
		if mine && !slices.Contains(chosen, a.decision.Choice) {
			m.c.fail("ask %d: nobody pressed on Slack what is kept: %v", a.n, chosen)
		}
		for id := range m.presses[a.n] {
			d := m.Delivery(id)
			pressed++
			if !d.Acked.IsZero() && d.Acked.Sub(d.Sent) < ackBy {
				acked++
				acks[a.n] = true
			}
		}
		if acks[a.n] && !mine && len(a.presses) == 0 {
			m.c.fail("ask %d: a press on Slack was acknowledged, nobody tapped on Telegram, and %s decided", a.n, a.decision.By.ID)
		}
	}
	m.t.Logf("on Slack %d presses, %d acknowledged by a commit, %d asks decided there", pressed, acked, won)
	if won == 0 || won == len(m.c.asks) {
		m.c.fail("%d of %d asks were decided on Slack: the two chats did not race", won, len(m.c.asks))
	}
}
