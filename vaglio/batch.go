package vaglio

import (
	"cmp"
	"context"
	"slices"

	"github.com/metnos/vaglio/vaglio/reading"
)

// A batch is a call that makes others. Each of them is judged as if it came alone, after the ones
// before it, and the batch as the worst of them.

// Calls returns what a batch would call, each in the circumstances of the batch; nil if the call is
// none, or holds anything that is no such call.
func (p *Proposal) Calls() []Proposal {
	nested := reading.Batch(p.Executor, p.Args)
	if nested == nil {
		return nil
	}
	all := make([]Proposal, len(nested))
	for i, n := range nested {
		all[i] = *p
		all[i].Executor, all[i].Args = n.Executor, n.Args
		all[i].Context.Known, all[i].Context.Reading = nil, nil
	}
	return all
}

// batch judges the calls of a batch, whose own reading the guard has passed. Nobody knows in which
// order they would run, so if some put something somewhere, both orders count. clash says that one
// of them may run what another puts there, which cannot be told in advance.
func (e *Engine) batch(ctx context.Context, calls []Proposal, size int) (all Verdict, logged string, clash bool, err error) {
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	did, runs := make([]Facts, len(calls)), make([][]Source, len(calls))
	for round := range 2 {
		known := slices.Clip(calls[0].Facts)
		for _, i := range order {
			c := calls[i]
			if err := e.catalog.Check(c.Executor, c.Args, c.Context.Cwd); err != nil {
				return Verdict{}, "", false, err //nolint:wrapcheck // as of a call alone
			}
			c.Facts = known
			v, said, _, err := e.decide(ctx, c, size)
			if err != nil {
				return Verdict{}, "", false, err
			}
			if known = slices.Concat(known, v.Did); round == 0 {
				did[i], runs[i] = v.Did, v.Sources
			}
			if first := all.TS == 0; first || v.worse(&all) {
				all, logged = v.over(all), said
			} else if round == 0 {
				all = all.over(v)
			}
		}
		if len(calls) == 1 || !slices.ContainsFunc(slices.Concat(did...), func(f Fact) bool { return f.puts() }) {
			break
		}
		slices.Reverse(order)
	}
	all.Did = slices.Concat(did...)
	return all, logged, clashing(did, runs), nil
}

// clashing reports whether one call puts something where another one finds what it runs.
func clashing(did []Facts, runs [][]Source) bool {
	for i := range did {
		for j := range runs {
			if i != j && slices.ContainsFunc(did[i], func(f Fact) bool {
				return f.puts() && slices.ContainsFunc(runs[j], func(s Source) bool { return s.Kind == "" && isBelow(f.Path, s.Path) })
			}) {
				return true
			}
		}
	}
	return false
}

// worse reports whether a verdict counts before another one of the same batch.
func (v *Verdict) worse(than *Verdict) bool {
	rank := func(v *Verdict) int {
		switch {
		case v.Approved:
			return 0
		case v.BlockedBy != PhaseGuard:
			return 1
		default:
			return 2
		}
	}
	if a, b := rank(v), rank(than); a != b {
		return a > b
	}
	return v.Score < than.Score
}

// over returns a verdict to which the findings behind another one were added.
func (v Verdict) over(less Verdict) Verdict {
	v.Results = slices.Clone(v.Results)
	for _, r := range less.Results {
		at := slices.IndexFunc(v.Results, func(known GradientResult) bool { return known.Judge == r.Judge })
		if at < 0 || v.BlockedBy == PhaseGuard {
			continue
		}
		of := &v.Results[at]
		if r.Score < of.Score {
			*of, r = r, *of
		}
		*of = of.with(r)
	}
	return v
}

// maxMerged limits the signals of a batch.
const maxMerged = 20

// with returns a result with the signals of another one of the same judge, the worst first. Effects
// belong to signals by their order, so signals without one stay at the end.
func (r GradientResult) with(less GradientResult) GradientResult {
	mine, rest := r.findings()
	theirs, _ := less.findings()
	all := slices.Concat(mine, theirs)
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(a.Score, b.Score) })
	all = all[:min(len(all), maxMerged)]
	r.Did, r.Signals = nil, nil
	var effects []any
	for _, f := range all {
		r.Signals, effects = append(r.Signals, f.Signal), append(effects, f.effect)
	}
	if r.Signals = append(r.Signals, rest...); effects != nil {
		r.Metadata = Args{effectsKey: effects}
	}
	return r
}

// effectsKey is where a result's metadata has the effects behind its signals.
const effectsKey = "effects"

// finding is a signal and the effect behind it.
type finding struct {
	Signal
	effect any
}

// findings returns the signals with effects, and the rest.
func (r *GradientResult) findings() (all []finding, rest []Signal) {
	effects, _ := r.Metadata[effectsKey].([]any)
	n := min(len(effects), len(r.Signals))
	for i, s := range r.Signals[:n] {
		all = append(all, finding{s, effects[i]})
	}
	return all, r.Signals[n:]
}
