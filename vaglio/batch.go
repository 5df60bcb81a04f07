package vaglio

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/metnos/vaglio/vaglio/place"
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
// order they would run, so if some put something somewhere, both orders count. Nor does anybody know
// whether one shell runs them all, so a folder in which one call leaves its shell counts for the
// others, too. clash says that one of them may run or reach what another puts there, which cannot be
// told in advance.
func (e *Engine) batch(ctx context.Context, calls []Proposal, size int) (all Verdict, logged string, clash bool, err error) {
	order, b := make([]int, len(calls)), batched{e: e, calls: calls, size: size, did: make([]Facts, len(calls)), runs: make([][]Source, len(calls))}
	for i := range order {
		order[i], b.reads = i, append(b.reads, e.Read(calls[i]))
	}
	err = b.round(ctx, order)
	did := slices.Concat(b.did...)
	if err == nil && !b.denied() && len(calls) > 1 && slices.ContainsFunc(did, func(f Fact) bool { return f.puts() }) {
		slices.Reverse(order)
		b.again = true
		err = b.round(ctx, order)
	}
	if err != nil {
		return Verdict{}, "", false, err
	}
	b.all.Did = Facts(nil).add(time.Now(), did...)
	return b.all, b.logged, b.clash || clashing(b.did, b.runs) || leading(b.did, calls, b.reads), nil
}

// batched is a batch while its calls are judged.
type batched struct {
	e     *Engine
	calls []Proposal
	size  int
	reads []*reading.Reading
	did   []Facts
	runs  [][]Source
	again bool // they were judged before, in another order

	all    Verdict
	logged string
	clash  bool
}

// round judges the calls in an order.
func (b *batched) round(ctx context.Context, order []int) error {
	known := slices.Clip(b.calls[0].Facts)
	for _, i := range order {
		folders, told := foldersFor(i, b.calls[i].Context.Cwd, b.reads)
		b.clash = b.clash || !told
		for _, cwd := range folders {
			c := b.calls[i]
			c.Facts, c.Context.Cwd = known, cwd
			v, said, err := b.e.one(context.WithValue(ctx, batchedCall{}, i), c, b.size)
			if err != nil {
				return err
			}
			known = known.add(time.Now(), v.Did...)
			if b.judged(i, v, said); b.denied() {
				return nil
			}
		}
	}
	return nil
}

// denied reports whether the guard denies one of the calls, so that none of them will run.
func (b *batched) denied() bool { return b.all.BlockedBy == PhaseGuard }

// judged takes in the verdict on one of the calls.
func (b *batched) judged(call int, v Verdict, said string) { //nolint:gocritic // It is kept.
	if b.runs[call] = append(b.runs[call], v.Sources...); !b.again {
		b.did[call] = append(b.did[call], v.Did...)
	}
	switch {
	case b.all.TS == 0 || v.worse(&b.all):
		b.all, b.logged = v.over(b.all), said
	case !b.again:
		b.all = b.all.over(v)
	}
}

// one judges one call of a batch.
func (e *Engine) one(ctx context.Context, c Proposal, size int) (Verdict, string, error) { //nolint:gocritic // As decide has it.
	if err := e.catalog.Check(c.Executor, c.Args, c.Context.Cwd); err != nil {
		return Verdict{}, "", err //nolint:wrapcheck // as of a call alone
	}
	v, said, _, err := e.decide(ctx, c, size)
	return v, said, err
}

// maxTogether is how many commands the calls of a batch may run together: each of them is judged
// by what all of those before it did.
const maxTogether = 1000

func commandsIn(r *reading.Reading) (n int) {
	for i := range r.Commands {
		n += len(r.Commands[i].Script.Commands)
	}
	return n
}

// maxFolders is in how many folders one call of a batch is judged.
const maxFolders = 4

// foldersFor returns the folders in which a call of a batch may run: its own and, if it runs
// commands, those in which other calls leave the shell. It reports false if these are not all known.
func foldersFor(call int, own string, reads []*reading.Reading) (all []string, told bool) {
	all, told = []string{own}, true
	for i, r := range reads {
		if i == call || len(reads[call].Commands) == 0 {
			continue
		}
		for _, line := range r.Commands {
			at, known := line.Script.Ends.Text()
			if told = told && known; at != "" && !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	return all[:min(len(all), maxFolders)], told && len(all) <= maxFolders
}

// elsewhere binds what the calls of a batch run and name in the folders in which other calls of it
// leave their shell.
func (b *binding) elsewhere(p *Proposal) {
	calls := p.Calls()
	var reads []*reading.Reading
	for _, c := range calls {
		reads = append(reads, b.e.Read(c))
	}
	for i, c := range calls {
		folders, told := foldersFor(i, c.Context.Cwd, reads)
		b.full = b.full || !told
		for _, c.Context.Cwd = range folders[1:] {
			call, runs := b.e.call(c)
			b.runs(runs)
			b.call(call.Reading, c.Context.Cwd)
		}
	}
}

// runs binds the files that a call runs.
func (b *binding) runs(all []Source) {
	for _, s := range all {
		switch _, seen := b.seen[s.Path]; {
		case seen:
		case len(b.list) >= maxBound:
			b.full = true
		default:
			b.seen[s.Path], b.list = RegularFile, append(b.list, s)
		}
	}
}

// clashing reports whether one call puts something where another one finds what it runs.
func clashing(did []Facts, runs [][]Source) bool {
	return between(did, func(f Fact, j int) bool {
		return f.puts() && slices.ContainsFunc(runs[j], func(s Source) bool { return s.Kind == "" && isBelow(f.Path, s.Path) })
	})
}

// leading reports whether one call makes a link, or moves a folder to where another one names what is
// in it. What that is cannot be looked up before.
func leading(did []Facts, calls []Proposal, reads []*reading.Reading) bool {
	return between(did, func(f Fact, j int) (found bool) {
		reaches := func(cwd, name string) {
			at := place.Join(cwd, name)
			found = found || isBelow(f.Path, at) && (f.Link || at != f.Path)
		}
		if f.Deed == Moved {
			eachNamed(reads[j], reaches)
			for _, t := range reads[j].Paths {
				reaches(calls[j].Context.Cwd, t.Text)
			}
		}
		return found
	})
}

// between reports whether something that one call does concerns another one, by its number.
func between(did []Facts, concerns func(f Fact, other int) bool) bool {
	for i := range did {
		for j := range did {
			if i != j && slices.ContainsFunc(did[i], func(f Fact) bool { return concerns(f, j) }) {
				return true
			}
		}
	}
	return false
}

// together returns an engine for one batch. A judge with a timeout asks somebody else, which takes time
// and may cost money: so it is asked once about each call in each folder, and has its timeout for all
// of them. About what is left then it gives no verdict, which approves nothing.
func (e *Engine) together() *Engine {
	own := *e
	own.gates = slices.Clone(e.gates)
	for i := range own.gates {
		own.gates[i] = own.gates[i].together()
	}
	return &own
}

func (g Gate) together() Gate {
	if g.Instead != nil {
		instead := g.Instead.together()
		g.Instead = &instead
	}
	if g.Timeout > 0 {
		g.Judge = &patient{Judge: g.Judge, left: g.Timeout, told: map[callIn]answered{}}
	}
	return g
}

// patient is a judge with a limited time for all calls of a batch, which come one after the other.
type patient struct {
	Judge
	left time.Duration
	told map[callIn]answered
}

// batchedCall is the key of a context's value: the number of the call that is judged.
type batchedCall struct{}

// callIn is a call of a batch, in a folder; nil is the batch.
type callIn struct {
	call any
	cwd  string
}

type answered struct {
	result GradientResult
	err    error
}

// Grade implements [Judge].
func (p *patient) Grade(ctx context.Context, of Proposal) (GradientResult, error) {
	key := callIn{ctx.Value(batchedCall{}), of.Context.Cwd}
	if known, told := p.told[key]; told {
		return known.result, known.err
	}
	if p.left <= 0 {
		return GradientResult{}, &JudgeError{Fault: "the calls before this one took all its time", Class: FaultTimeout}
	}
	mine, cancel := context.WithTimeout(ctx, p.left)
	defer cancel()
	since := time.Now()
	r, err := p.Judge.Grade(mine, of)
	if p.left -= time.Since(since); err == nil && mine.Err() != nil {
		err = mine.Err()
	}
	p.told[key] = answered{r, err}
	return r, err
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
