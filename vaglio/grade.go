package vaglio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// longestNotes limits how many runes of a judge's reasoning go into a verdict's reason. The
// results keep the whole text.
const longestNotes = 300

// grade asks the judges in order. The first that rejects decides. If that is the very first
// one, the others are still asked, for their reasoning only. logged is the verdict's reason
// as the audit log may hold it.
func (e *Engine) grade(ctx context.Context, call known, size int) (v Verdict, logged string, err error) {
	if call.skip {
		const skipped = "approved: score 1.00 (judges are skipped for this executor)"
		if e.meter != nil {
			e.meter.Skipped(call.proposal.Executor)
		}
		return Verdict{Approved: true, TS: now(), JudgeKind: e.kind, Score: 1, Reason: skipped}, skipped, nil
	}
	gates := e.gatesOf(call.proposal)
	v.Results = make([]GradientResult, 0, len(gates))
	for i, g := range gates {
		kind := g.Judge.Kind()
		result, fault, err := e.ask(ctx, g, call.proposal, size)
		if err == nil && g.Instead != nil && result.Fault == FaultInstead {
			// The budget is spent, and the policy names another judge to answer, under its
			// own name and with its own limits.
			g = *g.Instead
			result, fault, err = e.ask(ctx, g, call.proposal, size)
		}
		if err != nil {
			return Verdict{}, "", err
		}
		v.Results = append(v.Results, result)
		noted := notes(result)
		if why := rejection(g, result, fault, noted); why != "" {
			v.TS, v.JudgeKind, v.Score = now(), g.Judge.Kind(), result.Score
			v.Approved, v.BlockedBy, v.Reason = false, PhaseJudge, why
			if fault == "" {
				v.Results, err = e.words(ctx, v.Results, gates[i+1:], call.proposal, size)
			}
			return v, rejection(g, result, fault, g.discreetly(result, noted)), err
		}
		if kind == e.kind && !v.Approved {
			v.Approved, v.JudgeKind, v.Score = true, g.Judge.Kind(), result.Score
			v.Reason, logged = g.approved(result, noted)
		}
	}
	v.TS = now()
	return v, logged, nil
}

// words adds the results of the other judges if the first judge of all rejected the call: its
// score alone gives a person no reason. They decide nothing any more, so judges with a
// timeout, which ask somebody else, are left out.
func (e *Engine) words(ctx context.Context, results []GradientResult, gates []Gate, p Proposal, size int) ([]GradientResult, error) {
	if len(results) > 1 {
		return results, nil
	}
	for _, g := range gates {
		if g.Timeout > 0 {
			continue
		}
		result, fault, err := e.ask(ctx, g, p, size)
		if err != nil {
			return nil, err
		}
		if fault == "" {
			results = append(results, result)
		}
	}
	return results, nil
}

// gatesOf returns the judges that a call must pass. If the call has concerns, a person is
// asked in any case.
func (e *Engine) gatesOf(p Proposal) []Gate {
	if len(p.Context.Concerns) > 0 {
		return []Gate{{Judge: concerned{}, MinScore: 1, Discreet: p.Context.Refusal == ""}}
	}
	return e.gates
}

// approved returns the reason of an approval, and as the audit log may hold it. noted is the
// judge's reasoning.
func (g Gate) approved(r GradientResult, noted string) (reason, logged string) {
	text := func(why string) string { return "approved: score " + two(r.Score) + " (" + why + ")" }
	if reason = text(noted); g.Discreet {
		return reason, reason
	}
	return reason, text(g.discreetly(r, noted))
}

// rejection says why a result does not pass its gate, or "" if it does. noted is the judge's
// reasoning.
func rejection(g Gate, r GradientResult, fault, noted string) string {
	switch {
	case fault != "":
		return "judge: no verdict from " + g.Judge.Kind() + ": " + fault
	case r.Score < g.MinScore:
		return "judge: score " + two(r.Score) + " < threshold " + two(g.MinScore) + " (" + noted + ")"
	case r.Confidence < g.MinConfidence:
		return "judge: confidence " + two(r.Confidence) + " < threshold " + two(g.MinConfidence) + " (" + noted + ")"
	default:
		return ""
	}
}

// discreetly returns what the audit log may hold of a judge's answer: its reasoning, which is
// noted, if the judge is discreet, or else the categories of its signals.
func (g Gate) discreetly(r GradientResult, noted string) string {
	if g.Discreet {
		return noted
	}
	const most = 8
	var about []string
	for _, s := range r.Signals {
		if isWord(s.Category) && !slices.Contains(about, s.Category) && len(about) < most {
			about = append(about, s.Category)
		}
	}
	if len(about) == 0 {
		return "said in the turn log"
	}
	return strings.Join(about, ", ")
}

// isWord reports whether a category looks like a short word of a fixed vocabulary. A model
// that is asked for a category may answer with anything.
func isWord(category string) bool {
	odd := func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') }
	return category != "" && len(category) <= 32 && !strings.ContainsFunc(category, odd)
}

// ask gets one judge's result, or the fault that kept the judge from giving one. It returns
// an error only if the caller's ctx has ended.
func (e *Engine) ask(ctx context.Context, g Gate, p Proposal, size int) (r GradientResult, fault string, err error) {
	if err := ctx.Err(); err != nil {
		return r, "", err
	}
	if g.Reads {
		done, err := e.turns.take(ctx, size)
		if err != nil {
			return r, "", err
		}
		defer done()
	}
	mine, cancel := ctx, func() {}
	if g.Timeout > 0 {
		mine, cancel = context.WithTimeout(ctx, g.Timeout)
	}
	defer cancel()
	r, cause := call(mine, g.Judge, p)
	if err := ctx.Err(); err != nil {
		return GradientResult{}, "", err
	}
	fault, class := faultOf(r, cause, mine.Err() != nil)
	if fault != "" {
		e.faulted(ctx, g.Judge.Kind(), fault, class, cause)
		r = GradientResult{Reasoning: fault, Judgement: r.Judgement}
	}
	r.Fault, r.Network = class, g.Network // never the judge's own claims
	r.Judge, r.MinScore, r.MinConfidence = g.Judge.Kind(), g.MinScore, g.MinConfidence
	return r, fault, nil
}

// faulted logs and counts that a judge gave no verdict.
func (e *Engine) faulted(ctx context.Context, judge, fault string, class Fault, cause error) {
	e.logger.LogAttrs(ctx, slog.LevelWarn, "a judge gave no verdict",
		slog.String("judge", judge), slog.String("fault", fault), slog.Any("err", cause))
	if e.meter != nil {
		e.meter.Faulted(judge, string(class))
	}
}

// errPanicked is the cause if a judge panicked.
var errPanicked = errors.New("vaglio: the judge panicked")

// call asks a judge and turns a panic into an error.
func call(ctx context.Context, j Judge, p Proposal) (r GradientResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = GradientResult{}, fmt.Errorf("%w: %v", errPanicked, v)
		}
	}()
	return j.Grade(ctx, p)
}

// faultOf says what is wrong with an answer, and its fault class; "" if nothing is.
func faultOf(r GradientResult, cause error, late bool) (string, Fault) {
	if own, ok := errors.AsType[*JudgeError](cause); ok && own.Fault != "" {
		if own.Class == "" {
			own.Class = FaultFailed
		}
		return line(own.Fault), own.Class
	}
	switch {
	case late, errors.Is(cause, context.DeadlineExceeded):
		return "it did not answer in time", FaultTimeout
	case errors.Is(cause, context.Canceled):
		return "it was cancelled", FaultCancelled
	case errors.Is(cause, errPanicked):
		return "it crashed", FaultCrashed
	case cause != nil:
		return "it failed", FaultFailed
	case !isShare(r.Score):
		return "its score is not from 0 to 1", FaultRange
	case !isShare(r.Confidence):
		return "its confidence is not from 0 to 1", FaultRange
	default:
		return "", ""
	}
}

func notes(r GradientResult) string {
	if text := line(r.Reasoning); text != "" {
		return text
	}
	return "no reasoning given"
}

// line turns somebody else's text into a single line of bounded length.
func line(text string) string {
	plain := func(r rune) bool { return r != ' ' && (unicode.IsSpace(r) || !unicode.IsPrint(r)) }
	if strings.ContainsFunc(text, plain) {
		text = strings.Map(func(r rune) rune {
			if plain(r) {
				return ' '
			}
			return r
		}, text)
	}
	text = strings.TrimSpace(text)
	if len(text) <= longestNotes {
		return text
	}
	runes := []rune(text)
	if len(runes) <= longestNotes {
		return text
	}
	return string(runes[:longestNotes-1]) + "…"
}

// two formats a score with two decimals.
func two(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
