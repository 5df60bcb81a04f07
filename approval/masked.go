package approval

import (
	"errors"
	"slices"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/mask"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Masker masks the secrets in what calls and their approvals are told with.
type Masker struct{ mask.Masker }

// NewMasker returns a masker whose tags are keyed by the secret.
func NewMasker(s Secret) Masker {
	return Masker{mask.New(func(text []byte) []byte { return s.mac(labelMask, text) })}
}

// Proposal returns a copy of p with every secret masked, in keys and values, and so
// is a mask that the agent wrote itself: two calls never look alike. What stands under
// a name such as password is masked whole. p is as it was proposed: no masked one.
func (m Masker) Proposal(p vaglio.Proposal) vaglio.Proposal {
	p.TurnID, p.Intent, p.Executor = m.given(p.TurnID), m.given(p.Intent), m.given(p.Executor)
	if p.Args != nil {
		given, _ := m.Copied(map[string]any(p.Args)).(map[string]any)
		p.Args = m.Object(given)
	}
	p.Context.Mode, p.Context.Cwd, p.Context.Refusal = m.given(p.Context.Mode), m.given(p.Context.Cwd), m.given(p.Context.Refusal)
	p.Context.SubAgent = m.given(p.Context.SubAgent)
	p.Context.Mounts = m.allGiven(p.Context.Mounts)
	p.Context.Capability = m.allGiven(p.Context.Capability)
	return p
}

// given masks a text that nobody masked yet.
func (m Masker) given(s string) string {
	s, _ = m.Copied(s).(string)
	return m.Mask(s)
}

func (m Masker) allGiven(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.given(list[i])
	}
	return list
}

// Verdict returns a copy of v with every secret masked.
func (m Masker) Verdict(v vaglio.Verdict) vaglio.Verdict {
	v.Reason = m.Mask(v.Reason)
	v.Sources = slices.Clone(v.Sources)
	for i := range v.Sources {
		v.Sources[i].Path, v.Sources[i].Head = m.Mask(v.Sources[i].Path), m.Mask(v.Sources[i].Head)
	}
	v.Results = slices.Clone(v.Results)
	for i := range v.Results {
		g := &v.Results[i]
		g.Reasoning = m.Mask(g.Reasoning)
		if g.Metadata != nil {
			g.Metadata = m.Object(g.Metadata)
		}
		g.Signals = slices.Clone(g.Signals)
		for j := range g.Signals {
			g.Signals[j] = m.signal(g.Signals[j])
		}
	}
	return v
}

// signal masks what a judge saw. What only the whole message gives away is
// masked there alone; the message as data goes then.
func (m Masker) signal(s vaglio.Signal) vaglio.Signal {
	s.Message, s.Said = m.given(s.Message), s.Said.Each(m.given)
	if english, _ := s.Said.In(wording.English); english != s.Message {
		s.Said = nil
	}
	return s
}

// Refusal returns a copy of r with every secret masked. A text that was cut
// may end within a secret that is not known any more; whoever has the proposal
// should explain the masked one instead, as cards do.
func (m Masker) Refusal(r Refusal) Refusal {
	r.Wanted, r.Why, r.Words = m.Mask(r.Wanted), m.Mask(r.Why), m.Mask(r.Words)
	r.Alternatives = m.Texts(r.Alternatives)
	return r
}

// Approval returns a copy of a with every secret masked.
func (m Masker) Approval(a Approval) Approval {
	a.Proposal, a.Verdict, a.Heads = m.Proposal(a.Proposal), m.Verdict(a.Verdict), m.Texts(a.Heads)
	a.Refusal = m.Refusal(a.Refusal)
	if a.ValuesDropped.IsZero() {
		a.Refusal.Wanted = Wanted(a.Proposal)
	}
	a.Decision, a.Permit, a.Outcome = copied(a.Decision), copied(a.Permit), copied(a.Outcome)
	a.About, a.Like, a.Again = m.subjects(a.About), m.likeness(a.Like), m.likeness(a.Again)
	if a.Edit = copied(a.Edit); a.Edit != nil {
		a.Edit.Changed = m.differences(a.Edit.Changed)
	}
	if a.Kind != nil {
		a.Kind = &CallKind{m.Mask(a.Kind.System), m.Mask(a.Kind.Verb)}
	}
	a.Votes = slices.Clone(a.Votes)
	for i := range a.Votes {
		a.Votes[i].Words = m.Mask(a.Votes[i].Words)
	}
	if a.Decision != nil {
		a.Decision.Words = m.Mask(a.Decision.Words)
	}
	if a.Outcome != nil {
		a.Outcome.Detail = m.Mask(a.Outcome.Detail)
	}
	return a
}

// subjects returns a copy with every secret masked.
func (m Masker) subjects(s Subjects) Subjects {
	s = slices.Clone(s)
	for i := range s {
		s[i].Object = slices.Clone(s[i].Object)
		for j := range s[i].Object {
			s[i].Object[j].Value = m.Mask(s[i].Object[j].Value)
		}
	}
	return s
}

func (m Masker) likeness(l *Likeness) *Likeness {
	if l == nil {
		return nil
	}
	c := *l
	c.Kind = CallKind{m.Mask(c.Kind.System), m.Mask(c.Kind.Verb)}
	c.Differences = m.differences(c.Differences)
	return &c
}

// differences returns a copy with every secret masked.
func (m Masker) differences(all []Difference) []Difference {
	all = slices.Clone(all)
	for i := range all {
		all[i].Was, all[i].Now = m.Mask(all[i].Was), m.Mask(all[i].Now)
	}
	return all
}

// questions returns a copy with every secret masked.
func (m Masker) questions(qs []Question) []Question {
	qs = slices.Clone(qs)
	for i := range qs {
		qs[i].Words, qs[i].Answer = m.Mask(qs[i].Words), m.Mask(qs[i].Answer)
	}
	return qs
}

// Step returns a copy of s with every secret masked.
func (m Masker) Step(s Step) Step {
	s.Proposal, s.Error = m.Proposal(s.Proposal), m.Mask(s.Error)
	s.Did = nil // the proposal says it, masked
	if s.Verdict != nil {
		v := m.Verdict(*s.Verdict)
		s.Verdict = &v
	}
	if s.Refusal != nil {
		r := m.Refusal(*s.Refusal)
		r.Wanted = Wanted(s.Proposal)
		s.Refusal = &r
	}
	return s
}

// Entry returns a copy of e with every secret masked.
func (m Masker) Entry(e Entry) Entry {
	e.Step = m.Step(e.Step)
	if e.Approval != nil {
		a := m.Approval(*e.Approval)
		e.Approval = &a
	}
	return e
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// Obscured is where a masked value stands that decides what a call does: whoever
// reads the call with that mask cannot know what they would allow. A mask is a cut
// there, as a text would be that does not fit: Allow is offered only where the value
// was revealed to the person.
type Obscured string

// The places where a mask is a cut.
const (
	// ObscuredCommand is what runs: a program, or the code that it is given.
	ObscuredCommand Obscured = "command"
	// ObscuredDecoder is what a program decodes: something else stands in it.
	ObscuredDecoder Obscured = "decoder"
	// ObscuredAddress is the host or the path of an address.
	ObscuredAddress Obscured = "address"
	// ObscuredRecipient is somebody or something that is sent to.
	ObscuredRecipient Obscured = "recipient"
	// ObscuredObject is what the call acts on otherwise: a file, a table, a branch.
	ObscuredObject Obscured = "object"
	// ObscuredUnknown is of calls that were asked before anybody looked: it may be any.
	ObscuredUnknown Obscured = "unknown"
)

// AllObscured are all places that are looked at, the worst first.
func AllObscured() []Obscured {
	return []Obscured{ObscuredCommand, ObscuredDecoder, ObscuredAddress, ObscuredRecipient, ObscuredObject}
}

// ErrObscured says that a call cannot be allowed where a part of it is masked that
// decides what it does.
var ErrObscured = errors.New("a masked value decides what this call does: allow it where the value is shown, in the inbox")

// presumeObscured takes every masked value of a call that waits for one that decides, in
// an ask that is older than the look for those.
func (a *Ask) presumeObscured() {
	for i := range a.Approvals {
		p := &a.Approvals[i]
		found := false
		if p.State == Pending && len(p.Obscured) == 0 {
			put := func(secret string) string { found = true; return secret }
			mask.Replaced(map[string]any{"executor": p.Proposal.Executor, "args": map[string]any(p.Proposal.Args)}, put)
		}
		if found {
			p.Obscured = []Obscured{ObscuredUnknown}
		}
	}
}

// obscured reports whether one of them waits and cannot be allowed unrevealed.
func (a *Ask) obscured(ids []ID) bool {
	return slices.ContainsFunc(ids, func(id ID) bool {
		p := a.Find(id)
		return p.State == Pending && len(p.Obscured) > 0
	})
}

// withoutAllow returns the buttons that allow nothing.
func withoutAllow(buttons []Button) []Button {
	return slices.DeleteFunc(slices.Clone(buttons), func(b Button) bool { return b.Choice == ChoiceAllow || b.Choice.Grants() })
}

// reveal shows of a card what the calls hold whose masks are cuts, as it is: it is
// for the person who asked to see it, and goes nowhere else.
func (c *Card) reveal(a *Ask) {
	c.Revealed = true
	for i := range c.Items {
		it, p := &c.Items[i], a.Find(c.Items[i].Approval)
		if p == nil || len(p.Obscured) == 0 || !p.ValuesDropped.IsZero() {
			continue
		}
		it.Executor, it.Args, it.Command = p.Proposal.Executor, argsText(p.Proposal.Args), commandLine(p.Proposal)
		it.Cwd, it.Mounts = p.Proposal.Context.Cwd, p.Proposal.Context.Mounts
	}
}
