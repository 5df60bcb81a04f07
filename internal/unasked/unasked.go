// Package unasked notices when a session of a coding agent that used to ask goes on without asking:
// the client's transcript shows calls that ran and that never came to the gate. A hook may have been
// switched off in a file that nobody watches, or the session resumed with a flag that skips hooks.
package unasked

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/replay"
	"github.com/metnos/vaglio/vaglio"
)

// Watch watches the sessions that ask. It is safe for concurrent use.
type Watch struct {
	transcripts string

	mu sync.Mutex
	by map[key]*session
	// asks are the tools that the client's hook asks about: a call of any other tool is no news.
	asks map[string]struct{}
}

// Silence is a session that goes on without asking.
type Silence struct {
	Agent, Session string
	// Since is when it asked last.
	Since time.Time
	// Calls are the tools of the calls that ran since, in their order.
	Calls []string
}

type key struct{ agent, id string }

// session is what is known about one session.
type session struct {
	asked time.Time
	// size is that of its transcript when it was last read.
	size int64
	// found is set while it goes on without asking.
	found *Silence
}

const (
	// client is the one whose transcripts are read.
	client = "claude-code"
	// lookEvery is how often Run looks.
	lookEvery = time.Minute
	// slack is how much later than its question a call may stand in the transcript.
	slack = 10 * time.Second
	// maxSessions and maxTools bound the memory.
	maxSessions, maxTools = 1000, 256
)

// New returns a Watch of the sessions of the user with the home folder.
func New(home string) *Watch {
	return &Watch{transcripts: filepath.Join(home, ".claude", "projects"), by: map[key]*session{}, asks: map[string]struct{}{}}
}

// Asked records that an agent's session has asked about a call.
func (w *Watch) Asked(agent string, p *vaglio.Proposal) {
	if p.Context.Client != client || !plain(p.Session) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	k := key{agent, p.Session}
	if w.by[k] == nil {
		if len(w.by) >= maxSessions {
			w.forget()
		}
		w.by[k] = &session{}
	}
	w.by[k].asked, w.by[k].found = time.Now(), nil
	if len(w.asks) < maxTools {
		w.asks[p.Executor] = struct{}{}
	}
}

// plain reports whether an ID can be part of a file's name and of a pattern. The agent states it.
func plain(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// forget drops the session that asked the longest ago.
func (w *Watch) forget() {
	var last key
	for k, s := range w.by {
		if w.by[last] == nil || s.asked.Before(w.by[last].asked) {
			last = k
		}
	}
	delete(w.by, last)
}

// Found returns the sessions that go on without asking, one sentence each.
func (w *Watch) Found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, s := range w.by {
		if s.found != nil {
			all = append(all, fmt.Sprintf("%s goes on without asking since %s: calls that ran in session %s: %s.",
				s.found.Agent, s.found.Since.Format(time.TimeOnly), s.found.Session, s.found.Tools()))
		}
	}
	slices.Sort(all)
	return all
}

// Tools returns the tools by name, each with the number of its calls.
func (s *Silence) Tools() string {
	count := map[string]int{}
	for _, tool := range s.Calls {
		count[tool]++
	}
	var all []string
	for _, tool := range slices.Sorted(maps.Keys(count)) {
		all = append(all, fmt.Sprintf("%s ×%d", tool, count[tool]))
	}
	return strings.Join(all, ", ")
}

// Run looks every minute until ctx ends, and calls tell for each silence when it begins.
func (w *Watch) Run(ctx context.Context, log *slog.Logger, tell func(context.Context, Silence) error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, s := range w.look() {
			log.WarnContext(ctx, "an agent's session goes on without asking", "agent", s.Agent, "session", s.Session, "asked", s.Since, "calls", s.Tools())
			if err := tell(ctx, s); err != nil {
				log.WarnContext(ctx, "that could not be announced", "error", err)
			}
		}
	}
}

// look returns the silences that have begun.
func (w *Watch) look() (begun []Silence) {
	for k, was := range w.watched() {
		path, size := w.transcript(k.id)
		if path == "" || size == was.size {
			continue
		}
		ran, err := replay.Ran(path, was.asked.Add(slack))
		if err != nil {
			continue // it went away, or is not ours to read
		}
		if s := w.compare(k, was.asked, size, ran); s != nil {
			begun = append(begun, *s)
		}
	}
	return begun
}

// watched returns copies of the sessions, without those of which nothing is remembered any more.
func (w *Watch) watched() map[key]session {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[key]session{}
	for k, s := range w.by {
		if time.Since(s.asked) > vaglio.FactsKept {
			delete(w.by, k)
			continue
		}
		all[k] = *s
	}
	return all
}

// transcript returns the session's transcript and its size, "" if there is none.
func (w *Watch) transcript(id string) (path string, size int64) {
	all, err := filepath.Glob(filepath.Join(w.transcripts, "*", id+".jsonl"))
	if err != nil || len(all) == 0 {
		return "", 0
	}
	info, err := os.Stat(all[0])
	if err != nil {
		return "", 0
	}
	return all[0], info.Size()
}

// compare takes what ran after a session asked last, and returns the silence if it begins with that.
// If the session has asked meanwhile, the question of those calls may just have come.
func (w *Watch) compare(k key, asked time.Time, size int64, ran []string) *Silence {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.by[k]
	if s == nil || !s.asked.Equal(asked) {
		return nil
	}
	s.size = size
	ran = slices.DeleteFunc(ran, func(tool string) bool {
		_, asks := w.asks[tool]
		return !asks
	})
	if len(ran) == 0 {
		return nil
	}
	begins := s.found == nil
	s.found = &Silence{Agent: k.agent, Session: k.id, Since: asked, Calls: ran}
	if !begins {
		return nil
	}
	return s.found
}
