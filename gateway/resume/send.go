package resume

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// send retries until the webhook is accepted or given up.
func (w *Webhooks) send(ctx context.Context, id name) {
	for {
		again, err := w.try(ctx, id)
		switch {
		case ctx.Err() != nil:
			return // The next start continues.
		case err != nil:
			w.log.WarnContext(ctx, "a webhook could not be delivered", "approval", id, "error", err)
		}
		if again == 0 {
			break
		}
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
	w.mu.Lock()
	delete(w.owed, id)
	w.mu.Unlock()
	if r, err := w.store.Get(ctx, approval.KindResume, string(id)); err == nil {
		w.owe(id, r.Seq) // It was requested again in the meantime.
	}
}

// try sends the webhook once. It returns the time until the next attempt, 0 for none, and why
// the webhook was not accepted.
func (w *Webhooks) try(ctx context.Context, id name) (time.Duration, error) {
	r, h, err := w.read(ctx, id)
	if errors.Is(err, approval.ErrNotFound) {
		return 0, nil
	}
	state, waits, unread := w.state(ctx, id.approval())
	if err = errors.Join(err, unread); err != nil || waits {
		return longest, err
	}
	if state == "" || !w.Allows(h.URL) {
		return 0, errors.Join(errors.New("given up: its call is no longer kept, or the policy no longer lists its address"), w.drop(ctx, &r))
	}
	select {
	case w.turns <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err() //nolint:wrapcheck // The end.
	}
	gone, err := w.post(ctx, h.URL, id, state)
	<-w.turns
	if err == nil || gone {
		return 0, errors.Join(err, w.drop(ctx, &r))
	}
	again, kept := w.later(ctx, &r, &h)
	return again, errors.Join(err, kept)
}

// later records a failed attempt. It returns the time until the next one, 0 for none.
func (w *Webhooks) later(ctx context.Context, read *approval.Record, h *webhook) (time.Duration, error) {
	if h.Since.IsZero() {
		h.Since = time.Now().UTC()
	}
	if h.Tries++; time.Since(h.Since) >= tryFor {
		return 0, errors.Join(fmt.Errorf("given up after %d tries", h.Tries), w.drop(ctx, read))
	}
	_, err := w.store.Update(ctx, approval.KindResume, read.ID, func(now approval.Record) (approval.Record, error) {
		if now.Seq != read.Seq {
			return now, approval.ErrKeep
		}
		return h.record(now)
	})
	if err != nil {
		return wait(h.Tries), fmt.Errorf("resume: note a try: %w", err)
	}
	return wait(h.Tries), nil
}

// wait returns the pause after the given number of attempts, which is at least one.
func wait(tries int) time.Duration { return min(first<<min(tries-1, 10), longest) }

func (w *Webhooks) read(ctx context.Context, id name) (approval.Record, webhook, error) {
	r, err := w.store.Get(ctx, approval.KindResume, string(id))
	if err != nil {
		return r, webhook{}, fmt.Errorf("resume: read a webhook: %w", err)
	}
	var h webhook
	if err := strictjson.Unmarshal(r.Body, &h); err != nil {
		return r, h, fmt.Errorf("resume: read a webhook: %w", err)
	}
	if h.Version != form {
		return r, h, fmt.Errorf("resume: a webhook of form %d: a newer vaglio wrote it", h.Version)
	}
	return r, h, nil
}

// drop deletes a webhook, unless it was replaced since it was read.
func (w *Webhooks) drop(ctx context.Context, read *approval.Record) error {
	_, err := w.store.Update(ctx, approval.KindResume, read.ID, func(now approval.Record) (approval.Record, error) {
		if now.Seq != read.Seq {
			return now, approval.ErrKeep
		}
		now.Drop = true
		return now, nil
	})
	if err != nil {
		return fmt.Errorf("resume: forget a webhook: %w", err)
	}
	return nil
}

// event is the body of a webhook as specified by Standard Webhooks.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      subject   `json:"data"`
}

type subject struct {
	Approval approval.ID    `json:"approval"`
	State    approval.State `json:"state"`
}

// post sends one webhook. gone says that the receiver wants no further attempts.
func (w *Webhooks) post(ctx context.Context, address string, id name, state approval.State) (gone bool, err error) {
	at := time.Now().UTC().Truncate(time.Second)
	body, errBody := strictjson.Marshal(event{"approval.settled", at, subject{id.approval(), state}})
	r, errAddress := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if errBody != nil || errAddress != nil {
		return false, errors.New("the webhook or its address cannot be encoded")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vaglio")
	w.key.sign(r.Header, string(id), at, body)
	reply, err := w.client.Do(r)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // The full address may contain a secret.
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	const enough = 64 << 10 // Reading the body lets the connection be reused.
	_, _ = io.CopyN(io.Discard, reply.Body, enough)
	_ = reply.Body.Close()
	if reply.StatusCode/100 == 2 {
		return false, nil
	}
	return reply.StatusCode == http.StatusGone, fmt.Errorf("%s answered %d", r.URL.Host, reply.StatusCode)
}
