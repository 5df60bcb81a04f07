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

// requestState is what a server that wants more before it goes on with a call has its
// client bring back. Nobody but the server can read it, so that nobody could judge it:
// it counts for the call that the server gave it for, as it was given, once.
const requestState = "requestState"

const (
	// stateFor is how long a state may be brought back.
	stateFor = time.Hour
	// mostStates is how many are remembered, by their MACs.
	mostStates = 10_000
)

// states are those that the server has given and that nobody has brought back. They live
// as long as the proxy, as its key does.
type states struct {
	key   []byte
	mu    sync.Mutex
	until map[string]time.Time
}

func newStates() *states {
	return &states{key: []byte(rand.Text()), until: map[string]time.Time{}}
}

// mac binds a state to the call: its tool and its arguments. What the client brings
// back besides the state is an answer to it, and is judged with the arguments.
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

// given notes the state in the server's answer to the call, if there is one.
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

// thin forgets the states whose time is over, or one where there are none: the call that
// it was given for is to be begun anew.
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

// fit reports whether the call brings back no state, or one that was given for it.
func (s *states) fit(c *toolCall) bool {
	if c.state == nil {
		return true
	}
	mac := s.mac(c, *c.state)
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until[mac])
}

// spend takes the state that the call brings back, and reports whether it still counts.
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

// strangeState refuses a call with a state that was not given for it.
const strangeState = "its requestState is not one that the server gave for this call and that is still to be brought back; make the call without it"
