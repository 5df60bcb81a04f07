package dispatcher

import (
	"fmt"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// MaxOpen is how many asks of one agent may wait for people at a time. Nobody reads that
// many before they expire; an agent that opens more is out of control, and each may hold a
// megabyte of arguments in the store and on every channel.
const MaxOpen = 1000

// LimitError says that too many asks of an agent already wait. The call was not asked and
// must not run.
type LimitError struct{ Max int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%d calls of this agent already wait for a person: wait for answers, or withdraw some", e.Max)
}

// openLimit counts the waiting asks of each agent. It follows the store's feed; asks that
// this process opens are counted at once, so that no burst gets past it.
type openLimit struct {
	most int
	mu   sync.Mutex
	by   map[string]map[approval.AskID]struct{}
}

// enter counts the ask, or reports false if the agent has too many.
func (c *openLimit) enter(agent string, id approval.AskID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by[agent]) >= c.most {
		return false
	}
	c.add(agent, id)
	return true
}

func (c *openLimit) add(agent string, id approval.AskID) {
	if c.by == nil {
		c.by = make(map[string]map[approval.AskID]struct{})
	}
	if c.by[agent] == nil {
		c.by[agent] = make(map[approval.AskID]struct{})
	}
	c.by[agent][id] = struct{}{}
}

func (c *openLimit) leave(agent string, id approval.AskID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by[agent], id)
	if len(c.by[agent]) == 0 {
		delete(c.by, agent)
	}
}

// follow counts an ask as stored.
func (c *openLimit) follow(ask *approval.Ask) {
	if !ask.Waiting() {
		c.leave(ask.Agent, ask.ID)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(ask.Agent, ask.ID)
}

// forget clears the counts before they are rebuilt.
func (c *openLimit) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = nil
}
