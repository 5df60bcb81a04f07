package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// Told says, for a message next to its card, how an ask ended: how each call stands, in
// groups if there are several, and in one line what the turn has done so far. A turn that
// proposed nothing else has no such line.
func (c *Card) Told(turn *report.Counts) Text {
	w := writer{texts: c.Texts}
	if len(c.Calls) == 1 {
		c.standing(&w, &c.Calls[0], Everything)
	} else {
		c.groups(&w)
	}
	if turn.Judged <= len(c.Calls) {
		return w.text
	}
	w.say("told.turn", templates.Values{"n": turn.Judged, "approved": turn.Approved, "guard": turn.Guard, "vetoed": turn.Vetoed})
	if turn.Fates.Sum() > len(c.Calls) {
		fates := turn.Fated()
		for i := range fates {
			w.put(Ours, " ")
			w.text = append(w.text, DigestLine(c.Texts, &fates[i])...)
		}
	}
	w.end()
	return w.text
}

// groups says how the ended calls ended, with those that ended alike on one line.
func (c *Card) groups(w *writer) {
	var order []string
	groups, counts := map[string]Text{}, map[string]int{}
	for i := range c.Calls {
		if c.Calls[i].State == approval.Pending {
			continue
		}
		line := writer{texts: c.Texts}
		c.standing(&line, &c.Calls[i], least)
		key := line.text.String()
		if counts[key]++; counts[key] == 1 {
			order, groups[key] = append(order, key), line.text
		}
	}
	for i, key := range order {
		if i == maxGroups {
			w.line("calls.more", nil)
			break
		}
		w.say("calls.ended", templates.Values{"n": counts[key]})
		w.put(Ours, " ")
		w.text = append(w.text, groups[key]...)
	}
}
