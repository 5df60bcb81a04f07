package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections live in the test's bubble.
type pipes struct {
	conns chan net.Conn
	once  chan struct{}
}

// piped returns an API for a gate of its own, and a server of it with a listener to dial.
func piped(t *testing.T) (g *gate, api *API, l *pipes, s *http.Server) {
	t.Helper()
	g = newGate()
	c := config(g, io.Discard)
	api, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g, api, &pipes{make(chan net.Conn), make(chan struct{})}, NewServer(api.Network(), c.Log)
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.once:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.once:
	default:
		close(p.once)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// leaving is a listener that tells when one of its connections is closed.
type leaving struct {
	net.Listener

	left chan time.Time
}

func (l *leaving) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &leavingConn{c, l.left}, err
}

type leavingConn struct {
	net.Conn

	left chan time.Time
}

func (c *leavingConn) Close() error {
	select {
	case c.left <- time.Now():
	default:
	}
	return c.Conn.Close()
}

// TestWhoDoesNotTakeAnAnswerIsLeft requests an answer and does not read it, at once and after the
// connection was idle for an hour.
func TestWhoDoesNotTakeAnAnswerIsLeft(t *testing.T) {
	for _, waits := range []string{"", "?wait=10m"} {
		t.Run("after waiting"+waits, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, l, s := piped(t)
				left := make(chan time.Time, 1)
				done := make(chan error, 1)
				go func() { done <- s.Serve(NewLimiter(10).Wrap(&leaving{l, left})) }()
				conn, head := l.dial(), "Host: x\r\nAuthorization: Bearer "+tokenA+"\r\n"
				if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\n"+head+"\r\n"); err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Read(make([]byte, 1<<10)); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				body := `{"executor":"ask","args":{}}`
				if _, err := fmt.Fprintf(conn, "POST /v1/proposals%s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", waits, head, len(body), body); err != nil {
					t.Fatal(err)
				}
				took := (<-left).Sub(start)
				if waits != "" {
					took -= 10 * time.Minute
				}
				if took < answerWithin || took > answerWithin+clockEvery {
					t.Errorf("who does not take an answer is waited for for %s", took)
				}
				conn.Close()
				s.Close()
				<-done
			})
		})
	}
}

// TestAHandlerBoundsItsOwnWrites has a handler set a write deadline and lift it again.
func TestAHandlerBoundsItsOwnWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{make(chan net.Conn, 1), make(chan struct{})}
		here := l.dial()
		defer here.Close()
		conn, err := NewLimiter(10).Wrap(l).Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, tt := range []struct{ set, least, most time.Duration }{
			{time.Second, time.Second, time.Second},
			{0, answerWithin, answerWithin + clockEvery},
			{time.Hour, time.Hour, time.Hour},
		} {
			var until time.Time
			start := time.Now()
			if tt.set > 0 {
				until = start.Add(tt.set)
			}
			if err := conn.SetWriteDeadline(until); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a write that nobody takes: %v", err)
			}
			if took := time.Since(start); took < tt.least || took > tt.most {
				t.Errorf("with a bound of %s a write ends after %s", tt.set, took)
			}
		}
	})
}

// inBubble runs the server over pipes.
func inBubble(t *testing.T, run func(*gate, *pipes)) {
	t.Helper()
	ofBubble(t, func(_ *API, g *gate, l *pipes) { run(g, l) })
}

// ofBubble is inBubble for tests that need the API itself.
func ofBubble(t *testing.T, run func(*API, *gate, *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, api, l, s := piped(t)
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		run(api, g, l)
		s.Close()
		<-done
	})
}

func send(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	go func() { _, _ = io.WriteString(c, request) }()
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestSlowBodyIsRefused(t *testing.T) {
	inBubble(t, func(_ *gate, l *pipes) {
		start := time.Now()
		got := send(t, l.dial(), "POST /v1/proposals HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+
			"Authorization: Bearer "+tokenA+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		if !strings.HasPrefix(got, "HTTP/1.1 408 ") || time.Since(start) != bodyWithin {
			t.Errorf("after %s: %s", time.Since(start), got)
		}
	})
}

func TestSlowHeaderIsDropped(t *testing.T) {
	inBubble(t, func(_ *gate, l *pipes) {
		start := time.Now()
		send(t, l.dial(), "GET /healthz HTTP/1.1\r\nHost")
		if time.Since(start) != 10*time.Second {
			t.Errorf("held for %s", time.Since(start))
		}
	})
}

// TestLongPollOutlivesEveryDeadline fails if a read or write deadline of one request affects the
// next one or the wait.
func TestLongPollOutlivesEveryDeadline(t *testing.T) {
	inBubble(t, func(_ *gate, l *pipes) {
		c := l.dial()
		head := "Host: x\r\nAuthorization: Bearer " + tokenA + "\r\n"
		start := time.Now()
		got := send(t, c, "GET /healthz HTTP/1.1\r\n"+head+"\r\n"+
			"POST /v1/proposals?wait=10m HTTP/1.1\r\n"+head+"Connection: close\r\nContent-Type: application/json\r\n"+
			"Content-Length: 28\r\n\r\n{\"executor\":\"ask\",\"args\":{}}")
		if !strings.Contains(got, `"decision":"pending"`) || time.Since(start) != 10*time.Minute {
			t.Errorf("after %s: %s", time.Since(start), got)
		}
	})
}

// A refused caller cannot hold its connection by withholding a body that nobody wants, and a
// served one can use its connection again.
func TestWithheldBodyEndsTheConnection(t *testing.T) {
	for name, request := range map[string]string{
		"WithoutAToken": "POST /v1/proposals HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"NotWanted":     "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"Chunked":       "POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(_ *gate, l *pipes) {
				start := time.Now()
				if got := send(t, l.dial(), request); !strings.HasPrefix(got, "HTTP/1.1 ") {
					t.Errorf("got %q", got)
				}
				if took := time.Since(start); took > unreadWithin+time.Second {
					t.Errorf("the connection was held for %s", took)
				}
			})
		})
	}
}

func TestTheNextRequestHasItsOwnTime(t *testing.T) {
	inBubble(t, func(_ *gate, l *pipes) {
		c := l.dial()
		for range 3 {
			go func() { _, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") }()
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("%d %s %v", res.StatusCode, b, err)
			}
			_ = res.Body.Close()
			time.Sleep(bodyWithin + time.Second)
		}
		_ = c.Close()
	})
}
