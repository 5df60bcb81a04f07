package cardtext

import (
	"cmp"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// maxRefused is the most characters of each text in a notice.
const maxRefused = 600

// Notice tells about a brake, or about what the guard denied. head says who wanted what,
// which is the line that a locked phone shows; rest has everything else.
func Notice(texts *templates.Texts, n *approval.Notice) (head, rest Text) {
	if b := n.Brake; b != nil {
		if b.Words != "" && b.Released == nil {
			rest = Say(texts, "words", templates.Values{"words": Within(b.Words, maxRefused)})
		}
		return Brake(texts, b), rest
	}
	title := writer{texts: texts}
	title.say("notice", templates.Values{"agent": templates.Theirs(Nickname(n.Agent))})
	title.put(Ours, " ")
	call := cmp.Or(n.Call, n.Refusal.Wanted)
	told := len(n.Headline.Said) == 0
	if told {
		title.put(Theirs, string(Within(call, maxRefused)))
	} else {
		title.headline(&n.Headline)
		told = strings.Contains(title.text.String(), seeLine(call).String())
	}
	head = title.text
	w := writer{texts: texts}
	w.line("notice.final", templates.Values{"rule": Within(n.Rule, 100)})
	if n.Count > 1 {
		w.line("notice.count", templates.Values{"n": n.Count, "first": n.First})
	}
	// Without a text for the rule, everything is shown as it was told.
	if why := texts.Guard(n.Rule); why != "" {
		w.line("notice.why", templates.Values{"why": why})
	} else {
		w.line("notice.why", templates.Values{"why": Within(n.Refusal.Why, maxRefused)})
	}
	if said, ok := texts.Told(n.Refusal.Alternatives...); ok && said != "" {
		w.line("notice.instead", templates.Values{"instead": said})
	} else if said != "" {
		w.line("notice.instead", templates.Values{"instead": Within(said, maxRefused)})
	}
	if !told { // the headline says what it means; this is the call as proposed
		w.put(Named, texts.Plain("notice.call", nil))
		w.end()
		w.part(Block, see(call), maxRefused)
	}
	return head, w.text
}
