package approval

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// effectInstead suggests what to do instead of a call with the effect, named as the effects
// judge names it. It is empty for any other category.
func effectInstead(category string) string {
	return map[string]string{
		"read":             "Read only what the task needs, or ask the user for it.",
		"create":           "Create it inside the workspace, or show the user what would be created.",
		"overwrite":        "Write to a new file instead of replacing one, or keep a copy of the old one beside it.",
		"delete":           "Move what would be deleted into a folder of its own, or name exactly what to delete.",
		"move":             "Copy it instead of moving it, and leave the original where it is.",
		"run-foreign-code": "Download it first and show the user what would run.",
		"install":          "Install it inside the project, at a fixed version, instead of into the system.",
		"send":             "Prepare the message as a draft and let the user send it.",
		"publish":          "Prepare it locally, on a branch or as a draft, and let the user publish it.",
		"infrastructure":   "Make the plan only (a dry run or a diff), and let the user apply it.",
		"database":         "Read instead, or write the statement down inside a transaction that is rolled back, and let the user run it.",
		"privilege":        "Do it without raised privileges, or ask the user to do that step.",
		"permissions":      "Change the permissions of the one file that needs it, and no further than it needs.",
		"credentials":      "Do without the secret, or ask the user to put it where the tool looks for it.",
		"spend":            "Work out what it costs, and let the user pay.",
		"schedule":         "Run it once now, or show the user the entry that would run by itself.",
		"safeguard-off":    "Leave the safeguard on, and solve what it complains about.",
		"kill":             "Stop only what you started yourself, by its id.",
		"power":            "Ask the user to restart or switch off the machine.",
		"physical":         "Tell the user what to do to the device, and let them do it.",
		"people":           "Write down what would be said, and let the user say it.",
		"unknown":          "Say it in a plainer call whose effect can be read: no eval, no generated code.",
		"unread":           "Say it in a plainer call whose effect can be read: no eval, no generated code.",
	}[category]
}

// Reason is the worst that a judge said about a call: what channels tell a person first.
type Reason struct {
	// Effect is the category of the worst signal; empty without signals.
	Effect string
	// Reversibility and Reach are the effects judge's words for whether it can be undone
	// and whom it touches; empty if unknown.
	Reversibility, Reach string
	// Message says it in the judge's own words.
	Message string
	// Said is the message as data, if the judge provides it.
	Said wording.Sentence
}

// ReasonOf returns the worst that the rejecting judge said.
func ReasonOf(v vaglio.Verdict) Reason {
	r := Reason{Message: v.Reason}
	g := Rejecting(v)
	if g == nil {
		return r
	}
	if g.Reasoning != "" {
		r.Message, r.Said = g.Reasoning, ReasoningOf(*g)
	}
	worst := -1
	for i := range g.Signals {
		if worst < 0 || g.Signals[i].Score < g.Signals[worst].Score {
			worst = i
		}
	}
	if worst < 0 {
		return r
	}
	message, said := r.Message, r.Said
	r = SignalOf(*g, worst)
	r.Message, r.Said = message, said
	return r
}

// ReasoningOf returns a judge's reasoning as data, if a signal says the same.
func ReasoningOf(g vaglio.GradientResult) wording.Sentence {
	for i := range g.Signals {
		if g.Signals[i].Message == g.Reasoning {
			return g.Signals[i].Said
		}
	}
	return nil
}

// SignalOf returns what a judge's signal says, along with what the effects judge knows
// about it.
func SignalOf(g vaglio.GradientResult, i int) Reason {
	r := Reason{Effect: g.Signals[i].Category, Message: g.Signals[i].Message, Said: g.Signals[i].Said}
	if effects, ok := g.Metadata["effects"].([]any); ok && i < len(effects) {
		if e, ok := effects[i].(map[string]any); ok && e["kind"] == r.Effect {
			r.Reversibility, _ = e["reversibility"].(string)
			r.Reach, _ = e["reach"].(string)
		}
	}
	return r
}

// Rejecting returns the result that decided the verdict, or nil.
func Rejecting(v vaglio.Verdict) *vaglio.GradientResult {
	for i := range slices.Backward(v.Results) {
		if v.Results[i].Judge == v.JudgeKind {
			return &v.Results[i]
		}
	}
	return nil
}

// scores lists the scores of the judges that ran.
func scores(v vaglio.Verdict) []Score {
	var all []Score
	for i := range v.Results {
		g := &v.Results[i]
		all = append(all, Score{clip(g.Judge, maxName), trimmed(g.Score), g.Confidence, g.MinScore, g.MinConfidence})
	}
	if len(all) == 0 {
		all = append(all, Score{Judge: clip(v.JudgeKind, maxName), Score: trimmed(v.Score)})
	}
	return all
}

// trimmed truncates a score to four digits; the verdict has all of them.
func trimmed(x float64) float64 {
	if len(strconv.FormatFloat(x, 'g', -1, 64)) <= len("0.1234") || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	return math.Floor(x*1e4) / 1e4
}

// Agreed returns the verdict on a call as people see it beneath the call's headline: whether
// all of it can be undone and whom it touches is said there, from everything that is known.
// If the effects judge assumed something else, its sentences do not say so.
func Agreed(v vaglio.Verdict, h headline.Headline) vaglio.Verdict {
	v.Results = slices.Clone(v.Results)
	for i := range v.Results {
		if g := &v.Results[i]; !agrees(g, &h.Consequence) {
			*g = withoutConsequence(*g)
		}
	}
	return v
}

// agrees reports whether what a judge says of the parts of a call adds up to the consequence.
func agrees(g *vaglio.GradientResult, c *headline.Consequence) bool {
	grades := []operation.Reversibility{operation.Reversible, operation.Partial, operation.Irreversible}
	var undo, reach int
	for i := range g.Signals {
		if r := SignalOf(*g, i); tail(r.Said) >= 0 {
			undo = max(undo, slices.Index(grades, operation.Reversibility(r.Reversibility))+1)
			reach = max(reach, slices.Index(operation.Reaches(), operation.Reach(r.Reach))+1)
		}
	}
	said := slices.Index(grades, c.Undo) + 1
	if c.Unsure || c.Idle {
		said = 0
	}
	return undo == 0 || undo == said && reach == slices.Index(operation.Reaches(), c.Reach)+1
}

// tail returns the index at which a sentence of the effects judge begins to say what follows;
// -1 if it does not.
func tail(said wording.Sentence) int {
	return slices.IndexFunc(said, func(c wording.Clause) bool { return strings.HasPrefix(string(c.Phrase), "; it can") })
}

// withoutConsequence removes from what a judge says what follows from the call.
func withoutConsequence(g vaglio.GradientResult) vaglio.GradientResult {
	g.Signals, g.Metadata = slices.Clone(g.Signals), maps.Clone(g.Metadata)
	effects, _ := g.Metadata["effects"].([]any)
	effects = slices.Clone(effects)
	for i := range g.Signals {
		s := &g.Signals[i]
		at := tail(s.Said)
		if at < 0 {
			continue
		}
		reasoned := s.Message == g.Reasoning
		s.Said = slices.Delete(slices.Clone(s.Said), at, min(at+2, len(s.Said)))
		if s.Message, _ = s.Said.In(wording.English); reasoned {
			g.Reasoning = s.Message
		}
		if i >= len(effects) {
			continue
		}
		if e, ok := effects[i].(map[string]any); ok {
			e = maps.Clone(e)
			delete(e, "reversibility")
			delete(e, "reach")
			effects[i] = e
		}
	}
	g.Metadata["effects"] = effects
	return g
}
