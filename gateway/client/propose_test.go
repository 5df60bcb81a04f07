package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/client"
)

// TestProposeGoesOnThroughARestart plays a daemon that shuts down and comes back.
func TestProposeGoesOnThroughARestart(t *testing.T) {
	sent := func(err error) step { return step{err: err} }
	var (
		refused  = sent(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
		noSocket = sent(&net.OpError{Op: "dial", Err: syscall.ENOENT})
		noRoute  = sent(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH})
		ended    = sent(io.EOF)
		reset    = sent(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
		stopping = step{status: 503, body: `{"type":"/problems/stopping","detail":"restarting"}`, header: "1"}
		allowed  = step{body: allowAnswer}
		unjudged = step{body: `{"decision":"pending"}`}
		waiting  = step{body: pendingAnswer}
	)
	const away = "vaglio is not running: start it with `vaglio serve`"
	bare := client.Proposal{TurnID: "t", Executor: "x"}
	for _, tc := range []struct {
		name    string
		steps   []step
		request client.Request
		// want is the decision, or the error's text.
		want string
		took time.Duration
		asks []string
	}{
		{"refused", []step{refused, refused, allowed}, client.Request{Proposal: call}, "allow", 300 * time.Millisecond, []string{"", "", ""}},
		{"no-socket", []step{noSocket, allowed}, client.Request{Proposal: call}, "allow", 100 * time.Millisecond, nil},
		{"ended", []step{ended, allowed}, client.Request{Proposal: call}, "allow", 100 * time.Millisecond, nil},
		{"reset", []step{reset, allowed}, client.Request{Proposal: bare, Key: "k"}, "allow", 100 * time.Millisecond, nil},
		{"stopping", []step{stopping, refused, allowed}, client.Request{Proposal: call}, "allow", 1200 * time.Millisecond, nil},
		{"waits-what-is-left", []step{{after: 8 * time.Second, err: io.EOF}, allowed}, client.Request{Proposal: call, Wait: 20 * time.Second}, "allow", 8100 * time.Millisecond, []string{"20s", "11.9s"}},
		{"never-there", []step{refused}, client.Request{Proposal: call}, away, 4500 * time.Millisecond, nil},
		{"said-not-to-be-there", []step{sent(client.ErrNotRunning)}, client.Request{Proposal: call}, away, 4500 * time.Millisecond, nil},
		{"away-for-good", []step{stopping, refused}, client.Request{Proposal: call}, away, 29400 * time.Millisecond, nil},
		{"cut-for-good", []step{ended}, client.Request{Proposal: call}, "vaglio could not be asked to propose: EOF", 29500 * time.Millisecond, nil},
		{"without-a-key-refused", []step{refused, stopping, allowed}, client.Request{Proposal: bare}, "allow", 1100 * time.Millisecond, nil},
		{"without-a-key-cut", []step{ended, allowed}, client.Request{Proposal: bare}, "vaglio could not be asked to propose: EOF", 0, []string{""}},
		{"judges-take-long", []step{unjudged, unjudged, allowed}, client.Request{Proposal: call}, "allow", 2 * time.Second, nil},
		{"judges-take-too-long", []step{unjudged, unjudged, allowed}, client.Request{Proposal: call, Wait: time.Second}, "pending", time.Second, []string{"1s", ""}},
		{"without-a-key-unjudged", []step{unjudged, allowed}, client.Request{Proposal: bare}, "pending", 0, []string{""}},
		{"asked", []step{waiting, allowed}, client.Request{Proposal: call}, "pending", 0, []string{""}},
		{"no-route", []step{noRoute, allowed}, client.Request{Proposal: call}, "vaglio could not be asked to propose: dial: no route to host", 0, []string{""}},
		{"busy", []step{{status: 503, body: `{"type":"/problems/busy","detail":"busy"}`, header: "2"}, allowed}, client.Request{Proposal: call}, "busy", 0, []string{""}},
		{"disk-full", []step{{status: 507, body: `{"type":"/problems/store-full","detail":"full"}`, header: "10"}, allowed}, client.Request{Proposal: call}, "full", 0, []string{""}},
		{"unreadable", []step{{body: "{"}, allowed}, client.Request{Proposal: call}, "vaglio could not be asked to propose: an answer of status 200 that cannot be read", 0, []string{""}},
		{"hangs", []step{{after: time.Hour}, allowed}, client.Request{Proposal: call}, "vaglio could not be asked to propose: it did not answer in time", 30 * time.Second, []string{""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, steps: tc.steps}
				c := client.New(s, "")
				start := time.Now()
				a, err := c.Propose(t.Context(), tc.request)
				got := string(a.Decision)
				if err != nil {
					got = err.Error()
				}
				if took := time.Since(start).Round(100 * time.Millisecond); got != tc.want || took != tc.took {
					t.Errorf("%q after %s, want %q after %s (asked %v)", got, took, tc.want, tc.took, s.asked)
				}
				if diff := cmp.Diff(tc.asks, s.asked); tc.asks != nil && diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestProposeEndsWithItsContext cancels the context during a pause, and sets a deadline before
// the end of any pause.
func TestProposeEndsWithItsContext(t *testing.T) {
	gone := step{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	for name, tc := range map[string]struct {
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  error
		took  time.Duration
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		}, context.Canceled, 3 * time.Second},
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 3*time.Second)
		}, client.ErrNotRunning, 2500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.bound(t.Context())
				defer cancel()
				c := client.New(&script{t: t, steps: []step{gone}}, "")
				start := time.Now()
				if _, err := c.Propose(ctx, client.Request{Proposal: call}); !errors.Is(err, tc.want) || time.Since(start) != tc.took {
					t.Errorf("%v after %s, want %v after %s", err, time.Since(start), tc.want, tc.took)
				}
			})
		})
	}
}
