package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// noticedBody is the record of what a channel was told last of guard denials.
type noticedBody struct {
	Version int `json:"v"`
	// Since is when the record was begun: nothing older is told.
	Since time.Time     `json:"since"`
	Told  []noticedLine `json:"told"`
}

// noticedLine is one source of denials, and the newest of them that was told.
type noticedLine struct {
	Agent string    `json:"agent"`
	Rule  string    `json:"rule"`
	At    time.Time `json:"at"`
}

func (h *notifier) record() string { return "noticed/" + h.name }

// readNoticed takes up what was told last, and returns since when denials are
// to be looked for; the zero time when nothing can be missing, because the
// channel is new.
func (d *Dispatcher) readNoticed(ctx context.Context, h *notifier) (time.Time, error) {
	r, err := d.store.Get(ctx, approval.KindMeta, h.record())
	if errors.Is(err, approval.ErrNotFound) {
		return time.Time{}, d.keepNoticed(ctx, h)
	}
	if err != nil {
		return time.Time{}, err
	}
	var body noticedBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return time.Time{}, err
	}
	if body.Version != 1 {
		return time.Time{}, errors.New("dispatcher: what was noticed is from a newer vaglio")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range body.Told {
		s := source{l.Agent, l.Rule}
		if h.by[s] == nil {
			h.by[s] = &tally{}
		}
		h.by[s].told, h.by[s].next = l.At, l.At.Add(noticeEvery)
	}
	return later(body.Since, d.outlets.began.Add(-noticedFor)), nil
}

// keepNoticed writes down what was told.
func (d *Dispatcher) keepNoticed(ctx context.Context, h *notifier) error {
	h.mu.Lock()
	told := []noticedLine{}
	for s, t := range h.by {
		if !t.told.IsZero() {
			told = append(told, noticedLine{s.agent, s.rule, t.told})
		}
	}
	h.mu.Unlock()
	_, err := d.store.Update(ctx, approval.KindMeta, h.record(), func(r approval.Record) (approval.Record, error) {
		body := noticedBody{Version: 1, Since: d.outlets.began}
		if r.Exists() {
			if err := strictjson.Unmarshal(r.Body, &body); err != nil {
				return r, err
			}
		}
		body.Told = told
		var err error
		r.ID = h.record()
		r.Body, err = strictjson.Marshal(body)
		return r, err
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep what was noticed: %w", err)
	}
	return nil
}
