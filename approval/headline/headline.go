// Package headline says what a call would do as a person wants to hear it first:
// the verb and the object of its worst operation, how many more there are, and
// what follows from it. All of it is data until a language is chosen.
package headline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Headline is what stands first on a card.
type Headline struct {
	// Said is what the worst operation of the call does, and to what, in the
	// third person without a subject: "deletes /srv/app/uploads".
	Said wording.Sentence
	// More is how many other things the call would do, besides reading.
	More int
	// Consequence is what follows from all of them.
	Consequence Consequence
	// Score is the lowest that a judge gave to any of them, in [0,1].
	Score float64
}

// Compare orders headlines by weight, the heaviest first: by what can be undone,
// whom it touches, and how low it was graded.
func (h *Headline) Compare(o *Headline) int {
	return cmp.Or(h.Consequence.compare(&o.Consequence), cmp.Compare(h.Score, o.Score), cmp.Compare(o.More, h.More))
}

// Lead returns the place of the headline that weighs most among several: like is
// how many others say the same, more how many say something else. It is -1 for
// none.
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

// Equal reports whether two headlines say the same.
func (h *Headline) Equal(o *Headline) bool {
	return h.More == o.More && h.Consequence == o.Consequence && h.Said.String() == o.Said.String()
}

// Of returns the headline of a call by what its judges said. Neither the
// proposal nor the verdict may hold a secret: both are masked by then.
func Of(p vaglio.Proposal, v vaglio.Verdict) Headline {
	c := callOf(p)
	found := operationsOf(v)
	c.supported(&found)
	c.belittled(&found)
	c.narrowed(&found)
	h := Headline{Score: min(v.Score, 1)}
	worst := found.worst()
	kind := operation.KindUnknown
	if worst != nil {
		kind, h.Score = worst.kind, worst.score
		h.More = found.besides(worst)
	}
	said, leaves := c.byRoles(kind)
	if said == nil {
		said = c.byName(worst)
	}
	c.comment(worst, said)
	c.settled(worst, said)
	h.Consequence = consequenceOf(found)
	if h.Consequence.Reach == operation.ReachWorkspace && !c.here(p.Context.Cwd) {
		h.Consequence.Reach = ""
	}
	h.Consequence.Masked = maskedIn(p)
	like := 0
	switch {
	case said != nil:
		h.Said, like = said, found.requested(worst, said)
		if leaves && h.Consequence.Reach != "" {
			h.Consequence.Reach = operation.ReachPublic
		}
	case worst.told(c.command != ""):
		h.Said, like = found.together(worst)
		h.Said = c.filled(h.Said)
	default:
		h.Said = c.plainly()
	}
	h.More = max(0, h.More-like)
	h.Said = bounded(c.tried(h.Said.Each(c.typed)))
	h.Consequence.Unread = h.Consequence.Unread || c.unread(&h)
	return h
}

// filled adds to what the judge says of a tool what that was given, where it says no more
// than that the tool reads, or that nothing is known of it.
func (c *call) filled(said wording.Sentence) wording.Sentence {
	if said[0].Phrase == idleLine { // The consequence says that nothing is seen that it changes.
		return append(wording.Sentence{{Phrase: "runs a line of %s", Args: said[0].Args}}, said[1:]...)
	}
	if c.command != "" || len(said) > 1 {
		return said
	}
	switch said[0].Phrase {
	case "reads", "reads by the tool %s":
		return c.told(said)
	case "calls the tool %s, of which nothing is known":
		return c.told(c.called())
	default:
		return said
	}
}

// byName says by its name what a tool does of whose arguments the roles do not tell.
func (c *call) byName(worst *one) wording.Sentence {
	if worst == nil {
		return c.unjudged()
	}
	return c.byVerb(worst)
}

// told reports whether the judge says what is done: of a command more than that it
// works in the workspace.
func (o *one) told(command bool) bool {
	return o != nil && len(act(o.said)) > 0 && (!command || o.said[0].Phrase != "works in the workspace")
}

// one is a thing that a call would do, as a judge found it.
type one struct {
	said  wording.Sentence
	kind  operation.Kind
	undo  operation.Reversibility
	reach operation.Reach
	score float64
	// manner says that it tells how something is done, and not what.
	manner bool
	// guessed says that it could be read in part only.
	guessed bool
	// feared is [Consequence.Feared].
	feared bool
	// general says that no more is known of it than its kind.
	general bool
	// stands is for how many it stands.
	stands int
}

// changes reports whether it does more than read.
func (o *one) changes() bool { return o.kind != operation.KindRead }

// operations are all that a call would do.
type operations struct {
	list []one
	// unread says that a part of the call could not be read.
	unread bool
	// asked is the score below which a person is asked, 0 where it is not known.
	asked float64
	// effects says that they were found by a judge of effects, which says of each
	// whether it can be undone.
	effects bool
}

// operationsOf reads what the judges said. What the judge of effects found stands
// for all, because only that says what the call does.
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

// graded reads the signals of the judge of effects, with what it keeps of each.
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
		for _, c := range s.Said {
			switch c.Phrase {
			case wording.MoreLikeThese:
				o.stands, _ = strconv.Atoi(c.Args[0].Text)
			case wording.AsFarAsRead:
				o.guessed = true
			case wording.AsAdministrator:
				o.manner = true
			default:
			}
		}
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
	out.list = slices.DeleteFunc(out.list, func(o one) bool { return slices.ContainsFunc(all, o.within) || slices.ContainsFunc(all, o.sends) })
	out.unread = out.unread || slices.ContainsFunc(out.list, func(o one) bool { return o.guessed })
	return out
}

// worst is what weighs most, nil if there is nothing. How something is done is
// said only where nothing says what.
func (o *operations) worst() *one {
	var worst *one
	for i := range o.list {
		c := &o.list[i]
		if worst == nil || c.lighter() < worst.lighter() || c.lighter() == worst.lighter() && c.heavier(worst) {
			worst = c
		}
	}
	return worst
}

// lighter is the class of a thing in the order of what is said first.
func (o *one) lighter() int {
	switch {
	case !o.changes():
		return 2
	case o.manner || o.idle():
		return 1
	default:
		return 0
	}
}

// heavier orders two things of one class. Of equals, what was read whole is said.
func (o *one) heavier(than *one) bool {
	order := cmp.Or(undoRank(than.undo)-undoRank(o.undo), cmp.Compare(o.score, than.score), than.weight()-o.weight())
	return order < 0 || order == 0 && than.guessed && !o.guessed
}

func (o *one) weight() int { return 8*undoRank(o.undo) + reachRank(o.reach) }

// besides counts what the call would do besides one thing and besides reading:
// where a person is asked about that, only what they would be asked about, too.
// What is said in the same words, as both ends of a move are, is that one thing.
func (o *operations) besides(one *one) int {
	n, said := 0, act(one.said).String()
	for i := range o.list {
		passes := o.list[i].score >= o.asked && one.score < o.asked && !o.list[i].lasts()
		if c := &o.list[i]; c != one && c.lighter() == 0 && !passes && !c.idle() && (c.stands > 1 || act(c.said).String() != said) {
			n += c.stands
		}
	}
	return n
}

// idleLine is what the engine says of a line of a program in which it sees nothing that
// changes anything.
const idleLine wording.Phrase = "runs a line of %s that is not seen to touch anything else"

// idle reports whether it is how something is done of which nothing else is known: a
// program of one line, or a command in a container.
func (o *one) idle() bool {
	return len(o.said) > 0 && (o.said[0].Phrase == idleLine || o.said[0].Phrase == "works in a container")
}

// lasts reports whether it is told beside what is asked though it would pass by itself:
// that something is deleted, or that others get to see it.
func (o *one) lasts() bool {
	return o.kind == operation.KindDelete || reachRank(o.reach) >= reachRank(operation.ReachShared)
}

// act is the part of a judge's sentence that says what is done, and to what.
// What closes it says what follows, which the consequence does.
func act(s wording.Sentence) wording.Sentence {
	var out wording.Sentence
	for _, c := range s {
		if strings.HasPrefix(string(c.Phrase), ";") || c.Phrase == "." {
			break
		}
		switch c.Phrase {
		case wording.Outside, wording.AsFarAsRead:
		case ", which holds settings or secrets": // A file that is deleted holds them no more.
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

// source says of downloaded code, or of a patch, that is run or applied from which
// address, where the call fetches from one only.
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

// downloadedFrom is how what the engine says of what is downloaded is said of an
// address, "" for anything else that it says.
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

// shapeOf is a sentence without its things, and these.
func shapeOf(s wording.Sentence) (shape string, things []string) {
	shape = s.Each(func(text string) string {
		things = append(things, text)
		return "\x00"
	}).String()
	return shape, things
}

// longestThing is how many characters of a thing stand in a headline. A longer
// one is told by its length: half a name could be another's.
const longestThing = 200

// bounded is the sentence with every thing that is too long for a headline told
// by its length.
func bounded(s wording.Sentence) wording.Sentence {
	s = slices.Clone(s)
	for i := range s {
		c := &s[i]
		if n := utf8.RuneCountInString(c.Text); n > longestThing {
			*c = wording.Say("a text of %s characters", strconv.Itoa(n))
			continue
		}
		c.Args = bounded(c.Args)
	}
	return s
}
