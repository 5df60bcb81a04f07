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

// Sources lists the files that the call with that index runs or sends, with what is known of
// their content, and says how many they are: none where [Card.Call] says as much.
func (c *Card) Sources(i int) (Text, int) {
	w, call := writer{texts: c.Texts}, &c.Calls[i]
	known := len(call.runs) > maxRuns || len(call.unbound) > maxRuns
	for n, s := range call.runs {
		w.put(Theirs, s.String())
		w.end()
		if call.heads[n].runes > 0 {
			known = true
			w.part(Block, call.heads[n], Everything)
		}
	}
	for _, s := range call.unbound {
		w.say("unbound", nil)
		w.put(Ours, " ")
		w.part(Theirs, s, Everything)
	}
	if !known {
		return nil, 0
	}
	return w.text, len(call.runs) + len(call.unbound)
}
