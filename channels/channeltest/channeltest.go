// Package channeltest is the contract that every channel keeps, as tests. A
// channel's own tests run it against the real channel and a fake of its
// platform; what the platform can do is declared, not guessed.
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
	"github.com/metnos/vaglio/vaglio"
)

// Channel is what is tested.
type Channel interface {
	Name() string
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	Amend(ctx context.Context, ref string, c approval.Card) error
}

// Facts are what a platform can do. They are declared, and the suite holds the
// channel to them.
type Facts struct {
	// TextLimit is the most characters of a message; 0 means that there is none.
	TextLimit int
	// Files says that a message may have a file beside it.
	Files bool
	// Order is how people give an order such as "lift 3fa2" there, as they read it.
	Order func(verb string, of ...string) string
	// Edits is the address at which a call is edited, by its ask and its approval, which
	// is empty where the ask has several.
	Edits func(ask approval.AskID, id approval.ID) string
	// Delivers says that cards are messages, which can fail to get there and can
	// be deleted. A channel that shows the state at every look has none.
	Delivers bool
}

// Picture is what a person sees of a card, save what only names the card itself:
// sums and sizes of files.
type Picture struct {
	Text    string
	Buttons []Button
	// Files are the contents of what is attached.
	Files []string
	// Links are what leads out of the card where it is touched: addresses,
	// mentions, commands.
	Links []string
}

// Button is one choice that a person has.
type Button struct {
	Choice approval.Choice
	// Label is what the person reads or hears of it.
	Label string
	// Press presses it, also when the card does not show it any more, and returns
	// what who pressed is told.
	Press func(Who) string
}

// Who is somebody at the platform.
type Who int

// The people of the suite.
const (
	// Owner may decide.
	Owner Who = iota
	// Stranger may not.
	Stranger
)

// Harness is a channel with its platform under the test's hand.
type Harness struct {
	Channel Channel
	Facts   Facts
	// Desk is what the channel hands taps to.
	Desk *Desk
	// Shown returns what a person sees of the message.
	Shown func(ref string) Picture
	// Reply answers the card with words and returns what who wrote is told.
	Reply func(who Who, ref, words string) string
	// Grants are the choices behind the second tap of a card.
	Grants func(ref string) []Button
	// Match presses Allow on the card as often as it asks to, and gives the digits, each
	// where it is asked for. It returns what who pressed is told last.
	Match func(ref, digits string) string
	// Revealed is what a person sees who asks to see what is masked; nil for a channel
	// that shows it nowhere.
	Revealed func(ref string) Picture
	// Edit is where the card leads to for an edit of its call, and what stands on that
	// link; empty where it leads nowhere.
	Edit func(ref string) (label, address string)
	// Ask asks the agent something by the card's own choice, and returns what who asked
	// is told. It is false where the card offers no such choice.
	Ask func(who Who, ref, words string) (told string, offered bool)
	// Command gives an order such as "stop coder 1h", as people do on the channel,
	// and returns what who gave it is told.
	Command func(who Who, text string) string
	// Restart ends the channel's process and starts another over what it kept.
	// The harness's Channel is the new one.
	Restart func() Channel
	// Secret is what no error may show; empty when the channel has none.
	Secret string

	// For a platform that delivers:

	// Limit makes the platform refuse the next call with that pause.
	Limit func(after time.Duration)
	// Down makes the platform unreachable, or reachable again.
	Down func(down bool)
	// Fail makes the next call fail inside of the platform.
	Fail func()
	// Remove deletes the message.
	Remove func(ref string)
	// Misses are the ways in which a channel hears that somebody misses the message.
	Misses map[string]func(ref string)
	// Says are the ways in which people say words to the card beside its own choice:
	// with a picture, as what they do. Each returns what who wrote is told.
	Says map[string]func(who Who, ref, words string) string
	// Decorate makes the platform refuse for an hour, or take again, what no answer needs: menus, home pages.
	Decorate func(refused bool)
	// Rooms are the ways in which the platform shuts the room of the cards, and
	// opens it again.
	Rooms map[string]func(shut bool)
	// Forge presses the button of a test card that was never sent, on the message, as a
	// changed client can, and returns what who pressed is told.
	Forge func(ref string) string
	// Crowd has people say so many things to the card that decide nothing, at once, while what
	// answers them takes long, and a picture among the answers hangs.
	Crowd func(ref string, n int)
	// Document is the path of what users read of the platform.
	Document string
	// Proven are rows of that document which other platforms know nothing of, by the
	// test of the platform's own package that proves them.
	Proven map[string]string
}

// Run runs the contract. Each case gets a harness of its own from with, which
// may run it in a bubble.
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
		"GrantsAreBehindASecondTap":            grants,
		"ACardSaysWhatItIsLike":                likes,
		"WhatWasJustAnsweredReachesFurther":    further,
		"AQuestionIsNoAnswer":                  questions,
		"LaterOrSomebodyElse":                  later,
		"ACardLeadsToTheEditOfItsCall":         edits,
		"OrdersAreFollowedAndTold":             orders,
		"OrdersAreToldAsTheyAreGivenHere":      givenHere,
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
		cases["WhoIsMissingIsSaid"] = news
		names := slices.Collect(maps.Keys(cases))
		cases["TheDocumentSaysWhatIsProved"] = func(t *testing.T, h Harness) {
			t.Helper()
			documented(t, h, names)
		}
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
		})
	}
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

// amend makes the card show the state, and returns what a person then sees.
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

// choices are what the picture offers, in order.
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
