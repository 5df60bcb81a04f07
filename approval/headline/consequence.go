package headline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/mask"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Consequence is what follows if a call runs: the worst of everything that it would do.
type Consequence struct {
	// Undo says whether it can be undone; empty if no judge says.
	Undo operation.Reversibility `json:"undo,omitzero"`
	// Unsure says that only the kind of some part is known, and that not everything of that
	// kind can be undone.
	Unsure bool `json:"unsure,omitzero"`
	// Reach says whom it touches; empty if no judge says.
	Reach operation.Reach `json:"reach,omitzero"`
	// Reads says that the whole call only reads.
	Reads bool `json:"reads,omitzero"`
	// Idle says that all of it is a line of a program in which nothing is seen that
	// changes anything.
	Idle bool `json:"idle,omitzero"`
	// Unknown says that nothing is known about what it would do.
	Unknown bool `json:"unknown,omitzero"`
	// Unread says that part of it could not be read.
	Unread bool `json:"unread,omitzero"`
	// Feared says that a judge, knowing nothing about a part, assumes that it cannot be
	// undone and reaches others. People are not told that, because it may be false.
	Feared bool `json:"feared,omitzero"`
	// Masked is how many secrets in it are not shown.
	Masked int `json:"masked,omitzero"`
}

// Final reports whether the call cannot be undone, as far as is known.
func (c *Consequence) Final() bool { return c.Undo == operation.Irreversible }

// Undoable reports whether the call is known to be at least partly undoable, or leaves
// nothing to undo.
func (c *Consequence) Undoable() bool {
	return c.Reads || !c.Unknown && (c.Undo == operation.Reversible || c.Undo == operation.Partial)
}

// Known reports whether a judge said what follows.
func (c *Consequence) Known() bool { return c.Undo != "" || c.Reads || c.Unknown || c.Unread }

// compare orders consequences, heaviest first. The unknown weighs as much as what cannot be
// undone, whomever it touches.
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

// consequenceOf combines the consequences of everything that a call does.
func consequenceOf(o operations) Consequence {
	c := Consequence{Unread: o.unread, Reads: o.effects && !o.unread}
	var idle *one
	known, unknown := false, slices.ContainsFunc(o.list, func(e one) bool { return o.effects && e.blind() })
	for i := range o.list {
		e := &o.list[i]
		switch {
		case !e.changes() || e.manner && o.placed():
			continue
		case e.idle():
			idle = e
		case e.blind():
		default:
			known = true
			c.add(e)
			c.Unsure = e.leavesOpen(unknown) || c.Unsure
		}
		c.Reads, c.Feared = false, c.Feared || e.feared
	}
	return c.closed(known, unknown, idle)
}

// unreadFile is what the engine says of a file that runs and that it was not given.
const unreadFile wording.Phrase = "runs %s, a file of the workspace that was not read"

// blind reports whether nothing is known of what it does.
func (o *one) blind() bool {
	return o.kind == operation.KindUnknown || len(o.said) > 0 && o.said[0].Phrase == unreadFile
}

// leavesOpen reports whether it says only with whose rights something unknown is done.
func (o *one) leavesOpen(unknown bool) bool { return o.manner && unknown }

// closed completes the combined consequence: how something is done counts only if nothing
// is unknown, and the unknown only if nothing is known.
func (c Consequence) closed(known, unknown bool, idle *one) Consequence {
	if !unknown && c.withIdle(idle, known) {
		known = true
	}
	if unknown && c.Reach == operation.ReachWorkspace { // so little is known that the rest may be anything
		c.Reach, c.Unsure = "", true
	}
	c.Unsure = c.Unsure && known && c.Undo != operation.Irreversible
	c.Unknown = unknown && !known
	c.Unread = !c.Unknown && (c.Unread || unknown)
	return c
}

// withIdle adds an action of which nothing else is known, if there is one and it says more, and
// reports whether it did.
func (c *Consequence) withIdle(idle *one, known bool) bool {
	if idle == nil || known && c.Reach == "" {
		return false
	}
	c.Idle = !known && idle.said[0].Phrase == idleLine
	c.add(idle)
	return true
}

// placed reports whether all that is done is to delete or move files whose location is
// known: who does it then makes no difference.
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

// add combines the consequence of one action into c.
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

// undoRank returns how hard it is to undo, 0 if unknown.
func undoRank(v operation.Reversibility) int {
	return 1 + slices.Index([]operation.Reversibility{operation.Reversible, operation.Partial, operation.Irreversible}, v)
}

// reachRank returns how far it reaches, 0 if unknown.
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
