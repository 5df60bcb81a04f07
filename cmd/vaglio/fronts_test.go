package main

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"

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
