package vaglio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge"
)

// A concern puts a call before a person even if the judges would approve it or are skipped,
// and never softens a denial of the guard.
func TestConcernsAddAQuestion(t *testing.T) {
	t.Parallel()
	e, err := vaglio.New(vaglio.Config{
		Catalog: known(t, catalog.Executor{Name: "trusted", SkipJudge: true}),
		Judges:  []vaglio.Gate{{Judge: judge.Rules()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, executor := range []string{"trusted", "read_note"} {
		p := vaglio.Proposal{Executor: executor, Args: vaglio.Args{"path": "a"}}
		if v, err := e.Judge(t.Context(), p); err != nil || !v.Approved {
			t.Fatalf("%s: %+v %v", executor, v, err)
		}
		for _, c := range vaglio.Concerns() {
			p.Context.Concerns = []vaglio.Concern{c}
			v, err := e.Judge(t.Context(), p)
			if err != nil || v.Approved || v.BlockedBy != vaglio.PhaseJudge || v.JudgeKind != "declared" {
				t.Errorf("%s, %s: %+v %v", executor, c, v, err)
			}
			if s := v.Results[0].Signals; len(s) != 1 || s[0].Category != string(c) || len(s[0].Said) == 0 || !strings.Contains(v.Reason, s[0].Message) {
				t.Errorf("%s: %+v", c, v)
			}
		}
	}
	p := vaglio.Proposal{
		Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Concerns: vaglio.Concerns()},
	}
	if v, err := e.Judge(t.Context(), p); err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("the guard: %+v %v", v, err)
	}
}

// The words of the agent's own gate are shown to the person, and not logged.
func TestTheWordsOfARefusalAreShown(t *testing.T) {
	t.Parallel()
	log := &books{}
	e, err := vaglio.New(vaglio.Config{Catalog: known(t, catalog.Executor{Name: "read_note"}), Judges: []vaglio.Gate{{Judge: judge.Rules()}}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	p := vaglio.Proposal{Executor: "read_note", Args: vaglio.Args{"path": "a"}, Context: vaglio.Context{Refusal: "it sends a.txt out"}}
	if v, err := e.Judge(t.Context(), p); err != nil || !v.Approved {
		t.Errorf("words without a concern: %+v %v", v, err)
	}
	p.Context.Concerns = []vaglio.Concern{vaglio.ConcernRefused}
	v, err := e.Judge(t.Context(), p)
	if err != nil || v.Approved {
		t.Fatalf("%+v %v", v, err)
	}
	if s := v.Results[0].Signals[0]; s.Message != "Was refused by the agent's own gate: “it sends a.txt out”" || s.Said.String() != "was refused by the agent's own gate: “it sends a.txt out”" {
		t.Errorf("%+v", s)
	}
	if logged := fmt.Sprintf("%+v", log.records); !strings.Contains(logged, "declared") || strings.Contains(logged, "a.txt") {
		t.Errorf("logged: %s", logged)
	}
}

func TestConcernsAreAClosedList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"executor":"x","context":{"concerns":["tool-changed","tool-unlisted"]}}`: "",
		`{"executor":"x","context":{"concerns":["tool-changed","harmless"]}}`:      `field "/context/concerns/1" must be one of tool-changed, tool-destructive, tool-unlisted, client-refused`,
		`{"executor":"x","context":{"concerns":"tool-changed"}}`:                   "/context/concerns",
	} {
		_, err := vaglio.DecodeProposal([]byte(in))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}
