package cardtext

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/nearest"
	"github.com/metnos/vaglio/templates"
)

// Orders does what people order besides answering cards. None of it allows a call.
type Orders interface {
	// Order carries out an order; what it returns is on disk.
	Order(ctx context.Context, o approval.Order) (approval.Done, error)
	// Granted returns the approvals with live grants; an empty name means every agent.
	Granted(ctx context.Context, agent string) ([]approval.Approval, error)
}

// Obey carries out what somebody wrote as a command, such as "stop coder 1h", and says what
// it did. known is false if the verb is not one of these.
func Obey(ctx context.Context, texts *templates.Texts, orders Orders, by approval.Person, channel, verb, rest string) (said Text, known bool, err error) {
	if verb == "grants" {
		list, err := orders.Granted(ctx, strings.TrimSpace(rest))
		if err != nil {
			return nil, true, err
		}
		return Grants(texts, list), true, nil
	}
	o, known, err := orderOf(verb, strings.TrimSpace(rest))
	if !known {
		return nil, false, nil
	}
	o.By, o.Channel = by, channel
	switch {
	case err != nil:
		said, _ := Undone(texts, &o, err)
		return said, true, nil
	case o.Verb == approval.VerbHand && o.To == "":
		return Say(texts, "order.hand.usage", nil), true, nil
	case o.ID == "" && o.Verb != approval.VerbStop && o.Verb != approval.VerbGo:
		return Say(texts, "order.usage", nil), true, nil
	}
	done, err := orders.Order(ctx, o)
	if err != nil {
		said, ok := Undone(texts, &o, err)
		if !ok {
			return nil, true, err
		}
		return said, true, nil
	}
	return Done(texts, &done), true, nil
}

// Unknown answers an unknown command, given the names of the commands that a chat has
// besides the orders: it says that only buttons allow, or which command was probably meant.
// It is empty for a command that asks for help or resembles none.
func Unknown(texts *templates.Texts, verb string, commands []string) Text {
	verb = strings.ToLower(verb)
	if slices.Contains([]string{"allow", "approve", "yes", "ok"}, verb) {
		return Say(texts, "allow.buttons", templates.Values{"pending": texts.Order("pending")})
	}
	orders := []string{string(approval.VerbStop), string(approval.VerbGo), string(approval.VerbLift), string(approval.VerbEnd), string(approval.VerbRevoke), string(approval.VerbSnooze), string(approval.VerbHand), "grants"}
	near := nearest.Slip(verb, append(orders, commands...))
	if verb == "" || near == "" || near == verb {
		return nil
	}
	return Say(texts, "unknown.command", templates.Values{"name": Within(verb, 40), "near": near})
}

// orderOf parses the words after a verb: an agent, a duration, "all", or an id and words
// about it. The error is about an invalid duration.
func orderOf(verb, rest string) (o approval.Order, known bool, err error) {
	o.Verb = approval.Verb(verb)
	words := strings.Fields(rest)
	switch o.Verb {
	case approval.VerbStop, approval.VerbGo:
		return o, true, brakeOf(&o, words)
	case approval.VerbLift, approval.VerbEnd, approval.VerbRevoke:
		if len(words) > 0 {
			o.ID = words[0]
		}
	case approval.VerbAsk:
		if len(words) > 0 {
			o.ID, o.Words = words[0], strings.TrimSpace(strings.TrimPrefix(rest, words[0]))
		}
	case approval.VerbSnooze:
		if len(words) > 0 {
			o.ID = words[0]
		}
		if len(words) > 1 {
			err = o.Span(strings.Join(words[1:], ""))
		}
	case approval.VerbHand:
		if len(words) > 0 {
			o.ID, o.To = words[0], strings.Join(words[1:], " ")
		}
	default:
		return o, false, nil
	}
	return o, true, err
}

// brakeOf parses the words after a brake's verb: what looks like a duration is one,
// anything else is a name.
func brakeOf(o *approval.Order, words []string) error {
	for _, w := range words {
		if _, err := time.ParseDuration(w); err == nil {
			if err := o.Span(w); err != nil {
				return err
			}
			continue
		}
		if w == "--all" || w == "all" {
			o.All = true
		} else {
			o.Agent = w
		}
	}
	return nil
}

// Undone says why an order was not carried out; ok is false if the trouble is ours.
func Undone(texts *templates.Texts, o *approval.Order, err error) (said Text, ok bool) {
	if bad, is := errors.AsType[*approval.OrderError](err); is {
		return Say(texts, templates.Key("order.not."+bad.Key), templates.Values{"what": Within(bad.Value, 60)}), true
	}
	if bad, is := errors.AsType[*approval.WordsError](err); is {
		if bad.Have == 0 {
			return Say(texts, "words.text", nil), true
		}
		return Say(texts, "words.long", templates.Values{"n": bad.Have, "most": approval.MaxWords}), true
	}
	switch {
	case errors.Is(err, approval.ErrNotFound):
		return Say(texts, "order.not.found", templates.Values{"what": Within(o.ID, 60)}), true
	case errors.Is(err, approval.ErrNotApprover):
		return Say(texts, "order.not.yours", nil), true
	default:
		return nil, false
	}
}

// Done says what an order did.
func Done(texts *templates.Texts, d *approval.Done) Text {
	w := writer{texts: texts}
	for i := range d.Brakes {
		w.text = append(w.text, Brake(texts, &d.Brakes[i])...)
		w.end()
	}
	switch d.Order.Verb {
	case approval.VerbStop:
		w.say("order.stop", templates.Values{"denied": d.Denied, "ended": d.Ended, "revoked": d.Revoked})
	case approval.VerbLift, approval.VerbEnd, approval.VerbRevoke:
		w.say(templates.Key("order."+string(d.Order.Verb)), templates.Values{"wanted": Within(d.Approval.Refusal.Wanted, 120)})
	case approval.VerbAsk:
		w.say("order.ask", nil)
	case approval.VerbSnooze:
		w.say("order.snooze", templates.Values{"when": d.Until})
	case approval.VerbHand:
		w.say("order.hand", templates.Values{"to": Within(d.Order.To, 60)})
	case approval.VerbGo:
	}
	if n := len(w.text); n > 0 && w.text[n-1].Kind == End {
		w.text = w.text[:n-1]
	}
	return w.text
}

// Brake says in one line that an agent is stopped, or goes on.
func Brake(texts *templates.Texts, b *approval.Brake) Text {
	who := templates.Values{"agent": Within(b.Agent, 60), "by": Within(b.By.Name, 60)}
	keys := [3]templates.Key{"brake.agent", "brake.agent.until", "brake.agent.released"}
	if b.Agent == approval.Everyone {
		keys = [3]templates.Key{"brake.all", "brake.all.until", "brake.all.released"}
		delete(who, "agent")
	}
	key := keys[0]
	switch {
	case b.Released != nil:
		key, who["by"] = keys[2], Within(b.Released.By.Name, 60)
	case !b.Until.IsZero():
		key, who["when"] = keys[1], b.Until
	}
	if b.Released == nil {
		who["go"] = texts.Order(string(approval.VerbGo))
	}
	return Say(texts, key, who)
}

// Grants lists the live grants.
func Grants(texts *templates.Texts, list []approval.Approval) Text {
	w := writer{texts: texts}
	if len(list) == 0 {
		w.say("grants.none", nil)
		return w.text
	}
	w.say("grants.some", templates.Values{"n": len(list), "end": texts.Order(string(approval.VerbEnd), "ID")})
	for i := range list {
		w.end()
		w.text = append(w.text, Grant(texts, &list[i])...)
	}
	return w.text
}

// Grant says in one line what is granted to whom, and how much of it is used.
func Grant(texts *templates.Texts, a *approval.Approval) Text {
	return Say(texts, "grants.line", templates.Values{
		"agent": Within(a.Proposal.Agent, 40), "wanted": Within(asked(texts, a), 100), "used": a.Grant.Used(), "most": a.Grant.Most,
		"when": a.Grant.Until, "id": templates.Theirs(a.ID),
	})
}

// asked says in one line what was granted: the command line or, for a tool that runs none, what it
// does.
func asked(texts *templates.Texts, a *approval.Approval) string {
	if line := approval.CommandLine(a.Proposal); line != "" {
		return line
	}
	return StepHeadline(texts, &approval.Step{Proposal: a.Proposal, Verdict: &a.Verdict}).String()
}

// GrantOf says on the card of the approval with the id how much of its grant is used, and
// how to end it.
func GrantOf(texts *templates.Texts, g *approval.Grant, id approval.ID) Text {
	state := g.State(time.Now())
	values := templates.Values{"used": g.Used(), "most": g.Most}
	if state == approval.GrantLive {
		values["when"], values["end"] = g.Until, taking(texts, approval.VerbEnd, id)
	}
	return Say(texts, templates.Key("grant."+string(state)), values)
}

// taking returns the order that takes back what an answer holds.
func taking(texts *templates.Texts, verb approval.Verb, id approval.ID) templates.Theirs {
	return templates.Theirs(texts.Order(string(verb), string(id)))
}

// mostDiffer is how many differences are shown.
const mostDiffer = 3

// Differences says how a call differs from a similar one.
func Differences(texts *templates.Texts, differences []approval.Difference) Text {
	var all Text
	for i := range differences[:min(len(differences), mostDiffer)] {
		d := &differences[i]
		key := templates.Key("differs")
		switch {
		case d.Was == "":
			key = "differs.new"
		case d.Now == "":
			key = "differs.gone"
		}
		if i > 0 {
			all = append(all, Piece{Text: ", "})
		}
		all = append(all, Say(texts, key, templates.Values{"name": Within(d.Name, 30), "was": Within(d.Was, 60), "now": Within(d.Now, 60)})...)
	}
	return all
}

// answers adds what answers still hold: which denial the call resembles, what was granted,
// how long a denial stands.
func (c *Card) answers(w *writer, call *Call) {
	if l := call.like; l != nil && call.State == approval.Pending {
		w.line("like", templates.Values{"when": l.At, "differs": templates.Theirs(Differences(c.Texts, l.Differences).String())})
	}
	if l := call.again; l != nil && call.State == approval.Pending && len(call.grants) > 0 {
		w.text = append(w.text, Again(c.Texts, l)...)
		w.end()
	}
	if call.denyKind != nil {
		w.text = append(w.text, KindOffer(c.Texts, &call.like.Kind)...)
		w.end()
	}
	if call.grant != nil {
		w.text = append(w.text, GrantOf(c.Texts, call.grant, call.id)...)
		w.end()
	}
	c.holds(w, call)
}

// holds adds the lasting effects of a denial.
func (c *Card) holds(w *writer, call *Call) {
	if e := call.edit; e != nil && len(e.Changed) > 0 {
		w.line("edited", templates.Values{"differs": templates.Theirs(Differences(c.Texts, e.Changed).String())})
	}
	switch {
	case call.lifted != nil:
		w.line("lifted", templates.Values{"by": Within(fullName(call.lifted.By), 60), "when": call.lifted.At})
	case !call.stands.IsZero():
		w.text = append(w.text, Stands(c.Texts, &approval.Item{Approval: call.id, Kind: call.kind, StandsUntil: call.stands})...)
		w.end()
	}
}
