package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// manyCalls is how many calls make million has approved.
var manyCalls = flag.Int("calls", 0, "calls that TestManyCalls has approved")

// TestManyCalls has calls with 1 kB of arguments approved through the API, and
// tells what they cost and how long it takes to find them again. It is a
// measurement: nothing is claimed of times.
func TestManyCalls(t *testing.T) {
	n := *manyCalls
	if n == 0 {
		n = 500
	}
	h := newHome(t)
	s := h.serve()
	idle := h.resident(s)
	began := time.Now()
	h.approve(t, n)
	t.Logf("%-34s %10d", "calls approved", n)
	t.Logf("%-34s %10.0f calls a second", "through the API, 16 agents", float64(n)/time.Since(began).Seconds())
	t.Logf("%-34s %10d KiB idle, %d KiB after", "resident", idle, h.resident(s))
	p := s.signIn(s.link)
	for _, page := range []string{"/inbox", "/inbox/history", "/inbox/statistics?days=30", "/inbox/digest"} {
		began := time.Now()
		if r := p.get(page); r.status != http.StatusOK {
			t.Errorf("%s: %d", page, r.status)
		}
		t.Logf("%-34s %10s", page, time.Since(began).Round(time.Millisecond))
	}
	s.stop()
	for _, what := range []string{"vaglio.db", "vaglio.journal", "vaglio"} {
		size := h.size(t, what)
		t.Logf("%-34s %10d bytes, %d a call", what, size, size/int64(n))
	}
	for _, how := range []string{"clean", "kill"} {
		began := time.Now()
		s := h.serve()
		t.Logf("%-34s %10s", "start after a "+how+" end", time.Since(began).Round(time.Millisecond))
		if how == "clean" {
			s.kill()
		} else {
			s.stop()
		}
	}
}

// approve has n calls approved by 16 agents at once.
func (h *home) approve(t *testing.T, n int) {
	t.Helper()
	const agents, steps = 16, 50
	filler := strings.Repeat("What the file holds, line after line. ", 25)
	var next atomic.Int64
	var all sync.WaitGroup
	for range agents {
		all.Go(func() {
			c := &http.Client{Transport: h.over("agent.sock").Transport}
			c.Transport.(*http.Transport).DisableKeepAlives = false
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				body := fmt.Appendf(nil, `{"turn_id":"turn-%d","step":%d,"intent":"write the report","executor":"Write","args":{"file_path":"/srv/app/report-%d.txt","content":"%d %s"},"context":{"cwd":"/srv/app"}}`,
					i/steps, i%steps+1, i, i, filler)
				res, err := c.Post("http://vaglio/v1/proposals", "application/json", bytes.NewReader(body))
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

// size is how many bytes a file or a folder of the data folder has.
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

// resident is the memory of a daemon, in KiB; 0 where the system does not tell.
func (h *home) resident(s *served) (kib int) {
	for line := range strings.Lines(readProc(s.cmd.Process.Pid)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			return kib
		}
	}
	return 0
}

func readProc(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // not everywhere
	return string(b)
}
