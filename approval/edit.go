package approval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Edit is how a person changed a call that waited: as it was proposed it is denied,
// in the changed form it may run.
type Edit struct {
	// Approval is the call in its changed form; empty where the judges let that
	// through, so that nobody has to allow it.
	Approval ID `json:"approval,omitempty"`
	// Changed are the arguments that differ.
	Changed []Difference `json:"changed"`
}

// Editing is what a person wants a call that waits to be instead.
type Editing struct {
	ID ID
	// Texts are the arguments' new texts, by their names; the others stay.
	Texts map[string]string
	// Words go to the agent.
	Words   string
	By      Person
	Channel string
	// Seen is the fingerprint of the changed call that the person was shown. Without
	// it, nothing is done but to show it.
	Seen Fingerprint
	// Passkey says that it came with an assertion of a passkey, which is bound to it.
	Passkey bool
}

// Edited is a call in the form that a person would give it.
type Edited struct {
	// Was is the call as it was proposed, Now as it would be. Secrets are masked.
	Was, Now Item
	// Changed are the arguments that differ.
	Changed []Difference
	Print   Fingerprint
	// Passes says that the judges let it through in this form.
	Passes bool
	// Done says that it is on disk.
	Done bool
}

// Editable is an argument that a person may change.
type Editable struct{ Name, Text string }

// MaxEdit is the greatest length of an argument that can be changed, in characters:
// the agent is handed all of it.
const MaxEdit = 4000

// Editables are the arguments of a call that a person may change, by name: its texts,
// where all of them can be seen as they are.
func Editables(p vaglio.Proposal, m Masker) []Editable {
	var all []Editable
	shown := m.Proposal(p).Args
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		text, is := p.Args[name].(string)
		if is && shown[name] == text && editable(name) && editable(text) {
			all = append(all, Editable{name, text})
		}
	}
	return all
}

// editable reports whether a text is short enough, and all of it can be seen: what
// cannot would get lost in a form, or be allowed unseen.
func editable(text string) bool {
	if utf8.RuneCountInString(text) > MaxEdit || strings.ContainsRune(text, '\r') {
		return false
	}
	return !slices.ContainsFunc(visible.Runs(text), func(r visible.Run) bool { return r.Kind == visible.Hidden || r.Kind == visible.Lookalike })
}

// Change returns the call as a person would have it, and what differs. An
// [*OrderError] says why it cannot be changed so.
func (e *Editing) Change(p vaglio.Proposal, m Masker) (vaglio.Proposal, []Difference, error) {
	may := map[string]string{}
	for _, arg := range Editables(p, m) {
		may[arg.Name] = arg.Text
	}
	var changed []Difference
	args := maps.Clone(p.Args)
	for _, name := range slices.Sorted(maps.Keys(e.Texts)) {
		was, ok := may[name]
		switch now := e.Texts[name]; {
		case !ok:
			return p, nil, &OrderError{Key: OrderArgument, Value: name}
		case now == was:
		case utf8.RuneCountInString(now) > MaxEdit:
			return p, nil, &OrderError{Key: OrderLong, Value: name}
		default:
			args[name] = now
			changed = append(changed, Difference{name, was, now})
		}
	}
	if len(changed) == 0 {
		return p, nil, &OrderError{Key: OrderUnchanged, Value: string(e.ID)}
	}
	p.Args = args
	shown := m.Proposal(p).Args
	for _, d := range changed {
		if shown[d.Name] != d.Now {
			return p, nil, &OrderError{Key: OrderMasked, Value: d.Name}
		}
	}
	return p, changed, nil
}

// Edit denies a call that waits and, in the form that the person gave it, allows it:
// c is that form where judges denied it, nil where they let it through. The tokens,
// [Ask.JoinTokens] of one call at least, become the new buttons of what else waits.
//
// An error changes nothing: [ErrNotApprover], [ErrNotFound], a [*WordsError], a
// [*KeyError] where the same is asked already, [ErrNotAskable], [ErrNobody], [ErrPasskey],
// or an [*OrderError].
func (a *Ask) Edit(e *Editing, changed []Difference, c *Call, by Electorate, tokens []Token, at time.Time, permitFor time.Duration) error {
	denial, err := Tap{By: e.By, Channel: e.Channel, Words: e.Words}.decision(ChoiceDeny, at)
	if err != nil {
		return err
	}
	switch permits, alone := by.alone(e.By.ID); {
	case !permits:
		return ErrNotApprover
	case !alone:
		return &OrderError{Key: OrderSeveral, Value: string(e.ID)}
	}
	a.Lapse(at)
	p := a.Find(e.ID)
	if p == nil {
		return ErrNotFound
	}
	human, _ := by.of(e.By.ID)
	if err := cmp.Or(a.mayBecome(p, c), by.mayBecome(a, e, c, human)); err != nil {
		return err
	}
	edit := &Edit{Changed: changed}
	if c != nil {
		if err := a.admit(c); err != nil {
			return err
		}
		if len(tokens) < a.JoinTokens(1) {
			return ErrNoJoining
		}
		edit.Approval = a.join([]Call{*c}, tokens)[0]
		p = a.Find(e.ID) // The list may have moved.
		allowed := denial
		allowed.Choice = ChoiceAllow
		if err := a.Find(edit.Approval).decide(allowed, permitFor); err != nil {
			return err
		}
	}
	p.Edit, a.Closed = edit, true
	return p.decide(denial, 0)
}

// mayBecome says why a call cannot be c instead.
func (a *Ask) mayBecome(p *Approval, c *Call) error {
	switch {
	case p.State != Pending, c != nil && len(a.Approvals) >= MaxCalls:
		return &OrderError{Key: OrderNothing, Value: string(p.ID)}
	case !askable(p.Verdict):
		return ErrNotAskable
	case c != nil && len(c.Obscured) > 0:
		return &OrderError{Key: OrderObscured, Value: string(p.ID)} // An edit shows no masked value.
	}
	return nil
}

// mayBecome says why a person cannot allow c by an edit: it takes a passkey, or digits,
// for which an edit has no place.
func (e *Electorate) mayBecome(a *Ask, by *Editing, c *Call, human string) error {
	if c == nil {
		return nil
	}
	if err := e.asserted(human, by.Passkey, serious(c.Proposal, c.Denial.verdict)); err != nil {
		return err
	}
	t := Tap{By: by.By, Channel: by.Channel, Passkey: by.Passkey}
	if e.matched(a, &t, human, &Approval{Proposal: c.Proposal, Verdict: c.Denial.verdict}) != nil {
		return &OrderError{Key: OrderDigits, Value: string(by.ID)}
	}
	return nil
}

// alone reports whether a person may decide under any of the terms, and whether
// their yes is enough by itself.
func (e *Electorate) alone(id string) (permits, alone bool) {
	human, under := e.of(id)
	return len(under) > 0, slices.ContainsFunc(under, func(t Terms) bool { return t.met(map[string]bool{human: true}) })
}

// EditedCall is a call in the form in which a person allows it, as the agent that
// proposed it otherwise is given it.
type EditedCall struct {
	Executor string `json:"executor"`
	// Args are all of its arguments.
	Args vaglio.Args `json:"args"`
	// Changed are the names of those that differ from what was proposed.
	Changed  []string  `json:"changed"`
	EditedAt time.Time `json:"edited_at"`
	// LapsesAt is until when it can be made; zero where it needs nobody's leave.
	LapsesAt time.Time `json:"lapses_at,omitzero"`
}

// Edited returns the answer of a call that a person changed, with the form in which
// it may still run; any other answer as it is.
func (a Answer) Edited(ask *Ask, id ID) Answer {
	p := ask.Find(id)
	if p == nil || p.State != Denied || p.Edit == nil || p.Decision == nil || !p.ValuesDropped.IsZero() {
		return a
	}
	form := EditedCall{Executor: p.Proposal.Executor, Args: maps.Clone(p.Proposal.Args), EditedAt: p.Decision.At}
	for _, d := range p.Edit.Changed {
		form.Args[d.Name] = d.Now
		form.Changed = append(form.Changed, d.Name)
	}
	if p.Edit.Approval != "" {
		allowed := ask.Find(p.Edit.Approval)
		if allowed == nil || allowed.State != Allowed || allowed.Permit == nil {
			return a
		}
		form.LapsesAt = allowed.Permit.LapsesAt
	}
	a.Form = &form
	return a
}

// text tells the agent in which form its call may run. The changed arguments stand
// in it whole.
func (f *EditedCall) text(r *Refusal) string {
	changed := make(map[string]any, len(f.Changed))
	for _, name := range f.Changed {
		changed[name] = f.Args[name]
	}
	form, err := strictjson.Canonical(changed)
	if err != nil { // They came from JSON.
		return r.Text()
	}
	leave := "It needs nobody's leave so."
	if !f.LapsesAt.IsZero() {
		leave = "It is allowed so once, until " + clockOf(f.LapsesAt) + "."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "vaglio: this call did not run as it was proposed. A person changed it %s, and wants it in this form:\n", clock(f.EditedAt))
	fmt.Fprintf(&b, "%s %s\n", oneLine(clip(f.Executor, maxName)), escapeUnseen(string(form)))
	if len(f.Args) > len(f.Changed) {
		b.WriteString("The other arguments stay as they were. ")
	}
	b.WriteString(leave + " Make exactly this call, and do not repeat the one that was proposed.")
	if r.Words != "" {
		b.WriteString("\nThe person's words: " + quote(r.Words, maxQuestion))
	}
	return b.String()
}
