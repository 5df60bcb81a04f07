package headline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// byName reports whether the judge went by the tool's name alone.
func (o *one) byName() bool {
	return slices.ContainsFunc(o.said, func(c wording.Clause) bool { return c.Phrase == wording.ByTheTool })
}

// unheardOf reports whether the judge knows nothing of the tool.
func (o *one) unheardOf() bool {
	return o.kind == operation.KindUnknown && len(o.said) > 0 && o.said[0].Phrase == "calls the tool %s, of which nothing is known"
}

// byVerb describes what a tool does if the judge knows only its name. The judge graded the
// kind of action; the verb and the thing in the name say more. If the name does not, the
// arguments may.
func (c *call) byVerb(worst *one) wording.Sentence {
	if said := c.timed(worst); said != nil {
		return said
	}
	unknown := worst.unheardOf()
	if !worst.byName() && !unknown && (!worst.general || c.applied.kind == nil) {
		return nil // the judge says more, if it is more than that a cluster is changed
	}
	said, t := c.object()
	switch {
	case unknown:
		return c.unheard(worst, said, t)
	case said == nil && c.verbless():
		worst.forget() // the verb in its arguments may apply to anything
		return c.told(c.called())
	case said == nil:
		said = c.guessed(worst)
		c.exposed(worst)
		return said
	}
	c.undone(worst, t)
	if c.reached(worst, t); worst.kind == operation.KindPublish && t.allotted() {
		worst.undo, worst.reach = operation.Irreversible, operation.ReachShared
	}
	return said
}

// inFile says what a tool deletes in a file that the judge takes for what it deletes: a range of a sheet.
func (c *call) inFile(worst *one) wording.Sentence {
	t, ok := c.named()
	if !ok || c.server == 0 || len(c.paths) != 1 || !worst.says("deletes") || t.thing == nil || len(t.owner) > 0 || spoken.Is("things-that files", t.thing.Words[0]) {
		return nil
	}
	what := wording.Clause{Phrase: t.thing.Any}
	if names, key := c.identity(&t); len(names) == 1 && !slices.Contains(c.paths, names[0]) && key != "" {
		what = wording.Say(t.thing.One, names[0])
	}
	return wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{what}}, wording.Say(inside, c.paths[0])}
}

// selfRunning is what the judge says of a tool whose name or arguments speak of what runs by itself.
const selfRunning wording.Phrase = "changes what runs by itself: %s"

// timed says of a tool that has something run by itself what that is, and when, as far as the arguments tell.
func (c *call) timed(worst *one) wording.Sentence {
	if !worst.says(selfRunning, "has a prompt run by itself later") {
		return nil
	}
	when := c.first(spoken.List("texts timed")...)
	act, _, _ := c.act()
	said, _ := c.object()
	makes := act == nil || act.Makes
	if makes {
		said = scheduling(c.first(spoken.List("texts tasks")...), when)
	} else if said != nil && when != "" && !strings.Contains(said.String(), when) {
		said = said.And("(%s)", when)
	}
	if said == nil {
		return nil
	}
	worst.open()
	worst.kind, worst.general = operation.KindSchedule, !makes && !act.Turns
	return c.runsBy(worst, said, makes)
}

// runsBy adds in which repository something runs by itself that a tool makes, and corrects whom that touches.
func (c *call) runsBy(worst *one, said wording.Sentence, makes bool) wording.Sentence {
	switch {
	case c.server > 0 && !c.speaksOf("local names"):
		worst.reach = operation.ReachShared
	case c.first("prompt", "instructions", "message") != "":
		worst.reach = "" // the agent decides that then
	}
	if where := c.repository(); makes && where != "" {
		return slices.Insert(said, 1, wording.Say(inside, where))
	}
	return said
}

// scheduling says what is to run by itself, and when; nil unless both are known.
func scheduling(what, when string) wording.Sentence {
	if what == "" || when == "" {
		return nil
	}
	task := wording.Clause{Phrase: spoken.ThingAt("task").Any}
	return withText(wording.Sentence{{Phrase: "schedules %s", Args: []wording.Clause{task}}, wording.Say("(%s)", when)}, what)
}

// onTime adds when a tool has a command run by itself, which is how the command is run and nothing else.
func (c *call) onTime(o *operations, worst *one, said wording.Sentence) (timed wording.Sentence, like int) {
	when := c.first(spoken.List("texts timed")...)
	if when == "" || worst.says(selfRunning) || !slices.ContainsFunc(o.list, func(e one) bool { return e.says(selfRunning) }) {
		return said, 0
	}
	return said.And("on the schedule %s", when), 1
}

// undone corrects whether what the tool does can be undone, as far as its name and arguments tell.
func (c *call) undone(worst *one, t *toolName) {
	undo := t.undo(worst.undo, c.forge(), c.committed(), worst.kind == operation.KindSpend)
	if undo == operation.Irreversible || !c.buys(t) && !c.deletes() {
		worst.undo = undo
	}
	switch {
	case t.runs(), t.ruins:
		worst.undo = operation.Irreversible // what it does once it runs
	case c.goesOn(worst, t), c.alone(worst, t):
	case c.admits && c.opens(t), c.charged(t), c.spreads(t), c.announces(t), c.heard(t):
		worst.undo = operation.Irreversible
	case t.act.Runs && t.thing == nil:
		worst.general = true // what it does once it runs, nobody knows
	case t.act.Ends && t.thing == nil:
		worst.general = true // it may be one of the things that are final
	}
}

// goesOn corrects whether it can be undone if an argument has the tool go ahead with what it only reads by its name, and
// reports whether it is so.
func (c *call) goesOn(worst *one, t *toolName) bool {
	if t.act != c.after {
		return false
	}
	if t.act.Lasts {
		worst.undo = operation.Irreversible
	}
	worst.general = worst.general || t.act.Runs // nobody knows what it does then
	return t.act.Lasts || t.act.Runs
}

// buys reports whether what the tool makes, such as a booking, has a price in the arguments.
func (c *call) buys(t *toolName) bool { return t.act.Makes && t.act.Turns && len(c.amount()) > 0 }

// committed reports whether what is written becomes part of a repository's history.
func (c *call) committed() bool {
	return c.repository() != "" && c.first("branch", "message", "commitmessage") != ""
}

// charged reports whether what the tool does is paid for: it says the price, or the thing has one.
func (c *call) charged(t *toolName) bool {
	priced := t.thing != nil && slices.ContainsFunc(t.thing.Words, func(w string) bool { return spoken.Is("things-that priced", w) })
	return c.spent(t, priced) || t.act.Paid && (priced || c.first("price", "amount", "cost", "fee", "premium", "total") != "")
}

// spent reports whether a change has its price: what a campaign may spend is spent meanwhile, and the plan of a subscription
// is paid for.
func (c *call) spent(t *toolName, priced bool) bool {
	sum := func(key string) bool { return spoken.Is("things-that sums", key) || slices.Contains(amounts(), key) }
	of := func(key string) bool {
		whole := c.identifies(key)
		return whole != nil && whole.Final && whole != t.thing
	}
	if !t.act.Partly || t.act.Makes || t.thing == nil {
		return false
	}
	return t.thing.Final && slices.ContainsFunc(c.keys, sum) || priced && slices.ContainsFunc(c.keys, of)
}

// spreads reports whether the tool makes something that everyone sees and that says something: who
// has read it has read it.
func (c *call) spreads(t *toolName) bool {
	return (t.act.Makes || t.act.Phrase == puts) && c.public() && (t.act.Phrase == "uploads %s" || t.act.Phrase == puts || c.first("content", "text", "body", "message", "files", "file", "path", "html") != "")
}

// heard reports whether the tool puts up something that others have read once it stands there.
func (c *call) heard(t *toolName) bool {
	if t.thing == nil || !slices.Contains([]wording.Phrase{"creates %s", "adds %s", "triggers %s", "opens %s"}, t.act.Phrase) || !slices.ContainsFunc(t.thing.Words, func(w string) bool { return spoken.Is("things-that heard", w) }) {
		return false
	}
	state := strings.ToLower(c.first("status", "state", "publishstatus", "visibility", "privacy"))
	return !spoken.Is("things-that unheard", state) && c.first("draft", "scheduledat", "isdraft") == ""
}

// announces reports whether others are told at once of what is changed, because they are invited to
// it or an argument says so.
func (c *call) announces(t *toolName) bool {
	if t.thing == nil || !slices.ContainsFunc([]string{"event", "meeting", "appointment"}, func(noun string) bool { return slices.Contains(t.thing.Words, noun) }) {
		return false
	}
	return len(c.guests()) > 0 || c.tells()
}

// tells reports whether an argument says that those who are concerned are told.
func (c *call) tells() bool {
	told := c.first(spoken.List("texts tells")...)
	return told != "" && !slices.Contains([]string{"false", "none", "no", "0"}, strings.ToLower(told))
}

// runs reports whether the tool lets a thing run that then does something itself, or makes a run of it.
func (t *toolName) runs() bool {
	return t.thing != nil && t.thing.Runs && (t.act.Runs || t.act.Makes && slices.Contains(t.thing.Words, "run"))
}

// alone corrects whether a meeting can be undone to which nobody is invited, and reports whether the tool makes one.
func (c *call) alone(worst *one, t *toolName) bool {
	alone := worst.kind == operation.KindPeople && len(c.guests()) == 0 && t.act.Makes && t.thing != nil && slices.Contains(t.thing.Words, "meeting")
	if alone {
		worst.undo = operation.Partial // as an event to which nobody is invited
	}
	return alone
}

// reached corrects whom the tool's action touches, as far as its name tells.
func (c *call) reached(worst *one, t *toolName) {
	switch {
	case c.opens(t), c.published(t):
		worst.reach = operation.ReachPublic
		return
	case worst.kind == operation.KindPublish && t.act.Sets: // it sets something; that another word of its name means publishing does not matter
		worst.undo, worst.reach = operation.Partial, operation.ReachShared
	case worst.kind == operation.KindPeople && t.mails():
		worst.reach = operation.ReachPublic // the call does not say whom it is sent to
	}
	if c.afar(t) && worst.reach == operation.ReachUser {
		worst.reach = operation.ReachShared // what is stopped there is no process of this machine
	}
	if worst.reach == operation.ReachPublic && c.among(t) || worst.kind == operation.KindCredentials {
		worst.reach = operation.ReachShared // as a push to it does; and nobody knows who else has the secret
	}
}

// mails reports whether the tool sends something that goes to people by being sent.
func (t *toolName) mails() bool {
	return t.act.Phrase == "sends %s" && t.thing != nil && (t.thing.Final || slices.Contains(t.thing.Words, "draft"))
}

// published reports whether an argument says that the thing is published where everyone reads it.
func (c *call) published(t *toolName) bool {
	return t.act.Phrase == "publishes %s" && t.act.Final && !c.members() && !c.runnable()
}

// afar reports whether the tool's name speaks of something that is not listed and a server keeps.
func (c *call) afar(t *toolName) bool {
	return t.thing == nil && c.server > 0 && !c.speaksOf("local names")
}

// allotted reports whether the tool gives up what somebody else may get then.
func (t *toolName) allotted() bool {
	return t.act.Phrase == "releases %s" && t.thing != nil && slices.ContainsFunc(t.thing.Words, func(w string) bool { return spoken.Is("things-that allotted", w) })
}

// among reports whether the action stays among those who work on the same thing.
func (c *call) among(t *toolName) bool {
	return c.repository() != "" || c.members() || t.act.Phrase == deploys || t.queue()
}

// verbless reports whether the tool's name contains no verb, so that an argument says what
// it does.
func (c *call) verbless() bool {
	act, _, _ := c.verb()
	return act == nil && c.first("action") != ""
}

// deploys says that from then on another version runs for others.
const deploys wording.Phrase = "deploys %s"

// members reports whether the tool belongs to a service where only members can read what is
// written.
func (c *call) members() bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("members names", w) })
}

// isNoun reports whether what may be a verb, as in get_invite, ends the tool's name behind what is no thing: it is what
// the word before it is done to.
func (c *call) isNoun(at, n int) bool {
	before, _, _ := spoken.ThingOf(c.words[c.server:at])
	return at > c.server && at+n == len(c.words) && before == nil
}

// action returns the action that an argument names, for a tool whose name leaves it open.
func (c *call) action() *spoken.Act {
	if words := reading.Words(nameOf(cmp.Or(c.first(spoken.List("verbs keys")...), c.ownAction()))); len(words) > 0 {
		if act, at, _ := spoken.ActIn(words[:1]); at == 0 {
			return act
		}
	}
	return nil
}

// ownAction returns the action that an argument names with the tool's own nouns before: the run_action of a run.
func (c *call) ownAction() string {
	for _, key := range c.keys {
		words := strings.Fields(c.spelled[key])
		if n := len(words) - 1; n > 0 && spoken.Is("verbs keys", words[n]) && !slices.ContainsFunc(words[:n], func(w string) bool { return !c.has(w) }) {
			return c.first(key)
		}
	}
	return ""
}

// acts reports whether an argument named so says what the tool does.
func (c *call) acts() bool {
	does, _, _ := c.verb()
	return c.ownAction() != "" && c.action() != nil && c.leaves(does)
}

// isAction reports whether an argument names the action with the tool's own nouns before.
func (c *call) isAction(key string) bool { return c.ownAction() != "" && c.first(key) == c.ownAction() }

// leaves reports whether the tool's name, with this verb or none, leaves it to an argument what is done.
func (c *call) leaves(act *spoken.Act) bool {
	generic := func(at int) bool { return spoken.Is("verbs generic", c.words[at]) }
	switch last := len(c.words) - 1; {
	case act == nil && !c.shows():
		return true
	case last < 0:
		return false
	default: // lock_operation; the run of action_run is a noun
		return generic(last) || c.server < last && generic(c.server) && c.ownAction() != ""
	}
}

// shows reports whether the tool's name begins as those of tools that show something do: an argument called method says
// nothing of these.
func (c *call) shows() bool {
	return len(c.words) > c.server && spoken.Is("texts shown", c.words[c.server])
}

// has reports whether the tool's name contains one of the words.
func (c *call) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(c.words, w) })
}

// does reports whether the tool's name says that one of these verbs is applied to one of
// these nouns, and to nothing else.
func (c *call) does(verbs, nouns string) bool {
	at := slices.IndexFunc(c.words, func(w string) bool { return slices.Contains(strings.Fields(verbs), w) })
	if at < 0 {
		return false
	}
	words := c.words[at+1:]
	if end := slices.IndexFunc(words, func(w string) bool { return joins(w) != "" }); end >= 0 {
		words = words[:end]
	}
	if len(words) == 0 {
		words = c.words[:at+1] // the verb is also a noun, or follows one
	}
	last := words[len(words)-1]
	if len(words) > 1 && !slices.Contains(strings.Fields(nouns), last) && last == c.words[at] {
		last = words[len(words)-2]
	}
	return slices.Contains(strings.Fields(nouns), last)
}

// ofService takes what precedes the verb of a name for that of a service if it begins with a word that is not known. A
// word that may be a noun is the verb only if there is no other: AugustSmartLockUnlockDoor locks nothing.
func (c *call) ofService() {
	verbAt := func(i int) bool { act, _ := spoken.Begins(c.words[i:]); return act != nil }
	nounAt := func(i int) bool { thing, _, _ := spoken.ThingOf(c.words[i : i+1]); return thing != nil }
	if c.server > 0 || len(c.words) == 0 || verbAt(0) || nounAt(0) {
		return
	}
	for i := len(c.words) - 2; i > 0; i-- { // the first verb that is no noun, or else the first
		if verbAt(i) && (c.server == 0 || !nounAt(i) || nounAt(c.server)) {
			c.server = i
		}
	}
}
