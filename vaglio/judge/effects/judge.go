package effects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
)

// kindName is what policies and verdicts call this judge.
const kindName = "effects"

// Judge grades proposals by their effects. It is safe for concurrent use.
type Judge struct {
	tables *tables
	rules  map[string]rule
	opts   Options
}

// Options say what is known of the machine on which calls would run.
type Options struct {
	// Home is the home folder of the user for whom the agent works; "" takes
	// it from the call's folder, if that lies below /home or /Users.
	Home string
	// User is the name of that user, "" if it is not known.
	User string
}

// New returns a judge. It fails only when the tables built into the program
// are malformed.
func New(o Options) (*Judge, error) {
	t, err := loadTables()
	if err != nil {
		return nil, err
	}
	j := &Judge{tables: t, rules: allRules(), opts: o}
	for name, secs := range t.sections {
		for _, s := range secs {
			if err := j.check(name, s); err != nil {
				return nil, err
			}
		}
	}
	return j, nil
}

// check reports a rule that a table names and that does not exist.
func (j *Judge) check(name string, s *section) error {
	for _, l := range append(slices.Clone(s.rules), line{then: s.fallback}) {
		if _, ok := j.rules[l.then.rule]; l.then.rule != "" && !ok {
			return fmt.Errorf("effects: section %s: there is no rule @%s", name, l.then.rule)
		}
	}
	return nil
}

// Kind returns "effects".
func (j *Judge) Kind() string { return kindName }

// Reading is what a call was found to do.
type Reading struct {
	// Effects are what the call would do, as far as it could be read. There
	// is always at least one.
	Effects []Effect
	// Notes say in words what could not be read, without being effects.
	Notes []string
}

// Read says what a proposal would do. It never fails: what cannot be read is
// an effect of [KindUnknown].
func (j *Judge) Read(p vaglio.Proposal) Reading {
	r := &reading{judge: j, world: j.worldOf(p), fetched: map[string]bool{}}
	r.executor(p)
	if len(r.effects) == 0 {
		r.add(usual(KindUnknown).with("does nothing that could be read", ""))
	}
	return Reading{Effects: r.effects, Notes: r.notes}
}

// Grade grades a proposal. The error is always nil; the lowest effect decides
// the score, and a score below [Threshold] should be asked.
func (j *Judge) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	if err := ctx.Err(); err != nil {
		return vaglio.GradientResult{}, fmt.Errorf("effects: %w", err)
	}
	return j.grade(j.Read(p), p.Intent), nil
}

func (j *Judge) grade(r Reading, intent string) vaglio.GradientResult {
	said := wordsOf(intent)
	out := vaglio.GradientResult{Judge: kindName, Score: 1, Confidence: 1}
	worst := r.Effects[0]
	by := map[string]Effect{}
	for _, e := range r.Effects {
		by[e.sentence()] = e
		s := e.score(said)
		out.Confidence = min(out.Confidence, e.Sure)
		if s < out.Score {
			out.Score, worst = s, e
		}
		out.Signals = append(out.Signals, vaglio.Signal{Category: string(e.Kind), Score: s, Message: e.sentence()})
	}
	slices.SortStableFunc(out.Signals, func(a, b vaglio.Signal) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		}
		return strings.Compare(a.Message, b.Message)
	})
	out.Signals = slices.Compact(out.Signals)
	if len(out.Signals) > maxSignals {
		out.Signals = out.Signals[:maxSignals]
	}
	out.Metadata = facts(out.Signals, by)
	for _, n := range r.Notes {
		out.Confidence = min(out.Confidence, 0.6)
		out.Signals = append(out.Signals, vaglio.Signal{Category: "unread", Score: out.Score, Message: n})
	}
	out.Reasoning = worst.sentence()
	if out.Score >= Threshold && worst.Kind == KindRead {
		out.Reasoning = "It only reads."
	}
	return out
}

// facts keeps what the sentences of the signals say, in their order, for those
// who say it in another language.
func facts(signals []vaglio.Signal, by map[string]Effect) vaglio.Args {
	list := make([]any, len(signals))
	for i := range signals {
		e := by[signals[i].Message]
		list[i] = map[string]any{"kind": signals[i].Category, "reversibility": string(e.Reversibility), "reach": string(e.Reach)}
	}
	return vaglio.Args{"effects": list}
}

// maxSignals bounds the signals of one answer; the lowest are kept.
const maxSignals = 20

// worldOf is where a proposal would run.
func (j *Judge) worldOf(p vaglio.Proposal) *world {
	w := &world{home: j.opts.Home, user: j.opts.User, cwd: strings.TrimRight(p.Context.Cwd, "/")}
	if w.home == "" {
		parts := strings.SplitN(w.cwd, "/", 4)
		if len(parts) > 2 && parts[0] == "" && (parts[1] == "home" || parts[1] == "Users") {
			w.home = "/" + parts[1] + "/" + parts[2]
		}
	}
	for _, r := range append([]string{w.cwd}, p.Context.Mounts...) {
		if r = strings.TrimRight(r, "/"); r != "" && r != w.home {
			w.roots = append(w.roots, r)
		}
	}
	return w
}

// reading collects the effects of one proposal.
type reading struct {
	judge   *Judge
	world   *world
	effects []Effect
	notes   []string
	onMain  string // the branch on which others build, if an earlier command switched to it
	rewired bool   // an earlier command changed git's remotes
	cloned  bool   // foreign code was fetched by an earlier command
	listed  bool   // an earlier command listed containers or images
	started bool   // an earlier command started a container
	depth   int
	fetched map[string]bool // files that an earlier command downloaded
}

func (r *reading) add(e ...Effect) { r.effects = append(r.effects, e...) }

func (r *reading) note(s string) {
	if !slices.Contains(r.notes, s) && len(r.notes) < maxSignals {
		r.notes = append(r.notes, s)
	}
}
