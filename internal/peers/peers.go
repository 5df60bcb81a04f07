// Package peers asks the kernel who is at the other end of a Unix socket connection.
package peers

import (
	"context"
	"errors"
	"net"
)

// Peer is the process that connected, as of the time it did.
type Peer struct {
	UID uint32
	// PID is 0 if the system does not report it.
	PID int
}

// key is the key of the peer in a connection's context.
type key struct{}

// With adds the peer of a connection to its context, if the system reports one.
func With(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	p, err := of(u)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, p)
}

// Of returns the peer of the connection with that context.
func Of(ctx context.Context) (p Peer, known bool) {
	p, known = ctx.Value(key{}).(Peer)
	return p, known
}

// of asks the kernel who connected. The part that depends on the system is in [ask].
func of(c *net.UnixConn) (p Peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return p, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { p, failed = ask(int(fd)) })
	return p, errors.Join(err, failed)
}
