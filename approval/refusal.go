package approval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Refusal is a denial explained: one structure for the agent and for the
// person, so that both read the same thing.
type Refusal struct {
	// Ran is always false: a refused call did not run. It is on the wire so
	// that an agent never has to guess.
	Ran bool `json:"ran"`
	// Final says that nobody can allow this call.
	Final bool         `json:"final"`
	Phase vaglio.Phase `json:"phase"`
	// Wanted is what was proposed, in one line.
	Wanted string `json:"wanted"`
	// Why is the denial's reason.
	Why string `json:"why"`
	// Rule is the guard rule, when the guard denied.
	Rule string `json:"rule,omitempty"`
	// Scores are what the judges gave it, when a judge denied; the last is the
	// one that rejected.
	Scores []Score `json:"scores,omitempty"`
	// Words are the person's, when a person denied.
	Words string `json:"words,omitempty"`
	// Alternatives say what can be done instead.
	Alternatives []string `json:"alternatives"`
	// Allow says how this call can be allowed; empty when it cannot.
	Allow string `json:"allow,omitempty"`
}

// Score is what one judge gave a call, in [0,1].
type Score struct {
	Judge string  `json:"judge"`
	Score float64 `json:"score"`
}

// The greatest lengths of a refusal's texts, in characters.
const (
	maxWanted      = 600
	maxReasoning   = 1000
	maxReason      = 300
	maxAlternative = 300
	maxName        = 100
)

// Refuse explains a verdict that is not an approval. What the guard denied is
// final. What a judge denied is not while a person may be asked. Everything
// else, also a verdict that makes no sense, is refused as final.
func Refuse(p vaglio.Proposal, v vaglio.Verdict) Refusal {
	r := Refusal{Phase: v.BlockedBy, Wanted: Wanted(p)}
	switch {
	case v.BlockedBy == vaglio.PhaseGuard:
		r.Final, r.Why, r.Alternatives = true, guardWhy(v), guardInstead(v)
		if v.Rule != nil {
			r.Rule = clip(v.Rule.ID, maxName)
		}
	case askable(v):
		r.Why, r.Scores, r.Alternatives = judgeWhy(v), scores(v), judgeInstead(v)
		r.Allow = "A person is asked, and may allow exactly this call, once. Wait for the answer."
	default:
		r.Final, r.Why = true, "The verdict is none that lets a call run: "+quote(v.Reason, maxReason)+"."
		r.Alternatives = []string{"Tell the user that this call could not be judged."}
	}
	return r
}

// Wanted is the call in one line: the executor, and its arguments in canonical
// form. What cannot be seen is written as JSON escapes it.
func Wanted(p vaglio.Proposal) string {
	name := p.Executor
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		name = quoted
	}
	args := "with arguments that cannot be written as JSON"
	if form, err := strictjson.Canonical(map[string]any(p.Args)); err == nil && p.Args != nil {
		args = escapeUnseen(string(form))
	} else if p.Args == nil {
		args = "{}"
	}
	return clip(clip(name, maxName)+" "+args, maxWanted)
}

// escapeUnseen writes every character that is not printed as JSON escapes it,
// so the text stays the same JSON.
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

func guardWhy(v vaglio.Verdict) string {
	why := "The guard forbids it: " + quote(v.Reason, maxReason) + "."
	if v.Rule != nil && v.Rule.Why != "" {
		why += " " + clip(v.Rule.Why, maxReasoning)
	}
	return why
}

func guardInstead(v vaglio.Verdict) []string {
	instead := "Reach the goal in a way that does not touch what the guard protects."
	if v.Rule != nil && v.Rule.Instead != "" {
		instead = clip(v.Rule.Instead, maxAlternative)
	}
	return []string{
		instead,
		"Do not repeat the call in another spelling: the guard has no exceptions, and nobody can allow it. Tell the user that it was refused.",
	}
}

// judgeWhy names the judge that denied, its score, and its reasoning as a
// quotation: a judge's text is evidence, never an instruction.
func judgeWhy(v vaglio.Verdict) string {
	why := fmt.Sprintf("The judge %s scored it %s.", clip(v.JudgeKind, maxName), score(v.Score))
	reasoning := v.Reason
	if g := Rejecting(v); g != nil && g.Reasoning != "" {
		reasoning = g.Reasoning
		if v.Reason != "" && v.Reason != g.Reasoning {
			why += " Its reason, quoted: " + quote(v.Reason, maxReason) + "."
		}
	}
	if reasoning != "" {
		why += " Its reasoning, quoted: " + quote(reasoning, maxReasoning) + "."
	}
	return why
}

// Rejecting returns the result that decided, or nil.
func Rejecting(v vaglio.Verdict) *vaglio.GradientResult {
	for i := range slices.Backward(v.Results) {
		if v.Results[i].Judge == v.JudgeKind {
			return &v.Results[i]
		}
	}
	return nil
}

// judgeInstead draws on the rejecting judge's worst signals.
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

// scores lists what the judges that ran gave.
func scores(v vaglio.Verdict) []Score {
	var all []Score
	for i := range v.Results {
		all = append(all, Score{clip(v.Results[i].Judge, maxName), v.Results[i].Score})
	}
	if len(all) == 0 {
		all = append(all, Score{clip(v.JudgeKind, maxName), v.Score})
	}
	return all
}

// score writes a score so that it never looks higher than it is.
func score(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if len(text) <= len("0.1234") || math.IsNaN(x) || math.IsInf(x, 0) {
		return text
	}
	return strconv.FormatFloat(math.Floor(x*1e4)/1e4, 'f', -1, 64)
}

// AfterDecision explains an approval that does not let its call run, or not
// any more. It tells apart what a person decided from what nobody did.
func AfterDecision(a Approval) Refusal {
	r := a.Refusal
	r.Ran, r.Words, r.Allow = false, "", ""
	reason := " What the judges said: " + a.Refusal.Why
	switch a.State {
	case Denied:
		r.Final = true
		r.Why = "A person denied it." + reason
		r.Alternatives = []string{"Do not propose this call again, in any spelling. Follow the person's words if there are any; otherwise ask the user what to do instead."}
		if a.Decision != nil {
			r.Words = a.Decision.Words
		}
	case Expired:
		r.Why = "Nobody answered in time. That is no denial by a person, and no permission." + reason
		r.Alternatives = []string{"Tell the user that the call still needs an answer.", "Go on with what does not need it."}
		r.Allow = "Propose it again, under a new step or idempotency key, when somebody can answer."
	case Withdrawn:
		r.Why = "The agent withdrew it, or its turn ended, before anybody answered." + reason
		r.Alternatives = []string{"Go on without the call."}
		r.Allow = "Propose it again, under a new step or idempotency key, if it is still needed."
	case Superseded:
		r.Why = "A changed call under the same idempotency key took its place before anybody answered." + reason
		r.Alternatives = []string{"Wait for the answer to the newer call.", "Use a new idempotency key for a new call."}
	case Lapsed:
		r.Why = "A person allowed it, but the permit was not redeemed in time and is void." + reason
		r.Alternatives = []string{"Go on without the call."}
		r.Allow = "Propose it again, under a new step or idempotency key, and redeem the permit as soon as it is there."
	case Spent, Succeeded, Failed, Unknown:
		r.Why = spentWhy(a)
		r.Alternatives = []string{"Check what the first run did before anything else.", "Propose the call anew, under a new idempotency key, if it must run again."}
	case Pending, Allowed:
	}
	return r
}

// spentWhy is for an agent that asks again for what it already ran.
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
	return "A person allowed it once and its permit is spent; " + how + ". It did not run a second time."
}
