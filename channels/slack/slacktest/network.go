package slacktest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// network is a network in memory: a bubble's time can pass while a connection
// waits.
type network struct {
	mu       sync.Mutex
	listener *pipeListener
	server   *http.Server
	serving  sync.WaitGroup
}

// Start takes connections, again with everything that the platform knows.
func (s *Server) Start() {
	n := &s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listener != nil {
		return
	}
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	n.listener, n.server = l, server
	n.serving.Go(func() { _ = server.Serve(l) }) // it always ends with an error
}

// Stop cuts every connection and refuses new ones. What people press meanwhile
// is lost.
func (s *Server) Stop() {
	n := &s.net
	n.mu.Lock()
	if n.listener != nil {
		_ = n.server.Close() // its listener knows no failure
		n.serving.Wait()
		n.listener, n.server = nil, nil
	}
	n.mu.Unlock()
	s.Drop()
	s.working.Wait()
}

// Dial connects to the platform, whatever the address.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.net.mu.Lock()
	l := s.net.listener
	s.net.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return l.dial(ctx)
}

// Client returns a client whose every connection leads here, whatever the host.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: s.Dial}}
}

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
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
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
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "slacktest", Net: "pipe"} }
