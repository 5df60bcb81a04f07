package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell/word"
)

// maxAlternatives limits how many values of a variable are followed.
const maxAlternatives = 8

// entry is one name in a [state]. Entries are never changed, only replaced.
type entry struct {
	vals   []Word   // the alternatives of a scalar; none when unset
	list   []Word   // the elements of an array
	others []*entry // the arrays that it may also be
	opaque bool     // the index of each element is not known, but for the first, which are sure
	sure   int
	isList bool
	maybe  bool // the name may also be unset, or a function undefined
	unset  bool // the name is known to be unset
	ref    string
	lower  bool
	upper  bool
	ints   bool
	fixed  bool        // readonly: to set it again may fail
	bodies []*function // the bodies that the name may run as a function
	// level is the shell that set the name; exported says that child shells see it, inherited that whoever runs the source may have exported it.
	level     int
	exported  bool
	inherited bool
	from      *Sourced // the file that set it, or the value that it was set to, if one did
}

// hasValue reports whether the name is, or may be, a scalar with a value.
func (e *entry) hasValue() bool { return e != nil && len(e.vals) > 0 }

// state is what a shell remembers, in one key space. While a mark is outstanding, changes are journaled: branches and subshells cost what they change.
type state struct {
	names map[string]*entry
	given func(name string) (string, bool) // the variables that the shell was started with
	wrote bool                             // it has remembered the content of a file

	paths, called []string // what written returns, and those of it that [Tasks.IsCalled] names; nil until asked for
	journal       []undo
	exits         []*exit // of what is being read
	marks, level  int     // how many are outstanding, and how many shells deep it is
}

type undo struct {
	key string
	old *entry
}

// Keys other than variables have a prefix that no variable name can have.
const (
	keyFunc  = "()"
	keyAlias = "a "
	keyFD    = "fd "
	keyTo    = "to " // the file that a descriptor writes to
	keyFile  = "f "
	// keyAdded marks the paths of files with unknown content to which the source added the content under keyFile.
	keyAdded = "added "
	// keyTyped is the line that was typed into a terminal so far.
	keyTyped = "typed "
	keyCwd   = "cwd "
	keyPrev  = "oldcwd "
	keyStack = "dirs "
	keyHash  = "hash "
	keyArgs  = "@"
	// keyOut holds what the substitution that is being read may have written so far, keyReturned what
	// it may have written before it returned: one value for each way through it.
	keyOut      = "out "
	keyReturned = "returned "
	keyZero     = "$0 "
)

func (r *reader) cwd() Word { return r.folder(keyCwd, "PWD") }

func (r *reader) prevCwd() Word { return r.folder(keyPrev, "OLDPWD") }

// freshCwd forgets the current folder: another machine has its own.
func (r *reader) freshCwd() { r.st.set(keyCwd, word.NotEmpty("PWD")) }

// entry returns what is known of a key, whichever shell set it. Most variables that a shell starts with are never asked for: each gets its entry then.
func (s *state) entry(key string) *entry {
	e, known := s.names[key]
	if known {
		return e
	}
	if value, ok := s.given(key); ok {
		e = single(Text(value))
		e.exported, e.level = true, 1
		s.names[key] = e
	}
	return e
}

// get returns the entry of a key as the current shell sees it; nil if nothing is known of it.
func (s *state) get(key string) *entry {
	e := s.entry(key)
	if e == nil || e.level >= s.level || e.exported {
		return e
	}
	switch {
	case strings.HasPrefix(key, keyFunc) || strings.HasPrefix(key, keyAlias) || strings.HasPrefix(key, keyHash):
		return nil
	case strings.Contains(key, " ") || key == keyArgs:
		return e
	case !e.inherited || e.isList || e.unset:
		return &entry{unset: true, level: s.level}
	}
	return &entry{vals: addAlternative(slices.Clone(e.vals), Word{}), level: s.level, maybe: true}
}

// written returns the names of the written files in order. Each command asks for them, and few write any.
func (s *state) written() []string {
	if s.wrote && s.paths == nil {
		s.paths = []string{}
		for key, e := range s.names {
			if name, ok := strings.CutPrefix(key, keyFile); ok && len(e.vals) == 1 && !e.maybe && !strings.HasPrefix(name, "/dev/") {
				s.paths = append(s.paths, name)
			}
		}
		slices.Sort(s.paths)
	}
	return s.paths
}

// files returns the files that were written, with their content.
func (s *state) files() map[string]Word {
	out := map[string]Word{}
	for _, name := range s.written() {
		out[name] = s.names[keyFile+name].vals[0]
		if s.names[keyAdded+name].hasValue() {
			out[name] = Glue(NewWord(Part{Kind: PartUnknown, File: name, MayBeEmpty: true}), out[name])
		}
	}
	return out
}

func (s *state) put(key string, e *entry) {
	if e != nil && e.level == 0 {
		e.level = s.level
	}
	if s.marks > 0 {
		s.journal = append(s.journal, undo{key, s.entry(key)})
	}
	s.write(key, e)
}

func (s *state) write(key string, e *entry) {
	if strings.HasPrefix(key, keyFile) {
		s.wrote, s.paths, s.called = true, nil, nil
	}
	if _, given := s.given(key); e == nil && !given {
		delete(s.names, key)
		return
	}
	s.names[key] = e
}

func (s *state) set(key string, w Word) { s.put(key, single(w)) }

// mark starts a section that can be rolled back. It must be ended by keep or rollback, in reverse order of the marks.
func (s *state) mark() int {
	s.marks++
	return len(s.journal)
}

// keep ends a section and keeps its changes.
func (s *state) keep() {
	s.marks--
	if s.marks == 0 {
		s.journal = s.journal[:0]
	}
}

// change holds the new entry of each name that a section touched.
type change map[string]*entry

// rollback ends a section, undoes its changes and returns them.
func (s *state) rollback(mark int) (diff change) {
	for i := len(s.journal) - 1; i >= mark; i-- {
		u := s.journal[i]
		if diff == nil {
			diff = make(change)
		}
		if _, seen := diff[u.key]; !seen {
			diff[u.key] = s.entry(u.key)
		}
		s.write(u.key, u.old)
	}
	s.journal = s.journal[:mark]
	s.marks--
	for _, e := range s.exits {
		e.seen = min(e.seen, mark)
	}
	return diff
}

// since returns what was changed since a mark that may be left early, except for the output.
func (s *state) since(e *exit) change {
	if e.keys == nil {
		e.keys = map[string]bool{}
	}
	for _, u := range s.journal[e.seen:] {
		if u.key != keyOut && u.key != keyReturned {
			e.keys[u.key] = true
		}
	}
	e.seen = len(s.journal)
	diff := make(change, len(e.keys))
	for key := range e.keys {
		diff[key] = s.entry(key)
	}
	return diff
}

// covers reports whether an entry stands for another, too.
func (e *entry) covers(o *entry) bool {
	if e == nil || o == nil || o.bodies != nil {
		return e == o || o == nil || o.bodies != nil
	}
	in := func(list []Word) func(Word) bool {
		return func(w Word) bool { return !slices.ContainsFunc(list, w.Equal) }
	}
	if !e.isList && !o.isList {
		return !slices.ContainsFunc(o.vals, in(e.vals))
	}
	known := e.arrays()
	return !slices.ContainsFunc(o.arrays(), func(o *entry) bool {
		return !slices.ContainsFunc(known, func(e *entry) bool { return o.sameArray(e) || e.opaque && !slices.ContainsFunc(o.list, in(e.list)) })
	})
}

// widen makes the values of some names unknown, besides what they may be: those of counters a number.
func (s *state) widen(keys []string) {
	for _, key := range keys {
		old := s.entry(key)
		if old == nil {
			continue
		}
		e := *old
		switch {
		case key == keyCwd:
			e.vals = either(e.vals, []Word{word.NotEmpty("PWD")})
		case e.isList:
			e = entry{isList: true, list: []Word{word.Unknown("")}, opaque: true, exported: e.exported}
		case !slices.ContainsFunc(e.vals, isNoNumber):
			e.vals = []Word{NewWord(Part{Kind: PartUnknown, Level: true})}
		case slices.ContainsFunc(e.vals, Word.MayBeEmpty):
			e.vals = either(e.vals, []Word{word.Unknown("")})
		default:
			e.vals = either(e.vals, []Word{word.NotEmpty("")})
		}
		s.put(key, &e)
	}
}

// isNoNumber reports whether a word may be anything but a whole number.
func isNoNumber(w Word) bool {
	s, known := w.Text()
	_, err := strconv.Atoi(s)
	part, only := w.Only()
	return (!known || err != nil) && (!only || !part.Level)
}

// ofFile reports whether a key is about the content of a file.
func ofFile(key string) bool {
	return strings.HasPrefix(key, keyFile) || strings.HasPrefix(key, keyAdded)
}

// rollbackButFiles ends a section like rollback, but keeps the contents of files, which outlive the shell that wrote them.
func (s *state) rollbackButFiles(mark int) {
	for key, e := range s.rollback(mark) {
		if ofFile(key) {
			s.put(key, e)
		}
	}
}

// join replaces each name that some branch touched by the union of what the branches leave. A branch that did not touch the name leaves it as it is.
func (s *state) join(branches ...change) {
	if len(branches) == 1 {
		for key, e := range branches[0] {
			s.put(key, e)
		}
		return
	}
	// Only the branches that touched a name are considered for it, so that a long chain of branches costs no more than its changes.
	touched := make(map[string][]branchEntry)
	for i, b := range branches {
		for key, e := range b {
			touched[key] = append(touched[key], branchEntry{i, e})
		}
	}
	for key, list := range touched {
		s.put(key, joinEntries(key, s.entry(key), list, len(branches)))
	}
}

// branchEntry is what one branch left under a name.
type branchEntry struct {
	branch int
	e      *entry
}

// joinEntries returns the union of what n branches leave under a name. Branches that are not listed leave the old entry.
func joinEntries(key string, old *entry, list []branchEntry, n int) *entry {
	if len(list) < n {
		gap := 0
		for gap < len(list) && list[gap].branch == gap {
			gap++
		}
		list = slices.Insert(list, gap, branchEntry{gap, old})
	}
	merged := list[0].e
	for _, b := range list[1:] {
		merged = union(key, merged, b.e)
	}
	return merged
}

// union returns the entry that stands for either of two.
func union(key string, a, b *entry) *entry {
	switch {
	case a == b:
		return a
	case a == nil:
		return orNone(key, *b)
	case b == nil:
		return orNone(key, *a)
	case a.bodies != nil || b.bodies != nil:
		return &entry{bodies: append(slices.Clone(a.bodies), b.bodies...), maybe: a.maybe || b.maybe}
	}
	u := attributes(a, b)
	if a.isList || b.isList {
		return u.ofLists(key, a, b)
	}
	u.vals = either(a.vals, b.vals)
	if a.unset != b.unset {
		u.vals = addAlternative(u.vals, Word{})
	}
	return u
}

// ofLists makes e the array that stands for either of two.
func (e *entry) ofLists(key string, a, b *entry) *entry {
	all := a.arrays()
	for _, o := range b.arrays() {
		if !slices.ContainsFunc(all, o.sameArray) {
			all = append(all, o)
		}
	}
	first := *all[0]
	e.isList, e.list, e.opaque, e.sure, e.others = true, first.list, first.opaque, first.sure, all[1:]
	if len(all) <= maxAlternatives {
		return e
	}
	for _, o := range e.others {
		e.list = append(slices.Clip(e.list), o.list...)
	}
	e.opaque, e.sure, e.others = true, 0, nil
	if len(e.list) > maxFields {
		e.list = append(e.list[:maxFields:maxFields], word.Unknown(key))
	}
	return e
}

// arrays returns each array that an entry may be; a scalar is an array of one element.
func (e *entry) arrays() (all []*entry) {
	if e.isList {
		return append([]*entry{{isList: true, list: e.list, opaque: e.opaque, sure: e.sure}}, e.others...)
	}
	all = lists.Each(e.vals, func(w Word) *entry { return &entry{isList: true, list: []Word{w}} })
	if len(all) == 0 {
		all = []*entry{{isList: true}}
	}
	return all
}

func (e *entry) sameArray(o *entry) bool {
	return slices.EqualFunc(e.list, o.list, Word.Equal) && e.opaque == o.opaque && e.sure == o.sure
}

// orNone returns the entry that stands for another entry, or for nothing.
func orNone(key string, e entry) *entry {
	e.maybe = true
	if key != keyArgs && !strings.Contains(key, " ") && e.bodies == nil {
		e.vals = addAlternative(slices.Clone(e.vals), word.Unknown(key))
		e.inherited = true
	}
	return &e
}
