package headline

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// toolName is what a tool's name says: what is done, to what, and to or in which second
// thing.
type toolName struct {
	act   *spoken.Act
	nouns []string
	// thing is what the nouns mean, nil if they are not listed; plural says that they mean
	// several.
	thing  *spoken.Thing
	plural bool
	// owner are the nouns before those of the thing: what it belongs to. final says that this is
	// final once it exists, such as an order.
	owner []string
	final bool
	// all says that the name speaks of all of them.
	all bool
	// part says that the call names another thing to which the thing belongs.
	part bool
	// ruins says that an operation by which the thing is changed cannot be undone.
	ruins bool
	// with joins the second thing, which others names.
	with   wording.Phrase
	others []string
	// when is the time to which the thing is moved.
	when string
}

// named reads the name of the call's tool. ok is false if it contains no listed verb, or
// does not say what the verb applies to.
func (c *call) named() (t toolName, ok bool) {
	act, at, n := c.act()
	if act == nil {
		return t, false
	}
	t.act, t.with = act, act.With
	t.parted(c.nouns(at, n))
	c.turnedRound(&t)
	t.state(c)
	if len(t.nouns) > 1 && t.nouns[0] == "all" && t.several() {
		t.nouns, t.all = t.nouns[1:], true
	}
	c.understood(&t)
	t.thing, t.plural, t.owner = spoken.ThingOf(t.nouns)
	t.owner = slices.DeleteFunc(slices.Clone(t.owner), c.service)
	c.classed(&t)
	c.sense(&t)
	t.plural = t.plural && (!t.act.Makes || !c.resource || c.lists(t.nouns[len(t.nouns)-1]))
	t.act = c.turned(t.act.To(t.thing)).To(t.thing)
	c.later(&t)
	if feeds := []wording.Phrase{"publishes %s", "sends %s", "pushes %s"}; t.queue() && slices.Contains(feeds, t.act.Phrase) {
		put := *t.act
		put.Phrase, t.act = "sends a message to %s", &put
	}
	return t, len(t.nouns) > 0 && (n > 0 || t.thing != nil)
}

// several reports whether the last of the nouns is that of several things.
func (t *toolName) several() bool {
	_, plural, _ := spoken.ThingOf(t.nouns)
	return plural || strings.HasPrefix(string(t.act.Phrase), "marks ")
}

// nouns returns the words that say what the verb applies to: those after it or, if there are none,
// those before it. The verb begins at the word with the index at and is n words long; n is 0 if an
// argument says what is done.
func (c *call) nouns(at, n int) []string {
	words := c.words[at+n:]
	if n == 0 {
		words = slices.DeleteFunc(slices.Clone(c.words[c.server:]), func(w string) bool { return spoken.Is("verbs generic", w) })
	}
	if words = unversioned(words); len(words) == 0 {
		return c.before(at)
	}
	return words
}

// joined puts a verb at the end of the tool's own name at its beginning, if it is no noun and the only one:
// firmware_update; and a particle at its end after its verb, if both are one verb: transfer_domain_out,
// mark_mail_as_read.
func (c *call) joined() {
	own := c.words[min(c.server, len(c.words)):]
	if does, at, _ := spoken.ActIn(own); does != nil && at > 0 && at == len(own)-1 && !does.Leads && !c.service(own[at-1]) {
		if thing, _, _ := spoken.ThingOf(own); thing == nil {
			c.words, c.resource = slices.Concat(c.words[:c.server], own[at:], withoutMany(own[:at])), true
		}
	}
	c.turnedIn(own)
	if len(own) <= longestVerb || !spoken.Is("verbs particles", own[len(own)-1]) {
		return
	}
	end := len(own) - 1
	if own[end-1] == "as" {
		end--
	}
	if _, at, n := spoken.ActIn(slices.Concat(own[:1], own[end:])); at == 0 && n == len(own)-end+1 {
		c.words = slices.Concat(c.words[:c.server+1], own[end:], own[1:end])
	}
}

// turns drops what says only how a verb is done, as in quick_add, and reports whether the name has no verb but says that
// something is turned on or off: maintenance_on.
func (c *call) turns() bool {
	own := c.words[min(c.server, len(c.words)):]
	if len(own) < longestVerb {
		return false
	}
	if last := len(own) - 1; last > 1 && own[last] == "tool" { // delete_style_tool
		own, c.words = own[:last], c.words[:len(c.words)-1]
	}
	if own[0] == "quick" {
		c.words = slices.Concat(c.words[:c.server], own[1:])
		return false
	}
	does, _, _ := spoken.ActIn(own)
	last := len(own) - 1
	turns := does == nil && (own[last] == "on" || own[last] == "off")
	if turns {
		c.words = slices.Concat(c.words[:c.server], []string{"turn", own[last]}, own[:last])
	}
	return turns
}

// longestVerb is the number of words of a verb with a particle.
const longestVerb = 2

// understood adds the nouns of a thing that the name leaves out because the arguments say it:
// invite_to_channel invites the users. Of what is transferred or sent, an argument may just as well say from where.
func (c *call) understood(t *toolName) {
	if others := slices.DeleteFunc(slices.Clone(t.others), c.service); len(t.nouns) == 0 && len(t.others) > 0 && len(others) == 0 {
		t.nouns, t.others, t.with = c.keyed(nil), nil, t.act.With
	}
	switch to, _, _ := spoken.ThingOf(t.others); {
	case len(t.nouns) > 0 || len(t.others) == 0:
	case to != nil:
		t.nouns = c.keyed(to)
		if thing, _, _ := spoken.ThingOf(t.nouns); thing != nil && slices.Contains(thing.Keys, "message") && strings.Contains(c.first(t.nouns[0]), "@") {
			t.nouns = []string{"user"} // whose address it is
		}
	case t.act.Phrase == deploys: // to "production", which is no thing
		t.nouns, t.with = c.keyed(nil), inside
	}
}

// sense finds out which of two things a noun means: a record that has a type and is kept in a zone is
// a DNS record, a card of a bank is one that people pay with, and nobody books a table of a database.
func (c *call) sense(t *toolName) {
	if t.thing == nil {
		c.valuedEnv(t)
		return
	}
	switch {
	case slices.Contains(t.thing.Words, "record") && c.first("zone", "zoneid", "domain", "hostedzoneid") != "" && c.first("type", "recordtype") != "":
		t.thing, _, _ = spoken.ThingOf([]string{"dns-record"})
	case t.ofNoCell():
		t.withValue()
	case c.paying(t.thing) != t.thing:
		t.thing = c.paying(t.thing)
	case slices.Contains(t.thing.Words, "client") && c.speaksOf("identity names"):
		t.thing, _, _ = spoken.ThingOf([]string{"oauth-client"}) // a program that signs people in
	case slices.Contains(t.thing.Words, "table") && t.act.Phrase == "books %s":
		t.thing, _, _ = spoken.ThingOf([]string{"restaurant-table"})
	default:
		c.timely(t)
	}
}

// timely finds out that a calendar, or an invitation, stands for an event.
func (c *call) timely(t *toolName) {
	answered := slices.Contains(t.thing.Words, "invitation") && t.act.Phrase == "answers %s" && c.first("eventid", "event") != ""
	if answered || slices.Contains(t.thing.Words, "calendar") && t.act.Makes && c.first(spoken.List("texts when")...) != "" {
		t.thing, _, _ = spoken.ThingOf([]string{"event"})
		t.nouns = []string{"event"}
	}
}

// gives reports whether an argument has one of the keys on the list.
func (c *call) gives(list string) bool {
	return c.first(spoken.List(list)...) != ""
}

// state drops a last noun that is only the property by which an argument says what becomes of the
// thing: set_photo_visibility.
func (t *toolName) state(c *call) {
	if last := len(t.nouns) - 1; last > 0 && changes(t.act) && spoken.Turned(t.nouns[last], c.first(t.nouns[last])) != nil {
		t.nouns = t.nouns[:last]
	}
}

// later records when something is to be that is moved to another time.
func (c *call) later(t *toolName) {
	dated := t.thing != nil && slices.ContainsFunc(t.thing.Words, func(w string) bool { return w == "event" || w == "meeting" || w == "appointment" })
	if t.act.Phrase != "reschedules %s" && (!dated || t.act.Phrase != moves && (!changes(t.act) || !c.onlyTimes())) {
		return
	}
	if when := c.first(spoken.List("texts when")...); when != "" {
		moved := *t.act
		moved.Phrase, moved.With = moves, "to %s"
		t.act, t.with, t.when = &moved, moved.With, when
	}
}

// onlyTimes reports whether all arguments name things or say when something is to be.
func (c *call) onlyTimes() bool {
	return !slices.ContainsFunc(c.keys, func(key string) bool {
		ends := strings.HasPrefix(strings.TrimPrefix(key, "new"), "end")
		return !ends && !strings.HasSuffix(key, "id") && !strings.HasSuffix(key, "timezone") && !spoken.Is("texts when", key) && !spoken.Is("texts tells", key)
	})
}

// parted separates the nouns of the thing from those of the second one.
func (t *toolName) parted(words []string) {
	for len(words) > 0 && slices.Contains([]string{"a", "an", "the", "new", "my", "existing", "pending", "delivered", "batch", "bulk", "multiple", "partial", "quick", "sent"}, words[0]) {
		words = words[1:]
	}
	t.nouns = words
	at := slices.IndexFunc(words, func(w string) bool { return joins(w) != "" && (!t.act.Makes || w != "status" && w != "state") })
	if at < 0 {
		return
	}
	t.nouns = words[:at]
	if joint := joins(words[at]); joint != apart {
		t.others, t.with = words[at+1:], joint
	}
}

// queue reports whether the thing passes on what is put into it.
func (t *toolName) queue() bool { return t.thing != nil && slices.ContainsFunc(t.thing.Words, queue) }

// queue reports whether a noun means something that passes on what is put into it.
func queue(noun string) bool { return slices.Contains([]string{"topic", "queue", "stream"}, noun) }

// classed finds out what a thing is from an argument, if its name calls it just an object or not at all.
func (c *call) classed(t *toolName) {
	if c.applies(t) || t.owned() {
		return
	}
	if len(t.nouns) == 0 || t.thing != nil && slices.Contains(t.thing.Words, "record") {
		c.unsaid(t)
		return
	}
	if !slices.ContainsFunc(spoken.Singular(t.nouns[len(t.nouns)-1]), generic) {
		return
	}
	class := reading.Words(c.first("type", "kind", "objecttype", "resourcetype", "entitytype", "itemtype"))
	switch thing, _, rest := spoken.ThingOf(class); {
	case thing != nil && !slices.ContainsFunc(rest, func(w string) bool { return !c.service(w) }):
		t.thing, t.owner = thing, nil
	case len(class) > 0 && c.first("kind") != "":
		t.nouns, t.owner, t.thing, t.plural = class, nil, nil, false
	}
}

// unsaid finds out what a thing is from an argument that says its kind, if another one names it: or else
// the argument is a name itself.
func (c *call) unsaid(t *toolName) {
	class := reading.Words(c.first(spoken.List("things-that classes")...))
	thing, _, rest := spoken.ThingOf(class)
	if thing == nil || len(rest) > 0 {
		return
	}
	nouns := append(class, t.nouns...)
	if len(t.nouns) == 0 {
		nouns = append(nouns, "record")
	}
	if names, _ := c.names(thing, false, nouns...); len(names) > 0 || t.act.Makes {
		t.thing, t.nouns = thing, nouns
	}
}

// act returns what the name says is done. If that is to run something which itself does
// something, it returns what that does.
func (c *call) act() (act *spoken.Act, at, n int) {
	act, at, n = c.verb()
	if c.after != nil && len(c.words) > c.server+1 && (act == nil || c.isNoun(at, n)) {
		return c.after, c.server, 1
	}
	if told := c.action(); told != nil && c.leaves(act) {
		return told, 0, 0
	}
	if act == nil || act.Phrase != "runs %s" {
		return act, at, n
	}
	if other, next, m := spoken.ActIn(c.words[at+n:]); other != nil {
		return other, at + n + next, m
	}
	return act, at, n
}

// verb returns the first verb of the tool's own name: the name of its server says nothing
// about what one of its tools does.
func (c *call) verb() (act *spoken.Act, at, n int) {
	from := c.server
	act, at, n = spoken.ActIn(c.words[from:])
	for act != nil && (act.Leads && slices.ContainsFunc(c.words[:from+at], func(w string) bool { return !c.service(w) }) || begins(c.words[from+at:])) {
		from += at + n
		act, at, n = spoken.ActIn(c.words[from:])
	}
	return act, max(at, 0) + from, n
}

// lists reports whether an argument may hold several of the things that a noun means.
func (c *call) lists(noun string) bool {
	return slices.ContainsFunc(c.keys, func(k string) bool {
		return len(c.args[k]) > 1 || slices.ContainsFunc(spoken.Singular(noun), func(one string) bool { return strings.HasPrefix(k, one) || strings.HasSuffix(k, noun) })
	})
}

// begins reports whether a verb is the first word of a listed noun: merge_request_close.
func begins(words []string) bool {
	thing, _, before := spoken.ThingOf(words[:min(longestVerb, len(words))])
	return thing != nil && len(before) == 0 && len(words) > 1
}

// before returns the nouns of a name whose verb comes after them or, if there are none,
// that of the arguments. It returns nil if they may be the name of a service.
func (c *call) before(verb int) []string {
	words := slices.DeleteFunc(slices.Clone(c.words[min(c.server, verb):verb]), c.service)
	if last := len(words) - 1; last > 0 && spoken.Is("options manner", words[last]) {
		words = words[:last] // users_admin_invite
	}
	if thing, _, _ := spoken.ThingOf(words); thing == nil && len(words) > 1 {
		return nil
	}
	if len(words) == 0 {
		return c.keyed(nil)
	}
	return words
}

// service reports whether a word of the tool's name says where things are kept.
func (c *call) service(word string) bool {
	return spoken.Is("services names", word) || spoken.Is("members names", word) || slices.Contains(c.words[:c.server], word)
}

// keyed returns what the only argument that names a thing says it is, but for one thing, for a tool
// whose name is just a verb.
func (c *call) keyed(but *spoken.Thing) (noun []string) {
	var place []string // where something is done may be all that is named
	for _, key := range c.keys {
		stem := key
		if thing, _, _ := spoken.ThingOf([]string{stem}); thing == nil {
			stem = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "s"), "url"), "id"), "name"), "key")
		}
		thing, _, _ := spoken.ThingOf([]string{stem})
		switch {
		case thing == nil || thing == but || c.unkeyed(key), nameless(c.first(key)):
		case spoken.Is("places bare", key):
			if strings.HasSuffix(key, "id") {
				place = []string{stem}
			}
		case noun != nil:
			return nil
		default:
			noun = []string{stem}
		}
	}
	if noun == nil {
		return place
	}
	return noun
}

// apart marks that the words which follow say nothing of a second thing.
const apart wording.Phrase = "-"

// joins returns the phrase with which a word joins a second thing to the first, or "".
func joins(word string) wording.Phrase {
	switch word {
	case "to", "from", "in":
		return wording.Phrase(word + " %s")
	case "into":
		return "to %s"
	case "on", "of", "at":
		return "in %s"
	case "by", "for", "with", "and", "or", "via", "as", "async", "batch", "status", "state", "many":
		return apart
	}
	return ""
}

// renames says that something gets another name.
const renames wording.Phrase = "renames %s"
