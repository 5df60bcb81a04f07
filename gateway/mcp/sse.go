package mcp

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/metnos/vaglio/gateway/jsonrpc"
)

// stream is the answer to a call. It begins when the call is held: the headers are sent at
// once, so that no client takes the silence for a failure.
type stream struct {
	w http.ResponseWriter
	// events says that the client accepts a stream of events.
	events bool
	mu     sync.Mutex
	opened bool
}

func (s *stream) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened || !s.events {
		return
	}
	s.opened = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.write(": held\n\n")
}

// send writes one message; a nil message is only a sign of life.
func (s *stream) send(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.opened:
	case message == nil:
		s.write(": held\n\n")
	default:
		s.write(event(message))
	}
}

// finish answers the call, in the stream if one was opened.
func (s *stream) finish(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		s.write(event(message))
		return
	}
	s.w.Header().Set("Content-Type", "application/json")
	_, _ = s.w.Write(message) //nolint:gosec // It is JSON, and says so.
}

// copy forwards the server's own stream as it arrives.
func (s *stream) copy(r io.Reader) {
	part := make([]byte, partSize)
	for {
		n, err := r.Read(part)
		if n > 0 {
			s.write(string(part[:n]))
		}
		if err != nil {
			return
		}
	}
}

// write writes to the client. If the client is gone, its request ends.
func (s *stream) write(text string) {
	_, _ = io.WriteString(s.w, text) //nolint:gosec // It is a stream of events, and says so.
	_ = http.NewResponseController(s.w).Flush()
}

// event encodes a message as a server-sent event, with one data line per line.
func event(message []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(bytes.TrimSpace(message)), "\r", " "), "\n")
	return "event: message\ndata: " + strings.Join(lines, "\ndata: ") + "\n\n"
}

// watcher reads an answer on behalf of the client and inspects the messages in it.
type watcher struct {
	body   io.ReadCloser
	events bool
	note   func(jsonrpc.Message)
	kept   []byte
	// data is the data of the current event so far.
	data []byte
	lost bool // too much to keep
}

// newWatcher returns a watcher of an answer that can hold messages, nil for any other.
func newWatcher(resp *http.Response, note func(jsonrpc.Message)) *watcher {
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	events := strings.HasPrefix(kind, "text/event-stream")
	if !events && !strings.HasPrefix(kind, "application/json") {
		return nil
	}
	return &watcher{body: resp.Body, events: events, note: note}
}

// Read reads on, and inspects the messages that are complete.
func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.take(p[:n])
	if err != nil {
		if !w.events {
			w.message(w.kept)
		}
		w.kept = nil
	}
	return n, err //nolint:wrapcheck // It stands in for the body.
}

// Close closes the answer.
func (w *watcher) Close() error { return w.body.Close() }

func (w *watcher) take(part []byte) {
	if len(w.kept)+len(w.data)+len(part) > jsonrpc.MaxLine {
		w.kept, w.data, w.lost = nil, nil, true
	}
	if w.lost {
		return
	}
	w.kept = append(w.kept, part...)
	if !w.events {
		return
	}
	for {
		line, rest, whole := bytes.Cut(w.kept, []byte("\n"))
		if !whole {
			return
		}
		w.line(bytes.TrimSuffix(line, []byte("\r")))
		w.kept = rest
	}
}

// line handles one line of a stream of events.
func (w *watcher) line(line []byte) {
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		w.data = append(append(w.data, bytes.TrimPrefix(data, []byte(" "))...), '\n')
		return
	}
	if len(line) == 0 && len(w.data) > 0 {
		w.message(w.data)
		w.data = nil
	}
}

func (w *watcher) message(data []byte) {
	if m, err := jsonrpc.Parse(data); err == nil && !w.lost {
		w.note(m)
	}
}
