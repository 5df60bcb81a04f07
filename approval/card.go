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
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Card is the channel-neutral picture of an ask. A channel chooses layout and
// markup; it adds no fact, leaves none out, and offers no button that is not
// here.
type Card struct {
	Ask   AskID
	Agent string
	// Intent is what the user asked the agent for; the agent relays it.
	Intent string
	TurnID string
	// Items has one entry for each call that the ask is about.
	Items []Item
	// Buttons that mean every waiting item; empty when nothing waits.
	Buttons   []Button
	OpenedAt  time.Time
	ExpiresAt time.Time
	// View is what this picture shows; the dispatcher records it as shown.
	View View
	// Routes are where the ask went, and how many people it takes there.
	Routes []Active
	// Posted is how many of the items the message showed when it was posted; 0
	// for a card that has not been. More items than that have joined since.
	Posted int
	// Places are where the ask is shown: the messages' references, by channel. A
	// reference is empty where the card is still to be posted.
	Places map[string]string
	// Silent says that people do not want to be disturbed now: the card comes
	// without a sound.
	Silent bool
	// Questions are what people asked the agent about it, and what it said.
	Questions []Question
	// Snoozed is set when a person put the reminder off, Handed says who handed it over,
	// and RemindAt when people are reminded; zero for never.
	Snoozed  *Snoozed
	Handed   []Handed
	RemindAt time.Time
	// Revealed says that the values are shown whose masks are cuts, see
	// [NewRevealedCard].
	Revealed bool
	// Digits are what a yes on the other side takes, where they stand here; see
	// [Card.ShowDigits].
	Digits string
	// wrong are the ask's wrong digits.
	wrong mismatches
}

// MayAsk reports whether people may ask the agent something about the card: it waits,
// and has answered what was asked before.
func (c *Card) MayAsk() bool {
	n := len(c.Questions)
	waits := slices.ContainsFunc(c.Items, func(it Item) bool { return it.State == Pending })
	return waits && n < MaxQuestions && (n == 0 || !c.Questions[n-1].Open())
}

// Item is one call on a card. Its texts are raw: a channel passes each through
// [visible.Runs] before a person sees it. Secrets in them are masked already.
type Item struct {
	Approval ID
	State    State
	// Headline is what the call would do, worst first, and what follows from it.
	Headline headline.Headline
	Executor string
	// Args is the call's whole arguments, as indented JSON in canonical form.
	Args string
	// Command is set when the call is a shell command line: the line itself.
	Command string
	Cwd     string
	Mounts  []string
	// SubAgent is what the client calls the agent that its own one has started, empty for
	// a call of its own one.
	SubAgent string
	// Planning says that the agent's client is in its plan mode, in which its own
	// rules refuse what changes anything, whatever a person allowed.
	Planning bool
	Refusal  Refusal
	Verdict  vaglio.Verdict
	// Votes are the people who allowed the call so far, where one is not enough.
	Votes []Vote
	// Decision, Permit and Outcome are set when they happened.
	Decision *Decision
	Permit   *Permit
	Outcome  *Outcome
	EndedAt  time.Time
	// Buttons that mean this item alone; empty when it does not wait, and when
	// it is the card's only item: then the card's buttons mean it.
	Buttons []Button
	// Grants are the choices that allow the call and as many equal ones as Covers
	// says; empty where no grant may be given. They are behind a second tap, but for a
	// call that is Again one that was just allowed.
	Grants []Button
	Covers int
	Again  *Likeness
	// DenyKind denies the call and everything of its kind for a while; nil where it is
	// like nothing that was denied. Kind is set when a person did.
	DenyKind *Button
	Kind     *CallKind
	// Grant is the grant that was given with the allowance.
	Grant *Grant
	// About is what the call would do, as far as it is known, and Like the standing
	// denial that it is like.
	About Subjects
	Like  *Likeness
	// Edit is set when a person denied the call as it was and wants it changed, and
	// Editables are the arguments that they may change while it waits.
	Edit      *Edit
	Editables []Editable
	// StandsUntil is until when a denial answers equal calls; zero where it does
	// not. Lifted is set when a person took it back.
	StandsUntil time.Time
	Lifted      *Act
	// Passkey says that the call is allowed only with a passkey, see [Card.WantPasskey].
	Passkey bool
	// Match says that a yes to it here takes the digits of the other side, see
	// [Card.ShowDigits].
	Match bool
	// Obscured is where masked values stand that decide what the call does. There is
	// no Allow then, but on a card where they are revealed.
	Obscured []Obscured
	// ValuesDropped is when what the call held was dropped; zero while it is kept.
	// Arguments, command and the like are empty then.
	ValuesDropped time.Time
}

// Lead returns the call that weighs most, of those that wait if any does: like
// is how many others of them say the same, more how many say something else. It
// is nil for a card without calls.
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

// NewCard returns the picture of the ask as the channel shows it, with every
// secret masked. It has buttons only where something waits, a person may
// overrule what was denied, and the ask is shown on that channel.
//
// What is obscured cannot be allowed from it, nor what would allow it with others.
func NewCard(a Ask, channel string, m Masker) Card { return newCard(&a, channel, m, false) }

// NewRevealedCard is [NewCard] for a person who asked to see what decides what the
// calls do: the values of a call are as they are where a mask in it is a cut, and it
// can be allowed. It must go to that person alone, and be kept nowhere. Who allows
// from it says so, see [Tap].
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

// places are where the ask is shown, see [Card.Places].
func (a *Ask) places() map[string]string {
	places := make(map[string]string, len(a.Cards))
	for i := range a.Cards {
		if s := &a.Cards[i]; !s.Gone {
			places[s.Channel] = s.Ref
		}
	}
	return places
}

// WantPasskey marks what waits and can be allowed only with a passkey, by the ask's
// electorate. Where no assertion of one can be given, there is no Allow then.
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

// editables are the arguments that a person may change: none where a masked value
// decides what the call does, which no edit shows.
func (it *Item) editables(p vaglio.Proposal, m Masker) []Editable {
	if len(it.Obscured) > 0 {
		return nil
	}
	return Editables(p, m)
}

// part keeps of the choices of one call those that reach further, and returns the
// others.
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

// buttons returns the buttons of the ask's card on the channel, by approval:
// allow first.
func (a *Ask) buttons(channel string) map[ID][]Button {
	shown := a.On(channel)
	if shown == nil {
		return nil
	}
	by := make(map[ID][]Button)
	for _, token := range slices.Sorted(maps.Keys(shown.Callbacks)) {
		c := shown.Callbacks[token]
		if c.Replaced || c.Calls != 0 && c.Calls != len(a.Approvals) {
			continue // It is on an older picture of the card.
		}
		by[c.Approval] = append(by[c.Approval], Button{c.Choice, token})
	}
	for _, buttons := range by {
		slices.SortStableFunc(buttons, func(a, b Button) int { return cmp.Compare(a.Choice, b.Choice) })
	}
	return by
}

// NewItem pictures an approval, with every secret masked.
func NewItem(a Approval, m Masker) Item { return newItem(m.Approval(a)) }

// newItem pictures an approval in which secrets are masked already.
func newItem(a Approval) Item {
	it := Item{
		Approval: a.ID, State: a.State, Headline: headline.Of(a.Proposal, a.Verdict), Executor: a.Proposal.Executor,
		Args: argsText(a.Proposal.Args), Command: commandLine(a.Proposal),
		Cwd: a.Proposal.Context.Cwd, Mounts: a.Proposal.Context.Mounts,
		SubAgent: a.Proposal.Context.SubAgent, Planning: a.Proposal.Context.Mode == planMode,
		Refusal: a.Refusal, Verdict: a.Verdict, Votes: a.Votes,
		Decision: a.Decision, Permit: a.Permit, Outcome: a.Outcome, EndedAt: a.EndedAt,
		Edit: a.Edit, Grant: a.Grant, About: a.About, Like: a.Like, Lifted: a.Lifted, Again: a.Again, Covers: a.Covers(), Kind: a.Kind, ValuesDropped: a.ValuesDropped,
		Obscured: a.Obscured,
	}
	it.Verdict.Sources = slices.Clone(a.Verdict.Sources)
	for i := range it.Verdict.Sources {
		it.Verdict.Sources[i].Head = ""
		if i < len(a.Heads) {
			it.Verdict.Sources[i].Head = a.Heads[i]
		}
	}
	if !a.ValuesDropped.IsZero() {
		it.Args, it.Command, it.Verdict.Sources = "", "", nil // There is nothing to be shown as the whole of it.
	}
	if !a.Settled && a.Lifted == nil {
		it.StandsUntil = a.StandsUntil
	}
	return it
}

// planMode is what clients call the mode in which they only plan.
const planMode = "plan"

// argsText writes arguments as indented JSON, each in canonical form: in the order of
// their names, but behind them all what is long, such as a mail's body, so that to whom
// and how much stand in sight.
func argsText(args vaglio.Args) string {
	if len(args) == 0 {
		return "{}"
	}
	var brief, long []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		form, err := strictjson.Canonical(map[string]any{key: args[key]})
		if err != nil {
			return unwritable
		}
		member := string(form[1 : len(form)-1])
		if len(member) > longMember || strings.Contains(member, `\n`) {
			long = append(long, member)
		} else {
			brief = append(brief, member)
		}
	}
	text, err := strictjson.Indent([]byte("{" + strings.Join(append(brief, long...), ",") + "}"))
	if err != nil {
		return unwritable
	}
	return string(text)
}

// longMember is from how many bytes on an argument stands behind the others.
const longMember = 120

// unwritable stands for arguments that have no JSON form. No ask is opened for
// such a call, because it has no fingerprint either.
const unwritable = "(these arguments cannot be written as JSON: deny the call)"

// VetoMark begins the ids of vetoes, so that none is taken for an approval's.
const VetoMark = "veto-"

// VetoID names a step that was refused and that no person was asked about, or not
// by itself: people ask with it why. It follows from the step's own id, and gives
// no right.
func VetoID(step string) ID {
	h := sha256.Sum256([]byte("veto " + step))
	return ID(VetoMark + strings.ToLower(base32.StdEncoding.EncodeToString(h[:10])[:10]))
}

// IsVetoID reports whether the id, or the beginning of one, names a veto.
func IsVetoID(id string) bool { return strings.HasPrefix(id, VetoMark) }

// NewVetoCard returns the picture of a step that was refused, with every secret
// masked. It has no buttons: there is nothing to decide. Its item has no state,
// and the approval's id where the step got another call's answer.
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
