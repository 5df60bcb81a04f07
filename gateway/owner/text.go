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
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Call returns what would run: the command or, without one, the arguments.
func (a *Account) Call() string { return cmp.Or(a.Command, a.Args) }

// maxHeadline is how many characters of a headline fit on a line of the list.
const maxHeadline = 72

// WritePending writes one line for each call that waits.
func WritePending(w io.Writer, waiting []Account, now time.Time) error {
	if len(waiting) == 0 {
		_, err := fmt.Fprintln(w, "Nothing waits for you.")
		return err
	}
	var b strings.Builder
	b.WriteString("ID\tAGENT\tWOULD\tCONSEQUENCE\tLEFT\n")
	for i := range waiting {
		a := &waiting[i]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", a.ID, terminal.OneLine(a.Agent, 16), terminal.OneLine(cmp.Or(a.Headline, a.Call()), maxHeadline),
			terminal.OneLine(a.Consequence, maxHeadline), max(0, a.ExpiresAt.Sub(now)).Round(time.Second))
	}
	return terminal.Table(w, b.String())
}

// WriteWhy writes each account in full.
func WriteWhy(w io.Writer, all []Account) error {
	var b strings.Builder
	for i := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		all[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reasons writes why the call was denied, and what people asked the agent, with its answers.
func (a *Account) reasons(field func(name, value string)) {
	field("because", a.Because)
	for i := range a.Questions {
		q := &a.Questions[i]
		field("question", q.By.Name+", "+terminal.Stamp(q.At)+": "+q.Words)
		field("its answer", q.Answer)
	}
}

// write writes the account as lines "name  value". It makes everything that an agent, a judge
// or a person wrote visible and indents its lines, so that none of it can pass for a line of
// ours.
func (a *Account) write(b *strings.Builder) {
	field := func(name, value string) {
		if value == "" {
			return
		}
		for line := range strings.SplitSeq(visible.Text(value), "\n") {
			fmt.Fprintf(b, "%-10s %s\n", name, line)
			name = ""
		}
	}
	field("id", string(a.ID))
	field("state", string(a.State))
	field("agent", a.Agent)
	field("turn", a.TurnID)
	field("would", a.Headline)
	field("so", a.Consequence)
	field("intent", a.Intent)
	field("tool", a.Executor)
	field("command", a.Command)
	if a.Command == "" || a.Args != approval.CommandArgs(a.Command) { // else they only repeat the command
		field("arguments", a.Args)
	}
	field("masked", a.Obscured)
	if !a.ValuesDropped.IsZero() {
		field("values", "are no longer kept, since "+terminal.Stamp(a.ValuesDropped))
	}
	field("folder", a.Cwd)
	field("mounts", strings.Join(a.Mounts, "\n"))
	if a.State == StateRefused {
		field("refused", terminal.Stamp(a.OpenedAt))
	} else {
		field("asked", terminal.Stamp(a.OpenedAt)+", until "+terminal.Stamp(a.ExpiresAt))
	}
	if r := a.Verdict.Rule; r != nil {
		field("denied by", "the guard, for good, by its rule "+r.ID)
	} else {
		field("denied by", a.Verdict.JudgeKind+", score "+wording.Score(a.Verdict.Score))
	}
	a.reasons(field)
	a.judges(field)
	field("instead", strings.Join(a.Instead, "\n"))
	if d := a.Decision; d != nil {
		field("decided", fmt.Sprintf("%s by %s (%s) on %s, %s", d.Choice, d.By.Name, d.By.ID, d.Channel, terminal.Stamp(d.At)))
		field("words", d.Words)
	}
	if p := a.Permit; p != nil {
		field("permit", permitLine(p))
	}
	if o := a.Outcome; o != nil {
		field("run", ran(a)+", "+terminal.Stamp(o.At))
		field("", o.Detail)
	}
}

// judges writes what the judges said about the call, and what judge agents did.
func (a *Account) judges(field func(name, value string)) {
	for i := range a.Verdict.Results {
		field("judge", judgeLine(&a.Verdict.Results[i]))
		if i >= len(a.Noticed) {
			continue
		}
		for _, line := range a.Noticed[i] {
			if !strings.Contains(a.Because, line) {
				field("", line)
			}
		}
	}
	for i := range a.Judgements {
		j := &a.Judgements[i]
		field("judgement", judgementLine(j))
		for _, said := range j.Transcript {
			field("", "["+said.By+"] "+said.Text)
		}
	}
}

// judgeLine returns a judge's score and confidence, the minimum of each, and its network access.
func judgeLine(r *vaglio.GradientResult) string {
	line := fmt.Sprintf("%s, score %s", r.Judge, wording.Score(r.Score))
	if r.MinScore > 0 {
		line += " of " + wording.Score(r.MinScore)
	}
	line += ", confidence " + wording.Score(r.Confidence)
	if r.MinConfidence > 0 {
		line += " of " + wording.Score(r.MinConfidence)
	}
	if r.Network != "" {
		line += "; its commands reach the network"
	}
	return line
}

// judgementLine returns what a judge agent consumed and, if it failed, why.
func judgementLine(j *vaglio.Judgement) string {
	line := fmt.Sprintf("%s by %s, %d turns, %d tokens, %.1f s %s", j.ID, j.Judge, j.Turns, j.Input+j.Output, j.Took, j.Layer)
	if j.Fault != "" {
		line += "; no verdict: " + string(j.Fault)
	}
	return strings.TrimSpace(line)
}

// ran returns how the run ended. A call that the agent's own client refused has not failed.
func ran(a *Account) string {
	if approval.Fate(a.State, a.Outcome, a.Permit, time.Time{}, a.ExpiresAt) == approval.FateUnrun {
		return "not run: the agent's own rules refused it"
	}
	return string(a.State)
}

func permitLine(p *approval.Permit) string {
	if !p.SpentAt.IsZero() {
		return "spent " + terminal.Stamp(p.SpentAt)
	}
	return "unspent, lapses " + terminal.Stamp(p.LapsesAt)
}
