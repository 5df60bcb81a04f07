package headline

import (
	"cmp"
	"maps"
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
	// with joins the second thing, which others names.
	with   wording.Phrase
	others []string
}

// named reads the name of the call's tool. ok is false if it contains no listed verb, or
// does not say what the verb applies to.
func (c *call) named() (t toolName, ok bool) {
	act, at, n := c.act()
	if act == nil {
		return t, false
	}
	t.act, t.with = act, act.With
	words := c.words[at+n:]
	if n == 0 {
		words = slices.DeleteFunc(slices.Clone(c.words[c.server:]), func(w string) bool { return spoken.Is("verbs generic", w) })
	}
	if words = unversioned(words); len(words) == 0 {
		words = c.before(at)
	}
	t.parted(words)
	if others := slices.DeleteFunc(slices.Clone(t.others), c.service); len(t.nouns) == 0 && len(t.others) > 0 && len(others) == 0 {
		t.nouns, t.others = c.keyed(nil), nil
	}
	if to, _, _ := spoken.ThingOf(t.others); len(t.nouns) == 0 && to != nil {
		t.nouns = c.keyed(to) // invite_to_channel
	}
	t.thing, t.plural, t.owner = spoken.ThingOf(t.nouns)
	t.owner = slices.DeleteFunc(slices.Clone(t.owner), c.service)
	c.classed(&t)
	if t.thing != nil && slices.Contains(t.thing.Words, "record") && c.first("zone", "zoneid", "domain", "hostedzoneid") != "" && c.first("type", "recordtype") != "" {
		t.thing, _, _ = spoken.ThingOf([]string{"dns-record"})
	}
	t.act = c.turned(t.act.To(t.thing))
	if feeds := []wording.Phrase{"publishes %s", "sends %s", "pushes %s"}; t.queue() && slices.Contains(feeds, t.act.Phrase) {
		put := *t.act
		put.Phrase, t.act = "sends a message to %s", &put
	}
	return t, len(t.nouns) > 0 && (n > 0 || t.thing != nil)
}

// parted separates the nouns of the thing from those of the second one.
func (t *toolName) parted(words []string) {
	for len(words) > 0 && slices.Contains([]string{"a", "an", "the", "new", "my", "existing", "pending", "delivered", "batch", "bulk", "multiple"}, words[0]) {
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

// classed finds out what a thing is from an argument, if its name calls it just an object.
func (c *call) classed(t *toolName) {
	if len(t.nouns) == 0 || t.thing != nil && len(t.owner) > 0 {
		return
	}
	if last := spoken.Singular(t.nouns[len(t.nouns)-1]); !slices.ContainsFunc(last, func(w string) bool { return spoken.Is("things-that generic", w) }) {
		return
	}
	class := reading.Words(c.first("type", "kind", "objecttype", "resourcetype", "entitytype", "itemtype"))
	switch thing, _, rest := spoken.ThingOf(class); {
	case thing != nil && len(rest) == 0:
		t.thing, t.owner = thing, nil
	case len(class) > 0 && c.first("kind") != "":
		t.nouns, t.owner, t.thing, t.plural = class, nil, nil, false
	}
}

// act returns what the name says is done. If that is to run something which itself does
// something, it returns what that does.
func (c *call) act() (act *spoken.Act, at, n int) {
	act, at, n = c.verb()
	if told := c.action(); act == nil && told != nil {
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
	for act != nil && act.Leads && slices.ContainsFunc(c.words[:from+at], func(w string) bool { return !c.service(w) }) {
		from += at + n
		act, at, n = spoken.ActIn(c.words[from:])
	}
	return act, max(at, 0) + from, n
}

// action returns the action that an argument names, for a tool whose name leaves it open.
func (c *call) action() *spoken.Act {
	if words := reading.Words(c.first("action", "operation", "method")); len(words) > 0 {
		if act, at, _ := spoken.ActIn(words[:1]); at == 0 {
			return act
		}
	}
	return nil
}

// before returns the nouns of a name whose verb comes after them or, if there are none,
// that of the arguments. It returns nil if they may be the name of a service.
func (c *call) before(verb int) []string {
	words := c.words[min(c.server, verb):verb]
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
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		stem := key
		if thing, _, _ := spoken.ThingOf([]string{stem}); thing == nil {
			stem = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "id"), "name"), "key")
		}
		if thing, _, _ := spoken.ThingOf([]string{stem}); thing == nil || thing == but || spoken.Is("places bare", key) {
			continue
		}
		if noun != nil {
			return nil
		}
		noun = []string{stem}
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

// object says what a tool does by the verb of its name, and to what by its nouns and
// arguments: "cancels the subscription sub_1". It returns nil if the name does not tell, or
// if neither the name nor an argument says to what.
func (c *call) object() (wording.Sentence, *toolName) {
	t, ok := c.named()
	for _, told := range []func(*toolName) wording.Sentence{c.moved, c.merged, c.both} {
		if said := told(&t); said != nil {
			return said, &t
		}
	}
	if !ok {
		return nil, &t
	}
	names, key := c.which(&t)
	if set := c.property(&t); set != nil {
		return set, &t
	}
	if c.given(&t, names, key) {
		return nil, nil // it may be an attribute given to another thing, or be changed itself
	}
	what := c.whole(&t, names, key)
	second, ok := c.shared(&t, key, names)
	if len(what) == 0 && ok {
		what = t.itself()
	}
	if len(what) == 0 || !ok && len(t.others) > 0 {
		return nil, nil // which one, how many, or one of two things remains unknown
	}
	if owner, _ := c.owner(&t, key); len(second) > 0 && len(what) > 1 && second[0].Args[0].String() == owner.String() {
		what = what[:1]
	}
	out := slices.Concat(wording.Sentence{{Phrase: t.act.Phrase, Args: what[:1]}}, what[1:], second)
	if much := c.first("replicas", "scale", "desiredcapacity", "desiredcount", "size"); t.act.Phrase == "scales %s" && much != "" {
		out = out.And("to %s", much)
	}
	return c.added(out, &t, len(what) == 1 && t.bare(names)), &t
}

// which returns the names of the thing, and the key they are under. For somebody who is a
// member of something, they are that person's names.
func (c *call) which(t *toolName) (names []string, key string) {
	last := t.nouns[len(t.nouns)-1]
	names, key = c.names(t.thing, t.act.Partly, strings.Join(t.nouns, ""), last)
	switch called := c.args["name"]; {
	case key == "items" && t.act.Makes:
		names, key = nil, "" // what it is made of
	case key == "id" && len(called) == 1 && !t.act.Partly && !t.act.Turns:
		names, key = called, "name" // the id may be that of its version
	}
	if (len(names) == 0 || t.thing == nil) && membership(last) {
		t.enters()
	}
	if len(names) == 0 && membership(last) {
		names, key = c.names(t.thing, false, "user")
	}
	return names, key
}

// given reports whether the thing may be an attribute of another thing that the arguments
// name.
func (c *call) given(t *toolName, names []string, key string) bool {
	_, owned := c.owner(t, key)
	return owned && t.act.Partly && len(names) > 0 && spoken.Is("things-that attributes", t.nouns[len(t.nouns)-1])
}

// enters says that somebody joins, or leaves, what they are a member of.
func (t *toolName) enters() {
	if t.thing == nil { // then the noun counts as an owner
		t.owner = t.owner[:max(0, len(t.owner)-1)]
	}
	if len(t.others) == 0 {
		t.others = t.owner
	}
	t.thing, t.plural, t.owner = spoken.ThingOf([]string{"user"})
}

// bare reports whether a thing is mentioned without a name: it is new, is only started, or
// is several things.
func (t *toolName) bare(names []string) bool {
	return len(names) == 0 && (t.plural || t.act.Makes || t.act.Sets)
}

// whole returns the thing by its names, and what it belongs to. It returns nil if the
// arguments do not say which thing it is.
func (c *call) whole(t *toolName, names []string, key string) wording.Sentence {
	owner, owned := c.owner(t, key)
	if len(names) == 0 && (!owned || !t.plural || t.act.Makes) {
		return c.unnamed(t)
	}
	what := c.nameOf(t, names, owned)
	if owned {
		return wording.Sentence{what, {Phrase: "of %s", Args: []wording.Clause{owner}}}
	}
	return wording.Sentence{what}
}

// nameOf returns the thing by its names. If nothing names its owner, it includes the
// owner's words.
func (c *call) nameOf(t *toolName, names []string, owned bool) wording.Clause {
	switch {
	case t.thing != nil && slices.Contains(t.thing.Words, "repo") && len(names) == 1 && names[0] == c.first("repo", "repository"):
		return wording.Say(t.thing.One, c.repository())
	case t.thing == nil || len(t.owner) > 0 && !owned:
		return wording.Clause{Phrase: "%s %s", Args: []wording.Clause{{Text: strings.Join(t.nouns, " ")}, named(names)}}
	case len(names) != 1:
		return wording.Clause{Phrase: t.thing.Several, Args: []wording.Clause{named(names)}}
	default:
		return wording.Clause{Phrase: t.thing.One, Args: []wording.Clause{named(names)}}
	}
}

// unnamed returns a thing that has no name in the arguments: a new one, several that the
// arguments describe, or the only one that somebody has.
func (c *call) unnamed(t *toolName) wording.Sentence {
	if t.thing == nil {
		return nil
	}
	holder := c.whose(t)
	switch {
	case holder != nil && t.only():
		return wording.Sentence{wording.Say(t.thing.One, ""), {Phrase: "of %s", Args: []wording.Clause{*holder}}}
	case len(t.owner) > 0:
		return nil
	case t.plural && c.about(true).Phrase != "":
		return wording.Sentence{wording.Say(t.thing.Several, "")}
	case !t.plural && (t.act.Makes || t.act.Sets):
		return wording.Sentence{{Phrase: t.thing.Any}}
	default:
		return nil
	}
}

// shared returns with whom a thing is shared if that is everyone, and else the second thing.
func (c *call) shared(t *toolName, key string, names []string) (wording.Sentence, bool) {
	if t.with == "with %s" && c.shownToAll() {
		return wording.Sentence{{Phrase: "with everyone"}}, true
	}
	return c.second(t, key, names)
}

// second returns the thing to, from or in which something is done, and the place, and
// reports whether either is given.
func (c *call) second(t *toolName, key string, names []string) (said wording.Sentence, ok bool) {
	if len(t.others) > 0 {
		thing, _, _ := spoken.ThingOf(t.others)
		its, _ := c.names(thing, false, strings.Join(t.others, ""), t.others[len(t.others)-1])
		if len(its) == 0 && membership(t.others[len(t.others)-1]) {
			thing, _, _ = spoken.ThingOf([]string{"user"})
			its, _ = c.names(thing, false, "user")
		}
		if thing == nil || len(its) == 0 {
			return nil, false
		}
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{{Phrase: thing.One, Args: []wording.Clause{named(its)}}}}}
	} else if to := c.values(spoken.List("targets states")); len(to) > 0 && t.act.Phrase == moves {
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{named(to)}}}
	} else if thing, ok := c.listed("targets", key, names); ok && t.with != inside {
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{thing}}}
	}
	if where := c.repository(); where != "" && !slices.Contains(names, where) && !slices.Contains(names, c.first("repo", "repository")) {
		said = said.And(t.place(), where)
	} else if thing, ok := c.listed("places", key, names); ok && len(said) == 0 {
		where := inside
		if t.with == "from %s" {
			where = t.with
		}
		said = wording.Sentence{{Phrase: where, Args: []wording.Clause{thing}}}
	}
	return said, len(said) > 0
}

// inside joins a place to what is done in it.
const inside wording.Phrase = "in %s"

// listed returns the thing named by an argument whose key is on one of the lists, except
// for the key of the object itself.
func (c *call) listed(list, but string, names []string) (wording.Clause, bool) {
	var found wording.Clause
	rank := func(key string) int { return spoken.Rank(list+" named", key) }
	for _, key := range slices.SortedFunc(maps.Keys(c.args), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) }) {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if key == but || len(values) == 0 || slices.Equal(values, names) {
			continue
		}
		if spoken.Is(list+" bare", key) {
			return named(values), true
		}
		thing := spoken.ThingAt(key)
		if at := spoken.ThingAt(strings.TrimPrefix(key, "newparent")); list == "targets" && at != nil && strings.HasPrefix(key, "newparent") {
			return wording.Clause{Phrase: at.One, Args: []wording.Clause{named(values)}}, true
		}
		if thing != nil && spoken.Is(list+" named", key) && found.Phrase == "" {
			found = wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(values)}}
		}
	}
	return found, found.Phrase != ""
}
