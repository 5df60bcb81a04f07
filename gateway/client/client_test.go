package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/client/network"
)

const (
	pendingAnswer = `{"decision":"pending","verdict":{"approved":false,"reason":"r","ts":1,"judge_kind":"j","score":0.4,"blocked_by":"judge"},
		"refusal":{"ran":false,"final":false,"phase":"judge","wanted":"w","why":"y","alternatives":[]},
		"approval":{"id":"i-1","state":"pending","expires_at":"2026-01-01T00:00:00Z"},"permit":null,"later":"fields are no error"}`
	allowAnswer = `{"decision":"allow","verdict":{"approved":false,"reason":"r","ts":1,"judge_kind":"j","score":0.4,"blocked_by":"judge"},
		"refusal":null,"approval":{"id":"i-1","state":"allowed","expires_at":"2026-01-01T00:00:00Z"},
		"permit":{"permit":"p","lapses_at":"2026-01-01T00:00:00Z"}}`
	token  = "the-agents-token"
	permit = "the-permits-text"
)

var call = client.Proposal{
	TurnID: "t", Step: 1, Executor: "x", Args: map[string]any{"a": "1"},
	Context: client.Context{Capability: []string{"code:exec", "fs:read"}, Cwd: "/p"},
}

// both returns a client per transport, for a handler that listens on loopback and on a socket:
// both transports keep the same contract.
func both(t *testing.T, h http.HandlerFunc) (clients []*client.Client) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	u := httptest.NewUnstartedServer(h)
	u.Listener.Close()
	u.Listener = l
	u.Start()
	t.Cleanup(u.Close)
	far, err := network.New(s.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	near := client.Unix(socket, token)
	t.Cleanup(func() { far.Close(); near.Close() })
	return []*client.Client{far, near}
}

func TestRequestsAreAsTheContractHasThem(t *testing.T) {
	var got []string
	record := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %s key=%q token=%q type=%q %s",
			r.Method, r.URL.RequestURI(), r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body))
		if strings.HasSuffix(r.URL.Path, "/redeem") || strings.HasSuffix(r.URL.Path, "/outcome") {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		io.WriteString(w, allowAnswer)
	}
	for _, c := range both(t, record) {
		ctx := t.Context()
		a, err := c.Propose(ctx, client.Request{Proposal: call, Key: "k", Wait: time.Second})
		if err != nil || a.Decision != client.Allow || a.Permit.Permit != "p" {
			t.Fatalf("%+v %v", a, err)
		}
		if _, err := c.Await(ctx, "i/1", 90*time.Second); err != nil {
			t.Error(err)
		}
		if _, err := c.Withdraw(ctx, "i-1"); err != nil {
			t.Error(err)
		}
		if err := c.Redeem(ctx, permit, call); err != nil {
			t.Error(err)
		}
		if err := c.Report(ctx, "i-1", client.Outcome{Succeeded: true, Detail: "d"}); err != nil {
			t.Error(err)
		}
	}
	proposal := `{"turn_id":"t","step":1,"executor":"x","args":{"a":"1"},"context":{"capability":["code:exec","fs:read"],"cwd":"/p"}}`
	want := func(token string) []string {
		return []string{
			`POST /v1/proposals?wait=1s key="k" token="` + token + `" type="application/json" ` + proposal,
			`GET /v1/approvals/i%2F1?wait=1m30s key="" token="` + token + `" type="" `,
			`DELETE /v1/approvals/i-1 key="" token="` + token + `" type="" `,
			`POST /v1/permits/` + permit + `/redeem key="" token="` + token + `" type="application/json" ` + proposal,
			`POST /v1/approvals/i-1/outcome key="" token="` + token + `" type="application/json" {"detail":"d","succeeded":true}`,
		}
	}
	if diff := cmp.Diff(append(want("Bearer "+token), want("Bearer "+token)...), got); diff != "" {
		t.Error(diff)
	}
}

func TestFailuresAreTyped(t *testing.T) {
	problemDocument := `{"type":"/problems/spent","title":"The permit is spent","status":409,"detail":"this permit is spent"}`
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   string
		is     any
	}{
		{"problem", 409, problemDocument, "this permit is spent", new(*client.ProblemError)},
		{"least", 400, problemDocument, "this permit is spent", new(*client.ProblemError)},
		{"not-a-problem", 502, "<html>", "vaglio answered with status 502", new(*client.ProblemError)},
		{"empty-problem", 500, "{}", "vaglio answered with status 500", new(*client.ProblemError)},
		{"success-of-another-kind", 200, "{}", "vaglio could not be asked to redeem: an answer of unexpected status 200", new(*client.TransportError)},
		{"redirect", 307, "", "vaglio could not be asked to redeem: an answer of unexpected status 307", new(*client.TransportError)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, c := range both(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(tc.status)
				io.WriteString(w, tc.body)
			}) {
				err := c.Redeem(t.Context(), permit, call)
				if err == nil || err.Error() != tc.want || !errors.As(err, tc.is) {
					t.Errorf("error %T %v, want %q", err, err, tc.want)
				}
			}
		})
	}
}

// TestCheck checks that a daemon that does not know the agent, or cannot say so, does not
// pass for one that does.
func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		ok     bool
	}{
		"known":        {404, `{"type":"/problems/not-found","detail":"no such approval"}`, true},
		"unknown":      {401, `{"type":"/problems/unauthorized","detail":"no such agent"}`, false},
		"no-such-page": {404, `not found`, false},
		"unreadable":   {200, `{`, false},
	} {
		for _, c := range both(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.body)
		}) {
			if err := c.Check(t.Context()); (err == nil) != tc.ok {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAProblemTellsWhenToRetry(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "0": 0, "-7": 0, "soon": 0} {
		for _, c := range both(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusConflict)
		}) {
			err := c.Redeem(t.Context(), permit, call)
			if p, ok := errors.AsType[*client.ProblemError](err); !ok || p.RetryAfter != want {
				t.Errorf("%q: %+v, want %v", header, err, want)
			}
		}
	}
}

func TestUnreadableAnswerIsAnError(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "list": "[]", "cut": allowAnswer[:40], "duplicate": `{"decision":"deny","decision":"allow"}`,
		"wrong-type": `{"decision":1}`, "huge": `{"decision":"` + strings.Repeat("x", client.MaxReply) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range both(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }) {
				a, err := c.Propose(t.Context(), client.Request{Proposal: call})
				if _, ok := errors.AsType[*client.TransportError](err); !ok || a.Decision != "" {
					t.Errorf("%+v %v", a, err)
				}
			}
		})
	}
}

// TestAnswersOfAnySizeComeWhole checks answers that the daemon writes in one piece or in many.
func TestAnswersOfAnySizeComeWhole(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 10, 100 << 10, 3 << 20} {
		for _, flush := range []bool{false, true} {
			reason := strings.Repeat("ö", size)
			for _, c := range both(t, func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, `{"decision":"deny",`)
				if flush {
					_ = http.NewResponseController(w).Flush()
				}
				io.WriteString(w, `"text":"`+reason+`"}`)
			}) {
				if a, err := c.Withdraw(t.Context(), "i"); err != nil || a.Decision != client.Deny || a.Text != reason {
					t.Errorf("%d bytes, flushed %v: %d came, %v", len(reason), flush, len(a.Text), err)
				}
			}
		}
	}
}

// TestWhatIsTooLargeIsToldSo checks the error when the daemon refuses a call before it has read
// it completely, and closes the connection.
func TestWhatIsTooLargeIsToldSo(t *testing.T) {
	large := call
	large.Args = map[string]any{"text": strings.Repeat("x", 3<<20)}
	// net/http may lose such an answer on a busy machine; our socket transport must not.
	near := both(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if _, ok := errors.AsType[*http.MaxBytesError](err); !ok {
			t.Errorf("read: %v", err)
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		io.WriteString(w, `{"detail":"the body is larger than 1048576 bytes"}`)
	})[1]
	_, err := near.Propose(t.Context(), client.Request{Proposal: large})
	if p, ok := errors.AsType[*client.ProblemError](err); !ok || !p.TooLarge() || p.Detail != "the body is larger than 1048576 bytes" {
		t.Errorf("%T %v", err, err)
	}
}

// TestTheEndOfAContextEndsAWait checks a wait for a daemon that never answers.
func TestTheEndOfAContextEndsAWait(t *testing.T) {
	asked, over := make(chan struct{}), make(chan struct{})
	for _, c := range both(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		asked <- struct{}{}
		<-r.Context().Done() // the client closes the connection, as it should
		over <- struct{}{}
	}) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := c.Propose(ctx, client.Request{Proposal: call})
			done <- err
		}()
		<-asked
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-over
	}
}

// TestErrorsHoldNoSecret makes every method fail in every available way.
func TestErrorsHoldNoSecret(t *testing.T) {
	dead, err := network.New("http://127.0.0.1:1", token)
	if err != nil {
		t.Fatal(err)
	}
	cut := both(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		c.Close()
	})
	bad, err := network.New("http://127.0.0.1:1", token+"\n")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	// The timeout is shorter than any pause, so nothing is tried twice.
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for _, c := range append(cut, dead, bad, client.Unix("/does/not/exist", ""), client.Unix("/does/not/exist", token+"\n")) {
		for _, ctx := range []context.Context{short, over} {
			_, e1 := c.Propose(ctx, client.Request{Proposal: call, Key: permit})
			_, e2 := c.Withdraw(ctx, "i")
			for _, err := range []error{c.Redeem(ctx, permit, call), c.Report(ctx, "i", client.Outcome{}), e1, e2} {
				if err == nil || strings.Contains(err.Error(), permit) || strings.Contains(err.Error(), token) {
					t.Errorf("%v", err)
				}
			}
		}
	}
	if err := dead.Redeem(t.Context(), permit, call); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("nobody listens: %v", err)
	}
	if err := client.Unix(filepath.Join(t.TempDir(), "s"), "").Redeem(t.Context(), permit, call); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("no socket: %v", err)
	}
}

func TestNetworkRefusesBadAddresses(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:8787", "ftp://x", "http://user:pass@x", "http://", "\x00"} {
		if _, err := network.New(base, token); err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := network.New("http://x", ""); err == nil {
		t.Error("took an empty token")
	}
}

// asked returns a client of a daemon that answers each request as say wants, which is given the
// numbers of the connection and of the request on it. ended receives a value for each connection
// that the daemon has closed.
func asked(t *testing.T, say func(conn, request int) (reply string, more bool)) (c *client.Client, ended <-chan bool) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	closed := make(chan bool, 10)
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { c.Close(); closed <- true }()
				r := bufio.NewReader(c)
				for i := 0; ; i++ {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					io.Copy(io.Discard, req.Body)
					text, more := say(n, i)
					io.WriteString(c, text)
					if !more {
						return
					}
				}
			}()
		}
	}()
	c = client.Unix(socket, token)
	t.Cleanup(c.Close)
	return c, closed
}

// A connection carries another exchange only if the previous one left nothing on it, and only
// while the daemon keeps it open.
func TestConnectionIsUsedAgain(t *testing.T) {
	const done = "HTTP/1.1 204 No Content\r\n"
	for name, tc := range map[string]struct {
		reply string
		more  bool
		want  int
	}{
		"kept":          {done + "\r\n", true, 1},
		"closed":        {done + "\r\n", false, 3},
		"said-to-close": {done + "Connection: close\r\n\r\n", true, 3},
		"stray":         {done + "\r\n" + done + "\r\n", true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			conns := 0
			c, ended := asked(t, func(conn, _ int) (string, bool) {
				mu.Lock()
				defer mu.Unlock()
				conns = max(conns, conn+1)
				return tc.reply, tc.more
			})
			for range 3 {
				if err := c.Redeem(t.Context(), permit, call); err != nil {
					t.Fatal(err)
				}
				if !tc.more {
					<-ended
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if conns != tc.want {
				t.Errorf("%d connections, want %d", conns, tc.want)
			}
		})
	}
}

// A client holds one idle connection at most, and none once it is closed.
func TestIdleConnectionsAreClosed(t *testing.T) {
	var together sync.WaitGroup
	together.Add(2)
	c, ended := asked(t, func(_, request int) (string, bool) {
		if request == 0 {
			together.Done()
			together.Wait() // both wait for an answer, each on its own connection
		}
		return "HTTP/1.1 204 No Content\r\n\r\n", true
	})
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			if err := c.Redeem(t.Context(), permit, call); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	<-ended // one of them is closed
	c.Close()
	<-ended // and now the other
}

// A reply to a request that the daemon did not read is trusted only if it refuses, and
// no other request is sent where the rest of this one is missing.
func TestOnlyARefusalAnswersAPartOfARequest(t *testing.T) {
	large := call
	large.Args = map[string]any{"text": strings.Repeat("x", 8<<20)} // more than a socket takes unread
	for name, tc := range map[string]struct {
		reply   string
		refused bool
	}{
		"done":    {"HTTP/1.1 204 No Content\r\n\r\n", false},
		"refusal": {"HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n", true},
		"bad":     {"HTTP/1.1 400 x\r\nContent-Length: 0\r\n\r\n", true}, // the lowest status that refuses
		"silence": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				first, err := l.Accept()
				if err != nil {
					return
				}
				defer first.Close() // after the second exchange
				if u, ok := first.(*net.UnixConn); ok {
					_ = u.CloseRead()
					io.Copy(io.Discard, u) // so that what waits for room is told that nobody reads
					io.WriteString(u, tc.reply)
					if tc.reply == "" {
						_ = u.CloseWrite()
					}
				}
				if second, err := l.Accept(); err == nil {
					_, _ = http.ReadRequest(bufio.NewReader(second))
					io.WriteString(second, "HTTP/1.1 204 No Content\r\n\r\n")
					second.Close()
				}
			}()
			c := client.Unix(socket, token)
			err = c.Redeem(t.Context(), permit, large)
			if _, refused := errors.AsType[*client.ProblemError](err); err == nil || refused != tc.refused {
				t.Errorf("%T %v", err, err)
			}
			if err := c.Redeem(t.Context(), permit, call); err != nil {
				t.Errorf("the next request: %v", err)
			}
		})
	}
}

// An exchange that its caller gave up leaves no answer for the next one.
func TestGivenUpExchangeIsNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := asked(t, func(conn, request int) (string, bool) {
		if conn == 0 && request == 1 {
			cancel()
			return "", true // the daemon may still answer
		}
		return "HTTP/1.1 204 No Content\r\n\r\n", true
	})
	for i, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
		if err := c.Redeem(ctx, permit, call); (err != nil) != (i == 1) {
			t.Errorf("exchange %d: %v", i, err)
		}
	}
}
