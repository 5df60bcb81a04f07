package httpapi

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
)

// limited serves the API's health check on loopback under a limiter.
func limited(t *testing.T, connections int) (addr string) {
	t.Helper()
	api, err := New(config(newGate(), io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(api.Network(), slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- s.Serve(NewLimiter(connections).Wrap(l)) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// told is the answer on a connection.
type told struct {
	status     int
	retryAfter string
	closes     bool
}

// ask sends one request and reads the response.
func ask(c net.Conn) (told, error) {
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return told{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return told{}, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return told{resp.StatusCode, resp.Header.Get("Retry-After"), resp.Close}, err
}

func TestConnectionBeyondTheLimitIsToldSo(t *testing.T) {
	addr := limited(t, 1)
	first := dial(t, addr)
	if got, err := ask(first); err != nil || got.status != 200 {
		t.Fatalf("the first connection: %+v %v", got, err)
	}
	second := dial(t, addr)
	got, err := ask(second)
	if err != nil || got.status != 503 || got.retryAfter == "" || !got.closes {
		t.Fatalf("the second connection: %+v %v", got, err)
	}
	first.Close()
	for {
		// The place is free as soon as the server has noticed the close.
		got, err := ask(dial(t, addr))
		if err != nil {
			t.Fatal(err)
		}
		if got.status == 200 {
			return
		}
	}
}

func TestConnectionFarBeyondTheLimitIsClosed(t *testing.T) {
	addr := limited(t, 1)
	for range 1 + spare {
		dial(t, addr) // sends nothing and stays connected
	}
	// Connections are accepted in order, so the next one finds every place taken.
	if got, err := ask(dial(t, addr)); err == nil {
		t.Errorf("got %+v, want a closed connection", got)
	}
}

func TestCapacityLeavesDescriptors(t *testing.T) {
	for _, nofile := range []uint64{1, 64, 256, 1024, 20_000, 1 << 40} {
		connections, waiters := Capacity(nofile)
		if connections < 1 || waiters < 1 || waiters > connections || uint64(connections) > nofile {
			t.Errorf("%d descriptors: %d connections, %d waiters", nofile, connections, waiters)
		}
		if nofile >= 1024 && uint64(connections+spare) >= nofile {
			t.Errorf("%d descriptors: %d connections and %d spare leave none", nofile, connections, spare)
		}
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"dispatcher": func(c *Config) { c.Permits = nil },
		"tokens":     func(c *Config) { c.Tokens = nil },
		"ready":      func(c *Config) { c.Ready = nil },
		"log":        func(c *Config) { c.Log = nil },
		"waiters":    func(c *Config) { c.MaxWaiters = -1 },
	} {
		c := config(newGate(), io.Discard)
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
