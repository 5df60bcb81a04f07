package resume

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/storetest"
)

const address = "https://flows.example.com/resume/1?run=7"

// receiver is a server in memory that answers with the codes in turn, then with 204; 0 is a network
// failure, and hangs never answers.
type receiver struct {
	mu    sync.Mutex
	codes []int
	// during is called once, while the first webhook is in flight.
	during func()
	began  time.Time
	got    []received
}

const hangs = -1

type received struct {
	after     time.Duration
	url, body string
	header    http.Header
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if during := r.during; during != nil {
		r.during = nil
		during()
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.got = append(r.got, received{time.Since(r.began), req.URL.String(), string(body), req.Header})
	code := http.StatusNoContent
	if len(r.codes) > 0 {
		code, r.codes = r.codes[0], r.codes[1:]
	}
	if code == hangs {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if code == 0 {
		return nil, errors.New("connection refused")
	}
	header := http.Header{}
	if code == http.StatusFound {
		header.Set("Location", "https://169.254.169.254/latest/")
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
}

// world is a store with an ask of two approvals, and the webhooks over it.
type world struct {
	t     *testing.T
	store *storetest.Memory
	to    *receiver
	log   strings.Builder
}

func newWorld(t *testing.T, codes ...int) *world {
	t.Helper()
	w := &world{t: t, store: storetest.NewMemory(), to: &receiver{codes: codes, began: time.Now()}}
	w.set("ask-1", approval.Pending)
	w.set("ask-2", approval.Pending)
	return w
}

// run runs the webhooks as one process does, until stop is called.
func (w *world) run(allowed ...string) (hooks *Webhooks, stop func()) {
	w.t.Helper()
	if len(allowed) == 0 {
		allowed = []string{"https://flows.example.com/resume"}
	}
	c := Config{Store: w.store, Key: Key("0123456789abcdef01234567"), Transport: w.to, Log: slog.New(slog.NewTextHandler(&w.log, nil))}
	for _, text := range allowed {
		p, err := hosts.ParsePrefix(text)
		if err != nil {
			w.t.Fatal(err)
		}
		c.Allowed = append(c.Allowed, p)
	}
	hooks = New(c)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- hooks.Run(ctx) }()
	return hooks, func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// set changes the state of an approval.
func (w *world) set(id approval.ID, state approval.State) {
	w.t.Helper()
	_, err := w.store.Update(w.t.Context(), approval.KindAsk, string(id.Ask()), func(r approval.Record) (approval.Record, error) {
		ask := approval.Ask{ID: id.Ask()}
		if r.Exists() {
			var err error
			if ask, err = approval.DecodeAsk(r.Body); err != nil {
				return r, err
			}
		}
		if ask.Find(id) == nil {
			ask.Approvals = append(ask.Approvals, approval.Approval{ID: id})
		}
		ask.Find(id).State = state
		body, err := approval.EncodeAsk(ask)
		r.Body = body
		return r, err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) keep(hooks *Webhooks, id approval.ID) {
	w.t.Helper()
	if err := hooks.Keep(w.t.Context(), id, address); err != nil {
		w.t.Fatal(err)
	}
}

// owed counts the records.
func (w *world) owed() (n int) {
	for _, err := range w.store.List(w.t.Context(), approval.Query{Kind: approval.KindResume}) {
		if err != nil {
			w.t.Fatal(err)
		}
		n++
	}
	return n
}

func (r *receiver) afters() (all []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.got {
		all = append(all, g.after)
	}
	return all
}

// A webhook reports the decision once it is on disk, and only for the approval that it was
// requested for. It is signed as specified by Standard Webhooks.
func TestADecisionIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hooks, stop := w.run()
		defer stop()
		w.keep(hooks, "ask-1")
		synctest.Wait()
		w.set("ask-2", approval.Denied)
		synctest.Wait()
		if len(w.to.afters()) > 0 {
			t.Fatalf("told before it was decided: %+v", w.to.got)
		}
		w.set("ask-1", approval.Allowed)
		synctest.Wait()
		w.set("ask-1", approval.Spent)
		synctest.Wait()
		if len(w.to.got) != 1 || w.owed() != 0 {
			t.Fatalf("%d owed, told %+v", w.owed(), w.to.got)
		}
		got := w.to.got[0]
		if want := `{"type":"approval.settled","timestamp":"2000-01-01T00:00:00Z","data":{"approval":"ask-1","state":"allowed"}}`; got.body != want || got.url != address {
			t.Errorf("%s %s", got.url, got.body)
		}
		for name, want := range map[string]string{"Webhook-Id": "ask-1", "Webhook-Timestamp": "946684800", "Content-Type": "application/json"} {
			if h := got.header.Get(name); h != want {
				t.Errorf("%s: %q", name, h)
			}
		}
		// A decision that was made before the webhook was stored is reported, too.
		w.keep(hooks, "ask-2")
		synctest.Wait()
		if len(w.to.got) != 2 || !strings.Contains(w.to.got[1].body, `"denied"`) || w.owed() != 0 {
			t.Errorf("%d owed, told %+v", w.owed(), w.to.got)
		}
		if w.log.Len() > 0 {
			t.Errorf("what was told is logged as if it could not be: %s", w.log.String())
		}
	})
}

// This is the example from the Standard Webhooks specification.
func TestSignature(t *testing.T) {
	t.Parallel()
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	Key(key).sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got := h.Get("Webhook-Signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
}

// A webhook that is not accepted is retried at growing intervals, and redirects are not followed.
func TestItIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 500, 0, http.StatusFound, 429)
		hooks, stop := w.run()
		defer stop()
		w.keep(hooks, "ask-1")
		w.set("ask-1", approval.Denied)
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 75 * time.Second}
		if got := w.to.afters(); !slices.Equal(got, want) || w.owed() != 0 {
			t.Errorf("tried after %v, %d owed", got, w.owed())
		}
		for _, g := range w.to.got {
			if g.url != address {
				t.Errorf("it went to %s", g.url)
			}
		}
		if said := w.log.String(); strings.Contains(said, "run=7") || strings.Contains(said, "note a try") || !strings.Contains(said, "flows.example.com answered 500") {
			t.Error(said)
		}
	})
}

// Pending webhooks outlive the process, before the decision and between attempts; the next process
// reports what was decided while none was running.
func TestItOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 503)
		hooks, stop := w.run()
		w.keep(hooks, "ask-1")
		synctest.Wait()
		stop()
		w.set("ask-1", approval.Expired)
		_, stop = w.run()
		synctest.Wait()
		stop()
		if len(w.to.got) != 1 || w.owed() != 1 {
			t.Fatalf("%d owed, told %+v", w.owed(), w.to.got)
		}
		_, stop = w.run()
		defer stop()
		synctest.Wait()
		if len(w.to.got) != 2 || !strings.Contains(w.to.got[1].body, `"expired"`) || w.owed() != 0 {
			t.Errorf("%d owed, told %+v", w.owed(), w.to.got)
		}
	})
}

// A webhook is kept while its ask cannot be read, and sent once it can.
func TestAnAskThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hooks, stop := w.run()
		defer stop()
		put := func(body []byte) (was []byte) {
			_, err := w.store.Update(t.Context(), approval.KindAsk, string(approval.ID("ask-1").Ask()), func(r approval.Record) (approval.Record, error) {
				was, r.Body = r.Body, body
				return r, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return was
		}
		w.set("ask-1", approval.Denied)
		readable := put([]byte(`{"v":99}`))
		w.keep(hooks, "ask-1")
		synctest.Wait()
		if n := len(w.to.afters()); n != 0 || w.owed() != 1 {
			t.Fatalf("%d told, %d owed", n, w.owed())
		}
		put(readable)
		synctest.Wait()
		if n := len(w.to.afters()); n != 1 || w.owed() != 0 {
			t.Errorf("%d told, %d owed", n, w.owed())
		}
	})
}

// A webhook about an ask or an approval that is no longer kept is given up.
func TestACallThatIsNotKept(t *testing.T) {
	t.Parallel()
	for _, id := range []approval.ID{"none-1", "ask-7"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			hooks, stop := w.run()
			defer stop()
			w.keep(hooks, id)
			synctest.Wait()
			if n := len(w.to.afters()); n != 0 || w.owed() != 0 || !strings.Contains(w.log.String(), "its call is no longer kept") {
				t.Errorf("%s: %d told, %d owed: %s", id, n, w.owed(), w.log.String())
			}
		})
	}
}

// A webhook that was sent and deleted between two looks is not an error.
func TestAWebhookThatIsThereNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hooks, stop := w.run()
		defer stop()
		w.set("ask-1", approval.Denied)
		hooks.owe("ask-1", 1)
		synctest.Wait()
		if n := len(w.to.afters()); n != 0 || w.log.Len() > 0 {
			t.Errorf("%d told, and logged: %s", n, w.log.String())
		}
	})
}

// A receiver that does not answer is given 15 seconds.
func TestAReceiverThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, hangs)
		hooks, stop := w.run()
		defer stop()
		w.set("ask-1", approval.Denied)
		w.keep(hooks, "ask-1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := w.to.afters(), []time.Duration{0, 20 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("tried after %v, want %v", got, want)
		}
	})
}

// An address that is given while another is being told is told in turn, whether the other accepted
// or not.
func TestAnotherAddressMeanwhile(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"taken": http.StatusNoContent, "not taken": http.StatusInternalServerError, "gone": http.StatusGone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, code)
				hooks, stop := w.run()
				defer stop()
				const other = "https://flows.example.com/resume/2"
				w.to.during = func() {
					if err := hooks.Keep(t.Context(), "ask-1", other); err != nil {
						t.Error(err)
					}
				}
				w.keep(hooks, "ask-1")
				w.set("ask-1", approval.Denied)
				time.Sleep(time.Minute)
				synctest.Wait()
				var told []string
				for _, g := range w.to.got {
					told = append(told, g.url)
				}
				want := []string{address, other}
				if name == "not taken" {
					want = append(want, address) // it is tried again
				}
				if !slices.Equal(told, want) || w.owed() != 0 {
					t.Errorf("told %q, %d owed", told, w.owed())
				}
			})
		})
	}
}

// Equal calls of two flows share an approval: both flows are told, each once, also after a restart
// in between, and under ids of their own.
func TestEachAddressOfAnApprovalIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hooks, stop := w.run()
		const other = "https://flows.example.com/resume/2"
		w.keep(hooks, "ask-1")
		for _, again := range []string{other, other, address} {
			if err := hooks.Keep(t.Context(), "ask-1", again); err != nil {
				t.Fatal(err)
			}
		}
		if w.owed() != 2 {
			t.Errorf("%d owed", w.owed())
		}
		stop()
		_, stop = w.run()
		defer stop()
		w.set("ask-1", approval.Allowed)
		time.Sleep(time.Minute)
		synctest.Wait()
		told, ids := map[string]int{}, map[string]bool{}
		for _, g := range w.to.got {
			told[g.url]++
			ids[g.header.Get("Webhook-Id")] = true
			if !strings.Contains(g.body, `"approval":"ask-1"`) {
				t.Errorf("told %s", g.body)
			}
		}
		if told[address] != 1 || told[other] != 1 || len(w.to.got) != 2 || len(ids) != 2 || w.owed() != 0 {
			t.Errorf("told %v, ids %v, %d owed", told, ids, w.owed())
		}
	})
}

// A webhook is given up if the receiver says that it is gone, if the policy no longer lists its
// address, and after three days.
func TestItIsGivenUp(t *testing.T) {
	t.Parallel()
	refusals := make([]int, 200)
	tests := map[string]struct {
		codes   []int
		allowed string
		tries   func([]time.Duration) bool
	}{
		"gone":       {[]int{http.StatusGone}, "https://flows.example.com/resume", func(at []time.Duration) bool { return len(at) == 1 }},
		"not listed": {nil, "https://flows.example.com/other", func(at []time.Duration) bool { return len(at) == 0 }},
		"never": {refusals, "https://flows.example.com/resume", func(at []time.Duration) bool {
			last := slices.Max(at)
			return last >= 72*time.Hour && last < 73*time.Hour && len(at) > 70 && len(at) < 100
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.codes...)
				hooks, stop := w.run(tt.allowed)
				defer stop()
				w.keep(hooks, "ask-1")
				w.set("ask-1", approval.Denied)
				time.Sleep(100 * time.Hour)
				synctest.Wait()
				if at := w.to.afters(); !tt.tries(at) || w.owed() != 0 {
					t.Errorf("tried after %v, %d owed", at, w.owed())
				}
				if !strings.Contains(w.log.String(), "could not be delivered") {
					t.Error(w.log.String())
				}
			})
		})
	}
}

// Over a real network, the signature is valid, and a redirect is not followed.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	told := make(chan *http.Request, 1)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		again := http.Header{}
		var e event
		if err := strictjson.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		Key("k").sign(again, r.Header.Get("Webhook-Id"), e.Timestamp, body)
		if again.Get("Webhook-Signature") != r.Header.Get("Webhook-Signature") {
			t.Error("the signature does not hold")
		}
		http.Redirect(rw, r, other.URL, http.StatusTemporaryRedirect)
		told <- r
	}))
	defer server.Close()
	p, err := hosts.ParsePrefix(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: storetest.NewMemory()}
	w.set("ask-1", approval.Denied)
	hooks := New(Config{Store: w.store, Allowed: []hosts.Prefix{p}, Key: Key("k"), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hooks.Run(ctx) }()
	if err := hooks.Keep(ctx, "ask-1", server.URL+"/r"); err != nil {
		t.Fatal(err)
	}
	if r := <-told; r.Method != http.MethodPost || r.URL.Path != "/r" {
		t.Errorf("%s %s", r.Method, r.URL)
	}
	cancel()
	if err := <-done; err != nil || w.owed() != 1 {
		t.Errorf("%v, %d owed", err, w.owed())
	}
}

// sick is a store some of whose operations fail.
type sick struct {
	*storetest.Memory

	list, feed, keep error
	// asks returns why an ask cannot be read, and tries why an attempt cannot be recorded; nil
	// means that both work.
	asks, tries func() error
	// ends says that the feed of changes ends.
	ends bool
}

func (s sick) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return failing(s.list, s.Memory.List(ctx, q))
}

func (s sick) Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error] {
	if s.ends {
		return func(func(approval.Record, error) bool) {}
	}
	return failing(s.feed, s.Memory.Watch(ctx, kind, after))
}

func (s sick) Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error) {
	if kind == approval.KindAsk && s.asks != nil {
		if err := s.asks(); err != nil {
			return approval.Record{}, err
		}
	}
	return s.Memory.Get(ctx, kind, idOrKey)
}

func (s sick) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	if s.keep != nil {
		return approval.Record{}, s.keep
	}
	if s.tries != nil {
		if err := s.tries(); err != nil {
			return approval.Record{}, err
		}
	}
	return s.Memory.Update(ctx, kind, id, change)
}

// failing yields err, if it is not nil, and then the rest.
func failing(err error, rest iter.Seq2[approval.Record, error]) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		if err != nil && !yield(approval.Record{}, err) {
			return
		}
		rest(yield)
	}
}

// If the store breaks, Run ends with the reason; a single unreadable record ends nothing.
func TestAStoreThatBreaks(t *testing.T) {
	t.Parallel()
	broken, unread := errors.New("broken"), &approval.UnreadError{Err: errors.New("newer")}
	for name, row := range map[string]struct {
		store sick
		want  string // the error that Run ends with; "" means that it keeps running and sends
	}{
		"well":           {sick{}, ""},
		"one unread":     {sick{list: unread, feed: unread}, ""},
		"no list":        {sick{list: broken}, "resume: read what is owed: broken"},
		"no feed":        {sick{feed: broken}, "resume: follow asks: broken"},
		"a feed's end":   {sick{ends: true}, "resume: the store's feed of changes ended"},
		"nothing stored": {sick{keep: broken}, "resume: keep a webhook: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				row.store.Memory = w.store
				p, err := hosts.ParsePrefix("https://flows.example.com/resume")
				if err != nil {
					t.Fatal(err)
				}
				hooks := New(Config{Store: row.store, Allowed: []hosts.Prefix{p}, Key: Key("k"), Transport: w.to, Log: slog.New(slog.DiscardHandler)})
				kept := hooks.Keep(t.Context(), "ask-1", address)
				if row.store.keep != nil {
					if kept == nil || kept.Error() != row.want {
						t.Errorf("keeping: %v", kept)
					}
					return
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := hooks.Run(ctx); err != nil {
					t.Errorf("that the process ends is told as %v", err)
				}
				ctx, cancel = context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- hooks.Run(ctx) }()
				synctest.Wait()
				w.set("ask-1", approval.Denied)
				synctest.Wait()
				if row.want == "" {
					cancel()
				}
				err = <-done
				cancel()
				if kept != nil || row.want == "" && (err != nil || len(w.to.afters()) != 1) || row.want != "" && (err == nil || err.Error() != row.want) {
					t.Errorf("kept: %v; ended with %v, want %q; told %d times", kept, err, row.want, len(w.to.afters()))
				}
			})
		})
	}
}

// If the store cannot tell the state of an approval, the log says why, and it is read again after
// an hour.
func TestAnAskThatIsNotToldNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, http.StatusInternalServerError)
		p, err := hosts.ParsePrefix("https://flows.example.com/resume")
		if err != nil {
			t.Fatal(err)
		}
		w.set("ask-1", approval.Denied)
		var away atomic.Bool
		store := sick{Memory: w.store, asks: func() error {
			if away.Load() {
				return errors.New("the disk is away")
			}
			return nil
		}}
		hooks := New(Config{Store: store, Allowed: []hosts.Prefix{p}, Key: Key("k"), Transport: w.to, Log: slog.New(slog.NewTextHandler(&w.log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- hooks.Run(ctx) }()
		w.keep(hooks, "ask-1")
		time.Sleep(time.Second)
		away.Store(true)
		time.Sleep(time.Minute)
		away.Store(false)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if all := w.to.afters(); len(all) != 2 || all[1] != time.Hour+5*time.Second || w.owed() != 0 || !strings.Contains(w.log.String(), "resume: read an ask: the disk is away") {
			t.Errorf("told after %v, %d owed: %s", all, w.owed(), w.log.String())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A failed attempt that cannot be recorded is logged, and the next one comes anyway.
func TestATryThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, http.StatusInternalServerError, http.StatusInternalServerError)
		p, err := hosts.ParsePrefix("https://flows.example.com/resume")
		if err != nil {
			t.Fatal(err)
		}
		var full atomic.Bool
		store := sick{Memory: w.store, tries: func() error {
			if full.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}}
		hooks := New(Config{Store: store, Allowed: []hosts.Prefix{p}, Key: Key("k"), Transport: w.to, Log: slog.New(slog.NewTextHandler(&w.log, nil))})
		w.keep(hooks, "ask-1")
		w.set("ask-1", approval.Denied)
		full.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- hooks.Run(ctx) }()
		time.Sleep(7 * time.Second)
		full.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if all := w.to.afters(); len(all) != 3 || all[1] != 5*time.Second || w.owed() != 0 || !strings.Contains(w.log.String(), "resume: note a try: the disk is full") {
			t.Errorf("told after %v, %d owed: %s", all, w.owed(), w.log.String())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// slow is a network in which each request takes a second; it counts concurrent requests.
type slow struct {
	mu        sync.Mutex
	now, most int
}

func (c *slow) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(time.Second)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
}

// A receiver gets eight webhooks at once, however many are pending.
func TestAFewAtOneTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var all []approval.ID
		for n := range 30 {
			all = append(all, approval.ID("ask-"+strconv.Itoa(n+1)))
		}
		for _, id := range all {
			w.set(id, approval.Denied)
		}
		to := new(slow)
		p, err := hosts.ParsePrefix("https://flows.example.com/resume")
		if err != nil {
			t.Fatal(err)
		}
		hooks := New(Config{Store: w.store, Allowed: []hosts.Prefix{p}, Key: Key("k"), Transport: to, Log: slog.New(slog.DiscardHandler)})
		for _, id := range all {
			w.keep(hooks, id)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- hooks.Run(ctx) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if to.most != 8 || w.owed() != 0 {
			t.Errorf("%d at one time, %d owed", to.most, w.owed())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A webhook that cannot be decoded is left as it is, and looked at again after an hour.
func TestAWebhookThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for body, why := range map[string]string{`{"v":2,"url":"` + address + `"}`: "a newer vaglio wrote it", `{"v":`: "read a webhook"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			write := func(body string) {
				t.Helper()
				if _, err := w.store.Update(t.Context(), approval.KindResume, "ask-1", func(r approval.Record) (approval.Record, error) {
					r.Open, r.Body = true, []byte(body)
					return r, nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			write(body)
			w.set("ask-1", approval.Denied)
			_, stop := w.run()
			defer stop()
			time.Sleep(time.Minute)
			synctest.Wait()
			if !strings.Contains(w.log.String(), why) || len(w.to.afters()) != 0 || w.owed() != 1 {
				t.Errorf("%s: told %d times, %d owed: %s", body, len(w.to.afters()), w.owed(), w.log.String())
			}
			write(`{"v":1,"url":"` + address + `"}`)
			time.Sleep(time.Hour - time.Minute)
			synctest.Wait()
			if all := w.to.afters(); len(all) != 1 || all[0] != time.Hour || w.owed() != 0 {
				t.Errorf("%s, mended: told after %v, %d owed", body, all, w.owed())
			}
		})
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "resume.key")
	made, err := LoadKey(file)
	if err != nil || len(made) != 32 {
		t.Fatalf("%d bytes, %v", len(made), err)
	}
	if again, err := LoadKey(file); err != nil || string(again) != string(made) {
		t.Errorf("another key the second time: %v", err)
	}
	for _, text := range []string{"whsec_", "whsec_!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ="} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKey(file); err == nil || !strings.Contains(err.Error(), "whsec_ and 24 to 64 bytes") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for size, fits := range map[int]bool{23: false, 24: true, 64: true, 65: false} {
		text := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, size))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if key, err := LoadKey(file); (err == nil) != fits || fits && len(key) != size {
			t.Errorf("a key of %d bytes: %v", size, err)
		}
	}
	for _, away := range []string{filepath.Join(file, "below"), filepath.Join(filepath.Dir(file), "none", "key"), filepath.Dir(file)} {
		if _, err := LoadKey(away); err == nil || !strings.HasPrefix(err.Error(), "the key of webhooks: ") || strings.Contains(err.Error(), "whsec_") {
			t.Errorf("%s: %v", away, err)
		}
	}
}
