package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

const (
	// maxQuestion and maxReply are how much of a question and of the agent's answer a
	// card shows. The inbox has all of both.
	maxQuestion, maxReply = 200, 300
)

// Talk says what people asked the agent about the card, and what it answered, as
// quotations. Where there is no room for that it says how often they did.
func (c *Card) Talk() Text {
	w := writer{texts: c.Texts}
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

// Question hands a question to the agent whose ask waits, and says what came of it.
// An error is trouble of ours.
func Question(texts *templates.Texts, o *approval.Order, err error) (said Text, done bool, trouble error) {
	if err == nil {
		return Say(texts, "order.ask", nil), true, nil
	}
	if said, ok := Undone(texts, o, err); ok {
		return said, false, nil
	}
	return nil, false, err
}
