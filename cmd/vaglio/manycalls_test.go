package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/bolt"
)

// manyCalls is how many calls `make million` gets approved.
var manyCalls = flag.Int("calls", 0, "calls that TestManyCalls has approved")

// TestManyCalls gets calls with 1 kB of arguments approved through the API, and prints what they
// cost and how long it takes to find them again. It only measures; no time makes it fail.
func TestManyCalls(t *testing.T) {
	n := *manyCalls
	if n == 0 {
		n = 500
	}
	newHome(t).lifeOf(t, n)
}

// lifeOf gets n calls approved, and prints what that and finding them again costs.
func (h *home) lifeOf(t *testing.T, n int) {
	t.Helper()
	s := h.serve()
	h.ofMemory(t, s, "at the start", "") // before its first look whether it is idle
	began := time.Now()
	approve(t, h.agents(), n, aCall)
	t.Logf("%-34s %10d", "calls approved", n)
	t.Logf("%-34s %10.0f calls a second", "through the API, 16 agents", float64(n)/time.Since(began).Seconds())
	h.ofMemory(t, s, "after the calls", "60 MB after a million")
	if *manyCalls > 0 {
		h.atRest(t, s, "after a rest", "")
	}
	p := s.signIn(s.link)
	for _, page := range []struct{ at, goal string }{{"/inbox", ""}, {"/inbox/history", ""}, {"/inbox/statistics?days=365", "300ms over 1M"}, {"/inbox/digest", "1s for 100,000"}} {
		began := time.Now()
		if r := p.get(page.at); r.status != http.StatusOK {
			t.Errorf("%s: %d", page.at, r.status)
		}
		figure(t, page.at, time.Since(began).Round(time.Millisecond).String(), page.goal)
	}
	for _, args := range [][]string{{"digest", "--check"}, {"log", "verify"}} {
		h.timed(t, args...)
	}
	s.stop()
	sizes := func() {
		for _, what := range []struct{ name, goal string }{{"vaglio.db", ""}, {"vaglio.journal", "800 a call, given back"}, {"vaglio", ""}} {
			size := h.size(t, what.name)
			figure(t, what.name, fmt.Sprintf("%10d bytes, %d a call", size, size/int64(n)), what.goal)
		}
	}
	sizes()
	started := func(after, goal string) *served {
		began := time.Now()
		s := h.serve()
		figure(t, "start after "+after, time.Since(began).Round(time.Millisecond).String(), goal)
		return s
	}
	started("a clean end", "300ms with 1M").kill()
	started("a kill", "1s with 1M").stop()
	h.forget(t)
	h.timed(t, "compact")
	sizes()
}

// timed runs a command that must succeed, and prints how long it took.
func (h *home) timed(t *testing.T, args ...string) {
	t.Helper()
	began := time.Now()
	if r := h.run("", args...); r.code != exitOK {
		t.Errorf("vaglio %v: exit code %d, %s%s", args, r.code, r.out, r.err)
	}
	figure(t, "vaglio "+strings.Join(args, " "), time.Since(began).Round(time.Millisecond).String(), "")
}

// forget drops the turn log as the sweep does when it expires.
func (h *home) forget(t *testing.T) {
	t.Helper()
	db, err := bolt.Open(h.data(datafolder.StoreFile), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := errors.Join(db.Forget(t.Context(), began), db.Close()); err != nil {
		t.Fatal(err)
	}
	figure(t, "the turn log is dropped", time.Since(began).Round(time.Millisecond).String(), "200ms for 20,000")
}

// ratioCalls is how many calls each side of `make bench-ratio` answers, and ratioLong whether it also
// prints what takes long.
var (
	ratioCalls = flag.Int("ratio", 0, "calls that TestRatio puts to each side")
	ratioLong  = flag.Bool("ratio.long", false, "TestRatio also has a million calls approved, kills 100 daemons and parks 10,000 waiters")
)

// TestRatio gets calls approved by a daemon, and the same requests answered by the smallest server
// that reads and writes JSON over net/http, in turns, and prints the processor time of each. It
// only measures; no time makes it fail.
//
// Hardly any call of a real agent repeats an earlier one of its session, and a session has
// hundreds of calls. The gate caches verdicts and remembers sessions, so each shows separately.
func TestRatio(t *testing.T) {
	const rounds = 5
	n := max(*ratioCalls, 500) / rounds
	h := newHome(t)
	s := h.serve()
	bare, least := h.bare(t)
	if *ratioCalls > 0 {
		h.atRest(t, s, "idle, before any call", "30 MB")
	}
	for _, kind := range []struct {
		name string
		call func(i int64) []byte
	}{{"distinct calls, 50 a session", aCall}, {"distinct calls, 1000 a session", aLateCall}, {"equal calls that only read", anEqualCall}} {
		approve(t, h.agents(), n, kind.call) // so that what is built at first use is built
		approve(t, least, n, kind.call)
		var ours, theirs time.Duration
		for range rounds {
			before := []time.Duration{processorTime(t, s.cmd.Process.Pid), processorTime(t, bare.Process.Pid)}
			approve(t, h.agents(), n, kind.call)
			approve(t, least, n, kind.call)
			ours += processorTime(t, s.cmd.Process.Pid) - before[0]
			theirs += processorTime(t, bare.Process.Pid) - before[1]
		}
		figure(t, kind.name, fmt.Sprintf("%10d µs a call, bare %d µs: ratio %.2f", ours.Microseconds()/int64(n*rounds),
			theirs.Microseconds()/int64(n*rounds), float64(theirs)/float64(max(ours, 1))), "0.50; 1 would be free")
	}
	h.ofMemory(t, s, "after the calls", "60 MB")
	if *ratioCalls > 0 {
		h.ofHook(t)
		h.ofJudge(t, 100_000)
		h.atRest(t, s, "after a rest", "")
	}
	s.stop()
	if *ratioCalls > 0 {
		ofTheRest(t)
	}
}

// ofTheRest prints what has no other side to compare with: what many calls, waiters and kills cost.
func ofTheRest(t *testing.T) {
	t.Helper()
	calls, waiters, kills := *ratioCalls, 2000, 10
	if *ratioLong {
		calls, waiters, kills = 1_000_000, 10_000, 100
	}
	newHome(t).lifeOf(t, calls)
	newHome(t).ofWaiters(t, waiters)
	ofBenchmark(t, "waiter in the process, of 10,000", "BenchmarkParkedWaiter", "B/waiter", "4 KiB")
	ofBenchmark(t, "history: an event with its leaf", "BenchmarkChange", "ns/op", "40 µs")
	all, kept := keptOverKills(t, kills, chosenSeed())
	figure(t, fmt.Sprintf("approved calls kept over %d kills", kills), fmt.Sprintf("%10d of %d, %.1f %%", kept, all, 100*float64(kept)/float64(max(all, 1))), "100 % over 100")
}

// bareSocket tells the test's own binary to serve the bare handler.
const bareSocket = "VAGLIO_TEST_BARE"

// bare starts the smallest server of JSON over net/http, as a process of its own.
func (h *home) bare(t *testing.T) (*exec.Cmd, *http.Client) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(slices.Clone(h.env), bareSocket+"="+filepath.Join(h.dir, "bare"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the bare server did not start: %v", err)
	}
	return cmd, keptAlive(filepath.Join(h.dir, "bare"))
}

// serveBare is what the bare server's process runs.
func serveBare(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("!"); err != nil {
		return err
	}
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v map[string]any
		if err := strictjson.ReadLoose(r.Body, &v); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = strictjson.MarshalWrite(w, map[string]any{"decision": "allow", "executor": v["executor"]})
	}))
}

// processorTime returns what a process has used; 0 if the system does not report it.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // what Linux counts in on every machine that Go runs on
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, errUser := strconv.Atoi(fields[11])
	system, errSystem := strconv.Atoi(fields[12])
	if err := errors.Join(errUser, errSystem); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * tick
}

// agents returns a client of the agents' socket that keeps its connections.
func (h *home) agents() *http.Client { return keptAlive(h.data("agent.sock")) }

func keptAlive(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 16,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

// callsMade numbers the calls of all rounds, so that none is proposed twice.
var callsMade atomic.Int64

// aCall returns the i-th call, which writes a file of its own; a session has 50 of them.
func aCall(i int64) []byte { return writes(i/50, i%50, i) }

// aLateCall returns the i-th call of 16 agents who work in sessions of 1000 calls.
func aLateCall(i int64) []byte { return writes(1e6+i/16000*16+i%16, i/16%1000, i) }

// anEqualCall returns the i-th call, which asks what the ones before it asked. Calls that write are
// never equal for the gate: each is judged by what the session wrote before.
func anEqualCall(i int64) []byte {
	return fmt.Appendf(nil, `{"turn_id":"turn-%d","step":%d,"executor":"Bash","args":{"command":"git status --short && git diff --stat"},"context":{"cwd":"/srv/app"}}`, 2_000_000+i/50, i%50+1)
}

func writes(turn, step, file int64) []byte {
	filler := strings.Repeat("What the file holds, line after line. ", 25)
	return fmt.Appendf(nil, `{"turn_id":"turn-%d","step":%d,"intent":"write the report","executor":"Write","args":{"file_path":"/srv/app/report-%d.txt","content":"%d %s"},"context":{"cwd":"/srv/app"}}`,
		turn, step+1, file, file, filler)
}

// approve gets n calls approved by 16 agents at once.
func approve(t *testing.T, c *http.Client, n int, call func(i int64) []byte) {
	t.Helper()
	const agents = 16
	defer c.CloseIdleConnections()
	var next atomic.Int64
	var all sync.WaitGroup
	for range agents {
		all.Go(func() {
			for next.Add(1) <= int64(n) {
				i := callsMade.Add(1)
				res, err := c.Post("http://vaglio/v1/proposals", "application/json", bytes.NewReader(call(i)))
				if err != nil {
					t.Error(err)
					return
				}
				answer, _ := io.ReadAll(res.Body)
				res.Body.Close()
				if !strings.Contains(string(answer), `"decision":"allow"`) {
					t.Errorf("%d: %d %.300s", i, res.StatusCode, answer)
					return
				}
			}
		})
	}
	all.Wait()
}

// size returns the size of a file or folder in the data folder, in bytes.
func (h *home) size(t *testing.T, what string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(h.data(what), func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// resident returns a daemon's memory in KiB, and how much of it is pages of files: mostly of its
// program, which the system maps in large pieces and can take back. They are 0 if the system does
// not report them.
func (h *home) resident(s *served) (kib, ofFiles int) {
	for line := range strings.Lines(readProc(s.cmd.Process.Pid)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kib) // most lines are about something else
		_, _ = fmt.Sscanf(line, "RssFile: %d kB", &ofFiles)
	}
	return kib, ofFiles
}

func readProc(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // not available everywhere
	return string(b)
}
