// Package channeltest is the contract that every channel keeps, as tests. A
// channel's own tests run it against the real channel and a fake of its
// platform; what the platform can do is declared, not guessed.
package channeltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Channel is what is tested.
type Channel interface {
	Name() string
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	Amend(ctx context.Context, ref string, c approval.Card) error
}

// Facts are what a platform can do.
type Facts struct {
	// TextLimit is the most characters of a message.
	TextLimit int
	// Files says that a message may have a file beside it.
	Files bool
}

// Picture is what a person sees of a card.
type Picture struct {
	Text    string
	Choices []approval.Choice
	// Files are the contents of what is attached.
	Files []string
}

// Harness is a channel with its platform under the test's hand.
type Harness struct {
	Channel Channel
	Facts   Facts
	// Shown returns what a person sees of the message.
	Shown func(ref string) Picture
	// Limit makes the platform refuse the next call with that pause.
	Limit func(after time.Duration)
	// Down makes the platform unreachable, or reachable again.
	Down func(down bool)
	// Fail makes the next call fail inside of the platform.
	Fail func()
	// Remove deletes the message.
	Remove func(ref string)
	// Secret is what no error may show.
	Secret string
}

// Run runs the contract. Each case gets a harness of its own from with, which
// may run it in a bubble.
func Run(t *testing.T, with func(t *testing.T, test func(t *testing.T, h Harness))) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Harness){
		"ACardShowsTheCallAndItsChoices":       showsTheCall,
		"AFinalCardSaysHowAndHasNoButtons":     turnsFinal,
		"PostAndAmendMayBeRepeated":            mayBeRepeated,
		"DifferentCallsAreDifferentCards":      differs,
		"WhatIsUnseenIsMadeVisible":            reveals,
		"AllowOnlyWhereAllIsSeen":              allOrNoAllow,
		"ARateLimitSaysWhenToComeBack":         limited,
		"AnOutageIsTriedAgainAndPasses":        outage,
		"AMessageThatIsGoneIsToldSo":           gone,
		"ADecidedPlanOffersOnlyWhatStillWaits": partly,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with(t, test)
		})
	}
}

// Ask opens an ask for command lines, as a judge's denial does.
func Ask(t *testing.T, channel string, lines ...string) approval.Ask {
	t.Helper()
	d, err := approval.JudgeDenial(vaglio.Verdict{Reason: "too broad", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge})
	if err != nil {
		t.Fatal(err)
	}
	o := approval.Opening{
		Agent: "coder", Intent: "clean up", Channels: []string{channel},
		At: time.Now(), ExpiresAt: time.Now().Add(30 * time.Minute),
	}
	for i, line := range lines {
		p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/u"}}
		o.Calls = append(o.Calls, approval.Call{Proposal: p, Denial: d, Fingerprint: approval.Fingerprint(fmt.Sprint(i))})
	}
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (h *Harness) card(a approval.Ask) approval.Card {
	return approval.NewCard(a, h.Channel.Name(), approval.NewMasker(approval.Secret{1}))
}

func (h *Harness) post(t *testing.T, a approval.Ask) (string, Picture) {
	t.Helper()
	ref, err := h.Channel.Post(t.Context(), h.card(a))
	if err != nil || ref == "" {
		t.Fatalf("Post: %q %v", ref, err)
	}
	return ref, h.Shown(ref)
}

func decide(t *testing.T, a *approval.Ask, c approval.Choice, id approval.ID) {
	t.Helper()
	r, err := a.Decide(approval.Tap{Ask: a.ID, Approval: id, Choice: c, By: approval.Person{ID: "test:1", Name: "Ann"}, Channel: "test", Words: "because"}, time.Now(), time.Minute)
	if err != nil || !r.Won {
		t.Fatalf("decide: %v %v", r.Won, err)
	}
}

func showsTheCall(t *testing.T, h Harness) {
	_, p := h.post(t, Ask(t, h.Channel.Name(), "rm -rf ./build"))
	for _, want := range []string{"coder", "clean up", "shell_exec", "rm -rf ./build", "/home/u"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the card lacks %q: %s", want, p.Text)
		}
	}
	if !slices.Contains(p.Choices, approval.ChoiceAllow) || !slices.Contains(p.Choices, approval.ChoiceDeny) || len(p.Choices) != 2 {
		t.Errorf("the card offers %v", p.Choices)
	}
}

func turnsFinal(t *testing.T, h Harness) {
	for name, end := range map[string]func(a *approval.Ask){
		"allowed":   func(a *approval.Ask) { decide(t, a, approval.ChoiceAllow, "") },
		"denied":    func(a *approval.Ask) { decide(t, a, approval.ChoiceDeny, "") },
		"expired":   func(a *approval.Ask) { a.Lapse(a.ExpiresAt) },
		"withdrawn": func(a *approval.Ask) { _ = a.Withdraw(a.Approvals[0].ID, time.Now()) },
	} {
		a := Ask(t, h.Channel.Name(), "make "+name)
		ref, before := h.post(t, a)
		end(&a)
		if a.Waiting() {
			t.Fatalf("%s: the ask still waits", name)
		}
		if err := h.Channel.Amend(t.Context(), ref, h.card(a)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := h.Shown(ref)
		if len(p.Choices) != 0 || p.Text == before.Text || !strings.Contains(strings.ToLower(p.Text), name) {
			t.Errorf("%s: the card shows %v %s", name, p.Choices, p.Text)
		}
		if a.Approvals[0].Decision != nil && (!strings.Contains(p.Text, "Ann") || !strings.Contains(p.Text, "because")) {
			t.Errorf("%s: the card does not say by whom, with which words: %s", name, p.Text)
		}
	}
}

func mayBeRepeated(t *testing.T, h Harness) {
	a := Ask(t, h.Channel.Name(), "make")
	h.post(t, a)
	ref, first := h.post(t, a)
	for range 2 {
		if err := h.Channel.Amend(t.Context(), ref, h.card(a)); err != nil {
			t.Errorf("an Amend that changes nothing: %v", err)
		}
	}
	if again := h.Shown(ref); again.Text != first.Text || !slices.Equal(again.Choices, first.Choices) {
		t.Errorf("repeating changed the card: %+v", again)
	}
}

// alike are lines that are easily taken for each other.
func alike() []string {
	return []string{
		"rm a", "rm  a", "rm а", "rm a ", "rm a\n", "rm\ta", "rm \u200ba", "rm \u202ea", "<b>rm a</b>", "&lt;b&gt;rm a", "rm a\\", "*rm a*", "`rm a`",
		strings.Repeat("x", 9000), strings.Repeat("x", 9001), strings.Repeat("x", 8999) + "y",
	}
}

func differs(t *testing.T, h Harness) {
	seen := map[string]string{}
	for _, line := range alike() {
		_, p := h.post(t, Ask(t, h.Channel.Name(), line))
		text, _, _ := strings.Cut(p.Text, "Answer by")
		for _, f := range p.Files {
			_, rest, _ := strings.Cut(f, "\n")
			text += "\x00" + rest
		}
		if other, ok := seen[text]; ok {
			t.Errorf("%.40q and %.40q look the same", line, other)
		}
		seen[text] = line
	}
}

func reveals(t *testing.T, h Harness) {
	_, p := h.post(t, Ask(t, h.Channel.Name(), "echo \u202e\u200b\u2066\x1b[2J\ufeff done"))
	if i := strings.IndexAny(p.Text, "\u202e\u200b\u2066\x1b\ufeff"); i >= 0 {
		t.Errorf("something unseen is on the card: %q", p.Text)
	}
	if !strings.Contains(p.Text, "U+202E") {
		t.Errorf("the card hides what was there: %q", p.Text)
	}
}

func allOrNoAllow(t *testing.T, h Harness) {
	line := "echo " + strings.Repeat("word ", h.Facts.TextLimit) + "END"
	_, p := h.post(t, Ask(t, h.Channel.Name(), line))
	if n := utf8.RuneCountInString(p.Text); n > h.Facts.TextLimit {
		t.Errorf("the card has %d characters", n)
	}
	all := strings.Contains(strings.Join(p.Files, ""), line)
	if all != h.Facts.Files || slices.Contains(p.Choices, approval.ChoiceAllow) != all {
		t.Errorf("attached whole: %v; the choices are %v", all, p.Choices)
	}
	if !slices.Contains(p.Choices, approval.ChoiceDeny) {
		t.Error("the card cannot be denied")
	}
}

func partly(t *testing.T, h Harness) {
	a := Ask(t, h.Channel.Name(), "make a", "make b")
	ref, p := h.post(t, a)
	if len(p.Choices) != 6 {
		t.Errorf("a plan of two offers %v", p.Choices)
	}
	decide(t, &a, approval.ChoiceDeny, a.Approvals[0].ID)
	if err := h.Channel.Amend(t.Context(), ref, h.card(a)); err != nil {
		t.Fatal(err)
	}
	if p := h.Shown(ref); len(p.Choices) != 2 || !strings.Contains(p.Text, "make b") || !strings.Contains(p.Text, "Ann") {
		t.Errorf("half answered, the card shows %v %s", p.Choices, p.Text)
	}
}
