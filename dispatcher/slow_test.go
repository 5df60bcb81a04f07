package dispatcher_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// pondering is a judge that takes its time. It rejects the executor "no".
type pondering struct {
	takes        time.Duration
	asked, ended atomic.Int32
	now, most    atomic.Int32
	mu           sync.Mutex
	turns        []*vaglio.Turn
}

func (*pondering) Kind() string { return "pondering" }

func (j *pondering) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	j.asked.Add(1)
	j.mu.Lock()
	j.most.Store(max(j.most.Load(), j.now.Add(1)))
	j.turns = append(j.turns, p.Context.Turn)
	j.mu.Unlock()
	defer j.now.Add(-1)
	select {
	case <-ctx.Done():
		j.ended.Add(1)
		return vaglio.GradientResult{}, ctx.Err()
	case <-time.After(j.takes):
	}
	if p.Executor == "no" {
		return vaglio.GradientResult{Score: 0.1, Confidence: 1, Reasoning: "no"}, nil
	}
	return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
}

// slowly runs a test in a bubble, with a judge that takes that long.
func slowly(t *testing.T, takes time.Duration, test func(t *testing.T, g *gate, j *pondering)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := &pondering{takes: takes}
		known, err := catalog.New(catalog.Config{Executors: []catalog.Executor{{Name: "read_file"}, {Name: "now", SkipJudge: true}}})
		if err != nil {
			t.Fatal(err)
		}
		engine, err := vaglio.New(vaglio.Config{
			Catalog: known, Home: "/home/u",
			Judges: []vaglio.Gate{{Judge: j, MinScore: 0.5, Timeout: 5 * time.Minute, Needs: vaglio.Needs{Slow: true, Turn: true}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		g := running(t, dispatcher.Config{Channels: []dispatcher.Channel{newFakeChannel()}, Engine: engine})
		test(t, g, j)
		g.end()
		if n := j.now.Load(); n != 0 {
			t.Errorf("%d judges are still at it", n)
		}
	})
}

func thought(executor string, step int) vaglio.Proposal {
	return vaglio.Proposal{TurnID: "t", Step: step, Intent: "i", Executor: executor, Args: vaglio.Args{"a": "b"}}
}

// TestARepeatJoinsTheJudging checks that a repeat joins the judging of the first call.
func TestARepeatJoinsTheJudging(t *testing.T) {
	for executor, want := range map[string]approval.Ruling{"yes": approval.RulingAllow, "no": approval.RulingPending} {
		slowly(t, 10*time.Second, func(t *testing.T, g *gate, j *pondering) {
			var wg sync.WaitGroup
			for i := range 5 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * time.Second)
					a := g.propose(t, thought(executor, 1), 15*time.Second)
					if a.Decision != want || (a.Approval == nil) != (want == approval.RulingAllow) {
						t.Errorf("%+v", a)
					}
				})
			}
			wg.Wait()
			if n := j.asked.Load(); n != 1 {
				t.Errorf("judged %d times", n)
			}
		})
	}
}

// TestTheJudgesTakeLongerThanTheCaller checks that a judging that outlasts the caller's
// wait leaves the call pending without an approval, and that the caller who comes back gets
// its outcome.
func TestTheJudgesTakeLongerThanTheCaller(t *testing.T) {
	for executor, want := range map[string]approval.Ruling{"yes": approval.RulingAllow, "no": approval.RulingPending} {
		for _, later := range []time.Duration{time.Second, time.Minute} {
			slowly(t, 30*time.Second, func(t *testing.T, g *gate, j *pondering) {
				begun := time.Now()
				a := g.propose(t, thought(executor, 1), 5*time.Second)
				if a.Decision != approval.RulingPending || a.Approval != nil || a.Verdict.Approved || time.Since(begun) != 5*time.Second {
					t.Fatalf("%+v after %s", a, time.Since(begun))
				}
				time.Sleep(later)
				if a := g.propose(t, thought(executor, 1), 40*time.Second); a.Decision != want || a.Verdict.JudgeKind != "pondering" {
					t.Errorf("%+v", a)
				}
				if n := j.asked.Load(); n != 1 {
					t.Errorf("judged %d times", n)
				}
			})
		}
	}
}

// TestNobodyComesBack checks that a verdict that nobody comes back for is in the turn log
// nevertheless, as it is in the audit log.
func TestNobodyComesBack(t *testing.T) {
	slowly(t, 30*time.Second, func(t *testing.T, g *gate, j *pondering) {
		g.propose(t, thought("no", 1), 5*time.Second)
		time.Sleep(time.Hour)
		log, err := g.Turn(t.Context(), approval.TurnQuery{Agent: agent, Turn: "t"})
		steps := log.Steps
		if err != nil || len(steps) != 1 || steps[0].Verdict == nil || steps[0].Approval != "" {
			t.Fatalf("%+v, %v", steps, err)
		}
		g.propose(t, thought("no", 1), time.Minute)
		if n := j.asked.Load(); n != 2 {
			t.Errorf("judged %d times", n)
		}
	})
}

// TestTheJudgingEndsWithItsAgent checks that an agent that goes away ends the judging
// within a second.
func TestTheJudgingEndsWithItsAgent(t *testing.T) {
	slowly(t, time.Hour, func(t *testing.T, g *gate, j *pondering) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := g.Propose(ctx, agent, dispatcher.Request{Proposal: thought("yes", 1), Wait: time.Hour})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if j.now.Load() != 0 || j.ended.Load() != 1 {
			t.Errorf("%d at it, %d ended", j.now.Load(), j.ended.Load())
		}
	})
}

// TestWhoWaitsApartWaitsForTheJudgesAlone checks that a call that waits for a person elsewhere
// is answered as soon as a person is asked, and not before.
func TestWhoWaitsApartWaitsForTheJudgesAlone(t *testing.T) {
	const thinking = 30 * time.Second // longer than who gives no wait would wait
	slowly(t, thinking, func(t *testing.T, g *gate, _ *pondering) {
		start := time.Now()
		a, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: thought("no", 1), Wait: time.Hour, Apart: true})
		if err != nil || a.Decision != approval.RulingPending || a.Approval == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		if took := time.Since(start); took != thinking {
			t.Errorf("answered after %s", took)
		}
	})
}

// TestTheJudgingGoesOnForOthers checks that the judging continues if another caller waits
// for it.
func TestTheJudgingGoesOnForOthers(t *testing.T) {
	slowly(t, 10*time.Second, func(t *testing.T, g *gate, j *pondering) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _, _ = g.Propose(ctx, agent, dispatcher.Request{Proposal: thought("yes", 1), Wait: time.Hour}) }()
		synctest.Wait()
		if a := g.propose(t, thought("yes", 1), time.Minute); a.Decision != approval.RulingAllow || j.asked.Load() != 1 {
			t.Errorf("%+v, judged %d times", a, j.asked.Load())
		}
	})
}

// TestTheJudgingEndsWithTheDaemon checks that the end of the daemon ends the judging, and
// that the agent is told to come back.
func TestTheJudgingEndsWithTheDaemon(t *testing.T) {
	slowly(t, time.Hour, func(t *testing.T, g *gate, j *pondering) {
		g.propose(t, thought("yes", 2), time.Second)
		done := make(chan error)
		go func() {
			_, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: thought("yes", 1), Wait: time.Hour})
			done <- err
		}()
		synctest.Wait()
		g.Stop()
		if err := <-done; !errors.Is(err, dispatcher.ErrStopping) {
			t.Error(err)
		}
		synctest.Wait()
		if j.now.Load() != 0 {
			t.Errorf("%d at it", j.now.Load())
		}
	})
}

// TestAPlanIsJudgedSideBySide checks that a plan is judged four calls at a time, and
// answered in order.
func TestAPlanIsJudgedSideBySide(t *testing.T) {
	slowly(t, time.Second, func(t *testing.T, g *gate, j *pondering) {
		var rs []dispatcher.Request
		for i := range 50 {
			executor := "yes"
			if i%10 == 3 {
				executor = "no"
			}
			rs = append(rs, dispatcher.Request{Proposal: thought(executor, i+1), Key: "k", Wait: 14 * time.Second})
		}
		begun := time.Now()
		answers, err := g.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 14*time.Second || j.most.Load() != 4 || j.asked.Load() != 50 {
			t.Errorf("in %s, %d at a time, %d asked", took, j.most.Load(), j.asked.Load())
		}
		for i, a := range answers {
			if want := i%10 == 3; (a.Approval != nil) != want {
				t.Errorf("call %d: %+v", i, a)
			}
		}
	})
}

// TestALongPlanComesToItsEnd checks that a long plan finishes: what was judged first is
// kept for as long as the caller keeps coming back for the rest.
func TestALongPlanComesToItsEnd(t *testing.T) {
	slowly(t, 50*time.Second, func(t *testing.T, g *gate, j *pondering) {
		var rs []dispatcher.Request
		for i := range 24 {
			rs = append(rs, dispatcher.Request{Proposal: thought("yes", i+1), Wait: 5 * time.Second})
		}
		begun := time.Now()
		for {
			answers, err := g.ProposePlan(t.Context(), agent, rs)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(answers, func(a approval.Answer) bool { return a.Decision != approval.RulingAllow }) {
				break
			}
			if time.Since(begun) > time.Hour {
				t.Fatalf("after %s: judged %d times", time.Since(begun), j.asked.Load())
			}
			time.Sleep(time.Second)
		}
		if n := j.asked.Load(); n != 24 || time.Since(begun) > 6*time.Minute {
			t.Errorf("judged %d times in %s", n, time.Since(begun))
		}
	})
}

// TestOldJudgementsAreDropped checks that records of what judge agents did are kept exactly
// as long as the turn log.
func TestOldJudgementsAreDropped(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		begun := time.Now()
		for i, id := range []string{"j-old", "j-new"} {
			body, err := approval.EncodeJudgement(vaglio.Judgement{ID: id, At: begun.Add(time.Duration(i) * 48 * time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.store.Update(t.Context(), approval.KindJudgement, id, func(r approval.Record) (approval.Record, error) {
				r.ID, r.Body = id, body
				return r, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			at       time.Duration
			old, new bool
		}{{read.StepsKept - time.Hour, true, true}, {read.StepsKept + 25*time.Hour, false, true}, {read.StepsKept + 73*time.Hour, false, false}} {
			time.Sleep(c.at - time.Since(begun))
			synctest.Wait()
			for id, want := range map[string]bool{"j-old": c.old, "j-new": c.new} {
				if _, err := g.Judgement(t.Context(), id); (err == nil) != want {
					t.Errorf("after %s: %s: %v", c.at, id, err)
				}
			}
		}
	})
}

// TestTheTurnIsTold checks that judges that ask for the turn get what its log says, and
// that nothing is read for a call that no judge sees.
func TestTheTurnIsTold(t *testing.T) {
	slowly(t, 0, func(t *testing.T, g *gate, j *pondering) {
		g.propose(t, thought("first", 1), 0)
		g.propose(t, vaglio.Proposal{TurnID: "t", Step: 2, Executor: "peek", Args: vaglio.Args{"path": "/etc/shadow"}}, 0)
		g.propose(t, thought("no", 3), 0)
		for i := range 25 {
			g.propose(t, thought("more", 4+i), 0)
		}
		turn := j.turns[3]
		want := []vaglio.Earlier{{Step: 1, Executor: "first", Outcome: "approved"}, {Step: 2, Executor: "peek", Outcome: "guard"}, {Step: 3, Executor: "no", Outcome: "judge"}}
		if len(j.turns[0].Earlier) != 0 || !slices.Equal(j.turns[2].Earlier, want) || !slices.Equal(turn.Refused, []string{"peek"}) || !slices.Equal(turn.Known, []string{"now", "read_file"}) {
			t.Errorf("%+v, %+v", j.turns[2], turn)
		}
		last := j.turns[len(j.turns)-1]
		if len(last.Earlier) != vaglio.MaxEarlier || last.Earlier[19].Step != 27 {
			t.Errorf("%+v", last)
		}
		before := j.asked.Load()
		if a := g.propose(t, thought("now", 99), 0); a.Decision != approval.RulingAllow || j.asked.Load() != before {
			t.Errorf("%+v", a)
		}
	})
}

// TestNothingIsGatheredForNoJudge checks that without thinking judges, nothing is read,
// stored or allocated for them.
func TestNothingIsGatheredForNoJudge(t *testing.T) {
	store := storetest.NewMemory()
	d := dispatcher.New(dispatcher.Config{
		Store: store, Channels: []dispatcher.Channel{newFakeChannel()}, Engine: newEngine(t, &strict{}, nil), Secret: approval.Secret{1},
		Deciders: dispatcher.Deciders{Approvers: []string{owner.ID}}, Log: slog.New(slog.DiscardHandler),
	})
	p, before := thought("read_file", 1), store.Calls()
	n := testing.AllocsPerRun(100, func() {
		if slow, err := d.Prepare(t.Context(), &p); slow || err != nil || p.Context.Turn != nil {
			t.Error("a judge needs something: ", slow, err)
		}
	})
	if read := store.Calls() - before; n != 0 || read != 0 {
		t.Errorf("%v allocations, the store asked %d times", n, read)
	}
}

// TestValuesAreKeptAsConfigured lets calls end, and checks what is left of them before and
// after the day on which their values are dropped. The turn log is dropped with them.
func TestValuesAreKeptAsConfigured(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		begun := time.Now()
		a := g.propose(t, shell("make secret-plan"), 0)
		g.tap(t, a, approval.ChoiceDeny)
		g.propose(t, shell("rm -rf /"), 0)
		passed := shell("ls")
		passed.Executor = "fs_read"
		g.propose(t, passed, 0)
		for _, c := range []struct {
			at   time.Duration
			kept bool
		}{{dispatcher.DefaultValuesFor - time.Hour, true}, {dispatcher.DefaultValuesFor + 25*time.Hour, false}} {
			time.Sleep(c.at - time.Since(begun))
			synctest.Wait()
			r, err := g.store.Get(t.Context(), approval.KindAsk, string(a.Approval.ID.Ask()))
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(r.Body), "secret-plan"); has != c.kept {
				t.Errorf("after %s the ask has its values: %t", c.at, has)
			}
			left := 0
			for range g.store.List(t.Context(), approval.Query{Kind: approval.KindStep}) {
				left++
			}
			for range g.store.Entries(t.Context(), approval.Span{}) {
				left++
			}
			if want := map[bool]int{true: 3}[c.kept]; left != want {
				t.Errorf("after %s the turn log has %d steps, want %d", c.at, left, want)
			}
		}
		if kinds := leafKinds(t, g.store); kinds != "opened denied vetoed values-dropped" {
			t.Errorf("the history tells of %s", kinds)
		}
		if r, err := history.Verify(t.Context(), history.Case{Tree: g.store, Records: g.store}); err != nil || !r.Whole() {
			t.Errorf("the history does not verify: %v, %v", r.Findings, err)
		}
	})
}
