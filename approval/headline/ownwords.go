package headline

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// ownWords says what a tool does in the words of its name, if they are a verb and then nouns that
// are not listed, and of which thing or with which arguments: "activates roaming of the line L1".
// It returns nil if the name may mean something else: a verb among the nouns, or several things.
// final says that a change of that thing cannot be taken back.
func (c *call) ownWords() (said wording.Sentence, final bool) {
	t, whole := c.ownName()
	if t == nil {
		return nil, false
	}
	what := c.nameless(t)
	if whole != nil {
		what = *whole
	}
	said = wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{what}}}
	if len(t.nouns) == 0 {
		return said, false
	}
	where, kinds := c.repository(), []int{titleKey, idKey, otherKey}
	holder, key := c.belongs(t, said)
	if holder != nil {
		said = append(said, *holder)
	}
	to := c.values(spoken.List("targets bare"))
	if t.act.With != "to %s" {
		to = nil
	}
	if len(to) > 0 {
		said = append(said, wording.Clause{Phrase: t.act.With, Args: []wording.Clause{named(to)}})
	}
	if holder != nil && where == "" {
		kinds = []int{titleKey, otherKey}
	}
	parts := slices.Concat(strings.Split(where, "/"), []string{where, c.first(key)}, to)
	told := slices.DeleteFunc(c.details(len(c.keys), kinds...), func(s wording.Clause) bool { return slices.Contains(parts, s.String()) })
	told = slices.CompactFunc(told, func(a, b wording.Clause) bool { return a.String() == b.String() })
	said = append(said, bracketed(told[:min(mostNamed, len(told))])...)
	if where != "" {
		said = said.And(inside, where)
	}
	return said, t.final && t.act.Partly
}

// some says of a listed thing that no argument names what is done to one of its kind, and which arguments choose it: "deletes
// a pod (shop)"; of all else what the judge says.
func (c *call) some(judged wording.Sentence) wording.Sentence {
	does, at, n := c.leading()
	if does == nil || does.Leads {
		return c.told(judged)
	}
	t := &toolName{nouns: unversioned(c.words[at+n:])}
	thing, many, _ := spoken.ThingOf(t.nouns)
	what, _ := t.listed()
	switch {
	case what == nil || many:
		return c.told(judged)
	case slices.ContainsFunc(c.keys, func(k string) bool { return spoken.Is("options narrow", k) || spoken.Is("texts conditions", k) }):
		*what = wording.Say(thing.Several, "") // nobody knows how many a filter chooses
	}
	said := wording.Sentence{{Phrase: does.To(thing).Phrase, Args: []wording.Clause{*what}}}
	t.thing = thing
	if whole, key := c.other(t); whole != nil && nobody(c.identifies(key)) && len(c.keys) == 1 {
		return append(said, wording.Clause{Phrase: "of %s", Args: []wording.Clause{*whole}})
	}
	return c.told(said)
}

// unheard says in the words of its name what a tool does of which the judge knows nothing, if the
// name begins with a verb. What follows is not known, unless the verb says so.
func (c *call) unheard(worst *one, said wording.Sentence, t *toolName) wording.Sentence {
	if does, _, _ := c.leading(); does == nil && (said == nil || !c.acts()) {
		return nil
	}
	final := false
	if said == nil {
		said, final = c.ownWords()
	} else {
		final = t.ends(false)
	}
	if said != nil {
		worst.open()
		if worst.reach = ""; c.server > 0 && !c.speaksOf("local names") {
			worst.reach = operation.ReachShared // as of any other service
		} else if c.server > 0 {
			worst.reach = operation.ReachUser
		}
	}
	if said != nil && final {
		worst.undo = operation.Irreversible
	}
	return said
}

// leading returns the verb with which the tool's own name begins, if it does more than look.
func (c *call) leading() (does *spoken.Act, at, n int) {
	does, at, n = c.verb()
	if does == nil || n == 0 || c.looks() || slices.ContainsFunc(c.words[:at], func(w string) bool { return !c.service(w) }) {
		return nil, 0, 0
	}
	return does, at, n
}

// ownName returns the verb and the nouns of a name that can be said in its own words, nil otherwise,
// and the thing if it is a listed one.
func (c *call) ownName() (t *toolName, listed *wording.Clause) {
	does, at, n := c.leading()
	if does == nil {
		return nil, nil
	}
	t = &toolName{act: does, nouns: unversioned(c.words[at+n:])}
	t.withoutAll()
	if !t.ofValues() {
		t.act = c.turned(does)
	}
	listed, many := t.listed()
	torn := len(t.nouns) > 1 && verbAlone(t.nouns[len(t.nouns)-1])
	one := listed != nil && !does.Leads && (!many || c.resource)
	if torn || one || slices.ContainsFunc(t.clear(), c.unclear) || len(t.nouns) == 0 && c.itself() == "" {
		return nil, nil
	}
	return t, listed
}

// withoutAll takes a word for all of several things out of the nouns.
func (t *toolName) withoutAll() {
	if last := len(t.nouns) - 1; last > 0 && t.nouns[0] == "all" && plural(t.nouns[last]) {
		t.nouns, t.all = t.nouns[1:], true
	}
}

// listed returns the thing if the nouns name just a listed one, and whether they name several.
func (t *toolName) listed() (what *wording.Clause, many bool) {
	thing, many, owner := spoken.ThingOf(t.nouns)
	switch {
	case thing == nil || len(owner) > 0:
		return nil, false
	case many:
		all := wording.Say(thing.Several, "")
		return &all, true
	default:
		return &wording.Clause{Phrase: thing.Any}, false
	}
}

// clear returns the nouns without the last one, if that is a noun although it is also a verb, or a
// word by which properties are told: what makes or deletes an issue link does not link.
func (t *toolName) clear() []string {
	last := len(t.nouns) - 1
	if t.ofValues() {
		return slices.DeleteFunc(slices.Clone(t.nouns[:last]), func(w string) bool { return joins(w) == "" }) // publish settings are settings
	}
	if last > 0 && !spoken.Is("verbs deletes", t.nouns[last]) && (t.act.Makes || t.act.Kept || t.act.Partly && (t.nouns[last] == "status" || t.nouns[last] == "state")) {
		return t.nouns[:last]
	}
	return t.nouns
}

// ofValues reports whether the nouns name the values of something that is set, by more than one word.
func (t *toolName) ofValues() bool {
	last := len(t.nouns) - 1
	return last > 0 && t.act.Partly && slices.ContainsFunc(spoken.Singular(t.nouns[last]), func(one string) bool { return spoken.Is("things-that valued", one) })
}

// verbAlone reports whether a word is a verb that is hardly a noun: one made of another verb, such as
// unblock, or by its ending, such as activate.
func verbAlone(word string) bool {
	verb := func(w string) bool { act, at, n := spoken.ActIn([]string{w}); return act != nil && at == 0 && n == 1 }
	made := func(before string) bool { of, ok := strings.CutPrefix(word, before); return ok && verb(of) }
	if thing, _, _ := spoken.ThingOf([]string{word}); thing != nil {
		return false
	}
	return made("un") || made("re") && word != "reset" || verb(word) && (made("dis") || made("de") || strings.HasSuffix(word, "ate") && word != "update")
}

// torn reports whether the tool's name begins with a verb and ends with another one that undoes or does
// something else: nobody can tell what delete_user_unblock does.
func (c *call) torn() bool {
	own := c.words[c.server:]
	act, at, n := c.leading()
	return act != nil && len(own) > 1 && at+n < len(c.words) && verbAlone(own[len(own)-1])
}

// itself returns what a tool is about whose name is just a verb, or "".
func (c *call) itself() string {
	names, _ := c.ends([]string{""}, func(string) bool { return false })
	switch does, _, _ := c.verb(); {
	case len(names) == 1:
		return names[0]
	case does != nil && does.Makes: // quick_add
		return prose(c.first("text", "content", "title")).Text
	default:
		return ""
	}
}

// nameless says of what no argument names as the tool's name does: something that is made is one of
// its kind, and so is what the call does not name at all.
func (c *call) nameless(t *toolName) wording.Clause {
	if len(t.nouns) == 0 {
		return wording.Clause{Text: c.itself()}
	}
	nouns := strings.Join(t.nouns, " ")
	if t.all {
		return wording.Clause{Phrase: every, Args: []wording.Clause{unlisted(t.nouns, nil)}}
	}
	switch property := spoken.Property(strings.Join(t.nouns, "-")); {
	case property != "" && !t.act.Makes:
		return wording.Clause{Phrase: property}
	case plural(nouns), !t.act.Makes && (t.act.Partly || t.act.Turns || !c.mute()):
		return wording.Say(ownNoun, nouns)
	case vowel(nouns):
		return wording.Say("an %s", nouns)
	default:
		return wording.Say("a %s", nouns)
	}
}

// ownNoun stands for a noun in the words of the tool's name, which other languages set apart.
const ownNoun wording.Phrase = "%s"

// vowel reports whether a noun is likely to be spoken with a vowel at its beginning: an understudy,
// but a unit.
func vowel(noun string) bool {
	like := func(begins string) bool { return strings.HasPrefix(noun, begins) }
	if slices.ContainsFunc([]string{"uni", "use", "usu", "uti", "ure", "eu", "one"}, like) {
		return like("unin") || like("unim")
	}
	return strings.ContainsRune("aeiou", rune(noun[0]))
}

// unlisted returns a thing whose noun is not listed, by its names.
func unlisted(nouns, names []string) wording.Clause {
	noun := strings.Join(nouns, " ")
	if len(names) == 1 {
		noun = single(noun)
	}
	what := []wording.Clause{{Text: noun}, named(names)}
	if len(names) != 1 {
		return wording.Clause{Phrase: "the %s", Args: []wording.Clause{{Phrase: "%s %s", Args: what}}}
	}
	return wording.Clause{Phrase: "the %s %s", Args: what}
}

// belongs says to what the thing belongs or goes, and the key that names it; a part of it that its
// words name is taken out of them. What is in a repository belongs to that, unless its words name something else there.
func (c *call) belongs(t *toolName, said wording.Sentence) (holder *wording.Clause, key string) {
	where := c.repository()
	if whole, n, key := c.holds(t); whole != nil && (where == "" || !t.act.Makes && c.first(key) != where) {
		return c.taken(t, said, n, whole), key
	}
	if where != "" {
		return nil, ""
	}
	whose, key := c.other(t)
	placed := ""
	if whose == nil {
		whose, placed = c.placed()
		key = placed
	}
	if whose == nil || slices.Contains(t.nouns, strings.TrimSuffix(key, "id")) {
		return nil, ""
	}
	how := t.act.With
	if how == inside || c.first(spoken.List("targets bare")...) != "" { // to whom it goes, another argument says
		how = "of %s"
	}
	return &wording.Clause{Phrase: how, Args: []wording.Clause{*whose}}, placed
}

// taken takes the words of a thing, which are the first n of the nouns, out of what is said, which is then
// of that.
func (c *call) taken(t *toolName, said wording.Sentence, n int, whole *wording.Clause) *wording.Clause {
	own := *t
	own.nouns = t.nouns[n:]
	said[0].Args = []wording.Clause{c.nameless(&own)}
	if part, _, rest := spoken.ThingOf(t.nouns[n:]); part != nil && len(rest) == 0 && t.act.Makes {
		said[0].Args = []wording.Clause{{Phrase: part.Any}}
	}
	return &wording.Clause{Phrase: "of %s", Args: []wording.Clause{*whole}}
}

// placed returns the only thing in which something is done that an argument names, and its key.
func (c *call) placed() (in *wording.Clause, key string) {
	for _, k := range c.keys {
		thing := spoken.ThingAt(k)
		if thing == nil || !spoken.Is("places named", k) || len(c.args[k]) != 1 {
			continue
		}
		if in != nil {
			return nil, ""
		}
		in, key = &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[k])}}, k
	}
	return in, key
}

// itself returns the nouns of a name that says by itself what is given to another thing:
// assign_copilot_to_issue. It returns nil if they are listed or unclear.
func (t *toolName) itself() wording.Sentence {
	if t.thing != nil || len(t.others) == 0 || len(t.nouns) == 0 || slices.ContainsFunc(t.nouns, unclear) {
		return nil
	}
	return wording.Sentence{{Text: strings.Join(t.nouns, " ")}}
}

// holds returns the thing that the first words of a tool's nouns name, to which the rest belongs, and
// how many words that are, and the key of the argument: "update_reservation_baggages" is about a reservation. Nothing is returned
// if the arguments do not say which, or the word is one that also means other things.
func (c *call) holds(t *toolName) (whole *wording.Clause, n int, key string) {
	for n := len(t.nouns) - 1; n > 0; n-- {
		thing, _, before := spoken.ThingOf(t.nouns[:n])
		if thing == nil || len(before) > 0 || thing.Words[0] != strings.Join(t.nouns[:n], "-") {
			continue
		}
		if names, key := c.names(&spoken.Thing{}, false, strings.Join(t.nouns[:n], "")); len(names) == 1 && names[0] != c.first("id", "name") {
			t.final = thing.Final
			return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(names)}}, n, key
		}
	}
	return nil, 0, ""
}

// unclear reports whether a word after the verb makes it open what the verb applies to: another
// verb, or what joins or counts things.
func unclear(word string) bool {
	act, _, _ := spoken.ActIn([]string{word})
	return act != nil && !act.Leads || joins(word) != "" || spoken.Is("options manner", word) || spoken.Is("things-that generic", word)
}

// unclear is [unclear], but a word that an argument identifies is a noun: the schedule of a schedule_id.
func (c *call) unclear(word string) bool {
	named := c.first(word+"id", word+"name", word+"key", word+"number") != "" && !spoken.Is("things-that generic", word)
	return unclear(word) && !named
}

// open leaves open whether what a tool does can be undone, if its name says what that is but not
// what follows. What it was taken for still counts where the worst calls require more than a yes.
func (o *one) open() {
	reach := o.touches()
	o.forget()
	o.kind, o.general, o.undo = operation.KindOverwrite, true, operation.Partial
	if o.reach = reach; reach == operation.ReachPublic {
		o.reach = operation.ReachShared
	}
}

// single returns the singular of a noun of which a list holds just one.
func single(noun string) string {
	if !plural(noun) {
		return noun
	}
	if one, ok := strings.CutSuffix(noun, "ies"); ok && len(one) > 1 {
		return one + "y"
	}
	for _, end := range []string{"sses", "xes", "ches", "shes"} {
		if strings.HasSuffix(noun, end) {
			return strings.TrimSuffix(noun, "es")
		}
	}
	return strings.TrimSuffix(noun, "s")
}

// plural reports whether a noun that is not listed looks like one of several things.
func plural(noun string) bool {
	return strings.HasSuffix(noun, "s") && !slices.ContainsFunc([]string{"ss", "us", "is", "vas", "ias", "gas", "series"}, func(end string) bool { return strings.HasSuffix(noun, end) })
}
