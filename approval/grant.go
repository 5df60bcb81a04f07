package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Grant is a person's yes for a few equal calls of one agent in one workspace. It belongs
// to the approval with which it was given. Each use is an approval of its own with its own
// permit, and is counted here before that approval exists.
type Grant struct {
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Until is when the grant ends by itself.
	Until time.Time `json:"until"`
	// Turn is the only turn that it covers; empty means any turn.
	Turn string `json:"turn,omitempty"`
	// Key names the calls that it covers.
	Key string `json:"key"`
	// Most is how many calls it covers, including the one it was given for.
	Most int `json:"most"`
	// Uses are the calls that it allowed after the first.
	Uses []Use `json:"uses,omitempty"`
	// Ended is set if it ended before its time, and says why and by whom.
	Ended *Ending `json:"ended,omitempty"`
}

// Use is one call that a grant allowed.
type Use struct {
	Ask AskID     `json:"ask"`
	At  time.Time `json:"at"`
}

// Ending says what ended a grant.
type Ending struct {
	Event GrantEvent `json:"event"`
	At    time.Time  `json:"at"`
	// By is the person who ended it; empty if no person did.
	By Person `json:"by,omitzero"`
}

// GrantEvent moves a grant.
type GrantEvent string

// The events of a grant.
const (
	GrantUse     GrantEvent = "use"
	GrantSpend   GrantEvent = "spend"   // the last use
	GrantElapse  GrantEvent = "elapse"  // its time ran out
	GrantTake    GrantEvent = "take"    // a person took it back
	GrantDenied  GrantEvent = "denied"  // a person denied an equal or near call
	GrantStopped GrantEvent = "stopped" // the brake
)

// GrantState is how a grant stands.
type GrantState string

// The states of a grant.
const (
	GrantLive  GrantState = "live"
	GrantSpent GrantState = "spent"
	GrantEnded GrantState = "ended"
)

// grants is the state table. A pair that is not listed is refused.
var grants = map[GrantState]map[GrantEvent]GrantState{
	GrantLive: {
		GrantUse: GrantLive, GrantSpend: GrantSpent, GrantElapse: GrantEnded, GrantTake: GrantEnded, GrantDenied: GrantEnded, GrantStopped: GrantEnded,
	},
}

// Then returns the state after an event, and whether the event is possible.
func (s GrantState) Then(e GrantEvent) (GrantState, bool) {
	to, ok := grants[s][e]
	return to, ok
}

// The bounds of a grant.
const (
	// DefaultUses is how many calls a grant covers by default.
	DefaultUses = 10
	// MaxUses is the most calls that a grant may cover.
	MaxUses = 50
	// MaxGrant is the longest time that a grant may last.
	MaxGrant = 8 * time.Hour
	// evening is the hour, where the people are, at which a grant "until the evening" ends.
	evening = 18
)

// The choices that allow the call and give a grant, by how long it lasts.
const (
	ChoiceTurn    Choice = "grant-turn"
	ChoiceHour    Choice = "grant-hour"
	ChoiceEvening Choice = "grant-evening"
)

// GrantChoices returns the choices that give a grant, narrowest first.
func GrantChoices() []Choice { return []Choice{ChoiceTurn, ChoiceHour, ChoiceEvening} }

// grants returns the choices that the ask offers: no grant for the turn if it has no turn.
func (a *Ask) grants() []Choice {
	if a.TurnID == "" {
		return GrantChoices()[1:]
	}
	return GrantChoices()
}

// Grants reports whether the choice gives a grant.
func (c Choice) Grants() bool { return slices.Contains(GrantChoices(), c) }

// ErrNoGrant says that no grant may be given for a call.
var ErrNoGrant = errors.New("this cannot be granted for more than one call: allow it once, or deny it")

// Grantable returns the name of the calls that a grant would cover, or "" if none may be
// given. If the subjects do not name the call completely, the grant covers only this
// executor with exactly these arguments.
func Grantable(p vaglio.Proposal, v vaglio.Verdict, about About, m Masker) string {
	if !about.Mild || !askable(v) || len(about.Subjects) == 0 || p.Agent == "" {
		return ""
	}
	form := struct {
		Agent     string          `json:"agent"`
		Subjects  Subjects        `json:"subjects"`
		Workspace workspace       `json:"workspace"`
		Sources   []vaglio.Source `json:"sources"`
		Executor  string          `json:"executor,omitempty"`
		Args      map[string]any  `json:"args,omitempty"`
	}{Agent: p.Agent, Subjects: about.Subjects, Workspace: workspaceOf(p), Sources: v.Sources}
	for _, s := range v.Sources {
		if s.SHA256 == "" {
			return ""
		}
	}
	plain, err := strictjson.Canonical(map[string]any(p.Args))
	if err != nil {
		return ""
	}
	masked, err := strictjson.Canonical(map[string]any(m.Proposal(p).Args))
	if err != nil || string(plain) != string(masked) {
		return "" // nobody grants what they cannot see
	}
	if !about.Whole {
		form.Executor, form.Args = p.Executor, p.Args
	}
	body, err := strictjson.Marshal(form)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// until returns when a grant given at the given time, by people in the zone, ends.
func (c Choice) until(at time.Time, zone *time.Location) time.Time {
	switch local := at.In(cmp.Or(zone, time.Local)); c {
	case ChoiceHour:
		return at.Add(time.Hour)
	case ChoiceEvening:
		end := time.Date(local.Year(), local.Month(), local.Day(), evening, 0, 0, 0, local.Location())
		if !end.After(at) {
			return at.Add(time.Hour)
		}
		return earlier(end.UTC(), at.Add(MaxGrant))
	default:
		return at.Add(MaxGrant)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// State returns the grant's state at the given time. A clock that was set back ends the
// grant: trouble with the clock must never give anybody more time.
func (g *Grant) State(at time.Time) GrantState {
	switch {
	case g.Ended != nil:
		return GrantEnded
	case g.Used() >= g.Most:
		return GrantSpent
	case !at.Before(g.Until), at.Before(g.At.Add(-setBack)):
		return GrantEnded
	default:
		return GrantLive
	}
}

// Used returns how many calls the grant has covered, including the first.
func (g *Grant) Used() int { return 1 + len(g.Uses) }

// narrower returns the shorter of two grants; no grant is shorter than any.
func narrower(a, b Choice) Choice {
	all := append([]Choice{""}, GrantChoices()...)
	return all[min(max(slices.Index(all, a), 0), max(slices.Index(all, b), 0))]
}

// Covers returns how many calls a grant for the approval covers.
func (p *Approval) Covers() int { return min(cmp.Or(p.Most, DefaultUses), MaxUses) }

// grant adds a grant to an allowed approval.
func (p *Approval) grant(c Choice, turn string, d Decision, zone *time.Location) error {
	if p.Grantable == "" {
		return ErrNoGrant
	}
	p.Grant = &Grant{By: d.By, Channel: d.Channel, At: d.At, Until: c.until(d.At, zone), Key: p.Grantable, Most: p.Covers()}
	if c == ChoiceTurn {
		p.Grant.Turn = turn
	}
	return nil
}

// Spend counts one use of the approval's grant for a call that will become the ask named
// use. It reports false and changes nothing if the grant does not cover the call.
func (a *Ask) Spend(id ID, key, turn string, use AskID, at time.Time) bool {
	p := a.Find(id)
	if p == nil || p.Grant == nil || key == "" || p.Grant.Key != key || p.Grant.State(at) != GrantLive {
		return false
	}
	if p.Grant.Turn != "" && p.Grant.Turn != turn {
		return false
	}
	g := *p.Grant
	g.Uses = append(slices.Clone(g.Uses), Use{use, at})
	p.Grant = &g
	return true
}

// Upholds reports whether a grant of the ask may be used for a call that would be asked on the route:
// the ask went there, too, and the people who gave the grant could give it now.
func (e *Electorate) Upholds(a *Ask, id ID, route string) bool {
	p := a.Find(id)
	if p == nil || p.Grant == nil || !a.WentTo(route) {
		return false
	}
	votes := slices.DeleteFunc(slices.Clone(p.Votes), func(v Vote) bool { return !e.counts(&v) })
	human, under := e.of(p.Grant.By.ID)
	return slices.ContainsFunc(under, func(t Terms) bool {
		humans := humansOn(votes, t.route)
		humans[human] = true
		return t.met(humans)
	})
}

// EndGrant ends the approval's grant. It reports false if the grant is already over.
func (a *Ask) EndGrant(id ID, e GrantEvent, by Person, at time.Time) bool {
	p := a.Find(id)
	if p == nil || p.Grant == nil {
		return false
	}
	if to, ok := p.Grant.State(at).Then(e); !ok || to != GrantEnded {
		return false
	}
	g := *p.Grant
	g.Ended = &Ending{Event: e, At: at, By: by}
	p.Grant = &g
	return true
}

// Granted allows the ask's calls by a grant. The decision is attributed to the person who
// gave the grant.
func (a *Ask) Granted(id ID, g *Grant, at time.Time, permitFor time.Duration) error {
	for i := range a.Approvals {
		d := Decision{Choice: ChoiceAllow, By: g.By, Channel: g.Channel, At: at, Grant: id}
		if err := a.Approvals[i].decide(d, permitFor); err != nil {
			return err
		}
	}
	return nil
}

// grantTerm returns when the approval's grant ends, or zero if it has no live one.
func (p *Approval) grantTerm() time.Time {
	if p.Grant == nil || p.Grant.Ended != nil || p.Grant.Used() >= p.Grant.Most {
		return time.Time{}
	}
	return p.Grant.Until
}

// lapseGrant ends a grant whose time has run out.
func (a *Ask) lapseGrant(p *Approval, at time.Time) bool {
	if p.grantTerm().IsZero() || p.Grant.State(at) != GrantEnded {
		return false
	}
	g := *p.Grant
	g.Ended = &Ending{Event: GrantElapse, At: at}
	p.Grant = &g
	return true
}

// Revoke takes back a permit that has not been spent.
func (a *Ask) Revoke(id ID, by Act) error {
	p := a.Find(id)
	if p == nil || p.Permit == nil {
		return ErrNotFound
	}
	permit := *p.Permit
	permit.Revoked = &by
	if err := p.Move(Lapse); err != nil {
		return err
	}
	p.Permit = &permit
	return nil
}

// Lift takes back a denial for future calls: equal calls are asked again.
func (a *Ask) Lift(id ID, by Act) bool {
	p := a.Find(id)
	if p == nil || !p.Answers(by.At) {
		return false
	}
	p.Lifted, p.Settled = &by, true
	return true
}

// Stand sets how long the denials made at the given time answer equal calls.
func (a *Ask) Stand(at time.Time, standFor time.Duration) {
	for i := range a.Approvals {
		if p := &a.Approvals[i]; p.State == Denied && p.StandsUntil.IsZero() && p.Decision != nil && p.Decision.At.Equal(at) {
			p.StandsUntil = p.EndedAt.Add(standFor)
			if p.Kind != nil {
				p.StandsUntil = p.EndedAt.Add(max(standFor, KindStands))
			}
		}
	}
}
