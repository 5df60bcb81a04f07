// Package resume tells an address that an agent named, through a signed webhook, that a call no
// longer waits for a person. A webhook stays in the store until it is accepted, so that it
// outlives the process. It carries the approval's state and nothing about the call.
package resume

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Store holds the pending webhooks, and the asks they are about.
type Store interface {
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error]
}

// Config configures [Webhooks].
type Config struct {
	Store Store
	// Allowed are the permitted prefixes of addresses; none permits no address.
	Allowed []hosts.Prefix
	// Key signs the webhooks.
	Key Key
	// Transport sends the requests; nil means [http.DefaultTransport].
	Transport http.RoundTripper
	Log       *slog.Logger
}

// Webhooks are the pending webhooks. They are sent while Run runs.
type Webhooks struct {
	store   Store
	allowed []hosts.Prefix
	key     Key
	client  *http.Client
	log     *slog.Logger
	// turns limits how many webhooks are sent at once; sending counts those in flight.
	turns   chan struct{}
	sending sync.WaitGroup
	// news signals that look is not empty.
	news chan struct{}

	mu sync.Mutex
	// owed holds the pending webhooks, and whether each is being sent. look holds those whose
	// approval may have changed.
	owed map[name]bool
	look []name
	// after is the Seq of the first webhook. The feed holds all changes since then, and every
	// approval is looked at once anyway.
	after uint64
}

// atOnce is how many webhooks are sent at once, and within bounds each attempt. A failed webhook
// is retried after first, then after twice as long each time up to longest, for tryFor in all.
const (
	atOnce  = 8
	within  = 15 * time.Second
	first   = 5 * time.Second
	longest = time.Hour
	tryFor  = 72 * time.Hour
)

// New returns the webhooks in a store.
func New(c Config) *Webhooks {
	return &Webhooks{
		store: c.Store, allowed: c.Allowed, key: c.Key, log: c.Log,
		client: &http.Client{
			Transport: c.Transport, Timeout: within,
			// Nobody has permitted the address that a redirect leads to.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns: make(chan struct{}, atOnce), news: make(chan struct{}, 1), owed: map[name]bool{},
	}
}

// Allows reports whether the policy permits the address.
func (w *Webhooks) Allows(address string) bool {
	return slices.ContainsFunc(w.allowed, func(p hosts.Prefix) bool { return p.Holds(address) })
}

// webhook is one pending webhook, as the body of its record.
type webhook struct {
	Version int    `json:"v"`
	URL     string `json:"url"`
	// Tries counts the failed attempts, the first of which was at Since.
	Tries int       `json:"tries,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

const form = 1

func (h *webhook) record(r approval.Record) (approval.Record, error) {
	body, err := strictjson.Marshal(h)
	r.Open, r.Body = true, body
	return r, err
}

// name names a webhook's record: the approval, and for a further address of it a mark of that.
type name string

// further separates the mark, which no approval's ID contains.
const further = "."

// approval returns the approval that the webhook tells of.
func (n name) approval() approval.ID {
	id, _, _ := strings.Cut(string(n), further)
	return approval.ID(id)
}

// another returns the name for a further address of the approval. There are 256, so that an agent
// cannot keep any number of addresses for one question.
func another(id approval.ID, address string) name {
	sum := sha256.Sum256([]byte(address))
	return name(fmt.Sprintf("%s%s%02x", id, further, sum[0]))
}

// Keep stores a webhook to the address, to be sent once the approval no longer waits. Equal calls
// share an approval, and each of their addresses is told.
func (w *Webhooks) Keep(ctx context.Context, id approval.ID, address string) error {
	of, taken := name(id), false
	h := webhook{Version: form, URL: address}
	keep := func(r approval.Record) (approval.Record, error) {
		var kept webhook
		taken = r.Exists() && of == name(id) && strictjson.Unmarshal(r.Body, &kept) == nil && kept.URL != address
		if taken {
			return r, approval.ErrKeep
		}
		return h.record(r)
	}
	r, err := w.store.Update(ctx, approval.KindResume, string(of), keep)
	if err == nil && taken {
		of = another(id, address)
		r, err = w.store.Update(ctx, approval.KindResume, string(of), keep)
	}
	if err != nil {
		return fmt.Errorf("resume: keep a webhook: %w", err)
	}
	w.owe(of, r.Seq)
	return nil
}

func (w *Webhooks) owe(id name, seq uint64) {
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
	default: // There is a signal already.
	}
}

// Run sends the pending webhooks until ctx ends.
func (w *Webhooks) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer w.sending.Wait()
	defer cancel()
	for r, err := range w.store.List(ctx, approval.Query{Kind: approval.KindResume, Open: true}) {
		if _, unread := errors.AsType[*approval.UnreadError](err); err != nil && !unread {
			return ended(ctx, fmt.Errorf("resume: read what is owed: %w", err))
		}
		if err == nil {
			w.owe(name(r.ID), r.Seq)
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
		if feed == nil { // Without a webhook there is nothing to follow.
			feed = make(chan error, 1)
			w.sending.Go(func() { feed <- w.follow(ctx) })
		}
		w.settle(ctx)
	}
}

// follow looks again at an approval with a pending webhook whenever its ask changes.
func (w *Webhooks) follow(ctx context.Context) error {
	w.mu.Lock()
	after := w.after
	w.mu.Unlock()
	for r, err := range w.store.Watch(ctx, approval.KindAsk, after) {
		if _, unread := errors.AsType[*approval.UnreadError](err); err != nil && !unread {
			return fmt.Errorf("resume: follow asks: %w", err)
		}
		w.mu.Lock()
		var found []name
		for id := range w.owed {
			if id.approval().Ask() == approval.AskID(r.ID) {
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

// settle starts sending the webhooks of approvals that no longer wait.
func (w *Webhooks) settle(ctx context.Context) {
	w.mu.Lock()
	look := w.look
	w.look = nil
	w.mu.Unlock()
	for _, id := range look {
		if _, waits, err := w.state(ctx, id.approval()); err != nil || waits {
			continue // If the record cannot be read, it is looked at when it changes or at the next start.
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

// state returns the state of an approval; "" if it no longer exists.
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
