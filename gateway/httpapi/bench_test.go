package httpapi

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// benchCall has room for a step's number: an agent does not propose the same step twice, and the
// turn log would record a repeat with the first one.
const benchCall = `{"turn_id":"t-81","step":%d,"intent":"clean the old build","executor":"fs_read",` +
	`"args":{"path":"/srv/data/build"},"context":{"mode":"local","capability":"fs:read","critical":false,"cwd":"/srv/app"}}`

// approving approves everything, so that a benchmark measures the API alone.
type approving struct{ *gate }

func (approving) ProposePlan(context.Context, string, []dispatcher.Request) ([]approval.Answer, error) {
	return []approval.Answer{{Decision: approval.RulingAllow, Verdict: verdict(true, vaglio.PhaseNone)}}, nil
}

// overHTTP posts the body over kept-alive loopback connections.
func overHTTP(b *testing.B, h http.Handler, path string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := NewServer(h, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		s.Close()
		<-done
	}()
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	url := "http://" + l.Addr().String() + path
	var steps atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, _ := http.NewRequest("POST", url, strings.NewReader(fmt.Sprintf(benchCall, steps.Add(1))))
			r.Header.Set("Authorization", "Bearer "+tokenA)
			r.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 {
				b.Errorf("status %d", resp.StatusCode)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkProposeApproved measures the approved path as shipped: API, engine and rules, and the
// turn log in the store.
func BenchmarkProposeApproved(b *testing.B) {
	in := start(b, filepath.Join(b.TempDir(), "store"), dispatcher.Deadlines{})
	overHTTP(b, in.api.Network(), "/v1/proposals?wait=30s")
}

// BenchmarkAPIAlone measures the API without the engine.
func BenchmarkAPIAlone(b *testing.B) {
	c := config(newGate(), io.Discard)
	c.Proposals = approving{}
	api, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	overHTTP(b, api.Network(), "/v1/proposals?wait=30s")
}

// BenchmarkBareHandler measures the least that JSON over net/http costs.
func BenchmarkBareHandler(b *testing.B) {
	overHTTP(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v map[string]any
		if err := strictjson.ReadLoose(r.Body, &v); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = strictjson.MarshalWrite(w, map[string]any{"approved": true, "executor": v["executor"]})
	}), "/")
}

// BenchmarkParkedWaiters measures what one request that waits for a person holds on the server,
// over HTTP/1.1 and HTTP/2, and beside it what net/http alone holds for a handler that only waits.
// The clients are bare sockets in this process, so the figures include their few bytes.
func BenchmarkParkedWaiters(b *testing.B) {
	const waiters = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*waiters {
		// This process has both ends of each connection.
		b.Logf("%d descriptors: parking fewer", limit.Cur)
	}
	n := min(waiters, (int(limit.Cur)-100)/2)
	ours := func(b *testing.B, by client) {
		b.Helper()
		for b.Loop() {
			in := start(b, filepath.Join(b.TempDir(), "store"), dispatcher.Deadlines{})
			a, err := in.dispatcher.Propose(b.Context(), "a", dispatcher.Request{Proposal: vaglio.Proposal{
				Intent: "clean the old build", Executor: "shell_exec", Args: vaglio.Args{"command": "make clean"}, Context: vaglio.Context{Cwd: "/srv/app"},
			}})
			if err != nil || a.Approval == nil {
				b.Fatal(a, err)
			}
			waiting := func() int { return int(in.api.slots.taken.Load()) }
			parked(b, n, by, NewServer(in.api.Network(), slog.New(slog.DiscardHandler)), "/v1/approvals/"+string(a.Approval.ID)+"?wait=10m", waiting, func() {
				if _, err := in.dispatcher.Withdraw(b.Context(), "a", a.Approval.ID); err != nil {
					b.Error(err)
				}
			})
		}
	}
	b.Run("ours", func(b *testing.B) { ours(b, http1) })
	b.Run("ours-proposing", func(b *testing.B) { ours(b, proposing) })
	b.Run("ours-http2", func(b *testing.B) { ours(b, http2) })
	b.Run("net-http", func(b *testing.B) {
		for b.Loop() {
			var waits atomic.Int64
			decided := make(chan struct{})
			s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				waits.Add(1)
				<-decided
				w.WriteHeader(http.StatusOK)
			})}
			parked(b, n, http1, s, "/", func() int { return int(waits.Load()) }, func() { close(decided) })
		}
	})
}

// client is how requests wait over connections: each on every connection, sent by ask, with
// answers read by answered.
type client struct {
	each     int
	ask      func(c net.Conn, n int, path string) error
	answered func(c net.Conn, n int) error
}

// equalCall is the call that all waiters wait for.
const equalCall = `{"intent":"clean the old build","executor":"shell_exec","args":{"command":"make clean"},"context":{"cwd":"/srv/app"}}`

// proposing parks a proposal of an equal call per connection, http1 one request for the approval,
// http2 as many as the server allows.
var (
	http1 = client{1, func(c net.Conn, _ int, path string) error {
		_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, tokenA)
		return err
	}, func(c net.Conn, _ int) error {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	}}
	proposing = client{1, func(c net.Conn, _ int, _ string) error {
		_, err := fmt.Fprintf(c, "POST /v1/proposals?wait=10m HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", tokenA, len(equalCall), equalCall)
		return err
	}, http1.answered}
	http2 = client{1000, askStreams, streamsAnswered}
)

// The parts of HTTP/2 that requests and their answers need.
const (
	frameHeaders, frameSettings, frameWindow = 1, 4, 8
	endStream, endHeaders                    = 1, 4
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return append(binary.BigEndian.AppendUint32(append(head, flags), stream), payload...)
}

// askStreams opens an HTTP/2 connection and sends n requests.
func askStreams(c net.Conn, n int, path string) error {
	out := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameSettings, 0, 0, nil)...)
	out = append(out, frame(frameWindow, 0, 0, binary.BigEndian.AppendUint32(nil, 1<<30))...)
	text := func(s string) string { return string(rune(len(s))) + s }                               // shorter than 127
	block := "\x82\x86\x04" + text(path) + "\x01" + text("x") + "\x0f\x08" + text("Bearer "+tokenA) // GET, http, by the table of RFC 7541
	for i := range n {
		out = append(out, frame(frameHeaders, endStream|endHeaders, uint32(2*i+1), []byte(block))...)
	}
	_, err := c.Write(out)
	return err
}

// streamsAnswered reads until n streams have ended.
func streamsAnswered(c net.Conn, n int) error {
	in := bufio.NewReader(c)
	for n > 0 {
		var head [9]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		size, kind, flags := int(head[0])<<16|int(head[1])<<8|int(head[2]), head[3], head[4]
		payload := make([]byte, size)
		if _, err := io.ReadFull(in, payload); err != nil {
			return err
		}
		if kind == frameHeaders && (size == 0 || payload[0] != 0x88) { // status 200 in the static table
			return fmt.Errorf("answered by %x", payload)
		}
		if kind <= frameHeaders && flags&endStream != 0 {
			n--
		}
	}
	return nil
}

// parked makes n requests wait on the server, and reports the memory that they hold.
func parked(b *testing.B, n int, by client, s *http.Server, path string, waiting func() int, decide func()) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conns := make([]net.Conn, n/by.each)
	n = len(conns) * by.each
	before := inUse()
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
		if err := by.ask(conns[i], by.each, path); err != nil {
			b.Fatal(err)
		}
	}
	for waiting() < n {
		runtime.Gosched()
	}
	after := inUse()
	for what, bytes := range map[string]uint64{"heap": after.heap - before.heap, "stack": after.stack - before.stack, "all": after.all - before.all} {
		b.ReportMetric(float64(bytes)/float64(n), what+"-bytes/waiter")
	}
	b.ReportMetric(float64(n), "waiters")
	decide()
	var wg sync.WaitGroup
	errs := make([]error, len(conns))
	for i, conn := range conns {
		wg.Go(func() {
			defer conn.Close()
			errs[i] = by.answered(conn, by.each)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	s.Close()
	<-done
}

// memory is what the process uses, in bytes.
type memory struct{ heap, stack, all uint64 }

// inUse returns the memory in use: heap, stacks and all. It collects several times, because each
// collection only halves a stack that is too large.
func inUse() memory {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.HeapInuse, m.StackInuse, m.HeapInuse + m.StackInuse + m.OtherSys + m.MSpanInuse}
}
