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
// holds on the server, over HTTP/1.1. The clients are bare sockets in this
// process, so the figure includes their few bytes.
func BenchmarkParkedWaiters(b *testing.B) {
	const waiters = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*waiters {
		// Both ends of each connection are in this process.
		b.Logf("%d descriptors: parking fewer", limit.Cur)
	}
	n := min(waiters, (int(limit.Cur)-100)/2)
	for b.Loop() {
		b.ReportMetric(parked(b, n), "bytes/waiter")
		b.ReportMetric(float64(n), "waiters")
	}
}

func parked(b *testing.B, n int) float64 {
	g := newGate()
	c := config(g, io.Discard)
	c.MaxWaiters = n
	api, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := NewServer(api.Network(), c.Log)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	a := g.ask("a", dispatcher.Request{Proposal: vaglio.Proposal{Executor: "ask"}})
	conns := make([]net.Conn, n)
	before := inUse()
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conns[i], "GET /v1/approvals/%s?wait=10m HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", a.Approval.ID, tokenA)
	}
	for g.waiting() < n {
		runtime.Gosched()
	}
	used := inUse() - before
	g.decide(a.Approval.ID, approval.Denied)
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
	return float64(used) / float64(n)
}

// inUse is the memory that the process holds: heap, stacks and the runtime's.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse + m.OtherSys + m.MSpanInuse
}
