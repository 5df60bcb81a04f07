package telegramtest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// errRefused is what a stopped platform gives.
const errRefused = syscall.ECONNREFUSED

// pipeListener is a network in memory: a bubble's time can pass while a
// connection waits.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr names the network in memory.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "telegramtest", Net: "pipe"} }
