// Package channeltest is the contract that every channel must keep, in the form of tests. A
// channel's own tests run it against the real channel and a fake of its platform; what the
// platform can do is declared, not guessed. EVENTS.md lists what platforms may do, and the test
// that shows what follows.
package channeltest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// Channel is the channel under test.
type Channel interface {
	Name() string
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	Amend(ctx context.Context, ref string, c approval.Card) error
}

// Facts are what a platform can do. They are declared, and the suite holds the channel to
// them.
type Facts struct {
	// TextLimit is the most characters of a message; 0 means no limit.
	TextLimit int
	// Files says that a message may have a file attached.
	Files bool
	// Order returns how people there give an order such as "lift 3fa2", in the form they
	// read it.
	Order func(verb string, of ...string) string
	// Edits returns the address where a call is edited, given its ask and its approval,
	// which is empty if the ask has several.
	Edits func(ask approval.AskID, id approval.ID) string
	// Pairs is how many pairs of calls are shown; empty means 300.
	Pairs string
	// Long lengthens both calls of every other pair, and a call with secrets, by that many
	// characters.
	Long int
	// Delivers says that cards are messages, which can fail to arrive and can be deleted. A
	// channel that shows the current state at every look has none.
	Delivers bool
}

// Picture is what a person sees of a card, except for what only identifies the card itself:
// the sums and sizes of files.
type Picture struct {
	Text    string
	Buttons []Button
	// Files are the contents of the attachments.
	Files []string
	// Links are whatever leads out of the card when touched: addresses, mentions, commands.
	Links []string
}

// Button is one choice that a person has.
type Button struct {
	Choice approval.Choice
	// Label is what the person reads or hears.
	Label string
	// Press presses the button, even if the card no longer shows it, and returns what the
	// person who pressed is told.
	Press func(Who) string
}

// Who is somebody on the platform.
type Who int

// The people of the suite.
const (
	// Owner may decide.
	Owner Who = iota
	// Stranger may not.
	Stranger
)

// Harness is a channel along with its platform, under the test's control.
type Harness struct {
	Channel Channel
	Facts   Facts
	// Desk is what the channel hands taps to.
	Desk *Desk
	// Shown returns what a person sees of the message.
	Shown func(ref string) Picture
	// Reply answers the card with words and returns what the writer is told.
	Reply func(who Who, ref, words string) string
	// Grants returns the choices behind the second tap of a card.
	Grants func(ref string) []Button
	// Match presses Allow on the card as often as it asks for that, and gives the digits,
	// each where it is asked for. It returns what the person who pressed is last told.
	Match func(ref, digits string) string
	// Revealed returns what a person sees who asks to see what is masked; nil for a channel
	// that shows it nowhere.
	Revealed func(ref string) Picture
	// Edit returns where the card links to for editing its call, and the label of that
	// link; both are empty if it links nowhere.
	Edit func(ref string) (label, address string)
	// Ask asks the agent something through the card's own choice, and returns what the
	// person who asked is told. offered is false if the card has no such choice.
	Ask func(who Who, ref, words string) (told string, offered bool)
	// Command gives an order such as "stop coder 1h", the way people do on the channel, and
	// returns what the person who gave it is told.
	Command func(who Who, text string) string
	// Restart ends the channel's process and starts another with what it kept. It becomes
	// the harness's Channel.
	Restart func() Channel
	// Secret is what no error may show; empty if the channel has none.
	Secret string

	// The following is for platforms that deliver messages:

	// Limit makes the platform refuse the next call and ask for the given pause.
	Limit func(after time.Duration)
	// Down makes the platform unreachable, or reachable again.
	Down func(down bool)
	// Fail makes the next call fail inside the platform.
	Fail func()
	// Remove deletes the message.
	Remove func(ref string)
	// Misses are the ways in which a channel learns that somebody misses the message.
	Misses map[string]func(ref string)
	// Says are the ways in which people can say something to the card other than by its own
	// choice: for example with a picture. Each returns what the writer is told.
	Says map[string]func(who Who, ref, words string) string
	// Decorate are the ways in which the platform refuses, or accepts again, things that no
	// answer needs: menus, home pages.
	Decorate map[string]func(refused bool)
	// Beside returns what people were last told next to the card.
	Beside func(ref string) string
	// Rooms are the ways in which the platform shuts the room of the cards, and opens it
	// again.
	Rooms map[string]func(shut bool)
	// Forge presses the button of a test card that was never sent, on the message, as a
	// modified client can, and returns what the person who pressed is told.
	Forge func(ref string) string
	// Crowd has people say that many things to the card at once, none of which decides
	// anything, while answering them takes long and a picture among the answers hangs.
	Crowd func(ref string, n int)
	// Document is the path of the users' documentation of the platform.
	Document string
	// Proven maps rows of that document which other platforms do not have to the test of
	// the platform's own package that proves them.
	Proven map[string]string
}

// Run runs the contract. Each case gets a harness of its own from with, which may run it in
// a bubble.
func Run(t *testing.T, facts Facts, with func(t *testing.T, test func(t *testing.T, h Harness))) {
	t.Helper()
	cases := map[string]func(*testing.T, Harness){
		"ACardShowsTheCallAndItsChoices":       showsTheCall,
		"AFinalCardSaysHowAndHasNoButtons":     turnsFinal,
		"PostAndAmendMayBeRepeated":            mayBeRepeated,
		"DifferentCallsAreDifferentCards":      differs,
		"WhatIsUnseenIsMadeVisible":            reveals,
		"AllowOnlyWhereAllIsSeen":              allOrNoAllow,
		"ADecidedPlanOffersOnlyWhatStillWaits": partly,
		"EachButtonMeansWhatItSays":            means,
		"HostileTextChangesNothing":            hostile,
		"SecretsAreNotShown":                   masked,
		"AMaskIsACut":                          obscured,
		"AnAllowOfWhatIsMaskedAllowsNothing":   forged,
		"WhatNeedsAPasskeyIsDeniedHere":        keyed,
		"TheWorstTakesTheDigitsOfAnotherPlace": matched,
		"AGuardDenialCannotBeAllowed":          guarded,
		"ATapDecidesOnceAndIsToldTruthfully":   once,
		"AStrangerDecidesNothing":              stranger,
		"AStaleTapChangesNothing":              stale,
		"APressThatComesLateIsToldSo":          late,
		"WordsDenyAndNeverAllow":               wordsDeny,
		"ARestartForgetsNothing":               restarts,
		"WhatIsNotKeptIsNotAcknowledged":       unkept,
		"WhatIsRefusedIsExplained":             refused,
		"GrantsAreBehindASecondTap":            grants,
		"ACardSaysWhatItIsLike":                likes,
		"WhatWasJustAnsweredReachesFurther":    further,
		"AQuestionIsNoAnswer":                  questions,
		"LaterOrSomebodyElse":                  later,
		"ACardLeadsToTheEditOfItsCall":         edits,
		"OrdersAreFollowedAndTold":             orders,
		"OrdersAreToldAsTheyAreGivenHere":      givenHere,
		"WhoIsMissingIsSaid":                   news,
	}
	if facts.Delivers {
		cases["ARateLimitSaysWhenToComeBack"] = limited
		cases["AnOutageIsTriedAgainAndPasses"] = outage
		cases["AMessageThatIsGoneIsToldSo"] = gone
		cases["ARoomThatWasShutShowsWhatIsTrue"] = shut
		cases["ACardThatIsMissedComesBack"] = missed
		cases["WordsInAnyFormDeny"] = saidInAnyForm
		cases["ARefusedDecorationDelaysNoPress"] = decorated
		cases["APressWaitsForNoSpeech"] = crowded
		cases["AForgedTestPressWipesNoCard"] = rehearsed
		names := slices.Collect(maps.Keys(cases))
		cases["TheDocumentSaysWhatIsProved"] = func(t *testing.T, h Harness) {
			t.Helper()
			documented(t, h, names)
		}
	}
	complete := func(t *testing.T, test func(*testing.T, Harness)) {
		t.Helper()
		with(t, func(t *testing.T, h Harness) {
			t.Helper()
			if h.Facts = facts; h.Desk == nil || h.Shown == nil || h.Reply == nil || h.Restart == nil || h.Grants == nil || h.Ask == nil || h.Command == nil || h.Edit == nil || facts.Order == nil || facts.Edits == nil {
				t.Fatal("the harness is not complete")
			}
			if facts.Delivers {
				h.timely(t)
			}
			test(t, h)
		})
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			complete(t, test)
		})
	}
	t.Run("AnyTwoCallsAreDifferentCards", func(t *testing.T) {
		t.Parallel()
		pairs(t, facts, complete)
	})
}

// Ask opens an ask for command lines, as a judge's denial does.
func Ask(t *testing.T, channel string, lines ...string) approval.Ask {
	t.Helper()
	var ps []vaglio.Proposal
	for _, line := range lines {
		ps = append(ps, vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/u"}})
	}
	return openFor(t, channel, "coder", "clean up", ps...)
}

func openFor(t *testing.T, channel, agent, intent string, ps ...vaglio.Proposal) approval.Ask {
	t.Helper()
	v := vaglio.Verdict{Reason: "too broad", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge}
	return *open(t, v, approval.Opening{Agent: agent, Intent: intent, Channels: []string{channel}}, ps...)
}

func (h *Harness) card(a *approval.Ask) approval.Card {
	return h.Desk.Picture(a, h.Channel.Name())
}

// ask opens an ask, puts it on the desk and posts its card.
func (h *Harness) ask(t *testing.T, lines ...string) (a *approval.Ask, ref string, p Picture) {
	t.Helper()
	opened := Ask(t, h.Channel.Name(), lines...)
	ref, p = h.post(t, &opened)
	return &opened, ref, p
}

func (h *Harness) post(t *testing.T, a *approval.Ask) (string, Picture) {
	t.Helper()
	h.Desk.Add(a)
	ref, err := h.Channel.Post(t.Context(), h.card(a))
	if err != nil || ref == "" {
		t.Fatalf("Post: %q %v", ref, err)
	}
	h.Desk.Change(func() { a.Cards[0].Ref = ref })
	return ref, h.Shown(ref)
}

// amend makes the card show the current state, and returns what a person then sees.
func (h *Harness) amend(t *testing.T, ref string, a *approval.Ask) Picture {
	t.Helper()
	if err := h.Channel.Amend(t.Context(), ref, h.card(a)); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	return h.Shown(ref)
}

// elsewhere answers the ask, or one call of it, on another channel.
func (h *Harness) elsewhere(t *testing.T, a *approval.Ask, c approval.Choice, id approval.ID) {
	t.Helper()
	h.Desk.mu.Lock()
	defer h.Desk.mu.Unlock()
	r, err := a.Decide(approval.Tap{
		Ask: a.ID, Approval: id, Choice: c, By: approval.Person{ID: "test:1", Name: "Bob"}, Channel: "test", Words: "because",
	}, time.Now(), permitFor)
	if err != nil || !r.Won {
		t.Fatalf("decide: %v %v", r.Won, err)
	}
}

// choices returns what the picture offers, in order.
func (p *Picture) choices() (all []approval.Choice) {
	for _, b := range p.Buttons {
		all = append(all, b.Choice)
	}
	return all
}

// button returns the first button with the choice.
func (p *Picture) button(t *testing.T, c approval.Choice) Button {
	t.Helper()
	for _, b := range p.Buttons {
		if b.Choice == c {
			return b
		}
	}
	t.Fatalf("there is no button to %s", c)
	return Button{}
}

func showsTheCall(t *testing.T, h Harness) {
	_, _, p := h.ask(t, "rm -rf ./build")
	for _, want := range []string{"coder", "clean up", "shell_exec", "rm -rf ./build", "/home/u"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the card lacks %q: %s", want, p.Text)
		}
	}
	got := p.choices()
	if len(got) != 2 || !slices.Contains(got, approval.ChoiceAllow) || !slices.Contains(got, approval.ChoiceDeny) {
		t.Errorf("the card offers %v", got)
	}
}

func turnsFinal(t *testing.T, h Harness) {
	for name, end := range map[string]func(a *approval.Ask){
		"allowed":   func(a *approval.Ask) { h.elsewhere(t, a, approval.ChoiceAllow, "") },
		"denied":    func(a *approval.Ask) { h.elsewhere(t, a, approval.ChoiceDeny, "") },
		"expired":   func(a *approval.Ask) { h.Desk.Change(func() { a.Lapse(a.ExpiresAt) }) },
		"withdrawn": func(a *approval.Ask) { h.Desk.Change(func() { _ = a.Withdraw(a.Approvals[0].ID, time.Now()) }) },
	} {
		a, ref, before := h.ask(t, "make "+name)
		end(a)
		p := h.amend(t, ref, a)
		if len(p.Buttons) != 0 || p.Text == before.Text || !strings.Contains(strings.ToLower(p.Text), name) {
			t.Errorf("%s: the card shows %v %s", name, p.choices(), p.Text)
		}
		if a.Approvals[0].Decision != nil && (!strings.Contains(p.Text, "Bob") || !strings.Contains(p.Text, "because")) {
			t.Errorf("%s: the card does not say by whom, with which words: %s", name, p.Text)
		}
	}
}

func mayBeRepeated(t *testing.T, h Harness) {
	a, _, _ := h.ask(t, "make")
	ref, err := h.Channel.Post(t.Context(), h.card(a))
	if err != nil {
		t.Fatal(err)
	}
	first := h.Shown(ref)
	for range 2 {
		h.amend(t, ref, a)
	}
	if again := h.Shown(ref); again.Text != first.Text || !slices.Equal(again.choices(), first.choices()) {
		t.Errorf("repeating changed the card: %+v", again)
	}
}

func allOrNoAllow(t *testing.T, h Harness) {
	race.Alone(t)
	line := "echo " + strings.Repeat("word ", max(h.Facts.TextLimit, 20_000)) + "END"
	a, ref, p := h.ask(t, line)
	if n := utf8.RuneCountInString(p.Text); h.Facts.TextLimit > 0 && n > h.Facts.TextLimit {
		t.Errorf("the card has %d characters", n)
	}
	all := strings.Contains(p.Text+strings.Join(p.Files, ""), line)
	if able := h.Facts.Files || h.Facts.TextLimit == 0; all != able || slices.Contains(p.choices(), approval.ChoiceAllow) != all {
		t.Errorf("all of it can be seen: %v; the choices are %v", all, p.choices())
	}
	if told := p.button(t, approval.ChoiceDeny).Press(Owner); h.Desk.states(a)[0] != approval.Denied {
		t.Errorf("it cannot be denied: %q", told)
	}
	if p := h.amend(t, ref, a); len(p.Buttons) != 0 {
		t.Errorf("denied, the card offers %v", p.choices())
	}
}

func partly(t *testing.T, h Harness) {
	a, ref, p := h.ask(t, "make a", "make b")
	if len(p.Buttons) != 6 {
		t.Errorf("a plan of two offers %v", p.choices())
	}
	h.elsewhere(t, a, approval.ChoiceDeny, a.Approvals[0].ID)
	if p := h.amend(t, ref, a); len(p.Buttons) != 2 || !strings.Contains(p.Text, "make b") || !strings.Contains(p.Text, "Bob") {
		t.Errorf("half answered, the card shows %v %s", p.choices(), p.Text)
	}
}
