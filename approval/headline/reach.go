package headline

import (
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// touches is whom a thing touches, as a person
// says it. The judge grades by kinds, and weighs every request as one to a service
// that others use.
func (o *one) touches() operation.Reach {
	switch {
	case o.kind == operation.KindDatabase && o.reach == operation.ReachPublic:
		return operation.ReachShared // It stays where it is, whoever uses it.
	case (o.kind == operation.KindSend || o.kind == operation.KindDelete) && o.reach == operation.ReachShared && anyThing(o.said, outside):
		return operation.ReachPublic
	default:
		return o.reach
	}
}

// anyThing reports whether one of the things that a sentence is about is such. One
// that is about nothing is taken to be.
func anyThing(s wording.Sentence, such func(string) bool) bool {
	things := 0
	var search func(wording.Sentence) bool
	search = func(s wording.Sentence) bool {
		for i := range s {
			if s[i].Text != "" {
				things++
			}
			if s[i].Text != "" && such(s[i].Text) || search(s[i].Args) {
				return true
			}
		}
		return false
	}
	return search(s) || things == 0
}

// outside reports whether a text names an address of the web that is not this
// machine's. Those of stores, as s3://, are of a service that one has chosen.
func outside(text string) bool {
	at := strings.Index(strings.ToLower(text), "http")
	return at >= 0 && strings.Contains(text[at:], "://") && !hosts.Loopback(hosts.Of(text[at:]))
}
