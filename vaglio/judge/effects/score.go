package effects

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Threshold is the score below which a person must be asked.
const Threshold = 0.5

// The costs of an effect add up to the difference between its score and 1. They are chosen so that what stays in the workspace passes unless it is lost for
// good, and whatever reaches further is asked about. What is in no table costs as much as the worst, or as most kinds do.
//
//nolint:gochecknoglobals // Tables.
var (
	costOfUndoing = map[Reversibility]float64{Reversible: 0.05, Partial: 0.15}
	costOfReach   = map[Reach]float64{ReachWorkspace: 0, ReachUser: 0.30, ReachSystem: 0.35, ReachShared: 0.40}
	costOfKind    = map[Kind]float64{
		KindRead: 0, KindMove: 0.15, KindCreate: 0.17, KindOverwrite: 0.17, KindInstall: 0.17, KindDelete: 0.17,
		KindForeignCode: 0.25, KindSafeguardOff: 0.25, KindCredentials: 0.25, KindSpend: 0.25, KindPower: 0.25,
	}
)

func costOf[K comparable](table map[K]float64, k K, others float64) float64 {
	if cost, ok := table[k]; ok {
		return cost
	}
	return others
}

// asked is the highest score of an effect that is asked about whatever the intent says.
const asked = 0.49

// score grades one effect. What the intent plainly asks for costs less, but what is irreversible, shared or public is asked about even then.
func (e Effect) score(i *intent) float64 {
	e.Reach, e.Reversibility = e.Counts(), cmp.Or(e.eased, e.Reversibility)
	s := 1 - costOf(costOfKind, e.Kind, 0.20) - costOf(costOfUndoing, e.Reversibility, 0.35) - costOf(costOfReach, e.Reach, 0.45)
	if s < Threshold && i.asks(e) {
		s += 0.10
	}
	if e.Kind == KindUnknown || e.Reach != ReachWorkspace && (e.Reach != ReachUser || e.Reversibility == Irreversible) {
		s = min(s, asked)
	}
	return max(0.02, math.Round(s*100)/100) // the costs are hundredths, their binary sums are not
}

// intent is what a call is meant to do.
type intent struct {
	text  string
	words map[string]bool            // of the text, in lower case; read when they are first needed
	verbs map[string]map[string]bool // the verbs that people ask with, by class
}

func (i *intent) read() {
	i.words = map[string]bool{}
	for _, s := range intentWord.FindAllString(strings.ToLower(i.text), -1) {
		i.words[strings.Trim(s, "./-")] = true
	}
}

// intentWord matches a word of an intent, which may be a path.
var intentWord = regexp.MustCompile(`[\p{L}\p{Nd}._/-]+`)

// asks reports whether the intent plainly asks for the effect: it names the action and the target.
func (i *intent) asks(e Effect) bool {
	if i == nil || i.text == "" {
		return false
	}
	if i.words == nil {
		i.read()
	}
	named := slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(e.Target), func(r rune) bool { return r == ' ' || r == ',' }), func(s string) bool {
		s = lastPart(strings.TrimRight(s, "/")) // a folder above it does not name it
		return len(s) > 2 && i.words[strings.Trim(s, "./-")]
	})
	for verb := range i.verbs["asks-"+string(e.Kind)] {
		if named && (i.words[verb] || i.words[verb+"s"]) {
			return true
		}
	}
	return false
}

// fold is an effect that stands for equal effects on the files of one folder.
type fold struct {
	Effect
	worst float64 // the lowest score among them
	lines []int   // where they are, as far as that is known
}

// foldOf returns an effect that stands for itself.
func foldOf(e Effect, said *intent) fold { return fold{e, e.score(said), e.lines()} }

// merged drops findings that say the same as the one before, which gets their lines.
func merged(list []finding) []finding {
	out := list[:0]
	for _, f := range list {
		if n := len(out) - 1; n >= 0 && out[n].Category == f.Category && out[n].Score == f.Score && out[n].Message == f.Message {
			out[n].Lines = append(out[n].Lines, f.Lines...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// foldLeast is the number of equal effects from which they are reported as a count.
const foldLeast = 3

// folded joins effects that differ only in which file of a folder they affect, in the order of their first: a long list says one thing once, with a count.
func folded(list []Effect, said *intent) []fold {
	type group struct {
		kind  Kind
		v     Reversibility
		reach Reach
		sure  float64
		why   string // without the target, "" of what stands for itself
		dir   string
	}
	if len(list) < foldLeast { // None can be joined.
		return lists.Each(list, func(e Effect) fold { return foldOf(e, said) })
	}
	out := make([]fold, 0, len(list))
	of, files, worst, lines, told := make([]group, len(list)), map[group]map[string]bool{}, map[group]float64{}, map[group][]int{}, map[group]bool{}
	for i, e := range list {
		why, ok := withoutTarget(e)
		if !ok {
			continue
		}
		k := group{e.Kind, e.Reversibility, e.Reach, e.Sure, why, path.Dir(e.Target)}
		if of[i] = k; files[k] == nil {
			files[k], worst[k] = map[string]bool{}, 1
		}
		files[k][e.Target], worst[k], lines[k] = true, min(worst[k], e.score(said)), append(lines[k], e.lines()...)
	}
	for i, e := range list {
		k := of[i]
		switch n := len(files[k]); {
		case k.why == "" || n < foldLeast:
			out = append(out, foldOf(e, said)) // equal signals are joined later
		case !told[k]:
			told[k] = true
			e.Why = e.Why.About(e.Target, wording.Say("%s files below %s", strconv.Itoa(n), k.dir))
			e.Target = k.dir
			out = append(out, fold{e, worst[k], lines[k]})
		}
	}
	return out
}

// withoutTarget returns what an effect does without the file that it affects, and whether that is a single file with a path.
func withoutTarget(e Effect) (string, bool) {
	if !strings.Contains(e.Target, "/") || strings.ContainsAny(e.Target, " $*") || strings.Contains(e.Target, "://") {
		return "", false
	}
	without := e.Why.About(e.Target, wording.Clause{Text: "\x00"}).String()
	return without, strings.Contains(without, "\x00")
}

// ownProcesses reports whether a command stops only what the session started.
func (c *command) ownProcesses() bool {
	if !c.direct() || c.Privileged || c.has("-v", "--inverse", "-u", "--user") || len(c.operands) == 0 {
		return false
	}
	if c.name != "kill" {
		return c.r.running.Stops(c.name, texts(c.operands), texts(c.all))
	}
	found := len(c.r.sought) > 0 && !slices.Contains(c.r.sought, false)
	return !slices.ContainsFunc(c.operands, func(a arg) bool { return !c.ownProcess(&a, found) })
}

// ownProcess reports it for one operand; found says that searches found nothing else.
func (c *command) ownProcess(a *arg, found bool) bool {
	return a.known && c.r.running.Started(a.text) || c.r.numbers[a.text] ||
		found && len(a.from) == 1 && c.r.judge.tables.ofClass("finds-processes", a.from[0]) || !foreignProcess(*a)
}

// foreignProcess reports whether a named process may be other than one that the same shell started: a job, or a process number that it kept.
func foreignProcess(a arg) bool {
	switch { // kill refuses an empty word
	case a.known && a.text == "", strings.HasPrefix(a.text, "%"), a.text == "0", a.text == "$(jobs)" && a.onlyOf("jobs"):
		return false
	case len(a.names) != 1 || a.text != "$"+a.names[0] || a.names[0] == "PPID":
		return true
	}
	return a.names[0] != "!" && !strings.HasSuffix(strings.ToUpper(a.names[0]), "PID")
}

// production reports whether the command's variables or words point to a live system.
func (c *command) production() bool { return c.pointer() != "" }

// pointer returns the first variable or word that points to a live system, or "".
func (c *command) pointer() string {
	for _, a := range c.assigns {
		v := strings.ToLower(a.value.text)
		named := slices.Contains([]string{"production", "prod", "live"}, v)
		if named && a.name == "NODE_ENV" && !strings.Contains(c.name, "seq") && c.name != "knex" {
			return ""
		}
		if named || strings.Contains(v, "prod") && holdsAny(a.name, "URL", "HOST", "DB", "DATABASE", "ENV") {
			return a.name
		}
	}
	return c.anyWord(&c.live, func(a arg) bool {
		return (!strings.HasPrefix(a.text, "-") || strings.Contains(a.text, "=")) && liveName(strings.ToLower(a.text))
	})
}

// anyWord returns the first word of the command that is one of those asked about, and looks at the words only once: each operand may ask.
func (c *command) anyWord(known **string, about func(arg) bool) string {
	if *known == nil {
		found := ""
		if at := slices.IndexFunc(c.all, about); at >= 0 {
			found = c.all[at].text
		}
		*known = &found
	}
	return **known
}

// reachesLive returns the effect of running the project's own code with a variable that leads to a live system, nil without one.
func (r *reading) reachesLive(v *invocation, name string) []Effect {
	if at := r.live(v); at != "" {
		return one(KindInfrastructure, say("runs %s with %s, which leads to a live system", name, at), name)
	}
	return nil
}

// liveName reports whether the name of a machine, a container or a database says that people depend on it.
func liveName(s string) bool {
	return slices.ContainsFunc(readings.Words(s), func(w string) bool { return w == "prod" || w == "production" || w == "live" })
}

// isPlumbing reports whether a method only makes or closes what others use.
func (t *tables) isPlumbing(library, name, word string) bool {
	return t.ofClass("client-plumbing", library+"."+name) || t.ofClass("client-maker", name) ||
		t.ofClass("client-plumbing", word) && (word != "flush" && word != "set" || !t.ofClass("holds-data", strings.ToLower(library)))
}

func (t *tables) localContext(s string) bool {
	return t.ofClass("local-context", s) || startsAny(s, "kind-", "k3d-")
}

// namedTask returns the effect of running a file of the workspace or of a skill by what its name and the command's variables say.
func (r *reading) namedTask(v *invocation, file arg, is where) []Effect {
	read := r.wasRead(v, file)
	if !read {
		r.note(say("it runs a script file that was not read: %s.", file.text))
	}
	base := path.Base(file.text)
	if e, ok := r.judge.tables.taskEffect(strings.TrimSuffix(base, path.Ext(base))); ok && !read {
		e.Sure = 0.6
		return []Effect{e.with(say("runs %s, whose name says that it acts outside the workspace", file.text), file.text)}
	}
	if out := r.reachesLive(v, file.text); out != nil {
		return out
	}
	if read {
		return own(say("runs %s", file.text))
	}
	return unreadFile(file, is)
}

// live returns the variable of a command, or one exported before, that leads to a live system: credentials or a database that
// are named so. A mode, such as RAILS_ENV, says nothing of what is reached.
func (r *reading) live(v *invocation) string {
	for _, a := range v.assigns {
		leads := strings.HasSuffix(a.name, "_PROFILE") || wordclass.Within("leads-to-live", a.name)
		if leads && liveName(strings.ToLower(a.value.text)) {
			return a.name + "=" + a.value.text
		}
	}
	return r.leads
}

// contents returns the content of a file, or of the files that a pattern names. all is false if the command may be given
// others: what the call puts beside them is not read.
func (c *command) contents(f arg) (read []string, all bool) {
	if text, ok := c.content(f.text); ok && f.known && !f.word.HasGlob() {
		return []string{text}, true
	}
	at := c.r.world.clean(f.text, c.cwd)
	folder, pattern := path.Dir(at), path.Base(at)
	if !f.word.HasGlob() || !f.known || !c.direct() || strings.ContainsAny(folder, "*?[") || strings.ContainsAny(pattern, "[(\\") || c.r.putsBelow(folder) {
		return nil, false
	}
	files, all := c.r.means.Files.Below(folder, 0, func(rel string) bool { fits, _ := path.Match(pattern, rel); return fits })
	for _, name := range files {
		text, _ := c.content(name)
		read = append(read, text)
	}
	return read, all && len(read) > 0
}

// local reports whether an address is on this machine, or can be elsewhere only if a variable says so.
func (a arg) local() bool { return a.either || urls.Local(a.text) }

// databaseHere returns how far a change of a database on this machine reaches, "" if it is not on this machine.
func (c *command) databaseHere(at where) Reach {
	switch {
	case c.host != "", c.production():
		return ""
	case at == placeWorkspace:
		return ReachWorkspace
	case at != placeUnknown, c.serverHere(), c.serverInBox():
		return ReachUser
	}
	return ""
}

// variables returns what some variables are set to: by the command's line, or exported before it in the call.
func (c *command) variables(names ...string) (out []arg) {
	all := c.assigns
	for _, e := range c.Exported {
		all = append(slices.Clip(all), assignment{e.Name, argOf(e.Value)})
	}
	for _, a := range all {
		if slices.Contains(names, a.name) {
			out = append(out, a.value)
		}
	}
	return out
}

// makes notes the file that a command makes.
func (c *command) makes() {
	if c.took < len(c.operands) {
		c.r.tell(c.invocation, vaglio.Wrote, c.operands[c.took])
	}
}

// spanned sets the place of the effects that something adds.
func (r *reading) spanned(at shell.Span, adds func()) {
	since := len(r.effects)
	adds()
	for i := range r.effects[since:] {
		r.effects[since+i].at = at
	}
}

// numbered sets the lines of a command line of several that have the effects. text is what was read.
func numbered(effects []Effect, text string) {
	if !strings.Contains(text, "\n") {
		return
	}
	from, line := 0, 1
	for i := range effects {
		e := &effects[i]
		if e.at.End == 0 || e.at.Start > len(text) {
			continue
		}
		if e.at.Start < from {
			from, line = 0, 1
		}
		line += strings.Count(text[from:e.at.Start], "\n")
		from, e.line = e.at.Start, line
	}
}

// staysHere reports whether effects reach no further than the workspace, and none is asked about.
func staysHere(effects []Effect) bool {
	return !slices.ContainsFunc(effects, func(e Effect) bool {
		return e.Kind != KindRead && e.Counts() != ReachWorkspace || e.score(nil) < Threshold
	})
}

// ofGit grades a change in the workspace that only git should make.
func (r *reading) ofGit(e Effect, p string) Effect {
	if e.Reach != ReachWorkspace || !r.world.inside(p) || r.judge.places.Classes(p)&place.Repository == 0 {
		return e
	}
	e.Why = e.Why.And(", which only git should change")
	return e.as(Partial, ReachUser).inFolder(true)
}
