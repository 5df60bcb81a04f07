package vaglio

import (
	"bytes"
	"slices"

	"github.com/metnos/vaglio/internal/packed"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/guard"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Call returns the proposal as input for a [reading.Reader], with what Known says of the
// executor.
func (p Proposal) Call() reading.Call {
	c := reading.Call{
		Executor: p.Executor, Client: p.Context.Client, Args: reading.Decoded(p.Executor, p.Args), Cwd: p.Context.Cwd, Capabilities: p.Context.Capability,
		Means: reading.Means{Session: p.Facts},
	}
	if k := p.Context.Known; k != nil {
		c.Shell, c.Schema = k.Shell, k.ArgsSchema
		for _, capability := range k.Capabilities {
			c.Capabilities = append(slices.Clip(c.Capabilities), capability.Name)
		}
	}
	return c
}

// Read returns the reading of a proposal that guard and judges would use.
func (e *Engine) Read(p Proposal) *reading.Reading {
	call, _ := e.call(p)
	return call.Reading
}

// Sources returns what a call that a person is asked about is bound to, as of now: the files
// that it runs or is handed, and where its folder leads.
func (e *Engine) Sources(p Proposal) []Source {
	e = e.on(&p)
	e.spaces.of(&p)
	call, runs := e.call(p)
	return e.bound(&p, call.Reading, runs)
}

// call reads a proposal for the guard. The caller's claims count in addition to what the
// catalog knows: a claim can only add to what is read. call also returns the files that the
// call runs, as it found them.
func (e *Engine) call(p Proposal) (guard.Call, []Source) {
	e = e.on(&p)
	e.spaces.of(&p)
	p.Context.Known = e.executor(p.Executor)
	c, cwd := p.Call(), p.Context.Cwd
	var runs *sources
	if e.files != nil && len(p.Context.Site.Readable) > 0 {
		runs = &sources{files: e.files, places: e.spaces.places, folders: p.Context.Site.Readable, told: p.Facts, left: maxEntries}
		c.Files = runs
		c.Absent = func(name string) bool { return e.absent(name, cwd) }
		c.Present = func(name string) bool { return e.kindOf(name).Seen() }
		c.Leads = func(name string) string { at, _ := e.files.Look(name); return at }
		c.Steers = func(name string) bool { return e.steers(&p, name) }
		c.Output = func(folder string) bool { return e.isOutput(&p, folder) }
	}
	call := guard.Call{
		Executor: c.Executor, Args: c.Args, Capabilities: c.Capabilities, Shell: c.Shell, Cwd: c.Cwd,
		Reading: e.reader.Read(c), Machine: linked(e.machine, p.Facts),
	}
	if runs == nil {
		return call, nil
	}
	call.Packed, call.Hooked = e.packed(runs.folders), e.hooked(runs.folders)
	runs.closed = true
	for _, p := range e.guard.Naming(call.Reading) { // what tests the gate names it, too, so a person may allow this
		if !p.Sure {
			call.Reading.Gaps = append(call.Reading.Gaps, reading.Gap{At: p.File, Why: wording.Say("names what is closed of the gate, or its address")})
		}
	}
	return call, runs.list
}

// hooked returns what tells whether settings in some folders name the gate's hook.
func (e *Engine) hooked(folders []string) func(string) bool {
	const longest = 256 << 10
	return func(file string) bool {
		data, err := e.files.Read(folders, file, longest)
		return err != nil || bytes.Contains(data, []byte("vaglio"))
	}
}

// maxArchive is how large an archive is listed. It is no text that runs, so it counts for no other bound.
const maxArchive = 4 << 20

// packed returns what lists the archives in some folders.
func (e *Engine) packed(folders []string) func(string) ([]string, bool, bool) {
	return func(file string) (names []string, whole, found bool) {
		if at, kind := e.files.Look(file); kind != RegularFile || at != file {
			return nil, false, kind.Seen() && kind != Folder
		}
		data, err := e.files.Read(folders, file, maxArchive)
		if err != nil {
			return nil, false, true
		}
		names, whole = packed.Names(data)
		return names, whole, true
	}
}

// withLinks is a machine on which the links of the session are, too, where nothing else can be seen.
type withLinks struct {
	realpath.Machine
	session Facts
}

// linked returns a machine with the links out of the workspace that the session made.
func linked(m realpath.Machine, session Facts) realpath.Machine {
	if !session.any((*Fact).leads) {
		return m
	}
	if m == nil {
		m = realpath.Here{}
	}
	return withLinks{m, session}
}

// Readlink implements [realpath.Machine].
func (m withLinks) Readlink(name string) (target string, kind realpath.Kind) {
	if target, kind = m.Machine.Readlink(name); kind != realpath.Missing {
		return target, kind
	}
	for i := range m.session {
		switch f := &m.session[i]; {
		case f.leads() && f.Path == name:
			target, kind = f.Words[0], realpath.Link
		case f.leads() && isBelow(name, f.Path):
			kind = realpath.Other
		}
	}
	return target, kind
}
