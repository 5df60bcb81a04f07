package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
)

// web is a proxy to an HTTP server; events makes the server answer with a stream.
type web struct {
	t      *testing.T
	gate   *gate
	server *server
	up     *httptest.Server
	base   string
	seen   chan http.Header
	log    logged
	h      *Handler
}

// logged receives the lines that a proxy logs.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func newWeb(t *testing.T, events bool) *web {
	t.Helper()
	w := &web{t: t, gate: newGate(), server: &server{}, seen: make(chan http.Header, 64), log: make(logged, 64)}
	w.server.describe(aTool("ok", ""), aTool("ok_more", ""), aTool("hold", ""), aTool("no", ""))
	w.up = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.seen <- r.Header
		answer := w.server.answer(string(body))
		switch {
		case r.URL.Path != "/mcp":
			http.NotFound(rw, r)
		case r.Method == http.MethodGet:
			rw.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(rw, "id: 7\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/tools/list_changed\"}\n\n")
		case answer == "":
			rw.WriteHeader(http.StatusAccepted)
		case events:
			rw.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(rw, "id: 1\ndata: %s\n\n", answer)
		default:
			rw.Header().Set("Content-Type", "application/json; charset=utf-8")
			rw.Header().Set("X-Kept", "yes")
			io.WriteString(rw, answer)
		}
	}))
	t.Cleanup(w.up.Close)
	h, err := NewHandler(Options{Gate: w.gate, Name: "srv", Pins: pins{}, Log: w.log}, w.up.URL+"/mcp")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	t.Cleanup(h.Close)
	t.Cleanup(front.Close)
	w.base, w.h = front.URL, h
	return w
}

// webBefore returns a proxy before a server of a test's own.
func webBefore(t *testing.T, up *httptest.Server) (*web, *Handler) {
	t.Helper()
	w := &web{t: t, gate: newGate()}
	h, err := NewHandler(Options{Gate: w.gate, Name: "srv", Pins: pins{}}, up.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	t.Cleanup(up.Close)
	t.Cleanup(h.Close)
	t.Cleanup(front.Close)
	w.base = front.URL
	return w, h
}

func (w *web) request(ctx context.Context, method, body string, headers ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.base+"/mcp", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// reply is a complete answer.
type reply struct {
	status int
	header http.Header
	body   string
}

func (w *web) do(r *http.Request) reply {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(got)}
}

func (w *web) post(body string, headers ...string) reply {
	w.t.Helper()
	return w.do(w.request(w.t.Context(), http.MethodPost, body, headers...))
}

func TestHTTPCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
		runs    bool
	}{
		"approved":         {toolsCall("1", "ok"), nil, 200, ran, true},
		"refused":          {toolsCall("1", "no"), nil, 200, "the guard says no", false},
		"headers-fit":      {toolsCall("1", "ok"), []string{"Mcp-Method", "tools/call", "Mcp-Name", "ok"}, 200, ran, true},
		"name-in-base64":   {toolsCall("1", "ok"), []string{"Mcp-Name", "=?base64?b2s=?="}, 200, ran, true},
		"another-method":   {toolsCall("1", "ok"), []string{"Mcp-Method", "tools/list"}, 400, "-32020", false},
		"another-name":     {toolsCall("1", "ok"), []string{"Mcp-Name", "hold"}, 400, "-32020", false},
		"two-names":        {toolsCall("1", "ok"), []string{"Mcp-Name", "ok", "Mcp-Name", "no"}, 400, "-32020", false},
		"another-uri":      {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a","name":"b"}}`, []string{"Mcp-Name", "b"}, 400, "-32020", false},
		"disguised":        {toolsCall("1", "no"), []string{"Mcp-Method", "ping"}, 400, "-32020", false},
		"duplicate-key":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"ok"}}`, nil, 400, "-32700", false},
		"batch":            {"[" + toolsCall("1", "ok") + "]", nil, 400, "one message at a time", false},
		"without-an-id":    {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ok"}}`, nil, 400, "without an id", false},
		"compressed":       {toolsCall("1", "ok"), []string{"Content-Encoding", "gzip"}, 415, "compressed", false},
		"too-large":        {`{"x":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "larger", false},
		"from-a-page":      {toolsCall("1", "ok"), []string{"Origin", "https://evil.example"}, 403, "web page", false},
		"args-in-case":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","Arguments":{}}}`, nil, 400, "spells", false},
		"notification":     {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, "", false},
		"unknown-to-it":    {`{"jsonrpc":"2.0","id":5,"method":"x/y","params":{"z":1.0}}`, nil, 200, `"id":5`, false},
		"cancel-of-nobody": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil, 202, "", false},
	} {
		for _, events := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, events), func(t *testing.T) {
				t.Parallel()
				w := newWeb(t, events)
				got := w.post(tc.body, tc.headers...)
				if got.status != tc.status || !strings.Contains(got.body, tc.want) {
					t.Errorf("got %d %s, want %d %s", got.status, got.body, tc.status, tc.want)
				}
				if runs := strings.Contains(w.server.lines(), tc.body); tc.runs && !runs || !tc.runs && strings.Contains(w.server.lines(), "tools/call") {
					t.Errorf("the server got\n%s", w.server.lines())
				}
				if tc.runs && !events && got.header.Get("X-Kept") != "yes" {
					t.Error("the server's own headers are lost")
				}
			})
		}
	}
}

func TestHTTPOtherTypesPassNoMessage(t *testing.T) {
	t.Parallel()
	w := newWeb(t, false)
	r := w.request(t.Context(), http.MethodPost, toolsCall("1", "no"))
	r.Header.Set("Content-Type", "text/plain")
	if got := w.do(r); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("as text: %d", got.status)
	}
	r = w.request(t.Context(), http.MethodPost, toolsCall("1", "ok"))
	r.Host = "rebound.example"
	if got := w.do(r); got.status != http.StatusForbidden {
		t.Errorf("under another name: %d", got.status)
	}
	if w.server.lines() != "" {
		t.Errorf("the server got %s", w.server.lines())
	}
}

// Nothing reaches the server unread: no body of another type, in another encoding or with another
// method, and no connection that is upgraded to another protocol.
func TestHTTPPassesNothingUnread(t *testing.T) {
	t.Parallel()
	call := toolsCall("1", "no")
	for name, tc := range map[string]struct {
		method, body string
		types        []string
		want         int
	}{
		"form":        {http.MethodPost, call, []string{"application/x-www-form-urlencoded"}, 415},
		"none":        {http.MethodPost, call, nil, 415},
		"two":         {http.MethodPost, call, []string{"application/json", "text/plain"}, 415},
		"nearly":      {http.MethodPost, call, []string{"application/json5"}, 415},
		"utf-7":       {http.MethodPost, call, []string{"application/json; charset=utf-7"}, 415},
		"utf-16":      {http.MethodPost, call, []string{"application/json; charset=UTF-16"}, 415},
		"put":         {http.MethodPut, call, []string{"application/json"}, 405},
		"patch":       {http.MethodPatch, call, []string{"application/json"}, 405},
		"options":     {http.MethodOptions, "", nil, 405},
		"own-method":  {"CALL", call, []string{"application/json"}, 405},
		"get-body":    {http.MethodGet, call, []string{"application/json"}, 415},
		"delete-body": {http.MethodDelete, call, []string{"application/json"}, 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, false)
			r := w.request(t.Context(), tc.method, tc.body)
			r.Header["Content-Type"] = tc.types
			got := w.do(r)
			if got.status != tc.want || (got.status == 405) != (got.header.Get("Allow") != "") {
				t.Errorf("got %d %s, want %d", got.status, got.body, tc.want)
			}
			if len(w.seen) > 0 {
				t.Errorf("the server was asked: %s", w.server.lines())
			}
		})
	}
	w := newWeb(t, true)
	if got := w.do(w.request(t.Context(), http.MethodGet, "", "Connection", "Upgrade", "Upgrade", "websocket")); got.status != http.StatusOK {
		t.Errorf("got %d", got.status)
	}
	if h := <-w.seen; h.Get("Upgrade") != "" {
		t.Errorf("the server is asked to become a %s", h.Get("Upgrade"))
	}
	w.post(toolsCall("1", "ok"), "Connection", "Upgrade", "Upgrade", "websocket")
	for len(w.seen) > 0 {
		if h := <-w.seen; h.Get("Upgrade") != "" {
			t.Errorf("the server is asked to become a %s", h.Get("Upgrade"))
		}
	}
	r := w.request(t.Context(), http.MethodPost, toolsCall("2", "ok"))
	r.Header.Set("Content-Type", "Application/JSON; charset=UTF-8")
	if got := w.do(r); got.status != http.StatusOK || !strings.Contains(got.body, ran) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// logs checks what the proxy has logged since the last check.
func (w *web) logs(want ...string) {
	w.t.Helper()
	for _, part := range want {
		got := ""
		select {
		case got = <-w.log:
		default:
		}
		if !strings.Contains(got, part) {
			w.t.Errorf("logged was %q, want %q", got, part)
		}
	}
}

// held starts a call that is held, and reads the answer's headers and first line.
func (w *web) held(ctx context.Context, headers ...string) *bufio.Reader {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(w.request(ctx, http.MethodPost, toolsCall("1", "hold"), headers...))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { resp.Body.Close() })
	if <-w.gate.held; resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("a held call is answered with %d %v", resp.StatusCode, resp.Header)
	}
	in := bufio.NewReader(resp.Body)
	if line, err := in.ReadString('\n'); err != nil || line != ": held\n" {
		w.t.Fatalf("%q %v", line, err)
	}
	return in
}

// The headers of a held call's answer are sent at once, and the server's answer follows.
func TestHTTPHeldCalls(t *testing.T) {
	t.Parallel()
	for _, events := range []bool{false, true} {
		w := newWeb(t, events)
		in := w.held(t.Context(), "Mcp-Name", "hold", "Authorization", "Bearer theirs")
		if strings.Contains(w.server.lines(), "tools/call") {
			t.Error("the server has the call before the person's answer")
		}
		w.gate.allow()
		rest, err := io.ReadAll(in)
		if err != nil || strings.Count(string(rest), ran) != 1 || !strings.Contains(string(rest), "data: {") {
			t.Errorf("%v: %s", err, rest)
		}
		w.h.Close()
		if !strings.Contains(w.server.lines(), toolsCall("1", "hold")) || w.gate.did() != "redeem; report a-1 succeeded=true notrun=false" {
			t.Errorf("the gate: %s; the server:\n%s", w.gate.did(), w.server.lines())
		}
		var last http.Header
		for len(w.seen) > 0 {
			last = <-w.seen
		}
		if last.Get("Authorization") != "Bearer theirs" || last.Get("Mcp-Name") != "hold" {
			t.Errorf("the server got the headers %v", last)
		}

		in = w.held(t.Context())
		w.gate.deny("not today")
		if rest, _ := io.ReadAll(in); !strings.Contains(string(rest), "a person said: not today") {
			t.Errorf("%s", rest)
		}
	}
}

// A state works over HTTP as over stdio, in whichever form the server answered.
func TestHTTPRequestState(t *testing.T) {
	t.Parallel()
	for _, events := range []bool{false, true} {
		w := newWeb(t, events)
		made := func(state string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok_more","arguments":{"n":1}` + state + `}}`
		}
		for _, step := range []struct {
			state, want string
			status      int
		}{
			{`,"requestState":"s"`, strangeState, 400},
			{``, `"input_required"`, 200},
			{`,"requestState":"t"`, strangeState, 400},
			{`,"inputResponses":{},"requestState":"s"`, `"input_required"`, 200},
		} {
			if got := w.post(made(step.state)); got.status != step.status || !strings.Contains(got.body, step.want) {
				t.Errorf("%s: %d %s", step.state, got.status, got.body)
			}
		}
	}
}

// If the client disconnects or cancels its call, the call never runs.
func TestHTTPTakenBack(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *web, leave context.CancelFunc){
		"left": func(_ *web, leave context.CancelFunc) { leave() },
		"cancelled": func(w *web, _ context.CancelFunc) {
			w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Mcp-Session-Id", "s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, false)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			in := w.held(ctx, "Mcp-Session-Id", "s")
			take(w, leave)
			_, _ = io.ReadAll(in)
			for w.gate.did() == "" { // It takes the server a moment to notice a closed connection.
				w.post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			}
			if did := w.gate.did(); did != "withdraw a-1" || strings.Contains(w.server.lines(), "tools/call") {
				t.Errorf("the gate: %s; the server:\n%s", did, w.server.lines())
			}
		})
	}
}

// If the server dies while a call is held, the person's yes ends in an error.
func TestHTTPServerDies(t *testing.T) {
	t.Parallel()
	w := newWeb(t, false)
	in := w.held(t.Context())
	w.up.Close()
	w.gate.allow()
	rest, _ := io.ReadAll(in)
	_, data, _ := strings.Cut(string(rest), "data: ")
	if !strings.HasPrefix(data, `{"jsonrpc":"2.0","id":1,"error":{`) || !strings.Contains(data, "could not be asked") {
		t.Errorf("%s", rest)
	}
	w.logs("has not answered the call that was allowed as a-1")
	if got := w.post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); got.status != http.StatusBadGateway {
		t.Errorf("got %d", got.status)
	}
	w.logs("could not be asked")
	go func() { <-w.gate.held; w.gate.allow() }()
	r := w.request(t.Context(), http.MethodPost, toolsCall("3", "hold"))
	r.Header.Set("Accept", "application/json")
	if got := w.do(r); got.status != http.StatusBadGateway {
		t.Errorf("without a stream: got %d", got.status)
	}
	w.logs("could not be asked", "has not answered the call that was allowed as a-2")
}

// A notification on the server's own stream makes the proxy list the tools again.
func TestHTTPToolsChange(t *testing.T) {
	t.Parallel()
	w := newWeb(t, true)
	w.post(toolsCall("1", "ok"))
	w.server.describe(aTool("ok", `,"description":"other"`))
	if got := w.do(w.request(t.Context(), http.MethodGet, "")); !strings.HasPrefix(got.body, "id: 7\nevent: message\ndata: {\"jsonrpc\"") {
		t.Errorf("the stream is %s", got.body)
	}
	go func() { <-w.gate.held; w.gate.allow() }()
	if got := w.post(toolsCall("2", "ok")); !strings.Contains(got.body, ran) {
		t.Error(got)
	}
	if c := w.gate.proposed[len(w.gate.proposed)-1].Context.Concerns; len(c) != 1 || c[0] != client.ToolChanged {
		t.Errorf("the concerns are %v", c)
	}
	if got := w.post(toolsCall("3", "ok")); !strings.Contains(got.body, ran) {
		t.Error(got)
	}
}

// Other messages in the answer to the proxy's own tools/list are not taken for the list.
func TestHTTPListAmongOthers(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := jsonrpc.Parse(body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if m.Method != "tools/list" {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,%s\n\n", ran)
			return
		}
		id := strings.TrimPrefix(m.ID.Key(), `"`)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"ping\"}\n\n", id)
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[]}}\n\n")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"result\":{\"tools\":[%s]}}\n\n", id, aTool("ok", ""))
	}))
	w, _ := webBefore(t, up)
	if got := w.post(toolsCall("1", "ok")); !strings.Contains(got.body, ran) || len(w.gate.proposed) != 1 || w.gate.proposed[0].Context.Concerns != nil {
		t.Errorf("%s after %+v", got.body, w.gate.proposed)
	}
}

// The proxy's own tools/list names its method in a header if the client's call did.
func TestHTTPListNamesItsMethodAsTheClientDoes(t *testing.T) {
	t.Parallel()
	for _, headers := range [][]string{nil, {"Mcp-Method", "tools/call", "Mcp-Name", "ok"}} {
		lists := 0
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			m, err := jsonrpc.Parse(body)
			if err != nil {
				t.Error(err)
			}
			want := ""
			if headers != nil {
				want = m.Method
			}
			if m.Method == "tools/list" {
				lists++
			}
			if got := r.Header.Get("Mcp-Method"); got != want {
				t.Errorf("%s comes as %q, want %q", m.Method, got, want)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, (&server{tools: aTool("ok", "")}).answer(string(body)))
		}))
		w, _ := webBefore(t, up)
		if got := w.post(toolsCall("1", "ok"), headers...); !strings.Contains(got.body, ran) || lists == 0 {
			t.Errorf("%d lists, then %s", lists, got.body)
		}
	}
}

// A further page of the list adds to the tools of the first.
func TestHTTPListOfSeveralPages(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := jsonrpc.Parse(body)
		if err != nil {
			t.Error(err)
		}
		result := ran
		switch {
		case strings.Contains(string(body), `"cursor"`):
			result = `"result":{"tools":[` + aTool("other", "") + `]}}`
		case m.Method == "tools/list":
			result = `"result":{"nextCursor":"2","tools":[` + aTool("ok", "") + `]}}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s`, m.ID.Key(), result)
	}))
	w, h := webBefore(t, up)
	w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	w.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}`)
	for _, name := range []string{"ok", "other"} {
		if !h.tools.knows(name) {
			t.Errorf("%s is not known any more", name)
		}
	}
}

func TestFilePins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := NewFilePins(dir+"/mcp", "npx", "a")
	p.Meet(map[string]string{"x": "1", "y": "1"})
	p = NewFilePins(dir+"/mcp", "npx", "a")
	p.Meet(map[string]string{"x": "2"})
	if p.Fits("x", "2") || !p.Fits("x", "1") || p.Fits("z", "1") {
		t.Error("a changed tool fits, or a known one does not")
	}
	p.Accept("x", "2")
	if p = NewFilePins(dir+"/mcp", "npx", "a"); !p.Fits("x", "2") || !p.Fits("x", "1") {
		t.Error("what was accepted is forgotten")
	}
	if NewFilePins(dir+"/mcp", "npxa").Fits("x", "1") {
		t.Error("another server's pins are shared")
	}
	if p := NewFilePins("/proc/none", "a"); true {
		p.Meet(map[string]string{"x": "1"})
		if p.Fits("x", "1") {
			t.Error("what could not be kept fits")
		}
	}
}
