package effects

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/patch"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// command is one command of a call that is being judged.
type command struct {
	*invocation
	*parsed
	r    *reading
	sec  *commands.Section
	took int // operands that the matching line took
	// among is the phrase for what else is read below a folder, see [reading.among].
	among wording.Phrase
	// called is the name that the tables know the command by.
	called string
	// why is the table's message for the command; about and with are the words that its rule is about.
	why         string
	about, with []arg
	live, dry   *string // the word that names a live system, and that asks a task for a dry run, once asked
}

func (r *reading) shellOptions() shell.Options {
	return readings.LineOptions(r.world.home, r.world.user, r.world.cwd, r.means)
}

func (r *reading) script(s *shell.Script) {
	r.unparsed, r.wrote = append(r.unparsed, s.Unparsed...), s.Wrote
	r.ofSession(s)
	for i := range s.Problems {
		r.spanned(s.Problems[i].Span, func() { r.problem(&s.Problems[i]) })
	}
	commands := s.Commands
	if len(commands) > maxCommands {
		commands = commands[:maxCommands]
		r.add(usual(KindUnknown).with(say("runs more commands than are read"), ""))
	}
	list := make([]*invocation, len(commands))
	for i := range commands {
		if list[i] = invocationOf(&s.Commands[i]); i > 0 {
			list[i-1].into, list[i].outOf = list[i], list[i-1]
		}
	}
	r.atToplevel(list)
	rebuildable := func() bool { return false } // by the find before; asked once, since one may run thousands
	for i, v := range list {
		if v.removesFound() && rebuildable() {
			continue
		}
		r.spanned(s.Commands[i].Span, func() { r.add(of(&s.Commands[i], r.located(v, r.invocation(v)))...) })
		if v.name == "find" {
			rebuildable = sync.OnceValue(func() bool { return r.foundRebuildable(v) })
		}
	}
	if r.fetchedRuns(s); len(s.Commands) == 0 && len(s.Problems) == 0 {
		r.add(reads()...)
	}
}

// of sets the command that has the effects, except where an effect already names one.
func of(c *shell.Command, effects []Effect) []Effect {
	for i := range effects {
		if effects[i].Of == nil {
			effects[i].Of = c
		}
	}
	return effects
}

// maxCommands limits the commands of a call that are judged, and maxWords the words of one. What people write stays far below; a call with more is asked about.
const (
	maxCommands = 4096
	maxWords    = 16 << 10
)

// removesFound reports whether find runs the command for what it finds, and it removes that.
func (v *invocation) removesFound() bool {
	return len(v.Via) > 0 && strings.HasPrefix(v.Via[len(v.Via)-1], "find -exec") && removes(v.name)
}

// foundRebuildable reports whether find deletes only names that can be rebuilt. Find's own rule then judges the deletion.
func (r *reading) foundRebuildable(find *invocation) bool {
	told := r.callOf(find, find.name, &noSection).told().Operations
	at := slices.IndexFunc(told, func(o operation.Operation) bool { return o.Verb == operation.Search })
	return at >= 0 && searchOf(told[at].With).rebuilds(r.judge)
}

// problem turns what the shell reader could not read into an effect or a note.
func (r *reading) problem(p *shell.Problem) {
	switch p.Kind {
	case shell.ProblemScriptFile:
		r.unreadFile(p)
	case shell.ProblemDownload:
		r.downloaded(p)
	case shell.ProblemForkBomb:
		r.add(usual(KindPower).with(say("starts processes without end until the machine stalls"), ""))
	case shell.ProblemDynamicCode:
		r.dynamic(p)
	case shell.ProblemClosed:
		r.add(usual(KindUnknown).with(problemSaid(p), p.Word.String()))
	default:
		r.unread(p)
	}
}

// downloaded adds the effect of running downloaded code, or of applying a downloaded patch.
func (r *reading) downloaded(p *shell.Problem) {
	a, what := argOf(p.Word), ""
	if a.known {
		what = a.text
	}
	said := say("runs code downloaded from the network without review: %s", what)
	if p.Detail.Phrase == patch.Fetched {
		said = say("applies a patch downloaded from the network without review: %s", what)
	}
	v := &invocation{Command: &shell.Command{Context: shell.Context{Privileged: p.Privileged}}, name: p.Interpreter}
	r.add(r.placed(v, one(KindForeignCode, said, a.text))...)
}

// unread adds the effect of what the shell reader could not read.
func (r *reading) unread(p *shell.Problem) {
	why, a := problemSaid(p), argOf(p.Word)
	if a.text != "" && !strings.Contains(why.String(), a.text) {
		why = why.And(": %s", a.text)
	}
	if p.File != "" {
		why = why.And("(%s)", r.line(p.File, p.Line))
	}
	r.add(usual(KindUnknown).with(why, a.text))
}

// problemSaid says what could not be read.
func problemSaid(p *shell.Problem) wording.Sentence { return sayOf(wording.Unread, p.Detail) }

// trustedSetup reports whether the text that eval runs is the output of a program made to set up a shell.
func (r *reading) trustedSetup(a arg) bool {
	return len(a.from) == 1 && len(a.names) == 0 && !a.remote && a.text == "$("+a.from[0]+")" && r.judge.tables.ofClass("shell-setup", a.from[0])
}

// invocation judges one command and everything around it.
func (r *reading) invocation(v *invocation) []Effect {
	since := len(r.did)
	named := r.named(v)
	out := named
	if len(v.args) >= maxWords {
		out = append(unknown(say("runs %s with more words than are read", v.name), v.name), named...)
	}
	r.unpacked(v, since, named)
	out = append(out, r.elsewhere(v, named)...)
	out = append(out, r.runsUnpacked(v)...)
	out = append(out, r.runsOutside(v, named)...)
	out = append(out, r.besides(v)...)
	out = append(out, r.sourcedTold(v)...)
	if sent := r.addressed(v); sent != nil { // so it does not merely read
		out = append(slices.DeleteFunc(out, func(e Effect) bool { return e.Kind == KindRead }), sent...)
	}
	for i, w := range v.writes {
		if v.restores(w) {
			out = append(out, usual(KindDelete).with(say("discards uncommitted changes in %s", w.text), w.text))
			continue
		}
		switch w = r.whole(v, w); {
		case v.empties(i):
			out = append(out, r.empty(v, w)...)
		case v.appends[i]:
			out = append(out, r.write(v, w, "adds to")...)
		default:
			out = append(out, r.replaces(v, w, "writes")...)
		}
	}
	for _, f := range v.reads {
		if r.world.placeOf(f, v.cwd) == placeSecret && !r.thrownAway(v) && !r.hidden(v, f) {
			out = append(out, usual(KindCredentials).with(say("reads the secrets in %s", f.text), f.text))
		}
	}
	out = append(out, r.fills(v)...)
	out = append(out, r.variables(v.assigns)...)
	out = append(out, r.throughDoors(v)...)
	r.remember(v)
	r.passesOn(v, since)
	r.starts(v)
	r.looksFor(v)
	r.names(v)
	r.makesEnvironment(v)
	return r.placed(v, out)
}

// remember notes what later commands of the call need to know about a command.
func (r *reading) remember(v *invocation) {
	for _, a := range v.args {
		switch {
		case r.world.placeOf(a, v.cwd) == placeSecret:
			r.listedSecret = true
		case v.name == "git" && r.judge.tables.ofClass("git-told", a.text):
			r.gitTold = true
		case v.name == "git" && r.judge.tables.ofClass("git-history", a.text):
			r.gitTold = r.gitTold || !slices.ContainsFunc(v.args, func(a arg) bool { return strings.HasSuffix(strings.ToLower(a.text), "=%h") })
		}
	}
}

// variables returns the effects of variables set for a command.
func (r *reading) variables(list []assignment) (out []Effect) {
	for _, a := range list {
		what, ok := r.judge.tables.Vars[a.name+"="+a.value.text]
		if !ok && a.value.text != "" && a.value.text != "0" {
			what, ok = r.judge.tables.Vars[a.name]
		}
		if ok {
			out = append(out, usual(KindSafeguardOff).with(say(wording.Phrase(what)), a.name).as(Partial, ReachUser))
		}
	}
	return out
}

// placed adjusts effects to where a command runs.
func (r *reading) placed(v *invocation, out []Effect) []Effect {
	changes := false
	for i := range out {
		switch {
		case out[i].Kind != KindRead:
			changes = true
			r.placedAt(v, &out[i])
			v.strays(&out[i])
		case v.afarName() != "" && len(out[i].Why) > 0:
			out[i].Why = out[i].Why.And("on %s", v.afarName())
		}
	}
	if v.Privileged && (changes || v.File != "") && v.box == "" { // whoever may write the file would be administrator
		out = append(out, usual(KindPrivilege).with(spoken.Rights(v.name, v.User), v.name))
	}
	return out
}

// strays says of an effect in a folder that is not known that it is there.
func (v *invocation) strays(e *Effect) {
	if v.astray && e.Reach == ReachWorkspace && e.Target != "" && !path.IsAbs(e.Target) {
		e.Why = e.Why.And(wording.Somewhere)
	}
}

// placedAt adjusts one effect: what is shared elsewhere affects others, and what a throw-away container keeps to itself affects nobody.
func (r *reading) placedAt(v *invocation, e *Effect) {
	switch {
	case v.servesOthers(e):
		e.counts, e.Reach = "", ReachShared
		e.Why = e.Why.And("on %s", v.box)
	case e.Kind == KindDatabase && e.far() && !v.fresh:
		e.Why = spoken.OnMachine(e.Why, v.host+v.box)
	case v.host != "" || v.pod:
		v.afar(e)
	case e.far():
	case v.stays(), v.shares && e.lasts:
		v.boxed(e)
	case r.thrownAway(v) && !v.outlasts(e):
		*e = usual(KindCreate).with(e.Why.And("in a throw-away container"), e.Target)
	}
}

// outlasts reports whether an effect may outlast a throw-away container, reach a database outside it, or show what it was given.
func (v *invocation) outlasts(e *Effect) bool {
	return e.lasts || e.Kind == KindUnknown || e.Kind == KindCredentials && v.filled ||
		(v.shares || v.supplied) && e.Kind == KindDatabase && e.Reversibility == Irreversible
}

// servesOthers reports whether the workspace that an effect is in is that of a container which, by its name, is in service.
func (v *invocation) servesOthers(e *Effect) bool {
	return v.stays() && !v.pod && slices.Contains([]Reach{e.Reach, e.counts}, ReachWorkspace) && liveName(v.box)
}

// boxed adjusts an effect to a container on the gate's machine: it is graded as an effect on that machine, but does not affect the machine as a whole.
func (v *invocation) boxed(e *Effect) {
	e.Why = e.Why.And("on %s", v.box)
	if e.Reach == ReachSystem && !v.exposed {
		e.counts, e.Reach = e.Counts(), ReachUser
	}
}

// direct reports whether a command runs on the gate's machine, in no container.
func (v *invocation) direct() bool { return v.host+v.box == "" && !v.pod }

// stays reports whether a command runs in a container that exists before and after it.
func (v *invocation) stays() bool { return v.box != "" && !v.fresh }

// afarName returns the name of the other machine, or of the pod, on which a command runs.
func (v *invocation) afarName() string {
	if v.pod {
		return v.box
	}
	return v.host
}

// afar adjusts an effect to another machine, where everything belongs to others.
func (v *invocation) afar(e *Effect) {
	if c := e.Counts(); c == ReachShared || c == ReachPublic {
		return
	}
	e.counts, e.Reach = "", ReachShared
	on := wording.Say("on %s", v.host+v.box)
	if v.host+v.box == "" {
		on = wording.Say("on another machine")
	}
	e.Why = append(slices.Clone(e.Why), on)
}

// sealed reports whether a command runs in a container from which nothing reaches the host.
func (r *reading) sealed(v *invocation) bool {
	return v.box != "" && !v.exposed && !r.reachesHost(v)
}

// reachesHost reports whether a container sees folders of the host other than the workspace and temporary ones.
func (r *reading) reachesHost(v *invocation) bool {
	if v.reaches == nil { // each of its words asks
		found := slices.ContainsFunc(v.mounts, func(m mount) bool {
			p := r.world.placeOf(literal(m.host), r.world.cwd)
			return p != placeWorkspace && p != placeTemp && !m.volume()
		})
		v.reaches = &found
	}
	return *v.reaches
}

// mounted returns the mount of a container that contains a word's path, or is below it, and the word as the host or the volume sees it. If the container's
// folder is unknown, any mount may match.
func (r *reading) mounted(v *invocation, a arg) (in mount, on arg, ok bool) {
	p := r.world.clean(a.text, v.cwd)
	for _, m := range v.mounts {
		inside := place.Clean(m.inside)
		rest, below := strings.CutPrefix(p, strings.TrimSuffix(inside, "/"))
		switch {
		case !path.IsAbs(p):
			rest = "/" + p
		case below && place.IsStep(rest):
		case holds(p, inside):
			rest = ""
		default:
			continue
		}
		if !ok || len(inside) > len(place.Clean(in.inside)) {
			in, on, ok = m, arg{text: strings.Replace(m.host+rest, "//", "/", 1), known: a.known, names: a.names, from: a.from}, true
		}
	}
	return in, on, ok
}

// holds reports whether above, which may be a pattern, matches p or a folder that contains it.
func holds(above, p string) bool {
	if !strings.ContainsAny(above, `*?[\`) {
		return above == "/" || strings.HasPrefix(p, above) && place.IsStep(p[len(above):])
	}
	steps := strings.Split(p, "/")
	is, _ := path.Match(above, strings.Join(steps[:min(len(steps), strings.Count(above, "/")+1)], "/"))
	return is
}

func literals(texts []string) []arg {
	out := make([]arg, len(texts))
	for i, s := range texts {
		out[i] = literal(s)
	}
	return out
}

func texts(args []arg) []string {
	return lists.Each(args, func(a arg) string { return a.text })
}

// changesNext reports whether what a line takes for a list of things is followed by what is done to them: "volumes" lists them, "volumes delete" does not.
func (c *command) changesNext(took int) bool {
	if took == c.took || took >= len(c.operands) {
		return false
	}
	t, thing := c.r.judge.tables, c.operands[took-1].text
	next := t.verbs[strings.ToLower(c.operands[took].text)]
	things := t.Nouns["cloud-thing"][thing] || c.r.verbOf(thing).effect.Kind == "" && len(thing) > 3 && strings.HasSuffix(thing, "s")
	return things && !next.weak && slices.Contains([]Kind{KindDelete, KindCreate, KindOverwrite}, next.effect.Kind)
}
