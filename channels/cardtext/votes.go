package cardtext

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// maxVoters is the most characters of the names of those who allowed.
const maxVoters = 100

// maxRoute is the most characters of a route's name.
const maxRoute = 40

// Quorum says how many people must allow a call, and who already has; nothing if one is
// enough and nobody has.
func Quorum(texts *templates.Texts, routes []approval.Active, votes []approval.Vote) Text {
	w := writer{texts: texts}
	w.quorum(routes, votes)
	return w.text
}

func (w *writer) quorum(routes []approval.Active, votes []approval.Vote) {
	var names []string
	for i := range votes {
		if name := fullName(votes[i].By); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	told, quorum := w.standings(routes, votes)
	switch {
	case len(names) == 0 && quorum == 1 && len(routes) < 2:
		return
	case len(routes) > 1: // any one of the routes is enough
		w.line("votes.routes", templates.Values{"routes": templates.Theirs(strings.Join(told, " · "))})
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

// standings says how far each route is, and returns the highest quorum.
func (w *writer) standings(routes []approval.Active, votes []approval.Vote) (told []string, quorum int) {
	quorum = 1
	for _, on := range routes {
		quorum = max(quorum, on.Quorum)
		n := 0
		for i := range votes {
			if votes[i].Route == on.Route {
				n++
			}
		}
		told = append(told, w.texts.Plain("votes.route", templates.Values{"route": Within(on.Route, maxRoute), "have": n, "need": max(on.Quorum, n+1)}))
	}
	return told, quorum
}
