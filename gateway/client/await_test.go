package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/client"
)

// script answers requests in order; the last entry repeats. It lives in the test's bubble.
type script struct {
	t     *testing.T
	steps []step
	asked []string
}

type step struct {
	// after is how long the daemon takes; negative means the whole requested wait.
	after  time.Duration
	status int
	body   string
	header string
	err    error
}

// Close has nothing to close.
func (*script) Close() {}

// Exchange takes the next step.
func (s *script) Exchange(ctx context.Context, m *client.Message) (*client.Reply, error) {
	_, wait, _ := strings.Cut(m.Path, "?wait=")
	s.asked = append(s.asked, wait)
	next := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	if next.after < 0 {
		next.after, _ = time.ParseDuration(wait)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(next.after):
	}
	if next.err != nil {
		return nil, next.err
	}
	if next.status == 0 {
		next.status = 200
	}
	return &client.Reply{Status: next.status, RetryAfter: next.header, Body: []byte(next.body)}, nil
}

func TestAwait(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("gone")}
	busy := step{status: 503, body: `{"detail":"busy"}`, header: "2"}
	for _, tc := range []struct {
		name  string
		steps []step
		wait  time.Duration
		// want is the decision, or the error's text.
		want string
		took time.Duration
		asks []string
	}{
		{"decided-at-once", []step{{body: allowAnswer}}, time.Hour, "allow", 0, []string{"5m0s"}},
		{"in-slices", []step{{after: -1, body: pendingAnswer}, {after: -1, body: pendingAnswer}, {after: time.Minute, body: allowAnswer}}, time.Hour, "allow", 11 * time.Minute, []string{"5m0s", "5m0s", "5m0s"}},
		{"nobody-decides", []step{{after: -1, body: pendingAnswer}}, 7 * time.Minute, "pending", 7 * time.Minute, []string{"5m0s", "2m0s"}},
		{"asked", []step{{after: time.Minute, body: `{"decision":"pending","approval":{"id":"i-1"},"question":{"words":"why?"}}`}}, time.Hour, "pending", time.Minute, nil},
		{"no-wait", []step{{body: pendingAnswer}}, 0, "pending", 0, []string{""}},
		{"busy", []step{busy, busy, {body: allowAnswer}}, time.Hour, "allow", 4 * time.Second, nil},
		{"busy-for-long", []step{{after: 4 * time.Second, status: 503, body: `{"detail":"busy"}`, header: "2"}}, time.Minute, "busy", 64 * time.Second, nil},
		{"restarted", []step{{after: time.Second, body: pendingAnswer}, {err: refused}, {err: refused}, {body: allowAnswer}}, time.Hour, "allow", 1700 * time.Millisecond, nil},
		{"gone-for-good", []step{{err: refused}}, time.Hour, "vaglio could not be asked to await: dial: gone", 30500 * time.Millisecond, nil},
		{"not-found", []step{{status: 404, body: `{"detail":"no such approval"}`}}, time.Hour, "no such approval", 0, nil},
		{"hangs", []step{{after: time.Hour}}, time.Minute, "vaglio could not be asked to await: it did not answer in time", 90 * time.Second, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, steps: tc.steps}
				c := client.New(s, "")
				start := time.Now()
				a, err := c.Await(t.Context(), "i-1", tc.wait)
				got := string(a.Decision)
				if err != nil {
					got = err.Error()
				}
				if got != tc.want || time.Since(start).Round(100*time.Millisecond) != tc.took {
					t.Errorf("%q after %s, want %q after %s (asked %v)", got, time.Since(start), tc.want, tc.took, s.asked)
				}
				if len(tc.asks) > 0 {
					if diff := cmp.Diff(tc.asks, s.asked); diff != "" {
						t.Error(diff)
					}
				}
			})
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client.New(&script{t: t, steps: []step{{after: -1, body: pendingAnswer}}}, "")
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.Await(ctx, "i-1", time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 90*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// While Await rests because the daemon asked for it, the end of the context ends the wait, and the
// daemon is not asked once more.
func TestAwaitEndsWithItsContextWhileItRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &script{t: t, steps: []step{{status: 503, body: `{"type": "/problems/stopping"}`, header: "20"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := client.New(away, "").Await(ctx, "i-1", time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second || len(away.asked) != 1 {
			t.Errorf("%v after %s and %d requests", err, time.Since(start), len(away.asked))
		}
	})
}
