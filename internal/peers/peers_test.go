package peers

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestThePeerIsTheProcessThatConnected connects to itself.
func TestThePeerIsTheProcessThatConnected(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "p") //nolint:usetesting // The test's name would make the path too long.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, known := Of(With(t.Context(), in))
	if _, err := os.Stat("/proc/self/stat"); err == nil && (!known || p.PID != os.Getpid() || p.UID != uint32(os.Getuid())) {
		t.Errorf("the peer is %+v, %v, and we are %d of user %d", p, known, os.Getpid(), os.Getuid())
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if p, known := Of(With(t.Context(), a)); known {
		t.Errorf("what is not a socket has the peer %+v", p)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{out, &net.UnixConn{}} {
		if p, known := Of(With(t.Context(), c)); known {
			t.Errorf("what is not open has the peer %+v", p)
		}
	}
	file, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if p, err := ask(int(file.Fd())); err == nil {
		t.Errorf("a folder has the peer %+v", p)
	}
}
