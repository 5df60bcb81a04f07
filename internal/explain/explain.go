// Package explain shows a person how the engine sees a proposal: how it was read, what it would
// do, and what guard and judges say about it.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Explanation is what there is to say about one proposal.
type Explanation struct {
	Proposal vaglio.Proposal `json:"proposal"`
	// Error is an error of shape or scope; there is then no verdict.
	Error string `json:"error,omitempty"`
	// Reading is what guard and judges see of the call.
	Reading Reading `json:"reading"`
	// Effects are what the call would do as read, and Notes what could not be read.
	Effects []Effect        `json:"effects"`
	Notes   []string        `json:"notes"`
	Verdict *vaglio.Verdict `json:"verdict"`
	// Headline is what a card would say first.
	Headline *headline.Headline `json:"-"`
	// Refusal is what the agent would be told.
	Refusal *approval.Refusal `json:"refusal,omitempty"`
}

// New explains a proposal. reader says what the proposal would do, engine judges it, and home is
// the home folder of the user it would run as.
func New(ctx context.Context, engine *vaglio.Engine, reader *effects.Judge, home string, p vaglio.Proposal) (x Explanation, err error) {
	x.Proposal = p
	if x.Reading, err = viewOf(engine, p, home); err != nil {
		return x, err
	}
	x.say(reader.Read(engine.Seen(p)))
	v, err := engine.Judge(ctx, p)
	if mistake := vaglio.Mistake(err); mistake != nil {
		x.Error = mistake.Error()
		return x, nil
	}
	if err != nil {
		return x, err
	}
	h := headline.Of(p, v)
	x.Verdict, x.Headline = &v, &h
	if !v.Approved {
		r := approval.Refuse(x.Proposal, v)
		x.Refusal = &r
	}
	return x, nil
}

// Effect is an effect with its reason in English.
type Effect struct {
	effects.Effect
	Why string `json:"why"`
}

// say adds what a call would do as read.
func (x *Explanation) say(read effects.Assessment) {
	for _, e := range read.Effects {
		x.Effects = append(x.Effects, Effect{e, e.Why.String()})
	}
	for _, n := range read.Notes {
		note, _ := n.In(wording.English)
		x.Notes = append(x.Notes, note)
	}
}

// Text returns the explanation as text for a terminal: what a card says is in the reader's
// language, and what only this shows in English. Text by others is made visible.
func (x *Explanation) Text(texts *templates.Texts) string {
	if x.Error != "" {
		return entry("mistake", x.Error)
	}
	var b strings.Builder
	b.WriteString(entry("what", cardtext.Headline(texts, x.Headline).String()))
	b.WriteString(entry("so", cardtext.Consequence(texts, &x.Headline.Consequence)))
	x.Reading.write(&b)
	v := approval.Agreed(*x.Verdict, *x.Headline)
	label := "read"
	for _, e := range x.Effects {
		b.WriteString(entry(label, effectWords(texts, &e, x.agreed(&v))))
		label = ""
	}
	for _, note := range x.Notes {
		b.WriteString(entry("not read", note))
	}
	label = "runs"
	for i := range v.Sources {
		if s := &v.Sources[i]; s.Kind != vaglio.SourceFolder || s.Real != "" { // a folder's digest binds a permit, and tells nobody anything
			b.WriteString(entry(label, sourceWords(s)))
			label = ""
		}
	}
	if v.Rule == nil {
		b.WriteString(entry("guard", "lets it through"))
	} else {
		instead, _ := texts.Told(v.Rule.Instead)
		b.WriteString(entry("guard", "denies it by the rule "+v.Rule.ID+". "+cmp.Or(texts.Guard(v.Rule.ID), v.Rule.Why)))
		b.WriteString(entry("", "Instead: "+instead))
	}
	for i := range v.Results {
		r := &v.Results[i]
		b.WriteString(entry("judge", r.Judge+" gives it "+texts.Score(r.Score)))
		for _, line := range cardtext.Noticed(texts, r) {
			b.WriteString(entry("", line))
		}
	}
	b.WriteString(entry("verdict", verdictWords(&v)))
	return b.String()
}

// agreed reports whether the headline says of all effects together what they say: if not, a person
// is told only that.
func (x *Explanation) agreed(v *vaglio.Verdict) bool {
	return slices.EqualFunc(v.Results, x.Verdict.Results, func(a, b vaglio.GradientResult) bool {
		return slices.EqualFunc(a.Signals, b.Signals, func(s, t vaglio.Signal) bool { return s.Message == t.Message })
	})
}

// effectWords returns one line about an effect: what is done, its kind, with graded what can be
// undone and how far it reaches, and how sure the reading is if it is not certain.
func effectWords(texts *templates.Texts, e *Effect, graded bool) string {
	why, _ := e.Effect.Why.In(wording.English)
	said, _ := texts.Said(why, e.Effect.Why)
	text := said + " (" + texts.EffectName(string(e.Kind))
	if graded {
		text += ", " + texts.Plain(templates.Key("undo."+string(e.Reversibility)), nil) + ", " + texts.Plain(templates.Key("reach."+string(e.Reach)), nil)
	}
	if e.Sure < 1 {
		text += fmt.Sprintf(", %.0f %% sure", 100*e.Sure)
	}
	return text + ")"
}

// sourceWords returns one line about a file whose content the call runs or sends.
func sourceWords(s *vaglio.Source) string {
	switch {
	case s.Real != "":
		return s.Path + ", which is " + s.Real
	case s.Unread != "":
		return s.Path + ", which " + s.Unread
	default:
		return fmt.Sprintf("%s, lines: %d, SHA-256 %s", s.Path, s.Lines, s.SHA256)
	}
}

// entry returns one line of an explanation.
func entry(label, text string) string {
	return fmt.Sprintf("%-9s %s\n", label, visible.Text(text))
}

// verdictWords returns what happens to the call.
func verdictWords(v *vaglio.Verdict) string {
	switch v.BlockedBy {
	case vaglio.PhaseGuard:
		return "denied for good. " + v.Reason
	case vaglio.PhaseJudge:
		score, _, _ := strings.Cut(v.Reason, " (") // what follows stands above
		return "denied; a person would be asked. " + score
	case vaglio.PhaseNone:
	}
	return v.Reason
}
