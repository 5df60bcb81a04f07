package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// While net/http serves a request over HTTP/1.1, it holds 20 KB: two buffers of the connection,
// one of the answer, the request, and a stack that has grown. A person may take an hour, and
// thousands may wait. So a request that is going to wait takes its connection from the server, and
// waits with one goroutine that only reads from it. Its answer closes the connection, which costs a
// client nothing beside the waiting.

// parkings are the connections on which requests wait.
type parkings struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
	// over says that no more are parked.
	over bool
	all  sync.WaitGroup
}

// Drain returns when every request that waits on a connection of its own has been answered. If ctx
// ends first, it cuts the others off. Call it when the servers have shut down, which do not wait
// for these requests.
func (a *API) Drain(ctx context.Context) {
	a.parked.mu.Lock()
	a.parked.over = true
	a.parked.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		a.parked.mu.Lock()
		defer a.parked.mu.Unlock()
		for conn := range a.parked.conns {
			_ = conn.Close() // its request ends as if the client had left
		}
	})()
	a.parked.all.Wait()
}

// mayPark reports whether the call's connection may be taken from the server: it must be its own,
// and no body may be left to read from it.
func (x *exchange) mayPark() bool { return x.r.ProtoMajor == 1 && (x.r.ContentLength == 0 || x.read) }

// teller answers a request that waited for an approval.
type teller func(x *exchange, answer *approval.Answer, err error) error

// park has the call wait for an approval on its connection, and then be answered by tell. The
// caller, who holds a slot, must return at once. If the connection cannot be taken from the server,
// the call waits here.
func (x *exchange) park(id approval.ID, until time.Time, tell teller) error {
	a := x.by.api
	if a.parked.enter() {
		conn, _, err := http.NewResponseController(x.w).Hijack()
		if err == nil {
			x.parked = true
			a.parked.hold(conn)
			(&waiter{by: x.by, agent: x.agent, conn: conn, id: id, until: until, tell: tell}).look()
			return nil
		}
		a.parked.all.Done() // a writer of a test
	}
	answer, err := a.proposals.Await(x.ctx(), x.agent, id, time.Until(until))
	a.unseat(seated)
	return tell(x, answer, err)
}

// waiter is a request that waits for an approval on a connection of its own.
type waiter struct {
	by    *endpoint
	agent string
	conn  net.Conn
	id    approval.ID
	until time.Time
	tell  teller
	// draining is whoever reads while the answer is written.
	draining sync.WaitGroup
}

// look answers the request, or has a new goroutine wait for the next change: what is read here
// makes a stack grow. The request itself and its context are let go.
func (w *waiter) look() {
	x := &exchange{w: &lateWriter{conn: w.conn, header: http.Header{}}, r: &http.Request{ProtoMajor: 1}, agent: w.agent, by: w.by}
	w.by.run(x.ctx(), x, w.serve)
	if !x.parked {
		w.end()
	}
}

// serve is look once a panic is caught.
func (w *waiter) serve(x *exchange) error {
	_ = w.conn.SetReadDeadline(w.until) // before the change that would set another one
	answer, leave, err := w.by.api.proposals.AwaitChange(x.ctx(), w.agent, w.id, w.wake)
	if leave != nil && time.Now().Before(w.until) {
		x.parked = true
		go w.wait(leave)
		return nil
	}
	if leave != nil {
		leave()
	}
	_ = w.conn.SetReadDeadline(time.Time{})
	w.draining.Go(func() { _ = drain(w.conn) })
	return w.tell(x, answer, err)
}

// wake ends the waiting.
func (w *waiter) wake() { _ = w.conn.SetReadDeadline(time.Unix(1, 0)) }

// wait waits until something changes, the time is up, or the client leaves.
func (w *waiter) wait(leave func()) {
	err := drain(w.conn)
	leave()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.look()
		return
	}
	w.by.codes.count(statusGone)
	w.end()
}

// end closes the connection, and gives the slot back.
func (w *waiter) end() {
	_ = w.conn.Close()
	w.draining.Wait()
	w.by.api.unseat(seated)
	w.by.api.parked.let(w.conn)
}

// enter announces a request to those who drain. It returns false if they have begun.
func (p *parkings) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.all.Add(1)
	}
	return !p.over
}

// hold notes the connection of a request that entered, so that it can be cut off.
func (p *parkings) hold(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = make(map[net.Conn]struct{})
	}
	p.conns[conn] = struct{}{}
}

// let forgets a connection on which nobody waits any more.
func (p *parkings) let(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	p.all.Done()
}

// drain reads until the connection's deadline or end, and returns which. What the client sends is
// dropped: nothing that follows on this connection is answered, and unread bytes would make the
// system cut the answer off with a reset.
func drain(conn net.Conn) error {
	var more [64]byte
	for {
		if _, err := conn.Read(more[:]); err != nil {
			return err
		}
	}
}

// lateWriter writes the only answer that follows on a connection.
type lateWriter struct {
	conn   net.Conn
	header http.Header
	status int
}

// Header returns the header of the answer.
func (w *lateWriter) Header() http.Header { return w.header }

// WriteHeader sets the status of the answer.
func (w *lateWriter) WriteHeader(status int) { w.status = status }

// Write sends the answer with all of its body.
func (w *lateWriter) Write(body []byte) (int, error) {
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	answer := http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Close: true,
		Header: w.header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	var whole bytes.Buffer
	if err := answer.Write(&whole); err != nil {
		return 0, err
	}
	if _, err := w.conn.Write(whole.Bytes()); err != nil {
		return 0, err
	}
	return len(body), nil
}
