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
	"sync/atomic"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
)

// judgeKills is how often TestKilledWhileJudgesRun kills. If it is set, the judges' processes must
// be gone within two seconds.
var judgeKills = flag.Int("judge.kills", 0, "kills while judges run")

// sharedFolder returns a folder that the sandboxes' user may enter: a daemon run by root starts
// commands as nobody.
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

// bearing returns the processes whose command lines contain the mark: a sandbox's are bubblewrap and
// everything it started.
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

// until polls a condition, because the kernel notifies nobody. It returns how long that took, and
// false if the time is up.
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

// sleeping returns a home whose judge agent runs an endless command, with the mark in its
// processes' command lines. Each question to the model is signalled on the channel; reply returns
// the answer, or "" for the command.
func sleeping(t *testing.T, reply func() string) (h *home, call, mark string, asked chan bool) {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not here")
	}
	// A number of seconds that nobody else sleeps.
	mark = fmt.Sprintf("7777.%09d", rand.Int32())
	asked = make(chan bool, 1)
	mind := modeltest.Start(modeltest.OpenAI, func(modeltest.Seen) modeltest.Step {
		select {
		case asked <- true:
		default: // nobody looks any more
		}
		if text := reply(); text != "" {
			return modeltest.Step{Text: text}
		}
		return modeltest.Step{Calls: []modeltest.Call{{Name: "cmd_run", Args: `{"command":"sleep ` + mark + `"}`}}}
	})
	t.Cleanup(mind.Close)
	h, work := newHome(t), sharedFolder(t)
	h.policy(t, fmt.Sprintf("models: [{name: local, api: openai, base_url: %q, model: m}]\nworkspaces: [%q]\n", mind.URL(), work)+
		"judge_agents: [{name: qa, model: local, tools: [{name: cmd.run, allowlist: [sleep]}]}]\n"+
		"execution: {tool_validation: [{type: semantic, judge_agent: qa, criteria: c}]}\n")
	call = fmt.Sprintf(`{"turn_id":"t","step":1,"intent":"read the notes","executor":"read_file","args":{"path":"notes.md"},"context":{"cwd":%q}}`, work)
	return h, call, mark, asked
}

// runs waits until the command with the mark runs.
func runs(t *testing.T, mark string) {
	t.Helper()
	sleeps := func(line string) bool {
		return strings.HasSuffix(strings.TrimSpace(line), "sleep "+mark) && !strings.Contains(line, "prlimit")
	}
	if _, ok := until(patience, func() bool { return slices.ContainsFunc(bearing(t, mark), sleeps) }); !ok {
		t.Fatalf("nothing runs: %v", bearing(t, mark))
	}
}

// TestAJudgeEndsWithItsAgent cuts the agent's connection while a judge's command runs.
func TestAJudgeEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	h, call, mark, _ := sleeping(t, func() string { return "" })
	s := h.serve()
	ctx, hangUp := context.WithCancel(t.Context())
	told := make(chan error, 1)
	go func() {
		_, err := trySend(ctx, h.over("agent.sock"), http.MethodPost, "http://vaglio/v1/proposals?wait=50s", call, "")
		told <- err
	}()
	runs(t, mark)
	hangUp()
	if err := <-told; err == nil {
		t.Error("the call was answered")
	}
	took, gone := until(patience, func() bool { return len(bearing(t, mark)) == 0 })
	if !gone {
		t.Errorf("there is still %q\n%s", bearing(t, mark), s.log)
	}
	t.Logf("the judge's processes were gone %s after its agent", took)
}

// TestKilledWhileJudgesRun kills the daemon while a judge agent's command runs in a sandbox. No
// process is left, nothing was allowed, and the next daemon judges the same call under the same key
// anew.
func TestKilledWhileJudgesRun(t *testing.T) {
	t.Parallel()
	rounds, within := *judgeKills, 2*time.Second
	if rounds == 0 {
		rounds, within = 6, patience // a busy machine takes its time to end processes
		if race.Detector || testing.Short() {
			rounds = 1
		}
	}
	var last atomic.Bool
	h, body, mark, asked := sleeping(t, func() string {
		if last.Load() {
			return `{"score":0.1,"confidence":1,"reasoning":"no"}`
		}
		return ""
	})
	seed := chosenSeed()
	t.Logf("the seed is %d", seed)
	dice := rand.New(rand.NewPCG(seed, 14))
	client := h.over("agent.sock")
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
		case <-asked: // in every round: no answer was kept
		case r := <-told:
			t.Fatalf("round %d: %+v without being judged\n%s", round, r, s.log)
		case <-time.After(patience):
			t.Fatalf("round %d: nobody is asked\n%s", round, s.log)
		}
		if round%2 == 0 {
			runs(t, mark)
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
	last.Store(true)
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
