package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// use is how a tool may use a text in args.
type use uint8

const (
	asAny  use = iota
	asPath     // under a key that names a path
	asGoal     // under a key that names a destination
	asData     // content, which is not opened
	asGlob     // a pattern of names
)

// useOf returns the use of a key with these roles.
func useOf(role reading.Role) use {
	switch {
	case role&reading.RoleGoal != 0:
		return asGoal
	case role&reading.RoleGlob != 0:
		return asGlob
	case role&reading.RoleData != 0:
		return asData
	case role&(reading.RolePath|reading.RoleSource|reading.RoleNamed) != 0:
		return asPath
	default:
		return asAny
	}
}

// tryPlace records the first structural rule that a path breaks.
func (s *scan) tryPlace(t text, where string) {
	if d := &s.rd.Deed; s.found == nil && t.use != asData && !t.key && !t.command && !d.Lists && (!d.Greps || t.use == asPath) {
		s.found = s.placeRule(t, where)
	}
}

// placeRule returns the rule that a clean path in a tool's arguments breaks.
func (s *scan) placeRule(t text, where string) *rule {
	if t.use == asAny && strings.ContainsAny(where, " \t\n") {
		return nil
	}
	where = place.Globbed(where)
	if s.rd.Deed.Verb == operation.Permit {
		return s.modeRule(where)
	}
	d := s.deedTo(t)
	id := s.g.ruleAt(d, where)
	if s.mayReachOwn(t, d, where) {
		s.t.doubts() // by names that nobody tells
	}
	if id == adminRule && slices.ContainsFunc(s.bases, func(b base) bool { return b.inRoot }) {
		return nil
	}
	return s.g.ruleOf(id)
}

// mayReachOwn reports whether a deed to a folder may change something of vaglio's in it: by removing it, putting another in its place, or unpacking into it.
func (s *scan) mayReachOwn(t text, d deed, where string) bool {
	unpacks := t.use == asGoal && wordclass.Any("tool-unpacks", s.rd.Words)
	puts := t.use == asGoal && (s.rd.Deed.Verb == operation.Move || s.rd.Deed.Verb == operation.Copy)
	return (takesAll(d) || puts) && s.g.holdsLocal(where) || unpacks && (s.g.ownIn(where) != "" || s.g.ownBelow(where))
}

// deedTo returns what a tool does to a text in its arguments.
func (s *scan) deedTo(t text) deed {
	does, d := &s.rd.Deed, place.Uses
	switch does.Verb {
	case operation.Write:
		d = place.Writes
	case operation.Delete:
		d = place.Empties
	case operation.Move, operation.Copy:
		if t.use == asGoal {
			return place.Writes
		}
		if d = place.Empties; does.Verb == operation.Copy {
			return place.Copies // perhaps of a folder
		}
	default:
	}
	if takesAll(d) && !does.Local && (does.Remote || t.use != asPath) {
		return place.Uses
	}
	return d
}

func (s *scan) modeRule(where string) *rule {
	if s.g.treeAt(where) != "" {
		return s.g.ruleOf(modeTree)
	}
	switch id := s.g.ruleAt(place.Writes, where); id {
	case authWrite, keyRule:
		return s.g.ruleOf(id)
	default:
		return nil
	}
}

// look starts the examination of something without a command line.
func (s *scan) look() *look {
	return &look{g: s.g, s: &survey{g: s.g, script: &shell.Script{}, t: &s.t}, c: &shell.Command{}}
}

// operations checks what a tool does to processes, services and packages, and which addresses it uses.
func (s *scan) operations() *rule {
	var l *look // shared, so that later operations know of earlier ones
	for i := range s.rd.Operations {
		if l == nil {
			l = s.look()
		}
		if r := s.g.ruleOf(l.operation(&s.rd.Operations[i])); r != nil {
			return r
		}
	}
	if s.asksGate() {
		return s.g.ruleOf(ownCommand)
	}
	return nil
}

// asksGate reports whether a tool is given the gate's address: as a URL or, if it may fetch or runs unreadable code, as a text under any key.
func (s *scan) asksGate() bool {
	for _, u := range s.rd.URLs {
		switch {
		case s.g.itself.Answers(u.Text):
			return true
		case s.g.itself.MayAnswer(u.Text):
			s.t.doubts()
		}
	}
	return s.namesGate()
}

// namesGate reports whether a text names the gate's address where a tool fetches from it, or runs what it says.
func (s *scan) namesGate() bool {
	does, runs := &s.rd.Deed, s.rd.Runs && len(s.rd.Commands) == 0
	fetches := !does.Local && !does.Greps && !does.Lists && slices.Contains([]operation.Verb{operation.Use, operation.Read}, does.Verb)
	return slices.ContainsFunc(s.texts, func(t text) bool {
		told := fetches && strings.Contains(t.s, "/") && !strings.ContainsAny(t.s, " \n") || runs && t.use != asData
		return told && !t.key && s.g.itself.Answers(t.s)
	})
}

// statements checks the database statements that a tool sends.
func (s *scan) statements() *rule {
	for i := range s.rd.Statements {
		l := s.look()
		for _, line := range s.g.base.LinesRun(s.rd.Statements[i].Text) {
			if r := s.g.ruleOf(l.lineRule(line)); r != nil {
				return r
			}
		}
		for _, name := range s.g.base.FilesRead(s.rd.Statements[i].Text) {
			if place.IsMeant(name) {
				if r := s.g.ruleOf(l.touch(place.Reads, name)); r != nil {
					return r
				}
			}
		}
	}
	return nil
}
