package httpapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// names maps tokens to agents.
type names map[string]string

func (n names) Agent(token string) (string, bool) {
	name, ok := n[token]
	return name, ok
}

// users maps users to agents.
type users map[uint32]string

func (u users) Peer(uid uint32) (string, bool) {
	name, ok := u[uid]
	return name, ok
}

// TestTheSocketTellsUsersApart uses a real socket: a token wins, then the user that the kernel
// reports, and anybody else is nobody.
func TestTheSocketTellsUsersApart(t *testing.T) {
	own := uint32(os.Getuid())
	for _, tt := range []struct {
		name, token string
		peers       Peers
		agent       string
		status      int
	}{
		{"the-user", "", users{own: "deployer"}, "deployer", 200},
		{"a-token-first", "Bearer " + tokenB, users{own: "deployer"}, "b", 200},
		{"a-wrong-token-is-no-user", "Bearer x", users{own: "deployer"}, "", 401},
		{"another-user", "", users{own + 1: "deployer"}, "", 401},
		{"nobody-is-known", "", nil, "", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate()
			c := config(g, t.Output())
			c.Peers = tt.peers
			api, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := os.MkdirTemp("", "v") //nolint:usetesting // The test's name would make the path too long.
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			socket := filepath.Join(dir, "s")
			l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			s := NewServer(api.Local(), slog.New(slog.DiscardHandler))
			done := make(chan error, 1)
			go func() { done <- s.Serve(NewLimiter(10).Wrap(l)) }()
			t.Cleanup(func() { s.Close(); <-done })
			client := &http.Client{Transport: &http.Transport{
				DisableKeepAlives: true,
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", socket)
				},
			}}
			r, err := http.NewRequestWithContext(t.Context(), "POST", "http://vaglio/v1/proposals", strings.NewReader(callOK))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if tt.token != "" {
				r.Header.Set("Authorization", tt.token)
			}
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if who := fmt.Sprintf("no agent runs as user %d: ", own); err != nil || strings.Contains(string(body), who) != (tt.status == 401 && tt.token == "") {
				t.Errorf("it is told %s, %v", body, err)
			}
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if got := len(g.steps[tt.agent+"/t-1"]); (got == 1) != (tt.status == 200) {
				t.Errorf("%d steps are %q's: %v", got, tt.agent, g.steps)
			}
		})
	}
}
