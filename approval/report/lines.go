package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/visible"
)

// DigestLine is one line of a digest: the key of a text, without its prefix "digest.", and
// the values that fill it. A value is a string, an int, a [time.Time], a [Foreign], a
// [Copied] or a [DigestWord].
type DigestLine struct {
	Key    string
	Values map[string]any
	// Head says that a new part of the digest begins.
	Head bool
}

// Foreign is a text that somebody else wrote.
type Foreign string

// Deed is what a call would do, and what follows from it.
type Deed headline.Headline

// deed returns what an agent wanted: what its call would do, if that is said, or else the
// start of its line.
func deed(line string, h *headline.Headline) any {
	if h == nil {
		return Foreign(visible.Clip(line, digestLine))
	}
	return Deed(*h)
}

// Copied is text for people to copy: it is shown in full, verbatim, and set apart from its
// surroundings.
type Copied string

// DigestWord is the key of a text that is a word within a line. If there is no such text,
// readers see what follows the first dot of the key.
type DigestWord string

// How much a digest repeats of a person's words and of a command line, in characters.
const digestWords, digestLine = 200, 200

// Lines returns the digest as lines, the most important first. A channel that cannot show
// all of them cuts from the end.
func (d *Digest) Lines() []DigestLine {
	l := lines{compares: !d.WeekAgo.none(), open: d.Open}
	title := "title"
	if d.Open {
		title = "title.open"
	}
	if d.Empty() {
		title += ".empty"
	}
	l.head(title, "from", d.Window.From, "to", d.Window.To)
	l.next(d)
	if d.Late {
		l.add("late")
	}
	if len(d.Routes) > 0 {
		l.add("routes", "routes", Foreign(strings.Join(d.Routes, ", ")))
	}
	if d.Empty() {
		l.checkpoint(d)
		return l.all
	}
	for _, u := range d.Unread {
		l.add("unread", "part", u.Part, "from", u.From, "to", u.To)
	}
	l.waiting(d)
	c := &d.Counts
	if c.none() {
		if len(d.Unread) == 0 {
			l.head("none")
		}
		l.checkpoint(d)
		return l.all
	}
	l.head("judged", "n", c.Judged, "approved", c.Approved, "guard", c.Guard, "vetoed", c.Vetoed)
	l.counted("errors", c.Errors)
	l.rules(d.Rules)
	l.fates("vetoed", c.Fates)
	l.fates("carried", c.Carried)
	if n := c.Settled.Sum(); n > 0 {
		l.head("settled", "n", n)
		l.runs(c.Settled)
	}
	w := &d.WeekAgo
	if w.none() {
		l.head("week.none")
	} else {
		l.head("week", "n", w.Judged, "guard", w.Guard, "vetoed", w.Vetoed)
	}
	l.checkpoint(d) // before what is cut on a busy day
	for i := range d.Groups {
		l.group(&d.Groups[i])
	}
	l.hints(d)
	return l.all
}

// Fill returns the line's values as a channel fills them into its texts. word returns the
// text for a key and whether it knows the key, say what stands for a deed. theirs marks
// text from others; whole is set for text to copy, which must stay complete.
func (l *DigestLine) Fill(word func(key string) (string, bool), say func(headline.Headline) any, theirs func(s string, whole bool) any) map[string]any {
	filled := make(map[string]any, len(l.Values))
	for name, v := range l.Values {
		switch v := v.(type) {
		case Foreign:
			filled[name] = theirs(string(v), false)
		case Deed:
			filled[name] = say(headline.Headline(v))
		case Copied:
			filled[name] = theirs(string(v), true)
		case DigestWord:
			if text, ok := word(string(v)); ok {
				filled[name] = text
			} else {
				_, rest, _ := strings.Cut(string(v), ".")
				filled[name] = theirs(rest, false)
			}
		default:
			filled[name] = v
		}
	}
	return filled
}

// lines collects the lines of a digest.
type lines struct {
	all []DigestLine
	// compares says that there are counts from a week earlier to compare with. Without
	// them, everything would be new.
	compares bool
	// open says that the window is not over.
	open bool
}

// next says, for a window that is not over, when its digest comes and which one was the
// last.
func (l *lines) next(d *Digest) {
	if !d.Next.IsZero() {
		l.add("next", "when", d.Next)
	}
	if d.Before != "" {
		l.add("before", "day", d.Before)
	}
}

func (l *lines) add(key string, pairs ...any) {
	line := DigestLine{Key: key, Values: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			line.Values[name] = pairs[i+1]
		}
	}
	l.all = append(l.all, line)
}

func (l *lines) head(key string, pairs ...any) {
	l.add(key, pairs...)
	l.all[len(l.all)-1].Head = true
}

// counted adds a line with a number, unless it is 0.
func (l *lines) counted(key string, n int) {
	if n > 0 {
		l.add(key, "n", n)
	}
}

// checkpoint shows the history's checkpoint on one line: no part of it contains a space,
// and its readers take spaces for line breaks.
func (l *lines) checkpoint(d *Digest) {
	if d.Checkpoint != "" {
		l.head("checkpoint", "checkpoint", Copied(strings.Join(strings.Fields(d.Checkpoint), " ")))
	}
}

func (l *lines) waiting(d *Digest) {
	if len(d.Waiting) == 0 {
		return
	}
	l.head("waiting", "n", len(d.Waiting)+d.WaitingMore)
	for _, w := range d.Waiting {
		l.add("waiting.line", "when", w.Until, "id", Foreign(w.ID), "agent", Foreign(w.Agent), "wanted", deed(w.Wanted, w.Headline))
	}
	l.counted("more", d.WaitingMore)
}

func (l *lines) rules(rules []Tally) {
	var all, fresh []string
	more := 0
	for _, r := range rules {
		if r.Name == "" {
			more = r.Count
			continue
		}
		all = append(all, r.Name+" "+strconv.Itoa(r.Count))
		if r.New && l.compares {
			fresh = append(fresh, r.Name)
		}
	}
	if len(all) > 0 {
		l.add("rules", "rules", Foreign(strings.Join(all, ", ")))
	}
	l.counted("rule.more", more)
	if len(fresh) > 0 {
		l.add("rules.new", "rules", Foreign(strings.Join(fresh, ", ")))
	}
}

func (l *lines) fates(key string, f Fates) {
	if f.Sum() == 0 {
		return
	}
	l.head(key, "n", f.Sum())
	for _, fate := range EveryFate() {
		l.counted(l.fate(fate), f.Of(fate))
		if fate == FateAllowed {
			l.runs(f.Runs)
		}
	}
}

// fate returns the key of the line that counts a fate.
func (l *lines) fate(fate Fate) string {
	if fate == FateWaiting && l.open {
		return "fate.waiting.open"
	}
	return "fate." + fate.String()
}

func (l *lines) runs(r Runs) {
	l.counted("run.succeeded", r.Succeeded)
	l.counted("run.failed", r.Failed)
	l.counted("run.unknown", r.Unknown)
	l.counted("run.running", r.Running)
	l.counted("run.unused", r.Unused)
	l.counted("run.lapsed", r.Lapsed)
}

func (l *lines) group(g *VetoGroup) {
	switch {
	case g.Rule != "":
		l.head("group.rule", "n", g.Count, "rule", Foreign(g.Rule))
	case g.Effect != "" && g.New && l.compares:
		l.head("group.new", "n", g.Count, "effect", DigestWord("effect."+g.Effect))
	case g.Effect != "":
		l.head("group", "n", g.Count, "effect", DigestWord("effect."+g.Effect))
	default:
		l.head("group.other", "n", g.Count)
	}
	for i := range g.Actions {
		l.action(&g.Actions[i])
	}
	if len(g.Actions) > 0 {
		l.counted("more", g.Count-len(g.Actions))
	}
}

func (l *lines) action(v *Veto) {
	if v.State == "" {
		l.add("action.final", "when", v.At, "id", Foreign(v.ID), "agent", Foreign(v.Agent), "wanted", deed(v.Wanted, v.Headline))
		return
	}
	key, pairs := "action", []any{
		"when", v.At, "id", Foreign(v.ID), "agent", Foreign(v.Agent), "wanted", deed(v.Wanted, v.Headline), "state", DigestWord("digest.state." + string(v.State)),
	}
	if v.By != "" {
		key = "action.by"
		pairs = append(pairs, "by", Foreign(v.By), "after", time.Duration(math.Round(v.After)*float64(time.Second)).String())
	}
	l.add(key, pairs...)
	if v.Words != "" {
		l.add("action.words", "words", Foreign(visible.Clip(v.Words, digestWords)))
	}
}

// hints adds what the day suggests.
func (l *lines) hints(d *Digest) {
	for _, s := range d.Spares {
		switch {
		case s.Name == "":
		case s.Effect == "":
			l.head("spare", "n", s.Count, "what", Foreign(s.Name))
		default:
			l.head("spare.effect", "n", s.Count, "what", Foreign(s.Name), "effect", DigestWord("effect."+s.Effect))
		}
	}
	for _, w := range d.Workarounds {
		if w.ID != "" {
			l.head("workaround", "n", w.Tries, "agent", Foreign(w.Agent), "id", Foreign(w.ID), "wanted", deed(w.Wanted, w.Headline))
		}
	}
	for _, h := range d.People {
		if h.Person == "" {
			continue
		}
		who := h.Name
		if h.Surface != "" {
			who += " (" + h.Surface + ")"
		}
		l.head("person", "who", Foreign(who), "n", h.Allows+h.Denies, "share", 100*h.Allows/max(1, h.Allows+h.Denies))
		l.counted("person.hasty", h.Hasty)
	}
}

// Fated returns what became of the calls that judges vetoed, as lines of a digest.
func (c *Counts) Fated() []DigestLine {
	var l lines
	l.fates("vetoed", c.Fates)
	if len(l.all) == 0 {
		return nil
	}
	return l.all[1:]
}
