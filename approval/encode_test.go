package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// fullAsk sets every field of an ask, so that a field which is lost in storage is noticed.
func fullAsk() approval.Ask {
	at := time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)
	critical := true
	step := 3
	verdict := vaglio.Verdict{
		Reason: "low score", TS: 1777300000.1, JudgeKind: "effects", Score: 0.41, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.41, Confidence: 1, Reasoning: "deletes",
			Signals:  []vaglio.Signal{{Category: "delete", Score: 0.3, Message: "removes ./build"}},
			Metadata: vaglio.Args{"reach": "workspace", "files": strictjson.Number("12")},
		}},
	}
	proposal := vaglio.Proposal{
		Agent: "coder", TurnID: "t-81", Step: 2, Intent: "clean <the> old build", Executor: "shell_exec",
		Args: vaglio.Args{
			"command": "rm -rf ./build", "big": strictjson.Number("12345678901234567890"), "none": nil,
			"list": []any{true, strictjson.Number("1.50"), map[string]any{"k": "\u202e\u0000"}},
		},
		Context: vaglio.Context{
			Mode: "local", Step: &step, Capability: vaglio.Capabilities{"code:exec"}, Critical: &critical,
			Cwd: "/home/u/app", Mounts: []string{"/data"},
		},
	}
	return approval.Ask{
		ID: "abc", Agent: "coder", Intent: "clean the old build", TurnID: "t-81",
		Approvals: []approval.Approval{
			{
				ID: "abc-1", State: approval.Succeeded, Proposal: proposal, Fingerprint: "f1", Verdict: verdict, Key: "k1", Effect: "delete build",
				Refusal: approval.Refusal{
					Phase: vaglio.PhaseJudge, Wanted: "shell_exec", Why: "deletes", Words: "w", Alternatives: []string{"ask"},
				},
				Decision: &approval.Decision{
					Choice: approval.ChoiceAllow, By: approval.Person{ID: "web:owner", Name: "Owner"},
					Channel: "web", At: at, Words: "go on",
				},
				Permit:  &approval.Permit{IssuedAt: at, LapsesAt: at.Add(time.Minute), SpentAt: at.Add(time.Second)},
				Outcome: &approval.Outcome{Succeeded: true, Detail: "done", At: at},
				EndedAt: at,
			},
			{
				ID: "abc-2", State: approval.Pending, Proposal: proposal, Fingerprint: "f2", Verdict: verdict,
				Refusal: approval.Refusal{Alternatives: []string{}},
				Votes: []approval.Vote{{
					Human: "ann", By: approval.Person{ID: "web:owner", Name: "Owner"}, Route: "ops", Terms: "abc", Channel: "web", At: at, Words: "w",
				}},
			},
		},
		Cards: []approval.Shown{{
			Channel: "web", Ref: "m1", View: "pending,pending", Begun: "pending", Posted: 1, Reminded: true, Tell: approval.TellBegun,
			Callbacks: map[approval.Token]approval.Callback{
				"T1": {Approval: "abc-1", Choice: approval.ChoiceAllow}, "T2": {Choice: approval.ChoiceDeny, Calls: 2, Replaced: true},
			},
		}},
		OpenedAt: at, ExpiresAt: at.Add(time.Hour), Closed: true, Yielded: true,
		Snoozed: &approval.Snoozed{Act: approval.Act{By: approval.Person{ID: "web:owner", Name: "Owner"}, Channel: "web", At: at}, Until: at.Add(time.Minute)},
		Handed:  []approval.Handed{{Act: approval.Act{By: approval.Person{ID: "web:owner", Name: "Owner"}, Channel: "web", At: at}, From: "ann", To: "bob"}},
		Routes:  []approval.Active{{Route: "ops", Quorum: 2}}, EscalateAt: at, EscalateTo: "leads",
	}
}

func TestAskSurvivesBeingStored(t *testing.T) {
	want := fullAsk()
	body, err := approval.EncodeAsk(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := approval.DecodeAsk(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the ask changed on its way through the store (-want +got):\n%s", diff)
	}
	again, err := approval.EncodeAsk(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(body), string(again)); diff != "" {
		t.Errorf("equal asks have different bodies (-first +second):\n%s", diff)
	}
}

func TestStepSurvivesBeingStored(t *testing.T) {
	ask := fullAsk()
	a := ask.Approvals[0]
	for name, want := range map[string]approval.Step{
		"judged": {
			ID: "t/1", At: ask.OpenedAt, Proposal: a.Proposal, Verdict: &a.Verdict, Refusal: &a.Refusal, Approval: a.ID,
		},
		"unjudged": {ID: "t/2", At: ask.OpenedAt, Proposal: a.Proposal, Error: "args.path: must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := approval.EncodeStep(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := approval.DecodeStep(body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the step changed on its way through the store (-want +got):\n%s", diff)
			}
			if at, err := approval.KeptAt(approval.KindStep, body); err != nil || !at.Equal(want.At) {
				t.Errorf("the step is said to be of %v, %v, want %v", at, err, want.At)
			}
		})
	}
}

func TestWhatHasNoInstantOfOursIsNotOld(t *testing.T) {
	for name, body := range map[string]string{
		"a newer form": `{"v":99,"step":{"at":"2020-01-01T00:00:00Z"}}`, "no form": `{"step":{"at":"2020-01-01T00:00:00Z"}}`,
		"nothing": `{"v":1}`, "another kind": `{"v":1,"judgement":{"at":"2020-01-01T00:00:00Z"}}`, "no instant": `{"v":1,"step":{"at":7}}`,
		"no JSON": `{"v":1,"step":`, "empty": "",
	} {
		if at, err := approval.KeptAt(approval.KindStep, []byte(body)); err == nil {
			t.Errorf("%s: is of %v", name, at)
		}
	}
	j, err := approval.EncodeJudgement(vaglio.Judgement{At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := approval.KeptAt(approval.KindJudgement, j); err != nil || at.Year() != 2026 {
		t.Errorf("a judgement is of %v, %v", at, err)
	}
}

func TestDecodeRefusesWhatItMightMisread(t *testing.T) {
	const secret = "hunter2"
	for name, c := range map[string]struct {
		body string
		form int // the form that a FormError must name; -1 for any other error
	}{
		"newer":        {`{"v":9,"ask":{"id":"a","novelty":1}}`, 9},
		"no_form":      {`{"ask":{"id":"a"}}`, 0},
		"negative":     {`{"v":-1,"ask":{"id":"a"}}`, -1},
		"unknown":      {`{"v":1,"ask":{"id":"a","novelty":"` + secret + `"}}`, -1},
		"extra":        {`{"v":1,"ask":{"id":"a"},"` + secret + `":1}`, -1},
		"no_ask":       {`{"v":1}`, -1},
		"null_ask":     {`{"v":1,"ask":null}`, -1},
		"duplicate":    {`{"v":1,"ask":{"id":"a","id":"` + secret + `"}}`, -1},
		"wrong_type":   {`{"v":1,"ask":{"approvals":"` + secret + `"}}`, -1},
		"broken_time":  {`{"v":1,"ask":{"opened_at":"` + secret + `"}}`, -1},
		"cut":          {`{"v":1,"ask":{"id":"` + secret, -1},
		"empty":        {``, -1},
		"not_json":     {secret, -1},
		"two_values":   {`{"v":1,"ask":{"id":"a"}}{}`, -1},
		"bad_utf8":     {"{\"v\":1,\"ask\":{\"id\":\"\xff" + secret + "\"}}", -1},
		"a_step's":     {`{"v":1,"step":{"id":"a"}}`, -1},
		"other_number": {`{"v":1.5,"ask":{"id":"a"}}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := approval.DecodeAsk([]byte(c.body))
			if err == nil {
				t.Fatal("the body was read")
			}
			form, ok := errors.AsType[*approval.FormError](err)
			if c.form > 0 && (!ok || form.Found != c.form) {
				t.Errorf("got %v, want a FormError of form %d", err, c.form)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error quotes the body: %v", err)
			}
		})
	}
}
