package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
)

// Ruling is what the agent is told to do.
type Ruling string

// The rulings of an [Answer].
const (
	RulingAllow   Ruling = "allow"
	RulingDeny    Ruling = "deny"
	RulingPending Ruling = "pending"
)

// Answer is what the agent is told about one proposed call.
type Answer struct {
	Decision Ruling         `json:"decision"`
	Verdict  vaglio.Verdict `json:"verdict"`
	// Refusal explains a denial, including one that still waits for a person.
	Refusal *Refusal `json:"refusal"`
	// Approval is set if a person was or is being asked.
	Approval *Summary `json:"approval"`
	// Permit is set if a person allowed the call.
	Permit *PermitText `json:"permit"`
	// Form is set if a person denied the call as proposed and wants it changed.
	// [Answer.Edited] sets it.
	Form *EditedCall `json:"edited,omitempty"`
	// Question is set if a person asks something before deciding.
	Question *QuestionText `json:"question,omitempty"`
	// Text is the refusal, the question or the changed form as one text, for agents that
	// show it verbatim. [Answer.Told] sets it.
	Text string `json:"text,omitempty"`
}

// Told returns the answer with Text set from its refusal or question.
func (a Answer) Told() Answer {
	switch {
	case a.Refusal != nil && a.Form != nil:
		a.Text = a.Form.text(a.Refusal)
	case a.Refusal != nil && a.Question != nil:
		a.Text = a.Question.text(a.Refusal)
	case a.Refusal != nil:
		a.Text = a.Refusal.Text()
	}
	return a
}

// Approved is the answer to a call that the judges let through. A verdict that is not an
// approval gets a refusal instead.
func Approved(v vaglio.Verdict) Answer {
	if !v.Approved || v.BlockedBy != vaglio.PhaseNone {
		return Refused(v, Refuse(vaglio.Proposal{}, v))
	}
	return Answer{Decision: RulingAllow, Verdict: v}
}

// Refused is the answer to a call that was denied and that no person is asked about.
func Refused(v vaglio.Verdict, r Refusal) Answer {
	return Answer{Decision: RulingDeny, Verdict: v, Refusal: &r}
}

// Waits reports whether the call waits for a person who has asked nothing that the agent was not
// told.
func (a *Answer) Waits() bool {
	return a.Decision == RulingPending && a.Approval != nil && (a.Question == nil || a.Question.Repeated)
}

// Unjudged is the answer to a call whose judges have not answered yet. The call must not
// run; the agent asks again with the same call under the same key.
func Unjudged(kind string) Answer {
	return Answer{Decision: RulingPending, Verdict: vaglio.Verdict{
		Reason: "the judges have not answered yet: ask again with the same call", JudgeKind: kind,
		TS: float64(time.Now().UnixNano()) / float64(time.Second),
	}}
}

// AnswerFor is the answer to a call that a person was or is asked about. The call may run
// only while the approval is allowed, its permit is unspent, and permit is the text of that
// permit; in every other state the answer says why not.
func AnswerFor(a Approval, permit string) Answer {
	answer := Answer{
		Decision: RulingDeny, Verdict: a.Verdict,
		Approval: &Summary{ID: a.ID, State: a.State, ExpiresAt: a.ExpiresAt},
	}
	if d := a.Decision; d != nil {
		at := d.At
		answer.Approval.DecidedAt, answer.Approval.Words = &at, d.Words
	}
	switch {
	case !askable(a.Verdict):
		r := Refuse(a.Proposal, a.Verdict)
		answer.Refusal = &r
	case a.State == Pending:
		r := a.Refusal
		answer.Decision, answer.Refusal = RulingPending, &r
	case a.State == Allowed && a.Permit != nil && permit != "":
		answer.Decision = RulingAllow
		answer.Permit = &PermitText{Permit: permit, LapsesAt: a.Permit.LapsesAt}
	default:
		r := AfterDecision(a)
		answer.Refusal = &r
	}
	return answer
}

// Summary is what the agent may know of an approval.
type Summary struct {
	ID        ID        `json:"id"`
	State     State     `json:"state"`
	ExpiresAt time.Time `json:"expires_at"`
	// DecidedAt and Words are the person's. Who decided is not disclosed.
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	Words     string     `json:"words,omitempty"`
}

// PermitText is a permit in the agent's hands.
type PermitText struct {
	Permit   string    `json:"permit"`
	LapsesAt time.Time `json:"lapses_at"`
}

// Tap is a person's press of a button or typed answer, as a channel hands it in. Either
// Token, or Ask with Choice, says what it means; Token takes precedence.
type Tap struct {
	Token Token
	// Ask, Approval and Choice are for channels that know the ask without a token. An empty
	// Approval means every approval that still waits, of those the card on the channel was
	// last known to show. If an Ask or a Choice accompanies a token, it is what the person
	// was told the button means: a tap whose token means something else decides nothing.
	Ask      AskID
	Approval ID
	Choice   Choice
	By       Person
	Channel  string
	// Words go to the agent. Words with ChoiceAllow are kept too, but grant nothing beyond
	// the choice.
	Words string
	// Seen is what the person was shown, for channels without buttons: the ask is allowed
	// only while its view is still that. It is empty with a token, which is valid only for
	// the view it was made for.
	Seen View
	// Revealed says that the person was shown what [NewRevealedCard] shows.
	Revealed bool
	// Passkey says that the tap came with a passkey assertion, which is bound to the ask
	// and the choice.
	Passkey bool
	// Digits are the digits the person typed from the other surface, see [Match].
	Digits string
}

// ErrOtherView says that the ask no longer is what the person was shown.
var ErrOtherView = errors.New("it is not what you were shown: look at it again")

// ErrOtherChoice says that a button means a different answer than the tap says.
var ErrOtherChoice = errors.New("the button means another answer")

// ErrNotApprover says that a person is not among those who may decide.
var ErrNotApprover = errors.New("you are not among those who may decide this")

// Receipt is what the person who tapped is told, after the commit.
type Receipt struct {
	// Won says that this tap decided. Otherwise the approvals' decisions say who did.
	Won bool
	// Voted says that the tap was recorded and counts, and that more people must allow
	// before the call may run.
	Voted bool
	// Replaced says that the button was on a message that a newer one replaced, so the tap
	// decided nothing. The channel removes the buttons from the old message and points to
	// the new one.
	Replaced bool
	// Mismatch says that the digits were wrong, so the tap decided nothing.
	Mismatch *MatchError
	// Ask is the ask as it stands now.
	Ask Ask
	// Approvals are the ids that the tap was about.
	Approvals []ID
}

// Step is one proposal in the turn log, with live values. The audit log holds keys only;
// the turn log has its own retention.
type Step struct {
	ID       string          `json:"id"`
	At       time.Time       `json:"at"`
	Proposal vaglio.Proposal `json:"proposal"`
	// Verdict is nil if the call failed on shape or scope.
	Verdict *vaglio.Verdict `json:"verdict,omitempty"`
	Refusal *Refusal        `json:"refusal,omitempty"`
	// Error is the failure of shape or scope.
	Error string `json:"error,omitempty"`
	// Approval is the approval that the step opened or joined.
	Approval ID `json:"approval,omitempty"`
	// Route names the route whose people are asked about such a call, even if nobody had to
	// be; empty if the configuration has no routes.
	Route string `json:"route,omitempty"`
	// Repeats is how often the same step was judged again with the same outcome. The step
	// keeps its first values; Again has the times of the first [MaxAgain] repeats, in the
	// form of [vaglio.Verdict.TS].
	Repeats int       `json:"repeats,omitzero"`
	Again   []float64 `json:"again,omitempty"`
	// Did holds what the session is to remember of the call, if the judges approved it.
	Did vaglio.Facts `json:"did,omitempty"`
}

// Headline says what the step's call would do: by its judges or, if there is no verdict, by
// its executor and arguments. The step's secrets must already be masked.
func (s *Step) Headline() headline.Headline {
	if s.Verdict == nil {
		return headline.Of(s.Proposal, vaglio.Verdict{})
	}
	return headline.Of(s.Proposal, *s.Verdict)
}

// MaxAgain is the number of repeats whose times a step keeps: an agent that goes round in
// circles must not fill the disk.
const MaxAgain = 1000

// Repeat records that the same step was judged again.
func (s *Step) Repeat(later *Step) {
	if s.Verdict == nil || later.Verdict == nil || s.Verdict.TS == later.Verdict.TS {
		return // the same judgement, written twice
	}
	s.Repeats++
	if len(s.Again) < MaxAgain {
		s.Again = append(s.Again, later.Verdict.TS)
	}
}

// TurnQuery selects steps of a turn of an agent.
type TurnQuery struct {
	Agent, Turn string
	// Before continues where a page with that Older ended; 0 selects the newest steps.
	Before uint64
	// Limit is the most steps; 0 means as many as are read at once.
	Limit int
}

// TurnPage holds steps of a turn, in order.
type TurnPage struct {
	Steps []Step
	// Older finds the steps before these; 0 if there are none.
	Older uint64
	// Unread are the parts of the turn log that cannot be read, and that may hold more of the turn's
	// steps among these.
	Unread UnreadParts
}

// Filter selects entries of the history.
type Filter struct {
	// Agent and Executor, if set, must match exactly.
	Agent, Executor string
	// Outcome selects one of the outcomes of [Entry.Outcome]; empty selects all.
	Outcome string
	// Since and Until bound the time of the proposal; Until is exclusive. Zero means no
	// bound.
	Since, Until time.Time
	// Text, if set, must occur in what people see of the entry, ignoring case.
	Text string
	// Before continues a listing after the entry with that cursor; 0 starts with the newest
	// entry.
	Before uint64
	// Limit is the largest number of entries; 0 means 50.
	Limit int
}

// Fits reports whether the filter selects the entry, leaving Text aside.
func (f Filter) Fits(e *Entry) bool {
	return (f.Agent == "" || f.Agent == e.Step.Proposal.Agent) &&
		(f.Executor == "" || f.Executor == e.Step.Proposal.Executor) &&
		(f.Outcome == "" || f.Outcome == e.Outcome()) &&
		!e.Step.At.Before(f.Since) && (f.Until.IsZero() || e.Step.At.Before(f.Until))
}

// Over reports whether a step is so old that the filter selects neither it nor any step
// before it. It allows for a clock that was set back by up to a day in between.
func (f Filter) Over(s *Step) bool { return s.At.Before(f.Since.AddDate(0, 0, -1)) }

// Finds reports whether the filter's text occurs in the entry. The entry's secrets must be
// masked: a search must not reveal more than the page shows.
func (f Filter) Finds(e *Entry) bool {
	text := strings.ToLower(f.Text)
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), text) }
	p := &e.Step.Proposal
	switch {
	case text == "" || has(p.Agent) || has(p.Executor) || has(p.TurnID) || has(p.Intent) || has(string(e.Step.Approval)) || anyText(map[string]any(p.Args), has):
		return true
	case e.Approval != nil && e.Approval.Decision != nil:
		return has(e.Approval.Decision.Words) || has(e.Approval.Decision.By.Name)
	default:
		return false
	}
}

// anyText reports whether is holds for any text within the value.
func anyText(v any, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return anyText(e, is) })
	case map[string]any:
		for key, e := range v {
			if is(key) || anyText(e, is) {
				return true
			}
		}
		return false
	case vaglio.Args:
		return anyText(map[string]any(v), is)
	default:
		return is(fmt.Sprint(v))
	}
}

// Page is a part of the history, newest first.
type Page struct {
	Entries []Entry
	// Older is the [Filter.Before] that continues the listing; 0 if there is nothing older.
	// A page may hold fewer entries than requested, even none, and still have older ones
	// after it.
	Older uint64
	// Unread are the parts of the turn log that were to be read for this page and cannot be.
	Unread UnreadParts
}

// Entry is one line of the history: a step, and what became of its approval.
type Entry struct {
	Cursor uint64 `json:"-"`
	Step   Step   `json:"step"`
	// Approval is the approval as it stands now, if the step has one.
	Approval *Approval `json:"approval,omitempty"`
}

// Outcome is the entry's outcome in one word: "approved" by the judges, "guard" if the
// guard denied, "error" on a failure of shape or scope, otherwise the approval's state.
func (e *Entry) Outcome() string {
	switch {
	case e.Approval != nil:
		return string(e.Approval.State)
	case e.Step.Verdict == nil:
		return "error"
	case e.Step.Verdict.Approved:
		return "approved"
	default:
		return string(e.Step.Verdict.BlockedBy)
	}
}

// JudgedAt returns the time of a verdict, or otherwise if the verdict states none.
func JudgedAt(v vaglio.Verdict, otherwise time.Time) time.Time {
	if v.TS > 0 {
		return Instant(v.TS)
	}
	return otherwise
}

// Judged returns when the step was judged.
func (s *Step) Judged() time.Time {
	if s.Verdict == nil {
		return s.At
	}
	return JudgedAt(*s.Verdict, s.At)
}

// Instant converts the time of a verdict, in seconds since 1970. The audit log stores the
// same number, so both agree on time windows.
func Instant(ts float64) time.Time {
	whole := int64(ts)
	return time.Unix(whole, int64((ts-float64(whole))*1e9)).UTC()
}
