package slacktest

import (
	"context"
	"net"
	"net/http"
)

// Start accepts connections, again with everything that the platform knows.
func (s *Server) Start() { s.network.Start(s) }

// Stop cuts every connection and refuses new ones. What people press in the meantime is
// lost.
func (s *Server) Stop() {
	s.network.Stop()
	s.Drop()
	s.working.Wait()
}

// Dial connects to the platform, whatever the address.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.network.Dial(ctx, network, address)
}

// Client returns a client whose every connection leads here, whatever the host.
func (s *Server) Client() *http.Client { return s.network.Client() }
