package shop

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestTotal(t *testing.T) {
	for number, want := range map[int]int{0: 0, 1: 100, 9: 900, 10: 900, 20: 1800} {
		if got := Total(100, number); got != want {
			t.Errorf("%d cost %d, not %d", number, got, want)
		}
	}
}

// TestServes needs what tests of projects need: files, a loopback, Unix sockets.
func TestServes(t *testing.T) {
	if err := os.WriteFile("report.txt", []byte("ok"), 0o600); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	c, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
