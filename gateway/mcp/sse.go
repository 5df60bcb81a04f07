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
	// odd is called for what is not one message, ended when the client has it all; nil does nothing.
	odd, ended func()
	kept       []byte
	// begun says that the stream has begun, cr that a carriage return has ended its last line.
	begun, cr bool
	// data is the data of the current event so far.
	data []byte
	lost bool // too much to keep
}

// newWatcher returns a watcher of an answer that can hold messages, nil for any other.
func newWatcher(resp *http.Response, note func(jsonrpc.Message)) *watcher {
	kind := strings.ToLower(resp.Header.Get("Content-Type")) // some clients look for these anywhere in it
	events := strings.Contains(kind, "text/event-stream")
	if !events && !strings.Contains(kind, "application/json") {
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
func (w *watcher) Close() error {
	if w.ended != nil {
		w.ended()
	}
	return w.body.Close()
}

func (w *watcher) take(part []byte) {
	if len(w.kept)+len(w.data)+len(part) > jsonrpc.MaxLine {
		w.kept, w.data, w.lost = nil, nil, true
	}
	if w.lost {
		return
	}
	if w.cr && len(part) > 0 {
		part, w.cr = bytes.TrimPrefix(part, []byte("\n")), false
	}
	w.kept = append(w.kept, part...)
	if !w.events {
		return
	}
	for {
		end := bytes.IndexAny(w.kept, "\r\n")
		if end < 0 {
			return
		}
		line, rest := w.kept[:end], w.kept[end+1:]
		if w.kept[end] == '\r' {
			w.cr = len(rest) == 0
			rest = bytes.TrimPrefix(rest, []byte("\n"))
		}
		if !w.begun {
			line, w.begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
		}
		w.line(line)
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
	switch m, err := jsonrpc.Parse(data); {
	case w.lost:
	case err == nil:
		w.note(m)
	case w.odd != nil:
		w.odd()
	}
}
