package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// readSources adds the files that the call runs, bound and unbound.
func (c *Call) readSources(it *approval.Item) {
	for _, s := range it.Verdict.Sources {
		switch {
		case s.IsFolder() && s.Real == "": // the path is not an alias
		case s.IsFolder():
			c.runs, c.heads = append(c.runs, seeLine(s.Path+" → "+s.Real)), append(c.heads, seen{})
		case s.Unread != "":
			c.unbound = append(c.unbound, seeLine(s.Path))
		default:
			c.runs = append(c.runs, seeLine(s.Path+", SHA-256 "+s.SHA256[:min(len(s.SHA256), shownDigest)]))
			c.heads = append(c.heads, see(s.Head))
		}
	}
}

// files names the files that the call runs: first those whose content is bound.
func (c *Call) files(w *writer, place func(templates.Key, seen)) {
	for _, s := range c.runs[:min(len(c.runs), maxRuns)] {
		place("runs", s)
	}
	for _, s := range c.unbound[:min(len(c.unbound), maxRuns)] {
		place("unbound", s)
	}
	if left := max(len(c.runs)-maxRuns, 0) + max(len(c.unbound)-maxRuns, 0); left > 0 {
		w.line("runs.more", templates.Values{"n": left})
	}
}
