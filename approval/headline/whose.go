package headline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// owner returns the thing that another thing belongs to, as in the address of a customer,
// and whether the arguments name it.
func (c *call) owner(t *toolName, but string) (wording.Clause, bool) {
	thing, _, rest := spoken.ThingOf(t.owner)
	if thing == nil || len(rest) > 0 || t.thing == nil {
		return wording.Clause{}, false
	}
	if its := c.numberOf(t, but); its != "" {
		return wording.Say(thing.One, its), true
	}
	for _, key := range c.keys {
		if key != but && c.first(key) != "" && slices.ContainsFunc([]string{"", "iid", "id", "ids", "key", "number", "name"}, func(end string) bool {
			stem, ok := strings.CutSuffix(key, end)
			return ok && slices.Contains(thing.Words, stem)
		}) {
			t.final = thing.Final
			if len(c.args[key]) > 1 {
				return wording.Clause{Phrase: thing.Several, Args: []wording.Clause{named(c.args[key])}}, true
			}
			return wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[key])}}, true
		}
	}
	return wording.Clause{}, false
}

// numberless reports whether the thing has no number of its own.
func (t *toolName) numberless() bool {
	return t.thing != nil && spoken.Is("things-that numberless", t.thing.Words[0])
}

// numberOf returns the id that the call has, unless it is under a key that names something else, if it can only be that of
// what the thing belongs to.
func (c *call) numberOf(t *toolName, but string) string {
	if but == "id" || !t.numberless() {
		return ""
	}
	return c.first("id")
}

// another reports whether the id that the call has is that of what the thing belongs to.
func (c *call) another(t *toolName, key string) bool {
	_, owned := c.owner(t, "")
	return owned && key == "id" && t.numberless()
}

// finds reports whether an argument has the tool do something to the things of which its name says only that they are read.
func (c *call) finds(t *toolName) bool { return t.plural && t.act == c.after }

// turnedIn puts a verb that stands between a thing and what of it has no number before both: database_reset_password.
func (c *call) turnedIn(own []string) {
	does, at, n := spoken.ActIn(own)
	if does == nil || at == 0 || at+n != len(own)-1 || c.service(own[at-1]) || !spoken.Is("things-that numberless", own[at+n]) {
		return
	}
	whole, _, before := spoken.ThingOf(own[:at])
	if whole != nil && !slices.ContainsFunc(before, func(w string) bool { return !c.service(w) }) {
		c.words = slices.Concat(c.words[:c.server], own[at:at+n], own[len(before):at], own[at+n:])
	}
}

// inside joins a place to what is done in it.
const inside wording.Phrase = "in %s"

// only reports whether the thing is told by whose it is: nobody has more than one, or the verb
// leaves open which of them it is.
func (t *toolName) only() bool {
	return t.thing.Single || t.when != "" || t.act.Phrase == "empties %s" || t.act.Phrase == "reschedules %s" || t.act.Partly && !t.act.Makes && !t.plural
}

// whose returns whose a thing is: its owner's, a user's or an account's, or else that of the only
// other thing that an identifier among the arguments names, such as the zone of a cache.
func (c *call) whose(t *toolName) *wording.Clause {
	if owner, owned := c.owner(t, ""); owned {
		return &owner
	}
	if holder := c.holder(); holder != nil {
		return holder
	}
	if other, _ := c.other(t); other != nil {
		return other
	}
	if bearers := c.bearers(t, ""); len(bearers) == 1 && t.thing.Single {
		return &bearers[0]
	}
	return nil
}

// made returns the names of something new, if what is under this key are its names.
func (c *call) made(thing *spoken.Thing, names []string, key string) (its []string, under string) {
	title := c.first("title")
	switch {
	case key == "items", spoken.Is("things-that written", key), key == "path" && thing != nil && slices.Contains(thing.Words, "shared-link"):
		return nil, "" // what it is made of
	case key == "key" && title != "":
		return []string{title}, "title" // its key is what it holds
	default:
		return names, key
	}
}

// prefixed returns the names that are under the only key that says more exactly, by a few letters, what the thing
// identifies: the db_instance_identifier of an instance.
func (c *call) prefixed(t *toolName) (names []string, key string) {
	last := t.nouns[len(t.nouns)-1]
	if of := c.first("entityid"); strings.HasPrefix(of, last+".") {
		return c.args["entityid"], "entityid"
	}
	for _, k := range c.keys {
		before, ok := strings.CutSuffix(identifying.ReplaceAllString(k, ""), last)
		const few = 3
		if !ok || !identifying.MatchString(k) || before == "" || len(before) > few || len(c.args[k]) == 0 || slices.Contains([]string{"new", "old", "to", "top", "sub"}, before) {
			continue
		}
		if key != "" {
			return nil, ""
		}
		names, key = c.args[k], k
	}
	return names, key
}

// identifying matches the end of a key that identifies something.
var identifying = regexp.MustCompile(`(id|identifier|name|arn)$`)

// owning reports whether an argument names a thing that others belong to, by its key without the end
// and with it.
func (c *call) owning(stem, key string) bool {
	return c.first(key) != "" && !spoken.Is("things-that means", stem)
}

// identifies returns the thing that an argument identifies, by its key or its value, or nil.
func (c *call) identifies(key string) *spoken.Thing {
	stem, ok := identified(key)
	if !ok && identifier.MatchString(c.first(key)) {
		stem, ok = key, true
	}
	thing, plural, rest := spoken.ThingOf([]string{stem})
	if !ok || stem == key && plural || len(rest) > 0 || !c.owning(stem, key) {
		return nil
	}
	return thing
}

// other returns the other thing that an identifier names, and its key, if there is only one besides
// people: what is theirs is named by itself.
func (c *call) other(t *toolName) (whose *wording.Clause, key string) {
	var person *wording.Clause
	for _, k := range c.keys {
		thing := c.identifies(k)
		if thing == nil || thing == t.thing || spoken.Is("places bare", k) && c.first(k) == c.repository() {
			continue
		}
		called := &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[k])}}
		switch {
		case nobody(thing) && whose != nil, !nobody(thing) && person != nil:
			return nil, ""
		case nobody(thing):
			whose, key, t.final = called, k, thing.Final
		default:
			person, key = called, cmp.Or(key, k)
		}
	}
	return cmp.Or(whose, person), key
}

// part says of which other thing what has these names is a part, if the arguments identify one:
// "the worklog 7 of issue SHOP-1", "a fulfillment for the order 7". Nothing is a part of somebody.
func (c *call) part(t *toolName, names []string) wording.Sentence {
	final := t.final
	whole, key := c.other(t)
	t.final = final // the part is not
	if bearers := c.bearers(t, ""); len(bearers) == 1 && len(names) == 0 && t.act.Sets && len(t.others) == 0 {
		return wording.Sentence{{Phrase: "of %s", Args: bearers}}
	}
	if whole == nil || !t.partial(c.identifies(key)) || len(names) == 0 && !t.act.Makes || slices.Equal(c.args[key], names) {
		return nil
	}
	if spoken.Is("places named", key) || spoken.Is("places bare", key) {
		return nil
	}
	return wording.Sentence{{Phrase: t.partOf(), Args: []wording.Clause{*whole}}}
}

// partial reports whether something may be a part of a thing: of nobody, but it may be made for a customer.
func (t *toolName) partial(whole *spoken.Thing) bool {
	return nobody(whole) || whole != nil && t.act.Makes && (spoken.Is("people served", whole.Words[0]) || t.thing != nil && t.entitles())
}

// theirs reports whether the thing is the rights that somebody has, or that there are to something, or several that are
// changed of something: the labels of a message; or all that belong to something.
func (t *toolName) theirs() bool {
	changed := t.act.Partly && !t.all && len(t.others) == 0
	return t.plural && !t.act.Makes && (t.rights() || changed || t.all)
}

// every reports whether all of the things are meant, or those that are not used.
func (t *toolName) every() bool { return t.all || t.act.Phrase == "prunes %s" }

// each adds that all of several things are meant of which none is named.
func (t *toolName) each(said wording.Sentence, names []string) wording.Sentence {
	if !t.all || len(names) > 0 {
		return said
	}
	said[0].Args = []wording.Clause{{Phrase: every, Args: said[0].Args}}
	return said
}

// every says of several things that all of them are meant.
const every wording.Phrase = "all %s"

// stateOf returns to which state something is moved, or nil.
func (c *call) stateOf(t *toolName) *wording.Clause {
	to := c.values(spoken.List("targets states"))
	if len(to) == 0 || t.act.Phrase != moves {
		return nil
	}
	state := named(to)
	if !whole.MatchString(state.String()) { // of a transition
		t.with = "to the state %s"
	}
	return &state
}

// entitled returns the thing's owner or, of what lets somebody do something, who that is, and whether the arguments
// name one.
func (c *call) entitled(t *toolName) (wording.Clause, bool) {
	owner, owned := c.owner(t, "")
	if whom := c.holder(); !owned && whom != nil && t.entitles() {
		return *whom, true
	}
	return owner, owned
}

// entitles reports whether who has the thing may do something by it: it matters most who that is.
func (t *toolName) entitles() bool { return spoken.Is("things-that entitle", t.thing.Words[0]) }

// ofHolder returns the thing as that of somebody or something.
func ofHolder(thing wording.Phrase, holder *wording.Clause) wording.Sentence {
	return wording.Sentence{wording.Say(thing, ""), {Phrase: "of %s", Args: []wording.Clause{*holder}}}
}

// partOf joins the whole to a part of it, as the verb has it.
func (t *toolName) partOf() wording.Phrase {
	switch {
	case t.act.Makes && t.act.With == inside:
		return "for %s"
	case t.act.Makes, t.act.With == "from %s" && len(t.nouns) > 0 && membership(t.nouns[len(t.nouns)-1]), t.act.With != inside && (t.act.Turns || t.act.With == "to %s" || t.act.With == "on %s"):
		return t.act.With
	default:
		return "of %s"
	}
}

// identifier matches what services give their things to tell them apart: in_55, price_1Px.
var identifier = regexp.MustCompile(`^[a-z]{2,8}_[0-9A-Za-z]*[0-9][0-9A-Za-z]*$`)

// identified returns what an argument key identifies, and whether it does so.
func identified(key string) (stem string, ok bool) {
	for _, end := range []string{"iid", "id", "number", "key"} {
		if stem, ok := strings.CutSuffix(key, end); ok && stem != "" {
			if global := strings.TrimSuffix(stem, "g"); spoken.ThingAt(stem) == nil && spoken.ThingAt(global) != nil {
				stem = global // task_gid
			}
			return stem, true
		}
	}
	return "", false
}

// sole returns the value of the only argument whose key says that it identifies something, which is then the only thing
// of which the tool's name speaks, and the key: block_user has a handle, delete_asset a public_id.
func (c *call) sole(t *toolName) (names []string, key string) {
	if t.thing == nil || t.act.Makes || t.all || len(t.others)+len(t.owner) > 0 {
		return nil, ""
	}
	told := slices.DeleteFunc(slices.Clone(c.keys), func(k string) bool { return !slices.ContainsFunc(c.args[k], func(s string) bool { return !empty(s) }) })
	if len(told) == 1 {
		if more := spoken.ThingAt(told[0]); more != nil && strings.HasSuffix(more.Words[0], "-"+t.thing.Words[0]) {
			t.thing = more // the group of a resource_group
			return c.args[told[0]], told[0]
		}
	}
	its := slices.DeleteFunc(told, func(k string) bool { return !spoken.Is("things-that identify", k) })
	if len(its) != 1 {
		return nil, ""
	}
	if spoken.Is("things-that devices", its[0]) && slices.Contains(t.thing.Words, "client") {
		t.thing, _, _ = spoken.ThingOf([]string{"device"}) // a client of a network, not of a shop
	}
	return c.args[its[0]], its[0]
}

// renamed says that the thing gets the second thing as its name, or nil if it does not.
func (t *toolName) renamed(what, second wording.Sentence) wording.Sentence {
	if t.act.Phrase != renames || len(second) == 0 || second[0].Phrase != t.with {
		return nil
	}
	both := wording.Clause{Phrase: "renames %s to %s", Args: []wording.Clause{what[0], second[0].Args[0]}}
	return append(append(wording.Sentence{both}, what[1:]...), second[1:]...)
}

// housed adds the namespace to what a command does on the pod that the arguments name.
func (c *call) housed(said wording.Sentence) wording.Sentence {
	namespace, end := c.first("namespace", "ns"), len(said)-1
	if namespace == "" || said[end].Phrase != "on %s" || said[end].Args[0].Text != c.first("name", "pod", "podname") {
		return said
	}
	return append(slices.Clip(said), wording.Say(inside, namespace))
}

// selected matches how a command says in which workspace of an infrastructure the rest of it works.
var selected = regexp.MustCompile(`\bworkspace select (?:-\S+ )*([\w.-]+)|\bTF_WORKSPACE=([\w.-]+)`)

// inWorkspace adds the workspace to what a command does to an infrastructure, if it selects just one.
func (c *call) inWorkspace(said wording.Sentence) wording.Sentence {
	if !strings.Contains(string(said[0].Phrase), "the managed infrastructure") && !strings.HasPrefix(string(said[0].Phrase), "destroys") {
		return said
	}
	in := selected.FindAllStringSubmatch(c.command, 2)
	if len(in) != 1 {
		return said
	}
	return said.And("in the workspace %s", in[0][1]+in[0][2])
}

// clustered adds the cluster to what a tool for clusters does, if its arguments name the context of one.
func (c *call) clustered(said wording.Sentence) wording.Sentence {
	on := c.first("context", "kubecontext")
	clusters := slices.ContainsFunc(c.words, func(w string) bool { return spoken.Is("things-that clustered", w) })
	if !clusters || on == "" || strings.ContainsAny(on, " \n") || strings.Contains(said.String(), " on ") || strings.HasSuffix(string(said[0].Phrase), ": %s") {
		return said
	}
	at := slices.IndexFunc(said, func(c wording.Clause) bool {
		return strings.HasPrefix(string(c.Phrase), "(") || strings.HasPrefix(string(c.Phrase), ":")
	})
	if at < 0 {
		return said.And("on %s", on)
	}
	return slices.Insert(slices.Clone(said), at, wording.Say("on %s", on))
}

// versioned adds the branch or the commit that a workflow is run of, or the branch whose file is changed.
func (c *call) versioned(said wording.Sentence) wording.Sentence {
	if len(said) == 0 || len(said[0].Args) != 1 {
		return said
	}
	ref, what := "", said[0].Args[0].Phrase
	switch {
	case what == "the workflow %s" && said[0].Phrase == "runs %s":
		ref = c.first("ref")
	case strings.HasPrefix(string(what), "the file") && len(said) == 2 && said[1].Phrase == inside && c.first("repo", "repository", "projectid", "project") != "":
		ref = c.first("branch", "branchname")
	}
	if ref == "" {
		return said
	}
	return slices.Insert(slices.Clone(said), 1, wording.Say("on %s", ref))
}

// above matches the keys of what something is put under or goes to, with the kind of that, if it is said.
var above = regexp.MustCompile(`^(?:(?:new|target|destination|dest)?(parent)|(?:new|target|destination|dest))(.*)$`)
