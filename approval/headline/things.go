package headline

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// toolName is what a tool's name says: what is done, to what, and to or in which
// second thing.
type toolName struct {
	act   *spoken.Act
	nouns []string
	// thing is what the nouns mean, nil where they are not listed; plural says that
	// they speak of several.
	thing  *spoken.Thing
	plural bool
	// owner are the nouns before those that mean the thing: what it is one of.
	owner []string
	// with joins the second thing, of which others are the nouns.
	with   wording.Phrase
	others []string
}

// named reads the name of the call's tool; ok is false where it has no verb that is
// listed, or does not say what that is done to.
func (c *call) named() (t toolName, ok bool) {
	act, at, n := spoken.ActIn(c.words)
	if act == nil {
		return t, false
	}
	t.act, t.with = act, act.With
	words := c.words[at+n:]
	if len(words) == 0 {
		words = c.words[:at]
		if thing, _, _ := spoken.ThingOf(words); thing == nil && at > 1 {
			return t, false // It may be the name of a service.
		}
	}
	for len(words) > 0 && slices.Contains([]string{"a", "an", "the", "new", "my", "existing", "batch", "bulk", "multiple"}, words[0]) {
		words = words[1:]
	}
	t.nouns, t.others = words, nil
	for i, w := range words {
		if joint := joins(w); joint != "" {
			t.nouns, t.others, t.with = words[:i], words[i+1:], cmp.Or(joint, t.with)
			if joint == apart {
				t.others, t.with = nil, act.With
			}
			break
		}
	}
	t.thing, t.plural, t.owner = spoken.ThingOf(t.nouns)
	return t, len(t.nouns) > 0
}

// apart is how what follows goes with the thing where it says nothing of a second one.
const apart wording.Phrase = "-"

// joins is how a word of a name joins a second thing to the first, empty where it does
// not.
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
// arguments: "cancels the subscription sub_1". It says nothing where the name does
// not tell, or neither it nor an argument says to what.
func (c *call) object() (wording.Sentence, *toolName) {
	t, ok := c.named()
	from, to := c.first("frompath", "from", "source", "sourcepath", "oldpath", "src"), c.first("topath", "to", "destination", "destinationpath", "newpath", "dest")
	if t.act != nil && t.act.Phrase == moves && from != "" && to != "" {
		return wording.Sentence{wording.Say("moves %s to %s", from, to)}, &t
	}
	if !ok {
		return nil, nil
	}
	last := t.nouns[len(t.nouns)-1]
	names, key := c.names(t.thing, t.act.Partly, strings.Join(t.nouns, ""), last)
	if len(names) == 0 && membership(last) {
		t.thing, t.plural, t.owner = spoken.ThingOf([]string{"user"})
		names, key = c.names(t.thing, false, "user")
	}
	var what, about wording.Clause
	owner, owned := c.owner(&t, key)
	switch {
	case len(names) == 0 && t.thing != nil && t.thing.Single && c.holder() != nil:
		what, owner, owned = wording.Say(t.thing.One, ""), *c.holder(), true
	case len(names) == 0 && (t.thing == nil || len(t.owner) > 0 || !t.plural && !t.act.Makes):
		return nil, nil // Which one it is, or how many, is not told.
	case len(names) == 0 && t.plural:
		if what, about = wording.Say(t.thing.Several, ""), c.about(true); about.Phrase == "" {
			return nil, nil
		}
	case len(names) == 0:
		what, about = wording.Clause{Phrase: t.thing.Any}, c.about(false)
	case t.thing == nil || len(t.owner) > 0 && !owned:
		what = wording.Clause{Phrase: "%s %s", Args: []wording.Clause{{Text: strings.Join(t.nouns, " ")}, named(names)}}
	case len(names) > 1:
		what = wording.Clause{Phrase: t.thing.Several, Args: []wording.Clause{named(names)}}
	default:
		what = wording.Clause{Phrase: t.thing.One, Args: []wording.Clause{named(names)}}
	}
	out := wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{what}}}
	if owned {
		out = append(out, wording.Clause{Phrase: "of %s", Args: []wording.Clause{owner}})
	}
	second, ok := c.second(&t, key, names)
	if !ok && len(t.others) > 0 {
		return nil, nil // Of two things only one is known.
	}
	out = append(out, second...)
	if said := c.first("response", "answer", "reply"); said != "" {
		about = wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(said)}}
	}
	if about.Phrase != "" {
		out = append(out, about)
	}
	return out, &t
}

// owner is the thing of which another one is said to be, as an address of a customer,
// and whether the arguments name it.
func (c *call) owner(t *toolName, but string) (wording.Clause, bool) {
	thing, _, rest := spoken.ThingOf(t.owner)
	if thing == nil || len(rest) > 0 || t.thing == nil {
		return wording.Clause{}, false
	}
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		if key != but && len(c.args[key]) > 0 && slices.ContainsFunc([]string{"", "id", "key", "number", "name"}, func(end string) bool {
			stem, ok := strings.CutSuffix(key, end)
			return ok && slices.Contains(thing.Words, stem)
		}) {
			return wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[key])}}, true
		}
	}
	return wording.Clause{}, false
}

// moves says that something goes elsewhere.
const moves wording.Phrase = "moves %s"

// holder is the user or the account that the arguments name, nil if they name none.
func (c *call) holder() *wording.Clause {
	for _, noun := range []string{"user", "account", "customer", "member"} {
		thing, _, _ := spoken.ThingOf([]string{noun})
		if names, _ := c.names(&spoken.Thing{}, false, noun); len(names) == 1 {
			return &wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(names)}}
		}
	}
	return nil
}

// about is what the arguments tell of a thing that has no name, or of several.
func (c *call) about(several bool) wording.Clause {
	if several {
		if told := c.details(mostNamed, idKey); len(told) > 0 {
			return wording.Say("(%s)", strings.Join(told, ", "))
		}
		return wording.Clause{}
	}
	for _, most := range []int{titleKey, otherKey} {
		if told := c.details(1, most); len(told) > 0 {
			return wording.Clause{Phrase: ": %s", Args: []wording.Clause{prose(told[0])}}
		}
	}
	return wording.Clause{}
}

// second is the thing to, from or in which something is done, and the place, and
// whether one is told.
func (c *call) second(t *toolName, key string, names []string) (said wording.Sentence, ok bool) {
	if len(t.others) > 0 {
		thing, _, _ := spoken.ThingOf(t.others)
		its, _ := c.names(thing, false, strings.Join(t.others, ""), t.others[len(t.others)-1])
		if thing == nil || len(its) == 0 {
			return nil, false
		}
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{{Phrase: thing.One, Args: []wording.Clause{named(its)}}}}}
	} else if thing, ok := c.listed("targets", key, names); ok && t.with != inside {
		said = wording.Sentence{{Phrase: t.with, Args: []wording.Clause{thing}}}
	}
	if where := c.repository(); where != "" && !slices.Contains(names, where) {
		said = said.And(inside, where)
	} else if thing, ok := c.listed("places", key, names); ok && len(said) == 0 {
		said = wording.Sentence{{Phrase: inside, Args: []wording.Clause{thing}}}
	}
	return said, len(said) > 0
}

// inside is how a place goes with what is done in it.
const inside wording.Phrase = "in %s"

// listed is the thing that an argument names whose key is on one of the lists, but
// that under which the object stands.
func (c *call) listed(list, but string, names []string) (wording.Clause, bool) {
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if key == but || len(values) == 0 || slices.Equal(values, names) {
			continue
		}
		if spoken.Is(list+" bare", key) {
			return named(values), true
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(key, "id"), "name")
		if thing, _, _ := spoken.ThingOf([]string{stem}); thing != nil && spoken.Is(list+" named", key) {
			return wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(values)}}, true
		}
	}
	return wording.Clause{}, false
}

// undo says how far what a tool does can be undone, of which the judge graded the
// kind: by the verb and the thing of its name, where both are known.
func (t *toolName) undo(graded operation.Reversibility) operation.Reversibility {
	member := t.act.Kept && (slices.ContainsFunc(t.nouns, membership) || t.with == "from %s" && t.thing != nil && slices.Contains(t.thing.Words, "user"))
	versioned := t.thing != nil && t.thing.Versioned
	switch {
	case t.act.Final && !versioned:
		return operation.Irreversible
	case graded != operation.Irreversible:
		return graded
	case t.act.Turns, member, versioned && (t.act.Kept || t.act.Final), t.act.Partly && t.thing != nil && !t.thing.Final:
		return operation.Partial
	default:
		return graded
	}
}

// membership reports whether a noun says no more of somebody than that they belong to
// something: they may go by what they are.
func membership(noun string) bool {
	return slices.Contains([]string{"member", "members", "collaborator", "participant"}, noun)
}

// names are the names or numbers of a thing, as the arguments tell them, and the key:
// one that is one of its words, or one that says no more than that it names.
func (c *call) names(thing *spoken.Thing, made bool, words ...string) (names []string, key string) {
	stems := append(words, "")
	titled := false
	if thing != nil {
		titled = thing.Titled && made
		for _, w := range slices.Concat(thing.Words, thing.Keys) {
			stems = append(stems, strings.ReplaceAll(w, "-", ""))
		}
	}
	for _, end := range []string{
		"iid", "number", "id", "uid", "uuid", "name", "key", "slug", "", "title", "email", "username", "path", "arn", "ids", "numbers", "names", "keys", "s",
	} {
		if end == "title" && titled {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(c.args)) {
			if stem, ok := strings.CutSuffix(key, end); !ok || key == "" || key == "s" || !slices.Contains(stems, stem) {
				continue
			}
			if found := slices.DeleteFunc(slices.Clone(c.args[key]), empty); len(found) > 0 {
				return found, key
			}
		}
	}
	return nil, ""
}

// empty reports whether a value names nothing.
func empty(s string) bool { return strings.TrimSpace(s) == "" || s == "true" || s == "false" }

// repository is the repository or project in which a tool works, with its owner.
func (c *call) repository(others ...string) string {
	where := c.first(append([]string{"repo", "repository", "projectid"}, others...)...)
	if owner := c.first("owner", "org", "organization", "namespace"); owner != "" && where != "" && !strings.Contains(where, "/") {
		return owner + "/" + where
	}
	return where
}

// byName reports whether the judge goes by the tool's name alone.
func (o *one) byName() bool {
	return slices.ContainsFunc(o.said, func(c wording.Clause) bool { return c.Phrase == wording.ByTheTool })
}

// byVerb says what a tool does of which the judge knows the name alone. The judge
// graded its kind; what the verb does to which thing tells more. Where the name says
// no more, the arguments do.
func (c *call) byVerb(worst *one) wording.Sentence {
	if worst == nil || !worst.byName() {
		return nil
	}
	said, t := c.object()
	if said == nil {
		return c.told(act(worst.said))
	}
	worst.undo = t.undo(worst.undo)
	if worst.reach == operation.ReachPublic && c.repository() != "" || worst.kind == operation.KindCredentials {
		worst.reach = operation.ReachShared // As a push to it does, and who else has the secret is not told.
	}
	return said
}

// told is what the judge says by the name alone, with the first of the arguments.
func (c *call) told(said wording.Sentence) wording.Sentence {
	if len(said) > 0 && slices.Contains([]wording.Phrase{spoken.Kind(string(operation.KindCredentials)), spoken.Kind(string(operation.KindSpend))}, said[0].Phrase) {
		said = wording.Sentence{wording.Say("calls the tool %s", c.executor)} // That is what its nouns are, and may not be what it does.
	}
	if slices.ContainsFunc(said, func(c wording.Clause) bool { return c.Phrase == "(%s)" }) {
		return said
	}
	if details := c.details(mostNamed, titleKey, idKey, otherKey); len(details) > 0 {
		return said.And("(%s)", strings.Join(details, ", "))
	}
	return said
}

// details are the short values of the first arguments of these kinds, those of one
// kind before those of the next.
func (c *call) details(most int, kinds ...int) []string {
	keys := slices.SortedFunc(maps.Keys(c.args), func(a, b string) int {
		return cmp.Or(cmp.Compare(kindOf(a), kindOf(b)), strings.Compare(a, b))
	})
	var out []string
	for _, key := range keys {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), empty)
		if len(out) == most || len(values) == 0 || !slices.Contains(kinds, kindOf(key)) {
			continue
		}
		s := named(values)
		if text := s.String(); utf8.RuneCountInString(text) <= longestProse && !strings.Contains(text, "\n") {
			out = append(out, text)
		}
	}
	return out
}

// The kinds of arguments, in the order in which they are told.
const (
	titleKey = iota // what it is called, or says
	idKey           // what it is known by
	otherKey
)

// kindOf is the kind of an argument by its key.
func kindOf(key string) int {
	switch {
	case slices.Contains([]string{"title", "subject", "summary", "name", "text", "message", "body", "content"}, key):
		return titleKey
	case slices.ContainsFunc([]string{"id", "ids", "key", "name", "owner"}, func(end string) bool { return strings.HasSuffix(key, end) }):
		return idKey
	default:
		return otherKey
	}
}
