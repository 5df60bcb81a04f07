package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
)

// Card is the channel-neutral picture of an ask. A channel chooses layout and markup; it
// adds no fact, leaves none out, and offers no button that is not here.
type Card struct {
	Ask   AskID
	Agent string
	// Intent is what the user asked the agent for, as relayed by the agent.
	Intent string
	TurnID string
	// Items has one entry for each call that the ask is about.
	Items []Item
	// Buttons stand for every waiting item; empty if nothing waits.
	Buttons   []Button
	OpenedAt  time.Time
	ExpiresAt time.Time
	// View is the view that this card shows; the dispatcher records it as shown.
	View View
	// Routes are the routes the ask went to, each with its quorum.
	Routes []Active
	// Posted is how many of the items the message showed when it was posted; 0 if it has
	// not been posted. Any further items have joined since.
	Posted int
	// Places are where the ask is shown: the message reference for each channel, empty if
	// the card is still to be posted there.
	Places map[string]string
	// Silent says that people do not want to be disturbed now: the card arrives without a
	// sound.
	Silent bool
	// Questions are what people asked the agent about the ask, and its answers.
	Questions []Question
	// Snoozed is set if a person postponed the reminder, Handed says who handed the ask
	// over, and RemindAt is when people are reminded; zero means never.
	Snoozed  *Snoozed
	Handed   []Handed
	RemindAt time.Time
	// Revealed says that masked values that decide what a call does are shown, see
	// [NewRevealedCard].
	Revealed bool
	// Digits are the digits that a yes on the other surface requires, if this card shows
	// them; see [Card.ShowDigits].
	Digits string
	// wrong counts the wrong digits given for the ask.
	wrong mismatches
}

// Waiting names an ask that waits for a person.
type Waiting struct {
	Ask   AskID
	Agent string
}

// Waits reports whether a call of the card waits for a person.
func (c *Card) Waits() bool {
	return slices.ContainsFunc(c.Items, func(it Item) bool { return it.State == Pending })
}

// MayAsk reports whether people may ask the agent something about the card: it waits, and
// any earlier question has been answered.
func (c *Card) MayAsk() bool {
	n := len(c.Questions)
	return c.Waits() && n < MaxQuestions && (n == 0 || !c.Questions[n-1].Open())
}

// Item is one call on a card. Its texts are raw: a channel passes each through
// [visible.Runs] before a person sees it. Their secrets are already masked.
type Item struct {
	Approval ID
	State    State
	// Headline is what the call would do, worst first, and what follows from it.
	Headline headline.Headline
	Executor string
	// Args is all of the call's arguments, from [ArgsText].
	Args string
	// Command is the command line itself, if the call is a shell command line.
	Command string
	// Lines are the lines of Command that people are asked about, counted from 1, in order;
	// empty if it has only one, or if they are not known.
	Lines []int
	// Unplaced says that they are asked about something else, too, the line of which is not known.
	Unplaced bool

	Cwd    string
	Mounts []string
	// SubAgent is the client's name for the subagent that made the call; empty if the
	// client's main agent did.
	SubAgent string
	// Planning says that the agent's client is in its plan mode, where the client's own
	// rules refuse every change, whatever a person allowed.
	Planning bool
	Refusal  Refusal
	Verdict  vaglio.Verdict
	// Votes are the people who have allowed the call so far, where one is not enough.
	Votes []Vote
	// Decision, Permit and Outcome are set once they exist.
	Decision *Decision
	Permit   *Permit
	Outcome  *Outcome
	EndedAt  time.Time
	// Buttons stand for this item alone; empty if it does not wait, or if it is the card's
	// only item, for which the card's own buttons stand.
	Buttons []Button
	// Grants are the choices that allow the call and up to Covers equal ones; empty if no
	// grant may be given. They take a second tap, unless Again says that such a call was
	// allowed a moment ago.
	Grants []Button
	Covers int
	Again  *Likeness
	// DenyKind denies the call and everything of its kind for a while; nil if the call
	// resembles nothing that was denied. Kind is set if a person chose that.
	DenyKind *Button
	Kind     *CallKind
	// Grant is the grant that was given with the allowance.
	Grant *Grant
	// About is what the call would do, as far as it is known. Like is the standing denial
	// that the call resembles.
	About Subjects
	Like  *Likeness
	// Edit is set if a person denied the call as it was and wants it changed. Editables are
	// the arguments that a person may change while the call waits.
	Edit      *Edit
	Editables []Editable
	// StandsUntil is when a denial stops answering equal calls; zero if it does not answer
	// them. Lifted is set if a person took the denial back.
	StandsUntil time.Time
	Lifted      *Act
	// Passkey says that allowing the call requires a passkey, see [Card.WantPasskey].
	Passkey bool
	// Match says that a yes given here requires the digits shown on the other surface, see
	// [Card.ShowDigits].
	Match bool
	// Obscured lists where masked values decide what the call does. The item then has no
	// Allow, except on a card that reveals them.
	Obscured []Obscured
	// ValuesDropped is when the call's values were dropped; zero while they are kept. After
	// that the arguments, the command and the like are empty.
	ValuesDropped time.Time
}

// Lead returns the weightiest call, among those that wait if any do. like is how many of
// the others say the same thing, more how many say something else. worst is nil if the card
// has no calls.
func (c *Card) Lead() (worst *Item, like, more int) {
	waits := slices.ContainsFunc(c.Items, func(it Item) bool { return it.State == Pending })
	var of []*Item
	for i := range c.Items {
		if it := &c.Items[i]; !waits || it.State == Pending {
			of = append(of, it)
		}
	}
	heads := make([]headline.Headline, len(of))
	for i, it := range of {
		heads[i] = it.Headline
	}
	at, like, more := headline.Lead(heads)
	if at < 0 {
		return nil, 0, 0
	}
	return of[at], like, more
}

// Button is one choice on a card.
type Button struct {
	Choice Choice
	Token  Token
}

// NewCard returns the picture of the ask as the channel shows it, with every secret masked.
// It has buttons only if something waits, a person may overrule the denial, and the ask is
// shown on that channel.
//
// An obscured call cannot be allowed from it, and neither can a set of calls with an
// obscured one among them.
func NewCard(a Ask, channel string, m Masker) Card { return newCard(&a, channel, m, false) }

// NewRevealedCard is like [NewCard], for a person who asked to see what decides what the
// calls do: where a masked value does, the call's values are shown as they are and the call
// can be allowed. The card must go to that person alone and must not be stored. A tap from
// it sets [Tap.Revealed].
func NewRevealedCard(a Ask, channel string, m Masker) Card { return newCard(&a, channel, m, true) }

func newCard(a *Ask, channel string, m Masker, revealed bool) Card {
	c := Card{
		Ask: a.ID, Agent: a.Agent, Intent: m.Mask(a.Intent), TurnID: m.Mask(a.TurnID),
		OpenedAt: a.OpenedAt, ExpiresAt: a.ExpiresAt, View: a.View(), Routes: a.Routes,
		Places: a.places(), wrong: a.wrong(),
	}
	c.Questions, c.Snoozed, c.Handed, c.RemindAt = m.questions(a.Questions), a.Snoozed, a.Handed, a.RemindAt()
	if s := a.On(channel); s != nil {
		c.Posted = s.Posted
	}
	buttons, obscured := a.buttons(channel), false
	for i := range a.Approvals {
		it := NewItem(a.Approvals[i], m)
		if it.State == Pending && askable(it.Verdict) {
			all := buttons[it.Approval]
			if len(it.Obscured) > 0 && !revealed {
				all, obscured = withoutAllow(all), true
			}
			if own := it.part(all); len(a.Approvals) == 1 {
				c.Buttons = own
			} else {
				it.Buttons, c.Buttons = own, buttons[""]
			}
			it.Editables = it.editables(a.Approvals[i].Proposal, m)
		}
		c.Items = append(c.Items, it)
	}
	if obscured {
		c.Buttons = withoutAllow(c.Buttons)
	}
	if revealed {
		c.reveal(a)
	}
	return c
}

// places returns where the ask is shown, see [Card.Places].
func (a *Ask) places() map[string]string {
	places := make(map[string]string, len(a.Cards))
	for i := range a.Cards {
		if s := &a.Cards[i]; !s.Gone {
			places[s.Channel] = s.Ref
		}
	}
	return places
}

// WantPasskey marks the waiting items that can be allowed only with a passkey, according to
// the ask's electorate. here says whether an assertion can be given on this card; if not,
// the marked items lose their Allow.
func (c *Card) WantPasskey(e *Electorate, here bool) {
	if !e.WantsPasskey("") {
		return
	}
	for i := range c.Items {
		it := &c.Items[i]
		if it.State != Pending || !Serious(&it.Headline.Consequence) {
			continue
		}
		it.Passkey = true
		if !here {
			it.Buttons, it.Grants, c.Buttons = withoutAllow(it.Buttons), nil, withoutAllow(c.Buttons)
		}
	}
}

// editables returns the arguments that a person may change. There are none if a masked
// value decides what the call does, because an edit does not show it.
func (it *Item) editables(p vaglio.Proposal, m Masker) []Editable {
	if len(it.Obscured) > 0 {
		return nil
	}
	return Editables(p, m)
}

// part takes the choices that reach further, grants and the denial of a kind, into the item
// and returns the others.
func (it *Item) part(all []Button) (own []Button) {
	for _, b := range all {
		switch {
		case b.Choice.Grants():
			it.Grants = append(it.Grants, b)
		case b.Choice == ChoiceDenyKind:
			it.DenyKind = &b
		default:
			own = append(own, b)
		}
	}
	slices.SortStableFunc(it.Grants, func(a, b Button) int {
		return cmp.Compare(slices.Index(GrantChoices(), a.Choice), slices.Index(GrantChoices(), b.Choice))
	})
	return own
}

// buttons returns the buttons of the ask's card on the channel, by approval, with allow
// first.
func (a *Ask) buttons(channel string) map[ID][]Button {
	shown := a.On(channel)
	if shown == nil {
		return nil
	}
	by := make(map[ID][]Button)
	for _, token := range slices.Sorted(maps.Keys(shown.Callbacks)) {
		c := shown.Callbacks[token]
		if c.Replaced || c.Calls != 0 && c.Calls != len(a.Approvals) {
			continue // on an older version of the card
		}
		by[c.Approval] = append(by[c.Approval], Button{c.Choice, token})
	}
	for _, buttons := range by {
		slices.SortStableFunc(buttons, func(a, b Button) int { return cmp.Compare(a.Choice, b.Choice) })
	}
	return by
}

// NewItem returns the picture of an approval, with every secret masked.
func NewItem(a Approval, m Masker) Item { return newItem(m.Approval(a)) }

// newItem returns the picture of an approval whose secrets are already masked.
func newItem(a Approval) Item {
	it := Item{
		Approval: a.ID, State: a.State, Headline: headline.Of(a.Proposal, a.Verdict), Executor: a.Proposal.Executor,
		Args: ArgsText(a.Proposal.Args), Command: CommandLine(a.Proposal),
		Cwd: a.Proposal.Context.Cwd, Mounts: a.Proposal.Context.Mounts,
		SubAgent: a.Proposal.Context.SubAgent, Planning: a.Proposal.Context.Mode == planMode,
		Refusal: a.Refusal, Votes: a.Votes,
		Decision: a.Decision, Permit: a.Permit, Outcome: a.Outcome, EndedAt: a.EndedAt,
		Edit: a.Edit, Grant: a.Grant, About: a.About, Like: a.Like, Lifted: a.Lifted, Again: a.Again, Covers: a.Covers(), Kind: a.Kind, ValuesDropped: a.ValuesDropped,
		Obscured: a.Obscured,
	}
	it.Lines, it.Unplaced = linesAskedAbout(a.Verdict, it.Command)
	it.Verdict = Agreed(a.Verdict, it.Headline)
	it.Verdict.Sources = slices.Clone(a.Verdict.Sources)
	for i := range it.Verdict.Sources {
		it.Verdict.Sources[i].Head = ""
		if i < len(a.Heads) {
			it.Verdict.Sources[i].Head = a.Heads[i]
		}
	}
	if !a.ValuesDropped.IsZero() {
		it.Args, it.Command, it.Lines, it.Verdict.Sources = "", "", nil, nil // nothing is left to show
	}
	if !a.Settled && a.Lifted == nil {
		it.StandsUntil = a.StandsUntil
	}
	return it
}

// planMode is what clients call the mode in which they only plan.
const planMode = "plan"

// VetoMark starts the ids of vetoes, so that none is mistaken for an approval's id.
const VetoMark = "veto-"

// VetoID names a refused step that no person was asked about, or that got the answer of
// another call. People use it to ask why. It is derived from the step's own id and grants
// nothing.
func VetoID(step string) ID {
	h := sha256.Sum256([]byte("veto " + step))
	return ID(VetoMark + strings.ToLower(base32.StdEncoding.EncodeToString(h[:10])[:10]))
}

// Typed returns an id as it is written, from what a person typed or a phone capitalized.
func Typed(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

// IsVetoID reports whether the id, or the start of one, names a veto.
func IsVetoID(id string) bool { return strings.HasPrefix(id, VetoMark) }

// NewVetoCard returns the picture of a step that was refused, with every secret masked. It
// has no buttons, because there is nothing to decide. Its item has no state; it has an
// approval id if the step got another call's answer.
func NewVetoCard(s Step, m Masker) Card { //nolint:gocritic // It is rare.
	if s.Refusal == nil {
		r := Refuse(s.Proposal, *s.Verdict)
		s.Refusal = &r
	}
	a := m.Approval(Approval{ID: s.Approval, Proposal: s.Proposal, Verdict: *s.Verdict, Refusal: *s.Refusal})
	return Card{
		Ask: AskID(VetoID(s.ID)), Agent: s.Proposal.Agent, Intent: m.Mask(s.Proposal.Intent), TurnID: m.Mask(s.Proposal.TurnID),
		OpenedAt: s.At, ExpiresAt: s.At, Items: []Item{newItem(a)},
	}
}
