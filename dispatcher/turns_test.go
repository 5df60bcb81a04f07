package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// slowChannel posts nothing until it is let, and remembers whose cards it posted, in order.
type slowChannel struct {
	*fakeChannel

	open   chan struct{}
	mu     sync.Mutex
	agents []string
}

func (c *slowChannel) Post(ctx context.Context, card approval.Card) (string, error) {
	<-c.open
	c.mu.Lock()
	c.agents = append(c.agents, card.Agent)
	c.mu.Unlock()
	return c.fakeChannel.Post(ctx, card)
}

// TestAgentsTakeTurnsOnAChannel checks that the cards of an agent that asks for much, on a
// channel that accepts little, do not hold up those of others until these expire.
func TestAgentsTakeTurnsOnAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		channel := &slowChannel{fakeChannel: newFakeChannel(), open: make(chan struct{})}
		g := running(t, dispatcher.Config{Channels: []dispatcher.Channel{channel}})
		ask := func(agent string, n int) {
			for i := range n {
				if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(fmt.Sprint("make ", i))}); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		ask("flood", 40)
		ask("quiet", 1)
		ask("two", 2)
		close(channel.open)
		synctest.Wait()
		channel.mu.Lock()
		defer channel.mu.Unlock()
		if first := channel.agents[:6]; len(channel.agents) != 43 || slices.Index(first, "quiet") < 0 || slices.Index(first, "two") < 0 {
			t.Errorf("%d cards, first those of %q", len(channel.agents), first)
		}
		if n := slices.Index(channel.agents[2:], "flood"); n > 2 {
			t.Errorf("the flood itself waits: %q", channel.agents[:8])
		}
	})
}
