// Package approval is the domain of the dialogue that follows a judge's
// denial: the refusal, the approval that waits for a person, the decision, the
// permit, and the card that shows them. It is pure: no clock is read, nothing
// is stored, nothing is sent.
//
//	             ┌────────▶ denied      (a person; with words, if given)
//	pending ─────┼────────▶ expired     (nobody answered in time)
//	  │          ├────────▶ withdrawn   (the agent gave up or its turn ended)
//	  │          └────────▶ superseded  (a changed call under the same idempotency key)
//	  └─▶ allowed ──┬─▶ spent           (permit redeemed)
//	                └─▶ lapsed          (permit not redeemed in its window)
//	spent ─▶ succeeded | failed | unknown
//
// There is no edge from a guard denial to any of these: an approval starts
// from a [Denial], and only a judge-phase verdict makes one.
package approval

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// ID names an approval. It is safe to show and gives no right by itself.
type ID string

// Ask returns the ask that the approval belongs to.
func (id ID) Ask() AskID {
	ask, _, _ := strings.Cut(string(id), "-")
	return AskID(ask)
}

// AskID names an ask.
type AskID string

// NewAskID returns a fresh ask id: 16 characters of base32, 80 random bits.
func NewAskID() AskID { return AskID(strings.ToLower(rand.Text()[:16])) }

// Ask is what one card asks about: the approvals of one proposal, of one plan whose calls
// were proposed together, or of a burst of proposals from one turn. It is the unit of
// storage: one compare-and-swap changes an approval, its decision, its permit and what its
// cards owe, so no crash can separate them.
type Ask struct {
	ID    AskID  `json:"id"`
	Agent string `json:"agent"`
	// Intent and TurnID are those of the proposals, kept once.
	Intent string `json:"intent"`
	TurnID string `json:"turn_id"`
	// Approvals has one entry for each call that waits, in the plan's order. A call that
	// joins later is appended, so that the first n stay the first n.
	Approvals []Approval `json:"approvals"`
	// Cards has one entry for each place where the ask is shown.
	Cards     []Shown   `json:"cards"`
	OpenedAt  time.Time `json:"opened_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Routes are the routes the ask went to: the first one, and the one it escalated to.
	// Empty means the only route of a configuration that names none.
	Routes []Active `json:"routes,omitempty"`
	// EscalateAt is when the ask also goes to the people of EscalateTo, if it still waits.
	EscalateAt time.Time `json:"escalate_at,omitzero"`
	EscalateTo string    `json:"escalate_to,omitempty"`
	// Closed says that no further call joins the ask.
	Closed bool `json:"closed,omitempty"`
	// Yielded says that the turn's next calls get a card of their own, unless they are akin
	// to a call of this ask.
	Yielded bool `json:"yielded,omitempty"`
	// Questions are what people asked the agent about the ask, and its answers.
	Questions []Question `json:"questions,omitempty"`
	// Snoozed is set if a person postponed the reminder.
	Snoozed *Snoozed `json:"snoozed,omitempty"`
	// Handed lists the hand-overs, in order.
	Handed []Handed `json:"handed,omitempty"`
	// Revealed is when a person was last shown the masked values of its calls.
	Revealed *Act `json:"revealed,omitempty"`
	// Mismatches counts wrong digits given in chats, InboxMismatches in the inbox; see
	// [Match].
	Mismatches      int `json:"mismatches,omitempty"`
	InboxMismatches int `json:"inbox_mismatches,omitempty"`
}

// Active is a route that an ask is on, as cards show it. Who may decide is read from the
// current configuration.
type Active struct {
	Route string `json:"route"`
	// Quorum is how many people the route required when the ask went there.
	Quorum int `json:"quorum"`
	// Since is when the ask escalated to the route; zero for the first one.
	Since time.Time `json:"since,omitzero"`
}

// Approval is a judge-phase refusal that waits for a person.
type Approval struct {
	ID          ID              `json:"id"`
	State       State           `json:"state"`
	Proposal    vaglio.Proposal `json:"proposal"`
	Fingerprint Fingerprint     `json:"fingerprint"`
	Verdict     vaglio.Verdict  `json:"verdict"`
	Refusal     Refusal         `json:"refusal"`
	// Heads are the first lines of the verdict's sources, in order. Only the people who are
	// asked see them.
	Heads []string `json:"heads,omitempty"`
	// Key is the idempotency key under which the agent proposed the call.
	Key string `json:"key,omitempty"`
	// Votes are the people who have allowed it so far, where one is not enough.
	Votes []Vote `json:"votes,omitempty"`
	// Decision is set once: when a person denies, or when the last required vote allows.
	Decision *Decision `json:"decision,omitempty"`
	// Permit is set when a person allowed the call.
	Permit *Permit `json:"permit,omitempty"`
	// Outcome is the agent's report of how the run ended.
	Outcome *Outcome `json:"outcome,omitempty"`
	// EndedAt is when the approval left the pending state.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// ExpiresAt is the ask's deadline, kept here too for the agent's summary.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Effect names what the call would do, and to what, in one form for all spellings;
	// empty if unknown.
	Effect string `json:"effect,omitempty"`
	// About is what the call would do, as far as it is known.
	About Subjects `json:"about,omitempty"`
	// Like is the standing denial that the call resembles without being equal.
	Like *Likeness `json:"like,omitempty"`
	// Again is a recent allowance that the call equals or resembles: the card then offers
	// the grant that would spare such questions.
	Again *Likeness `json:"again,omitempty"`
	// Kind is set if a person denied the kind of call too, whatever its object.
	Kind *CallKind `json:"kind,omitempty"`
	// Grantable names the calls that a grant would cover; empty if none may be given. Most
	// is how many calls that would be; 0 means [DefaultUses].
	Grantable string `json:"grantable,omitempty"`
	Most      int    `json:"most,omitempty"`
	// Obscured lists where masked values decide what the call does.
	Obscured []Obscured `json:"obscured,omitempty"`
	// Grant is the grant that was given with the allowance.
	Grant *Grant `json:"grant,omitempty"`
	// StandsUntil is when a denial stops answering equal calls.
	StandsUntil time.Time `json:"stands_until,omitzero"`
	// Edit is set if a person denied the call as it was and wants it changed.
	Edit *Edit `json:"edit,omitempty"`
	// Lifted is set if a person withdrew a denial for future calls.
	Lifted *Act `json:"lifted,omitempty"`
	// Settled says that a denial no longer answers an equal call.
	Settled bool `json:"settled,omitempty"`
	// ValuesDropped is when [Ask.DropValues] dropped the call's values; zero while they are
	// kept.
	ValuesDropped time.Time `json:"values_dropped_at,omitzero"`
}

// Likeness says which earlier answer a call resembles, what kind of call both are, and how
// they differ. Equal calls have no differences.
type Likeness struct {
	Approval    ID           `json:"approval"`
	At          time.Time    `json:"at"`
	Kind        CallKind     `json:"kind,omitzero"`
	Differences []Difference `json:"differences"`
}

// DenialOf returns the kind of call that a person may deny along with this one, whatever
// the object, or nil if the call resembles nothing that was denied.
func (a *Approval) DenialOf() *CallKind {
	if a.Like == nil || a.Like.Kind == (CallKind{}) {
		return nil
	}
	k := a.Like.Kind
	return &k
}

// Act is something a person did to an earlier decision.
type Act struct {
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
}

// Answers reports whether the approval is a denial that answers equal calls at the given
// time.
func (a *Approval) Answers(at time.Time) bool {
	return a.State == Denied && !a.Settled && a.Lifted == nil && at.Before(a.StandsUntil)
}

// Choice is what a button or an answer stands for.
type Choice string

// The choices of a person. Nothing else grants anything.
const (
	ChoiceAllow Choice = "allow"
	ChoiceDeny  Choice = "deny"
	// ChoiceDenyKind denies the call and, for [KindStands], everything of its kind
	// that the agent asks.
	ChoiceDenyKind Choice = "deny-kind"
)

// KindStands is how long the denial of a kind stands.
const KindStands = time.Hour

// Person is who decided, by an id that the platform never reassigns.
type Person struct {
	// ID is stable and channel-qualified, such as "telegram:4711" or "web:owner".
	ID string `json:"id"`
	// Name is for display only; it never authorises.
	Name string `json:"name"`
}

// Decision is a person's answer.
type Decision struct {
	Choice  Choice    `json:"choice"`
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Words are for the agent; they never grant.
	Words string `json:"words,omitempty"`
	// Brake says that the denial came from the brake and was not about this call.
	Brake bool `json:"brake,omitempty"`
	// Grant names the approval that carries the grant, if a grant allowed the call.
	Grant ID `json:"grant,omitempty"`
}

// Permit is the single-use right to run exactly the shown call. Its text is
// derived from the approval and the instance's secret, so it is not stored.
type Permit struct {
	IssuedAt time.Time `json:"issued_at"`
	LapsesAt time.Time `json:"lapses_at"`
	SpentAt  time.Time `json:"spent_at,omitzero"`
	// Revoked is set if a person took the permit back before it was spent.
	Revoked *Act `json:"revoked,omitempty"`
}

// Outcome is how the run ended, as the agent reports it.
type Outcome struct {
	Succeeded bool `json:"succeeded"`
	// NotRun says that the agent's own client refused the call after its permit
	// was spent: nothing ran. Succeeded is then false.
	NotRun bool      `json:"not_run,omitempty"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// Shown is one place where an ask is shown: the channel, the message there,
// and what the card last showed. A card is stale while View differs from
// [Ask.View]; the dispatcher works until it does not.
type Shown struct {
	Channel string `json:"channel"`
	// Ref names the message on the platform; empty until it is posted.
	Ref string `json:"ref,omitempty"`
	// Begun is the view of a message whose posting was begun but not recorded: nobody knows
	// whether it is on the platform.
	Begun View `json:"begun,omitempty"`
	// Posted is how many calls the message showed when it was posted.
	Posted int `json:"posted,omitempty"`
	// Reminded says that people were reminded there that the ask still waits.
	Reminded bool `json:"reminded,omitempty"`
	// Routes is how many of the ask's routes people there were told of.
	Routes int `json:"routes,omitempty"`
	// Tell says how far people were told, next to the message, how the ask ended.
	Tell Telling `json:"tell,omitempty"`
	// View is the view that the message last showed.
	View View `json:"view,omitempty"`
	// Gone says that the message can no longer be shown or amended.
	Gone bool  `json:"gone,omitempty"`
	Shut *Shut `json:"shut,omitempty"` // set if the room took no messages at the last try
	// Callbacks are the stored meanings of the card's buttons, by token.
	Callbacks map[Token]Callback `json:"callbacks"`
}

// Stale reports whether the card has to be posted or amended to show v.
func (s *Shown) Stale(v View) bool { return !s.Gone && s.View != v }

// View stands for everything a card shows of an ask's states. Two asks with
// equal views need no amendment.
type View string

// Token is the opaque text behind a button. It says nothing by itself.
type Token string

// NewToken returns a fresh token of 26 characters, 130 random bits.
func NewToken() Token { return Token(rand.Text()) }

// NewTokens returns n fresh tokens.
func NewTokens(n int) []Token {
	tokens := make([]Token, n)
	for i := range tokens {
		tokens[i] = NewToken()
	}
	return tokens
}

// Callback is the stored meaning of one button.
type Callback struct {
	// Approval is empty if the button stands for several approvals that still wait.
	Approval ID     `json:"approval,omitempty"`
	Choice   Choice `json:"choice"`
	// Calls says how many those are: the ask's first Calls calls, which is everything the
	// card showed when the button was made. 0, in an ask that an older program opened,
	// means all of them.
	Calls int `json:"calls,omitempty"`
	// Replaced says that the button's message was replaced by a newer one. The button then
	// decides nothing.
	Replaced bool `json:"replaced,omitempty"`
}

// View returns what a card of the ask has to show.
func (a *Ask) View() View {
	var b strings.Builder
	for i := range a.Approvals {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(a.Approvals[i].State))
		p := &a.Approvals[i]
		if p.State == Pending {
			for j := range p.Votes { // by name: one that is void may give way to another
				b.WriteString("+" + p.Votes[j].Human + "@" + p.Votes[j].Route)
			}
		}
		if p.Grant != nil {
			b.WriteString("*" + strconv.Itoa(p.Grant.Used()))
			if p.Grant.Ended != nil {
				b.WriteString("!")
			}
		}
		if p.Lifted != nil {
			b.WriteString("^")
		}
	}
	if len(a.Routes) > 1 {
		b.WriteString(";escalated")
	}
	b.WriteString(a.talk())
	b.WriteString(strings.Repeat(">", len(a.Handed)))
	b.WriteString(strings.Repeat("#", a.Mismatches) + strings.Repeat("%", a.InboxMismatches))
	if a.Snoozed != nil {
		b.WriteString("~" + strconv.FormatInt(a.Snoozed.Until.Unix(), 10))
	}
	return View(b.String())
}

// calls returns how many calls a card with this view shows.
func (v View) calls() int {
	if v == "" {
		return 0
	}
	return strings.Count(string(v), ",") + 1
}

// On returns what the ask shows on the channel, or nil if it is not shown there.
func (a *Ask) On(channel string) *Shown {
	for i := range a.Cards {
		if a.Cards[i].Channel == channel {
			return &a.Cards[i]
		}
	}
	return nil
}

// Find returns the approval with the id, or nil.
func (a *Ask) Find(id ID) *Approval {
	for i := range a.Approvals {
		if a.Approvals[i].ID == id {
			return &a.Approvals[i]
		}
	}
	return nil
}

// Waiting reports whether some approval of the ask still waits for a person.
func (a *Ask) Waiting() bool {
	for i := range a.Approvals {
		if a.Approvals[i].State == Pending {
			return true
		}
	}
	return false
}

// Denial is a denial by the judge phase, which every approval starts from. The zero value
// starts nothing, and only [JudgeDenial] makes others.
type Denial struct{ verdict vaglio.Verdict }

// ErrNotAskable says that a verdict is not a judge-phase denial, so nobody may
// be asked to overrule it.
var ErrNotAskable = errors.New("only a judge's denial can be put to a person")

// JudgeDenial returns v as a denial that a person may overrule, or
// [ErrNotAskable] for a guard denial, an approval, and anything else.
func JudgeDenial(v vaglio.Verdict) (Denial, error) {
	if !askable(v) {
		return Denial{}, ErrNotAskable
	}
	return Denial{v}, nil
}
