// Package payloads gathers what the channels send, card by card and state by
// state, so that it can be checked against descriptions of the platforms that
// are not ours: the types of @slack/types and @grammyjs/types, by tsc. The
// packages are pinned beside this file and serve tests alone.
package payloads

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Payload is one thing that a channel sends.
type Payload struct {
	// Type is what the platform takes, in TypeScript.
	Type string
	// JSON is what is sent.
	JSON string
}

// Write writes the payloads as a TypeScript file, in which each must be of its
// type; prologue imports the types. An empty folder only checks that there are
// payloads, and that they are JSON.
func Write(t *testing.T, folder, name, prologue string, all []Payload) {
	t.Helper()
	var b strings.Builder
	b.WriteString("// Written by a test; see channels/payloads.\n" + prologue + "\ndeclare function check<T>(payload: T): void;\n")
	var written []Payload
	for _, p := range all {
		if !strictjson.Value(p.JSON).IsValid() {
			t.Errorf("a payload is not JSON: %.200s", p.JSON)
		}
		if !slices.Contains(written, p) {
			written = append(written, p)
			fmt.Fprintf(&b, "check<%s>(%s);\n", p.Type, p.JSON)
		}
	}
	if len(written) == 0 {
		t.Error("there are no payloads")
	}
	if folder == "" {
		return
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d payloads in %s", len(written), name)
}

// Channel is what shows cards and notices.
type Channel interface {
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	Amend(ctx context.Context, ref string, c approval.Card) error
	Remind(ctx context.Context, ref string, c approval.Card) error
	Notify(ctx context.Context, n approval.Notice) error
}

// Show shows every kind of card in every state, a reminder of each, and a
// notice. An error among those that may be is part of how the channel works.
func Show(t *testing.T, ch Channel, name string, mayBe ...error) {
	t.Helper()
	fits := func(err error) bool {
		return err == nil || slices.ContainsFunc(mayBe, func(e error) bool { return errors.Is(err, e) })
	}
	ctx := t.Context()
	for _, kind := range Cards(t, name) {
		ref, err := ch.Post(ctx, kind[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range kind {
			if err := ch.Amend(ctx, ref, kind[i]); !fits(err) {
				t.Fatal(err)
			}
		}
		if err := ch.Remind(ctx, ref, kind[0]); !fits(err) {
			t.Fatal(err)
		}
	}
	refusal, _ := Guarded()
	if err := ch.Notify(ctx, approval.Notice{Agent: "coder", Rule: "rm-root", Count: 3, First: time.Now(), Last: time.Now(), Refusal: refusal}); err != nil {
		t.Fatal(err)
	}
}

// Guarded is a call that the guard denied.
func Guarded() (approval.Refusal, vaglio.Verdict) {
	v := vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Reason: "no", Rule: &vaglio.GuardRule{ID: "rm-root", Why: "it is all", Instead: "less"}}
	p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"}, Context: vaglio.Context{Cwd: "/home/ann/app"}}
	return approval.Refuse(p, v), v
}

// States are all that a call can be in.
func States() []approval.State {
	return []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
		approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	}
}

// Cards are the kinds of cards that there are, each in every state, partly
// answered, and voted on. The first of each kind waits.
func Cards(t *testing.T, channel string) [][]approval.Card {
	t.Helper()
	var kinds [][]approval.Card
	masker := approval.NewMasker(approval.Secret{1})
	long := "echo " + strings.Repeat("word ", 4000)
	for _, lines := range [][]string{{"rm -rf ./build"}, {"make a", "make b"}, many(10, "make"), many(21, "make"), many(100, "make"), {long}, {"<!channel> </b>\u202e *x*"}} {
		kinds = append(kinds, states(open(t, channel, "partial", lines), channel, masker))
		if len(lines) <= 2 {
			kinds = append(kinds, states(open(t, channel, "irreversible", lines), channel, masker))
		}
	}
	return kinds
}

func many(n int, line string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(line, " ", i)
	}
	return all
}

func open(t *testing.T, channel, undo string, lines []string) approval.Ask {
	t.Helper()
	d, err := approval.JudgeDenial(vaglio.Verdict{
		Reason: "too broad", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.2, Confidence: 1, Reasoning: "too broad",
			Signals:  []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "deletes it"}},
			Metadata: vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": undo, "reach": "user"}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o := approval.Opening{Agent: "coder", Intent: "clean up", TurnID: "t-1", Channels: []string{channel}, At: now, ExpiresAt: now.Add(30 * time.Minute)}
	for i, line := range lines {
		p := vaglio.Proposal{Executor: "shell_exec", TurnID: "t-1", Args: vaglio.Args{"command": line, "n": i}, Context: vaglio.Context{Cwd: "/home/u", Mounts: []string{"/srv"}}}
		o.Calls = append(o.Calls, approval.Call{Proposal: p, Denial: d, Fingerprint: approval.Fingerprint(fmt.Sprint(i))})
	}
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// states pictures an ask in every state. The pictures are made by hand: some
// states take an agent and a day to reach.
func states(a approval.Ask, channel string, masker approval.Masker) []approval.Card {
	picture := func() approval.Card { return approval.NewCard(a, channel, masker) }
	by := approval.Person{ID: channel + ":1", Name: "Ann"}
	var all []approval.Card
	reached := States()
	if len(a.Approvals) > 2 {
		// Many calls make a card long, and not another one in each state.
		reached = []approval.State{approval.Pending, approval.Denied, approval.Succeeded}
	}
	for _, s := range reached {
		c := picture()
		for i := range c.Items {
			end(&c.Items[i], s, by)
		}
		if s != approval.Pending {
			c.Buttons = nil
		}
		all = append(all, c)
	}
	partly, voted := picture(), picture()
	if len(partly.Items) > 1 {
		end(&partly.Items[0], approval.Denied, by)
		all = append(all, partly)
	}
	voted.Items[0].Votes = []approval.Vote{{By: by}, {By: approval.Person{ID: channel + ":2", Name: "Bob"}}}
	return append(all, voted)
}

// end lets a call end in a state.
func end(it *approval.Item, s approval.State, by approval.Person) {
	if it.State = s; s == approval.Pending {
		return
	}
	it.EndedAt, it.Buttons = time.Now(), nil
	switch s {
	case approval.Expired, approval.Withdrawn, approval.Superseded:
		return
	case approval.Denied:
		it.Decision = &approval.Decision{Choice: approval.ChoiceDeny, By: by, At: it.EndedAt, Words: "not today"}
	default:
		it.Decision = &approval.Decision{Choice: approval.ChoiceAllow, By: by, At: it.EndedAt}
	}
	if s == approval.Succeeded || s == approval.Failed {
		it.Outcome = &approval.Outcome{Succeeded: s == approval.Succeeded, Detail: "exit 0", At: it.EndedAt}
	}
}
