package dispatcher_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// TestAChannelOfARouteHasItsOwnDigest checks that a route's channel is told what goes to
// its routes, and a plain channel everything.
func TestAChannelOfARouteHasItsOwnDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, ops, rest := newPaper("chat"), newPaper("chat:ops"), newPaper("chat:rest")
		papers := []*paper{all, ops, rest}
		p := printed(t, storetest.NewMemory(), func(c *dispatcher.Config) {
			c.Hours.Digest = morning
			for _, p := range papers {
				c.Channels = append(c.Channels, p)
			}
			c.Deciders.Routing = approval.Routing{
				Routes: []approval.Route{
					{Name: "ops", Channels: []string{"chat:ops"}, Approvers: []string{approval.Anyone}},
					{Name: "rest", Channels: []string{"chat", "chat:rest"}, Approvers: []string{approval.Anyone}},
				},
				Rules: []approval.Rule{{Agents: []string{"ops-bot"}, Route: "ops"}, {Route: "rest"}},
			}
		})
		time.Sleep(time.Hour)
		propose := func(agent, command string) {
			t.Helper()
			if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(command)}); err != nil {
				t.Fatal(err)
			}
		}
		for i, agent := range []string{"ops-bot", "coder", "writer"} {
			for n := range 2 + i {
				propose(agent, fmt.Sprintf("make %s %d", agent, n)) // a judge denies it
				propose(agent, "rm -rf /")                          // the guard denies it
			}
			read := vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": "a"}}
			if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: read}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(24 * time.Hour)
		sums := map[string]int{}
		for _, paper := range papers {
			for _, d := range paper.all() {
				sums[paper.name+" judged"] += d.Counts.Judged
				sums[paper.name+" guard"] += d.Counts.Guard
				sums[paper.name+" passed"] += d.Counts.Approved
				if len(d.Routes) > 0 != (paper != all) {
					t.Errorf("%s tells of the routes %v", paper.name, d.Routes)
				}
			}
		}
		if sums["chat judged"] != sums["chat:ops judged"]+sums["chat:rest judged"] || sums["chat:ops guard"] != 2 || sums["chat:rest guard"] != 7 ||
			sums["chat judged"] != 21 || sums["chat:ops passed"] != 1 || sums["chat:rest passed"] != 2 {
			t.Errorf("they tell of %v", sums)
		}
		// The same holds for a digest sent by hand.
		if sent, err := p.SendDigest(t.Context(), "2000-01-01"); err != nil || len(sent) != 3 {
			t.Fatal(sent, err)
		}
		if d := ops.all()[len(ops.all())-1]; len(d.Routes) != 1 || d.Routes[0] != "ops" {
			t.Errorf("by hand %v", d.Routes)
		}
	})
}

// TestAnEmptyDayIsSilent checks that a silent empty day counts as sent: the next digest
// begins where the silent one ended.
func TestAnEmptyDayIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), newPaper("chat")
		p := printed(t, store, func(c *dispatcher.Config) {
			c.Hours.Digest, c.Hours.QuietDays, c.Channels = morning, true, []dispatcher.Channel{chat}
		})
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if n := chat.opened; n != 0 {
			t.Fatalf("%d messages tell of nothing", n)
		}
		if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("rm -rf /")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		all := chat.all()
		if len(all) != 1 || all[0].Window.To.Sub(all[0].Window.From) != 24*time.Hour || all[0].Counts.Guard != 1 || all[0].Late {
			t.Errorf("told %+v", all)
		}
	})
}
