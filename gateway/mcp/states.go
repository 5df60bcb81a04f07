package mcp

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// requestState is what a server that asks for more before it goes on with a call hands to the
// client to send back. Only the server can read it, so nobody can judge it. It is accepted once,
// unchanged, for the call that the server gave it for.
const requestState = "requestState"

const (
	// stateFor is how long a state may be sent back.
	stateFor = time.Hour
	// mostStates is how many states are remembered.
	mostStates = 10_000
)

// states are the MACs of states that the server gave and that no client has sent back yet. They
// last as long as the proxy, as does its key.
type states struct {
	key   []byte
	mu    sync.Mutex
	until map[string]time.Time
}

func newStates() *states {
	return &states{key: []byte(rand.Text()), until: map[string]time.Time{}}
}

// mac binds a state to a call: its tool and its arguments. The client's answers are left out:
// they respond to the state, and are judged with the arguments.
func (s *states) mac(c *toolCall, state string) string {
	args := c.args
	if c.answers {
		args = make(map[string]any, len(c.args))
		for name, v := range c.args {
			if name != inputResponses {
				args[name] = v
			}
		}
	}
	form, err := strictjson.Canonical([]any{c.name, args, state})
	if err != nil {
		return ""
	}
	h := hmac.New(sha256.New, s.key)
	_, _ = h.Write(form)
	return string(h.Sum(nil))
}

// given remembers the state in the server's answer to the call, if there is one.
func (s *states) given(c *toolCall, result strictjson.Value) {
	if !bytes.Contains(result, []byte(requestState)) {
		return
	}
	all, err := jsonrpc.Object(result, requestState)
	var state string
	if err != nil || strictjson.UnmarshalLoose(all[requestState], &state) != nil {
		return
	}
	mac, now := s.mac(c, state), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.until) >= mostStates {
		s.thin(now)
	}
	if mac != "" {
		s.until[mac] = now.Add(stateFor)
	}
}

// thin forgets the states that have expired, or any one if none has. The call of a forgotten
// state must be started again.
func (s *states) thin(now time.Time) {
	var last string
	for mac, until := range s.until {
		if last = mac; now.After(until) {
			delete(s.until, mac)
		}
	}
	if len(s.until) >= mostStates {
		delete(s.until, last)
	}
}

// fit reports whether the call sends back no state, or one that was given for it.
func (s *states) fit(c *toolCall) bool {
	if c.state == nil {
		return true
	}
	mac := s.mac(c, *c.state)
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until[mac])
}

// spend removes the state that the call sends back, and reports whether it was still valid.
func (s *states) spend(c *toolCall) bool {
	if c.state == nil {
		return true
	}
	mac := s.mac(c, *c.state)
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.until[mac]
	delete(s.until, mac)
	return time.Now().Before(until)
}

// strangeState refuses a call whose state was not given for it.
const strangeState = "its requestState is not one that the server gave for this call and that is still to be brought back; make the call without it"
