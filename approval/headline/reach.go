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

// touches is whom a thing touches, as a person
// says it. The judge grades by kinds, and weighs every request as one to a service
// that others use.
func (o *one) touches() operation.Reach {
	switch {
	case o.kind == operation.KindDatabase && o.reach == operation.ReachPublic:
		return operation.ReachShared // It stays where it is, whoever uses it.
	case o.reach != operation.ReachShared:
		return o.reach
	case o.leaves():
		return operation.ReachPublic
	default:
		return o.reach
	}
}

// leaves reports whether a thing goes to the outside, as what is sent nobody knows where
// is taken to do.
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

// here reports whether it is known of what a call names that it lies in the workspace:
// where a tool of a server keeps what it names by a relative path, nobody knows but of
// servers that work on the client's files.
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

// anyThing reports whether one of the things that a sentence is about is such.
func anyThing(s wording.Sentence, such func(string) bool) bool {
	return slices.ContainsFunc(s, func(c wording.Clause) bool {
		return c.Text != "" && such(c.Text) || anyThing(c.Args, such)
	})
}

// anything reports true of every thing.
func anything(string) bool { return true }

// places are where things lie by their paths alone.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var places = sync.OnceValue(func() *place.Table {
	t, err := place.Load("", false)
	if err != nil {
		panic(err) // It is built in, and a test reads it.
	}
	return t
})

// machines reports whether a text is a path at which something lies that the whole
// machine goes by.
func machines(text string) bool {
	return strings.HasPrefix(text, "/") && reading.HomeOf(text) == "" && places().Classes(path.Clean(text))&^place.Plain != 0
}

// unread reports whether a text is the place of one that is only known when it runs, as what
// a command is given as its input.
func unread(text string) bool { return strings.HasPrefix(text, "$(") || text == "-" }

// unread reports whether the headline of a command names a thing that is only known when
// it runs.
func (c *call) unread(h *Headline) bool {
	return h.Consequence.Undo != "" && c.command != "" && anyThing(h.Said, unread)
}

// outside reports whether a text names an address of the web that is not this
// machine's. Those of stores, as s3://, are of a service that one has chosen.
func outside(text string) bool {
	at := strings.Index(strings.ToLower(text), "http")
	return at >= 0 && strings.Contains(text[at:], "://") && !hosts.Loopback(hosts.Of(text[at:]))
}
