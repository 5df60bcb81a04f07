package dispatcher_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	scripts "github.com/metnos/vaglio/vaglio/shell"
)

// witness is a judge that asks before "remove" unless the session made the path, before
// "wrote" unless the session wrote it, and before every "ask_write".
type witness struct{}

func (witness) Kind() string { return "witness" }

func (w witness) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	r := vaglio.GradientResult{Judge: "witness", Score: 0.9, Confidence: 1, Did: w.Did(p)}
	name, _ := p.Args["path"].(string)
	if p.Executor == "ask_write" || p.Executor == "remove" && !p.Facts.Made(name) || p.Executor == "wrote" && !p.Facts.Wrote(name) {
		r.Score = 0.1
	}
	return r, nil
}

func (witness) Did(p vaglio.Proposal) vaglio.Facts {
	name, _ := p.Args["path"].(string)
	if !strings.Contains(p.Executor, "write") {
		return nil
	}
	return vaglio.Facts{{Deed: vaglio.Wrote, Path: name}}
}

// sessionGate runs a dispatcher with that judge until the test ends or it is ended.
func sessionGate(t *testing.T, store dispatcher.Store) (*dispatcher.Dispatcher, func()) {
	t.Helper()
	g := running(t, dispatcher.Config{Store: store, Channels: []dispatcher.Channel{newFakeChannel()}, Engine: newEngine(t, witness{}, disk{"/w/": "/w"})})
	return g.Dispatcher, g.end
}

func does(executor, name, session string) vaglio.Proposal {
	return vaglio.Proposal{Session: session, TurnID: session + ":1", Executor: executor, Args: vaglio.Args{"path": name}, Context: vaglio.Context{Cwd: "/w"}}
}

// TestASessionIsRemembered checks that what a session did is kept across a restart, for
// that session and agent alone, and of what was asked only what was redeemed.
func TestASessionIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		propose := func(d *dispatcher.Dispatcher, agent string, p vaglio.Proposal) approval.Answer {
			t.Helper()
			a, err := d.Propose(t.Context(), agent, dispatcher.Request{Proposal: p})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		passes := func(d *dispatcher.Dispatcher, when, agent string, p vaglio.Proposal, want bool) {
			t.Helper()
			if a := propose(d, agent, p); a.Verdict.Approved != want {
				t.Errorf("%s, %s of %s: approved is %v, want %v", when, p.Args["path"], p.Session, a.Verdict.Approved, want)
			}
		}
		d, end := sessionGate(t, store)
		passes(d, "before", agent, does("remove", "/w/a", "s"), false)
		passes(d, "writing", agent, does("write", "/w/a", "s"), true)
		call := does("ask_write", "/w/b", "s")
		id := propose(d, agent, call).Approval.ID
		passes(d, "asked", agent, does("wrote", "/w/b", "s"), false)
		if _, err := d.Decide(t.Context(), approval.Tap{Ask: id.Ask(), Approval: id, Choice: approval.ChoiceAllow, By: owner, Channel: "fake"}); err != nil {
			t.Fatal(err)
		}
		passes(d, "allowed", agent, does("wrote", "/w/b", "s"), false)
		if err := d.Redeem(t.Context(), agent, propose(d, agent, call).Permit.Permit, vaglio.Proposal{Executor: call.Executor, Args: call.Args, Context: call.Context}); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"at once", "after a restart"} {
			passes(d, when, agent, does("remove", "/w/a", "s"), true)
			passes(d, when, agent, does("wrote", "/w/b", "s"), true)
			passes(d, when, agent, does("remove", "/w/a", "other"), false)
			passes(d, when, "else", does("remove", "/w/a", "s"), false)
			time.Sleep(time.Second)
			synctest.Wait() // the steps are on disk
			end()
			d, end = sessionGate(t, store)
		}
		time.Sleep(vaglio.FactsKept + time.Minute)
		end()
		d, _ = sessionGate(t, store)
		passes(d, "a day later", agent, does("remove", "/w/a", "s"), false)
	})
}

// weigher is a witness that also asks before "run" of a dangerous file, and counts how
// often it weighs one. A file is dangerous if it contains "danger".
type weigher struct {
	witness

	weighed *int
}

func (weigher) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	r, err := witness{}.Grade(ctx, p)
	if name, _ := p.Args["path"].(string); p.Executor == "run" && slices.Contains(p.Facts.Loaded(), name) {
		r.Score = 0.1
	}
	return r, err
}

func (w weigher) Loaded(_ vaglio.Proposal, s *scripts.Script) bool {
	*w.weighed++
	return slices.ContainsFunc(s.Commands, func(c scripts.Command) bool {
		return slices.ContainsFunc(c.Argv, func(word scripts.Word) bool { return word.Is("danger") })
	})
}

// TestWhatIsWrittenIsWeighedWhenItMayRun checks that writing a file weighs nothing, that
// running one weighs each file once, and that a restart in between loses nothing.
func TestWhatIsWrittenIsWeighedWhenItMayRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, weighed := storetest.NewMemory(), 0
		start := func() *gate {
			return running(t, dispatcher.Config{
				Store: store, Channels: []dispatcher.Channel{newFakeChannel()}, Engine: newEngine(t, weigher{weighed: &weighed}, disk{"/w/": "/w"}),
			})
		}
		d := start()
		passes := func(when, executor, name, content string, want bool) {
			t.Helper()
			p := does(executor, name, "s")
			if content != "" {
				p.Args["content"] = content
			}
			a, err := d.Propose(t.Context(), agent, dispatcher.Request{Proposal: p})
			if err != nil {
				t.Fatal(err)
			}
			if a.Verdict.Approved != want {
				t.Errorf("%s, %s %s: approved is %v, want %v", when, executor, name, a.Verdict.Approved, want)
			}
		}
		passes("writing", "write_file", "/w/bad", "git push danger", true)
		passes("writing", "write_file", "/w/good", "git push nothing", true)
		passes("writing", "write_file", "/w/mended", "git push danger", true)
		passes("writing", "write_file", "/w/mended", "git push nothing", true)
		if weighed != 0 {
			t.Errorf("%d texts were weighed while they were written, want none", weighed)
		}
		for _, when := range []string{"at once", "again", "after a restart"} {
			if when == "after a restart" {
				time.Sleep(time.Second)
				synctest.Wait() // the steps are on disk
				d.end()
				d, weighed = start(), 0
			}
			passes(when, "run", "/w/bad", "", false)
			passes(when, "run", "/w/good", "", true)
			passes(when, "run", "/w/mended", "", true)
			if weighed != 3 { // what was overwritten is not weighed
				t.Errorf("%s: %d texts were weighed, want 3", when, weighed)
			}
		}
	})
}

// meanwhile is the judge of effects; something else happens while it first grades a call of
// that executor.
type meanwhile struct {
	*effects.Judge

	executor string
	happens  *func()
}

func (m meanwhile) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	if f := *m.happens; f != nil && p.Executor == m.executor {
		*m.happens = nil
		f()
	}
	return m.Judge.Grade(ctx, p)
}

// TestCallsAtTheSameTime makes a call while another one is judged. Whichever comes first, the
// second is judged with it if one writes what the other waits for.
func TestCallsAtTheSameTime(t *testing.T) {
	runs := does("shell_exec", "", "s")
	runs.Args = vaglio.Args{"command": "sleep 9; bash x.sh"}
	writes := does("write_file", "/w/x.sh", "s")
	writes.Args["content"] = "git push --force"
	harmless, other := writes, writes
	harmless.Args, other.Session = vaglio.Args{"path": "/w/x.sh", "content": "echo hello"}, "other"
	for name, tt := range map[string]struct {
		first, second vaglio.Proposal
		pass          bool
	}{
		"the write comes first":  {writes, runs, false},
		"the run comes first":    {runs, writes, false},
		"what is harmless":       {runs, harmless, true},
		"of another session":     {runs, other, true},
		"of another session too": {other, runs, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			effect, err := effects.New(effects.Options{Home: "/home/u"})
			if err != nil {
				t.Fatal(err)
			}
			var happens func()
			d := running(t, dispatcher.Config{
				Store: storetest.NewMemory(), Channels: []dispatcher.Channel{newFakeChannel()},
				Engine: newEngine(t, meanwhile{effect, tt.second.Executor, &happens}, disk{"/w/": "/w"}),
			})
			propose := func(p vaglio.Proposal) bool {
				a, err := d.Propose(t.Context(), agent, dispatcher.Request{Proposal: p})
				if err != nil {
					t.Fatal(err)
				}
				return a.Verdict.Approved
			}
			happens = func() {
				if !propose(tt.first) {
					t.Errorf("%s: it does not pass", name)
				}
			}
			if pass := propose(tt.second); pass != tt.pass {
				t.Errorf("%s: approved is %v, want %v", name, pass, tt.pass)
			}
		})
	}
}
