package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Only this machine's own clients are served, and no web page of another host.
func TestLocalRequests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		host, origin string
		want         bool
	}{
		{"127.0.0.1:80", "", true},
		{"127.0.0.1", "", true},
		{"localhost:1", "", true},
		{"[::1]:80", "", true},
		{"[::1]", "", true},
		{"example.org:80", "", false},
		{"127.0.0.1.example.org", "", false},
		{"127.0.0.1:80", "http://127.0.0.1:80", true},
		{"127.0.0.1:80", "http://127.0.0.1:81", false},
		{"127.0.0.1:80", "http://localhost:80", false},
		{"127.0.0.1:80", "null", false},
		{"127.0.0.1:80", "http://%zz", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = tc.host
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		if got := local(r); got != tc.want {
			t.Errorf("to %s from %q: %v", tc.host, tc.origin, got)
		}
	}
}

// Headers must agree with the message.
func TestHeadersOfMessages(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"a": "a", "=?base64?" + base64.StdEncoding.EncodeToString([]byte("é")) + "?=": "é", "=?base64?YQ==": "=?base64?YQ==", "YQ==?=": "YQ==?=", "=?base64?*?=": "=?base64?*?=",
	} {
		if got := decoded(value); got != want {
			t.Errorf("%s is %q", value, got)
		}
	}
	for _, tc := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{"application/json"}, false},
		{[]string{"text/event-stream;q=1, x/y"}, true},
		{[]string{"a/b", "*/*"}, true},
	} {
		if got := accepts(&http.Request{Header: http.Header{"Accept": tc.lines}}, "text/event-stream"); got != tc.want {
			t.Errorf("%q takes events: %v", tc.lines, got)
		}
	}
	for params, want := range map[string]bool{`{"uri":"a"}`: true, `{"uri":"b"}`: false, `{"name":"a"}`: false, `{"uri":1}`: false, `[]`: false, `{"uri":"a","URI":"a"}`: false} {
		m := jsonrpc.Message{Method: "resources/read", Params: strictjson.Value(params)}
		if why := mismatch(http.Header{"Mcp-Name": {"a"}}, m); (why == "") != want {
			t.Errorf("%s: %s", params, why)
		}
	}
	if why := mismatch(http.Header{"Mcp-Method": {"x", "x"}}, jsonrpc.Message{Method: "x"}); why == "" {
		t.Error("two methods are taken for one")
	}
	a, b := &http.Request{RemoteAddr: "1:2", Header: http.Header{}}, &http.Request{RemoteAddr: "1:2", Header: http.Header{"Mcp-Session-Id": {"s"}}}
	c := &http.Request{RemoteAddr: "3:4", Header: b.Header}
	if callKey(a, "1") == callKey(b, "1") || callKey(b, "1") != callKey(c, "1") || callKey(b, "1") == callKey(b, "2") {
		t.Error("calls are not named by their session")
	}
}

// A request without a path goes to the server's own path, and no connection is upgraded.
func TestRequestsAreAimed(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "x", "http://", "://x", "http://%zz"} {
		if _, err := NewHandler(Options{Pins: pins{}}, bad); err == nil {
			t.Errorf("%q is taken for a server", bad)
		}
	}
	h, err := NewHandler(Options{Pins: pins{}}, "https://up.example:8443/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": "/mcp", "/": "/mcp", "/x": "/x"} {
		r := &http.Request{URL: &url.URL{Path: path}, Header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}, "Accept-Encoding": {"gzip"}, "Kept": {"1"}}}
		if h.aim(r); r.URL.String() != "https://up.example:8443"+want || r.Host != "up.example:8443" || len(r.Header) != 1 {
			t.Errorf("%q goes to %s as %s with %v", path, r.URL, r.Host, r.Header)
		}
	}
	for address, want := range map[string]string{
		"https://up.example:8443/m?x#y": "http://here/m?x#y", "https://up.example:8443": "http://here", "http://up.example:8443/m": "", "https://up.example/m": "",
		"https://u@up.example:8443/m": "", "HTTPS://up.example:8443/m": "", "https://%zz": "",
	} {
		got, ok := h.own(address, "here")
		if got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", address, got, ok)
		}
		if _, ok := h.own(address, ""); ok {
			t.Errorf("%s is the address of a proxy without one", address)
		}
	}
}

// Pins keep a limited number of descriptions per tool, the newest, and nothing fits if the file
// cannot be read or written.
func TestPinsOfTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dir = filepath.Join(dir, "mcp")
	p := NewFilePins(dir, "a")
	for digest := range strings.FieldsSeq("0 1 2 3 4 5 6 7 8 8") {
		p.Accept("x", digest)
	}
	p = NewFilePins(dir, "a")
	for digest, want := range map[string]bool{"0": false, "1": true, "8": true, "9": false} {
		if p.Fits("x", digest) != want {
			t.Errorf("form %s fits: %v", digest, !want)
		}
	}
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("others may look into the folder: %v, %v", i.Mode(), err)
	}
	stays := p
	files, err := filepath.Glob(dir + "/*.json")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	stamp := func() os.FileInfo {
		t.Helper()
		i, err := os.Lstat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	before := stamp()
	p.Meet(map[string]string{"x": "9"})
	if p.Accept("x", "8"); !os.SameFile(before, stamp()) {
		t.Error("the file is written though nothing is new")
	}
	if err := os.Remove(files[0]); err != nil || !stays.Fits("x", "8") {
		t.Errorf("what was read once is read again: %v", err)
	}
	for text, fits := range map[string]bool{`{"tools":{"x":["1"]}}`: true, `{}`: false, `{"tools":`: false, `{"tools":{"x":["1"]},"more":1}`: false} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p = NewFilePins(dir, "a")
		if p.Fits("x", "1") != fits {
			t.Errorf("%s fits: %v", text, !fits)
		}
		p.Accept("x", "2")
		kept, err := os.ReadFile(files[0])
		if unread := !strings.HasSuffix(text, "}}") && text != "{}" || strings.Contains(text, "more"); err != nil || unread != (string(kept) == text) || unread == p.Fits("x", "2") {
			t.Errorf("%s became %s, %v", text, kept, err)
		}
	}
	for size, fits := range map[int64]bool{16 << 20: true, 16<<20 + 1: false} {
		text := `{"tools":{"x":["1"]}}`
		if err := errors.Join(os.WriteFile(files[0], []byte(text+strings.Repeat(" ", int(size)-len(text))), 0o600)); err != nil {
			t.Fatal(err)
		}
		if NewFilePins(dir, "a").Fits("x", "1") != fits {
			t.Errorf("a file of %d bytes fits: %v", size, !fits)
		}
	}
}

// A proxy on a listener serves until its context ends, and no longer.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		t.Helper()
		var c net.ListenConfig
		l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := listen()
	if err := ServeHTTP(t.Context(), Options{Pins: pins{}}, l, "no address"); err == nil {
		t.Error("a proxy stands before no server")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open: %v", err)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Up", "yes") }))
	defer up.Close()
	ctx, cancel := context.WithCancel(t.Context())
	l = listen()
	done := make(chan error, 1)
	go func() { done <- ServeHTTP(ctx, Options{Pins: pins{}}, l, up.URL) }()
	w := &web{t: t, base: "http://" + l.Addr().String()}
	if got := w.do(w.request(t.Context(), http.MethodGet, "")); got.header.Get("X-Up") != "yes" {
		t.Errorf("%+v", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	l = listen()
	l.Close()
	if err := ServeHTTP(t.Context(), Options{Pins: pins{}}, l, up.URL); !errors.Is(err, net.ErrClosed) {
		t.Errorf("on a closed listener: %v", err)
	}
}

// oneConn is a listener that accepts one connection.
type oneConn struct {
	net.Listener

	conns chan net.Conn
}

func (l oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l oneConn) Close() error { close(l.conns); return nil }

// A request that hangs does not keep the proxy from shutting down.
func TestServeHTTPLeavesWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		mine, theirs := net.Pipe()
		l := oneConn{conns: make(chan net.Conn, 1)}
		l.conns <- theirs
		done := make(chan error, 1)
		go func() { done <- ServeHTTP(ctx, Options{Pins: pins{}}, l, "http://127.0.0.1:1") }()
		if _, err := io.WriteString(mine, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(mine); err != nil || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Over HTTP, too, a client is known by its introduction, an id belongs to one call at a time, and
// an unreachable server is reported.
func TestHTTPCallsThatMeet(t *testing.T) {
	t.Parallel()
	w := newWeb(t, false)
	w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"codex-mcp-client"}}}`)
	if got, _ := w.h.clientName.Load().(string); got != "codex-mcp-client" {
		t.Errorf("the client is %q", got)
	}
	in := w.held(t.Context(), "Mcp-Session-Id", "s")
	if got := w.post(toolsCall("1", "ok"), "Mcp-Session-Id", "s"); got.status != http.StatusBadRequest || !strings.Contains(got.body, "not answered yet") {
		t.Errorf("%+v", got)
	}
	w.gate.deny("no")
	_, _ = io.ReadAll(in)
	if got := w.post(toolsCall("1", "ok"), "Mcp-Session-Id", "s"); !strings.Contains(got.body, ran) {
		t.Errorf("%+v", got)
	}
}

// An unexpected answer in place of a list or a result is reported to the operator or the client.
func TestHTTPStrangeServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list, call http.HandlerFunc
		log, want  string
	}{
		"no list": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, nil, "it answered with the status 418", "data: "},
		"another answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{}}`)
		}, nil, "it gave no list", "data: "},
		"no answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, "could not be listed", "data: "},
		"no result": {nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "", "the server answered with the status 418"},
		"a message": {nil, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
		}, "", "the server answered with the status 200"},
		"half a result": {nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}, "", "the server answered with the status 200"},
		"broken off": {nil, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "has not answered the call that was allowed as a-1", "whether it ran is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				list := strings.Contains(string(body), `"tools/list"`)
				switch {
				case list && tc.list != nil:
					tc.list(w, r)
				case !list && tc.call != nil:
					tc.call(w, r)
				default:
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, (&server{tools: aTool("hold", "")}).answer(string(body)))
				}
			}))
			defer up.Close()
			var said strings.Builder
			g := newGate()
			h, err := NewHandler(Options{Gate: g, Name: "srv", Pins: pins{}, Log: &said}, up.URL)
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(h)
			w := &web{t: t, gate: g, h: h, base: front.URL}
			in := w.held(t.Context())
			g.allow()
			rest, err := io.ReadAll(in)
			front.Close()
			if h.Close(); err != nil || !strings.Contains(string(rest), tc.want) || !strings.Contains(said.String(), tc.log) {
				t.Errorf("%v: %s\nthe operator reads %s", err, rest, said.String())
			}
		})
	}
}
