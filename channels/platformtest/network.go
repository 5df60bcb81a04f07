// Package platformtest is what the fakes of chat platforms share: a network in memory, and
// trouble on demand.
package platformtest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Network leads to one server in memory, so that time in a synctest bubble can pass while a
// connection waits. The zero Network is stopped.
type Network struct {
	mu       sync.Mutex
	listener *listener
	server   *http.Server
	serving  sync.WaitGroup
}

// Start lets the handler serve connections, unless one already does.
func (n *Network) Start(h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listener != nil {
		return
	}
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	n.listener, n.server = l, server
	n.serving.Go(func() { _ = server.Serve(l) }) // it always ends with an error
}

// Stop cuts every connection and refuses new ones.
func (n *Network) Stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listener == nil {
		return
	}
	_ = n.server.Close() // its listener never fails
	n.serving.Wait()
	n.listener, n.server = nil, nil
}

// Dial connects to the server, whatever the address.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listener
	n.mu.Unlock()
	if l == nil {
		return nil, refused()
	}
	return l.dial(ctx)
}

// Client returns a client whose every connection leads to the server, whatever the host.
func (n *Network) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: n.Dial}}
}

func refused() error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} }

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, refused()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr names the network in memory.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "platformtest", Net: "pipe"} }
