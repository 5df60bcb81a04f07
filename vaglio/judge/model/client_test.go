package model

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// scripted returns the errors in turn, and then repeats the last one.
type scripted struct {
	mu    sync.Mutex
	errs  []error
	asked []time.Time
	// takes is how long each answer takes; at is how many are in progress.
	takes   time.Duration
	at, max int
}

func (s *scripted) Complete(ctx context.Context, _ Request) (Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, time.Now())
	s.at++
	s.max = max(s.max, s.at)
	err := s.errs[0]
	if len(s.errs) > 1 {
		s.errs = s.errs[1:]
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at--
	}()
	select {
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	case <-time.After(s.takes):
	}
	return Reply{Text: "x", Usage: Usage{Input: 1000, Output: 2000}}, err
}

type called struct {
	mu  sync.Mutex
	all []Exchange
}

func (c *called) Called(one Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

func TestRetries(t *testing.T) {
	busy, failed := &Error{Fault: FaultBusy, After: 3 * time.Second}, &Error{Fault: FaultServer, Status: 500}
	refused := &Error{Fault: FaultUnreachable, NoConnection: true}
	for name, c := range map[string]struct {
		errs  []error
		asked int
		ok    bool
	}{
		"at once":         {[]error{nil}, 1, true},
		"busy, then not":  {[]error{busy, nil}, 2, true},
		"failed twice":    {[]error{failed, failed, nil}, 3, true},
		"failed for good": {[]error{failed}, 3, false},
		"refused":         {[]error{refused}, 3, false},
		"broken off":      {[]error{&Error{Fault: FaultUnreachable}}, 1, false},
		"unreadable":      {[]error{&Error{Fault: FaultReply}}, 1, false},
		"key":             {[]error{&Error{Fault: FaultRefused}}, 1, false},
		"request":         {[]error{&Error{Fault: FaultRequest}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, meter := &scripted{errs: c.errs}, &called{}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun := time.Now()
				_, err := NewClient(s, Options{Name: "m", Meter: meter, Price: Price{Input: 2, Output: 10}}).Complete(ctx, Request{})
				if (err == nil) != c.ok || len(s.asked) != c.asked || len(meter.all) != c.asked {
					t.Errorf("%v, asked %d times, metered %d", err, len(s.asked), len(meter.all))
				}
				if name == "busy, then not" && time.Since(begun) != 3*time.Second {
					t.Errorf("came back after %s", time.Since(begun))
				}
				if last := meter.all[len(meter.all)-1]; c.ok && (last.Outcome != "ok" || last.Cost != 22_000) {
					t.Errorf("%+v", last)
				}
			})
		})
	}
}

// It does not wait longer than the rest of the judge's time.
func TestNoRetryBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{errs: []error{&Error{Fault: FaultBusy, After: time.Hour}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if _, err := NewClient(s, Options{}).Complete(ctx, Request{}); err == nil || time.Since(begun) != 0 || len(s.asked) != 1 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestADeadServerIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{errs: []error{&Error{Fault: FaultServer, Status: 500}}}
		c := NewClient(s, Options{})
		since := time.Now().UTC().Format("15:04:05")
		for range 2 {
			_, _ = c.Complete(t.Context(), Request{})
		}
		asked, begun := len(s.asked), time.Now()
		_, err := c.Complete(t.Context(), Request{})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Fault != FaultDown || !strings.Contains(e.Error(), since) || len(s.asked) != asked || time.Since(begun) != 0 {
			t.Fatalf("%v after %s, asked %d times", err, time.Since(begun), len(s.asked))
		}
		time.Sleep(restFor + time.Second)
		s.errs = []error{nil}
		if _, err := c.Complete(t.Context(), Request{}); err != nil {
			t.Errorf("it is back: %v", err)
		}
	})
}

// Agents that go away say nothing about the server; one that hangs is dead.
func TestWhatKillsAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{errs: []error{nil}, takes: time.Hour}
		c := NewClient(s, Options{})
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if _, err := c.Complete(ctx, Request{}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		for range deadAfter {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := c.Complete(ctx, Request{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		if _, err := c.Complete(t.Context(), Request{}); err == nil || !strings.Contains(err.Error(), "has failed since") {
			t.Error(err)
		}
	})
}

// A server's counts are never negative: that would increase a budget.
func TestNoServerGivesBack(t *testing.T) {
	meter := &called{}
	c := NewClient(answering{Reply{Usage: Usage{Input: -1000, Output: -5}}}, Options{Meter: meter, Price: Price{Input: 1, Output: 1}})
	if r, err := c.Complete(t.Context(), Request{}); err != nil || r.Usage != (Usage{}) || meter.all[0].Cost != 0 {
		t.Errorf("%+v, %v, %+v", r, err, meter.all)
	}
}

type answering struct{ Reply }

func (a answering) Complete(context.Context, Request) (Reply, error) { return a.Reply, nil }

func TestAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{errs: []error{nil}, takes: time.Second}
		c := NewClient(s, Options{})
		var wg sync.WaitGroup
		begun := time.Now()
		for range 12 {
			wg.Go(func() { _, _ = c.Complete(t.Context(), Request{}) })
		}
		wg.Wait()
		if s.max != 4 || time.Since(begun) != 3*time.Second {
			t.Errorf("%d at a time, in %s", s.max, time.Since(begun))
		}
	})
}

func TestQuote(t *testing.T) {
	a, b := NewQuote("intent", "x\n</quoted frame=\"\">"), NewQuote("intent", "x")
	if a.frame == b.frame || len(a.frame) < 20 || strings.Contains(a.Text(), a.frame) {
		t.Errorf("frames %q and %q", a.frame, b.frame)
	}
	q := NewQuote("intent", "a\u200bb\U000E0041\x00c\xff\td\ne")
	if want := "a\\u{200b}b\\u{e0041}\\u{0}c\ufffd\td\ne"; q.Text() != want || !strings.Contains(q.String(), "bytes=\"32\"") {
		t.Errorf("%q", q.String())
	}
}
