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

// undo returns how far a tool's action can be undone, starting from the judge's grade of
// its kind and refining it by the verb and the thing in the name, if both are known. kept
// says that the thing is in a repository, committed that the repository's history keeps
// what is written, spent that the action is about money.
func (t *toolName) undo(graded operation.Reversibility, kept, committed, spent bool) operation.Reversibility {
	thing := cmp.Or(t.thing, &spoken.Thing{Final: true})
	versioned := thing.Versioned && kept || committed && slices.Contains(thing.Words, "file")
	switch {
	case t.ends(versioned):
		return operation.Irreversible
	case graded == operation.Irreversible && t.partly(thing, versioned, (thing.Final || t.final) && (t.act.Makes || spent)):
		return operation.Partial
	default:
		return graded
	}
}

// ends reports whether what the verb does to the thing cannot be undone, however it is graded.
func (t *toolName) ends(versioned bool) bool {
	if t.act.Phrase == "rolls back %s" && len(t.others) > 0 && isCopy(t.others[len(t.others)-1]) {
		return true // what it has become since then is lost
	}
	if t.act.Final && !versioned || t.thing == nil {
		return t.act.Final && !versioned
	}
	return t.act.Ends && t.thing.Final || t.act.Phrase == "restores %s" && slices.ContainsFunc(t.thing.Words, isCopy)
}

// place returns the phrase that joins a place to the action. For something moved, the place
// may be where it goes or where it was. Somebody is added to it, or removed from it.
func (t *toolName) place() wording.Phrase {
	switch {
	case t.act.Phrase == moves:
		return "(%s)"
	case t.thing != nil && slices.ContainsFunc(t.thing.Words, somebody):
		return t.act.With
	default:
		return inside
	}
}

// isCopy reports whether restoring what a noun means overwrites what it was made from.
func isCopy(noun string) bool { return spoken.Is("things-that copies", noun) }

// partly reports whether what the verb does to the thing can be partly undone: a thing that
// is final once it exists may still be changed.
func (t *toolName) partly(thing *spoken.Thing, versioned, final bool) bool {
	return t.act.Turns || t.leaves(thing) || thing.Renews(t.act) || versioned && (t.act.Kept || t.act.Final) || t.act.Partly && !final
}

// leaves reports whether the action removes somebody from something, or something from
// somebody or from a mere collection, so that it can be added again.
func (t *toolName) leaves(thing *spoken.Thing) bool {
	from, _, _ := spoken.ThingOf(t.others)
	if thing.Given && t.act.With == "from %s" || thing.Held && t.part {
		return true
	}
	return t.act.Kept && (slices.ContainsFunc(t.nouns, membership) || t.with == "from %s" && (slices.Contains(thing.Words, "user") || from != nil && from.Gathers))
}

// membership reports whether a noun says only that somebody belongs to something. Such
// people may be named as what they are.
func membership(noun string) bool {
	return slices.ContainsFunc(spoken.Singular(noun), func(one string) bool { return spoken.Is("people membership", one) })
}

// valued reports whether the verb gives a thing a value.
func (t *toolName) valued() bool {
	return (t.act.Phrase == sets || t.act.Phrase == "updates %s") && t.thing != nil && spoken.Is("things-that valued", t.thing.Words[0])
}

// scaled adds to how many a thing is scaled, or to what it goes back.
func (c *call) scaled(said wording.Sentence, t *toolName) wording.Sentence {
	if value := strings.Join(c.values([]string{"value", "newvalue"}), ", "); value != "" && t.valued() && len(said[0].Args[0].Args) > 0 {
		return withText(said, value)
	}
	to := map[wording.Phrase][]string{
		"scales %s":     {"replicas", "scale", "desiredcapacity", "desiredcount", "size", "sizeslug", "type", "instancetype", "machinetype", "tier", "flavor"},
		"rolls back %s": {"version", "toversion", "targetversion", "revision", "torevision"},
	}
	if when := c.first(spoken.List("texts scheduled")...); t.act.Phrase == "schedules %s" && strings.Trim(when, "0123456789") != "" && !strings.Contains(said.String(), when) {
		return said.And("(%s)", when)
	}
	if much := c.first("revision", "torevision"); t.act.Phrase == "rolls back %s" && much != "" {
		return said.And("to revision %s", much)
	}
	if much := c.first(to[t.act.Phrase]...); much != "" {
		return said.And("to %s", much)
	}
	return said
}

// goesBack says to which version a thing goes back, if the arguments name both: a service that is told to roll back a
// deployment goes back to it.
func (c *call) goesBack(t *toolName) wording.Sentence {
	if t.act == nil || t.act.Phrase != "rolls back %s" {
		return nil
	}
	var of, to []wording.Clause
	for _, key := range c.keys {
		switch thing := c.identifies(key); {
		case thing == nil:
		case spoken.Is("targets versions", key):
			to = append(to, wording.Say(thing.One, c.first(key)))
		default:
			of = append(of, wording.Say(thing.One, c.first(key)))
		}
	}
	if len(of) != 1 || len(to) != 1 {
		return nil
	}
	return wording.Sentence{{Phrase: t.act.Phrase, Args: of}, {Phrase: "to %s", Args: to}}
}

// local returns the path of a file that is uploaded, and the key it is under: what it is called there says
// less.
func (c *call) local(t *toolName) (names []string, key string) {
	if t.act.Phrase != "uploads %s" || t.thing == nil || !slices.Contains(t.thing.Words, "file") {
		return nil, ""
	}
	return c.under([]string{"", "file", "local", "localfile", "source"}, "path")
}

// isA reports whether a name is that of the kind of thing, as services name their kinds.
func (t *toolName) isA(kind string) bool {
	thing, _, rest := spoken.ThingOf(reading.Words(kind))
	return thing != nil && thing == t.thing && len(rest) == 0
}
