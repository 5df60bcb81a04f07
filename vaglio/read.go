package vaglio

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/guard"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Call gives a proposal as a [reading.Reader] takes it, with what Known says of
// the executor.
func (p Proposal) Call() reading.Call {
	c := reading.Call{Executor: p.Executor, Client: p.Context.Client, Args: p.Args, Cwd: p.Context.Cwd, Capabilities: p.Context.Capability, Folders: p.Context.Mounts}
	if k := p.Context.Known; k != nil {
		c.Shell, c.Schema = k.Shell, k.ArgsSchema
		for _, capability := range k.Capabilities {
			c.Capabilities = append(slices.Clip(c.Capabilities), capability.Name)
		}
	}
	return c
}

// Read gives the reading of a proposal that guard and judges would use.
func (e *Engine) Read(p Proposal) *reading.Reading { return e.call(p).Reading }

// Sources gives the files that a call runs, as they are now.
func (e *Engine) Sources(p Proposal) []Source { return sourcesOf(e.Read(p)) }

func sourcesOf(r *reading.Reading) []Source {
	if r == nil {
		return nil
	}
	var out []Source
	for _, s := range r.Sources() {
		out = append(out, Source{Path: s.Path, SHA256: s.SHA256, Lines: s.Lines, Bytes: s.Bytes, Unread: s.Why})
	}
	return out
}

// call is a proposal as the guard takes it, read. What the caller claims counts
// beside what the catalog knows: a claim can add to what is read only.
func (e *Engine) call(p Proposal) guard.Call {
	p.Context.Known = nil
	if ex, ok := e.catalog.Find(p.Executor); ok {
		p.Context.Known = &ex
	}
	c := p.Call()
	return guard.Call{
		Executor: c.Executor, Args: c.Args, Capabilities: c.Capabilities, Shell: c.Shell, Cwd: c.Cwd,
		Reading: e.reader.Read(c),
	}
}
