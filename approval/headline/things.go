package headline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// object says what a tool does by the verb of its name, and to what by its nouns and
// arguments: "cancels the subscription sub_1". It returns nil if the name does not tell, or
// if neither the name nor an argument says to what.
func (c *call) object() (wording.Sentence, *toolName) {
	t, ok := c.named()
	for _, told := range []func(*toolName) wording.Sentence{c.moved, c.merged, c.both, c.goesBack, c.substitutes} {
		if said := told(&t); said != nil {
			return said, &t
		}
	}
	if !ok && t.act != nil && t.act.Phrase == deploys {
		return c.deployed(), &t
	}
	if !ok {
		return c.putInto(&t), &t
	}
	names, key := c.which(&t)
	if set := c.property(&t); set != nil {
		return set, &t
	}
	if said := c.done(&t, names, key); said != nil {
		return said, &t
	}
	if said := c.putInto(&t); said != nil {
		return said, &t
	}
	return nil, nil
}

// done says what is done to the thing with these names, which are under this key, and to, from or in
// which second thing. It returns nil if it remains open which thing that is, how many there are, or
// which is one of two, or if the thing may be an attribute given to another one.
func (c *call) done(t *toolName, names []string, key string) wording.Sentence {
	if c.given(t, names, key) || t.act.Phrase == kicks && nobody(t.thing) {
		return nil // who is kicked from there, nobody knows
	}
	what, second := c.parties(t, names, key)
	if len(what) == 0 {
		return nil
	}
	if said := t.renamed(what, second); said != nil {
		return said
	}
	if properties, values, ok := c.changed(t, key); ok && len(names) == 1 {
		return slices.Concat(wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{properties}}, {Phrase: "of %s", Args: what[:1]}},
			what[1:], second, wording.Sentence{{Phrase: ": %s", Args: []wording.Clause{values}}})
	}
	bare, what := t.bare(names) && (len(what) == 1 || what[1].Phrase == "for %s"), c.within(t, names, what, second)
	t.part = t.part || len(second) > 0 && c.repository() == ""
	out := slices.Concat(wording.Sentence{{Phrase: t.act.Phrase, Args: what[:1]}}, what[1:], second)
	return c.with(c.added(c.scaled(t.each(out, names), t), t, bare), t)
}

// parties returns the thing to which something is done, with what it belongs to, and the second thing.
// It returns nothing if one of them remains open.
func (c *call) parties(t *toolName, names []string, key string) (what, second wording.Sentence) {
	what = c.whole(t, names, key)
	second, ok := c.shared(t, key, names)
	if len(what) == 0 && ok {
		what = t.itself()
	}
	if len(what) == 0 || !ok && len(t.others) > 0 {
		return nil, nil
	}
	return c.once(t, key, what, second)
}

// once drops what a thing belongs to, or the second thing, if both are the same.
func (c *call) once(t *toolName, key string, what, second wording.Sentence) (thing, other wording.Sentence) {
	switch owner, _ := c.owner(t, key); {
	case len(second) == 0 || len(what) < 2 || len(second[0].Args) == 0:
	case second[0].Args[0].String() == owner.String(), t.ofRepository() && second[len(second)-1].Args[0].Text == c.repository():
		what = what[:1]
	case second[0].Args[0].String() == what[1].Args[0].String(), wording.Sentence(second[0].Args).String() == wording.Sentence(what[1].Args[0].Args).String():
		second = second[1:]
	}
	return what, second
}

// within adds to a thing that belongs to nothing the other thing of which it is a part, unless the second
// thing names that already.
func (c *call) within(t *toolName, names []string, what, second wording.Sentence) wording.Sentence {
	whole := c.part(t, names)
	if len(what) != 1 || whole == nil || len(names) == 0 && len(second) > 0 && !t.act.Sets {
		return what
	}
	name := whole[0].Args[0]
	if len(name.Args) > 0 { // a generic thing is just its name
		name = name.Args[0]
	}
	if strings.Contains(second.String(), name.String()) {
		return what
	}
	t.part = true
	if len(second) > 0 && second[0].Phrase == whole[0].Phrase {
		whole[0].Phrase = inside // a role goes to a user, and is one of the guild
	}
	return append(what, whole...)
}

// ofRepository reports whether the thing belongs to a repository, which is where it is.
func (t *toolName) ofRepository() bool {
	thing, _, _ := spoken.ThingOf(t.owner)
	return thing != nil && (slices.Contains(thing.Words, "repo") || slices.Contains(thing.Words, "project"))
}

// which returns the names of the thing, and the key they are under. For somebody who is a
// member of something, they are that person's names.
func (c *call) which(t *toolName) (names []string, key string) {
	if names, key = c.identity(t); c.another(t, key) {
		names, key = nil, ""
	}
	last := t.nouns[len(t.nouns)-1]
	if (len(names) == 0 || t.thing == nil) && membership(last) {
		t.enters()
	}
	if who, under := c.leaver(t, names); who != nil {
		return who, under
	}
	if len(names) == 0 && membership(last) {
		names, key = c.names(t.thing, false, "user")
	}
	if len(names) == 0 {
		names, key = c.sole(t)
	}
	return c.subject(t, names, key)
}

// identity returns the names that the arguments give to what the nouns mean, and the key they are under.
func (c *call) identity(t *toolName) (names []string, key string) {
	if names, key = c.local(t); names != nil {
		return names, key
	}
	names, key = c.names(t.thing, t.act.Partly, strings.Join(t.nouns, ""), t.nouns[len(t.nouns)-1])
	switch called := c.args["name"]; {
	case t.act.Makes:
		return c.made(t.thing, names, key)
	case len(names) == 0:
		return c.prefixed(t)
	case key == "name" && t.act.Partly && !t.act.Turns:
		return c.older(t, names, key)
	case key == "id" && len(called) == 1 && !t.act.Partly && !t.act.Turns:
		return called, "name" // the id may be that of its version
	default:
		return names, key
	}
}

// older returns what a thing is called that gets a new name, and the key of that.
func (c *call) older(t *toolName, names []string, key string) (its []string, under string) {
	for _, end := range []string{"slug", "key", "path", "arn", "identifier"} {
		if its, under = c.under(spoken.Singular(t.nouns[len(t.nouns)-1]), end); len(its) > 0 {
			return its, under
		}
	}
	return names, key
}

// subject returns the names of what the verb applies to: if these names are what it is renamed to, its
// own, and if what is forked has none, the repository's.
func (c *call) subject(t *toolName, names []string, key string) (its []string, under string) {
	if t.thing != nil && t.act.Phrase == renames && (key == "name" || key == "title") {
		if its, under = c.ends(slices.Concat(t.thing.Words, t.thing.Keys), func(string) bool { return false }); len(its) == 1 {
			return its, under // what the name is given to
		}
	}
	if where := c.repository(); len(names) == 0 && where != "" && t.act.Phrase == "forks %s" {
		return []string{where}, "repo"
	}
	return names, key
}

// leaver returns who joins or leaves something, if the tool's name says neither who nor what before its
// verb: conversations_kick. The thing is then a user.
func (c *call) leaver(t *toolName, names []string) (who []string, key string) {
	joins := t.act.Phrase == kicks || t.act.Phrase == "invites %s"
	if !joins || !nobody(t.thing) {
		return nil, ""
	}
	user, _, _ := spoken.ThingOf([]string{"user"})
	if who, key = c.names(user, false, "user", "member"); len(who) == 0 || slices.Equal(who, names) {
		return nil, ""
	}
	t.thing, t.plural, t.owner, t.nouns = user, len(who) > 1, nil, []string{"user"}
	return who, key
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
	if owned && t.act.Turns && t.act.With != inside {
		return wording.Sentence{what, {Phrase: t.act.With, Args: []wording.Clause{owner}}}
	}
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
		return unlisted(t.nouns, names)
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
	owner, owned := c.entitled(t)
	switch {
	case holder != nil && t.only():
		return ofHolder(t.thing.One, holder)
	case owned && t.act.Makes && !t.plural:
		return wording.Sentence{{Phrase: t.thing.Any}, {Phrase: "for %s", Args: []wording.Clause{owner}}}
	case len(t.owner) > 0:
		return nil
	case t.theirs() && holder != nil:
		return ofHolder(t.thing.Several, holder)
	case c.finds(t):
		return wording.Sentence{wording.Say(t.thing.Several, ""), {Phrase: "that it finds"}}
	default:
		return c.indefinite(t)
	}
}

// indefinite returns several things of which it is told which ones are meant, by a word for all of them
// or by an argument that describes them, or one that needs no name: it is new, is only started, or
// nothing is said of it.
func (c *call) indefinite(t *toolName) wording.Sentence {
	switch {
	case t.plural && (t.every() || c.about(true).Phrase != ""):
		return wording.Sentence{wording.Say(t.thing.Several, "")}
	case c.onlyThere(t):
		return wording.Sentence{wording.Say(t.thing.One, "")}
	case !t.plural && (t.act.Makes || t.act.Sets || !t.act.Partly && !t.act.Turns && c.mute()):
		return wording.Sentence{{Phrase: t.thing.Any}}
	default:
		return nil
	}
}

// mute reports whether the arguments say nothing at all.
func (c *call) mute() bool {
	for _, values := range c.args {
		if slices.ContainsFunc(values, func(s string) bool { return strings.TrimSpace(s) != "" }) {
			return false
		}
	}
	return true
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
	to, unknown := c.target(t, key, names)
	if unknown {
		return nil, false
	}
	if to != nil {
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{*to}}}
	}
	if where := c.repository(); where != "" && !slices.Contains(names, where) && !slices.Contains(names, c.first("repo", "repository")) {
		said = said.And(t.place(), where)
	} else if thing, ok := c.listed("places", key, names); ok && len(said) == 0 && !t.isA(thing.Text) {
		where := inside
		switch {
		case t.with == "from %s":
			where = t.with
		case t.place() == "to %s":
			where = "to %s"
		}
		said = wording.Sentence{{Phrase: where, Args: []wording.Clause{thing}}}
	}
	return said, len(said) > 0
}

// target returns the second thing, to or from which something goes: the one that the tool's name speaks of or, if it
// speaks of none, one that an argument names. unknown says that the name speaks of one and no argument names it.
func (c *call) target(t *toolName, key string, names []string) (to *wording.Clause, unknown bool) {
	if len(t.others) > 0 {
		to = c.spokenOf(t)
		return to, to == nil
	}
	if t.when != "" {
		return &wording.Clause{Text: t.when}, false
	}
	if to := c.first("newname", "name", "newtitle", "title"); t.act.Phrase == renames && to != "" && !slices.Contains(names, to) {
		return &wording.Clause{Text: to}, false
	}
	if state := c.stateOf(t); state != nil {
		return state, false
	}
	if thing, ok := c.listed("targets", key, names); ok && (t.with != inside || t.act.Phrase == deploys) {
		t.with = map[bool]wording.Phrase{true: "into %s", false: t.with}[t.act.Phrase == moves || t.act.Phrase == "uploads %s"]
		return &thing, false
	}
	return c.assignee(t, key), false
}

// spokenOf returns the second thing of the name, by the names that the arguments give it, or nil.
func (c *call) spokenOf(t *toolName) *wording.Clause {
	thing, _, _ := spoken.ThingOf(t.others)
	last := t.others[len(t.others)-1]
	its, _ := c.names(thing, false, strings.Join(t.others, ""), last)
	if len(its) == 0 && membership(last) {
		thing, _, _ = spoken.ThingOf([]string{"user"})
		its, _ = c.names(thing, false, "user")
	}
	switch {
	case thing == nil && (t.act.Phrase == deploys || t.act.Phrase == moves) && !slices.ContainsFunc(t.others, unclear):
		t.with = map[bool]wording.Phrase{true: "to the %s", false: t.with}[t.act.Phrase == moves]
		return &wording.Clause{Text: strings.Join(t.others, " ")} // "production" and "backlog" say it by themselves
	case thing == nil || len(its) == 0:
		return nil
	}
	t.with = map[bool]wording.Phrase{true: "into %s", false: t.with}[t.act.Phrase == moves && t.with == "to %s"]
	return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(its)}}
}

// listed returns the thing named by an argument whose key is on one of the lists, except
// for the key of the object itself.
func (c *call) listed(list, but string, names []string) (wording.Clause, bool) {
	var found wording.Clause
	rank := func(key string) int { return spoken.Rank(list+" named", key) }
	for _, key := range slices.SortedFunc(slices.Values(c.keys), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) }) {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), nameless)
		if key == but || len(values) == 0 || slices.Equal(values, names) {
			continue
		}
		thing, sure := listedAt(list, key, values)
		if sure {
			return thing, true
		}
		if found.Phrase == "" {
			found = thing
		}
	}
	return found, found.Phrase != ""
}
