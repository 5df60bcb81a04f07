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

// Edit records how a person changed a waiting call: as proposed it is denied; in the
// changed form it may run.
type Edit struct {
	// Approval is the call in its changed form; empty if the judges let that form through,
	// so that nobody has to allow it.
	Approval ID `json:"approval,omitempty"`
	// Changed are the arguments that differ.
	Changed []Difference `json:"changed"`
}

// Editing is a person's request to change a call that waits.
type Editing struct {
	ID ID
	// Texts are the new texts of arguments, by name; other arguments stay as they are.
	Texts map[string]string
	// Words go to the agent.
	Words   string
	By      Person
	Channel string
	// Seen is the fingerprint of the changed call that the person was shown. If empty, the
	// changed call is only shown.
	Seen Fingerprint
	// Passkey says that a passkey assertion bound to this edit came with it.
	Passkey bool
}

// Edited is a call in the form that a person wants to give it.
type Edited struct {
	// Was is the call as proposed, Now the call as it would be. Secrets are masked.
	Was, Now Item
	// Changed are the arguments that differ.
	Changed []Difference
	Print   Fingerprint
	// Passes says that the judges let the changed form through.
	Passes bool
	// Done says that the edit is on disk.
	Done bool
}

// Editable is an argument that a person may change.
type Editable struct{ Name, Text string }

// MaxEdit is the longest argument that can be changed, in characters. The agent is handed
// all of it.
const MaxEdit = 4000

// Editables returns the arguments of a call that a person may change, sorted by name: those
// that are texts and visible in full.
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

// editable reports whether a text is short enough and fully visible. Invisible characters
// would be lost in a form, or be allowed unseen.
func editable(text string) bool {
	if utf8.RuneCountInString(text) > MaxEdit || strings.ContainsRune(text, '\r') {
		return false
	}
	return !slices.ContainsFunc(visible.Runs(text), func(r visible.Run) bool { return r.Kind == visible.Hidden || r.Kind == visible.Lookalike })
}

// Change returns the call as the person wants it, and the differences. If the call cannot
// be changed that way it returns an [*OrderError].
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

// Edit denies a waiting call and allows it in the form that the person gave it. c is that
// form if judges denied it, nil if they let it through. The tokens, at least
// [Ask.JoinTokens] of one call, become the new buttons of the other waiting calls.
//
// On an error nothing changes: [ErrNotApprover], [ErrNotFound], a [*WordsError], a
// [*KeyError] if the same call is already asked, [ErrNotAskable], [ErrNobody],
// [ErrPasskey], or an [*OrderError].
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
		p = a.Find(e.ID) // adding to the slice may have moved it
		allowed := denial
		allowed.Choice = ChoiceAllow
		if err := a.Find(edit.Approval).decide(allowed, permitFor); err != nil {
			return err
		}
	}
	p.Edit, a.Closed = edit, true
	return p.decide(denial, 0)
}

// mayBecome returns an error if c cannot replace the call.
func (a *Ask) mayBecome(p *Approval, c *Call) error {
	switch {
	case p.State != Pending, c != nil && len(a.Approvals) >= MaxCalls:
		return &OrderError{Key: OrderNothing, Value: string(p.ID)}
	case !askable(p.Verdict):
		return ErrNotAskable
	case c != nil && len(c.Obscured) > 0:
		return &OrderError{Key: OrderObscured, Value: string(p.ID)} // an edit shows no masked value
	}
	return nil
}

// mayBecome returns an error if the person cannot allow c by an edit, because that requires
// a passkey or digits that an edit has no place for.
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

// alone reports whether a person may decide under any of the terms, and whether their yes
// is enough by itself.
func (e *Electorate) alone(id string) (permits, alone bool) {
	human, under := e.of(id)
	return len(under) > 0, slices.ContainsFunc(under, func(t Terms) bool { return t.met(map[string]bool{human: true}) })
}

// EditedCall is a call in the form in which a person allows it, as handed to the agent that
// proposed it differently.
type EditedCall struct {
	Executor string `json:"executor"`
	// Args are all of the call's arguments.
	Args vaglio.Args `json:"args"`
	// Changed names the arguments that differ from the proposal.
	Changed  []string  `json:"changed"`
	EditedAt time.Time `json:"edited_at"`
	// LapsesAt is when the permission to run it lapses; zero if it needs no permission.
	LapsesAt time.Time `json:"lapses_at,omitzero"`
}

// Edited adds to the answer of a call that a person changed the form in which it may still
// run. It returns any other answer unchanged.
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

// text tells the agent in which form its call may run. It contains the changed arguments in
// full.
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
		leave = "It is allowed in that form, once, until " + clockOf(f.LapsesAt) + "."
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
