package mcp

import (
	"context"
	"sync"

	"github.com/metnos/vaglio/gateway/client"
)

// calls are a client's unanswered calls, by a key for each. The zero value is empty.
type calls struct {
	mu  sync.Mutex
	all map[string]*underway
	// closing is set when the client's input has ended, over when the server has.
	closing, over bool
	// asked counts the calls that the gate is being asked about.
	asked sync.WaitGroup
	// next hands the next call to a goroutine that has finished one; waiting counts them.
	next    chan func()
	waiting sync.WaitGroup
}

// underway is one unanswered call.
type underway struct {
	cancel context.CancelFunc
	// held says that the call waits for a person, gone that it was taken back.
	held, gone bool
	// sent says that the server has the call; approval is what a person was asked about it.
	sent     bool
	call     *toolCall
	approval client.ID
}

// enter adds a call. It returns nil if the key is in use, or if the server is gone.
func (c *calls) enter(key string, cancel context.CancelFunc) *underway {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(key, cancel)
}

func (c *calls) add(key string, cancel context.CancelFunc) *underway {
	if _, taken := c.all[key]; taken || c.over {
		return nil
	}
	if c.all == nil {
		c.all = map[string]*underway{}
	}
	u := &underway{cancel: cancel}
	c.all[key] = u
	return u
}

// begin adds a call and runs f, which asks about it, in another goroutine. It returns false if
// [calls.enter] would return nil.
func (c *calls) begin(key string, cancel context.CancelFunc, f func(u *underway)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.add(key, cancel)
	if u != nil {
		c.run(func() { f(u) })
	}
	return u != nil
}

// run runs f in another goroutine. It reuses one that has finished a call, if there is any: its
// stack has already grown to what a call takes.
func (c *calls) run(f func()) {
	if c.next == nil {
		c.next = make(chan func())
	}
	c.asked.Add(1)
	select {
	case c.next <- f:
	default:
		c.waiting.Go(func() {
			for ; f != nil; f = <-c.next {
				f()
				c.asked.Done()
			}
		})
	}
}

// hold notes that a call waits for a person.
func (c *calls) hold(u *underway) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.held = true
	c.release(u)
}

// takeBack takes back the calls that wait for a person, now or later, because the client no
// longer reads. Calls that are decided at once go on.
func (c *calls) takeBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	for _, u := range c.all {
		c.release(u)
	}
}

func (c *calls) release(u *underway) {
	if c.closing && u.held && !u.sent {
		u.gone = true
		u.cancel()
	}
}

// cancel takes a call back. It reports false if there is no such call or the server has it.
func (c *calls) cancel(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.all[key]
	if u == nil || u.sent {
		return false
	}
	u.gone = true
	u.cancel()
	return true
}

// send notes that the server gets the call now. It reports false if the call was taken back.
func (c *calls) send(u *underway, call *toolCall, approval client.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.gone {
		return false
	}
	u.sent, u.call, u.approval = true, call, approval
	return true
}

// leave removes a call that the server did not get, and reports whether the client still wants
// an answer.
func (c *calls) leave(key string, u *underway) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
	return !u.gone
}

// answered removes the call that the server has answered; u is nil if there is none. early says
// that the server never got that call.
func (c *calls) answered(key string) (u *underway, early bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u = c.all[key]; u != nil && !u.sent {
		return nil, true
	}
	delete(c.all, key)
	return u, false
}

// end marks that the server is gone, and waits for the calls that are being asked about.
func (c *calls) end() {
	c.mu.Lock()
	if c.next != nil && !c.over {
		close(c.next) // A goroutine that is busy with a call sees this when it is done.
	}
	c.over = true
	c.mu.Unlock()
	c.waiting.Wait()
}
