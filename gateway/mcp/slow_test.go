package mcp

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// one is a listener with one connection.
type one struct{ conns chan net.Conn }

func (o *one) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (o *one) Close() error {
	close(o.conns)
	return nil
}

func (o *one) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A client cannot hold a connection for more than ten seconds with a header that never ends.
func TestAHeaderThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		l := &one{make(chan net.Conn, 1)}
		l.conns <- there
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- ServeHTTP(ctx, Options{Gate: newGate(), Log: io.Discard}, l, "http://127.0.0.1:1/mcp")
		}()
		began := time.Now()
		go func() { _, _ = io.WriteString(here, "POST /mcp HTTP/1.1\r\nHost: ") }()
		said, err := io.ReadAll(here)
		if took := time.Since(began); err != nil || took != 10*time.Second || strings.Contains(string(said), " 200 ") {
			t.Errorf("after %s: %q, %v", took, said, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
