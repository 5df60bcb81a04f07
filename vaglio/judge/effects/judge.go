package effects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio"
	agents "github.com/metnos/vaglio/vaglio/clients"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// kindName is the name of this judge in policies and verdicts.
const kindName = "effects"

// Judge grades proposals by their effects. It is safe for concurrent use.
type Judge struct {
	tables *tables
	doors  doors
	places *place.Table
	// clients is what is known about the tools of coding agents.
	clients agents.Set
	rules   map[string]rule
	facts   map[string]fact
	opts    Options
	reader  *readings.Reader // for proposals that no engine has read
}

// Options say what is known about the machine on which calls would run.
type Options struct {
	// Home is the home folder of the agent's user; "" takes it from the call's folder, if that is below /home or /Users.
	Home string
	// User is the name of that user, "" if unknown.
	User string
	// Programs says how far programs that the tables do not know reach, by name, on the owner's word. A known program may thereby reach further, never less.
	Programs map[string]Reach
}

// ProgramError is a mistake in [Options].Programs.
type ProgramError struct {
	// Name is the name of the program.
	Name string
	// Problem says what is wrong with it, without naming it.
	Problem string
}

// Error returns the program's name and what is wrong with it.
func (e *ProgramError) Error() string { return e.Name + " " + e.Problem }

// New returns a judge. Its error joins a [*ProgramError] for each mistake in Options.Programs, or says that the built-in tables are malformed.
func New(o Options) (*Judge, error) {
	t, err := loadTables()
	settings, noDoors := loadDoors()
	// Only the guard's table folds the case of paths; in this one case always matters.
	known, noPlaces := place.Load(o.Home, false)
	tools, noClients := agents.Load()
	if err := errors.Join(err, noDoors, noPlaces, noClients); err != nil { // each says file and line
		return nil, err
	}
	j := &Judge{
		clients: tools,
		tables:  t, doors: settings, places: known, rules: allRules(), facts: wordFacts(), opts: o,
		reader: readings.NewReader(readings.Options{Home: o.Home, User: o.User, Clients: tools.Tools()}),
	}
	maps.Copy(j.facts, commandFacts())
	return j, j.checkPrograms()
}

// checkPrograms returns the mistakes in Options.Programs.
func (j *Judge) checkPrograms() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(j.opts.Programs)) {
		switch {
		case name == "" || strings.ContainsAny(name, "/\\ \t\n$*?"):
			errs = append(errs, &ProgramError{name, "is not a program's name; give the name as it is typed, without a folder"})
		case !slices.Contains(operation.Reaches(), j.opts.Programs[name]):
			errs = append(errs, &ProgramError{name, fmt.Sprintf("reaches %q; want one of %v", j.opts.Programs[name], operation.Reaches())})
		}
	}
	return errors.Join(errs...)
}

// Spares reports whether what the owner says about a program's reach can spare a question: a program that the tables know may only be made to reach further.
func (j *Judge) Spares(program string) bool { return !j.tables.Known(program) }

// Kind returns "effects".
func (j *Judge) Kind() string { return kindName }

// Assessment is what a call was found to do.
type Assessment struct {
	// Effects are what the call would do, as far as it could be read. There is always at least one.
	Effects []Effect
	// Notes say what could not be read but is not an effect.
	Notes []wording.Sentence
	// Did is what the session must remember about the call.
	Did vaglio.Facts
}

// Read says what a proposal would do. It never fails: what it cannot read is an effect of [KindUnknown].
func (j *Judge) Read(p vaglio.Proposal) Assessment {
	if calls := p.Calls(); calls != nil {
		return j.batch(&p, calls)
	}
	r := j.reading(p, p.Facts)
	r.executor(p)
	r.leaves(p)
	if len(r.effects) == 0 {
		r.add(usual(KindUnknown).with(say("does nothing that could be read"), ""))
	}
	nameless := func(f vaglio.Fact) bool { return f.Deed == vaglio.Moved && strings.Contains(f.Path, "$") } // by later calls
	return Assessment{Effects: r.effects, Notes: r.notes, Did: slices.DeleteFunc(r.did, nameless)}
}

// batch says what the calls of a batch would do, each after the ones before it.
func (j *Judge) batch(p *vaglio.Proposal, calls []vaglio.Proposal) (all Assessment) {
	for _, c := range calls {
		c.Facts = slices.Concat(p.Facts, all.Did)
		one := j.Read(c)
		all.Effects, all.Notes, all.Did = append(all.Effects, one.Effects...), append(all.Notes, one.Notes...), append(all.Did, one.Did...)
	}
	if p.Context.Clashes {
		clash := usual(KindUnknown).with(say("has one call that may run what another writes at the same time"), "")
		all.Effects = append(all.Effects, clash)
	}
	if len(calls) == 0 {
		all.Effects = []Effect{usual(KindRead).with(say("makes no call"), "")}
	}
	return all
}

// reading returns a reading in a session that did what the facts say.
func (j *Judge) reading(p vaglio.Proposal, facts vaglio.Facts) *reading {
	running := p.Context.Running
	if running == nil {
		running = vaglio.NewRunning(facts, nil)
	}
	w := j.worldOf(p)
	for i := range facts {
		if f := &facts[i]; f.Link && len(f.Words) == 1 {
			w.link(f.Path, f.Words[0])
		}
	}
	return &reading{judge: j, world: w, facts: facts, running: running.Fork(), fetched: facts.Fetched(), numbers: map[string]bool{}}
}

// Did returns what the session must remember about a proposal.
func (j *Judge) Did(p vaglio.Proposal) vaglio.Facts { return j.Read(p).Did }

// Loaded reports whether what a file may run would be asked about or denied if it ran.
func (j *Judge) Loaded(p vaglio.Proposal, s *shell.Script) bool {
	r := j.reading(p, nil)
	r.script(s)
	return slices.ContainsFunc(r.effects, func(e Effect) bool { return e.Kind != KindUnknown && e.score(nil) < Threshold })
}

// Grade grades a proposal. It fails only if ctx is done. The lowest effect decides the score, and a score below [Threshold] must be asked about.
func (j *Judge) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	if err := ctx.Err(); err != nil {
		return vaglio.GradientResult{}, fmt.Errorf("effects: %w", err)
	}
	return j.grade(j.Read(p), p.Intent), nil
}

func (j *Judge) grade(r Assessment, asked string) vaglio.GradientResult {
	said := &intent{text: asked, verbs: j.tables.Nouns}
	groups, first := folded(r.Effects, said), 0
	out := vaglio.GradientResult{Judge: kindName, Confidence: groups[0].Sure, Did: r.Did}
	for i := range groups {
		out.Confidence = min(out.Confidence, groups[i].Sure)
		if groups[i].worst < groups[first].worst {
			first = i
		}
	}
	out.Score = groups[first].worst
	list, all := worstOf(groups)
	if at := slices.IndexFunc(list, func(f finding) bool { return f.effect == &groups[first].Effect }); at >= 0 {
		out.Reasoning = list[at].Message
	} else {
		out.Reasoning, _ = groups[first].sentence().In(wording.English)
	}
	if more := all - maxSignals + 1; more > 1 {
		last := &list[maxSignals-1] // the worst of those that are not listed
		last.Signal = signal(last.Category, last.Score, moreLike(more))
	}
	out.Signals, out.Metadata = told(list)
	for i, n := range r.Notes[:min(len(r.Notes), maxSignals)] {
		out.Confidence = min(out.Confidence, 0.6)
		if i == maxSignals-1 && len(r.Notes) > maxSignals {
			n = moreLike(len(r.Notes) - i)
		}
		out.Signals = append(out.Signals, signal("unread", out.Score, n))
	}
	if groups[first].Kind == KindRead {
		out.Reasoning = "It only reads."
	}
	return out
}

// signal is one finding of the judge, in English and as data.
func signal(category string, score float64, said wording.Sentence) vaglio.Signal {
	message, _ := said.In(wording.English)
	return vaglio.Signal{Category: category, Score: score, Message: message, Said: said}
}

func moreLike(n int) wording.Sentence { return say(wording.MoreLikeThese, strconv.Itoa(n)) }

// finding is a signal, and the effect that it is about.
type finding struct {
	vaglio.Signal
	effect *Effect
}

// worstOf returns the worst findings, at most maxSignals, and how many there are in all, without those that say the same. Only what may be listed is worded.
func worstOf(groups []fold) (list []finding, all int) {
	type other struct {
		meaning
		why   string
		score float64
	}
	rest, scores := map[other]bool{}, make([]float64, len(groups))
	for i := range groups {
		scores[i] = groups[i].worst
	}
	slices.Sort(scores)
	for _, score := range slices.Compact(scores) {
		first := len(list)
		for i := range groups {
			switch f := &groups[i]; {
			case f.worst != score:
			case first < maxSignals:
				list = append(list, finding{signal(string(f.Kind), score, f.sentence()), &f.Effect})
				list[len(list)-1].Lines = f.lines
			default:
				rest[other{meaningOf(&f.Effect), cmp.Or(f.Why.String(), f.Target), score}] = true
			}
		}
		slices.SortStableFunc(list[first:], func(a, b finding) int { return strings.Compare(a.Message, b.Message) })
		list = merged(list)
	}
	return list[:min(len(list), maxSignals)], len(list) + len(rest)
}

// told returns the findings as signals, and the meaning of their sentences, in order, for use in
// other languages. Nobody may change that: what is equal is shared by all calls.
func told(list []finding) ([]vaglio.Signal, vaglio.Args) {
	signals, meant := make([]vaglio.Signal, len(list)), make([]any, 0, len(list))
	for i := range list {
		signals[i] = list[i].Signal
		slices.Sort(signals[i].Lines)
		signals[i].Lines = slices.Compact(signals[i].Lines)
		is := meaningOf(list[i].effect)
		known, ok := meanings.Load(is)
		if !ok {
			means := map[string]any{"kind": string(is.kind), "reversibility": string(is.v), "reach": string(is.reach)}
			known, _ = meanings.LoadOrStore(is, [2]vaglio.Args{means, {"effects": []any{means}}})
		}
		means, _ := known.([2]vaglio.Args) // as one of several, and alone
		if len(list) == 1 {
			return signals, means[1]
		}
		meant = append(meant, map[string]any(means[0]))
	}
	return signals, vaglio.Args{"effects": meant}
}

// meaning is what an effect comes down to. There are a few hundred of them.
type meaning struct {
	kind  Kind
	v     Reversibility
	reach Reach
}

func meaningOf(e *Effect) meaning { return meaning{e.Kind, e.Reversibility, e.Reach} }

var meanings sync.Map //nolint:gochecknoglobals // A cache: from meaning to what told makes of it.

// maxSignals limits the signals of one answer, and its notes. The lowest are listed, and the last one counts the others.
const maxSignals = 20

// worldOf returns the world in which a proposal would run.
func (j *Judge) worldOf(p vaglio.Proposal) *world {
	w := &world{places: j.places, user: j.opts.User, cwd: folder(p.Context.Cwd)}
	w.home = cmp.Or(j.opts.Home, readings.HomeOf(w.cwd))
	if s := p.Context.Site; s != nil {
		w.roots, w.kept = s.Workspaces, s.Kept
		return w
	}
	for _, r := range append([]string{w.cwd}, p.Context.Mounts...) {
		if r = place.Clean(folder(w.local(r))); r != w.home && vaglio.MayBeWorkspace(w.places, r) {
			w.roots = append(w.roots, r)
		}
	}
	return w
}

// folder returns a path without trailing slashes. A Windows path gets forward slashes, like all paths that are compared.
func folder(s string) string {
	if len(s) > 2 && s[1] == ':' {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	return strings.TrimRight(s, "/")
}

// reading collects the effects of one proposal.
type reading struct {
	judge        *Judge
	world        *world
	effects      []Effect
	notes        []wording.Sentence
	noted        map[string]bool // in English
	onMain       string          // the branch that others build on, if an earlier command switched to it
	rewired      bool            // an earlier command changed git's remotes
	foreign      []string        // where earlier commands put code that they fetched
	met          []vaglio.Fact   // where earlier calls put such code that the call may run
	clones       bool            // the command fetches code
	repository   string          // what the command clones, if it does, see [command.repository]
	repositories []string        // where earlier commands cloned one
	leads        string          // the exported variable that leads to a live system
	unpacks      bool            // the command writes files to a place that it does not name
	listed       bool            // an earlier command listed containers or images
	started      bool            // an earlier command started a container
	gitTold      bool            // an earlier command had git show settings or content
	listedSecret bool            // an earlier command read a file with secrets
	facts        vaglio.Facts    // what the session did before
	ahead        []string        // folders that are searched for programs first
	did          vaglio.Facts    // what to remember about this call
	stays        bool            // what the call runs continues after it
	running      *vaglio.Running
	numbers      map[string]bool // what prints a file: whether it is the number of a process of the session's own
	processes    *invocation     // what gets the list of processes
	absent       []string        // what was to be deleted where nothing was
	namesTold    int             // how many paths were recorded because the call names them
	vacated      []string        // the same, as far as nothing is known to make it
	trapped      []string        // temporary files that a trap deletes at the end
	sought       []bool          // for each search for processes, whether it only finds the session's own
	depth        int
	means        readings.Means        // shared by all readings of the call
	inlineRead   []string              // what inline programs read
	inlineListed []string              // the folders whose names they list
	fetched      map[string]bool       // files that an earlier command downloaded
	brought      []string              // folders that the call filled from outside the workspace
	repacked     []string              // those that it fills from archives which the session made
	unparsed     []string              // files that run and contain text that is no program
	wrote        map[string]shell.Word // what the call writes into files
	database     database
	parses       [2]parse        // the last ones
	records      map[string]bool // see isRecord
	nextParse    int
	lastTold     lastTold
}

// database is what is known of the database that SQL runs on.
type database struct {
	here   Reach  // how far its changes reach, "" if it is not on this machine
	fixed  bool   // it was opened read-only, or is the session's own
	apart  bool   // it is a file outside the workspace
	opened string // the file that the client went on to
}

func (r *reading) add(e ...Effect) {
	if n := len(r.effects); n+len(e) > cap(r.effects) { // they are large, and append would copy them more often
		r.effects = slices.Grow(r.effects, max(n, len(e)))
	}
	r.effects = append(r.effects, e...)
}

func (r *reading) note(s wording.Sentence) {
	english := s.String()
	if r.noted == nil {
		r.noted = map[string]bool{}
	}
	if !r.noted[english] {
		r.noted[english] = true
		r.notes = append(r.notes, s)
	}
}
