// Package peers asks the kernel who is at the other end of a local socket.
package peers

import (
	"context"
	"errors"
	"net"
)

// Peer is the process that connected, as it was when it did.
type Peer struct {
	UID uint32
	// PID is 0 where the system does not show it.
	PID int
}

// key is where a connection's context has its peer.
type key struct{}

// With adds to a connection's context who is at its other end, where the system
// tells.
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

// Of returns who is at the other end of the connection with that context.
func Of(ctx context.Context) (p Peer, known bool) {
	p, known = ctx.Value(key{}).(Peer)
	return p, known
}

// of asks the kernel who connected. What it tells is in [ask], for each system.
func of(c *net.UnixConn) (p Peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return p, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { p, failed = ask(int(fd)) })
	return p, errors.Join(err, failed)
}
