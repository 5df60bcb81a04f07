package cardtext

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/templates"
)

// maxVoters is the most characters of the names of those who allowed.
const maxVoters = 100

// quorum says how many people must allow a call, and who already has.
func (c *Card) quorum(w *writer, call *Call) {
	var names []string
	for i := range call.votes {
		if name := fullName(call.votes[i].By); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var routes []string
	quorum := 1
	for _, on := range c.routes {
		quorum = max(quorum, on.Quorum)
		n := 0
		for i := range call.votes {
			if call.votes[i].Route == on.Route {
				n++
			}
		}
		routes = append(routes, c.Texts.Plain("votes.route", templates.Values{"route": Within(on.Route, 40), "have": n, "need": max(on.Quorum, n+1)}))
	}
	switch {
	case len(names) == 0 && quorum == 1:
		return
	case len(c.routes) > 1: // any one of the routes is enough
		w.line("votes.routes", templates.Values{"routes": templates.Theirs(strings.Join(routes, " · "))})
	case len(names) == 0:
		w.line("votes.none", templates.Values{"need": quorum})
		return
	default:
		w.say("votes", templates.Values{"have": len(names), "need": max(quorum, len(names)+1)})
		w.put(Ours, " ")
	}
	if len(names) > 0 {
		w.line("votes.by", templates.Values{"by": Within(strings.Join(names, ", "), maxVoters)})
	}
}
