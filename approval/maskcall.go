package approval

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Proposal returns a copy of p with every secret masked, in keys and values.
// What stands under a name such as password is masked whole.
func (m Masker) Proposal(p vaglio.Proposal) vaglio.Proposal {
	p.TurnID, p.Intent, p.Executor = m.Mask(p.TurnID), m.Mask(p.Intent), m.Mask(p.Executor)
	if p.Args != nil {
		p.Args = m.object(p.Args)
	}
	p.Context.Mode, p.Context.Cwd = m.Mask(p.Context.Mode), m.Mask(p.Context.Cwd)
	p.Context.Mounts = m.texts(p.Context.Mounts)
	p.Context.Capability = m.texts(p.Context.Capability)
	return p
}

// Verdict returns a copy of v with every secret masked.
func (m Masker) Verdict(v vaglio.Verdict) vaglio.Verdict {
	v.Reason = m.Mask(v.Reason)
	v.Results = slices.Clone(v.Results)
	for i := range v.Results {
		g := &v.Results[i]
		g.Reasoning = m.Mask(g.Reasoning)
		if g.Metadata != nil {
			g.Metadata = m.object(g.Metadata)
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
	s.Message, s.Said = m.Mask(s.Message), s.Said.Each(m.Mask)
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
	r.Alternatives = m.texts(r.Alternatives)
	return r
}

// Approval returns a copy of a with every secret masked.
func (m Masker) Approval(a Approval) Approval {
	a.Proposal, a.Verdict = m.Proposal(a.Proposal), m.Verdict(a.Verdict)
	a.Refusal = m.Refusal(a.Refusal)
	a.Refusal.Wanted = wanted(a.Proposal)
	a.Decision, a.Permit, a.Outcome = copied(a.Decision), copied(a.Permit), copied(a.Outcome)
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

// Step returns a copy of s with every secret masked.
func (m Masker) Step(s Step) Step {
	s.Proposal, s.Error = m.Proposal(s.Proposal), m.Mask(s.Error)
	if s.Verdict != nil {
		v := m.Verdict(*s.Verdict)
		s.Verdict = &v
	}
	if s.Refusal != nil {
		r := m.Refusal(*s.Refusal)
		r.Wanted = wanted(s.Proposal)
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

func (m Masker) texts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.Mask(list[i])
	}
	return list
}

func (m Masker) object(o map[string]any) map[string]any {
	masked := make(map[string]any, len(o))
	for key, v := range o {
		masked[m.Mask(key)] = m.named(key, v)
	}
	return masked
}

// named masks a value that stands under a name.
func (m Masker) named(name string, v any) any {
	kind := secrecyOf(name)
	switch v := v.(type) {
	case string:
		if kind.hides(v) {
			return m.whole(v)
		}
		return m.Mask(m.issued(name, v))
	case strictjson.Number:
		if kind != notSecret && len(v) >= 4 {
			return m.whole(string(v))
		}
		return v
	case []any:
		return m.list(name, v)
	case map[string]any:
		return m.object(v)
	default:
		return v
	}
}

// list masks the elements of a list; where the list is a command's arguments,
// also what follows a flag such as --password.
func (m Masker) list(name string, list []any) []any {
	masked := make([]any, len(list))
	for i, v := range list {
		under := name
		if flag, ok := before(list, i); ok && strings.HasPrefix(flag, "-") {
			if kind := secrecyOf(strings.TrimLeft(flag, "-")); kind == surelySecret || kind == maybeSecret {
				under = flag
			}
		}
		masked[i] = m.named(under, v)
	}
	return masked
}

// issued masks in a short value what only its name and its looks together give
// away, as {"heroku_key": …} does: some issuers' tokens have no form of their own.
func (m Masker) issued(name, v string) string {
	const short = 512 // bytes: more than any of those has
	if len(name)+len(v) > short {
		return v
	}
	begin := len(name) + len("=")
	found, _ := builtin().find(name + "=" + v)
	w := maskWriter{masker: m, text: v}
	for _, p := range found {
		if p.from >= begin {
			w.mask(p.from-begin, p.to-begin)
		}
	}
	w.b.WriteString(v[w.last:])
	return w.b.String()
}

func before(list []any, i int) (string, bool) {
	if i == 0 {
		return "", false
	}
	s, ok := list[i-1].(string)
	return s, ok
}

func (m Masker) whole(secret string) string {
	if m.genuine(secret) == len(secret) {
		return secret
	}
	return m.mask(secret)
}

// hides reports whether a text under a name of this kind is masked whole.
func (k secrecy) hides(v string) bool {
	header := k == credentials || k == cookies
	return k != notSecret && opaque(v) && (header || !commandLike(v))
}

// opaque reports whether a value under a secret's name can be masked whole: it
// is no placeholder, and nothing that a shell would act on.
func opaque(v string) bool {
	return v != "" && !placeholder(v) && !strings.ContainsAny(v, "`\n") && !strings.Contains(v, "$(") && !strings.Contains(v, "${")
}

// commandLike reports whether a value could be a command with its arguments,
// which an agent would have run under a secret's name. A password may hold any
// sign, and a passphrase blanks; a text with both is shown.
func commandLike(v string) bool {
	return strings.ContainsAny(v, " \t") && strings.ContainsAny(v, "-/;|&<>=~*$")
}
