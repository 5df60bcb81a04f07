// Package headline says what a call would do, the way a person wants to hear it first: the
// verb and object of its worst operation, how many more operations there are, and what
// follows from them. Everything is data until a language is chosen.
package headline

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Headline is what comes first on a card.
type Headline struct {
	// Said is what the call's worst operation does and to what, in the third person without
	// a subject: "deletes /srv/app/uploads".
	Said wording.Sentence `json:"said"`
	// More is how many other things the call would do, not counting reads.
	More int `json:"more,omitzero"`
	// Consequence is what follows from all of them.
	Consequence Consequence `json:"consequence"`
	// Score is the lowest that a judge gave any of them, in [0,1].
	Score float64 `json:"score"`
}

// Compare orders headlines by weight, heaviest first: by what can be undone, whom it
// touches, and how low it was graded.
func (h *Headline) Compare(o *Headline) int {
	return cmp.Or(h.Consequence.compare(&o.Consequence), cmp.Compare(h.Score, o.Score), cmp.Compare(o.More, h.More))
}

// Lead returns the index of the weightiest headline. like is how many others say the same,
// more how many say something else. worst is -1 if the list is empty.
func Lead(list []Headline) (worst, like, more int) {
	worst = -1
	for i := range list {
		if worst < 0 || list[i].Compare(&list[worst]) < 0 {
			worst = i
		}
	}
	for i := range list {
		switch {
		case i == worst:
		case list[i].Equal(&list[worst]):
			like++
		default:
			more++
		}
	}
	return worst, like, more
}

// Equal reports whether two headlines say the same thing.
func (h *Headline) Equal(o *Headline) bool {
	return h.More == o.More && h.Consequence == o.Consequence && h.Said.String() == o.Said.String()
}

// Of returns the headline of a call, based on what its judges said. Both the proposal and
// the verdict must already be masked.
func Of(p vaglio.Proposal, v vaglio.Verdict) Headline {
	c := callOf(p)
	found := operationsOf(v)
	found.text = c.command
	c.obeyed(&found)
	c.supported(&found)
	c.belittled(&found)
	c.overlooked(&found)
	c.narrowed(&found)
	h := Headline{Score: min(v.Score, 1)}
	worst := found.worst()
	kind := operation.KindUnknown
	if worst != nil {
		kind, h.Score = worst.kind, worst.score
		h.More = found.besides(worst)
	}
	said, others, leaves := c.byTool(worst, kind)
	h.More += others
	c.comment(worst, said)
	c.settled(worst, said)
	said = c.versioned(c.switched(worst, said))
	h.Consequence = consequenceOf(found)
	h.Consequence.Masked = maskedIn(p)
	like := 0
	switch {
	case said != nil:
		h.Said, like = c.completed(c.clustered(said)), found.requested(worst, said)
		if leaves && h.Consequence.Reach != "" {
			h.Consequence.Reach = operation.ReachPublic
		}
	case worst.told(c.command != ""):
		h.Said, like = found.together(worst)
		timed, also := c.onTime(&found, worst, c.clustered(c.inWorkspace(c.housed(c.filled(c.parts(c.appended(inPlace(h.Said))))))))
		h.Said, like = timed, like+also
	default:
		h.Said = c.plainly()
	}
	if h.Consequence.Reach == operation.ReachWorkspace && (!c.here(p.Context.Cwd) || found.elsewhere(worst)) {
		h.Consequence.Reach = ""
	}
	h.More = max(0, h.More-like)
	h.Said = bounded(c.tried(c.replaced(h.Said.Each(c.typed))))
	h.Consequence.Unread = h.Consequence.Unread || c.unread(&h)
	h.Said = spelled(h.Said)
	return h
}

// byTool describes what a tool does by what its arguments list, by their roles, or by its name. others is how many more
// things they list, and leaves whether it leaves for the outside.
func (c *call) byTool(worst *one, kind operation.Kind) (said wording.Sentence, others int, leaves bool) {
	if said, others = c.stepped(worst); said != nil {
		return said, others, false
	}
	if said, leaves = c.byRoles(kind); said == nil {
		said = c.byName(worst)
	}
	return said, 0, leaves
}

// byName describes by its name what a tool does if the roles of its arguments do not tell.
func (c *call) byName(worst *one) wording.Sentence {
	if worst == nil {
		return c.unjudged()
	}
	if said := c.documents(worst); said != nil {
		return said
	}
	if said := c.inFile(worst); said != nil {
		return said
	}
	return c.byVerb(worst)
}

// told reports whether the judge says what is done. For a command, that it works in the
// workspace is not enough.
func (o *one) told(command bool) bool {
	return o != nil && len(act(o.said)) > 0 && (!command || o.said[0].Phrase != "works in the workspace")
}

// one is a single thing that a call would do, as a judge found it.
type one struct {
	said  wording.Sentence
	kind  operation.Kind
	undo  operation.Reversibility
	reach operation.Reach
	score float64
	// manner says that it is about how something is done, not what.
	manner bool
	// guessed says that it could be read only in part.
	guessed bool
	// feared becomes [Consequence.Feared].
	feared bool
	// general says that only its kind is known, unread that nothing else is known of a tool's text.
	general, unread bool
	// stands is the number of things that it stands for.
	stands int
}

// changes reports whether it does more than read.
func (o *one) changes() bool { return o.kind != operation.KindRead }

// operations are all the things that a call would do.
type operations struct {
	list []one
	// unread says that part of the call could not be read.
	unread bool
	// asked is the score below which a person is asked; 0 if unknown.
	asked float64
	// effects says that an effects judge found them, which says for each whether it can be
	// undone.
	effects bool
	// text is the command, in whose order things are said.
	text string
}

// operationsOf reads what the judges said. If the effects judge reported, its findings are
// used alone, because only they say what the call does.
func operationsOf(v vaglio.Verdict) operations {
	var others operations
	for i := range v.Results {
		g := &v.Results[i]
		if effects, ok := g.Metadata["effects"].([]any); ok {
			return graded(g, effects)
		}
		for _, s := range g.Signals {
			if len(s.Said) > 0 && s.Score < 1 {
				others.list = append(others.list, one{said: s.Said, kind: operation.KindUnknown, score: s.Score, stands: 1})
			}
		}
	}
	return others
}

// qualified records what the sentence adds to the operation: how many it stands for, and
// whether it is read only in part or done with another user's rights.
func (o *one) qualified() {
	for _, c := range o.said {
		switch c.Phrase {
		case wording.MoreLikeThese:
			o.stands, _ = strconv.Atoi(c.Args[0].Text)
		case wording.AsFarAsRead:
			o.guessed = true
		case wording.AsAdministrator:
			o.manner = true
		case wording.AsUser: // who has no rights over the whole machine
			o.manner, o.reach = true, operation.ReachUser
		default:
		}
	}
}

// graded reads the signals of the effects judge, with the metadata it keeps for each.
func graded(g *vaglio.GradientResult, effects []any) operations {
	out := operations{effects: true, asked: g.MinScore}
	for i := range g.Signals {
		s := &g.Signals[i]
		if i >= len(effects) {
			out.unread = true
			continue
		}
		e, _ := effects[i].(map[string]any)
		word := func(key string) string { w, _ := e[key].(string); return w }
		o := one{
			said: s.Said, kind: operation.Kind(word("kind")), score: s.Score, stands: 1,
			undo: operation.Reversibility(word("reversibility")), reach: operation.Reach(word("reach")),
		}
		o.qualified()
		o.general = !o.byName() && o.vague()
		o.below()
		o.kept()
		if len(o.said) > 0 && strings.Contains(string(o.said[0].Phrase), " to this machine") {
			o.served()
		}
		o.said = sought(o.said)
		out.list = append(out.list, o)
	}
	all := slices.Clone(out.list)
	out.ways()
	out.list = slices.DeleteFunc(out.list, func(o one) bool { return slices.ContainsFunc(all, o.within) })
	out.unread = out.unread || slices.ContainsFunc(out.list, func(o one) bool { return o.guessed })
	return out
}

// worst returns the heaviest operation, or nil if there is none. How something is done
// comes first only if nothing says what is done.
func (o *operations) worst() *one {
	var worst *one
	for i := range o.list {
		c := &o.list[i]
		if worst == nil || o.before(c, worst) {
			worst = c
		}
	}
	return worst
}

// before reports whether one operation is named before another. What only makes a change take effect
// comes after what changes as much, if a person is asked about both.
func (o *operations) before(c, than *one) bool {
	if c.lighter() != than.lighter() {
		return c.lighter() < than.lighter()
	}
	return c.precedes(than, o.asked) || !than.precedes(c, o.asked) && c.heavier(than)
}

// lighter returns the class that decides which operation is named first; lower comes first.
func (o *one) lighter() int {
	switch {
	case !o.changes():
		return 2
	case o.manner || o.unread || o.idle():
		return 1
	default:
		return 0
	}
}

// heavier orders two operations of one class. Of equals, the one that was read completely
// wins, and what is known to be done over a mere kind.
func (o *one) heavier(than *one) bool {
	order := cmp.Or(undoRank(than.undo)-undoRank(o.undo), cmp.Compare(o.score, than.score), than.weight()-o.weight())
	return order < 0 || order == 0 && (than.guessed && !o.guessed || than.general && !o.general && !o.guessed)
}

func (o *one) weight() int { return 8*undoRank(o.undo) + reachRank(o.reach) }

// besides counts what the call would do besides one operation and besides reading. If a
// person is asked about that operation, it counts only others that they would be asked
// about, too. Operations described in the same words, such as both ends of a move, count as
// that operation. What could not be read is no thing that it does; the consequence says so.
func (o *operations) besides(one *one) int {
	n, said, gaps := 0, act(one.said).String(), slices.ContainsFunc(o.list, gap)
	for i := range o.list {
		c := &o.list[i]
		passes := c.score >= o.asked && one.score < o.asked && !c.lasts()
		more := gaps && c.stands > 1 && c.kind == operation.KindUnknown // of what could not be read, perhaps
		if c != one && c.isThing() && !passes && !more && (c.stands > 1 || act(c.said).String() != said) {
			n += c.stands
		}
	}
	return n
}

// isThing reports whether it is a thing that the call does: no reading, no manner, and nothing that could
// not be read.
func (o *one) isThing() bool { return o.lighter() == 0 && !o.idle() && !gap(*o) }

// gap reports whether it only says that something could not be read.
func gap(o one) bool { return o.says(wording.Unread) }

// idleLine is what the engine says of a line of a program in which it sees nothing that
// changes anything.
const idleLine wording.Phrase = "runs a line of %s that is not seen to touch anything else"

// idle reports whether it only says how something is done and nothing else is known: a
// one-line program, or a command in a container or on a machine, or that a program is started.
func (o *one) idle() bool {
	return o.says(idleLine, "works in a container") || o.says("starts %s") && o.reach == operation.ReachWorkspace ||
		len(o.said) > 0 && carrying.MatchString(string(o.said[0].Phrase))
}

// carrying matches what is said of what only runs other commands somewhere.
var carrying = regexp.MustCompile(`^(runs (a command|commands)|connects) .*(machine|container|cluster)`)

// lasts reports whether it is mentioned next to what is asked even though it would pass by
// itself: it deletes something, or lets others see it.
func (o *one) lasts() bool {
	return o.kind == operation.KindDelete || reachRank(o.reach) >= reachRank(operation.ReachShared)
}

// act returns the part of a judge's sentence that says what is done, and to what. The end
// of the sentence says what follows; the consequence covers that.
func act(s wording.Sentence) wording.Sentence {
	var out wording.Sentence
	for _, c := range s {
		if strings.HasPrefix(string(c.Phrase), ";") || c.Phrase == "." {
			break
		}
		switch c.Phrase {
		case wording.Outside, wording.AsFarAsRead:
		case ", which holds settings or secrets": // a deleted file no longer holds them
		case wording.MoreLikeThese:
			return nil
		case wording.Unread:
			out = append(out, c.Args...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// source names the address of downloaded code that is run, or of a patch that is applied,
// if the call fetches from only one address.
func (o *operations) source(said wording.Sentence) (wording.Sentence, bool) {
	if len(said) == 0 || downloadedFrom(said[0].Phrase) == "" || said.String() != strings.TrimSuffix(string(said[0].Phrase), ": %s") {
		return nil, false
	}
	from := ""
	for i := range o.list {
		if s := o.list[i].said; len(s) > 0 && s[0].Phrase == "fetches %s" {
			if from != "" {
				return nil, false
			}
			from = s[0].Args[0].Text
		}
	}
	return wording.Sentence{wording.Say(downloadedFrom(said[0].Phrase), from)}, from != ""
}

// downloadedFrom returns the engine's phrase about a download in the form that takes an
// address, or "" for any other phrase.
func downloadedFrom(said wording.Phrase) wording.Phrase {
	switch said {
	case "runs code downloaded from the network without review: %s":
		return "runs code downloaded from %s"
	case "applies a patch downloaded from the network without review: %s":
		return "applies a patch downloaded from %s"
	default:
		return ""
	}
}

// shapeOf splits a sentence into its shape and the things in it.
func shapeOf(s wording.Sentence) (shape string, things []string) {
	shape = s.Each(func(text string) string {
		things = append(things, text)
		return "\x00"
	}).String()
	return shape, things
}
