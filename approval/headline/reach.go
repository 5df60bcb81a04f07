package headline

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// touches returns whom an operation touches, in the sense a person gives it. The judge
// grades by kind and treats every request as one to a service that others use.
func (o *one) touches() operation.Reach {
	switch {
	case o.kind == operation.KindDatabase && o.reach == operation.ReachPublic:
		return operation.ReachShared // it stays where it is, whoever uses it
	case o.kind == operation.KindSend && o.reach == operation.ReachPublic && o.nearby():
		return operation.ReachShared
	case o.reach != operation.ReachShared:
		return o.reach
	case o.leaves():
		return operation.ReachPublic
	default:
		return o.reach
	}
}

// nearby reports whether something is copied to a machine that is named by an address, or in a domain, of a private network.
func (o *one) nearby() bool {
	if len(o.said) == 0 || len(o.said[0].Args) < 2 || !strings.HasSuffix(string(o.said[0].Phrase), " to %s") {
		return false
	}
	machine, _, ok := strings.Cut(o.said[0].Args[len(o.said[0].Args)-1].Text, ":")
	machine = machine[strings.LastIndexByte(machine, '@')+1:]
	return ok && strings.Contains(machine, ".") && hosts.Internal(machine) // a name without a dot may be an alias of anything
}

// leaves reports whether something goes to the outside. If the destination of what is sent
// is unknown, it is assumed to.
func (o *one) leaves() bool {
	switch o.kind {
	case operation.KindSend:
		return anyThing(o.said, outside) || anyThing(o.said, unread) || !anyThing(o.said, anything)
	case operation.KindDelete:
		return len(o.said) > 0 && o.said[0].Phrase == asks && anyThing(o.said, outside)
	default:
		return false
	}
}

// here reports whether what a call names is known to be in the workspace. Where a server's
// tool keeps what a relative path names is unknown, except for servers that work on the
// client's files.
func (c *call) here(cwd string) bool {
	if c.server == 0 || slices.ContainsFunc(c.words[:c.server], func(w string) bool { return spoken.Is("files names", w) }) {
		return true
	}
	for _, values := range c.args {
		if slices.ContainsFunc(values, func(s string) bool { return cwd != "" && place.Inside([]string{cwd}, s) }) {
			return true
		}
	}
	return false
}

// anyThing reports whether such holds for anything that the sentence is about.
func anyThing(s wording.Sentence, such func(string) bool) bool {
	return slices.ContainsFunc(s, func(c wording.Clause) bool {
		return c.Text != "" && such(c.Text) || anyThing(c.Args, such)
	})
}

// anything reports true for everything.
func anything(string) bool { return true }

// places says what lies at a path, going by the path alone.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var places = sync.OnceValue(func() *place.Table {
	t, err := place.Load("", false)
	if err != nil {
		panic(err) // it is built in, and a test loads it
	}
	return t
})

// machines reports whether a text is the path of something that the whole machine depends
// on.
func machines(text string) bool {
	return strings.HasPrefix(text, "/") && reading.HomeOf(text) == "" && places().Classes(path.Clean(text))&^place.Plain != 0
}

// elsewhere reports whether a temporary file, or one in a folder that is not known, is among
// what matters as much as the worst. It is graded as one of the workspace.
func (o *operations) elsewhere(worst *one) bool {
	return slices.ContainsFunc(o.list, func(e one) bool {
		return e.changes() && e.score <= worst.score && (slices.ContainsFunc(e.said, astray) || anyThing(e.said, func(text string) bool {
			return strings.HasPrefix(text, "/") && places().Classes(path.Clean(text))&place.Temporary != 0
		}))
	})
}

// astray reports whether a clause says that nobody knows in which folder something is done.
func astray(c wording.Clause) bool { return c.Phrase == wording.Somewhere }

// unread reports whether a text stands for something known only when the command runs, such
// as its standard input.
func unread(text string) bool { return strings.HasPrefix(text, "$(") || text == "-" }

// unread reports whether the headline of a command names something known only when it runs.
func (c *call) unread(h *Headline) bool {
	return h.Consequence.Undo != "" && c.command != "" && anyThing(h.Said, unread)
}

// outside reports whether a text names a web address that is neither on this machine nor in its
// private networks. Store addresses such as s3:// belong to a service that the user has chosen.
func outside(text string) bool {
	text = strings.ToLower(text)
	for _, scheme := range []string{"http", "ftp"} {
		if at := strings.Index(text, scheme); at >= 0 && strings.Contains(text[at:], "://") {
			return !hosts.Internal(hosts.Of(text[at:]))
		}
	}
	return false
}

// listedAt returns the thing that the values of an argument name if its key is on one of the lists. sure
// says that this key goes before all others.
func listedAt(list, key string, values []string) (found wording.Clause, sure bool) {
	if spoken.Is(list+" bare", key) {
		return named(values), true
	}
	if to := above.FindStringSubmatch(key); to != nil && list == "targets" {
		if at := spoken.ThingAt(to[2]); at != nil {
			return wording.Clause{Phrase: at.One, Args: []wording.Clause{named(values)}}, true
		}
		return named(values), to[1] != "" && (to[2] == "" || to[2] == "id")
	}
	thing := spoken.ThingAt(key)
	stem, held := strings.CutPrefix(key, "parent")
	if held && list == "places" {
		thing = spoken.ThingAt(stem)
	}
	if thing == nil || !held && !spoken.Is(list+" named", key) {
		return wording.Clause{}, false
	}
	return wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(values)}}, false
}

// deployed says where a tool deploys to, by its name or an argument, if nothing says what.
func (c *call) deployed() wording.Sentence {
	where := c.first("environment", "env", "target", "stage")
	if at := slices.Index(c.words, "to"); at >= 0 {
		where = strings.Join(c.words[at+1:], " ")
	}
	if where == "" {
		return c.told(wording.Sentence{{Phrase: "deploys by the tool %s", Args: []wording.Clause{c.tool()}}})
	}
	told := slices.DeleteFunc(c.details(mostNamed, titleKey, idKey, otherKey), func(s wording.Clause) bool { return s.Text == where })
	return append(wording.Sentence{wording.Say("deploys to %s", where)}, bracketed(told)...)
}

// putInto says what goes into the thing of which alone a name speaks, by the only address or text that can be it:
// "adds spotify:track:7 to the queue".
func (c *call) putInto(t *toolName) wording.Sentence {
	into, _, _ := spoken.ThingOf(t.others)
	_, at, n := c.verb()
	bare := at+n < len(c.words) && joins(c.words[at+n]) == t.with
	what := slices.DeleteFunc(slices.Clone(c.keys), func(k string) bool { return !spoken.IsEnd("things-that put", k) || c.first(k) == "" })
	if t.act == nil || !bare || into == nil || len(what) != 1 {
		return nil
	}
	to := c.spokenOf(t)
	if to == nil {
		to = &wording.Clause{Phrase: into.One}
	}
	return wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{named(c.args[what[0]])}}, {Phrase: t.with, Args: []wording.Clause{*to}}}
}
