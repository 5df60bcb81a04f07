package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// maxBody is the maximum size of a message that a client posts, in bytes.
	maxBody = 4 << 20
	// partSize is how much of an answer is forwarded at a time, in bytes.
	partSize = 32 << 10
	// codeMismatch is the protocol's code for headers that disagree with the body.
	codeMismatch = -32020

	// endWithin is how long answers in progress may take when the proxy shuts down.
	endWithin = 5 * time.Second

	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerSession = "Mcp-Session-Id"
)

// ServeHTTP serves on l as a proxy to the server at the URL upstream, until ctx ends.
func ServeHTTP(ctx context.Context, o Options, l net.Listener, upstream string) error {
	h, err := NewHandler(o, upstream)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		if s.Shutdown(late) != nil {
			_ = s.Close()
		}
	})
	err = s.Serve(l)
	if !stop() {
		h.Close()
		<-ended // Serve returns as soon as the server begins to shut down.
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// Handler is a proxy to one HTTP server.
type Handler struct {
	*proxy
	upstream *url.URL
	reverse  *httputil.ReverseProxy
	// transport carries the proxy's own requests.
	transport http.RoundTripper

	// calls are the calls being asked about, by session and id, because a client may cancel
	// them in another request.
	calls calls
	parts parts
}

// parts is a pool of buffers for forwarding answers, which would otherwise be most of the memory
// that a call takes. The zero value is ready to use.
type parts struct{ sync.Pool }

// Get returns a buffer.
func (p *parts) Get() []byte {
	if b, ok := p.Pool.Get().(*[partSize]byte); ok {
		return b[:]
	}
	return make([]byte, partSize)
}

// Put takes back a buffer from [parts.Get].
func (p *parts) Put(b []byte) { p.Pool.Put((*[partSize]byte)(b)) }

// NewHandler returns a proxy to the server at the URL upstream. It keeps the path of a request;
// a request for the root goes to the path of upstream.
func NewHandler(o Options, upstream string) (*Handler, error) {
	u, err := url.Parse(upstream)
	if err != nil || u.Host == "" {
		return nil, errors.New("mcp: the upstream is not a URL with a host")
	}
	// No compression: we must be able to read what we forward.
	transport := &http.Transport{DisableCompression: true, Proxy: nil, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	h := &Handler{proxy: newProxy(o), upstream: u, transport: transport}
	h.reverse = &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, BufferPool: &h.parts,
		Rewrite: func(r *httputil.ProxyRequest) {
			h.aim(r.Out)
		},
		ModifyResponse: h.answered,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				h.log("the server could not be asked: %v", err)
			}
			exchangeOf(r).lost(h)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return h, nil
}

// Close waits for the outcomes that are still being reported.
func (h *Handler) Close() { h.reports.Wait() }

// aim directs a request to the upstream.
func (h *Handler) aim(r *http.Request) {
	r.URL.Scheme, r.URL.Host, r.Host = h.upstream.Scheme, h.upstream.Host, h.upstream.Host
	if r.URL.Path == "" || r.URL.Path == "/" {
		r.URL.Path = h.upstream.Path
	}
	r.Header.Del("Accept-Encoding")
	// No connection may be upgraded to a protocol that we do not read.
	r.Header.Del("Connection")
	r.Header.Del("Upgrade")
}

// ServeHTTP handles one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r) {
		fail(w, http.StatusForbidden, jsonrpc.ID{}, jsonrpc.CodeInvalid, "vaglio: a request that a web page of another host makes is refused")
		return
	}
	if r.Method != http.MethodPost {
		h.bare(w, r)
		return
	}
	if !isJSON(r.Header) {
		fail(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, jsonrpc.CodeInvalid, "vaglio: the Content-Type must be application/json, in UTF-8")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, jsonrpc.ID{}, jsonrpc.CodeInvalid, fmt.Sprintf("vaglio: the message is larger than %d bytes or broke off", maxBody))
		return
	}
	m, status, code, why := h.read(r, body)
	if why != "" {
		fail(w, status, m.ID, code, "vaglio: "+why)
		return
	}
	h.message(w, r, m, body)
}

// bare handles a request that carries no message: a client listens, ends its session, or gets a
// resource. It must have no body, so that nothing passes unread.
func (h *Handler) bare(w http.ResponseWriter, r *http.Request) {
	methods := []string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPost}
	switch {
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		fail(w, http.StatusMethodNotAllowed, jsonrpc.ID{}, jsonrpc.CodeInvalid, "vaglio: post a message, listen with GET, or end a session with DELETE")
	case r.ContentLength != 0:
		fail(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, jsonrpc.CodeInvalid, "vaglio: only a POST has a body")
	default:
		h.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, &exchange{host: r.Host})))
	}
}

// isJSON reports whether the headers declare JSON in UTF-8, the only encoding that we read.
func isJSON(header http.Header) bool {
	all := header.Values("Content-Type")
	if len(all) != 1 {
		return false
	}
	kind, more, err := mime.ParseMediaType(all[0])
	charset, given := more["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// read parses a posted message and compares the headers with it.
func (h *Handler) read(r *http.Request, body []byte) (m jsonrpc.Message, status, code int, why string) {
	if r.Header.Get("Content-Encoding") != "" {
		return m, http.StatusUnsupportedMediaType, jsonrpc.CodeInvalid, "the message must not be compressed"
	}
	if _, isBatch, _ := jsonrpc.Batch(body); isBatch {
		return m, http.StatusBadRequest, jsonrpc.CodeInvalid, "a batch is not taken; post one message at a time"
	}
	m, err := jsonrpc.Parse(body)
	if err != nil {
		return m, http.StatusBadRequest, jsonrpc.CodeParse, "the message " + err.Error()
	}
	if why := disguised(m.Method); why != "" {
		return m, http.StatusBadRequest, jsonrpc.CodeInvalid, "the message did not reach the server: " + why
	}
	if why := mismatch(r.Header, m); why != "" {
		return m, http.StatusBadRequest, codeMismatch, why
	}
	return m, 0, 0, ""
}

// mismatch says which header is present but disagrees with the body, "" if none does.
func mismatch(header http.Header, m jsonrpc.Message) string {
	if all := header.Values(headerMethod); len(all) > 1 || len(all) == 1 && all[0] != m.Method {
		return "the header Mcp-Method is not the message's method"
	}
	all := header.Values(headerName)
	if len(all) == 0 {
		return ""
	}
	key := "name"
	if m.Method == "resources/read" {
		key = "uri"
	}
	params, err := jsonrpc.Object(m.Params, key)
	var name string
	if err != nil || strictjson.UnmarshalLoose(params[key], &name) != nil || len(all) > 1 || decoded(all[0]) != name {
		return "the header Mcp-Name is not what the message names"
	}
	return ""
}

// decoded returns a header's value, decoded if it is marked as base64.
func decoded(value string) string {
	inner, marked := strings.CutPrefix(value, "=?base64?")
	inner, ended := strings.CutSuffix(inner, "?=")
	if !marked || !ended {
		return value
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return value
	}
	return string(text)
}

// message handles a message whose headers match.
func (h *Handler) message(w http.ResponseWriter, r *http.Request, m jsonrpc.Message, body []byte) {
	switch m.Method {
	case methodCall, methodRead:
		h.call(w, r, m, body)
		return
	case methodCancelled:
		if h.calls.cancel(callKey(r, m.Cancels())) {
			w.WriteHeader(http.StatusAccepted)
			return
		}
	case methodInitialize:
		if info, err := jsonrpc.Object(m.Params, "clientInfo"); err == nil {
			h.clientName.Store(nameOf(info["clientInfo"]))
		}
	case methodList:
		key := callKey(r, m.ID.Key())
		h.tools.asks(key, m)
		h.pass(w, r, body, &exchange{lists: key})
		return
	}
	h.pass(w, r, body, &exchange{})
}

// pass forwards a request unchanged.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, body []byte, x *exchange) {
	x.host = r.Host
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	h.reverse.ServeHTTP(w, r)
}

// local reports whether a request comes from this machine's own clients: not from a web page of
// another host, nor through DNS rebinding.
func local(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !hosts.Loopback(strings.Trim(host, "[]")) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

func accepts(r *http.Request, kind string) bool {
	for _, line := range r.Header.Values("Accept") {
		if strings.Contains(line, kind) || strings.Contains(line, "*/*") {
			return true
		}
	}
	return false
}

func fail(w http.ResponseWriter, status int, id jsonrpc.ID, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(jsonrpc.Failure(id, code, why)) //nolint:gosec // It is JSON, and says so.
}
