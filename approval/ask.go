package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// Opening is what an ask starts from.
type Opening struct {
	// Agent is the authenticated name of the proposing agent.
	Agent  string
	Intent string
	TurnID string
	// Calls are the denied calls, in the plan's order; at least one.
	Calls []Call
	// Channels names the places where the ask is shown, each once.
	Channels []string
	At       time.Time
	// ExpiresAt is when the ask stops waiting for a person.
	ExpiresAt time.Time
	// Route is where the ask goes; empty in a configuration without routes.
	Route Route
}

// Call is one call that a judge denied and a person may allow.
type Call struct {
	Proposal    vaglio.Proposal
	Denial      Denial
	Fingerprint Fingerprint
	// Key is the idempotency key; it may be empty.
	Key string
	// Effect names what the call would do, in one form for all spellings; it may be empty.
	Effect string
	// About is what the call would do; empty if unknown.
	About Subjects
	// Like is the standing denial that the call resembles.
	Like *Likeness
	// Again is a recent allowance that the call equals or resembles.
	Again *Likeness
	// Grantable names the calls that a grant would cover; it may be empty. Most is how many
	// calls that would be; 0 means [DefaultUses].
	Grantable string
	Most      int
	// Obscured lists where masked values decide what the call does.
	Obscured []Obscured
}

// MaxCalls is the largest number of calls on one card.
const MaxCalls = 100

// OpeningError says why an ask cannot be opened.
type OpeningError struct {
	// Field is the field of the [Opening]; Problem says what is wrong with it.
	Field, Problem string
}

func (e *OpeningError) Error() string { return "cannot ask a person: " + e.Field + " " + e.Problem }

// Open returns a fresh ask in which every call waits for a person. A call
// without a judge's denial is refused with [ErrNotAskable], any other mistake
// with an [*OpeningError].
func Open(o Opening) (Ask, error) {
	if err := o.check(); err != nil {
		return Ask{}, err
	}
	a := Ask{
		ID: NewAskID(), Agent: o.Agent, Intent: o.Intent, TurnID: o.TurnID,
		OpenedAt: o.At, ExpiresAt: o.ExpiresAt,
	}
	if o.Route.Name != "" {
		a.Routes = []Active{o.Route.active()}
	}
	if o.Route.EscalateAfter > 0 {
		a.EscalateAt, a.EscalateTo = o.At.Add(o.Route.EscalateAfter), o.Route.EscalateTo
	}
	for i := range o.Calls {
		a.add(&o.Calls[i])
	}
	for _, channel := range o.Channels {
		s := Shown{Channel: channel, Callbacks: make(map[Token]Callback, 2*len(o.Calls)+2)}
		s.mint(&a, 0, NewToken)
		a.Cards = append(a.Cards, s)
	}
	return a, nil
}

// add appends a call to the ask and returns the id of its approval.
func (a *Ask) add(c *Call) ID {
	v := c.Denial.verdict
	id := ID(fmt.Sprintf("%s-%d", a.ID, len(a.Approvals)+1))
	a.Approvals = append(a.Approvals, Approval{
		ID: id, State: Pending, Proposal: c.Proposal, Fingerprint: c.Fingerprint, Verdict: v, Heads: headsOf(&v),
		Refusal: Refuse(c.Proposal, v), Key: c.Key, Effect: c.Effect, ExpiresAt: a.ExpiresAt,
		About: c.About, Like: c.Like, Again: c.Again, Grantable: c.Grantable, Most: c.Most, Obscured: c.Obscured,
	})
	return id
}

// headsOf returns the first lines of the sources, up to a total size that still fits on a
// card and in the store. It returns nil if there are none.
func headsOf(v *vaglio.Verdict) []string {
	const most = 16 << 10
	var heads []string
	size := 0
	for i := range v.Sources {
		head := v.Sources[i].Head
		if size += len(head); head == "" || size > most {
			continue
		}
		for len(heads) < i {
			heads = append(heads, "")
		}
		heads = append(heads, head)
	}
	return heads
}

func (o *Opening) check() error {
	switch {
	case o.Agent == "":
		return &OpeningError{"agent", "is empty"}
	case len(o.Calls) == 0:
		return &OpeningError{"calls", "are none; name at least one call"}
	case len(o.Calls) > MaxCalls:
		return &OpeningError{"calls", fmt.Sprintf("are %d, a card holds at most %d; propose a smaller plan", len(o.Calls), MaxCalls)}
	case o.At.IsZero():
		return &OpeningError{"at", "is not set"}
	case !o.ExpiresAt.After(o.At):
		return &OpeningError{"expires_at", "is not after the opening"}
	}
	for i := range o.Calls {
		if !askable(o.Calls[i].Denial.verdict) {
			return ErrNotAskable
		}
		if o.Calls[i].Fingerprint == "" {
			return &OpeningError{"calls", fmt.Sprintf("lack the fingerprint of call %d", i+1)}
		}
	}
	return o.checkChannels()
}

func (o *Opening) checkChannels() error {
	seen := make(map[string]bool, len(o.Channels))
	for _, channel := range o.Channels {
		if channel == "" || seen[channel] {
			return &OpeningError{"channels", fmt.Sprintf("name %q, which must be set and named once", channel)}
		}
		seen[channel] = true
	}
	return nil
}

// mint makes the buttons of a card for the approvals from index from on. A single call gets
// buttons that name it; of several calls, each gets its own, and two more stand for all of
// them.
func (s *Shown) mint(a *Ask, from int, next func() Token) {
	as := a.Approvals
	add := func(c Callback) {
		for _, c.Choice = range []Choice{ChoiceAllow, ChoiceDeny} {
			s.Callbacks[next()] = c
		}
	}
	for i := from; i < len(as); i++ {
		add(Callback{Approval: as[i].ID})
		if as[i].Grantable != "" {
			for _, c := range a.grants() {
				s.Callbacks[next()] = Callback{Approval: as[i].ID, Choice: c}
			}
		}
		if as[i].DenialOf() != nil {
			s.Callbacks[next()] = Callback{Approval: as[i].ID, Choice: ChoiceDenyKind}
		}
	}
	if len(as) > 1 {
		add(Callback{Calls: len(as)})
	}
}

// askable reports whether a person may overrule the verdict: whether it is a
// judge-phase denial and nothing else.
func askable(v vaglio.Verdict) bool {
	return !v.Approved && v.BlockedBy == vaglio.PhaseJudge && v.Rule == nil
}

// Done reports whether the ask needs no more work: nothing can happen to its approvals,
// every card shows how it ended, and people were told.
func (a *Ask) Done() bool {
	view := a.View()
	if !a.Over() {
		return false
	}
	for i := range a.Approvals {
		if !a.Approvals[i].grantTerm().IsZero() {
			return false
		}
	}
	for i := range a.Cards {
		if a.Cards[i].Stale(view) || a.Cards[i].Owes(a) {
			return false
		}
	}
	return true
}

// Stands reports whether the approval answers an equal call, so that nobody is
// asked the same thing twice: it waits, or a person allowed it and the permit
// is good, or a person denied it and that denial has not been settled.
func (a *Approval) Stands() bool {
	return a.State == Pending || a.State == Allowed || a.State == Denied && !a.Settled
}

// Keys returns the names under which the ask can be found: each button's token
// for as long as the ask is kept, so that a stale press can be explained; each
// idempotency key that is still in force; each fingerprint that
// [Approval.Stands]; the turn, for as long as any of its further calls may join.
func (a *Ask) Keys() []string {
	var keys []string
	for i := range a.Cards {
		for token := range a.Cards[i].Callbacks {
			keys = append(keys, TokenKey(token))
		}
	}
	for i := range a.Approvals {
		p := &a.Approvals[i]
		if p.Key != "" && p.State != Superseded {
			keys = append(keys, IdempotencyKey(a.Agent, p.Key))
		}
		if p.Stands() {
			keys = append(keys, FingerprintKey(a.Agent, p.Fingerprint))
		}
	}
	if a.TakesMore() && !a.Yielded {
		keys = append(keys, TurnKey(a.Agent, a.TurnID, a.Intent, a.route()))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// TokenKey is the key that finds an ask by the token of one of its buttons.
func TokenKey(t Token) string { return "token:" + string(t) }

// IdempotencyKey is the key that finds an ask when its agent repeats a call.
func IdempotencyKey(agent, key string) string { return nameKey("idem", agent, key) }

// FingerprintKey is the key that finds the ask whose answer covers an equal call.
func FingerprintKey(agent string, f Fingerprint) string { return nameKey("fp", agent, string(f)) }

// TurnKey is the key that further calls of a turn, if they go to the same route, use to
// find the ask they may join. It holds only a digest of the intent, because record keys are
// not encrypted.
func TurnKey(agent, turn, intent, route string) string {
	return nameKey("turn", agent, digest(fmt.Sprintf("%d:%s:%d:%s:%s", len(route), route, len(turn), turn, intent)))
}

// route returns the name of the route that the ask was opened on.
func (a *Ask) route() string {
	if len(a.Routes) == 0 {
		return ""
	}
	return a.Routes[0].Route
}

// nameKey joins the parts so that different parts never make the same key, and keeps
// untrusted text short enough for any index.
func nameKey(kind, agent, name string) string {
	const most = 256
	agent = strings.ReplaceAll(strings.ReplaceAll(agent, "%", "%25"), ":", "%3A")
	if len(agent) > most {
		agent = "%" + digest(agent)
	}
	if len(name) > most {
		return kind + "#:" + agent + ":" + digest(name)
	}
	return kind + ":" + agent + ":" + name
}
