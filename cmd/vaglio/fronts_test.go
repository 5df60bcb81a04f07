package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/race"
)

// TestAnAddressThatCannotBeHeardAt checks that the error names the setting and what would help.
func TestAnAddressThatCannotBeHeardAt(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	_, err = new(net.ListenConfig).Listen(context.Background(), "tcp", at)
	_, foreign := new(net.ListenConfig).Listen(context.Background(), "tcp", "192.0.2.1:0") // of documents, and of no machine
	for want, got := range map[string]error{
		at + " is taken by another program: stop it, or set METNOS_LISTEN to another address":                 cannotListen("METNOS_LISTEN", at, err),
		"METNOS_LISTEN: only root may listen at 127.0.0.1:80; take a port from 1024 on":                       cannotListen("METNOS_LISTEN", "127.0.0.1:80", syscall.EACCES),
		"METNOS_TLS_LISTEN: 192.0.2.1:0 is not an address of this machine; 'ip address' lists those that are": cannotListen("METNOS_TLS_LISTEN", "192.0.2.1:0", foreign),
		"METNOS_LISTEN: bad file descriptor":                                                                  cannotListen("METNOS_LISTEN", at, syscall.EBADF),
	} {
		if got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if r := newHome(t, "METNOS_LISTEN="+at).run("", "serve"); r.code == exitOK || !strings.Contains(r.err, at+" is taken by another program") {
		t.Errorf("the daemon: %+v", r)
	}
	far := newHome(t, "METNOS_TLS_LISTEN="+at, "METNOS_TLS_FROM=192.0.2.7")
	far.ownCertificate(1)
	far.env = append(far.env, "METNOS_TLS_CERT="+filepath.Join(far.dir, "cert.pem"), "METNOS_TLS_KEY="+filepath.Join(far.dir, "key.pem"))
	if r := far.run("", "serve"); r.code == exitOK || !strings.Contains(r.err, at+" is taken by another program: stop it, or set METNOS_TLS_LISTEN") {
		t.Errorf("the daemon for other machines: %+v", r)
	}
}

// TestASocketThatCannotBeMade checks that the daemon ends, and names the place.
func TestASocketThatCannotBeMade(t *testing.T) {
	t.Parallel()
	agents, owners := newHome(t), newHome(t)
	agents.env = []string{"METNOS_AGENT_SOCKET=" + filepath.Join(agents.dir, "none", "agent.sock")}
	if err := os.MkdirAll(filepath.Join(owners.data(datafolder.AdminSocket), "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, h := range map[string]*home{filepath.Join("none", "agent.sock"): agents, datafolder.AdminSocket: owners} {
		if r := h.run("", "serve"); r.code == exitOK || !strings.Contains(r.err, want) || strings.Contains(r.err, "panic") {
			t.Errorf("%s: %d %s", want, r.code, r.err)
		}
	}
}

// TestTheAddressLeadsToTheInbox checks what a browser that knows only the address is answered, and
// that nothing else is sent there.
func TestTheAddressLeadsToTheInbox(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for call, want := range map[string]int{"GET /": 303, "POST /": 404, "GET /inboxes": 404, "GET /telegram": 404, "GET /slack/events": 404} {
		method, path, _ := strings.Cut(call, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, s.base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if to := resp.Header.Get("Location"); resp.StatusCode != want || (to == "/inbox") != (want == 303) {
			t.Errorf("%s: %d, to %q; want %d", call, resp.StatusCode, to, want)
		}
	}
}

// TestWithoutAHome checks that every command that needs the home names the variable.
func TestWithoutAHome(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "HOME=relative")
	for _, line := range []string{"status", "install claude-code --yes", "uninstall claude-code --yes", "policy check x.yaml"} {
		if r := h.run("", strings.Fields(line)...); r.code != exitUsage || !strings.Contains(r.err, "HOME: must be set to the absolute path") {
			t.Errorf("%s: %d %s%s", line, r.code, r.out, r.err)
		}
	}
}
