package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// maxAnnounced is the most characters of the detail that an announcement repeats.
const maxAnnounced = 300

// Announcement says what changed about the gate itself, and what to do if nobody you know
// did it.
func Announcement(texts *templates.Texts, a *approval.Announcement) Text {
	values := templates.Values{"detail": Within(a.Detail, maxAnnounced), "when": a.At}
	if a.Agent != "" {
		values["agent"] = Within(a.Agent, 40)
	}
	return Say(texts, templates.Key("announce."+string(a.Kind)), values)
}
