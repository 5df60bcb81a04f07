package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
)

// judgeKills is how often TestKilledWhileJudgesRun kills; then what is left of the
// judges has two seconds to go.
var judgeKills = flag.Int("judge.kills", 0, "kills while judges run")

// sharedFolder is a folder that the user of sandboxes may enter: a root's daemon
// starts commands as nobody.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "work") //nolint:usetesting // Nobody else may pass through the folder of a test.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bearing are the processes whose command lines bear the mark: those of a sandbox are
// bubblewrap's and all that it started.
func bearing(t *testing.T, mark string) (all []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range lines {
		line, err := os.ReadFile(at)
		if err == nil && strings.Contains(string(line), mark) {
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// until looks every few milliseconds, for the kernel tells nobody, whether something
// is so; it says how long that took, or false when the time is over.
func until(within time.Duration, is func() bool) (time.Duration, bool) {
	begun := time.Now()
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if is() {
			tick.Stop()
			return time.Since(begun), true
		}
		if time.Since(begun) > within {
			tick.Stop()
			return time.Since(begun), false
		}
	}
}

// TestKilledWhileJudgesRun kills the daemon while a judge agent's command runs in a
// sandbox. Nothing of that is left, nothing passed, and the same call under the same
// key is judged anew by the next daemon.
func TestKilledWhileJudgesRun(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not here")
	}
	rounds, within := *judgeKills, 2*time.Second
	if rounds == 0 {
		rounds, within = 6, patience // a busy machine ends processes when it comes to that
		if len(buildFlags) > 0 || testing.Short() {
			rounds = 3
		}
	}
	// As many seconds as nobody else sleeps.
	mark := fmt.Sprintf("7777.%09d", os.Getpid())
	asked := make(chan bool, 1)
	runs := true
	mind := modeltest.Start(modeltest.OpenAI, func(modeltest.Seen) modeltest.Step {
		asked <- true
		if runs {
			return modeltest.Step{Calls: []modeltest.Call{{Name: "cmd_run", Args: `{"command":"sleep ` + mark + `"}`}}}
		}
		return modeltest.Step{Text: `{"score":0.1,"confidence":1,"reasoning":"no"}`}
	})
	defer mind.Close()
	h, work := newHome(t), sharedFolder(t)
	h.policy(t, fmt.Sprintf("models: [{name: local, api: openai, base_url: %q, model: m}]\nworkspaces: [%q]\n", mind.URL(), work)+
		"judge_agents: [{name: qa, model: local, tools: [{name: cmd.run, allowlist: [sleep]}]}]\n"+
		"execution: {tool_validation: [{type: semantic, judge_agent: qa, criteria: c}]}\n")
	seed := chosenSeed()
	t.Logf("the seed is %d", seed)
	dice := rand.New(rand.NewPCG(seed, 14))
	client := h.over("agent.sock")
	body := fmt.Sprintf(`{"turn_id":"t","step":1,"intent":"read the notes","executor":"read_file","args":{"path":"notes.md"},"context":{"cwd":%q}}`, work)
	slowest, running := time.Duration(0), 0
	for round := range rounds {
		s := h.serve()
		told := make(chan reply, 1)
		go func() {
			r, err := trySend(context.WithoutCancel(t.Context()), client, http.MethodPost, "http://vaglio/v1/proposals?wait=50s", body, "")
			if err != nil {
				r = reply{}
			}
			told <- r
		}()
		select {
		case <-asked: // as in every round before: no answer was kept
		case r := <-told:
			t.Fatalf("round %d: %+v without being judged\n%s", round, r, s.log)
		case <-time.After(patience):
			t.Fatalf("round %d: nobody is asked\n%s", round, s.log)
		}
		if round%2 == 0 {
			sleeps := func(line string) bool {
				return strings.HasSuffix(strings.TrimSpace(line), "sleep "+mark) && !strings.Contains(line, "prlimit")
			}
			if _, ok := until(patience, func() bool { return slices.ContainsFunc(bearing(t, mark), sleeps) }); !ok {
				t.Fatalf("round %d: nothing runs: %v\n%s", round, bearing(t, mark), s.log)
			}
		} else {
			time.Sleep(time.Duration(dice.Int64N(int64(100 * time.Millisecond)))) // a random instant, not a wait for something
		}
		if len(bearing(t, mark)) > 0 {
			running++
		}
		s.kill()
		took, gone := until(within, func() bool { return len(bearing(t, mark)) == 0 })
		if !gone {
			t.Errorf("seed %d, round %d: after %s there is still %q", seed, round, took, bearing(t, mark))
		}
		slowest = max(slowest, took)
		if r := <-told; r.status == http.StatusOK && r.answer(t).Decision == approval.RulingAllow {
			t.Errorf("seed %d, round %d: it passed: %s", seed, round, r.body)
		}
	}
	runs = false
	s := h.serve()
	if a := s.local("POST", "/v1/proposals", body).answer(t); len(asked) != 1 || a.Decision != approval.RulingPending || a.Approval == nil || a.Verdict.Approved {
		t.Errorf("the last: asked %d times, %+v", len(asked), a)
	}
	var log struct {
		Steps []struct {
			Verdict *struct {
				Approved bool `json:"approved"`
			} `json:"verdict"`
		} `json:"steps"`
	}
	r := s.local("GET", "/v1/turns/t", "")
	if err := strictjson.UnmarshalLoose([]byte(r.body), &log); err != nil || len(log.Steps) == 0 {
		t.Fatalf("%v: %s", err, r.body)
	}
	for _, step := range log.Steps {
		if step.Verdict == nil || step.Verdict.Approved {
			t.Errorf("the turn log has %s", r.body)
		}
	}
	t.Logf("%d kills, in %d of them a sandbox ran; the last process of one was gone after %s", rounds, running, slowest)
}
