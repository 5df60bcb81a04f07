package mcp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that wants a token is found at the proxy's address, and only if it claims to be itself.
func TestHTTPServerThatWantsAToken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// UP stands for the server's address, PROXY for the proxy's.
		challenge, wantChallenge string
		metadata, wantMetadata   string
	}{
		"its own": {
			`Bearer realm="x", resource_metadata="UP/.well-known/oauth-protected-resource/mcp", scope="a b"`,
			`Bearer realm="x", resource_metadata="PROXY/.well-known/oauth-protected-resource/mcp", scope="a b"`,
			`{"resource":"UP/mcp","authorization_servers":["UP/mcp"],"scopes_supported":["a"]}`,
			`{"authorization_servers":["UP/mcp"],"resource":"PROXY/mcp","scopes_supported":["a"]}`,
		},
		"the root without a slash": {
			`Bearer Resource_Metadata = "UP"`, `Bearer Resource_Metadata = "PROXY"`,
			`{"resource":"UP","authorization_servers":[]}`, `{"authorization_servers":[],"resource":"PROXY"}`,
		},
		"two challenges in one": {
			`Basic realm="a", Bearer resource_metadata="UP/m"`, `Basic realm="a", Bearer resource_metadata="PROXY/m"`, `{}`, `{}`,
		},
		"another's": {
			`Bearer resource_metadata="https://evil.example/m"`, `Bearer resource_metadata="https://evil.example/m"`,
			`{"resource":"https://evil.example/mcp","authorization_servers":[]}`, `{"resource":"https://evil.example/mcp","authorization_servers":[]}`,
		},
		"one whose name begins alike": {
			`Bearer resource_metadata="UP.evil.example/m"`, `Bearer resource_metadata="UP.evil.example/m"`,
			`{"resource":"UP.evil.example/mcp","authorization_servers":[]}`, `{"resource":"UP.evil.example/mcp","authorization_servers":[]}`,
		},
		"a user's name before it": {
			`Bearer realm="UP"`, `Bearer realm="UP"`,
			`{"resource":"http://u@HOST/mcp","authorization_servers":[]}`, `{"resource":"http://u@HOST/mcp","authorization_servers":[]}`,
		},
		"what cannot be read": {
			`Bearer`, `Bearer`,
			`{"resource":"UP/mcp","resource":"UP/mcp","authorization_servers":[]}`, `{"resource":"UP/mcp","resource":"UP/mcp","authorization_servers":[]}`,
		},
		"what is not an address": {`Bearer error="x"`, `Bearer error="x"`, `{"resource": 7,"authorization_servers":[]}`, `{"resource": 7,"authorization_servers":[]}`},
		"what are not metadata":  {`Bearer error="x"`, `Bearer error="x"`, `{"resource": "UP/mcp"}`, `{"resource": "UP/mcp"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var up *httptest.Server
			spell := func(text string) string {
				return strings.NewReplacer("UP", up.URL, "HOST", strings.TrimPrefix(up.URL, "http://")).Replace(text)
			}
			up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.Header().Set("Content-Type", "application/json; charset=utf-8")
					fmt.Fprint(w, spell(tc.metadata))
					return
				}
				w.Header().Set("WWW-Authenticate", spell(tc.challenge))
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer up.Close()
			h, err := NewHandler(Options{Gate: newGate(), Name: "srv", Pins: pins{}}, up.URL+"/mcp")
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			front := httptest.NewServer(h)
			defer front.Close()
			w := &web{t: t, base: front.URL}
			want := func(text string) string { return strings.ReplaceAll(spell(text), "PROXY", front.URL) }
			got := w.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
			if c := got.header.Get("WWW-Authenticate"); got.status != http.StatusUnauthorized || c != want(tc.wantChallenge) {
				t.Errorf("%d %s, want %s", got.status, c, want(tc.wantChallenge))
			}
			if got := w.do(w.request(t.Context(), http.MethodGet, "")); got.body != want(tc.wantMetadata) {
				t.Errorf("%s, want %s", got.body, want(tc.wantMetadata))
			}
		})
	}
}

// Only a complete JSON object fetched from an address is taken for metadata.
func TestWhatMetadataAre(t *testing.T) {
	t.Parallel()
	h, err := NewHandler(Options{Pins: pins{}}, "http://up.example/mcp")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"resource":"http://up.example/mcp","authorization_servers":[]}`
	for name, tc := range map[string]struct {
		status             int
		method, kind, text string
		named              bool
	}{
		"metadata":       {200, "GET", "application/json", text, true},
		"another status": {404, "GET", "application/json", text, false},
		"of a message":   {200, "POST", "application/json", text, false},
		"another kind":   {200, "GET", "text/plain", text, false},
		"no kind":        {200, "GET", "", text, false},
		"as large":       {200, "GET", "application/json", text + strings.Repeat(" ", largestMetadata-len(text)), true},
		"too large":      {200, "GET", "application/json", text + strings.Repeat(" ", largestMetadata-len(text)+1), false},
	} {
		resp := &http.Response{
			StatusCode: tc.status, Header: http.Header{"Content-Type": {tc.kind}}, Body: io.NopCloser(strings.NewReader(tc.text)), Request: &http.Request{Method: tc.method},
			ContentLength: int64(len(tc.text)),
		}
		h.metadata(resp, "here")
		got, err := io.ReadAll(resp.Body)
		if err != nil || strings.Contains(string(got), "http://here/mcp") != tc.named || !tc.named && string(got) != tc.text || tc.named && resp.ContentLength != int64(len(got)) {
			t.Errorf("%s: %.100s, %v", name, got, err)
		}
	}
}
