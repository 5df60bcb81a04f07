package client

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// unix is the transport over the socket at the path. It speaks the little of
// HTTP/1.1 that the daemon answers with, by itself: a hook is started for every tool
// call, and what net/http links would be most of what that costs. A connection
// carries one exchange, so nothing that is left on it can be taken for an answer.
type unix struct{ path string }

// Close has nothing to close.
func (*unix) Close() {}

// Exchange speaks to the daemon.
func (u *unix) Exchange(ctx context.Context, m *Message) (*Reply, error) {
	head, err := requestHead(m)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", u.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	// Only the end of ctx ends a wait: reads and writes then fail at once.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	written := send(conn, head, m.Body)
	reply, err := readReply(bufio.NewReader(conn))
	// A daemon that refuses a request may do so before it has read all of it. That is
	// the only reply that half a request can have.
	if written != nil && (err != nil || reply.Status < statusFailure) {
		return nil, written
	}
	return reply, err
}

func send(conn net.Conn, head string, body []byte) error {
	_, err := conn.Write(append([]byte(head), body...))
	return err
}

// errRequest says nothing of what it refuses, which may be a secret.
var errRequest = errors.New("the request has a character that HTTP has no place for")

// requestHead is all of a request but its body.
func requestHead(m *Message) (string, error) {
	var b strings.Builder
	b.WriteString(m.Method + " " + m.Path + " HTTP/1.1\r\nHost: vaglio\r\nConnection: close\r\n")
	ok := token(m.Method) && strings.HasPrefix(m.Path, "/") && !strings.ContainsFunc(m.Path, notVisible)
	for _, f := range m.Header {
		ok = ok && token(f.Name) && fieldValue(f.Value)
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	if !ok {
		return "", errRequest
	}
	if m.Body != nil {
		b.WriteString("Content-Length: " + strconv.Itoa(len(m.Body)) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String(), nil
}
