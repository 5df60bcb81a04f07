package headline

import (
	"path"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/wording"
)

// reachFrom is whom a thing touches that is done in the folder cwd, as a person
// says it. The judge grades by kinds, and weighs every file outside as much as the
// system's, and every request as one to a service that others use.
func (o *one) reachFrom(cwd string) operation.Reach {
	switch {
	case o.kind == operation.KindDatabase && o.reach == operation.ReachPublic:
		return operation.ReachShared // It stays where it is, whoever uses it.
	case o.kind == operation.KindSend && o.reach == operation.ReachShared && anyThing(o.said, outside):
		return operation.ReachPublic
	case o.ofFiles() && o.reach == operation.ReachSystem && !anyThing(o.said, func(file string) bool { return ofMachine(file, cwd) }):
		return operation.ReachUser
	default:
		return o.reach
	}
}

// ofFiles reports whether it changes files, and nothing else of the machine.
func (o *one) ofFiles() bool {
	switch o.kind {
	case operation.KindCreate, operation.KindOverwrite, operation.KindDelete, operation.KindMove:
		return true
	default:
		return false
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

// places is what is known of paths on every machine.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var places = sync.OnceValues(func() (*place.Table, error) { return place.Load("", false) })

// ofMachine reports whether a path, as seen from the folder cwd, is not plainly
// that of files which the machine runs without.
func ofMachine(file, cwd string) bool {
	table, err := places()
	if at := strings.IndexAny(file, "*?["); at >= 0 {
		file = file[:strings.LastIndexByte(file[:at], '/')+1]
	}
	if !path.IsAbs(file) {
		file = path.Join(cwd, file)
	}
	if err != nil || !path.IsAbs(file) || strings.ContainsAny(file, "${~⟨‹") {
		return true
	}
	file = place.Clean(file)
	return table.TreeAt(file) != place.NoTree || table.Classes(file)&^place.Plain != 0 || table.Below(file)&^place.Plain != 0
}
