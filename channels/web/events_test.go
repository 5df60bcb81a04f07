package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// streamed is the reader's end of a stream of events.
type streamed struct {
	lines  *bufio.Scanner
	cancel context.CancelFunc
	done   chan struct{}
	header http.Header
}

// pipeWriter is a response that is written to a pipe immediately.
type pipeWriter struct {
	*httptest.ResponseRecorder
	w io.Writer
}

func (p pipeWriter) Write(b []byte) (int, error) { return p.w.Write(b) }

func (p pipeWriter) WriteString(s string) (int, error) { return io.WriteString(p.w, s) }

// listen opens a stream of events without a network, so that it works in a bubble.
func (in *inbox) listen() *streamed {
	in.Helper()
	ctx, cancel := context.WithCancel(in.Context())
	r, w := io.Pipe()
	rec := httptest.NewRecorder()
	s := &streamed{lines: bufio.NewScanner(r), cancel: cancel, done: make(chan struct{}), header: rec.Header()}
	req := in.request(http.MethodGet, "/inbox/events", nil).WithContext(ctx)
	go func() {
		defer close(s.done)
		in.h.ServeHTTP(pipeWriter{rec, w}, req)
		w.Close()
	}()
	in.Cleanup(func() { cancel(); r.Close(); <-s.done })
	return s
}

// message returns the next message without its empty line, or "" at the end.
func (s *streamed) message() string {
	var lines []string
	for s.lines.Scan() {
		if s.lines.Text() == "" {
			break
		}
		lines = append(lines, s.lines.Text())
	}
	return strings.Join(lines, "|")
}

func TestEventsTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		in := newInbox(t, d).signIn()
		s := in.listen()
		if got := s.message(); got != "retry: 2000|event: tick|data: {}" {
			t.Errorf("first: %q", got)
		}
		if got := s.header.Get("Content-Type") + s.header.Get("X-Accel-Buffering") + s.header.Get("Cache-Control"); got != "text/event-stream; charset=utf-8nono-store" {
			t.Errorf("header: %q", got)
		}
		d.open("rmbuild1", proposal("make"))
		if got := s.message(); got != "event: tick|data: {}" {
			t.Errorf("after a change: %q", got)
		}
		synctest.Wait()
		before := time.Now()
		if got := s.message(); got != ": beat" || time.Since(before) != 15*time.Second {
			t.Errorf("in silence: %q after %v", got, time.Since(before))
		}
		in.web.Stop()
		in.web.Stop()
		if got := s.message(); got != "" {
			t.Errorf("after Stop: %q", got)
		}
		<-s.done
		if rec := in.get("/inbox/events"); rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
			t.Errorf("a stream that begins after Stop: got %d", rec.Code)
		}
		synctest.Wait()
		if n := len(d.watchers); n != 0 {
			t.Errorf("%d watchers stay", n)
		}
	})
}

func TestEventsEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		time.Sleep(30*24*time.Hour - time.Minute)
		s := in.listen()
		n := 0
		for n < 9 && s.message() != "" {
			n++
		}
		if n < 3 || n > 5 {
			t.Errorf("%d messages in the last minute", n)
		}
		<-s.done
	})
}

func TestEventsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		var all []*streamed
		for range 64 {
			s := in.listen()
			s.message()
			all = append(all, s)
		}
		rec := in.get("/inbox/events")
		if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
			t.Errorf("the sixty-fifth: got %d", rec.Code)
		}
		all[0].cancel()
		<-all[0].done
		if got := in.listen().message(); !strings.HasPrefix(got, "retry:") {
			t.Errorf("a place that was left is not free: %.40q", got)
		}
	})
}

// TestEventsOverTheNetwork checks that the stream also works over a real connection, and
// does not delay a server's shutdown.
func TestEventsOverTheNetwork(t *testing.T) {
	d := newDesk()
	in := newInbox(t, d).signIn()
	s := httptest.NewServer(in.h)
	s.Config.RegisterOnShutdown(in.web.Stop)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/inbox/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(in.cookie)
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "event: tick" {
		continue
	}
	d.open("rmbuild1", proposal("make"))
	for lines.Scan() && lines.Text() != "event: tick" {
		continue
	}
	if err := s.Config.Shutdown(t.Context()); err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	for lines.Scan() {
		continue
	}
	s.Close()
}
