package dispatcher

import (
	"fmt"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// MaxOpen is how many asks of one agent may wait for people at a time. Nobody
// reads so many before they expire; an agent that opens more is out of hand, and
// each may hold a megabyte of arguments in the store and on every channel.
const MaxOpen = 1000

// CrowdError says that too many asks of an agent wait already. The call was not
// asked and must not run.
type CrowdError struct{ Max int }

func (e *CrowdError) Error() string {
	return fmt.Sprintf("%d calls of this agent wait for a person already: wait for answers, or withdraw some", e.Max)
}

// crowd counts the asks that wait, by agent. It follows the store's feed; what
// this process opens is counted at once, so that no burst gets past it.
type crowd struct {
	most int
	mu   sync.Mutex
	by   map[string]map[approval.AskID]bool
}

// enter counts the ask, and reports false when the agent has too many.
func (c *crowd) enter(agent string, id approval.AskID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by[agent]) >= c.most {
		return false
	}
	c.add(agent, id)
	return true
}

func (c *crowd) add(agent string, id approval.AskID) {
	if c.by == nil {
		c.by = make(map[string]map[approval.AskID]bool)
	}
	if c.by[agent] == nil {
		c.by[agent] = make(map[approval.AskID]bool)
	}
	c.by[agent][id] = true
}

func (c *crowd) leave(agent string, id approval.AskID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by[agent], id)
	if len(c.by[agent]) == 0 {
		delete(c.by, agent)
	}
}

// follow counts an ask as the store has it.
func (c *crowd) follow(ask *approval.Ask) {
	if !ask.Waiting() {
		c.leave(ask.Agent, ask.ID)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(ask.Agent, ask.ID)
}

// forget empties the count, before it is taken up anew.
func (c *crowd) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = nil
}
