package mcp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/metnos/vaglio/gateway/jsonrpc"
)

// A stream begins when it is opened, once, and only for clients that accept events; for others the
// answer is plain JSON.
func TestStreams(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		events bool
		does   func(s *stream)
		want   string
		kind   string
	}{
		"never opened":  {true, func(s *stream) { s.send([]byte(`{}`)); s.finish([]byte(`{"a":1}`)) }, `{"a":1}`, "application/json"},
		"no events":     {false, func(s *stream) { s.open(); s.send(nil); s.finish([]byte(`{"a":1}`)) }, `{"a":1}`, "application/json"},
		"opened twice":  {true, func(s *stream) { s.open(); s.open(); s.finish([]byte(`{"a":1}`)) }, ": held\n\nevent: message\ndata: {\"a\":1}\n\n", "text/event-stream"},
		"told":          {true, func(s *stream) { s.open(); s.send(nil); s.send([]byte("{\n\r}\n")); s.finish([]byte(`1`)) }, ": held\n\n: held\n\nevent: message\ndata: {\ndata:  }\n\nevent: message\ndata: 1\n\n", "text/event-stream"},
		"the server's":  {true, func(s *stream) { s.open(); s.copy(iotest.OneByteReader(strings.NewReader("data: x\n\n"))) }, ": held\n\ndata: x\n\n", "text/event-stream"},
		"its last part": {true, func(s *stream) { s.open(); s.copy(iotest.DataErrReader(strings.NewReader("x"))) }, ": held\n\nx", "text/event-stream"},
	} {
		w := httptest.NewRecorder()
		tc.does(&stream{w: w, events: tc.events})
		if got := w.Body.String(); got != tc.want || w.Header().Get("Content-Type") != tc.kind {
			t.Errorf("%s: %q as %s", name, got, w.Header().Get("Content-Type"))
		}
	}
}

// A watcher passes on what it reads, and notes each message once it is complete, however it is
// split.
func TestWatchers(t *testing.T) {
	t.Parallel()
	const message, other = `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`
	half, rest := message[:17], message[17:]
	for name, tc := range map[string]struct{ kind, body, want string }{
		"JSON":              {"application/json; charset=utf-8", message, "1"},
		"upper case":        {"Application/JSON", message, "1"},
		"another kind":      {"text/plain", message, "none"},
		"no kind":           {"", message, "none"},
		"JSON in lines":     {"application/json", half + "\n" + rest + "\n", "1"},
		"broken":            {"application/json", half, ""},
		"an event":          {"text/event-stream", "data: " + message + "\n\n", "1"},
		"without a blank":   {"Text/Event-Stream", "data:" + message + "\n\n", "1"},
		"carriage returns":  {"text/event-stream", "data: " + message + "\r\n\r\n", "1"},
		"more data":         {"text/event-stream", "data: " + half + "\r\ndata: " + rest + "\r\n\r\n", "1"},
		"returns alone":     {"text/event-stream", "data: " + message + "\r\r", "1"},
		"mixed ends":        {"text/event-stream", ": x\r\ndata: " + half + "\rdata: " + rest + "\n\r\n", "1"},
		"behind a mark":     {"text/event-stream", "\ufeffdata: " + message + "\n\n", "1"},
		"among kinds":       {"text/plain; x=text/event-stream", "data: " + message + "\n\n", "1"},
		"of several lines":  {"text/event-stream", "id: 3\ndata: " + half + "\ndata: " + rest + "\nretry: 1\n\n", "1"},
		"parts between":     {"text/event-stream", "data: " + half + "\nid: 3\n: x\ndata: " + rest + "\n\n", "1"},
		"two":               {"text/event-stream", ": x\n\ndata: " + message + "\n\n\ndata: " + other + "\n\n", "1 2"},
		"that does not end": {"text/event-stream", "data: " + message + "\n", ""},
		"of two messages":   {"text/event-stream", "data: " + message + "\ndata: " + other + "\n\n", ""},
	} {
		for _, in := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader, iotest.HalfReader} {
			resp := &http.Response{Header: http.Header{"Content-Type": {tc.kind}}, Body: io.NopCloser(in(strings.NewReader(tc.body)))}
			var noted []string
			w := newWatcher(resp, func(m jsonrpc.Message) { noted = append(noted, strings.TrimPrefix(m.ID.Key(), `"`)) })
			if w == nil {
				noted = []string{"none"}
			} else if got, err := io.ReadAll(w); err != nil || string(got) != tc.body || w.Close() != nil {
				t.Errorf("%s: %q was handed on, %v", name, got, err)
			}
			if got := strings.Join(noted, " "); got != tc.want {
				t.Errorf("%s: noted %q, want %q", name, got, tc.want)
			}
		}
	}
}

// Data that is too long to keep is passed on but not noted. Nor is what follows it, because it is
// unknown where the next message begins.
func TestWatchersKeepSoMuch(t *testing.T) {
	t.Parallel()
	const message = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for more, want := range map[int]int{0: 1, 1: 0} {
		noted := 0
		w := &watcher{body: io.NopCloser(iotest.ErrReader(errors.New("broken"))), note: func(jsonrpc.Message) { noted++ }}
		w.take([]byte(strings.Repeat(" ", jsonrpc.MaxLine-len(message)+more)))
		w.take([]byte(message))
		if _, err := w.Read(nil); err == nil {
			t.Error("the body's error is lost")
		}
		if noted != want {
			t.Errorf("of a message with %d bytes more than are kept %d are noted", more, noted)
		}
		if w.events = true; more > 0 {
			w.take([]byte("\n\ndata: " + message + "\n\n"))
		}
		if noted != want {
			t.Error("what follows is noted")
		}
	}
}
