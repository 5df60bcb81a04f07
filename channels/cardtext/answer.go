package cardtext

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// Answer tells the person who tapped what the tap did, based on what is committed.
func Answer(texts *templates.Texts, r *approval.Receipt, by approval.Person) string {
	if len(r.Approvals) == 0 {
		return texts.Plain("tap.over", nil)
	}
	if r.Mismatch != nil {
		return Digits(texts, r.Mismatch, "", true)
	}
	a := r.Ask.Find(r.Approvals[0])
	d := a.Decision
	if r.Won {
		return won(texts, r, a, by)
	}
	if r.Voted {
		return texts.Plain("tap.voted", nil)
	}
	fate := approval.Fate(a.State, a.Outcome, a.Permit, a.EndedAt, a.ExpiresAt)
	switch {
	case fate == approval.FateSetBack:
		return texts.Plain("tap.expired.clock", templates.Values{"when": a.EndedAt})
	case a.State == approval.Expired:
		// It may have been given in time but arrived late.
		return texts.Plain("tap.expired", templates.Values{"when": a.EndedAt})
	}
	values := templates.Values{"when": a.EndedAt}
	if d != nil {
		values = templates.Values{"when": d.At, "by": Within(fullName(d.By), 80)}
	}
	state := templates.Values{"state": texts.Plain(templates.Key("state."+fate), values)}
	if d != nil && d.By.ID == by.ID {
		return texts.Plain("tap.again", state)
	}
	return texts.Plain("tap.too.late", state)
}

// Refusal returns what a person is told whose tap was refused. It is not ok for an error that
// is trouble of ours: the tap is then tried again.
func Refusal(err error) (told templates.Key, ok bool) {
	for _, r := range []struct {
		err  error
		told templates.Key
	}{
		{approval.ErrNotFound, "tap.unknown"},
		{approval.ErrNotApprover, "tap.stranger"},
		{approval.ErrNotAskable, "tap.final"},
		{approval.ErrObscured, "tap.obscured"},
		{approval.ErrPasskey, "tap.passkey"},
		{approval.ErrNoGrant, "tap.no.grant"},
	} {
		if errors.Is(err, r.err) {
			return r.told, true
		}
	}
	return "", false
}

// Digits says what happens to a yes that requires the digits of the other side: they were
// wrong, no more are accepted, or which digit comes after the given ones.
func Digits(texts *templates.Texts, e *approval.MatchError, given string, wrong bool) string {
	key, values := DigitsKey(e, given, wrong)
	return texts.Plain(key, values)
}

// DigitsKey returns the text of [Digits] and its values.
func DigitsKey(e *approval.MatchError, given string, wrong bool) (templates.Key, templates.Values) {
	left := templates.Values{"n": e.Left}
	switch {
	case e.Chats && e.Left == 0:
		return "match.chats.spent", nil
	case e.Chats && wrong:
		return "match.chats.wrong", left
	case e.Chats:
		return "match.chats", nil
	case e.Left == 0:
		return "match.spent", nil
	case wrong:
		return "match.wrong", left
	case given == "":
		return "match.first", nil
	default:
		return "match.second", nil
	}
}

// NextDigits returns what the next digit may be after the given ones: no number begins with
// 0.
func NextDigits(given string) []string {
	all := strings.Split("0123456789", "")
	if given == "" {
		return all[1:]
	}
	return all
}

// Rehearsed says how a test card ended: who pressed its button or, for a zero Person, that
// nobody did.
func Rehearsed(texts *templates.Texts, by approval.Person, at time.Time) Text {
	if by.ID == "" {
		return Say(texts, "test.over", nil)
	}
	return Say(texts, "test.done", templates.Values{"by": Within(by.Name+" ("+by.ID+")", 80), "when": at})
}

// won says what a tap decided.
func won(texts *templates.Texts, r *approval.Receipt, a *approval.Approval, by approval.Person) string {
	d := a.Decision
	// A tap may mean several calls, some of which had already ended.
	for _, id := range r.Approvals {
		if p := r.Ask.Find(id); p.Decision != nil && p.Decision.By.ID == by.ID {
			d = p.Decision
		}
	}
	switch {
	case a.Grant != nil:
		return Granted(texts, a.Grant).String() + ". " + GrantsWhere(texts).String()
	case d != nil && d.Choice == approval.ChoiceAllow:
		return texts.Plain("tap.allowed", nil)
	case a.Kind != nil:
		return texts.Plain("tap.denied.kind", nil)
	default:
		return texts.Plain("tap.denied", nil)
	}
}

// Granted describes the grant that the tap gave, without a final full stop.
func Granted(texts *templates.Texts, g *approval.Grant) Text {
	return Say(texts, "tap.granted", templates.Values{"most": g.Most})
}

// GrantsWhere says where grants are counted, listed and ended.
func GrantsWhere(texts *templates.Texts) Text {
	return Say(texts, "tap.granted.where", templates.Values{"grants": texts.Order("grants")})
}

// Waiting returns the line that names a waiting card in a list.
func Waiting(texts *templates.Texts, c *approval.Card) Text {
	w := writer{texts: texts}
	w.say("pending.line", templates.Values{"when": c.ExpiresAt, "id": templates.Theirs(c.Ask), "agent": Within(c.Agent, 40)})
	w.put(Ours, " ")
	w.text = append(w.text, Read(*c, texts).Title()...)
	return w.text
}

// refused describes a refused call without a card and, if the guard refused it, why. The
// lines have no line ends.
func refused(texts *templates.Texts, c *approval.Card, it *approval.Item) []Text {
	n := approval.Notice{Agent: c.Agent, Headline: it.Headline, Call: cmp.Or(it.Command, it.Refusal.Wanted), Refusal: it.Refusal}
	if it.Verdict.Rule != nil {
		n.Rule = it.Verdict.Rule.ID
	}
	head, rest := Notice(texts, &n)
	lines := []Text{head}
	switch {
	case it.Verdict.Rule != nil:
		var line Text
		for _, p := range rest {
			if p.Kind == End {
				lines, line = append(lines, line), nil
				continue
			}
			line = append(line, p)
		}
	case it.Approval != "":
		lines = append(lines, Say(texts, "why.repeated", templates.Values{"id": templates.Theirs(it.Approval)}))
	default:
		lines = append(lines, Say(texts, "why.unasked", nil))
	}
	return lines
}

// signalled reports whether a signal repeats the judge's reason.
func signalled(it *approval.Item) bool {
	message := approval.ReasonOf(it.Verdict).Message
	return slices.ContainsFunc(it.Verdict.Results, func(g vaglio.GradientResult) bool {
		return slices.ContainsFunc(g.Signals, func(s vaglio.Signal) bool { return s.Message == message })
	})
}

// Noticed says what a judge noticed about a call, in lines: its reasoning, unless a signal
// says the same, and its signals, each with its category, its score and the lines of the
// command that it is about.
func Noticed(texts *templates.Texts, g *vaglio.GradientResult) []string {
	var lines []string
	if g.Reasoning != "" && !g.Says(g.Reasoning) {
		said, _ := texts.Said(g.Reasoning, nil)
		lines = append(lines, said)
	}
	for i, s := range g.Signals {
		line := "- " + texts.EffectName(s.Category) + " " + texts.Score(s.Score) + ": " + signalOf(texts, approval.SignalOf(*g, i))
		if n := len(s.Lines); n > 0 {
			about := map[bool]templates.Key{true: "lines.one", false: "lines.several"}[n == 1]
			line += " (" + texts.Plain(about, templates.Values{"lines": strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Lines), " ", ", "), "[]")}) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// maxReason is the most characters of one text among the reasons.
const maxReason = 300

// Reasons returns the judges' answers about a card as lines without line ends: a title, and
// as many lines as a chat has room for.
func Reasons(texts *templates.Texts, c *approval.Card) (title Text, lines []Text) {
	add := func(key templates.Key, values templates.Values) { lines = append(lines, Say(texts, key, values)) }
	judged := false // by an agent that has more to read than a chat has room for
	for i := range c.Items {
		it := &c.Items[i]
		if it.State == "" { // a veto has no other card
			lines = append(lines, refused(texts, c, it)...)
		}
		if it.Verdict.Rule != nil {
			continue
		}
		if why := Why(texts, it); why != "" && !signalled(it) {
			add("why", templates.Values{"why": Within(why, maxReason)})
		}
		for _, g := range it.Verdict.Results {
			add("why.judge", templates.Values{"judge": Within(g.Judge, maxReason), "score": texts.Score(g.Score), "confidence": texts.Score(g.Confidence)})
			if g.Network != "" {
				add("judge.network", templates.Values{"judges": Within(g.Judge, maxReason)})
			}
			if g.Judgement != "" {
				judged = true
			}
			for i, s := range g.Signals {
				add("why.signal", templates.Values{
					"score": texts.Score(s.Score), "message": Within(signalOf(texts, approval.SignalOf(g, i)), maxReason),
				})
			}
		}
	}
	if judged {
		add("why.judgement", templates.Values{"id": templates.Theirs(c.Ask)})
	}
	return Say(texts, "why.title", templates.Values{"id": templates.Theirs(c.Ask)}), lines
}
