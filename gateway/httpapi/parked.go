package httpapi

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// While net/http serves a request over HTTP/1.1, it holds 20 KB: two buffers of the connection,
// one of the answer, the request, and a stack that has grown. A person may take an hour, and
// thousands may wait. So a request that is going to wait takes its connection from the server,
// and waits on a new goroutine that holds only what the answer needs. Its answer closes the
// connection, which costs a client nothing beside the waiting.

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

// park has a goroutine of its own go on with the call. The caller must return at once. If the
// connection cannot be taken from the server, the call goes on here.
func (x *exchange) park(rest func(*exchange) error) error {
	p := &x.by.api.parked
	if !p.enter() {
		return rest(x)
	}
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		p.all.Done()
		return rest(x) // a writer of a test
	}
	x.parked = true
	ctx, leave := context.WithCancel(context.WithoutCancel(x.ctx()))
	later := &exchange{
		w: &lateWriter{conn: conn, header: http.Header{}}, agent: x.agent, by: x.by,
		r: (&http.Request{ProtoMajor: 1}).WithContext(ctx),
	}
	p.hold(conn, func() {
		var watching sync.WaitGroup
		watching.Go(func() { watch(conn, leave) })
		later.by.run(ctx, later, rest)
		_ = conn.Close() // ends the watching
		watching.Wait()
		leave()
	})
	return nil
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

// hold runs a request that entered and waits on the connection.
func (p *parkings) hold(conn net.Conn, run func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = make(map[net.Conn]struct{})
	}
	p.conns[conn] = struct{}{}
	go func() {
		defer p.all.Done()
		run()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, conn)
	}()
}

// watch calls left when the client closes the connection. What else it sends is dropped: nothing
// that follows on this connection is answered, and unread bytes would make the system cut the
// answer off with a reset.
func watch(conn net.Conn, left func()) {
	var more [64]byte
	for {
		if _, err := conn.Read(more[:]); err != nil {
			left()
			return
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
