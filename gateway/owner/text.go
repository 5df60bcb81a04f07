package owner

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// Call returns what would run: the command or, without one, the arguments.
func (a *Account) Call() string { return cmp.Or(a.Command, a.Args) }

// maxHeadline is how many characters of a headline fit on a line of the list.
const maxHeadline = 72

// WritePending writes one line for each call that waits.
func WritePending(w io.Writer, texts *templates.Texts, waiting []Account, now time.Time) error {
	if len(waiting) == 0 {
		_, err := fmt.Fprintln(w, texts.Plain("pending.none", nil))
		return err
	}
	var b strings.Builder
	b.WriteString(texts.Plain("term.pending", nil) + "\n")
	for i := range waiting {
		a := &waiting[i]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", a.ID, terminal.OneLine(a.Agent, 16), terminal.OneLine(cmp.Or(a.Headline, a.Call()), maxHeadline),
			terminal.OneLine(a.Consequence, maxHeadline), max(0, a.ExpiresAt.Sub(now)).Round(time.Second))
	}
	return terminal.Table(w, b.String())
}

// WriteWhy writes each account in full.
func WriteWhy(w io.Writer, texts *templates.Texts, all []Account) error {
	told := account{texts: texts}
	for i := range all {
		if i > 0 {
			told.b.WriteByte('\n')
		}
		told.write(&all[i])
	}
	_, err := io.WriteString(w, told.b.String())
	return err
}

// account is the text about calls, in the reader's language.
type account struct {
	b     strings.Builder
	texts *templates.Texts
}

// field writes a value on a line with the name of the text for it; on the next line without one. It
// makes everything that an agent, a judge or a person wrote visible and indents its lines, so that none
// of it can pass for a line of ours.
func (w *account) field(name, value string) {
	if value == "" {
		return
	}
	label := ""
	if name != "" {
		label = w.texts.Plain(templates.Key("term."+name), nil)
	}
	for line := range strings.SplitSeq(visible.Text(value), "\n") {
		fmt.Fprintf(&w.b, "%-10s %s\n", label, line)
		label = ""
	}
}

// stamped returns a text about a time.
func (w *account) stamped(key templates.Key, at time.Time) string {
	return w.texts.Plain(key, templates.Values{"stamp": terminal.Stamp(at)})
}

// write writes an account as lines "name  value".
func (w *account) write(a *Account) {
	w.field("id", string(a.ID))
	w.field("state", w.state(a))
	w.field("agent", a.Agent)
	w.field("turn", a.TurnID)
	w.field("what", a.Headline)
	w.field("so", a.Consequence)
	w.field("intent", a.Intent)
	w.field("tool", a.Executor)
	w.field("command", a.Command)
	if a.Command == "" || a.Args != approval.CommandArgs(a.Command) { // else they only repeat the command
		w.field("arguments", a.Args)
	}
	w.field("masked", a.Obscured)
	if !a.ValuesDropped.IsZero() {
		w.field("values", w.stamped("term.values.dropped", a.ValuesDropped))
	}
	w.field("folder", a.Cwd)
	w.field("mounts", strings.Join(a.Mounts, "\n"))
	w.why(a)
	w.judges(a)
	w.field("instead", strings.Join(a.Instead, "\n"))
	w.end(a)
}

// state says how the call stands.
func (w *account) state(a *Account) string {
	if a.State == StateRefused {
		return w.texts.Plain("term.state.refused", nil)
	}
	return w.texts.Plain(templates.Key("web.state."+a.fate()), nil)
}

// fate returns how the call stands, as named by [approval.Fate].
func (a *Account) fate() string {
	return approval.Fate(a.State, a.Outcome, a.Permit, time.Time{}, a.ExpiresAt)
}

// why writes when and why the call was denied or asked about, and what people asked the agent, with its
// answers.
func (w *account) why(a *Account) {
	if a.State == StateRefused {
		w.field("refused", terminal.Stamp(a.OpenedAt))
	} else {
		w.field("asked", w.texts.Plain("term.asked.times", templates.Values{"stamp": terminal.Stamp(a.OpenedAt), "deadline": terminal.Stamp(a.ExpiresAt)}))
	}
	if r := a.Verdict.Rule; r != nil {
		w.field("by", w.texts.Plain("term.by.guard", templates.Values{"rule": templates.Theirs(r.ID)}))
	} else {
		w.field("by", a.Verdict.JudgeKind+", "+w.scored("term.score", a.Verdict.Score, 0))
	}
	w.field("because", a.Because)
	for i := range a.Questions {
		q := &a.Questions[i]
		w.field("question", q.By.Name+", "+terminal.Stamp(q.At)+": "+q.Words)
		w.field("answer", q.Answer)
	}
}

// judges writes what the judges said about the call, and what judge agents did.
func (w *account) judges(a *Account) {
	for i := range a.Verdict.Results {
		w.field("judge", w.judge(&a.Verdict.Results[i]))
		if i >= len(a.Noticed) {
			continue
		}
		for _, line := range a.Noticed[i] {
			if !strings.Contains(a.Because, line) {
				w.field("", line)
			}
		}
	}
	for i := range a.Judgements {
		j := &a.Judgements[i]
		w.field("judgement", w.judgement(j))
		for _, said := range j.Transcript {
			w.field("", "["+said.By+"] "+said.Text)
		}
	}
}

// judge returns a judge's score and confidence, the minimum of each, and its network access.
func (w *account) judge(r *vaglio.GradientResult) string {
	line := r.Judge + ", " + w.scored("term.score", r.Score, r.MinScore) + ", " + w.scored("term.confidence", r.Confidence, r.MinConfidence)
	if r.Network != "" {
		line += "; " + w.texts.Plain("term.network", nil)
	}
	return line
}

// scored returns a text about a score or, if there is a minimum of it, the one with that.
func (w *account) scored(key templates.Key, score, least float64) string {
	values := templates.Values{"score": w.texts.Score(score)}
	if least > 0 {
		key += ".of"
		values["least"] = w.texts.Score(least)
	}
	return w.texts.Plain(key, values)
}

// judgement returns what a judge agent consumed and, if it failed, why.
func (w *account) judgement(j *vaglio.Judgement) string {
	line := strings.TrimSpace(w.texts.Plain("term.judgement.cost", templates.Values{
		"id": templates.Theirs(j.ID), "judge": templates.Theirs(j.Judge), "turns": j.Turns, "tokens": j.Input + j.Output,
		"seconds": fmt.Sprintf("%.1f", j.Took), "layer": templates.Theirs(j.Layer),
	}))
	if j.Fault != "" {
		line += "; " + w.texts.Plain("term.judgement.fault", templates.Values{"fault": templates.Theirs(j.Fault)})
	}
	return line
}

// end writes who decided, what became of the permit, and how the run ended. A call that the agent's own
// client refused has not failed.
func (w *account) end(a *Account) {
	if d := a.Decision; d != nil {
		w.field("decided", w.texts.Plain("term.decided."+templates.Key(d.Choice), templates.Values{
			"name": templates.Theirs(d.By.Name), "id": templates.Theirs(d.By.ID), "channel": templates.Theirs(d.Channel), "stamp": terminal.Stamp(d.At),
		}))
		w.field("words", d.Words)
	}
	if p := a.Permit; p != nil && !p.SpentAt.IsZero() {
		w.field("permit", w.stamped("term.permit.spent", p.SpentAt))
	} else if p != nil {
		w.field("permit", w.stamped("term.permit.unspent", p.LapsesAt))
	}
	if o := a.Outcome; o != nil {
		key := map[bool]templates.Key{true: "term.run.worked", false: "term.run.failed"}[o.Succeeded]
		if a.fate() == approval.FateUnrun {
			key = "term.run.unrun"
		}
		w.field("run", w.stamped(key, o.At))
		w.field("", o.Detail)
	}
}
