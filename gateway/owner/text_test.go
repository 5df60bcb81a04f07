package owner

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// hostile is a text that would forge lines of ours, or hide in the terminal.
const hostile = "ls\nstate      allowed\x1b[2K\u202e\u200b"

func hostileAccount() Account {
	return Account{
		ID: "abcdefgh-1", State: approval.Pending, Agent: "agent", Headline: hostile, Consequence: hostile, Intent: hostile, Executor: hostile, Command: hostile,
		Args: "{\n  \"command\": \"ls\"\n}", Mounts: []string{hostile},
		Verdict: vaglio.Verdict{Reason: hostile, JudgeKind: "rule-based-v1", Results: []vaglio.GradientResult{{
			Judge: "rule-based-v1", Reasoning: hostile, Signals: []vaglio.Signal{{Category: "x", Message: hostile}},
		}}},
		Refusal:  approval.Refusal{Alternatives: []string{hostile}},
		Decision: &approval.Decision{Choice: approval.ChoiceDeny, Words: hostile},
		Outcome:  &approval.Outcome{Detail: hostile},
	}
}

func TestWhyCannotBeForged(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := WriteWhy(&b, []Account{hostileAccount()}); err != nil {
		t.Fatal(err)
	}
	states := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "state") {
			states++
		}
	}
	if states != 1 || !strings.Contains(b.String(), "state      pending\n") {
		t.Errorf("%d lines tell a state, want ours alone:\n%s", states, b.String())
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b") {
		t.Errorf("hidden characters reach the terminal:\n%q", b.String())
	}
}

func TestPendingIsOneLineEach(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a := hostileAccount()
	a.ExpiresAt = now.Add(90 * time.Second)
	var b strings.Builder
	if err := WritePending(&b, []Account{a, a}, now); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "\n") != 3 || strings.Count(b.String(), "1m30s") != 2 {
		t.Errorf("want a heading and two lines with the time left, got\n%s", b.String())
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b") {
		t.Errorf("hidden characters reach the terminal:\n%q", b.String())
	}
}

// What the agent's client refused after the yes did not fail: it did not run.
func TestWhyTellsWhatDidNotRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		state   approval.State
		outcome approval.Outcome
		want    string
	}{
		{approval.Succeeded, approval.Outcome{Succeeded: true}, "run        succeeded, "},
		{approval.Failed, approval.Outcome{}, "run        failed, "},
		{approval.Failed, approval.Outcome{NotRun: true}, "run        not run: the agent's own rules refused it, "},
	} {
		a := Account{State: row.state, Outcome: &row.outcome}
		var b strings.Builder
		if err := WriteWhy(&b, []Account{a}); err != nil || !strings.Contains(b.String(), "\n"+row.want) {
			t.Errorf("%v: want %q in\n%s", err, row.want, b.String())
		}
	}
}
