package headline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/mask"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Consequence is what follows if a call runs: the worst of all that it would do.
type Consequence struct {
	// Undo says whether it can be undone; empty where no judge says.
	Undo operation.Reversibility
	// Unsure says that of a part no more is known than its kind, of which some can be
	// undone and some cannot.
	Unsure bool
	// Reach says whom it touches; empty where no judge says.
	Reach operation.Reach
	// Reads says that all of it only reads.
	Reads bool
	// Idle says that all of it is a line of a program in which nothing is seen that
	// changes anything.
	Idle bool
	// Unknown says that nothing is known of what it would do.
	Unknown bool
	// Unread says that a part of it could not be read.
	Unread bool
	// Feared says that a judge takes a part, of which nothing is known, for one that
	// cannot be undone and reaches others. People are not told what may be false.
	Feared bool
	// Masked is how many secrets in it are not shown.
	Masked int
}

// Final reports whether the call cannot be undone, as far as anybody knows.
func (c *Consequence) Final() bool { return c.Undo == operation.Irreversible }

// Undoable reports whether it is known that the call can be undone, in part at least,
// or that there is nothing to undo.
func (c *Consequence) Undoable() bool {
	return c.Reads || !c.Unknown && (c.Undo == operation.Reversible || c.Undo == operation.Partial)
}

// Known reports whether a judge said what follows.
func (c *Consequence) Known() bool { return c.Undo != "" || c.Reads || c.Unknown || c.Unread }

// compare orders consequences, the heaviest first. What is not known weighs as
// much as what cannot be undone, whoever it touches.
func (c *Consequence) compare(o *Consequence) int {
	return cmp.Compare(o.weight(), c.weight())
}

func (c *Consequence) weight() int {
	switch {
	case c.Reads:
		return -1
	case c.Unknown:
		return 8 * undoRank(operation.Irreversible)
	default:
		return 8*undoRank(c.Undo) + reachRank(c.Reach)
	}
}

// consequenceOf joins what follows from each of several things that a call does.
func consequenceOf(o operations) Consequence {
	c := Consequence{Unread: o.unread, Reads: o.effects && !o.unread}
	var idle *one
	known, unknown := false, false
	for i := range o.list {
		e := &o.list[i]
		switch {
		case !e.changes() || e.manner && o.placed():
			continue
		case e.idle():
			idle = e
		case e.kind == operation.KindUnknown:
			unknown = o.effects
		default:
			known = true
			c.add(e)
		}
		c.Reads, c.Feared = false, c.Feared || e.feared
	}
	return c.closed(known, unknown, idle)
}

// closed is the consequence when all is joined: how something is done counts where
// nothing is unknown, and what is unknown only where nothing is known.
func (c Consequence) closed(known, unknown bool, idle *one) Consequence {
	if idle != nil && !unknown && (!known || c.Reach != "") {
		c.Idle = !known && idle.said[0].Phrase == idleLine
		known = true
		c.add(idle)
	}
	c.Unsure = c.Unsure && c.Undo != operation.Irreversible
	c.Unknown = unknown && !known
	c.Unread = !c.Unknown && (c.Unread || unknown)
	return c
}

// placed reports whether all that is done is that files are deleted or moved, of
// which it is known where they lie: whoever does it touches no more.
func (o *operations) placed() bool {
	placed := false
	for i := range o.list {
		switch e := &o.list[i]; {
		case e.manner || !e.changes():
		case e.guessed || e.kind != operation.KindDelete && e.kind != operation.KindMove || anyThing(act(e.said), machines):
			return false
		default:
			placed = true
		}
	}
	return placed
}

// add joins what follows from one thing.
func (c *Consequence) add(e *one) {
	undo, reach := e.undo, e.touches()
	if undo == operation.Reversible && reachRank(reach) >= reachRank(operation.ReachShared) {
		undo = operation.Partial // It can be taken away, and others have seen it.
	}
	c.Unsure = c.Unsure || e.general
	if undoRank(undo) > undoRank(c.Undo) {
		c.Undo = undo
	}
	if reachRank(reach) > reachRank(c.Reach) {
		c.Reach = reach
	}
}

// undoRank is how hard it is to undo, 0 where that is not known.
func undoRank(v operation.Reversibility) int {
	return 1 + slices.Index([]operation.Reversibility{operation.Reversible, operation.Partial, operation.Irreversible}, v)
}

// reachRank is how far it reaches, 0 where that is not known.
func reachRank(r operation.Reach) int { return 1 + slices.Index(operation.Reaches(), r) }

// maskedIn counts the masks in the arguments of a call.
func maskedIn(p vaglio.Proposal) int { return masks(map[string]any(p.Args)) }

func masks(v any) int {
	switch v := v.(type) {
	case string:
		n := 0
		for i := strings.IndexRune(v, mask.Open); i >= 0; i = strings.IndexRune(v, mask.Open) {
			size := mask.Shape(v[i:])
			if size > 0 {
				n++
			}
			v = v[i+max(size, len(string(mask.Open))):]
		}
		return n
	case map[string]any:
		n := 0
		for key := range maps.Keys(v) {
			n += masks(key) + masks(v[key])
		}
		return n
	case vaglio.Args:
		return masks(map[string]any(v))
	case []any:
		n := 0
		for _, e := range v {
			n += masks(e)
		}
		return n
	default:
		return 0
	}
}
