// Package explain shows a person how the engine sees a proposal: how it was read, what it would
// do, and what guard and judges say about it.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	Effects []Effect `json:"effects"`
	Notes   []string `json:"notes"`
	notes   []wording.Sentence
	Verdict *vaglio.Verdict `json:"verdict"`
	// Headline is what a card would say first.
	Headline *headline.Headline `json:"-"`
	// Refusal is what the agent would be told.
	Refusal *approval.Refusal `json:"refusal,omitempty"`
}

// New explains a proposal. reader says what the proposal would do, engine judges it, masker masks what a card
// would say, and home is the home folder of the user it would run as.
func New(ctx context.Context, engine *vaglio.Engine, reader *effects.Judge, masker approval.Masker, home string, p vaglio.Proposal) (x Explanation, err error) {
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
	h := headline.Of(masker.Judged(p, v))
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
		x.Notes, x.notes = append(x.Notes, note), append(x.notes, n)
	}
}

// Text returns the explanation as text for a terminal, in the reader's language. Text by others is
// made visible.
func (x *Explanation) Text(texts *templates.Texts) string {
	w := writer{texts: texts}
	if x.Error != "" {
		w.entry("mistake", x.Error)
		return w.b.String()
	}
	w.entry("what", cardtext.Headline(texts, x.Headline).String())
	w.entry("so", cardtext.Consequence(texts, &x.Headline.Consequence))
	w.reading(&x.Reading)
	v := approval.Agreed(*x.Verdict, *x.Headline)
	label := "read"
	for _, e := range x.Effects {
		w.entry(label, w.effect(&e, x.agreed(&v)))
		label = ""
	}
	for i, note := range x.Notes {
		said, _ := texts.Said(note, x.notes[i])
		w.entry("unread", said)
	}
	label = "runs"
	for i := range v.Sources {
		if s := &v.Sources[i]; s.Kind != vaglio.SourceFolder || s.Real != "" { // a folder's digest binds a permit, and tells nobody anything
			w.entry(label, w.source(s))
			label = ""
		}
	}
	w.judged(&v)
	return w.b.String()
}

// writer writes an explanation in the reader's language.
type writer struct {
	b     strings.Builder
	texts *templates.Texts
}

// entry writes one line, with the name of the text for it if there is one.
func (w *writer) entry(name, text string) {
	label := ""
	if name != "" {
		label = w.texts.Plain(templates.Key("explain."+name), nil)
	}
	fmt.Fprintf(&w.b, "%-9s %s\n", label, visible.Text(text))
}

// judged writes what guard and judges say, and what follows.
func (w *writer) judged(v *vaglio.Verdict) {
	if v.Rule == nil {
		w.entry("guard", w.texts.Plain("explain.guard.lets", nil))
	} else {
		instead, _ := w.texts.Told(v.Rule.Instead)
		w.entry("guard", w.texts.Plain("explain.guard.denies", templates.Values{"rule": templates.Theirs(v.Rule.ID)})+" "+cmp.Or(w.texts.Guard(v.Rule.ID), v.Rule.Why))
		w.entry("", w.texts.Plain("explain.guard.instead", nil)+" "+instead)
	}
	for i := range v.Results {
		r := &v.Results[i]
		w.entry("judge", w.texts.Plain("explain.judge.gives", templates.Values{"judge": templates.Theirs(r.Judge), "score": w.texts.Score(r.Score)}))
		for _, line := range cardtext.Noticed(w.texts, r) {
			w.entry("", line)
		}
	}
	w.entry("verdict", w.verdict(v))
}

// agreed reports whether the headline says of all effects together what they say: if not, a person
// is told only that.
func (x *Explanation) agreed(v *vaglio.Verdict) bool {
	return slices.EqualFunc(v.Results, x.Verdict.Results, func(a, b vaglio.GradientResult) bool {
		return slices.EqualFunc(a.Signals, b.Signals, func(s, t vaglio.Signal) bool { return s.Message == t.Message })
	})
}

// effect returns one line about an effect: what is done, its kind, with graded what can be
// undone and how far it reaches, and how sure the reading is if it is not certain.
func (w *writer) effect(e *Effect, graded bool) string {
	why, _ := e.Effect.Why.In(wording.English)
	said, _ := w.texts.Said(why, e.Effect.Why)
	text := said + " (" + w.texts.EffectName(string(e.Kind))
	if graded {
		text += ", " + w.texts.Plain(templates.Key("undo."+string(e.Reversibility)), nil) + ", " + w.texts.Plain(templates.Key("reach."+string(e.Reach)), nil)
	}
	if e.Sure < 1 {
		text += ", " + w.texts.Plain("explain.sure", templates.Values{"percent": strconv.Itoa(int(math.Round(100 * e.Sure)))})
	}
	return text + ")"
}

// source returns one line about a file whose content the call runs or sends.
func (w *writer) source(s *vaglio.Source) string {
	switch {
	case s.Real != "":
		return w.texts.Plain("explain.runs.link", templates.Values{"path": templates.Theirs(s.Path), "real": templates.Theirs(s.Real)})
	case s.Unread != "":
		return w.texts.Plain("explain.runs.unread", templates.Values{"path": templates.Theirs(s.Path), "why": templates.Theirs(s.Unread)})
	default:
		return w.texts.Plain("explain.runs.file", templates.Values{"path": templates.Theirs(s.Path), "lines": strconv.Itoa(s.Lines), "digest": templates.Theirs(s.SHA256)})
	}
}

// verdict returns what happens to the call, and what decides that, unless it stands above.
func (w *writer) verdict(v *vaglio.Verdict) string {
	switch {
	case v.BlockedBy == vaglio.PhaseGuard:
		return w.texts.Plain("explain.verdict.final", nil)
	case v.BlockedBy == vaglio.PhaseJudge:
		return w.texts.Plain("explain.verdict.asked", templates.Values{"why": w.decides(v)})
	case len(v.Results) == 0:
		return w.texts.Plain("explain.verdict.unjudged", nil)
	default:
		return w.texts.Plain("explain.verdict.approved", templates.Values{"score": w.texts.Score(v.Score)})
	}
}

// decides says which judge has a person asked, and why.
func (w *writer) decides(v *vaglio.Verdict) string {
	at := slices.IndexFunc(v.Results, func(r vaglio.GradientResult) bool { return r.Judge == v.JudgeKind })
	if at < 0 {
		return v.Reason
	}
	r := &v.Results[at]
	switch {
	case r.Score < r.MinScore:
		return r.Judge + ", " + w.texts.Plain("term.score.of", templates.Values{"score": w.texts.Score(r.Score), "least": w.texts.Score(r.MinScore)})
	case r.Confidence < r.MinConfidence:
		return r.Judge + ", " + w.texts.Plain("term.confidence.of", templates.Values{"score": w.texts.Score(r.Confidence), "least": w.texts.Score(r.MinConfidence)})
	default:
		return v.Reason
	}
}
