package httpapi

import (
	"bufio"
	"context"
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

// benchCall has a place for a step's number: an agent does not propose the same
// step twice, and the turn log notes a repeat in the record of the first.
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

// BenchmarkProposeApproved is the approved path as it ships: API, engine and
// rules, turn log in the store.
func BenchmarkProposeApproved(b *testing.B) {
	in := start(b, filepath.Join(b.TempDir(), "store"), dispatcher.Deadlines{})
	overHTTP(b, in.api.Network(), "/v1/proposals?wait=30s")
}

// BenchmarkAPIAlone is what the API costs around the engine.
func BenchmarkAPIAlone(b *testing.B) {
	c := config(newGate(), io.Discard)
	c.Proposals = approving{}
	api, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	overHTTP(b, api.Network(), "/v1/proposals?wait=30s")
}

// BenchmarkBareHandler is the least that JSON over net/http costs here.
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

// BenchmarkParkedWaiters measures what one request that waits for a person
// holds on the server, over HTTP/1.1, and beside it what net/http alone holds for a
// handler that does nothing but wait. The clients are bare sockets in this
// process, so the figures include their few bytes.
func BenchmarkParkedWaiters(b *testing.B) {
	const waiters = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*waiters {
		// Both ends of each connection are in this process.
		b.Logf("%d descriptors: parking fewer", limit.Cur)
	}
	n := min(waiters, (int(limit.Cur)-100)/2)
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			in := start(b, filepath.Join(b.TempDir(), "store"), dispatcher.Deadlines{})
			a, err := in.dispatcher.Propose(b.Context(), "a", dispatcher.Request{Proposal: vaglio.Proposal{
				Intent: "clean the old build", Executor: "shell_exec", Args: vaglio.Args{"command": "make clean"}, Context: vaglio.Context{Cwd: "/srv/app"},
			}})
			if err != nil || a.Approval == nil {
				b.Fatal(a, err)
			}
			waiting := func() int { return int(in.api.slots.taken.Load()) }
			parked(b, n, NewServer(in.api.Network(), slog.New(slog.DiscardHandler)), "/v1/approvals/"+string(a.Approval.ID)+"?wait=10m", waiting, func() {
				if _, err := in.dispatcher.Withdraw(b.Context(), "a", a.Approval.ID); err != nil {
					b.Error(err)
				}
			})
		}
	})
	b.Run("net-http", func(b *testing.B) {
		for b.Loop() {
			var waits atomic.Int64
			decided := make(chan struct{})
			s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				waits.Add(1)
				<-decided
				w.WriteHeader(http.StatusOK)
			})}
			parked(b, n, s, "/", func() int { return int(waits.Load()) }, func() { close(decided) })
		}
	})
}

// parked has n requests wait on the server, and reports what they hold.
func parked(b *testing.B, n int, s *http.Server, path string, waiting func() int, decide func()) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conns := make([]net.Conn, n)
	before := inUse()
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conns[i], "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, tokenA)
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
	errs := make([]error, n)
	for i, conn := range conns {
		wg.Go(func() {
			defer conn.Close()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				errs[i] = err
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				errs[i] = fmt.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	s.Close()
	<-done
}

// memory is what the process holds, in bytes.
type memory struct{ heap, stack, all uint64 }

// inUse is the memory that the process holds: heap, stacks and the runtime's. A
// collection halves a stack that is larger than it needs to be, so it takes several.
func inUse() memory {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.HeapInuse, m.StackInuse, m.HeapInuse + m.StackInuse + m.OtherSys + m.MSpanInuse}
}
