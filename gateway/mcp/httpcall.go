package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
)

// call asks about a call. It is taken back if the client disconnects.
func (h *Handler) call(w http.ResponseWriter, r *http.Request, m jsonrpc.Message, body []byte) {
	if !m.ID.Given() {
		fail(w, http.StatusBadRequest, m.ID, jsonrpc.CodeInvalid, "vaglio: a call without an id does not run")
		return
	}
	c, err := h.callOf(m)
	if err != nil {
		fail(w, http.StatusBadRequest, m.ID, jsonrpc.CodeInvalid, "vaglio: the call did not run: "+err.Error())
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	key := callKey(r, c.id.Key())
	u := h.calls.enter(key, cancel)
	if u == nil {
		fail(w, http.StatusBadRequest, m.ID, jsonrpc.CodeInvalid, idTaken)
		return
	}
	s := &stream{w: w, events: accepts(r, "text/event-stream")}
	ruling, err := h.ruleOn(ctx, c, asking{
		held: s.open, tell: s.send,
		list: func(ctx context.Context, cursor string) (jsonrpc.Message, error) { return h.list(ctx, r, c, cursor) },
	})
	wanted := h.calls.leave(key, u) && err == nil && ctx.Err() == nil
	x := &exchange{call: c, approval: ruling.Approval}
	switch {
	case !wanted && ruling.Run:
		h.takenBack(ctx, ruling.Approval)
	case !wanted:
	case !ruling.Run:
		s.finish(c.refused(ruling.Text))
	case s.opened:
		h.run(s, r.WithContext(ctx), body, x, c)
	default:
		h.pass(w, r, body, x)
	}
}

// callKey identifies a call within its session. Without sessions, ids are unique only within a
// connection, and a client cancels a call by disconnecting.
func callKey(r *http.Request, id string) string {
	if session := r.Header.Get(headerSession); session != "" {
		return session + "\x00" + id
	}
	return r.RemoteAddr + "\x00" + id
}

// run makes the request of a call whose answer has already begun as a stream.
func (h *Handler) run(s *stream, r *http.Request, body []byte, x *exchange, c *toolCall) {
	out := r.Clone(r.Context())
	out.RequestURI, out.Body, out.ContentLength = "", io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for _, hop := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection", "Proxy-Authorization"} {
		out.Header.Del(hop)
	}
	h.aim(out)
	resp, err := h.transport.RoundTrip(out)
	if err != nil {
		x.lost(h)
		s.finish(jsonrpc.Failure(c.id, codeInternal, "vaglio: the call was allowed, but the server could not be asked; whether it ran is not known"))
		return
	}
	x.watch(r.Context(), h, resp)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		s.copy(resp.Body)
		return
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, jsonrpc.MaxLine))
	if m, wrong := jsonrpc.Parse(answer); err != nil || wrong != nil || m.Method != "" {
		answer = jsonrpc.Failure(c.id, codeInternal, fmt.Sprintf("vaglio: the call was allowed, and the server answered with the status %d", resp.StatusCode))
	}
	s.finish(answer)
}

const codeInternal = -32603

// list requests a page of the server's tools.
func (h *Handler) list(ctx context.Context, r *http.Request, c *toolCall, cursor string) (jsonrpc.Message, error) {
	id := h.session + ":list"
	body := c.listing(id, cursor)
	out := r.Clone(ctx)
	out.RequestURI, out.Body, out.ContentLength = "", io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for name := range out.Header {
		if strings.HasPrefix(name, "Mcp-Param-") {
			out.Header.Del(name)
		}
	}
	out.Header.Del(headerName)
	out.Header.Del("Connection")
	if out.Header.Get(headerMethod) != "" {
		out.Header.Set(headerMethod, methodList)
	}
	h.aim(out)
	resp, err := h.transport.RoundTrip(out)
	if err != nil {
		return jsonrpc.Message{}, err //nolint:wrapcheck // It is logged.
	}
	defer func() { _ = resp.Body.Close() }()
	var found jsonrpc.Message
	watcher := newWatcher(resp, func(m jsonrpc.Message) {
		if m.ID.Key() == `"`+id && m.Method == "" {
			found = m
		}
	})
	if watcher == nil {
		return found, fmt.Errorf("it answered with the status %d", resp.StatusCode)
	}
	for part := make([]byte, partSize); err == nil && !found.ID.Given(); {
		_, err = watcher.Read(part)
	}
	if !found.ID.Given() {
		return found, errors.New("it gave no list")
	}
	return found, nil
}

// exchange is what to look for in the answer to a request.
type exchange struct {
	// host is the address under which the client reaches the proxy.
	host string
	// lists is the key of a tools/list request.
	lists string
	// call is set for a tools/call, and approval is what a person was asked about it.
	call     *toolCall
	approval client.ID
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request. Every request to the server has one.
func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// answered inspects and adapts the server's answer.
func (h *Handler) answered(resp *http.Response) error {
	x := exchangeOf(resp.Request)
	if err := h.redirect(resp, x.host); err != nil {
		return err
	}
	h.challenge(resp, x.host)
	h.metadata(resp, x.host)
	x.watch(resp.Request.Context(), h, resp)
	return nil
}

// watch inspects the messages in the body of an answer.
func (x *exchange) watch(ctx context.Context, h *Handler, resp *http.Response) {
	w := newWatcher(resp, func(m jsonrpc.Message) {
		switch {
		case m.Method == methodListChanged:
			h.tools.stale()
		case m.Method != "" || !m.ID.Given():
		case h.tools.told(callKey(resp.Request, m.ID.Key()), m):
		case x.call != nil && m.ID.Key() == x.call.id.Key():
			h.proxy.answered(ctx, x.call, x.approval, m)
		}
	})
	unread := func() {
		if x.lists != "" && resp.StatusCode == http.StatusOK {
			h.tools.lost(x.lists)
		}
	}
	if w == nil || resp.Header.Get("Content-Encoding") != "" { // The client may read it all the same.
		unread()
	}
	if w != nil {
		w.odd, w.ended = func() { h.tools.lost("") }, unread
		resp.Body = w
	}
}

// lost logs a call whose answer never came. Whether it ran is unknown, so there is no outcome to
// report.
func (x *exchange) lost(h *Handler) {
	if x.approval != "" {
		h.log("the server has not answered the call that was allowed as %s", x.approval)
	}
}
