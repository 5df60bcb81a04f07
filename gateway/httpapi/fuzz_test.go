package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/dispatcher"
)

// asText returns a request as sent over the wire.
func asText(method, path, body string, header ...string) string {
	lines := []string{method + " " + path + " HTTP/1.1", "Host: x", "Authorization: Bearer " + tokenA}
	if body != "" {
		lines = append(lines, "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))
	}
	return strings.Join(append(lines, header...), "\r\n") + "\r\n\r\n" + body
}

// requests returns one request per route, and some that servers and JSON readers have stumbled
// over.
func requests() []string {
	const read = `{"turn_id":"t","step":1,"executor":"fs_read","args":{"path":"/srv/data/x"}}`
	const ask = `{"turn_id":"t","step":2,"intent":"clean","executor":"shell_exec","args":{"command":"rm -rf x"},"context":{"critical":true,"cwd":"/srv","capability":["code:exec"]}}`
	nested := `{"executor":"shell_exec","args":{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`
	wide := `{"executor":"shell_exec","args":{` + strings.Repeat(`"a":1,`, 5000) + `"b":1e999999999}}`
	chunked := asText("POST", "/v1/proposals", "", "Content-Type: application/json", "Transfer-Encoding: chunked")
	long := strings.Repeat("a", 20_000)
	all := []string{
		asText("POST", "/v1/proposals", read),
		asText("POST", "/v1/proposals?wait=0s", ask, "Idempotency-Key: k1"),
		asText("POST", "/v1/plans?wait=0s", `{"calls":[`+read+","+ask+`]}`),
		asText("POST", "/v1/permits/abc/redeem", ask),
		asText("POST", "/v1/approvals/abc/outcome", `{"succeeded":true,"detail":"done"}`),
		asText("POST", "/v1/proposals", nested),
		asText("POST", "/v1/proposals", wide),
		asText("POST", "/v1/proposals", ask, "Content-Length: 3"),
		asText("POST", "/v1/proposals", ask, "Transfer-Encoding: chunked"),
		asText("POST", "/v1/proposals", ask, "Expect: 100-continue"),
		asText("POST", "/v1/proposals", ask, "Content-Encoding: gzip"),
		chunked + "5\r\n{\"exe\r\n0\r\n\r\n",
		chunked + "ffffffffffffffff\r\n{",
		chunked + "0\r\nTrailer: x\r\n\r\n" + asText("GET", "/readyz", ""),
	}
	for _, path := range []string{
		"/v1/approvals/abc?wait=0s", "/v1/approvals/" + long, "/v1/turns/t-1", "/v1/turns/" + long, "/v1/turns/%00%ff",
		"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/v1/../healthz", "//", "/?%zz", "*",
	} {
		all = append(all, asText("GET", path, ""), asText("DELETE", path, ""))
	}
	return all
}

// FuzzRequests sends mutated requests to the network listener over the real dispatcher, engine
// and store. Whatever arrives must be answered as the sender's mistake.
func FuzzRequests(f *testing.F) {
	in := start(f, filepath.Join(f.TempDir(), "vaglio.db"), dispatcher.Deadlines{})
	host := strings.TrimPrefix(in.url, "http://")
	for _, r := range requests() {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		// The server may answer and close before it has read everything.
		_, _ = conn.Write(sent)
		_ = conn.(*net.TCPConn).CloseWrite()
		answers := bufio.NewReader(conn)
		for {
			r, err := http.ReadResponse(answers, nil)
			if err != nil {
				break
			}
			body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
			r.Body.Close()
			if r.StatusCode == http.StatusInternalServerError {
				t.Fatalf("%s: %s", r.Status, body)
			}
		}
		if ctx.Err() != nil {
			t.Fatal("the connection was held although its sender was gone")
		}
	})
}
