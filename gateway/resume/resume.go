// Package resume tells whoever an agent named, over a signed webhook, that a call no
// longer waits for a person. A webhook is kept in the store until it was taken, so that
// it outlives the process; it says what the store says, and nothing of the call.
package resume

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Store keeps the webhooks that are owed, and the asks that they are about.
type Store interface {
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error]
}

// Config is what webhooks are made of.
type Config struct {
	Store Store
	// Allowed are what addresses may begin with; none allows none.
	Allowed []hosts.Prefix
	// Key signs.
	Key Key
	// Transport carries the requests; nil is [http.DefaultTransport].
	Transport http.RoundTripper
	Log       *slog.Logger
}

// Webhooks are those that are owed. They are sent while Run runs.
type Webhooks struct {
	store   Store
	allowed []hosts.Prefix
	key     Key
	client  *http.Client
	log     *slog.Logger
	// turns bounds how many are sent at one time, and sending counts those that are on
	// their way.
	turns   chan struct{}
	sending sync.WaitGroup
	// news says that there is something in look.
	news chan struct{}

	mu sync.Mutex
	// owed are the approvals that are waited for, and whether one is being told; look
	// are those whose state may have changed.
	owed map[approval.ID]bool
	look []approval.ID
	// after is the Seq of the first that was owed: whatever was changed since is in the
	// feed, and each is looked at once besides.
	after uint64
}

// atOnce is how many webhooks are sent at one time, within how long each. They are
// tried again after first, then after twice as long, up to longest, for tryFor in all.
const (
	atOnce  = 8
	within  = 15 * time.Second
	first   = 5 * time.Second
	longest = time.Hour
	tryFor  = 72 * time.Hour
)

// New returns the webhooks of a store.
func New(c Config) *Webhooks {
	return &Webhooks{
		store: c.Store, allowed: c.Allowed, key: c.Key, log: c.Log,
		client: &http.Client{
			Transport: c.Transport, Timeout: within,
			// Where it leads nobody has allowed.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns: make(chan struct{}, atOnce), news: make(chan struct{}, 1), owed: map[approval.ID]bool{},
	}
}

// Allows reports whether the policy lets the address be told.
func (w *Webhooks) Allows(address string) bool {
	return slices.ContainsFunc(w.allowed, func(p hosts.Prefix) bool { return p.Holds(address) })
}

// webhook is one that is owed: the body of a record.
type webhook struct {
	Version int    `json:"v"`
	URL     string `json:"url"`
	// Tries are those that failed, the first one of them at Since.
	Tries int       `json:"tries,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

const form = 1

func (h *webhook) record(r approval.Record) (approval.Record, error) {
	body, err := strictjson.Marshal(h)
	r.Open, r.Body = true, body
	return r, err
}

// Keep owes a webhook to the address when the approval no longer waits. The last
// address that was given for an approval is told.
func (w *Webhooks) Keep(ctx context.Context, id approval.ID, address string) error {
	h := webhook{Version: form, URL: address}
	r, err := w.store.Update(ctx, approval.KindResume, string(id), h.record)
	if err != nil {
		return fmt.Errorf("resume: keep a webhook: %w", err)
	}
	w.owe(id, r.Seq)
	return nil
}

func (w *Webhooks) owe(id approval.ID, seq uint64) {
	w.mu.Lock()
	if w.after == 0 {
		w.after = seq
	}
	if _, known := w.owed[id]; !known {
		w.owed[id] = false
	}
	w.look = append(w.look, id)
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default: // It was said already.
	}
}

// Run sends what is owed until ctx ends.
func (w *Webhooks) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer w.sending.Wait()
	defer cancel()
	for r, err := range w.store.List(ctx, approval.Query{Kind: approval.KindResume, Open: true}) {
		if _, unread := errors.AsType[*approval.UnreadError](err); err != nil && !unread {
			return ended(ctx, fmt.Errorf("resume: read what is owed: %w", err))
		}
		if err == nil {
			w.owe(approval.ID(r.ID), r.Seq)
		}
	}
	var feed chan error
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-feed:
			return ended(ctx, err)
		case <-w.news:
		}
		if feed == nil { // Before the first one there is nothing to follow.
			feed = make(chan error, 1)
			w.sending.Go(func() { feed <- w.follow(ctx) })
		}
		w.settle(ctx)
	}
}

// follow has a look at the approvals of asks that change.
func (w *Webhooks) follow(ctx context.Context) error {
	w.mu.Lock()
	after := w.after
	w.mu.Unlock()
	for r, err := range w.store.Watch(ctx, approval.KindAsk, after) {
		if _, unread := errors.AsType[*approval.UnreadError](err); err != nil && !unread {
			return fmt.Errorf("resume: follow asks: %w", err)
		}
		w.mu.Lock()
		var found []approval.ID
		for id := range w.owed {
			if id.Ask() == approval.AskID(r.ID) {
				found = append(found, id)
			}
		}
		w.mu.Unlock()
		for _, id := range found {
			w.owe(id, r.Seq)
		}
	}
	return errors.New("resume: the store's feed of changes ended")
}

// settle begins to send what no longer waits.
func (w *Webhooks) settle(ctx context.Context) {
	w.mu.Lock()
	look := w.look
	w.look = nil
	w.mu.Unlock()
	for _, id := range look {
		if _, waits, err := w.state(ctx, id); err != nil || waits {
			continue // A record that cannot be read is looked at when it changes, or at the next start.
		}
		w.mu.Lock()
		told, owed := w.owed[id]
		if owed {
			w.owed[id] = true
		}
		w.mu.Unlock()
		if owed && !told {
			w.sending.Go(func() { w.send(ctx, id) })
		}
	}
}

// state is how an approval stands; "" is one that there is no more.
func (w *Webhooks) state(ctx context.Context, id approval.ID) (s approval.State, waits bool, err error) {
	r, err := w.store.Get(ctx, approval.KindAsk, string(id.Ask()))
	if errors.Is(err, approval.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("resume: read an ask: %w", err)
	}
	ask, err := approval.DecodeAsk(r.Body)
	if err != nil {
		return "", false, fmt.Errorf("resume: read an ask: %w", err)
	}
	a := ask.Find(id)
	if a == nil {
		return "", false, nil
	}
	return a.State, a.State == approval.Pending, nil
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
