package mcp

import (
	"context"
	"sync"

	"github.com/metnos/vaglio/gateway/client"
)

// calls are those that a client has made and that are not answered, by what names
// them. Its zero value has none.
type calls struct {
	mu  sync.Mutex
	all map[string]*underway
	// closing says that the client has ended its side, over that the server has.
	closing, over bool
	// asked are the calls that are being asked about.
	asked sync.WaitGroup
	// next is for who has come to the end of a call, and waits for another.
	next    chan func()
	waiting sync.WaitGroup
}

// underway is one call.
type underway struct {
	cancel context.CancelFunc
	// held says that it waits for a person, gone that it was taken back.
	held, gone bool
	// sent says that the server has it; approval is what a person was asked about call.
	sent     bool
	call     *toolCall
	approval client.ID
}

// enter begins a call, nil where there is one of that name, or nobody to run it.
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

// begin runs f, which asks about a call, beside the messages. It reports false where
// [calls.enter] gives nil.
func (c *calls) begin(key string, cancel context.CancelFunc, f func(u *underway)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.add(key, cancel)
	if u != nil {
		c.run(func() { f(u) })
	}
	return u != nil
}

// run runs f beside the messages, where another call ended if somebody waits there: its
// stack has grown already to what a call takes.
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

// takeBack takes back the calls that wait for a person, also those to come: the
// client no longer reads. What is judged at once goes on.
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

// cancel takes a call back, and reports whether the server never had it.
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

// send notes that the server gets a call now, and reports whether it may: not one
// that was taken back.
func (c *calls) send(u *underway, call *toolCall, approval client.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.gone {
		return false
	}
	u.sent, u.call, u.approval = true, call, approval
	return true
}

// leave ends a call that the server did not get, and reports whether its client still
// wants an answer.
func (c *calls) leave(key string, u *underway) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
	return !u.gone
}

// answered ends the call that the server answers, nil where there is none of that
// name. early says that the server never got it.
func (c *calls) answered(key string) (u *underway, early bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u = c.all[key]; u != nil && !u.sent {
		return nil, true
	}
	delete(c.all, key)
	return u, false
}

// end says that nobody is left to run a call, and waits for what is being asked.
func (c *calls) end() {
	c.mu.Lock()
	if c.next != nil && !c.over {
		close(c.next) // Whoever is at a call comes to it afterwards.
	}
	c.over = true
	c.mu.Unlock()
	c.waiting.Wait()
}
