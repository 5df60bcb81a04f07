package effects

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// optionName matches the path of a file whose name begins as an option does.
var optionName = regexp.MustCompile(`/--?[a-zA-Z][^/]*$`)

func (r *reading) write(v *invocation, a arg, verb wording.Phrase) []Effect {
	if r.sealed(v) {
		return nil
	}
	if on, ok := r.onMount(v, a); ok {
		return r.write(v.onHost(r.world.cwd), on, verb)
	}
	r.tell(v, vaglio.Wrote, a)
	e := usual(KindOverwrite).with(wording.Sentence{{Phrase: verb}, object(a.text)}, a.text)
	p := r.world.clean(a.text, v.cwd)
	if r.judge.places.IsDisk(p) {
		return []Effect{e.with(say("overwrites the disk %s", a.text), a.text).as(Irreversible, ReachSystem)}
	}
	switch at := r.writtenPlace(v, a); {
	case at == placeNowhere:
		return nil
	case at == placeWorkspace, at == placeTemp, r.plainSettings(v, a, at):
	case at == placeControl, at == placeSecret, at == placeHome:
		if at == placeSecret && r.fillsExample(v, a) {
			return own(say("copies the example %s to %s", join(v.args), a.text))
		}
		e.Reach, e.Why = r.reachOf(p), e.Why.And(beyondWorkspace(at))
	case at == placeOption:
		e.Reach, e.Why = ReachUser, e.Why.And(", whose name a program takes for an option where a pattern stands for it")
	case at == placeUnknown:
		e.Reach, e.Sure = r.reachOfUnknown(v), 0.4
		e.Why = wording.Sentence{{Phrase: verb}, wording.Say("a file whose name is not known: %s", a.text)}
	case at == placeSystem:
		e = r.world.away(e, p)
	}
	return []Effect{r.ofGit(e, p)}
}

// reachOf returns the reach of a change to a place of the user outside the workspace.
func (r *reading) reachOf(p string) Reach {
	if r.judge.places.Classes(p)&place.Perimeter != 0 {
		return ReachSystem
	}
	return ReachUser
}

// writtenPlace returns the place of a file that is written: what is written to a temporary folder is a file in it.
func (r *reading) writtenPlace(v *invocation, a arg) where {
	p := r.world.clean(a.text, v.cwd)
	switch {
	case p == "/tmp", p == "/var/tmp":
		return placeTemp
	case v.Call == nil && a.known && optionName.MatchString(p):
		return placeOption
	}
	if to := r.world.links[p]; to != "" && v.direct() && v.name != "ln" {
		a, v = literal(to), &invocation{} // it is written through the link
	}
	return r.world.placeOf(a, v.cwd)
}

// disclosures adds what a reading command discloses. A throw-away container holds no secrets but those of the folders that it is given.
func (c *command) disclosures(out []Effect) []Effect {
	away := c.r.thrownAway(c.invocation)
	if away && len(c.mounts) == 0 {
		return out
	}
	if slices.Contains([]string{"echo", "printf", "print"}, c.name) {
		return append(out, c.r.secretsTold(c.all)...)
	}
	t := c.told()
	for i := range t.Operations {
		o := &t.Operations[i]
		if o.Verb != operation.Read {
			continue
		}
		if _, _, given := c.r.mounted(c.invocation, argOf(o.Object.Word)); given || !away {
			out = append(out, c.operation(o)...)
		}
	}
	if t.Known || away {
		return out
	}
	return append(out, c.r.secretsIn(c.operands, c.cwd, "shows the secrets in %s")...)
}

func (c *command) writeAll(verb wording.Phrase, list []arg) []Effect {
	return lists.All(list, func(a arg) []Effect { return c.r.write(c.invocation, a, verb) })
}

// hugeFile is the size in bytes from which a file that is created at once is asked about.
const hugeFile = 100 << 30

// fills judges what writes until the disk is full: a size that few disks can spare, or an endless source without a limit.
func (r *reading) fills(v *invocation) []Effect {
	t := r.judge.tables
	endless := t.ofClass("endless", v.name) || slices.ContainsFunc(v.args, func(a arg) bool { return t.ofClass("endless", strings.TrimPrefix(a.text, "if=")) })
	to := slices.Clone(v.writes)
	size, count, bounded := 0.0, 1.0, t.ofClass("sized", v.name)
	for _, a := range v.args {
		option, value, _ := strings.Cut(a.text, "=")
		switch option {
		case "of":
			to = append(to, a.slice(len("of=")))
		case "count":
			count, bounded = bytesOf(value), true
		default:
			size = max(size, bytesOf(cmp.Or(value, strings.TrimLeft(a.text, "-clsbn"))))
		}
	}
	// Writing to a device fills no disk.
	to = slices.DeleteFunc(to, func(w arg) bool { return strings.HasPrefix(w.text, "/dev/") && !strings.HasPrefix(w.text, "/dev/shm/") })
	if t.ofClass("makes-file", v.name) && size*count >= hugeFile || endless && len(to) > 0 && !bounded {
		return one(KindPower, say("writes until the disk may be full: %s %s", v.name, join(v.args)), v.name)
	}
	return nil
}

// bytesOf converts a size to bytes; it returns 0 if it is not a size.
func bytesOf(size string) float64 {
	digits := strings.TrimLeft(size, "0123456789")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "i"))
	n, _ := strconv.ParseFloat(size[:len(size)-len(digits)], 64) // 0 without digits
	return n * map[string]float64{"": 0x1p0, "K": 0x1p10, "M": 0x1p20, "G": 0x1p30, "T": 0x1p40, "P": 0x1p50, "E": 0x1p60}[unit]
}

// writesByPath matches sed's w before a path, but not a w that ends a word.
var writesByPath = regexp.MustCompile(`(^|\PL)w!? [/~]`)

// runsSubstitution reports whether a sed substitution runs its result: there is an e among its flags.
func runsSubstitution(script string) bool {
	at := strings.IndexByte(script, 's')
	if at < 0 || at+1 >= len(script) {
		return false
	}
	flags := script[strings.LastIndexByte(script, script[at+1])+1:]
	return strings.Contains(flags, "e") && strings.Trim(flags, "egpimIM0123456789") == ""
}

// search summarizes the tests of a search.
type search struct {
	names            []arg
	verb             wording.Clause // what it does to what it finds, if it deletes that
	deletes, negated bool
	narrowed         bool // each deletion takes only what passed a test of its name, or of being empty
	empty            bool // each deletion takes only what is empty
}

// searchOf reads the tests of a search, which apply to all its starting folders.
func searchOf(tests []shell.Word) *search {
	tests = commands.Taken(tests)
	s, named := &search{verb: wording.Clause{Phrase: "deletes files below"}}, []string(nil)
	for test, word := range commands.Tests(tests) {
		class, not := strings.CutPrefix(test.String(), "not ")
		switch value := argOf(word); class {
		case "name", "path":
			s.names = append(s.names, value)
			if class == "name" && !not {
				named = append(named, value.text)
			}
		case "regex", "link", "list":
			not = true
		case "run":
			s.runs(value.text)
		case "delete":
			s.deletes = true
		}
		s.negated = s.negated || not
	}
	narrowed := func(by ...string) bool {
		_, few := commands.Narrowed(tests, func(class string, _ shell.Word) bool { return slices.Contains(by, class) }, deletesFound)
		return few
	}
	s.narrowed, s.empty = narrowed("name", "path", "empty"), narrowed("empty")
	if len(named) > 0 && narrowed("name") {
		s.verb = wording.Clause{Phrase: "deletes files named %s below", Args: []wording.Clause{wording.List(named)}}
	}
	return s
}

// rebuilds reports whether everything that has one of the names can be rebuilt.
func (s *search) rebuilds(j *Judge) bool {
	return len(s.names) > 0 && !s.negated && !slices.ContainsFunc(s.names, func(n arg) bool {
		return !n.known || !j.places.Rebuilt(strings.Trim(n.text, "*/")) && !j.places.RebuiltName(n.text) &&
			!j.madeBeside(n.text, func(obj string) bool { return slices.ContainsFunc(s.names, func(o arg) bool { return o.text == obj }) })
	})
}

// madeBeside reports whether a build recreates a folder that comes with another one. Only the other folder tells it from a folder of scripts.
func (j *Judge) madeBeside(name string, goes func(other string) bool) bool {
	return j.tables.ofClass("made-beside-obj", path.Base(name)) && goes(path.Join(path.Dir(name), "obj"))
}

// searches returns the effect of a search that deletes what it finds below a folder.
func (c *command) searches(tests []shell.Word, root arg) []Effect {
	s := searchOf(tests)
	if !s.deletes {
		return nil
	}
	few := s.narrowed && s.rebuilds(c.r.judge) || s.empty && !s.negated
	told := root.known || root.onlyOf(shell.Toplevel) && !strings.Contains(root.text, "..")
	if p := c.r.world.placeOf(root, c.cwd); few && told && (p == placeWorkspace || p == placeTemp) {
		return c.r.anew(say("deletes files below %s", root.text), s.names...)
	}
	return insteadOfDeletes(c.r.remove(c.invocation, root), s.verb)
}

// removeAt returns the effect of deleting what a word names, depending on its place.
func (r *reading) removeAt(v *invocation, a arg) []Effect {
	e := usual(KindDelete).with(wording.Sentence{{Phrase: deletes}, object(a.text)}, a.text)
	at := r.world.placeOf(a, v.cwd)
	if out := r.noLoss(v, a, at, e.Why); out != nil {
		return out
	}
	switch at {
	case placeNowhere:
		return nil
	case placeTemp:
		if !r.movedTo(r.world.clean(a.text, v.cwd)) {
			e.Why = deletion("every temporary file, of other programs too: %s", a.text)
		}
	case placeWorkspace:
		e.Reach, e.free, e.whole = ReachWorkspace, r.freeAt(v, a), v.namesWhole(a)
	case placeHome:
		e.Why = e.Why.And(wording.Outside)
	case placeControl, placeSecret:
		e = e.with(e.Why.And(", which holds settings or secrets"), e.Target).inFolder(r.world.inside(r.world.clean(a.text, v.cwd)))
	case placeSystem:
		e = r.world.away(e, r.world.clean(a.text, v.cwd))
	case placeUnknown, placeOption:
		e.Sure = 0.4
		e.Why = deletion("files whose names are not known: %s", a.text)
	}
	if !a.known {
		e.Sure = 0.4
	}
	return []Effect{e}
}

// noLoss returns the effect of deleting what nobody will miss, nil if somebody may.
func (r *reading) noLoss(v *invocation, a arg, at where, why wording.Sentence) []Effect {
	p := r.world.clean(a.text, v.cwd)
	if r.movedTo(p) || strings.HasSuffix(a.text, "/") && r.movedTo(p+"/*") {
		return nil // from where it would be missed
	}
	switch {
	case at == placeTemp && !isAllTemporary(p):
		r.leavesTemporary(v, p)
		return unmissed(deletion("the temporary %s", a.text))
	case at == placeWorkspace:
		return r.spare(v, a, p, why)
	case at == placeUnknown && place.Inside([]string{madeIn}, p):
		return own(why.And(", which was made in this session"))
	case at == placeHome && a.known && r.world.rebuildableHome(p):
		return own(why.And(", a cache that refills itself"))
	}
	return nil
}

// isAllTemporary reports whether a temporary path stands for all files of its folder, or is the folder that the system names.
func isAllTemporary(p string) bool {
	return allTemporary.MatchString(p) || wordclass.Is("set-by-systems", strings.TrimPrefix(p, "$"))
}

// anew returns the effect of deleting what programs write: again and again, or once as a record of what happened.
func (r *reading) anew(why wording.Sentence, names ...arg) []Effect {
	if slices.ContainsFunc(strings.Split(strings.Join(texts(names), "/"), "/"), r.isRecord) {
		return unmissed(why)
	}
	return own(why.And(", which can be regenerated"))
}

// isRecord reports whether a name is that of a record of what happened. Deep folders have many names, most of them again and again.
func (r *reading) isRecord(name string) bool {
	is, met := r.records[name]
	if !met {
		if r.records == nil {
			r.records = map[string]bool{}
		}
		is = r.judge.places.Purpose(name)&place.Record != 0
		r.records[name] = is
	}
	return is
}

// spare returns the effect of deleting something in the workspace that can be recreated.
func (r *reading) spare(v *invocation, a arg, p string, why wording.Sentence) []Effect {
	below := a.onlyOf(shell.Toplevel) && !strings.HasSuffix(a.text, ")") // its last part says what is deleted
	switch {
	case v.host == "" && v.Command != &farCommand && (!a.climbs || below) && r.rebuilt(p), a.known && r.builds(v, p):
		return r.anew(why, a)
	case a.known && r.made(v, p):
		r.absent = append(r.absent, p) // a loop may come to it again, with what is moved there later
		return own(why.And(", which was made in this session"))
	case r.vacant(v, a, p):
		r.vacated = append(r.vacated, r.oneStep(v, a, p))
		return own(why.And(", where nothing is yet"))
	}
	return nil
}

// builds reports whether the project's own builds make a file: a compiler from one that goes with it, or because it lies where they write.
func (r *reading) builds(v *invocation, p string) bool {
	return v.host == "" && r.judge.madeBeside(p, func(obj string) bool {
		return slices.ContainsFunc(v.args, func(o arg) bool { return o.known && r.world.clean(o.text, v.cwd) == obj })
	}) || v.direct() && r.isOutput(p)
}

// rebuilt reports whether what is at a path can be rebuilt. A document in a folder that people name so for their own files, as in out/letter.pdf, cannot.
func (r *reading) rebuilt(p string) bool {
	is, p := r.judge.places, r.relative(p)
	return is.Rebuilt(p) && (is.Purpose(p)&place.Document == 0 ||
		!slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(s string) bool { return is.Purpose(s)&place.Record != 0 }))
}

// relative returns a path relative to the workspace, so that the names of folders above it do not count as rebuildable.
func (r *reading) relative(p string) string {
	for _, root := range r.world.roots {
		if rest, ok := strings.CutPrefix(p, root+"/"); ok {
			return rest
		}
	}
	return p
}

// empties reports whether the shell opens the i-th written file only to empty it, because the command prints nothing.
func (v *invocation) empties(i int) bool {
	switch {
	case v.appends[i] || v.Call != nil || v.Wrapper:
		return false
	case v.path == "" || slices.Contains([]string{":", "true"}, v.name):
		return true
	case len(v.args) != 1:
		return v.name == "echo" && len(v.args) == 0
	}
	switch a := v.args[0]; v.name {
	case "cat":
		return a.text == "/dev/null"
	case "echo", "printf":
		return a.text == "-n" || a.known && a.text == ""
	}
	return false
}

func (r *reading) empty(v *invocation, a arg) []Effect {
	_, _, mounted := r.mounted(v, a)
	if v.box != "" && !mounted || path.Ext(a.text) == "" && !r.isSeveral(v, a) || r.judge.places.IsDisk(r.world.clean(a.text, v.cwd)) {
		return r.write(v, a, "writes")
	}
	if r.judge.places.Purpose(a.text)&place.Scratch != 0 {
		out := r.write(v, a, "empties")
		for i := range out {
			out[i].Reversibility, out[i].eased = Irreversible, out[i].Reversibility
		}
		return out
	}
	return insteadOfDeletes(r.remove(v, a), wording.Clause{Phrase: "empties"})
}

// makesDatabase records a file, where nothing is, that a program opens as a database.
func (r *reading) makesDatabase(v *invocation, file arg) {
	if file.known && v.direct() && wordclass.Within("connecting", v.Call.Function) {
		r.namesOne(v, file)
	}
}
