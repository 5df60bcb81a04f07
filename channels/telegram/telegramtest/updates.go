package telegramtest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// update is one entry of the bot's queue.
type update struct {
	id      int64
	kind    string
	body    map[string]any
	expires time.Time
}

// poll is a getUpdates that waits.
type poll struct{ killed chan struct{} }

// queue adds an update if the bot asked for its kind; s.mu must be held.
func (s *Server) queue(kind string, body map[string]any, lives time.Duration) {
	id := s.nextID
	s.nextID++
	if s.allowed != nil && !slices.Contains(s.allowed, kind) {
		return
	}
	s.updates = append(s.updates, update{id, kind, map[string]any{"update_id": id, kind: body}, time.Now().Add(lives)})
	s.wake()
}

// QueueRaw adds an update of any kind, with arbitrary content.
func (s *Server) QueueRaw(kind string, body map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	s.updates = append(s.updates, update{id, kind, map[string]any{"update_id": id, kind: body}, time.Now().Add(MessageLives)})
	s.wake()
}

// expire drops what nobody fetched in time; s.mu must be held.
func (s *Server) expire() {
	now := time.Now()
	s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return !now.Before(u.expires) })
}

// confirm drops the updates that an offset confirms. An offset beyond everything that was
// ever given out means nothing: the queue is read from its head. s.mu must be held.
func (s *Server) confirm(offset int64) {
	s.expire()
	switch {
	case offset < 0:
		if n := len(s.updates) + int(offset); n > 0 {
			s.updates = slices.Delete(s.updates, 0, n)
		}
	case offset <= s.nextID:
		s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return u.id < offset })
	}
}

// getUpdates is the long poll.
func (s *Server) getUpdates(ctx context.Context, p map[string]string) (any, *Fault) {
	offset, _ := strconv.ParseInt(p["offset"], 10, 64)
	limit, _ := strconv.Atoi(p["limit"])
	if limit < 1 || limit > MaxBatch {
		limit = MaxBatch
	}
	seconds, _ := strconv.Atoi(p["timeout"])
	timer := time.NewTimer(min(time.Duration(seconds)*time.Second, MaxPoll))
	defer timer.Stop()

	s.mu.Lock()
	if fault := s.allow(p["allowed_updates"]); fault != nil {
		s.mu.Unlock()
		return nil, fault
	}
	if s.poll != nil {
		close(s.poll.killed)
	}
	own := &poll{make(chan struct{})}
	s.poll = own
	s.confirm(offset)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.poll == own {
			s.poll = nil
		}
	}()
	return s.await(ctx, own, limit, timer.C)
}

// allow records which kinds of updates the bot wants; empty and null leave that as it was.
// s.mu must be held.
func (s *Server) allow(list string) *Fault {
	if list == "" || list == "null" {
		return nil
	}
	var kinds []string
	if err := strictjson.UnmarshalLoose([]byte(list), &kinds); err != nil {
		return bad("can't parse allowed updates JSON object")
	}
	s.allowed = kinds
	return nil
}

// await waits until there is something to return.
func (s *Server) await(ctx context.Context, own *poll, limit int, timeout <-chan time.Time) (any, *Fault) {
	for late := false; ; {
		s.mu.Lock()
		s.expire()
		batch := make([]map[string]any, 0, len(s.updates))
		for _, u := range s.updates[:min(limit, len(s.updates))] {
			batch = append(batch, u.body)
		}
		tick, webhook := s.tick, s.hook.url
		s.mu.Unlock()
		if webhook != "" {
			return nil, &Fault{Code: 409, Description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"}
		}
		if len(batch) > 0 || late {
			return batch, nil
		}
		select {
		case <-tick:
		case <-timeout:
			late = true
		case <-own.killed:
			return nil, &Fault{Code: 409, Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
		case <-ctx.Done():
			return nil, &Fault{Code: 500, Description: "the client went away"}
		}
	}
}
