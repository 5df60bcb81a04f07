package headline

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// together describes one operation along with those that differ from it only in their
// object, and returns how many those are.
func (o *operations) together(one *one) (said wording.Sentence, like int) {
	said = act(one.said)
	if whole, ok := o.source(said); ok {
		return whole, o.fed()
	}
	if mirrored := o.mirrored(said); mirrored != nil {
		return mirrored, 1
	}
	shape, things := shapeOf(said)
	names, at := []string(nil), -1
	for i := range o.list {
		c := &o.list[i]
		if !o.alike(c, one) {
			continue
		}
		other, its := shapeOf(act(c.said))
		if differs := differing(its, things); other == shape && differs >= 0 && (at < 0 || differs == at) {
			at, names = differs, append(names, its[differs])
		}
	}
	if at < 0 || one.stands > 1 {
		return said, 0
	}
	all := named(inOrder(append([]string{things[at]}, names...), o.text))
	if listed := numbered(said.About(things[at], all), all); fits(all, listed, shape) {
		return listed, len(names)
	}
	return said, 0
}

// inOrder returns names as they follow each other in a text, if all of them stand there.
func inOrder(names []string, text string) []string {
	if slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(text, name) }) {
		return names
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
	return names
}

// fits reports whether a list is short enough for a sentence, which does not put the noun for one thing
// before it: "the volume a and b".
func fits(list wording.Clause, listed wording.Sentence, shape string) bool {
	m := beforeThing.FindStringSubmatch(shape)
	single := m != nil && spoken.ThingAt(m[1]) != nil && shapeIs(listed, shape)
	return !single && utf8.RuneCountInString(list.String()) <= longestThing
}

// beforeThing matches the word before a thing in the shape of a sentence.
var beforeThing = regexp.MustCompile(`\bthe ([a-z]+) \x00`)

// shapeIs reports whether a sentence still has its shape, with a list for a thing.
func shapeIs(said wording.Sentence, shape string) bool {
	now, _ := shapeOf(said)
	begin, _, _ := strings.Cut(shape, "\x00")
	return strings.HasPrefix(now, begin)
}

// fed returns 1 if a program is said to run what was downloaded, which is the same code.
func (o *operations) fed() int {
	if slices.ContainsFunc(o.list, func(c one) bool { return len(c.said) > 0 && c.said[0].Phrase == "runs downloaded code" }) {
		return 1
	}
	return 0
}

// numbered returns the sentence with the list under the noun for several things.
func numbered(said wording.Sentence, list wording.Clause) wording.Sentence {
	said = slices.Clone(said)
	for i := range said {
		c := &said[i]
		if len(c.Args) == 1 && c.Args[0].Phrase == list.Phrase && list.Phrase != "" {
			c.Phrase = spoken.Several(c.Phrase)
		}
		c.Args = numbered(c.Args, list)
	}
	return said
}

// requested returns how many other requests are covered by a sentence about several
// addresses.
func (o *operations) requested(one *one, said wording.Sentence) int {
	if one == nil || said[0].Phrase != asks {
		return 0
	}
	_, like := o.together(one)
	return like
}

// comment corrects the consequence of a comment: unless it goes out to others it can be
// taken back, and only those who see the thing see the comment.
func (c *call) comment(one *one, said wording.Sentence) {
	open := c.first("public", "ispublic", "commentpublic") == "true"
	if one != nil && open && slices.ContainsFunc(said, func(c wording.Clause) bool { return c.Phrase == besidesComment }) {
		one.undo = operation.Irreversible
	}
	if one == nil || len(said) == 0 || said[0].Phrase != commentsOn {
		return
	}
	if one.undo == operation.Irreversible && !open {
		one.undo = operation.Partial
	}
	if one.reach == operation.ReachPublic {
		one.reach = operation.ReachShared
	}
}

// mirrored describes a copy that also deletes what it does not bring as one operation,
// whichever part is the worst. It returns nil if said is no part of such a copy.
func (o *operations) mirrored(said wording.Sentence) wording.Sentence {
	to := mirror(said)
	if to == "" {
		return nil
	}
	var copies *wording.Clause
	deletes := false
	for i := range o.list {
		switch c := o.list[i].said; {
		case mirror(c) != to:
		case c[0].Phrase != copying:
			deletes = true
		case copies == nil || c[0].String() == said[0].String():
			copies = &c[0]
		}
	}
	if copies == nil || !deletes {
		return nil
	}
	return wording.Sentence{*copies, wording.Say("and deletes everything else there")}
}

const copying = "copies %s to %s"

// mirror returns where an operation copies to, or where it deletes what a copy does not bring,
// "" if it does neither.
func mirror(said wording.Sentence) string {
	switch {
	case len(said) == 0:
		return ""
	case said[0].Phrase == copying:
		return said[0].Args[1].Text
	case strings.HasPrefix(string(said[0].Phrase), "deletes what %s has besides"):
		return said[0].Args[0].Text
	}
	return ""
}

// addressed reports whether an operation only says that local data stands in the address of a request
// that another one names.
func (o *operations) addressed(c *one) bool {
	return len(c.said) > 0 && c.said[0].Phrase == "sends local data inside the address %s" && slices.ContainsFunc(o.list, func(r one) bool {
		return len(r.said) > 0 && r.said[0].Phrase == "sends a %s request to %s" && r.said[0].Args[1].Text == c.said[0].Args[0].Text
	})
}

// sent reports whether an operation only says that secrets in a file are shown or read, and another one that the file is
// sent.
func (o *operations) sent(c *one) bool {
	what := act(c.said).String()
	file, shows := strings.CutPrefix(what, "shows the secrets in ")
	if !shows {
		file, shows = strings.CutPrefix(what, "reads the secrets in ")
	}
	return shows && slices.ContainsFunc(o.list, func(r one) bool {
		return r.kind == operation.KindSend && len(r.said) > 0 && len(r.said[0].Args) == 2 && strings.HasSuffix(" "+r.said[0].Args[0].String(), " "+file)
	})
}

// overlooked marks what could not be read of a text that is given to a tool: the tool's name says more.
func (c *call) overlooked(o *operations) {
	does, _, _ := c.verb()
	named := c.command == "" || does != nil && !does.Runs
	for i := range o.list {
		e := &o.list[i]
		e.unread = named && e.kind == operation.KindUnknown && len(e.said) > 0 && strings.HasPrefix(string(e.said[0].Phrase), "could not be read: %s")
	}
}

// ways marks through what a program works as a manner, if what it does there is asked about
// and cannot be undone, that an address holds local data, and that a program copies what a database holds.
func (o *operations) ways() {
	way := func(c *one) bool {
		return c.says("makes %s talk through %s", "gives a container the folder %s of the host")
	}
	program := slices.ContainsFunc(o.list, func(c one) bool { return c.says("runs the program %s by SQL in %s") })
	final := slices.ContainsFunc(o.list, func(c one) bool { return !way(&c) && c.undo == operation.Irreversible && c.score < o.asked })
	for i := range o.list {
		c := &o.list[i]
		c.manner = c.manner || final && way(c) || program && c.says("copies data in or out of %s") || o.addressed(c) || o.sent(c)
	}
}

// says reports whether what is said of it begins with one of these phrases.
func (o *one) says(phrases ...wording.Phrase) bool {
	return len(o.said) > 0 && slices.Contains(phrases, o.said[0].Phrase)
}

// alike reports whether two operations weigh as much, or are both asked about, or told because others see what
// they delete, and can be undone as well as each other: then only their objects lie in different places.
func (o *operations) alike(c, one *one) bool {
	told := c.score < o.asked || c.lasts()
	return c.weighs(one) || one.score < o.asked && told && c.isThing() && c.stands <= 1 && !c.guessed && c.undo == one.undo && c.kind == one.kind
}

// weighs reports whether an operation stands for itself and weighs as much as another.
func (o *one) weighs(other *one) bool {
	return o.stands <= 1 && !o.guessed && o.score == other.score && o.weight() == other.weight()
}

// differing returns the index at which two lists differ, or -1 if that is not exactly one.
func differing(a, b []string) int {
	at := -1
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// within reports whether another operation already covers this one: it deletes the files
// below a folder that this one deletes from, deletes the file that this one writes before,
// or does the same on another machine.
func (o one) within(all one) bool {
	below, what := act(all.said), act(o.said)
	if len(below) == 0 || len(what) == 0 || o.weight() > all.weight() || o.score < all.score {
		return false
	}
	return there(below, what) || found(below, what) || again(below, what) || deleted(below, what)
}

// deleted reports whether what a sentence deletes covers what the other one says: the files
// below a folder, or the file that is written before.
func deleted(below, what wording.Sentence) bool {
	if len(below) < 2 || len(what) < 2 {
		return false
	}
	folder, name := path.Clean(below[1].Text), path.Clean(what[1].Text)
	switch does := string(below[0].Phrase); {
	case does == "deletes" && what[0].Phrase == "writes":
		return folder == name
	default:
		return strings.HasPrefix(does, "deletes files ") && what[0].Phrase == "deletes" && isBelow(folder, name)
	}
}

// below rewrites the deletion of what a search finds as one of files below the folder where
// the search starts: no more is known about them, and no more need be read.
func (o *one) below() {
	what := act(o.said)
	if len(what) < 2 || what[0].Phrase != "deletes" {
		return
	}
	folder, name, found := strings.Cut(what[1].Text, "/$(find)")
	if found && folder != "" && !strings.ContainsAny(folder, "$`") && !strings.Contains(name, "..") {
		does := wording.Clause{Phrase: "deletes files below"}
		if named := sifted(name); named != "" {
			does = wording.Say("deletes files named %s below", named)
		}
		o.said, o.guessed = wording.Sentence{does, {Text: folder}}, false
	}
}

// filesBelow stands for the files that a search finds below a folder, filesNamed for those that have a name.
const (
	filesBelow wording.Phrase = "files below %s"
	filesNamed wording.Phrase = "files named %s below %s"
)

// sifted returns by which pattern of names a search finds files, if what follows its folder says that.
func sifted(rest string) string {
	if name := strings.TrimPrefix(rest, "/"); name != "*" && !strings.ContainsAny(name, "/$ ") {
		return name
	}
	return ""
}

// sought describes what a search finds as files below the folder where the search starts:
// which ones is known only when it runs.
func sought(said wording.Sentence) wording.Sentence {
	said = slices.Clone(said)
	for i := range said {
		c := &said[i]
		folder, rest, found := strings.Cut(c.Text, "/$(find)")
		found = found && !strings.Contains(rest, "..")
		_, others, _ := strings.Cut(rest, ", ")
		among := func(name string) bool { return strings.HasPrefix(name, folder+"/") }
		if found && (others == "" || !slices.ContainsFunc(strings.Split(others, ", "), func(name string) bool { return !among(name) })) {
			*c = wording.Say(filesBelow, cmp.Or(folder, "/"))
			if name := sifted(rest); name != "" {
				*c = wording.Say(filesNamed, name, cmp.Or(folder, "/"))
			}
		}
		c.Args = sought(c.Args)
	}
	return said
}

// there reports whether the same is done, on another machine instead of here or with more
// said of the thing.
func there(all, what wording.Sentence) bool {
	at := len(what)
	return at > 0 && len(all) == at+1 && (all[at].Phrase == "on %s" || strings.HasPrefix(string(all[at].Phrase), ", which")) && all[:at].String() == what.String()
}

// again reports whether it is the same once more, as another reader of the call has it.
func again(all, what wording.Sentence) bool {
	switch [2]wording.Phrase{all[0].Phrase, what[0].Phrase} {
	case [2]wording.Phrase{"edits", "edits files in place"}:
		return true
	case [2]wording.Phrase{"reads the secrets in %s", "shows the secrets in %s"}, [2]wording.Phrase{"moves %s to %s", "moves %s away from where it lies"}:
		return all[0].Args[0].Text == what[0].Args[0].Text
	default:
		return false
	}
}

// found reports whether something is done to a file that is also done to everything that a
// search finds below a folder, to which the file, or the folder itself, may belong.
func found(all, file wording.Sentence) bool {
	if len(file) == 0 || file[0].Phrase != all[0].Phrase {
		return false
	}
	all, file = slices.Concat(all[1:], all[0].Args), slices.Concat(file[1:], file[0].Args)
	if len(all) == 0 || len(all) != len(file) || all[0].Phrase != filesBelow && all[0].Phrase != filesNamed || file[0].Text == "" {
		return false
	}
	return isBelow(path.Clean(all[0].Args[len(all[0].Args)-1].Text), path.Clean(file[0].Text)) && slices.EqualFunc(all[1:], file[1:],
		func(a, b wording.Clause) bool { return a.Text == b.Text })
}

// isBelow reports whether a clean path is the folder or lies below it.
func isBelow(folder, name string) bool {
	if folder == "." {
		return !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
	}
	return place.Inside([]string{folder}, name)
}

// precedes reports whether an operation is a change that another one only makes take effect.
func (o *one) precedes(after *one, asked float64) bool {
	if o.holds() {
		later := o.kind == operation.KindSchedule && undoRank(o.undo) >= undoRank(after.undo) // what the table has run
		return !after.holds() && (later || o.weight() >= after.weight() && o.score <= after.score)
	}
	return after.follows() && !o.follows() && o.told(true) && max(o.score, after.score) < asked && o.weight() == after.weight()
}

// holds reports whether all else that the same command does is a part of it.
func (o *one) holds() bool {
	return o.kind == operation.KindDelete && o.does("verbs hold") || o.kind == operation.KindSchedule && o.says("adds to the crontab")
}

// does reports whether its sentence begins with a verb of the list.
func (o *one) does(list string) bool {
	return len(o.said) > 0 && slices.ContainsFunc(spoken.List(list), func(verb string) bool {
		return strings.HasPrefix(string(o.said[0].Phrase), verb+" ")
	})
}

// follows reports whether it only makes what was changed before take effect, or lets another one do so.
func (o *one) follows() bool {
	return slices.Contains([]operation.Kind{operation.KindInfrastructure, operation.KindPeople}, o.kind) && o.does("verbs follow")
}
