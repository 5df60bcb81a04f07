package vaglio

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/vaglio/audit"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/clients"
	"github.com/metnos/vaglio/vaglio/guard"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Engine judges proposals. It is safe for concurrent use.
type Engine struct {
	catalog *catalog.Catalog
	guard   *guard.Guard
	reader  *reading.Reader
	gates   []Gate
	kind    string
	log     AuditLog
	logger  *slog.Logger
	meter   Meter
	turns   turns
	needs   Needs
	files   Files
	runs    Processes
	spaces  spaces
	machine machine // nil is this machine
	// verdicts caches verdicts; nil if a judge may answer an equal call differently.
	verdicts *verdicts
}

// Config configures an [Engine].
type Config struct {
	// Catalog is what is known of executors; nil knows none and checks no call.
	Catalog *catalog.Catalog
	// Judges run in this order; at least one is needed.
	Judges []Gate
	// Kind names the judge whose score and reason a verdict shows when all approve
	// (METNOS_JUDGE_KIND); empty is the first judge.
	Kind string
	// Log receives every verdict; nil keeps none.
	Log AuditLog
	// Logger receives why a judge gave no verdict; nil discards it.
	Logger *slog.Logger
	// Meter counts what judges do, apart from verdicts; nil counts nothing.
	Meter Meter
	// Home replaces ~ and $HOME in what the guard reads.
	Home string
	// Own describes vaglio's own files, settings and addresses, which the guard protects.
	Own own.Facts
	// Files reads the files that calls run; nil leaves them unread.
	Files Files
	// Processes tells what is running, for calls that stop processes; nil leaves that
	// unknown.
	Processes Processes
	// Workspaces are the folders in which agents may work. If there are none, and the client
	// names none, a session's workspaces are those in which it begins.
	Workspaces []string
}

// AuditLog keeps decisions. Append must not make a decision fail.
type AuditLog interface {
	Append(r audit.Record)
}

// New returns an engine. Its error joins all mistakes in the judges, or is the first other
// mistake.
func New(c Config) (*Engine, error) {
	kinds, err := kindsOf(c.Judges)
	if err != nil {
		return nil, err
	}
	if c.Kind == "" {
		c.Kind = kinds[0]
	}
	if !slices.Contains(kinds, c.Kind) {
		return nil, fmt.Errorf("vaglio: no judge of kind %q is configured; there are %q", c.Kind, kinds)
	}
	for _, place := range c.Own.Paths() {
		// "/" would forbid everything, and a relative path nothing reliably.
		if !filepath.IsAbs(place) || filepath.Clean(place) == "/" {
			return nil, fmt.Errorf("vaglio: own path %q must be absolute and below the root", place)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	known, err := clients.Load()
	if err != nil {
		return nil, err //nolint:wrapcheck // it says file, line and column already
	}
	where, err := newSpaces(&c)
	if err != nil {
		return nil, err
	}
	var kept *verdicts
	if !slices.ContainsFunc(c.Judges, func(g Gate) bool { return !g.Settled }) {
		kept = &verdicts{newer: map[uint64]*judged{}, seed: maphash.MakeSeed()}
	}
	return &Engine{
		verdicts: kept,
		files:    c.Files, runs: c.Processes, spaces: where,
		catalog: c.Catalog,
		guard:   guard.New(guard.Config{Home: c.Home, Own: c.Own}),
		reader:  reading.NewReader(reading.Options{Home: c.Home, Env: c.Own.Env, Clients: known.Tools()}),
		gates:   slices.Clone(c.Judges),
		kind:    c.Kind,
		log:     c.Log,
		logger:  c.Logger,
		meter:   c.Meter,
		turns:   newTurns(),
		needs:   needsOf(c.Judges),
	}, nil
}

// kindsOf checks the gates and names their judges.
func kindsOf(gates []Gate) ([]string, error) {
	if len(gates) == 0 {
		return nil, errors.New("vaglio: no judge is configured; give at least one")
	}
	var kinds []string
	var errs []error
	for i, g := range gates {
		if g.Judge == nil {
			errs = append(errs, fmt.Errorf("vaglio: judge %d is missing", i+1))
			continue
		}
		kinds = append(kinds, g.Judge.Kind())
		if !isShare(g.MinScore) || !isShare(g.MinConfidence) {
			errs = append(errs, fmt.Errorf("vaglio: judge %q: thresholds must be from 0 to 1", g.Judge.Kind()))
		}
		if g.Timeout < 0 {
			errs = append(errs, fmt.Errorf("vaglio: judge %q: the timeout must not be negative", g.Judge.Kind()))
		}
	}
	return kinds, errors.Join(errs...)
}

// Judge takes a proposal through schema, scope, guard and judges, and logs the verdict.
// Without a verdict, its error is a [*catalog.Error] if the call does not fit its schema or
// leaves its scope, a [*ShapeError] if the guard finds nothing to deny but cannot read the
// whole call, or ctx's error if ctx ended before the judges did.
func (e *Engine) Judge(ctx context.Context, p Proposal) (Verdict, error) {
	v, reason, p, err := e.weigh(ctx, p)
	if err == nil && e.log != nil {
		e.log.Append(record(p, v, reason))
	}
	return v, err
}

// Weigh is Judge without the log, for a call that a person considers and nobody proposed.
func (e *Engine) Weigh(ctx context.Context, p Proposal) (Verdict, error) {
	v, _, _, err := e.weigh(ctx, p)
	return v, err
}

// weigh returns the verdict on a call, the reason as the audit log may hold it, and the call
// with its workspaces.
func (e *Engine) weigh(ctx context.Context, p Proposal) (Verdict, string, Proposal, error) {
	e = e.on(&p)
	size, wrong := measure(p.Args)
	if wrong != nil {
		return Verdict{}, "", p, wrong
	}
	if err := e.catalog.Check(p.Executor, p.Args, p.Context.Cwd); err != nil {
		return Verdict{}, "", p, err
	}
	if e.verdicts == nil {
		return e.decide(ctx, p, size)
	}
	var key callKey
	comesAgain := false
	if e.repeats(&p, size) {
		key, comesAgain = e.verdicts.key(&p)
	}
	if comesAgain {
		if j, v := e.again(ctx, key); j != nil {
			return v, j.logged, p, nil
		}
	}
	own, told := e.asking(comesAgain)
	v, logged, p, err := own.decide(ctx, p, size)
	if comesAgain && err == nil && v.Approved {
		j := judged{key, v.detached(), logged, told, told.bytes + v.size()}
		e.verdicts.keep(&j)
	}
	return v, logged, p, err
}

// decide is weigh for a call that passed its schema and its scope.
func (e *Engine) decide(ctx context.Context, p Proposal, size int) (Verdict, string, Proposal, error) {
	e.spaces.of(&p)
	v, read, runs, denied, err := e.guarded(ctx, p, size)
	if err != nil {
		return Verdict{}, "", p, err
	}
	if v.Sources = runs; denied {
		return v, v.Reason, p, nil
	}
	calls := p.Calls()
	if len(calls) == 0 {
		return e.graded(ctx, p, size, read, runs)
	}
	e = e.together()
	v, logged, clash, err := e.batch(ctx, calls, size)
	if err == nil && clash && v.BlockedBy != PhaseGuard {
		p.Context.Clashes = true
		whole, said, p, err := e.graded(ctx, p, size, read, runs)
		if err != nil || v.Approved || !whole.Approved {
			return whole, said, p, err
		}
	}
	if v.Sources = runs; err == nil && !v.Approved {
		v.Sources = e.bound(&p, read, runs)
	}
	return v, logged, p, err
}

// graded is decide for a call that the guard let through, with its reading and what it runs.
func (e *Engine) graded(ctx context.Context, p Proposal, size int, read *reading.Reading, runs []Source) (Verdict, string, Proposal, error) {
	known := e.known(p)
	known.proposal.Context.Reading = read
	v, logged, err := e.grade(ctx, known, size)
	did := e.remembered(&p, read, v.Results)
	if err == nil && v.Approved && (p.Facts.Has(Awaited) || did.Has(Awaited) || len(stale(read)) > 0) {
		if late := e.arrivals(ctx, &p, read, did); len(late) > 0 {
			read.Gaps = append(read.Gaps, late...)
			v, logged, err = e.grade(ctx, known, size)
		}
	}
	if err != nil {
		return Verdict{}, "", p, err
	}
	if v.Did, v.Sources = did, runs; !v.Approved {
		v.Sources = e.bound(&p, read, runs)
	}
	return v, logged, p, nil
}

// Guard asks only the guard, with a new reading of the call. It reports whether the guard
// denies the call; if so, it also returns the verdict. It logs nothing. Its error is a
// [*ShapeError] if no rule denies the call but the call cannot be read to its end, or ctx's
// error.
func (e *Engine) Guard(ctx context.Context, p Proposal) (Verdict, bool, error) {
	size, wrong := measure(p.Args)
	if wrong != nil {
		return Verdict{}, false, wrong
	}
	v, _, _, denied, err := e.guarded(ctx, p, size)
	return v, denied, err
}

// Hides reports whether the guard forbids touching a path, whatever the call.
func (e *Engine) Hides(path string) bool { return e.guard.Hides(path) }

// guarded reads a call, whose arguments have the given size, and asks the guard.
func (e *Engine) guarded(ctx context.Context, p Proposal, size int) (v Verdict, read *reading.Reading, runs []Source, denied bool, err error) {
	done, err := e.turns.take(ctx, size)
	if err != nil {
		return Verdict{}, nil, nil, false, err
	}
	defer done()
	v, read, runs, denied, err = e.examined(p)
	calls := p.Calls()
	if err == nil && !denied && len(calls) > 0 && commandsIn(read) > maxTogether {
		return Verdict{}, nil, nil, false, &ShapeError{What: "the calls in it do too much together: make fewer of them at once"}
	}
	for _, c := range calls {
		if err != nil || denied {
			break
		}
		var of Verdict
		if of, _, _, denied, err = e.examined(c); denied {
			v = of
		}
	}
	return v, read, runs, denied, err
}

// examined is guarded for a call that makes no others.
func (e *Engine) examined(p Proposal) (v Verdict, read *reading.Reading, runs []Source, denied bool, err error) {
	call, runs := e.call(p)
	out := e.guard.Examine(call)
	if out.Unreadable != nil {
		return Verdict{}, nil, nil, false, unreadable(p, out.Unreadable)
	}
	if out.Doubt {
		call.Reading.Gaps = append(call.Reading.Gaps, reading.Gap{Doubt: true, Why: wording.Say("may change vaglio's own files or settings, or reach its address")})
	}
	d := out.Denial
	if d == nil {
		return Verdict{}, call.Reading, runs, false, nil
	}
	reason := d.Reason
	if d.File != "" {
		reason = fmt.Sprintf("%s (in %s, line %d)", reason, d.File, d.Line)
	}
	return Verdict{
		Reason:    reason,
		TS:        now(),
		JudgeKind: e.kind,
		BlockedBy: PhaseGuard,
		Rule:      &GuardRule{ID: d.ID, Why: d.Why, Instead: d.Instead, File: d.File, Line: d.Line},
	}, call.Reading, runs, true, nil
}

// Executors returns the names of the executors that the catalog lists.
func (e *Engine) Executors() []string { return e.catalog.Names() }

// Known returns a proposal as the judges see it: what the catalog knows overrides what its
// caller claims.
func (e *Engine) Known(p Proposal) Proposal { return e.known(p).proposal }

// Seen returns a proposal as the judges see it, with its reading.
func (e *Engine) Seen(p Proposal) Proposal {
	read := e.Read(p)
	p = e.Known(p)
	p.Context.Reading = read
	return p
}

// Kind names the judge whose score a verdict shows when all approve.
func (e *Engine) Kind() string { return e.kind }

// known is a proposal in which what the catalog knows overrides what its caller claims. skip
// says that the judges are skipped.
type known struct {
	proposal Proposal
	skip     bool
}

func (e *Engine) known(p Proposal) known {
	e = e.on(&p)
	p.Context.Reading = nil
	p.Context.Running = NewRunning(p.Facts, e.runs)
	e.spaces.of(&p)
	ex := e.executor(p.Executor)
	if p.Context.Known = ex; ex == nil {
		return known{proposal: p}
	}
	if ex.Critical != nil {
		p.Context.Critical = ex.Critical
	}
	if len(ex.Capabilities) > 0 {
		p.Context.Capability = make(Capabilities, len(ex.Capabilities))
		for i, c := range ex.Capabilities {
			p.Context.Capability[i] = c.Name
		}
	}
	return known{proposal: p, skip: ex.SkipJudge && len(p.Context.Concerns) == 0}
}

// executor returns what the catalog knows of an executor, nil if nothing.
func (e *Engine) executor(name string) *catalog.Executor {
	found, ok := e.catalog.Find(name)
	if !ok {
		return nil
	}
	known := found // most calls are of executors that the catalog does not list: they need no memory
	return &known
}

func record(p Proposal, v Verdict, reason string) audit.Record {
	r := audit.Record{
		Approved:    v.Approved,
		Reason:      reason,
		TS:          audit.Float(v.TS),
		JudgeKind:   v.JudgeKind,
		Score:       audit.Float(v.Score),
		Intent:      p.Intent,
		Executor:    p.Executor,
		ArgsKeys:    reading.SortedKeys(p.Args),
		ContextKeys: p.Context.Keys(),
	}
	if v.BlockedBy != PhaseNone {
		by := string(v.BlockedBy)
		r.BlockedBy = &by
	}
	return r
}

// now returns the present time in seconds since the Unix epoch.
func now() float64 { return float64(time.Now().UnixNano()) / float64(time.Second) }

func isShare(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= 1 }
