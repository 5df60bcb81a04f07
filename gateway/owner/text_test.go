package owner

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// hostile is a text that tries to forge lines of ours, or to hide in the terminal.
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

// What a judge said appears once, with the scores needed to pass, the network it reached, and what
// it did.
func TestWhyTellsWhatAJudgeDid(t *testing.T) {
	t.Parallel()
	a := Account{
		ID: "abcdefgh-1", State: approval.Pending,
		Verdict: vaglio.Verdict{Reason: "judge: confidence 0.40 < threshold 0.50 (With it TestAdd fails.)", JudgeKind: "semantic:qa", Results: []vaglio.GradientResult{
			{Judge: "effects", Score: 0.9, Confidence: 1, MinScore: 0.5, Reasoning: "It reads."},
			{Judge: "semantic:qa", Score: 0.9, Confidence: 0.4, MinScore: 0.85, MinConfidence: 0.5, Network: "open", Judgement: "j-1", Reasoning: "With it TestAdd fails."},
		}},
		Judgements: []vaglio.Judgement{{
			ID: "j-1", Judge: "semantic:qa", Turns: 3, Input: 90, Output: 10, Took: 1.25, Layer: "bubblewrap 0.11", Fault: vaglio.FaultTimeout,
			Transcript: []vaglio.Said{{By: "called cmd.run", Text: "go test\nstate      allowed"}},
		}},
	}
	var b strings.Builder
	if err := WriteWhy(&b, []Account{a}); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		"With it TestAdd fails.": 1, "It reads.": 1, "effects, score 0.9 of 0.5, confidence 1\n": 1, "\nstate": 1,
		"semantic:qa, score 0.9 of 0.85, confidence 0.4 of 0.5; its commands reach the network\n": 1,
		"j-1 by semantic:qa, 3 turns, 100 tokens, 1.2 s bubblewrap 0.11; no verdict: timeout\n":   1,
		"[called cmd.run] go test": 1,
	} {
		if n := strings.Count(b.String(), text); n != times {
			t.Errorf("%q is told %d times, want %d:\n%s", text, n, times, b.String())
		}
	}
}

// A call that the agent's client refused after the yes has not failed: it did not run.
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
