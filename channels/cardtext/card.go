// Package cardtext puts cards and notices into words: what they say in the reader's
// language, piece by piece, before a chat gives it a form. Text written by others is made
// visible and shortened here, and kept apart from our own words; a chat only renders the
// pieces in its own way and knows its own limits.
package cardtext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/templates"
)

// Card is a card with its texts revealed once, for every attempt to lay it out.
type Card struct {
	Ask   approval.AskID
	Calls []Call
	// Buttons stand for every waiting call; Open is the number of those.
	Buttons []approval.Button
	Open    int
	// MayAsk says that people may first ask the agent something.
	MayAsk bool
	// Texts are in the reader's language.
	Texts *templates.Texts
	// Brief says that there is no room for questions and answers.
	Brief bool

	agent, intent, turn seen
	until               time.Time
	routes              []approval.Active
	digits              string
	questions           []approval.Question
	snoozed             *approval.Snoozed
	handed              []approval.Handed
}

// Call is one call of a card.
type Call struct {
	State   approval.State
	Buttons []approval.Button
	// Planning says that the agent's client may refuse what is allowed.
	Planning bool
	// Irreversible says that a judge considers the call's effect irreversible.
	Irreversible bool

	head                                               headline.Headline
	subAgent, executor, args, command, cwd, why, words seen
	// dropped says that the call's values are no longer kept.
	dropped bool
	// network names the judges whose tools reach a network.
	network    seen
	detail, by seen
	votes      []approval.Vote
	mounts     []seen
	// runs are the files that the call runs or is handed, each with the start of its
	// digest, and the folders that a path leads to under another name; unbound are the
	// files whose content is unknown.
	runs, unbound []seen
	// heads are the first lines of each of runs.
	heads []seen
	// lines are the lines of the command that people are asked about, of all its lines.
	lines []numbered
	of    int
	// effect is what the call would do, in our words; empty if the judge's own words say it
	// better.
	effect string
	// fate is how the call stands, as named by [approval.Fate].
	fate string
	at   time.Time
	// grants are the choices that allow the call and up to covers equal ones; again is what
	// was allowed a moment ago.
	grants []approval.Button
	covers int
	again  *approval.Likeness
	// denyKind denies the call and everything of its kind; kind is set once a person did
	// that.
	denyKind *approval.Button
	kind     *approval.CallKind

	// obscured says in our words what masked values decide; empty if they decide nothing.
	obscured string
	// passkey says that it can be allowed only with a passkey, in the inbox.
	passkey bool
	// editable says that a person may change it in the inbox.
	editable bool

	id     approval.ID
	like   *approval.Likeness
	grant  *approval.Grant
	stands time.Time
	lifted *approval.Act
	// edit is how a person wants the call changed.
	edit *approval.Edit
}

const (
	// Everything is the budget of a text that is not cut. Any other budget is the most
	// characters of one text of a call.
	Everything = -1
	// least is how many characters of a text about the call are shown on any budget.
	least = 40
	// maxWhy and maxWords limit texts about a call, which are not the call itself.
	maxWhy, maxWords = 400, 200
	// shownDigest is how many digits of a file's digest a chat shows, maxRuns how many
	// files. The inbox and the attached file have all of them.
	shownDigest, maxRuns = 16, 6
	// roomForHeadline is the least budget at which a call among several gets its headline.
	roomForHeadline = 250
	// maxGroups is how many ways in which calls ended a summary lists.
	maxGroups = 8
)

// Read reveals a card.
func Read(c approval.Card, texts *templates.Texts) *Card {
	v := &Card{
		Ask: c.Ask, Buttons: c.Buttons, Texts: texts, until: c.ExpiresAt, routes: c.Routes,
		agent: seeLine(c.Agent), intent: seeLine(c.Intent), turn: seeLine(c.TurnID), questions: c.Questions, MayAsk: c.MayAsk(),
		snoozed: c.Snoozed, handed: c.Handed, digits: c.Digits,
	}
	for i := range c.Items {
		if c.Items[i].State == approval.Pending {
			v.Open++
		}
		v.Calls = append(v.Calls, read(&c.Items[i], c.ExpiresAt, texts))
	}
	return v
}

func read(it *approval.Item, deadline time.Time, texts *templates.Texts) Call {
	head := headed(it)
	c := Call{
		State: it.State, Buttons: it.Buttons, Planning: it.Planning, fate: approval.Fate(it.State, it.Outcome, it.Permit, it.EndedAt, deadline),
		Irreversible: head.Consequence.Final(), head: head, subAgent: seeLine(it.SubAgent), executor: seeLine(it.Executor), cwd: seeLine(it.Cwd),
		command: see(it.Command), why: seeLine(Why(texts, it)), effect: effectOf(texts, it), at: it.EndedAt, votes: it.Votes,
	}
	c.grants, c.covers, c.again, c.denyKind, c.kind = it.Grants, it.Covers, it.Again, it.DenyKind, it.Kind
	c.id, c.like, c.grant, c.stands, c.lifted = it.Approval, it.Like, it.Grant, it.StandsUntil, it.Lifted
	c.edit = it.Edit
	c.dropped = !it.ValuesDropped.IsZero()
	c.obscured, c.passkey, c.editable = Obscured(texts, it.Obscured), it.Passkey, len(it.Editables) > 0
	if it.Command == "" || it.Args != approval.CommandArgs(it.Command) {
		c.args = see(it.Args)
	}
	for _, m := range it.Mounts {
		c.mounts = append(c.mounts, seeEntry(m))
	}
	c.network = seeLine(strings.Join(reaching(it), ", "))
	c.readSources(it)
	c.readLines(it)
	if d := it.Decision; d != nil {
		c.by, c.at, c.words = seeLine(fullName(d.By)), d.At, seeLine(d.Words)
	}
	if o := it.Outcome; o != nil {
		c.detail = seeLine(o.Detail)
	}
	return c
}

// elsewhere says why the call can be allowed only in the inbox, if so.
func (c *Call) elsewhere(w *writer) {
	if c.obscured != "" {
		w.line("obscured", templates.Values{"what": c.obscured})
	}
	if c.passkey {
		w.line("passkey", nil)
	}
}

// Obscured says what the masked values of a call decide.
func Obscured(texts *templates.Texts, all []approval.Obscured) string {
	said := make([]string, len(all))
	for i, o := range all {
		said[i] = texts.Plain(templates.Key("obscured."+string(o)), nil)
	}
	return strings.Join(said, ", ")
}

// ObscuredLine returns the sentence about obscured values, including where the call can be
// allowed, or "" if nothing is obscured.
func ObscuredLine(texts *templates.Texts, all []approval.Obscured) string {
	if len(all) == 0 {
		return ""
	}
	return texts.Plain("obscured", templates.Values{"what": Obscured(texts, all)})
}

// reaching returns the judges of a call whose tools reach a network: what those run belongs
// to the agent.
func reaching(it *approval.Item) (judges []string) {
	for i := range it.Verdict.Results {
		if r := &it.Verdict.Results[i]; r.Network != "" && !slices.Contains(judges, r.Judge) {
			judges = append(judges, r.Judge)
		}
	}
	return judges
}

// fullName names a person unambiguously.
func fullName(p approval.Person) string { return p.Name + " (" + p.ID + ")" }

// Unanswered returns the card as if every call on it waited and nobody had said anything.
// What a chat decides from it depends only on the calls and not on how they stand, so all
// versions of an ask's card agree.
func (c *Card) Unanswered() *Card {
	n := *c
	n.Open, n.questions, n.digits = len(c.Calls), nil, ""
	n.Calls = slices.Clone(c.Calls)
	for i := range n.Calls {
		call := &n.Calls[i]
		call.State, call.words, call.detail, call.by, call.votes = approval.Pending, seen{}, seen{}, seen{}, nil
		call.grant, call.lifted, call.stands, call.edit = nil, nil, time.Time{}, nil
	}
	return &n
}

// Over reports whether nothing on the card can change any more.
func (c *Card) Over() bool {
	return !slices.ContainsFunc(c.Calls, func(call Call) bool { return !call.State.Final() })
}

// Call describes the call with that index and how it stands. waiting is the budget for a
// call that waits, ended that for one that has ended.
func (c *Card) Call(i, waiting, ended int) Text {
	w, call, budget := writer{texts: c.Texts}, &c.Calls[i], ended
	if call.State == approval.Pending {
		budget = waiting
	}
	c.number(&w, i, budget)
	w.part(Theirs, call.executor, budget)
	if call.dropped {
		w.line("values.dropped", nil)
	}
	if call.command.runes > 0 {
		call.asked(&w, budget)
		w.part(Command, call.command, budget)
	}
	if call.args.runes > 0 {
		w.put(Named, c.Texts.Plain("args", nil))
		w.end()
		w.part(Block, call.args, budget)
	}
	place := func(key templates.Key, t seen) {
		if t.runes == 0 {
			return
		}
		w.say(key, nil)
		w.put(Ours, " ")
		w.part(Theirs, t, budget)
	}
	for _, m := range call.mounts {
		place("mount", m)
	}
	if !c.sharesFolder() {
		place("in", call.cwd)
	}
	place("subagent", call.subAgent)
	if call.Planning && call.State == approval.Pending {
		w.line("planning", nil)
	}
	call.files(&w, place)
	if call.State != approval.Pending {
		c.reason(&w, call, budget)
	}
	c.standing(&w, call, budget)
	return w.text
}

// number begins a call among several: its number, and what it would do.
func (c *Card) number(w *writer, i, budget int) {
	if len(c.Calls) < 2 {
		return
	}
	w.put(Strong, strconv.Itoa(i+1)+". ")
	head := &c.Calls[i].head
	if budget == Everything || budget >= roomForHeadline {
		w.headline(head)
		w.end()
	}
	if head.Consequence.Known() && budget != 0 {
		w.put(Ours, Consequence(c.Texts, &head.Consequence))
		w.end()
	}
}

// Summary stands for calls that cannot be listed: how many there are, and how those ended
// that did.
func (c *Card) Summary() Text {
	w := writer{texts: c.Texts}
	w.line("calls.file", templates.Values{"n": len(c.Calls)})
	c.groups(&w)
	return w.text
}

// bounded returns the text about a call that the budget has room for, and at most that many
// characters of it.
func (t seen) bounded(budget, most int) templates.Theirs {
	if budget != Everything {
		most = min(most, max(budget, least))
	}
	return t.within(most)
}

// reason says why the call is asked about or, more briefly, why it was.
func (c *Card) reason(w *writer, call *Call, budget int) {
	key, effect, most := templates.Key("why"), templates.Key("why.effect"), maxWhy
	if call.State != approval.Pending {
		key, effect, most = "why.asked", "why.asked.effect", maxWords
	}
	switch {
	case call.why.runes == 0, c.saidElsewhere(call):
	case call.effect != "":
		w.line(effect, templates.Values{"effect": call.effect, "why": call.why.bounded(budget, most)})
	case call.why.String() == c.Texts.Plain("why.threshold", nil): // our own words, and no quotation
		w.line(key, templates.Values{"why": call.why.String()})
	default:
		w.line(key, templates.Values{"why": call.why.bounded(budget, most)})
	}
}

// standing says why the call waits, or how it ended, by whom and when.
func (c *Card) standing(w *writer, call *Call, budget int) {
	bounded := func(t seen, most int) templates.Theirs { return t.bounded(budget, most) }
	if call.State == approval.Pending {
		c.reason(w, call, budget)
		call.elsewhere(w)
		if call.network.runes > 0 {
			w.line("judge.network", templates.Values{"judges": bounded(call.network, maxWords)})
		}
		w.quorum(c.routes, call.votes)
		c.answers(w, call)
		if len(c.Calls) > 1 && c.Open < len(c.Calls) {
			w.line("state.pending", nil)
		}
		return
	}
	w.line(templates.Key("state."+call.fate), templates.Values{"when": call.at, "by": bounded(call.by, 60)})
	if call.words.runes > 0 {
		w.line("words", templates.Values{"words": bounded(call.words, maxWords)})
	}
	if call.detail.runes > 0 {
		w.line("detail", templates.Values{"detail": bounded(call.detail, maxWords)})
	}
	c.answers(w, call)
}

// Foot says which digits a yes in the inbox requires and, if anything waits, until when an
// answer counts. It also names the ask.
func (c *Card) Foot() Text {
	if c.Open == 0 {
		return Say(c.Texts, "id", templates.Values{"id": templates.Theirs(c.Ask)})
	}
	w := writer{texts: c.Texts}
	if c.digits != "" {
		w.say("match.shown", templates.Values{"digits": c.digits})
		w.put(Ours, " ")
	}
	w.say("until", templates.Values{"when": c.until, "id": templates.Theirs(c.Ask)})
	return w.text
}
