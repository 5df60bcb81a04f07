package headline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// also is something that an argument makes a tool do besides what its name says: submit, delete the
// subtasks, send mail.
type also struct {
	act   *spoken.Act
	nouns []string
	// words are those of the argument's key.
	words []string
}

// alsoOf returns what the arguments switch on that lasts.
func alsoOf(args map[string]any) (out []also) {
	for _, words := range reading.Switches(args) {
		act, at, n := spoken.ActIn(words)
		if at != 0 {
			continue
		}
		if thing, _, _ := spoken.ThingOf(words[n:]); act.Lasts || act.Ends && thing != nil && thing.Final {
			out = append(out, also{act, words[n:], words})
		}
	}
	return out
}

// besidesSaid says to what else is done what is said, unless it is said of the things that the tool's name only reads.
func (c *call) besidesSaid(a also, said wording.Sentence) wording.Sentence {
	if act, at, _ := c.act(); a.act == act && at == c.server && c.after == act {
		return nil
	}
	return a.more(said)
}

// afterwards returns what an argument has a tool do to the things of which its name says only that they are read.
func (c *call) afterwards(args map[string]any) (act *spoken.Act) {
	for _, words := range reading.Switches(args) {
		act = cmp.Or(act, spoken.Afterwards(words))
	}
	if thing, _, _ := spoken.ThingOf(c.words); act == nil && thing != nil && c.shows() && strings.HasSuffix(thing.Words[0], "-link") {
		act, _, _ = spoken.ActIn([]string{"create"}) // if it does more than read
	}
	return act
}

// replaces reports whether an argument says that what is there already is overwritten.
func replaces(args map[string]any) bool {
	return slices.ContainsFunc(reading.Switches(args), replacing)
}

// replacing reports whether the words of an argument's key say that something is overwritten.
func replacing(words []string) bool {
	act, at, _ := spoken.ActIn(words)
	return at == 0 && act.Phrase == "replaces %s"
}

// replaced adds to what puts something somewhere that it overwrites what is there, if an argument says so.
func (c *call) replaced(said wording.Sentence) wording.Sentence {
	if !c.replaces || c.command != "" || !putting.MatchString(string(said[0].Phrase)) {
		return said
	}
	return append(slices.Clip(said), wording.Clause{Phrase: "and overwrites what is there"})
}

// putting matches what is said of what puts something where something else may be.
var putting = regexp.MustCompile(`^(copies|moves|uploads|renames|downloads|restores|imports|creates the|puts|saves|exports|updates|writes|generates|clones|adds|installs|syncs|deploys) `)

// switched adds what an argument makes the tool do besides, and what follows from that.
func (c *call) switched(worst *one, said wording.Sentence) wording.Sentence {
	if worst == nil || len(said) == 0 || !worst.changes() || c.command != "" {
		return said
	}
	said, others := c.notified(said)
	for _, a := range others {
		if a.act.Phrase == said[0].Phrase {
			said = append(slices.Clip(said), c.besidesSaid(a, said)...)
			continue
		}
		worst.undo = operation.Irreversible
		c.lets(a.act, worst)
		if len(a.nouns) == 0 && len(said[0].Args) == 1 && slices.Contains([]wording.Phrase{"refunds %s", "submits %s"}, a.act.Phrase) {
			second := wording.Clause{Phrase: a.act.Phrase, Args: said[0].Args}
			said = append(wording.Sentence{{Phrase: said[0].Phrase, Args: []wording.Clause{{Phrase: "and %s", Args: []wording.Clause{second}}}}}, said[1:]...)
			continue
		}
		said = append(slices.Clip(said), a.said())
	}
	return said
}

// notified adds that the guests of an event are told of what is done to it, if an argument says so, and
// returns what other arguments make the tool do.
func (c *call) notified(said wording.Sentence) (wording.Sentence, []also) {
	if !c.tells() || len(said[0].Args) == 0 || !slices.Contains(events, said[0].Args[0].Phrase) {
		return said, c.also
	}
	end := slices.IndexFunc(said, func(c wording.Clause) bool { return c.Phrase == ": %s" })
	if end < 0 {
		end = len(said)
	}
	others := slices.DeleteFunc(slices.Clone(c.also), func(a also) bool { return spoken.Is("texts tells", strings.Join(a.words, "")) })
	return slices.Insert(slices.Clone(said), end, wording.Clause{Phrase: "and notifies the guests"}), others
}

// events are what guests are invited to.
//
//nolint:gochecknoglobals // Only looked at.
var events = []wording.Phrase{"the event %s", "the meeting %s", "the appointment %s"}

// lets records whom it reaches that an argument has something sent or published.
func (c *call) lets(act *spoken.Act, worst *one) {
	if act.Phrase == "sends %s" || act.Phrase == "publishes %s" && !c.runnable() {
		worst.reach = operation.ReachPublic
	}
}

// runnable reports whether the tool's name speaks of something that others run and nobody reads.
func (c *call) runnable() bool {
	return slices.ContainsFunc(c.words, func(w string) bool {
		thing, _, _ := spoken.ThingOf([]string{w})
		return thing != nil && thing.Runs
	})
}

// more says to what else an argument makes a tool do the same, if it names another thing than what is
// said: "deletes issue SHOP-9 and the subtasks".
func (a also) more(said wording.Sentence) wording.Sentence {
	thing, plural, rest := spoken.ThingOf(a.nouns)
	if thing == nil || len(rest) > 0 || len(said[0].Args) == 0 || slices.Contains([]wording.Phrase{thing.One, thing.Several, thing.Any}, said[0].Args[0].Phrase) {
		return nil
	}
	what := wording.Say(thing.One, "")
	if plural {
		what = wording.Say(thing.Several, "")
	}
	return wording.Sentence{{Phrase: "and %s", Args: []wording.Clause{what}}}
}

// said says what an argument makes a tool do to a thing or, if it names none, how it is called.
func (a also) said() wording.Clause {
	nouns := a.nouns
	if last := len(nouns) - 1; last > 0 && spoken.Is("texts units", nouns[last]) {
		nouns = append(slices.Clone(nouns[:last-1]), strings.TrimSuffix(nouns[last-1], "s")+"s") // delete_message_days: those of so many days
	}
	thing, plural, rest := spoken.ThingOf(nouns)
	if thing == nil || len(rest) > 0 && (a.act.Phrase != "sends %s" || !slices.Contains(thing.Words, "mail")) {
		return wording.Say("with %s", strings.Join(a.words, " "))
	}
	what := wording.Clause{Phrase: thing.Any}
	switch {
	case plural:
		what = wording.Say(thing.Several, "")
	case a.act.Phrase == "notifies %s":
		what = wording.Say(thing.One, "")
	}
	return wording.Clause{Phrase: "and %s", Args: []wording.Clause{{Phrase: a.act.Phrase, Args: []wording.Clause{what}}}}
}

// moved says what goes from where to where, if the tool moves something and both are given.
func (c *call) moved(t *toolName) wording.Sentence {
	from, to := c.first("frompath", "from", "source", "sourcepath", "oldpath", "src"), c.first("topath", "to", "destination", "destinationpath", "newpath", "dest")
	if t.act == nil || from == "" || to == "" {
		return nil
	}
	switch t.act.Phrase {
	case moves:
		return wording.Sentence{wording.Say("moves %s to %s", from, to)}
	case "copies %s":
		return wording.Sentence{wording.Say("copies %s to %s", from, to)}
	default:
		return nil
	}
}

// turnedRound finds the whole of a name in which it stands behind its part, if arguments name both: remove_disk_vm. What goes
// back to a copy is the whole.
func (c *call) turnedRound(t *toolName) {
	if len(t.nouns) != longestVerb || len(t.others) > 0 {
		return
	}
	part, _, _ := spoken.ThingOf(t.nouns[:1])
	whole, _, before := spoken.ThingOf(t.nouns)
	switch {
	case part == nil || whole == nil || len(before) == 0 || spoken.Is("things-that attributes", whole.Words[0]):
	case whole.Means():
		if len(c.values(part.Keys)) > 0 {
			t.nouns = t.nouns[:1] // the flag of a flag_environment
		}
	case c.partNamed(t.nouns[0]) && c.first(t.nouns[1]+"id") != "":
		t.others, t.nouns, t.with = t.nouns[1:], t.nouns[:1], "of %s"
		if t.act.Phrase == "rolls back %s" {
			t.others, t.nouns, t.with = t.nouns, t.others, "to %s"
		}
	}
}

// partNamed reports whether a key that begins as a noun does names what the noun means, and has that under the noun's own
// key from then on: the snapname of a snapshot.
func (c *call) partNamed(noun string) bool {
	const few = 4
	for _, key := range c.keys {
		stem := strings.TrimSuffix(strings.TrimSuffix(key, "id"), "name")
		if len(stem) < few || !strings.HasPrefix(noun, stem) || c.first(key) == "" {
			continue
		}
		if name := noun + "name"; stem != noun && c.args[name] == nil {
			c.args[name], c.spelled[name], c.keys = c.args[key], c.spelled[key], append(c.keys, name)
		}
		return true
	}
	return false
}

// substitutes says which text a tool puts in the place of which other one, and in what.
func (c *call) substitutes(t *toolName) wording.Sentence {
	old, at := c.first(spoken.List("texts found")...), slices.IndexFunc(c.keys, func(k string) bool { return spoken.Is("texts instead", k) })
	if t.act == nil || t.act.Phrase != "replaces %s" || old == "" || at < 0 {
		return nil
	}
	t.ruins = true // where it stood before, nobody knows then
	instead := wording.Clause{Text: `""`}
	if text := c.first(c.keys[at]); text != "" {
		instead = prose(text)
	}
	said := wording.Sentence{{Phrase: "replaces %s with %s", Args: []wording.Clause{prose(old), instead}}}
	if of := c.bearers(t, ""); len(of) == 1 {
		return append(said, wording.Clause{Phrase: inside, Args: of})
	}
	return said
}

// moves says that something goes elsewhere.
const moves wording.Phrase = "moves %s"

// merged says what is merged into what, if the arguments tell one from the other.
func (c *call) merged(t *toolName) wording.Sentence {
	joint := map[wording.Phrase]wording.Phrase{"merges %s": "into %s", "links %s": "to %s"}
	if t.act == nil || t.thing == nil || joint[t.act.Phrase] == "" {
		return nil
	}
	with := joint[t.act.Phrase]
	from, into := c.sides()
	if one := c.itsID(t); len(from) == 1 && len(into) == 0 && len(one) == 1 && one[0] != from[0] {
		from, into, with = one, from, "with %s"
	}
	if len(from) == 0 || len(into) != 1 {
		return nil
	}
	what := wording.Clause{Phrase: t.thing.One, Args: []wording.Clause{named(from)}}
	if len(from) > 1 {
		what.Phrase = t.thing.Several
	}
	said := wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{what}}, {Phrase: with, Args: []wording.Clause{{Phrase: t.thing.One, Args: []wording.Clause{named(into)}}}}}
	if where := c.repository(); where != "" {
		return said.And(inside, where)
	}
	return said
}

// itsID returns the names of a thing, if these are under a key for identifiers.
func (c *call) itsID(t *toolName) []string {
	names, key := c.names(t.thing, false, t.nouns...)
	if !strings.Contains(c.spelled[key], "id") {
		return nil
	}
	return names
}

// sides returns what is merged, and into what.
func (c *call) sides() (from, into []string) {
	for _, key := range c.keys {
		switch begins := func(word string) bool { return strings.HasPrefix(key, word) }; {
		case begins("merge") && !numbering.MatchString(c.spelled[key]): // its method
		case slices.ContainsFunc(spoken.List("merges into"), begins):
			into = append(into, c.args[key]...)
		case slices.ContainsFunc(spoken.List("merges from"), begins):
			from = append(from, c.args[key]...)
		}
	}
	return from, into
}

// both says what a tool does whose name joins two verbs that are done to the same thing: "cancels
// and refunds the order 7". It returns nil if the name does not begin so.
func (c *call) both(t *toolName) wording.Sentence {
	act, other, rest := c.twoVerbs()
	if act == nil {
		return nil
	}
	alone := *c
	alone.words = slices.Concat(c.words[:c.server], rest)
	said, second := alone.object()
	if said == nil || second.thing == nil || said[0].Phrase != other.Phrase {
		return nil
	}
	*t = *second
	t.act = worse(act, other, second.thing)
	first := wording.Clause{Phrase: act.Phrase, Args: []wording.Clause{{Phrase: "and %s", Args: []wording.Clause{said[0]}}}}
	return append(wording.Sentence{first}, said[1:]...)
}

// twoVerbs returns the two verbs with which the tool's own name begins, if "and" stands between them,
// and the words from the second verb on. Both must say what is done to what follows.
func (c *call) twoVerbs() (act, other *spoken.Act, rest []string) {
	act, at, n := c.verb()
	if act == nil || at != c.server || len(c.words) < at+n+3 || c.words[at+n] != "and" {
		return nil, nil, nil
	}
	rest = c.words[at+n+1:]
	other, next, m := spoken.ActIn(rest)
	if other == nil || next != 0 || m == len(rest) || !strings.HasSuffix(string(act.Phrase), " %s") || !strings.HasSuffix(string(other.Phrase), " %s") {
		return nil, nil, nil
	}
	return act, other, rest
}

// worse returns the one of two acts that can be undone less.
func worse(a, b *spoken.Act, thing *spoken.Thing) *spoken.Act {
	if first := (&toolName{act: a, thing: thing}); first.ends(false) || !a.Turns && !a.Partly && (b.Turns || b.Partly) {
		return a
	}
	return b
}

// documents says what a tool does to a collection of documents whose name is a method of one:
// update-many, flushdb.
func (c *call) documents(worst *one) wording.Sentence {
	phrase := c.statement()
	of := c.first("collection", "collectionname")
	if of == "" && slices.Contains(c.words[max(0, len(c.words)-1):], "query") {
		of = c.first("index", "indexname", "indices")
	}
	if of == "" && c.first("table", "tablename") != "" {
		return nil // it is done to that table
	}
	if phrase == "" || worst == nil || c.command != "" || strings.Contains(string(phrase), "%s") != (of != "") || c.speaksOf("texts looks") {
		return nil
	}
	worst.stored(phrase)
	return c.toDocuments(phrase, of)
}

// toDocuments says what is done to a collection, or to a whole database, that an argument names.
func (c *call) toDocuments(does wording.Phrase, of string) wording.Sentence {
	in := c.first("database", "databasename", "db")
	if name := cmp.Or(in, c.first("databaseid", "name")); does == spoken.Statement("dropdatabase") && name != "" {
		return wording.Sentence{{Phrase: "drops %s", Args: []wording.Clause{wording.Say(spoken.ThingAt("database").One, name)}}}
	}
	said := wording.Sentence{{Phrase: does}}
	if of != "" {
		said[0].Args = []wording.Clause{{Text: of}}
	}
	if in != "" {
		said = said.And(inside, in)
	}
	return said
}

// statement returns what the method of a collection does that the tool's name is, or "". Without a
// filter it does so to every document.
func (c *call) statement() wording.Phrase {
	name := strings.Join(c.words[c.server:], "")
	if every := spoken.Statement("every-" + name); every != "" && !c.filtered() {
		return every
	}
	return spoken.Statement(name)
}

// filtered reports whether an argument says to which documents something is done.
func (c *call) filtered() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.args)), func(key string) bool {
		return (strings.HasPrefix(key, "filter") || strings.HasPrefix(key, "query")) && (key != "filter" && key != "query" || len(c.args[key]) > 0)
	})
}

// stored corrects what follows from a statement about documents in a database: only what it adds can
// be taken away again.
func (o *one) stored(does wording.Phrase) {
	if o.kind == operation.KindUnknown {
		o.open()
	}
	o.kind, o.general, o.undo, o.reach = operation.KindDatabase, false, operation.Irreversible, operation.ReachShared
	if strings.HasPrefix(string(does), "adds") {
		o.undo = operation.Partial
	}
}
