package dispatcher_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// errand is what an agent of the arena is to do: a call that is refused, other
// spellings of it, and a call that reaches the goal and passes; empty where there is
// none.
type errand struct {
	wanted  []string
	instead string
	guarded bool
}

// errands reads the arena's tasks.
func errands(t *testing.T) []errand {
	t.Helper()
	text, err := os.ReadFile("testdata/arena.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []errand
	guarded := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if guarded = guarded || line == "guard"; line == "" || line == "guard" || strings.HasPrefix(line, "#") {
			continue
		}
		calls, instead, _ := strings.Cut(line, " => ")
		all = append(all, errand{wanted: strings.Split(calls, " | "), instead: instead, guarded: guarded})
	}
	return all
}

// score is what the arena counts: calls that were put again as they were and in other
// spellings, cards that people got, tasks that were finished by a call that passes, and
// such as the agent gave back to its user.
type score struct{ tasks, repeats, workarounds, cards, finished, told int }

// reader is the arena's agent. It knows nothing but the text that it is given, and
// does what that says; where it says nothing, it does what agents do: the same once
// more, then other spellings, then nothing.
type reader struct {
	errand
	next int
}

// then returns the call that follows on a refusal, and false where the agent goes back
// to its user.
func (r *reader) then(text string) (call string, goes bool) {
	if _, words, told := strings.Cut(text, "The person's words: "); told {
		if parts := strings.SplitN(words, "`", 3); len(parts) == 3 {
			return parts[1], true
		}
	}
	for _, final := range []string{"nobody can allow it", "gets this answer until", "tell the user", "Tell the user", "sk the user"} {
		if strings.Contains(text, final) {
			return "", false
		}
	}
	if r.next++; r.next == 1 {
		return r.wanted[0], true
	}
	if r.next-1 < len(r.wanted) {
		return r.wanted[r.next-1], true
	}
	return "", false
}

// people answer the cards of the arena, each in one way.
func people() map[string]func(t *testing.T, g *gate, a approval.Answer, e *errand) {
	return map[string]func(t *testing.T, g *gate, a approval.Answer, e *errand){
		"deny": func(t *testing.T, g *gate, a approval.Answer, _ *errand) {
			g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		},
		"deny with words": func(t *testing.T, g *gate, a approval.Answer, e *errand) {
			g.decide(t, a.Approval.ID, approval.ChoiceDeny, "Not that. Run `"+e.instead+"` instead.")
		},
		"nobody answers": func(*testing.T, *gate, approval.Answer, *errand) { time.Sleep(2 * dispatcher.DefaultAskFor) },
		"denied before": func(t *testing.T, g *gate, a approval.Answer, _ *errand) {
			g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		},
		"stop": func(t *testing.T, g *gate, _ approval.Answer, _ *errand) {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
				t.Error(err)
			}
		},
	}
}

// run has an agent do an errand, and counts. The text is what it reads of a refusal.
func (e *errand) run(t *testing.T, g *gate, answer func(*testing.T, *gate, approval.Answer, *errand), text func(approval.Answer) string, s *score) {
	t.Helper()
	s.tasks++
	put := map[string]bool{}
	r := reader{errand: *e}
	for call, goes := e.wanted[0], true; goes; {
		a := g.propose(t, shell(call), 0)
		if a.Decision == approval.RulingPending {
			s.cards++
			answer(t, g, a, e)
			var err error
			if a, err = g.Await(t.Context(), agent, a.Approval.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		if a.Decision == approval.RulingAllow {
			s.finished++
			return
		}
		switch {
		case put[call]:
			s.repeats++
		case call != e.wanted[0]:
			s.workarounds++
		}
		put[call] = true
		call, goes = r.then(text(a))
	}
	s.told++
}

// TestArena has a scripted agent meet a hundred refusals, once with the text that
// agents commonly get and once with ours, and counts what it does next. What the agent
// understands is scripted, so this holds that the texts say what they must, at every
// kind of refusal; how well a model follows them is another question.
func TestArena(t *testing.T) {
	if race.Detector {
		t.Skip(race.Alone)
	}
	ours := func(a approval.Answer) string { return a.Told().Text }
	plain := func(approval.Answer) string { return "Permission denied" }
	scores := map[string]*score{"plain": {}, "ours": {}}
	all := errands(t)
	for name, text := range map[string]func(approval.Answer) string{"plain": plain, "ours": ours} {
		s := scores[name]
		inUnderstanding(t, func(t *testing.T, g *gate) {
			for i := range all {
				e := &all[i]
				if !e.guarded {
					continue
				}
				if a := g.propose(t, shell(e.wanted[0]), 0); a.Verdict.BlockedBy != vaglio.PhaseGuard {
					t.Errorf("the guard lets %q through: %s", e.wanted[0], a.Decision)
				}
				e.run(t, g, nil, text, s)
			}
		})
		for kind, answer := range people() {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				for i := range all {
					e := &all[i]
					if e.guarded {
						continue
					}
					if kind == "denied before" {
						g.decide(t, g.propose(t, shell(e.wanted[1]), 0).Approval.ID, approval.ChoiceDeny, "")
					}
					e.run(t, g, answer, text, s)
					if kind == "stop" {
						if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
	t.Logf("%8s %6s %8s %12s %6s %9s %5s", "text", "tasks", "repeats", "workarounds", "cards", "finished", "told")
	for _, name := range []string{"plain", "ours"} {
		s := scores[name]
		t.Logf("%8s %6d %8d %12d %6d %9d %5d", name, s.tasks, s.repeats, s.workarounds, s.cards, s.finished, s.told)
	}
	o, p := scores["ours"], scores["plain"]
	if o.tasks != 100 || p.tasks != 100 {
		t.Errorf("%d and %d tasks", o.tasks, p.tasks)
	}
	if want := 16; o.finished != want || o.finished+o.told != o.tasks || o.repeats != 0 || o.workarounds != 0 {
		t.Errorf("with ours: %+v", *o)
	}
	if o.cards >= p.cards || p.repeats+p.workarounds < 100 {
		t.Errorf("plain: %+v, ours: %+v", *p, *o)
	}
}
