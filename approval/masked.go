package approval

import (
	"errors"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/mask"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Masker masks the secrets in texts about calls and their approvals.
type Masker struct{ mask.Masker }

// NewMasker returns a masker whose tags are keyed by the secret.
func NewMasker(s Secret) Masker {
	return Masker{mask.New(func(text []byte) []byte { return s.mac(labelMask, text) })}
}

// Proposal returns a copy of p with every secret masked, in keys and values. Masks that the
// agent wrote itself are masked too, so that two different calls never look alike. A value
// under a name such as password is masked completely. p must be as proposed, not masked.
func (m Masker) Proposal(p vaglio.Proposal) vaglio.Proposal {
	p.TurnID, p.Intent, p.Executor = m.given(p.TurnID), m.given(p.Intent), m.given(p.Executor)
	if p.Args != nil {
		given, _ := m.Copied(map[string]any(p.Args)).(map[string]any)
		p.Args = m.For(p.Executor).Object(given)
	}
	p.Context.Mode, p.Context.Cwd, p.Context.Refusal = m.given(p.Context.Mode), m.given(p.Context.Cwd), m.given(p.Context.Refusal)
	p.Context.SubAgent = m.given(p.Context.SubAgent)
	p.Context.Mounts = m.allGiven(p.Context.Mounts)
	p.Context.Capability = m.allGiven(p.Context.Capability)
	return p
}

// Judged returns copies of a call and its verdict with every secret masked. What is a secret in
// the call is one in what judges say of it.
func (m Masker) Judged(p vaglio.Proposal, v vaglio.Verdict) (vaglio.Proposal, vaglio.Verdict) {
	return m.Proposal(p), m.knowing(p).Verdict(v)
}

// knowing returns a masker for what is said about a call.
func (m Masker) knowing(p vaglio.Proposal) Masker {
	return Masker{m.For(p.Executor).Knowing(p.Args).For("")}
}

// given masks text that nobody has masked yet.
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

// signal masks what a judge saw. If masking the whole message masks more than masking its
// parts does, the message as data is dropped.
func (m Masker) signal(s vaglio.Signal) vaglio.Signal {
	s.Message, s.Said = m.given(s.Message), s.Said.Each(m.given)
	if english, _ := s.Said.In(wording.English); english != s.Message {
		s.Said = nil
	}
	return s
}

// Refusal returns a copy of r with every secret masked. A text that was cut may end inside
// a secret that is then no longer recognized; a caller who has the proposal should explain
// the masked proposal instead, as cards do.
func (m Masker) Refusal(r Refusal) Refusal {
	r.Wanted, r.Why, r.Words = m.Mask(r.Wanted), m.Mask(r.Why), m.Mask(r.Words)
	r.Alternatives = m.Texts(r.Alternatives)
	return r
}

// Approval returns a copy of a with every secret masked.
func (m Masker) Approval(a Approval) Approval {
	breaks := breaksIn(a.Proposal.Args)
	a.Proposal, m = m.Proposal(a.Proposal), m.knowing(a.Proposal)
	a.Verdict, a.Heads = m.Verdict(a.Verdict), m.Texts(a.Heads)
	if breaks != breaksIn(a.Proposal.Args) { // a masked value had several lines: they count otherwise now
		unnumber(&a.Verdict)
	}
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

// breaksIn counts the line breaks in the texts of arguments.
func breaksIn(value any) (n int) {
	switch v := value.(type) {
	case string:
		return strings.Count(v, "\n")
	case map[string]any:
		for _, e := range v {
			n += breaksIn(e)
		}
	case vaglio.Args:
		return breaksIn(map[string]any(v))
	case []any:
		for _, e := range v {
			n += breaksIn(e)
		}
	}
	return n
}

// unnumber drops the lines from a verdict that nothing else has.
func unnumber(v *vaglio.Verdict) {
	for i := range v.Results {
		for j := range v.Results[i].Signals {
			v.Results[i].Signals[j].Lines = nil
		}
	}
}

// subjects returns a copy of s with every secret masked.
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

// differences returns a copy of all with every secret masked.
func (m Masker) differences(all []Difference) []Difference {
	all = slices.Clone(all)
	for i := range all {
		all[i].Was, all[i].Now = m.Mask(all[i].Was), m.Mask(all[i].Now)
	}
	return all
}

// questions returns a copy of qs with every secret masked.
func (m Masker) questions(qs []Question) []Question {
	qs = slices.Clone(qs)
	for i := range qs {
		qs[i].Words, qs[i].Answer = m.Mask(qs[i].Words), m.Mask(qs[i].Answer)
	}
	return qs
}

// Step returns a copy of s with every secret masked.
func (m Masker) Step(s Step) Step {
	s.Proposal, m = m.Proposal(s.Proposal), m.knowing(s.Proposal)
	s.Error = m.Mask(s.Error)
	s.Did = nil // the masked proposal says it
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

// Obscured is a place where a masked value decides what a call does: someone who reads the
// masked call cannot know what they would allow. Allow is then offered only where the value
// was revealed to the person, as with a text that was cut because it did not fit.
type Obscured string

// The places where a masked value decides what a call does.
const (
	// ObscuredCommand is what runs: a program, or code given to one.
	ObscuredCommand Obscured = "command"
	// ObscuredDecoder is input to a program that decodes it: the decoded text is something
	// else.
	ObscuredDecoder Obscured = "decoder"
	// ObscuredAddress is the host or the path of an address.
	ObscuredAddress Obscured = "address"
	// ObscuredRecipient is a person or thing that something is sent to.
	ObscuredRecipient Obscured = "recipient"
	// ObscuredObject is anything else that the call acts on: a file, a table, a branch.
	ObscuredObject Obscured = "object"
	// ObscuredUnknown marks calls that were asked before vaglio checked: any place may be
	// meant.
	ObscuredUnknown Obscured = "unknown"
)

// AllObscured returns every place that is checked, worst first.
func AllObscured() []Obscured {
	return []Obscured{ObscuredCommand, ObscuredDecoder, ObscuredAddress, ObscuredRecipient, ObscuredObject}
}

// ErrObscured says that a call cannot be allowed because a masked value decides what it
// does.
var ErrObscured = errors.New("a masked value decides what this call does: allow it where the value is shown, in the inbox")

// presumeObscured treats every masked value of a waiting call as one that decides, in an
// ask that is older than the check for those.
func (a *Ask) presumeObscured() {
	for i := range a.Approvals {
		p := &a.Approvals[i]
		found := false
		if p.State == Pending && len(p.Obscured) == 0 {
			put := func(secret string) string { found = true; return secret }
			mask.Replaced("", map[string]any{"executor": p.Proposal.Executor}, put)
			mask.Replaced(p.Proposal.Executor, p.Proposal.Args, put)
		}
		if found {
			p.Obscured = []Obscured{ObscuredUnknown}
		}
	}
}

// obscured reports whether any of the calls waits and cannot be allowed unless revealed.
func (a *Ask) obscured(ids []ID) bool {
	return slices.ContainsFunc(ids, func(id ID) bool {
		p := a.Find(id)
		return p.State == Pending && len(p.Obscured) > 0
	})
}

// withoutAllow returns the buttons without those that allow something.
func withoutAllow(buttons []Button) []Button {
	return slices.DeleteFunc(slices.Clone(buttons), func(b Button) bool { return b.Choice == ChoiceAllow || b.Choice.Grants() })
}

// reveal shows the unmasked values of the calls in which a masked value decides. The card
// is only for the person who asked to see them.
func (c *Card) reveal(a *Ask) {
	c.Revealed = true
	for i := range c.Items {
		it, p := &c.Items[i], a.Find(c.Items[i].Approval)
		if p == nil || len(p.Obscured) == 0 || !p.ValuesDropped.IsZero() {
			continue
		}
		it.Executor, it.Args, it.Command = p.Proposal.Executor, ArgsText(p.Proposal.Args), CommandLine(p.Proposal)
		it.Cwd, it.Mounts = p.Proposal.Context.Cwd, p.Proposal.Context.Mounts
	}
}
