package httpapi

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// NewServer returns the HTTP server for h, with the limits that protect a
// process which holds requests for as long as people take: headers and idle
// connections are timed, answers are not. It speaks HTTP/1.1 and HTTP/2, which
// clients negotiate over TLS and start with elsewhere. Listeners should come from a
// [Limiter].
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           impatient(turnAway(h)),
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 1000},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secure, ok := c.(*tls.Conn); ok {
				c = secure.NetConn()
			}
			if lc, ok := c.(*limitedConn); ok && lc.extra {
				ctx = context.WithValue(ctx, extraConn{}, true)
			}
			return withPeer(ctx, c)
		},
	}
}

// unreadWithin bounds how long a body may take that nobody asks for.
const unreadWithin = 5 * time.Second

// impatient bounds how long a request's body may take. Whoever refuses a request
// leaves its body unread; the server then reads it to its end before it answers,
// and nobody else would end that wait. Whoever wants the body gives it more time,
// and lifts the bound when the body is there. A request without a body may be held for
// as long as people take: its connection is read only to notice its end.
func impatient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// The server lifts it again before the connection's next request.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadWithin))
		}
		h.ServeHTTP(w, r)
	})
}

// extraConn marks the context of a connection beyond the limit.
type extraConn struct{}

// turnAway answers what comes over a connection beyond the limit, and closes
// the connection.
func turnAway(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(extraConn{}) == nil {
			h.ServeHTTP(w, r)
			return
		}
		turnedAway(w, r)
	})
}

// turnedAway is by itself: a request that waits has no room for it on its stack.
//
//go:noinline
func turnedAway(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	c := &call{w: w, r: r}
	c.fail(tooMany())
}

// spare is how many connections beyond the limit are taken to be told so.
const spare = 256

// Capacity returns how many connections and how many waiting requests fit a
// process that may have nofile descriptors open.
func Capacity(nofile uint64) (connections, waiters int) {
	const others = 256 // files, sockets to channels, what the runtime keeps
	n := min(nofile, 1<<20)
	connections = int(n) - others - spare
	if connections < 64 {
		connections = max(int(n)/4, 1)
	}
	return connections, max(connections-connections/16, 1)
}

// Limiter bounds the open connections of one process, over all its listeners.
// At the descriptor limit an accept loop sleeps and callers hang without an
// error; a limiter keeps below it, so that the next caller gets an answer.
type Limiter struct {
	max  int64
	open atomic.Int64
	// began is where its clock begins, which nobody sets back.
	began time.Time
}

// NewLimiter returns a limiter for so many connections.
func NewLimiter(connections int) *Limiter {
	return &Limiter{max: int64(connections), began: time.Now()}
}

// Wrap returns l under the limit. A few connections beyond it are taken and
// marked, for the server to turn away; more are closed.
func (m *Limiter) Wrap(l net.Listener) net.Listener { return &limitedListener{Listener: l, limiter: m} }

type limitedListener struct {
	net.Listener

	limiter *Limiter
}

// Accept returns the next connection that can be answered.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := l.limiter.open.Add(1)
		if n > l.limiter.max+spare {
			l.limiter.open.Add(-1)
			_ = c.Close() // nothing was said on it
			continue
		}
		return &limitedConn{Conn: c, limiter: l.limiter, extra: n > l.limiter.max}, nil
	}
}

type limitedConn struct {
	net.Conn

	limiter *Limiter
	extra   bool
	once    sync.Once
	// bounded is until when what is written must be taken, by the limiter's clock; 0
	// where nothing says so, and theirs where a handler said it itself.
	bounded atomic.Int64
}

// theirs is an end that no moment comes near.
const theirs = math.MaxInt64

// clockEvery is how often a connection's clock is set, if need be.
const clockEvery = time.Second

// Write gives who takes what is written [answerWithin] for it at least, and little more:
// the clock is not set for each answer.
func (c *limitedConn) Write(b []byte) (int, error) {
	least := time.Since(c.limiter.began) + answerWithin
	if int64(least) > c.bounded.Load() {
		c.bounded.Store(int64(least + clockEvery))
		if err := c.Conn.SetWriteDeadline(c.limiter.began.Add(least + clockEvery)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}

// SetWriteDeadline bounds what a handler writes. It holds until the handler lifts it.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	c.note(t)
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline bounds what is read, too.
func (c *limitedConn) SetDeadline(t time.Time) error {
	c.note(t)
	return c.Conn.SetDeadline(t)
}

func (c *limitedConn) note(t time.Time) {
	if t.IsZero() {
		c.bounded.Store(0)
	} else {
		c.bounded.Store(theirs)
	}
}

// Close closes the connection and gives its place back.
func (c *limitedConn) Close() error {
	c.once.Do(func() { c.limiter.open.Add(-1) })
	return c.Conn.Close()
}
