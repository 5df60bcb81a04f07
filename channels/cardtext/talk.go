package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

const (
	// maxQuestion and maxReply are how much of a question and of the agent's answer a card
	// shows. The inbox has all of both.
	maxQuestion, maxReply = 200, 300
)

// Talk says who handed the card over or postponed its reminder, and quotes what people
// asked the agent about it and what it answered. If there is no room for quotations, it
// says how often people asked.
func (c *Card) Talk() Text {
	w := writer{texts: c.Texts}
	if n := len(c.handed); n > 0 {
		w.text = append(w.text, HandedOver(c.Texts, &c.handed[n-1])...)
		w.end()
	}
	if s := c.snoozed; s != nil && c.Open > 0 {
		w.text = append(w.text, SnoozedBy(c.Texts, s)...)
		w.end()
	}
	if c.Brief && len(c.questions) > 0 {
		w.line("talk.brief", templates.Values{"n": len(c.questions)})
		return w.text
	}
	for i := range c.questions {
		q := &c.questions[i]
		w.line("talk.asked", templates.Values{"by": Within(fullName(q.By), 60), "words": Within(q.Words, maxQuestion)})
		switch {
		case q.Open() && c.Open > 0:
			w.line("talk.waits", nil)
		case q.Open():
		case q.Answer == "":
			w.line("values.dropped", nil)
		default:
			w.line("talk.answered", templates.Values{"words": Within(q.Answer, maxReply)})
		}
	}
	return w.text
}

// HandedOver says who handed an ask over, and to whom.
func HandedOver(texts *templates.Texts, h *approval.Handed) Text {
	return Say(texts, "talk.handed", templates.Values{"by": Within(fullName(h.By), 60), "to": Within(h.To, 60)})
}

// SnoozedBy says who postponed the reminder, and until when.
func SnoozedBy(texts *templates.Texts, s *approval.Snoozed) Text {
	return Say(texts, "talk.snoozed", templates.Values{"by": Within(fullName(s.By), 60), "when": s.Until})
}

// Question says what came of a question to the agent whose ask waits. done reports whether
// it was asked; trouble is an error on our side.
func Question(texts *templates.Texts, o *approval.Order, err error) (said Text, done bool, trouble error) {
	if err == nil {
		return Say(texts, "order.ask", nil), true, nil
	}
	if said, ok := Undone(texts, o, err); ok {
		return said, false, nil
	}
	return nil, false, err
}
