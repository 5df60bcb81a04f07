package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/vaglio"
)

// Refusal is a denial explained: one structure for the agent and for the person, so that
// both read the same thing.
type Refusal struct {
	// Ran is always false: a refused call did not run. It is in the JSON so that an agent
	// never has to guess.
	Ran bool `json:"ran"`
	// Final says that nobody can allow this call.
	Final bool         `json:"final"`
	Phase vaglio.Phase `json:"phase"`
	// Wanted is what was proposed, in one line.
	Wanted string `json:"wanted"`
	// Who says in one sentence who or what refused it, when, and for how long.
	Who string `json:"who"`
	// Why is the denial's reason.
	Why string `json:"why"`
	// Rule is the guard rule, if the guard denied.
	Rule string `json:"rule,omitempty"`
	// Scores are what the judges gave the call, if a judge denied; the last is from the
	// judge that rejected it.
	Scores []Score `json:"scores,omitempty"`
	// Words are the person's, if a person denied.
	Words string `json:"words,omitempty"`
	// Standing is the denial that answers the call, if a person denied.
	Standing *Standing `json:"standing,omitempty"`
	// Alternatives say what can be done instead.
	Alternatives []string `json:"alternatives"`
	// Allow says whether and when this call may be asked again, or how it can be allowed;
	// empty if it cannot.
	Allow string `json:"allow,omitempty"`
}

// Score is what one judge gave a call, and what a call needs to pass that judge, in [0,1].
type Score struct {
	Judge string  `json:"judge"`
	Score float64 `json:"score"`
	// Confidence is the judge's confidence in its own score.
	Confidence float64 `json:"confidence,omitzero"`
	// MinScore and MinConfidence are the least that this judge must give a call.
	MinScore      float64 `json:"min_score,omitzero"`
	MinConfidence float64 `json:"min_confidence,omitzero"`
}

// The largest lengths of a refusal's texts, in characters.
const (
	maxWanted      = 600
	maxReasoning   = 1000
	maxReason      = 300
	maxAlternative = 300
	maxName        = 100
)

// Refuse explains a verdict that is not an approval. A guard denial is final. A judge's
// denial is not final while a person may be asked. Everything else, including a verdict
// that makes no sense, is refused as final.
func Refuse(p vaglio.Proposal, v vaglio.Verdict) Refusal {
	r := Refusal{Phase: v.BlockedBy, Wanted: Wanted(p)}
	switch {
	case v.BlockedBy == vaglio.PhaseGuard:
		r.Final, r.Who, r.Why, r.Alternatives = true, "The guard refused it for good: nobody can allow it.", guardWhy(v), guardInstead(v)
		if v.Rule != nil {
			r.Rule = clip(v.Rule.ID, maxName)
			where := ""
			if v.Rule.File != "" {
				where = fmt.Sprintf(", for what stands in %s, line %d", oneLine(clip(v.Rule.File, maxName)), v.Rule.Line)
			}
			r.Who = "The guard refused it for good, by its rule " + oneLine(r.Rule) + where + ": nobody can allow it."
		}
	case askable(v) && slices.Contains(p.Context.Concerns, vaglio.ConcernFinal):
		r.Final, r.Who, r.Why, r.Scores = true, "The client's own gate refused it for good.", judgeWhy(v), scores(v)
		r.Alternatives = []string{"Tell the user that their own client refused this call."}
	case askable(v):
		r.Who = "The judge " + oneLine(clip(v.JudgeKind, maxName)) + " held it back."
		r.Why, r.Scores, r.Alternatives = judgeWhy(v), scores(v), judgeInstead(v)
		r.Allow = "A person is asked, and may allow exactly this call, once. Wait for the answer."
	default:
		r.Final, r.Who, r.Why = true, "It could not be judged.", "The verdict is not one that lets a call run: "+quote(v.Reason, maxReason)+"."
		r.Alternatives = []string{"Tell the user that this call could not be judged."}
	}
	return r
}

// Wanted is the call in one line: the executor, and its arguments by weight, as many as there is
// room for. Invisible characters are JSON-escaped.
func Wanted(p vaglio.Proposal) string {
	name := p.Executor
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		name = quoted
	}
	name = clip(name, maxName)
	if p.Args == nil {
		return name + " {}"
	}
	line, ok := argsLine(p.Args, maxWanted-utf8.RuneCountInString(name)-1)
	if !ok {
		line = "with arguments that cannot be written as JSON"
	}
	return name + " " + line
}

// escapeUnseen JSON-escapes every character that is not printable, so that the text stays
// the same JSON.
func escapeUnseen(s string) string {
	clean := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.IndexFunc(s, clean) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// guardWhy returns what the rule is for. Its pattern stays in the verdict, where it need
// not be quoted within a text.
func guardWhy(v vaglio.Verdict) string {
	if v.Rule != nil && v.Rule.Why != "" {
		return clip(v.Rule.Why, maxReasoning)
	}
	return clip(v.Reason, maxReason)
}

func guardInstead(v vaglio.Verdict) []string {
	instead := "Reach the goal in a way that does not touch what the guard protects."
	if v.Rule != nil && v.Rule.Instead != "" {
		instead = clip(v.Rule.Instead, maxAlternative)
	}
	return []string{
		instead,
		"Do not repeat the call in another spelling: the guard has no exceptions. Tell the user that it was refused.",
	}
}

// judgeWhy returns the judge's reasoning as a quotation: a judge's text is evidence, never
// an instruction. The scores are separate.
func judgeWhy(v vaglio.Verdict) string {
	reasoning := v.Reason
	g := Rejecting(v)
	if g != nil && g.Reasoning != "" {
		reasoning = g.Reasoning
	}
	switch {
	case g != nil && g.Fault != "":
		return "The judge gave no verdict: " + quote(reasoning, maxReasoning)
	case reasoning == "":
		return "The judge gave no reason."
	case g != nil && g.Score >= g.MinScore && g.Confidence < g.MinConfidence:
		return "The judge was not sure enough of it: " + quote(reasoning, maxReasoning)
	}
	return "The judge said: " + quote(reasoning, maxReasoning)
}

// judgeInstead returns suggestions based on the rejecting judge's worst signals.
func judgeInstead(v vaglio.Verdict) []string {
	var instead []string
	if g := Rejecting(v); g != nil {
		signals := slices.Clone(g.Signals)
		slices.SortStableFunc(signals, func(a, b vaglio.Signal) int { return cmp.Compare(a.Score, b.Score) })
		for _, s := range signals {
			hint := effectInstead(s.Category)
			if hint != "" && !slices.Contains(instead, hint) && len(instead) < 2 {
				instead = append(instead, hint)
			}
		}
	}
	return append(instead,
		"Propose a narrower call that does only what the user asked for.",
		"Go on with what does not need this call. Do not try it in another spelling meanwhile.")
}

// AfterDecision explains an approval that does not, or no longer, let its call run. It
// keeps apart what a person decided and what nobody did.
func AfterDecision(a Approval) Refusal {
	r := a.Refusal
	r.Ran, r.Final, r.Words, r.Allow, r.Standing = false, false, "", "", nil
	switch a.State {
	case Denied:
		a.denied(&r)
	case Expired:
		r.Who = "Nobody answered in time. That is neither a denial by a person nor permission."
		r.Alternatives = fewer(r.Alternatives, "Tell the user that the call still needs an answer.", "Go on with what does not need it.")
		r.Allow = "Propose it again, under a new step or idempotency key, when somebody can answer."
	case Withdrawn:
		r.Who = "The agent withdrew it, or its turn ended, before anybody answered."
		r.Alternatives = fewer(r.Alternatives, "Go on without the call.")
		r.Allow = "Propose it again, under a new step or idempotency key, if it is still needed."
	case Superseded:
		r.Who = "A changed call under the same idempotency key took its place before anybody answered."
		r.Alternatives = []string{"Wait for the answer to the newer call.", "Use a new idempotency key for a new call."}
	case Lapsed:
		r.Who = "A person allowed it, but the permit was not redeemed in time and is void."
		if p := a.Permit; p != nil && p.Revoked != nil {
			r.Who = "A person allowed it, and took the permit back " + clock(p.Revoked.At) + " before it was used."
		}
		r.Alternatives = fewer(r.Alternatives, "Go on without the call.")
		r.Allow = "Propose it again, under a new step or idempotency key, and redeem the permit as soon as it is there."
	case Spent, Succeeded, Failed, Unknown:
		r.Who = spentWhy(a)
		r.Alternatives = []string{"Check what the first run did before anything else.", "Propose the call again, under a new idempotency key, if it must run again."}
	case Pending, Allowed:
	}
	return r
}

// denied explains a person's denial, and how long it stands.
func (a *Approval) denied(r *Refusal) {
	r.Who = "A person denied it."
	r.Allow = "It may be asked again, under a new step or idempotency key, when something has changed."
	d := a.Decision
	if d == nil || d.Words == "" {
		r.Alternatives = fewer(r.Alternatives, "Ask the user what to do instead.")
	} else {
		r.Alternatives = fewer(r.Alternatives, "Do what the person's words say.")
	}
	if d == nil {
		return
	}
	r.Words, r.Standing = d.Words, &Standing{At: d.At}
	r.Who = "A person denied it " + clock(d.At) + "."
	if a.Edit != nil {
		r.Who = "A person changed it " + clock(d.At) + ": it is denied in the form in which it was proposed."
		r.Alternatives = []string{"Go on with the changed call.", "Ask the user if it is not known any more."}
	}
	if d.Brake {
		r.Who = "A person stopped the agent " + clock(d.At) + ": nothing that needs a person is allowed meanwhile."
		r.Allow = "It may be asked again when the person lets the agent go on."
		r.Alternatives = []string{"Go on with what needs nobody, or end the turn and tell the user."}
		return
	}
	if a.Answers(d.At) {
		r.Standing.Until = a.StandsUntil
		what := "The same call, in any spelling,"
		if a.Kind != nil {
			r.Standing.Kind, what = a.Kind, "Every call of this kind ("+a.Kind.line()+")"
		}
		r.Allow = what + " gets this answer until " + clockOf(a.StandsUntil) + ", unless the person lifts it."
	}
}

// Repeated explains a call that would do what a person denied a while ago, or that is of a
// kind they denied: what is wanted now, what was denied then, and until when that stands.
// same says whether it would do the same.
func Repeated(a Approval, p vaglio.Proposal, same bool) Refusal {
	r := AfterDecision(a)
	now := Wanted(p)
	if r.Standing != nil && now != r.Wanted {
		r.Standing.Wanted = r.Wanted
		what := "the same thing"
		if !same && a.Kind != nil {
			what = "everything of this kind"
		}
		r.Who = "A person denied " + what + " " + clock(r.Standing.At) + ", as " + oneLine(clip(r.Wanted, maxEarlier)) + "."
	}
	r.Wanted = now
	return r
}

// line names a kind in a sentence for an agent.
func (k *CallKind) line() string {
	return oneLine(clip(k.Verb, maxKind) + " in " + clip(k.System, maxKind))
}

// maxKind is the number of characters that a sentence holds of each word of a kind.
const maxKind = 40

// maxEarlier is the number of characters that a sentence about an earlier call holds of it.
const maxEarlier = 140

// clock returns a time for use in a sentence for an agent.
func clock(t time.Time) string { return "at " + clockOf(t) }

func clockOf(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// fewer returns the first of the earlier sentences followed by the new ones, without
// duplicates.
func fewer(before []string, anew ...string) []string {
	var out []string
	for _, s := range append(slices.Clone(before[:min(len(before), 1)]), anew...) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// spentWhy explains why the call is refused to an agent that asks again for what it already
// ran.
func spentWhy(a Approval) string {
	how := "how that run ended is not known yet"
	switch a.State {
	case Succeeded:
		how = "that run was reported to have worked"
	case Failed:
		how = "that run was reported to have failed"
	case Unknown:
		how = "how that run ended was never reported: it may have worked, wholly or in part"
	default:
	}
	return "A person allowed it once and its permit is spent; " + how + "."
}

// maxText is the largest length of [Refusal.Text], in characters: agents skim longer texts,
// and some clients cut them.
const maxText = 900

// Text returns the refusal as plain text for an agent, at most 900 characters: what was
// wanted, that it did not run, who refused it, the person's words, why, what can be done
// instead, and whether it may be asked again. Text from others appears as single-line
// quotations and is shortened before our own; the structure has all of it.
func (r Refusal) Text() string {
	var text string
	for _, most := range []struct{ wanted, why, instead, words int }{{300, 300, 3, 500}, {200, 200, 3, 300}, {120, 140, 3, 200}, {80, 100, 2, 160}, {60, 60, 1, 120}} {
		if text = r.text(most.wanted, most.why, most.instead, most.words); utf8.RuneCountInString(text) <= maxText {
			return text
		}
	}
	return clip(text, maxText)
}

// text returns the refusal with the given limits, in characters, on text from others.
func (r Refusal) text(wanted, why, instead, words int) string {
	var b strings.Builder
	b.WriteString("vaglio: this call did not run.\n")
	b.WriteString("Wanted: " + visible.Text(oneLine(clip(r.Wanted, wanted))) + "\n")
	b.WriteString(oneLine(clip(cmp.Or(r.Who, r.otherwise()), 2*maxReason)) + "\n")
	if r.Words != "" {
		b.WriteString("The person's words: " + clip(quote(r.Words, words), 2*words) + "\n")
	}
	if r.Why != "" {
		b.WriteString("Why: " + clip(oneLine(r.Why), why) + "\n")
	}
	if len(r.Alternatives) > 0 {
		b.WriteString("What can be done instead:\n")
	}
	for _, alternative := range r.Alternatives[:min(len(r.Alternatives), instead)] {
		b.WriteString("- " + oneLine(clip(alternative, maxAlternative)) + "\n")
	}
	switch {
	case r.Allow != "":
		b.WriteString(oneLine(clip(r.Allow, maxAlternative)))
	case r.Final && r.Phase != vaglio.PhaseGuard: // The guard's own alternatives say so.
		b.WriteString("Do not propose it again, in any spelling.")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// otherwise says who refused the call if an older record does not.
func (r Refusal) otherwise() string {
	switch {
	case r.Phase == vaglio.PhaseGuard:
		return "The guard refused it for good: nobody can allow it."
	case r.Final:
		return "It was refused for good."
	default:
		return "It is not allowed so far."
	}
}
