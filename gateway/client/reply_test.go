package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

const crlf = "\r\n"

// lined joins lines with HTTP's line ends; an empty last line ends the head.
func lined(lines ...string) string { return strings.Join(lines, crlf) + crlf }

func TestRepliesThatAreTaken(t *testing.T) {
	long, most := strings.Repeat("a", 200<<10), strings.Repeat("a", MaxReply)
	for name, tc := range map[string]struct {
		raw        string
		status     int
		body       string
		retryAfter string
	}{
		"length":                    {lined("HTTP/1.1 200 OK", "Content-Type: application/json", "content-LENGTH:  2 ", "") + "{}", 200, "{}", ""},
		"empty":                     {lined("HTTP/1.1 200 OK", "Content-Length: 0", ""), 200, "", ""},
		"long":                      {lined("HTTP/1.1 200 OK", "Content-Length: 204800", "") + long, 200, long, ""},
		"no-content":                {lined("HTTP/1.1 204 No Content", ""), 204, "", ""},
		"none-of-length":            {lined("HTTP/1.1 204 ~ No Content", "Content-Length: 0", ""), 204, "", ""},
		"not-modified":              {lined("HTTP/1.1 304 Not Modified", ""), 304, "", ""},
		"highest":                   {lined("HTTP/1.1 599 x", "Content-Length: 0", ""), 599, "", ""},
		"no-reason":                 {lined("HTTP/1.1 409 ", "Content-Length: 1", "") + "x", 409, "x", ""},
		"parts":                     {lined("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "") + lined("3", "abc", "0A", "0123456789", "0", ""), 200, "abc0123456789", ""},
		"largest-part":              {lined("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "") + lined("1000000", most, "0", ""), 200, most, ""},
		"no-parts":                  {lined("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "0", ""), 200, "", ""},
		"pause":                     {lined("HTTP/1.1 503 Service Unavailable", "Retry-After: 7", "Content-Length: 0", ""), 503, "", "7"},
		"what-follows-is-no-answer": {lined("HTTP/1.1 200 OK", "Content-Length: 1", "") + "xHTTP/1.1 500", 200, "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readReply(bufio.NewReader(strings.NewReader(tc.raw)))
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != tc.status || string(r.Body) != tc.body || r.RetryAfter != tc.retryAfter {
				t.Errorf("%d %q %.100q", r.Status, r.RetryAfter, r.Body)
			}
		})
	}
}

func TestRepliesThatAreRefused(t *testing.T) {
	ok := "HTTP/1.1 200 OK"
	chunked := "Transfer-Encoding: chunked"
	for name, tc := range map[string]struct{ raw, want string }{
		"nothing":         {"", "EOF"},
		"cut-line":        {"HTTP/1.1 2", "unexpected EOF"},
		"cut-head":        {ok + crlf, "unexpected EOF"},
		"cut-body":        {lined(ok, "Content-Length: 3", "") + "ab", "unexpected EOF"},
		"cut-part":        {lined(ok, chunked, "", "3") + "ab", "unexpected EOF"},
		"cut-parts":       {lined(ok, chunked, "", "3", "abc"), "unexpected EOF"},
		"cut-end":         {lined(ok, chunked, "", "0"), "unexpected EOF"},
		"bare-lf":         {ok + "\nContent-Length: 0\n\n", "does not end in CR LF"},
		"old":             {lined("HTTP/1.0 200 OK", "Content-Length: 0", ""), "its first line"},
		"new":             {lined("HTTP/2 200", "Content-Length: 0", ""), "its first line"},
		"no-version":      {lined("200 OK", "Content-Length: 0", ""), "its first line"},
		"no-space":        {lined("HTTP/1.1 200", "Content-Length: 0", ""), "its first line"},
		"lengths-of-none": {lined(ok, "Content-Length: 0", "Content-Length: 0", ""), "its length"},
		"status-word":     {lined("HTTP/1.1 two hundred", ""), "the status"},
		"status-sign":     {lined("HTTP/1.1 +20 OK", ""), "the status"},
		"status-high":     {lined("HTTP/1.1 999 x", ""), "the status"},
		"status-600":      {lined("HTTP/1.1 600 x", "Content-Length: 0", ""), "the status"},
		"continue":        {lined("HTTP/1.1 100 Continue", "", ok, "Content-Length: 0", ""), "the status"},
		"folded":          {lined(ok, "X: a", " b", "Content-Length: 0", ""), "a field of its head"},
		"no-colon":        {lined(ok, "X", ""), "a field of its head"},
		"space-in-name":   {lined(ok, "Content-Length : 0", ""), "a field of its head"},
		"control":         {lined(ok, "X: a\x00b", ""), "a field of its head"},
		"no-length":       {lined(ok, "") + "{}", "does not say its length"},
		"both":            {lined(ok, "Content-Length: 2", chunked, "") + "{}", "says it twice"},
		"two-lengths":     {lined(ok, "Content-Length: 2", "Content-Length: 2", "") + "{}", "its length"},
		"list-length":     {lined(ok, "Content-Length: 2, 2", "") + "{}", "its length"},
		"signed-length":   {lined(ok, "Content-Length: +2", "") + "{}", "its length"},
		"hex-length":      {lined(ok, "Content-Length: 0x2", "") + "{}", "its length"},
		"endless-length":  {lined(ok, "Content-Length: 99999999999999999999", ""), "its length"},
		"large":           {lined(ok, "Content-Length: 16777217", ""), "larger than 16777216"},
		"large-part":      {lined(ok, chunked, "", "1000001", ""), "larger than 16777216"},
		"gzip":            {lined(ok, "Transfer-Encoding: gzip, chunked", ""), "the encoding"},
		"twice-chunked":   {lined(ok, chunked, chunked, ""), "the encoding"},
		"packed":          {lined(ok, "Content-Encoding: gzip", "Content-Length: 0", ""), "the encoding"},
		"body-of-none":    {lined("HTTP/1.1 204 No Content", "Content-Length: 2", "") + "{}", "a body after"},
		"extension":       {lined(ok, chunked, "", "1;a=b", "x", "0", ""), "the length of a part"},
		"part-of-none":    {lined(ok, chunked, "", "", ""), "the length of a part"},
		"part-sign":       {lined(ok, chunked, "", "-1", "x"), "the length of a part"},
		"part-too-long":   {lined(ok, chunked, "", "1", "xy", "0", ""), "what follows a part"},
		"trailer":         {lined(ok, chunked, "", "0", "X: y", ""), "what follows a part"},
		"endless-head":    {lined(ok, strings.Repeat("X: y\r\n", maxHead)), "lines of more than"},
		"endless-line":    {ok + strings.Repeat(" ", 2*maxHead), "lines of more than"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readReply(bufio.NewReader(strings.NewReader(tc.raw)))
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, io.EOF) != (tc.raw == "") {
				t.Errorf("%+v %v, want %q", r, err, tc.want)
			}
		})
	}
}

// FuzzReply compares the reader with the standard library's, which is more lenient: whatever ours
// accepts, the library must accept with the same result.
func FuzzReply(f *testing.F) {
	for _, raw := range []string{
		lined("HTTP/1.1 200 OK", "Content-Length: 2", "") + "{}",
		lined("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "2", "{}", "0", ""),
		lined("HTTP/1.1 204 No Content", "Retry-After: 1", ""),
		lined("HTTP/1.1 304 Not Modified", "Content-Length: 0", ""),
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, err := readReply(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			if ours != nil {
				t.Fatalf("a reply beside the error %v", err)
			}
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
		if err != nil {
			t.Fatalf("took %q, which the library refuses: %v", raw, err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != ours.Status || !bytes.Equal(body, ours.Body) || resp.Header.Get("Retry-After") != ours.RetryAfter {
			t.Fatalf("%q: %d %q, the library reads %d %q %v", raw, ours.Status, ours.Body, resp.StatusCode, body, err)
		}
	})
}

// TestRequestsCannotBeSplit checks that anything that would end a line early is refused and not
// quoted.
func TestRequestsCannotBeSplit(t *testing.T) {
	for name, m := range map[string]Message{
		"path":   {Method: "GET", Path: "/a secret"},
		"line":   {Method: "GET", Path: "/secret\r\nX: y"},
		"far":    {Method: "GET", Path: "http://secret/"},
		"method": {Method: "GET /secret", Path: "/"},
		"name":   {Method: "GET", Path: "/", Header: []Field{{"secret:", "x"}}},
		"value":  {Method: "GET", Path: "/", Header: []Field{{"X", "secret\nY: z"}}},
		"high":   {Method: "GET", Path: "/", Header: []Field{{"X", "secretö"}}},
	} {
		head, err := requestHead(&m)
		if !errors.Is(err, errRequest) || head != nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q %v", name, head, err)
		}
		if _, err := (&unix{path: "no/such/socket"}).Exchange(t.Context(), &m); !errors.Is(err, errRequest) { // before anybody is reached
			t.Errorf("%q was to be sent: %v", m, err)
		}
	}
}
