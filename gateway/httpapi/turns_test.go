package httpapi

import (
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// crowd is a gate that takes any executor, and agents who send it many calls.
type crowd struct {
	*instance
	*testing.T
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	in := startWith(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{}, 0.3, catalog.Config{})
	in.http = http.DefaultClient // many answers of one kind need not be compared with the document each
	return &crowd{in, t}
}

// calls proposes a call, and returns what was decided.
func (c *crowd) calls(turn string, step int, executor, args string) approval.Ruling {
	c.Helper()
	body := fmt.Sprintf(`{"turn_id":%q,"step":%d,"intent":"look around","executor":%q,"args":%s,"context":{"cwd":"/srv/app"}}`, turn, step, executor, args)
	return c.do(c.T, http.MethodPost, "/v1/proposals", body).answer(c.T).Decision
}

// page reads steps of a turn.
func (c *crowd) page(path string) (log turnLog) {
	c.Helper()
	r := c.do(c.T, http.MethodGet, path, "")
	if err := strictjson.UnmarshalLoose([]byte(r.body), &log); err != nil || r.status != http.StatusOK {
		c.Fatalf("%.100s: %d, %v: %.200s", path, r.status, err, r.body)
	}
	return log
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what has a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

const (
	look  = `{"path":"/srv/app/readme"}`
	wrong = `{"command":"rm -rf /"}`
)

// TestATurnWithALongName has ids of 10 kB that differ at their ends: each is a turn of its own, for
// what passed and for what was denied, in numbers and in the history.
func TestATurnWithALongName(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	turns := []string{strings.Repeat("x", 10_000) + "a", strings.Repeat("x", 10_000) + "b"}
	for _, turn := range turns {
		if got := c.calls(turn, 1, "read_notes", look); got != approval.RulingAllow {
			t.Fatalf("reading: %s", got)
		}
		if got := c.calls(turn, 2, "shell_exec", wrong); got != approval.RulingDeny {
			t.Fatalf("deleting all: %s", got)
		}
	}
	for _, turn := range turns {
		if log := c.page("/v1/turns/" + turn); len(log.Steps) != 2 || log.TurnID != turn || log.More {
			t.Errorf("the turn has %d steps, more %t", len(log.Steps), log.More)
		}
	}
	s, err := c.dispatcher.Statistics(t.Context(), report.Range{Days: 2})
	if err != nil || s.Turns.Turns != 2 || s.Counts.Judged != 4 {
		t.Errorf("the statistics know %+v turns, %+v, %v", s.Turns, s.Counts, err)
	}
	if r := c.do(t, http.MethodGet, "/v1/turns/"+strings.Repeat("y", 10_000), ""); r.status != http.StatusNotFound {
		t.Errorf("a turn that never was: %d", r.status)
	}
}

// TestATurnOfManySteps reads a turn of more steps than a page has, some of them denied, page by page:
// each step is on one page. A short run has fewer; make test-long has 20,000.
func TestATurnOfManySteps(t *testing.T) {
	race.Alone(t)
	steps := 20_000
	if testing.Short() {
		steps = 4500
	}
	c := newCrowd(t)
	for n := range steps {
		executor, args, want := "read_notes", look, approval.RulingAllow
		if n%10 == 7 {
			executor, args, want = "shell_exec", wrong, approval.RulingDeny
		}
		if got := c.calls("endless", n+1, executor, args); got != want {
			t.Fatalf("step %d: %s", n, got)
		}
	}
	seen := map[int]bool{}
	before := heap()
	pages := 0
	for path := "/v1/turns/endless"; ; pages++ {
		log := c.page(path)
		if len(log.Steps) == 0 || len(log.Steps) > 2000 {
			t.Fatalf("page %d has %d steps", pages, len(log.Steps))
		}
		for i := range log.Steps {
			n := log.Steps[i].Proposal.Step
			if seen[n] {
				t.Fatalf("step %d is on two pages", n)
			}
			seen[n] = true
		}
		if !log.More {
			break
		}
		path = "/v1/turns/endless?before=" + log.Older
	}
	if len(seen) != steps {
		t.Errorf("%d of %d steps are on %d pages", len(seen), steps, pages+1)
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("reading the pages keeps %d MiB", grown>>20)
	}
	for query, want := range map[string]int{"before=x": 400, "before=-1": 400, "after=1": 400, "before=1": 404} {
		if r := c.do(t, http.MethodGet, "/v1/turns/endless?"+query, ""); r.status != want {
			t.Errorf("%s: %d, want %d", query, r.status, want)
		}
	}
}

// TestManyNamesTakeLittle sends calls that are each of another turn and of an executor with another
// name: what is kept in memory of each is small, only so many are told apart, the rest is summed up
// as others, and every one is found. make test-long has 100,000.
func TestManyNamesTakeLittle(t *testing.T) {
	race.Alone(t)
	calls := 100_000
	if testing.Short() {
		calls = 4000
	}
	c := newCrowd(t)
	name := func(n int) string { return fmt.Sprintf("read_%06d_%s", n, strings.Repeat("n", 100)) }
	warm := 500
	for n := range warm {
		c.calls(fmt.Sprint("turn-", n), 1, name(n), look)
	}
	before := heap()
	for n := warm; n < calls; n++ {
		if got := c.calls(fmt.Sprint("turn-", n), 1, name(n), look); got != approval.RulingAllow {
			t.Fatalf("call %d: %s", n, got)
		}
	}
	began := time.Now()
	s, err := c.dispatcher.Statistics(t.Context(), report.Range{Days: 2})
	if err != nil || s.Counts.Judged != calls || s.Turns.Turns != calls {
		t.Fatalf("the statistics know %d calls in %d turns, %v", s.Counts.Judged, s.Turns.Turns, err)
	}
	others := 0
	for i := range s.Executors {
		if s.Executors[i].Name == "" {
			others = s.Executors[i].Judged
		}
	}
	if len(s.Executors) > 50 || others < calls-50 {
		t.Errorf("%d executors are told apart, and %d calls are others", len(s.Executors), others)
	}
	t.Logf("the statistics took %v", time.Since(began))
	grown := heap() - before
	t.Logf("%d bytes are kept of each of %d calls", grown/int64(calls-warm), calls)
	if most := int64(8<<20) + int64(calls)*100; grown > most {
		t.Errorf("%d MiB are kept in memory of %d calls, at most %d are allowed", grown>>20, calls, most>>20)
	}
	for _, n := range []int{0, warm, calls / 2, calls - 1} {
		if log := c.page(fmt.Sprint("/v1/turns/turn-", n)); len(log.Steps) != 1 || log.Steps[0].Proposal.Executor != name(n) {
			t.Errorf("turn %d has %d steps", n, len(log.Steps))
		}
		page, err := c.dispatcher.History(t.Context(), approval.Filter{Executor: name(n)})
		if err != nil || len(page.Entries) != 1 || page.Older != 0 {
			t.Errorf("of executor %d, %d calls are found, %v", n, len(page.Entries), err)
		}
	}
}
