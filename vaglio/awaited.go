package vaglio

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// A call may run a file after it was judged: a script that is not there yet, or one behind a
// pause. The session remembers such calls. When a later one writes what they wait for, they
// are judged again with what is written.

const (
	// mostAwaited limits the names that are remembered of one call.
	mostAwaited = 64
	// mostWaiters limits how many calls are judged again because of one.
	mostWaiters = 32
)

// waiter is a call that may still run files, as a fact keeps it.
type waiter struct {
	Executor string `json:"executor"`
	Args     Args   `json:"args"`
}

// awaited returns the fact that a call runs files that may be written while it runs, if the
// session does not await them already. A missing file that the call itself puts there, as did says, is not awaited.
func awaited(p *Proposal, r *reading.Reading, goesOn bool, did Facts) (f Fact, waits bool) {
	if r == nil {
		return Fact{}, false
	}
	s, ok := r.Means.Files.(*sources)
	if !ok {
		return Fact{}, false
	}
	in := path.Clean(p.Context.Cwd)
	var names map[string]bool
	if goesOn || pauses(r) {
		names = s.mayRun()
		names[in] = true
	} else if names = s.missing(r, did); len(names) == 0 {
		return Fact{}, false
	}
	text, err := strictjson.Marshal(waiter{p.Executor, p.Args})
	f = wrote(in, string(text), err == nil)
	f.Deed = Awaited
	list := slices.Sorted(maps.Keys(names))
	if names[in] { // before what lies above it
		list = append([]string{in}, list...)
	}
	for _, name := range list {
		for _, at := range []string{name, reallyAt(s.files, name)} {
			if len(f.Words) < mostAwaited && !slices.Contains(f.Words, at) && !p.Facts.awaits(at, f.SHA256) {
				f.Words = append(f.Words, at)
			}
		}
	}
	slices.Sort(f.Words)
	return f, len(f.Words) > 0
}

// mayRun returns the files that a call was found to run, and those that its programs looked
// for.
func (s *sources) mayRun() map[string]bool {
	names := map[string]bool{}
	maps.Copy(names, s.absent)
	for _, src := range s.list {
		names[src.Path] = true
	}
	return names
}

// missing returns the files that were looked for, are not there, are named by the call's words and
// are not put there by what it did.
func (s *sources) missing(r *reading.Reading, did Facts) map[string]bool {
	names, bases := map[string]bool{}, map[string]bool{}
	for name := range s.absent {
		bases[path.Base(name)] = true
	}
	if len(bases) > 0 {
		eachNamed(r, func(cwd, name string) {
			if at := place.Join(cwd, name); bases[path.Base(name)] && s.absent[at] {
				names[at] = true
			}
		})
	}
	for i := range did {
		if did[i].leaves() {
			delete(names, did[i].Path)
		}
	}
	return names
}

// pauses reports whether a program that a call runs seems to wait for some time.
func pauses(r *reading.Reading) bool {
	for i := range r.Commands {
		for _, ran := range r.Commands[i].Script.Ran {
			if strings.Contains(ran.Text, "sleep(") || strings.Contains(ran.Text, "setTimeout(") {
				return true
			}
		}
	}
	return false
}

// eachNamed calls visit with every path that words and inputs of a call's commands may name
// on this machine, and the folder that it is in if it is relative.
func eachNamed(r *reading.Reading, visit func(cwd, name string)) {
	for i := range r.Commands {
		for _, c := range r.Commands[i].Script.Commands {
			if cwd, known := c.Cwd.Text(); known && c.Remote == nil {
				namesOf(&c, 0, func(name string) { visit(cwd, name) })
			}
		}
	}
}

// awaits reports whether a call, given by its digest, may still run a file.
func (f Facts) awaits(name, call string) bool {
	return slices.ContainsFunc(f, func(a Fact) bool { return a.Deed == Awaited && a.SHA256 == call && slices.Contains(a.Words, name) })
}

// arrivals returns what a call puts where a call may still run it, this one included, so that
// a person would be asked about that call, or it would be denied. did is what the call does.
func (e *Engine) arrivals(ctx context.Context, p *Proposal, r *reading.Reading, did Facts) []reading.Gap {
	judged, puts, gaps := 0, e.putBy(did), changed(r, did)
	for i, a := range slices.Concat(p.Facts, did) {
		if a.Deed != Awaited {
			continue
		}
		put, before := puts.reaching(a.Words), i < len(p.Facts)
		if !before { // what a call builds and runs was judged with it
			put = slices.DeleteFunc(put, func(f Fact) bool { return f.Deed == Built })
		}
		harms := slices.ContainsFunc(put, func(f Fact) bool { return f.isLoaded() })
		if len(put) == 0 && slices.Contains(a.Words, a.Path) { // its programs may find what they do not name
			put = puts.loadedIn(a.Path)
		}
		if before && len(put) > 0 && !harms {
			judged++
			harms = judged > mostWaiters || e.hides(r, &a, put) || e.harms(ctx, p, &a, did)
		}
		if harms {
			gaps = append(gaps, arrives(put[0].Path))
		}
	}
	return gaps
}

func arrives(file string) reading.Gap {
	return reading.Gap{At: file, Doubt: true, Why: wording.Say("puts into %s what a call of this session may still run", file)}
}

// changed returns what a call puts into files that it looks into for what it runs.
func changed(r *reading.Reading, did Facts) (gaps []reading.Gap) {
	found := stale(r)
	for _, f := range did {
		if slices.Contains(found, f.Path) && f.SHA256 == "" && f.isLoaded() {
			gaps = append(gaps, arrives(f.Path))
		}
	}
	return gaps
}

// stale returns the files that a call looks for in what it runs, after it wrote there what is not known.
func stale(r *reading.Reading) (files []string) {
	for i := 0; r != nil && i < len(r.Commands); i++ {
		for file, holds := range r.Commands[i].Script.Sought {
			if holds.Size() > 0 {
				files = append(files, file)
			}
		}
	}
	return files
}

// arriving is what a call puts into files and folders, and where these really are.
type arriving struct {
	facts Facts
	at    []string
}

func (e *Engine) putBy(did Facts) (all arriving) {
	for _, f := range did {
		if !f.puts() {
			continue
		}
		at := f.Path
		if e.files != nil {
			at = reallyAt(e.files, at)
		}
		all.facts, all.at = append(all.facts, f), append(all.at, at)
	}
	return all
}

// reach reports whether facts put something where others await it.
func (f Facts) reach(others Facts) bool {
	return slices.ContainsFunc(others, func(a Fact) bool {
		return a.Deed == Awaited && slices.ContainsFunc(f, func(put Fact) bool {
			return put.puts() && slices.ContainsFunc(a.Words, func(name string) bool { return isBelow(put.Path, name) })
		})
	})
}

// puts reports whether something is put at the fact's path.
func (f *Fact) puts() bool {
	return slices.Contains([]Deed{Wrote, Built, Fetched, Moved, Unpacked, Brought}, f.Deed) && !f.Folder
}

// reaching returns what is put at files or above them.
func (a *arriving) reaching(files []string) (put Facts) {
	for i, f := range a.facts {
		if slices.ContainsFunc(files, func(name string) bool { return isBelow(f.Path, name) || isBelow(a.at[i], name) }) {
			put = append(put, f)
		}
	}
	return put
}

// loadedIn returns what is loaded of what is put into a folder.
func (a *arriving) loadedIn(folder string) (put Facts) {
	for i := range a.facts {
		if f := &a.facts[i]; isBelow(folder, f.Path) && f.isLoaded() {
			put = append(put, *f)
		}
	}
	return put
}

// hides reports whether a call puts a folder from elsewhere, whose files are not known, above
// an awaited file, or a repository may.
func (e *Engine) hides(r *reading.Reading, a *Fact, put Facts) bool {
	return e.brings(a, put) || slices.ContainsFunc(put, func(f Fact) bool {
		return (f.Deed == Moved || len(takenFrom(r, f.Path)) > 0) && slices.ContainsFunc(a.Words, func(name string) bool {
			_, told := put.last(name)
			return name != f.Path && isBelow(f.Path, name) && !told
		})
	})
}

// brings reports whether a repository may put a file there that a call names, does not find yet
// and, as it goes on, may still run.
func (e *Engine) brings(a *Fact, put Facts) bool {
	last := put[len(put)-1]
	return last.Deed == Brought && e.files != nil && slices.Contains(a.Words, a.Path) && slices.ContainsFunc(a.Words, func(name string) bool {
		_, kind := e.files.Look(name)
		return kind == NoFile && isBelow(last.Path, name) && strings.Contains(a.text, path.Base(name))
	})
}

// reallyAt returns a path with the links of its folder resolved, and its own if it leads to
// something.
func reallyAt(files Files, name string) string {
	if at, kind := files.Look(name); kind.Seen() {
		return at
	}
	at, _ := files.Look(path.Dir(name))
	return path.Join(at, path.Base(name))
}

// harms reports whether a call that passed would no longer pass once another one has done what
// it does. What is not kept of the call does not count, as it is weighed with the files.
func (e *Engine) harms(ctx context.Context, p *Proposal, a *Fact, did Facts) bool {
	var w waiter
	if a.text == "" || strictjson.Unmarshal([]byte(a.text), &w) != nil {
		return false
	}
	own := *e
	own.verdicts = nil
	own.gates = slices.DeleteFunc(slices.Clone(e.gates), func(g Gate) bool { _, reads := g.Judge.(Witness); return !reads })
	passes := func(facts Facts) bool {
		c := p.Context
		again := Proposal{
			Agent: p.Agent, Session: p.Session, TurnID: p.TurnID, Elsewhere: p.Elsewhere, Executor: w.Executor, Args: w.Args,
			Context: Context{Cwd: a.Path, Mounts: c.Mounts, Roots: c.Roots, Client: c.Client, Capability: c.Capability},
			Facts:   slices.DeleteFunc(facts, func(f Fact) bool { return f.Deed == Awaited }),
		}
		v, err := own.Weigh(ctx, again)
		return err == nil && v.Approved
	}
	if len(own.gates) == 0 {
		return false
	}
	if own.kind = own.gates[0].Judge.Kind(); !passes(slices.Clone(p.Facts)) { // the engine's own may be none of them
		return false
	}
	own.files = overlaid{e.files, did}
	return !passes(slices.Concat(p.Facts, did))
}

// overlaid are files as they are after a call.
type overlaid struct {
	Files

	did Facts
}

// Read returns what the call writes into a file, if that is known, or else what the file holds.
func (o overlaid) Read(folders []string, name string, limit int) ([]byte, error) {
	if text, ok := o.did.Text(name); ok && len(text) <= limit {
		return []byte(text), nil
	}
	return o.Files.Read(folders, name, limit) //nolint:wrapcheck // it stands in for them
}
