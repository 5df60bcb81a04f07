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

// NewServer returns an HTTP server for h with limits for a process that holds requests for as
// long as people take: headers and idle connections time out, handlers do not. It speaks
// HTTP/1.1 and HTTP/2, negotiated over TLS or, without TLS, with prior knowledge. Its
// listeners should come from a [Limiter].
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

// unreadWithin is how long the server reads a body that no handler wants.
const unreadWithin = 5 * time.Second

// impatient bounds how long a request's body may take. A handler that refuses a request leaves
// its body unread, and the server then reads it to the end before it answers, for which there
// would be no time limit. A handler that wants the body extends the deadline, and lifts it
// once the body has arrived. A request without a body may be held for as long as people take:
// the server then reads from its connection only to notice that it was closed.
func impatient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// The server lifts the deadline before the connection's next request.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadWithin))
		}
		h.ServeHTTP(w, r)
	})
}

// extraConn marks the context of a connection beyond the limit.
type extraConn struct{}

// turnAway answers requests on a connection beyond the limit with a refusal, and closes it.
func turnAway(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(extraConn{}) == nil {
			h.ServeHTTP(w, r)
			return
		}
		turnedAway(w, r)
	})
}

// turnedAway must not be inlined: waiting requests have no room for its frame on their stacks.
//
//go:noinline
func turnedAway(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	x := &exchange{w: w, r: r}
	x.fail(tooMany())
}

// spare is how many connections beyond the limit are accepted only to be told so.
const spare = 256

// Capacity returns how many connections and waiting requests fit in a process that may open
// nofile descriptors.
func Capacity(nofile uint64) (connections, waiters int) {
	const others = 256 // files, sockets to channels, the runtime's own
	n := min(nofile, 1<<20)
	connections = int(n) - others - spare
	if connections < 64 {
		connections = max(int(n)/4, 1)
	}
	return connections, max(connections-connections/16, 1)
}

// Limiter bounds the open connections of a process over all its listeners. Once a process runs
// out of descriptors, its accept loops sleep and callers hang without an error. A limiter
// stays below that, so that the next caller gets an answer.
type Limiter struct {
	max  int64
	open atomic.Int64
	// began is the origin of its clock, which is monotonic.
	began time.Time
}

// NewLimiter returns a limiter of the given number of connections.
func NewLimiter(connections int) *Limiter {
	return &Limiter{max: int64(connections), began: time.Now()}
}

// Wrap returns l under the limit. It accepts and marks a few connections beyond the limit, for
// the server to turn away, and closes any more.
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
			_ = c.Close() // nothing was exchanged on it
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
	// bounded is the write deadline that Write has set, by the limiter's clock; 0 if there is
	// none, theirs if a handler has set its own.
	bounded atomic.Int64
}

// theirs is a deadline later than any.
const theirs = math.MaxInt64

// clockEvery limits how often Write moves a connection's deadline.
const clockEvery = time.Second

// Write gives the client at least [answerWithin] to take b, and at most [clockEvery] more, so
// that it need not move the deadline for each answer.
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

// SetWriteDeadline sets a handler's own deadline. It holds until the handler lifts it.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	c.note(t)
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets a handler's own deadline for reading and writing.
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

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	c.once.Do(func() { c.limiter.open.Add(-1) })
	return c.Conn.Close()
}
