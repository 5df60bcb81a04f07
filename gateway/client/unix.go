package client

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// unix is the transport over the socket at path. It implements the small part of HTTP/1.1
// that the daemon uses, because a hook starts with every tool call and linking net/http
// would be most of its cost. It keeps the last connection for the next exchange, provided
// that nothing is left on it that could be mistaken for an answer: a proxy asks about one
// call after another.
type unix struct {
	path string
	mu   sync.Mutex
	idle *kept
}

// kept is a connection on which the last reply was read completely.
type kept struct {
	net.Conn

	r     *bufio.Reader
	since time.Time
}

// idleFor is how long an idle connection is kept, which is shorter than the daemon keeps it.
const idleFor = time.Minute

// Close closes the idle connection.
func (u *unix) Close() {
	if c := u.take(); c != nil {
		_ = c.Close()
	}
}

// take returns the idle connection and forgets it; nil if there is none.
func (u *unix) take() *kept {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.idle
	u.idle = nil
	return c
}

// open returns a connection on which nothing unread is pending.
func (u *unix) open(ctx context.Context) (*kept, error) {
	if c := u.take(); c != nil {
		if time.Since(c.since) < idleFor && c.r.Buffered() == 0 && quiet(c.Conn) {
			return c, nil
		}
		_ = c.Close()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", u.path)
	if err != nil {
		return nil, err
	}
	return &kept{Conn: conn, r: bufio.NewReader(conn)}, nil
}

// keep keeps c for the next exchange, or closes it if another one is already kept.
func (u *unix) keep(c *kept) {
	c.since = time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.idle == nil {
		u.idle, c = c, nil
	}
	if c != nil {
		_ = c.Close()
	}
}

// Exchange sends one request to the daemon.
func (u *unix) Exchange(ctx context.Context, m *Message) (*Reply, error) {
	head, err := requestHead(m)
	if err != nil {
		return nil, err
	}
	c, err := u.open(ctx)
	if err != nil {
		return nil, err
	}
	// Only the end of ctx ends a wait. Reads and writes then fail at once.
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	written := send(c, head, m.Body)
	reply, err := readReply(c.r)
	if whole := stop() && written == nil && err == nil && !reply.last; whole {
		u.keep(c)
	} else {
		_ = c.Close()
	}
	// A daemon may refuse a request before it has read all of it. No other reply to a partial
	// request is trusted.
	if written != nil && (err != nil || reply.Status < statusFailure) {
		return nil, written
	}
	return reply, err
}

func send(conn net.Conn, head, body []byte) error {
	_, err := conn.Write(append(head, body...)) // head has capacity for both.
	return err
}

// errRequest does not quote what it refuses, which may be a secret.
var errRequest = errors.New("the request contains a character that HTTP does not allow")

// requestHead returns everything of a request but its body, with capacity for the body.
func requestHead(m *Message) ([]byte, error) {
	const usual = 256
	b := make([]byte, 0, usual+len(m.Body))
	put := func(parts ...string) {
		for _, p := range parts {
			b = append(b, p...)
		}
	}
	put(m.Method, " ", m.Path, " HTTP/1.1\r\nHost: vaglio\r\n")
	ok := token(m.Method) && strings.HasPrefix(m.Path, "/") && !strings.ContainsFunc(m.Path, notVisible)
	for _, f := range m.Header {
		ok = ok && token(f.Name) && fieldValue(f.Value)
		put(f.Name, ": ", f.Value, "\r\n")
	}
	if !ok {
		return nil, errRequest
	}
	if m.Body != nil {
		put("Content-Length: ", strconv.Itoa(len(m.Body)), "\r\n")
	}
	put("\r\n")
	return b, nil
}
