package cardtext

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// maxNickname is the most characters of an agent's name in a title.
const maxNickname = 24

// Title is the line that a locked phone shows: what the worst call would do, after a sign
// that warns of what cannot be undone.
func (c *Card) Title() Text {
	lead, _, _ := c.lead()
	switch {
	case c.Open == 0 || lead == nil:
		return c.titled(c.mark())
	case lead.Irreversible:
		return c.titled(warns)
	default:
		return c.titled("🔸")
	}
}

// warns is the sign for what cannot be undone.
const warns = "⚠️"

// titled returns the title with a sign before it.
func (c *Card) titled(sign string) Text {
	w := writer{texts: c.Texts}
	lead, like, more := c.lead()
	if lead == nil {
		w.put(Ours, sign)
		return w.text
	}
	w.put(Ours, sign+" ")
	if c.Open > 0 && c.Open < len(c.Calls) {
		w.say("headline.open", templates.Values{"open": c.Open, "n": len(c.Calls)})
		w.put(Ours, " ")
	}
	w.lead(&lead.head, like, more)
	return w.text
}

// Consequence is the line below the title: what follows if the worst call runs.
func (c *Card) Consequence() string {
	lead, _, _ := c.lead()
	if lead == nil {
		return ""
	}
	return Consequence(c.Texts, &lead.head.Consequence)
}

// Notification is the title and the consequence, for places where nothing else is shown.
func (c *Card) Notification() string {
	return strings.TrimSpace(c.Title().String() + "\n" + c.Consequence())
}

// lead returns the weightiest of the waiting calls, or of all calls.
func (c *Card) lead() (worst *Call, like, more int) {
	var of []*Call
	var heads []headline.Headline
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Open == 0 || call.State == approval.Pending {
			of, heads = append(of, call), append(heads, call.head)
		}
	}
	at, like, more := headline.Lead(heads)
	if at < 0 {
		return nil, 0, 0
	}
	return of[at], like, more
}

// Opening says what follows if the calls run, what the user asked for, and who asks.
func (c *Card) Opening(budget int) Text {
	w := writer{texts: c.Texts}
	short := func(t seen) templates.Theirs {
		if budget == Everything {
			return templates.Theirs(t.String())
		}
		return t.within(max(budget, least))
	}
	if lead, _, _ := c.lead(); lead != nil && c.Consequence() != "" {
		w.put(map[bool]Kind{true: Ours, false: Strong}[lead.head.Consequence.Undoable()], c.Consequence())
		w.end()
	}
	if c.intent.runes > 0 {
		w.line("intent", templates.Values{"intent": short(c.intent)})
	}
	w.line("from", templates.Values{"agent": short(c.agent)})
	if c.sharesFolder() {
		w.say("in", nil)
		w.put(Ours, " ")
		w.part(Theirs, c.Calls[0].cwd, budget)
	}
	return w.text
}

// sharesFolder reports whether several calls work in one folder, which is then said once.
func (c *Card) sharesFolder() bool {
	return len(c.Calls) > 1 && c.Calls[0].cwd.runes > 0 && !slices.ContainsFunc(c.Calls[1:], func(o Call) bool { return !slices.Equal(o.cwd.runs, c.Calls[0].cwd.runs) })
}

// Reminder says that the card still waits, and until when.
func (c *Card) Reminder() Text {
	w := writer{texts: c.Texts}
	sign := "⏳"
	if lead, _, _ := c.lead(); lead != nil && lead.Irreversible {
		sign += " " + warns
	}
	w.text = append(w.text, c.titled(sign)...)
	w.end()
	if n := len(c.handed); n > 0 {
		w.text = append(w.text, HandedOver(c.Texts, &c.handed[n-1])...)
		w.end()
	}
	if n := len(c.routes); n > 1 {
		w.line("escalated", templates.Values{"route": Within(c.routes[n-1].Route, maxRoute)})
	}
	w.say("remind", templates.Values{"when": c.until})
	return w.text
}

// mark returns the sign for how all calls ended.
func (c *Card) mark() string {
	const mixed = "☑️"
	if len(c.Calls) == 0 {
		return mixed
	}
	for i := range c.Calls {
		if c.Calls[i].State != c.Calls[0].State {
			return mixed
		}
	}
	switch c.Calls[0].State {
	case approval.Denied:
		return "🚫"
	case approval.Expired:
		return "⌛"
	case approval.Withdrawn:
		return "↩️"
	case approval.Superseded:
		return "🔁"
	case approval.Lapsed:
		return "💤"
	case approval.Failed:
		return "❌"
	case approval.Unknown:
		return "❔"
	default:
		return "✅"
	}
}

// Nickname returns an agent's name for use in a title: short, and without anything that
// could pass for the end of the name. The opening has the full name.
func Nickname(agent string) string {
	short := firstRunes(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.@/", r)) {
			return r
		}
		return '·'
	}, agent), maxNickname+1)
	if utf8.RuneCountInString(short) > maxNickname {
		return firstRunes(short, maxNickname) + "…"
	}
	return short
}

// headed returns the headline of a call. If it has none yet, it is derived from what the
// card itself holds.
func headed(it *approval.Item) headline.Headline {
	if len(it.Headline.Said) > 0 {
		return it.Headline
	}
	p := vaglio.Proposal{Executor: it.Executor}
	if it.Command != "" {
		p.Args = vaglio.Args{"command": it.Command}
	}
	return headline.Of(p, it.Verdict)
}

// Why says why a call was refused or is asked about, unless its headline says it: because
// of a rule of the guard, or because of a judge other than the effects judge.
func Why(texts *templates.Texts, it *approval.Item) string {
	if rule := it.Verdict.Rule; rule != nil {
		return cmp.Or(texts.Guard(rule.ID), rule.Why)
	}
	g := approval.Rejecting(it.Verdict)
	if g == nil {
		return whyOf(texts, it)
	}
	if _, effects := g.Metadata["effects"]; effects && g.Fault == "" {
		return ""
	}
	switch {
	case g.Fault != "":
		return texts.Plain("why.fault", templates.Values{"why": templates.Theirs(whyOf(texts, it))})
	case g.Score < g.MinScore:
		if _, ours := texts.Judged(g.Reasoning); ours {
			return ruledOut(texts, g)
		}
	case g.Confidence < g.MinConfidence && g.Reasoning != "":
		return texts.Plain("why.unsure", templates.Values{"why": templates.Theirs(whyOf(texts, it))})
	}
	return whyOf(texts, it)
}

// ruledOut returns what speaks against a call according to a judge that writes fixed notes.
// Notes in the call's favour do not explain why it is asked; if there are no others, the
// threshold does.
func ruledOut(texts *templates.Texts, g *vaglio.GradientResult) string {
	var against []string
	for i := range g.Signals {
		if s := &g.Signals[i]; s.Score < g.MinScore {
			said, _ := texts.Said(s.Message, s.Said)
			against = append(against, said)
		}
	}
	if len(against) == 0 {
		return texts.Plain("why.threshold", nil)
	}
	return strings.Join(against, "; ")
}

// whyOf says why a call is asked about, in the judge's own words if it has any.
func whyOf(texts *templates.Texts, it *approval.Item) string {
	if r := approval.ReasonOf(it.Verdict); r.Message != "" {
		said, _ := texts.Said(r.Message, r.Said)
		return said
	}
	return it.Refusal.Why
}

// signalOf returns what a judge noticed: in the reader's language as far as possible,
// followed by the judge's own words, which name what they are about.
func signalOf(texts *templates.Texts, r approval.Reason) string {
	said, ok := texts.Said(r.Message, r.Said)
	if undo := texts.Undo(r.Reversibility, r.Reach); !ok && undo != "" {
		return undo + ". " + said
	}
	return said
}

// effectOf says what a call would do, if the judge says it in another language.
func effectOf(texts *templates.Texts, it *approval.Item) string {
	r := approval.ReasonOf(it.Verdict)
	if _, ok := texts.Said(r.Message, r.Said); ok && r.Said != nil {
		return ""
	}
	return texts.Effect(r.Effect, r.Reversibility, r.Reach)
}
