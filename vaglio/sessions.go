package vaglio

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sessions keeps the facts of the most recently used sessions in memory. It is safe for
// concurrent use, and its zero value is ready to use.
type Sessions struct {
	mu   sync.Mutex
	by   map[sessionKey]*kept
	held held      // by all sessions
	used list.List // of *kept, most recently used first
}

// held is how many bytes are remembered: file contents, and the rest.
type held struct{ texts, rest int }

type sessionKey struct{ agent, id string }

type kept struct {
	key   sessionKey
	facts Facts
	held  held
	used  *list.Element // its place among the sessions
}

// set replaces the facts of a session.
func (s *Sessions) set(k *kept, facts Facts) {
	is := held{rest: len(k.key.agent) + len(k.key.id)}
	for i := range facts {
		is.texts += len(facts[i].text) + len(facts[i].was)
		is.rest += facts[i].size()
	}
	s.held.texts += is.texts - k.held.texts
	s.held.rest += is.rest - k.held.rest
	k.facts, k.held = facts, is
}

// oldest returns the least recently used session, or the one of those with contents. There must be one.
func (s *Sessions) oldest(withTexts bool) *kept {
	for at := s.used.Back(); ; at = at.Prev() {
		k := at.Value.(*kept) //nolint:errcheck,forcetypeassert // there is nothing else in it
		if !withTexts || k.held.texts > 0 {
			return k
		}
	}
}

// forget drops the least recently used session.
func (s *Sessions) forget() {
	k := s.oldest(false)
	s.set(k, nil)
	s.held.rest -= k.held.rest
	s.used.Remove(k.used)
	delete(s.by, k.key)
}

// maxSessions is how many sessions are remembered.
const maxSessions = 1000

// Facts returns the facts of the session that the call belongs to.
func (s *Sessions) Facts(p *Proposal) Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.by[sessionKey{p.Agent, p.SessionID()}]
	if k == nil {
		return nil
	}
	s.used.MoveToFront(k.used)
	return k.facts
}

// Note adds the effects of a call that was let through to its session.
func (s *Sessions) Note(p *Proposal, now time.Time, did Facts) {
	if p.SessionID() == "" || len(did) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(p, now, did)
}

// NoteUnlessMet is Note for a call that was judged by p.Facts. If the session has added since
// what waits for a file that the call writes, or has written one that the call waits for, it
// adds nothing and returns true: the call must be judged again.
func (s *Sessions) NoteUnlessMet(p *Proposal, now time.Time, did Facts) (met bool) {
	if p.SessionID() == "" || len(did) == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.by[sessionKey{p.Agent, p.SessionID()}]; k != nil {
		if since := k.facts.since(p.Facts); since.reach(did) || did.reach(since) {
			return true
		}
	}
	s.note(p, now, did)
	return false
}

// since returns the facts that were added to an earlier list.
func (f Facts) since(earlier Facts) Facts {
	if len(earlier) == 0 {
		return f
	}
	last := &earlier[len(earlier)-1]
	for i, fact := range slices.Backward(f) {
		if fact.Deed == last.Deed && fact.Path == last.Path && fact.SHA256 == last.SHA256 && fact.At.Equal(last.At) {
			return f[i+1:]
		}
	}
	return f
}

func (s *Sessions) note(p *Proposal, now time.Time, did Facts) {
	if s.by == nil {
		s.by = map[sessionKey]*kept{}
	}
	key := sessionKey{p.Agent, p.SessionID()}
	k := s.by[key]
	if k == nil {
		if len(s.by) >= maxSessions {
			s.forget()
		}
		k = &kept{key: key}
		s.by[key], k.used = k, s.used.PushFront(k)
	}
	s.used.MoveToFront(k.used)
	s.set(k, k.facts.add(now, s.unshared(k, did)...))
	for s.held.texts+s.held.rest > maxAll {
		if s.held.texts <= leastTexts {
			s.forget()
			continue
		}
		// Drop contents before whole sessions: a digest is better than nothing.
		large := s.oldest(true)
		s.set(large, large.facts.withoutTexts())
	}
}

// unshared returns the facts that a session adds. If another session started a program with
// the same words in the same folder, the two cannot be told apart, and neither counts as the
// session's own.
func (s *Sessions) unshared(of *kept, did Facts) Facts {
	out := slices.Clone(did)
	for i := range out {
		out[i].detach()
		if out[i].Deed != Started {
			continue
		}
		for _, k := range s.by {
			if k != of {
				out[i].shared = k.share(&out[i]) || out[i].shared
			}
		}
	}
	return out
}

// detach copies the fact's strings, so that the fact does not keep the whole call in memory.
func (f *Fact) detach() {
	f.Path, f.Words = strings.Clone(f.Path), detached(f.Words)
	if f.weight == nil { // otherwise its text is already detached
		f.text = strings.Clone(f.text)
	}
}

// detached returns copies of texts, so that they do not keep a larger text in memory.
func detached(all []string) []string {
	all = slices.Clone(all)
	for i := range all {
		all[i] = strings.Clone(all[i])
	}
	return all
}

// share marks the facts of a session that match another session's, and reports whether there
// are any.
func (k *kept) share(f *Fact) (same bool) {
	for i := range k.facts {
		if g := &k.facts[i]; g.Deed == Started && g.Path == f.Path && slices.Equal(g.Words, f.Words) {
			if !same {
				k.facts = slices.Clone(k.facts) // others hold the list that they were given
			}
			k.facts[i].shared, same = true, true
		}
	}
	return same
}

// BroughtTo reports whether git may have changed a file since the session last wrote it.
func (f Facts) BroughtTo(name string) bool {
	for i := range slices.Backward(f) {
		switch {
		case f[i].Deed == Wrote && f[i].Path == name:
			return false
		case f[i].Deed == Brought && isBelow(f[i].Path, name):
			return true
		}
	}
	return false
}

// Origin returns what a file held before the session first changed it, "" if that is not known, and whether it is
// [Facts.Unpacked].
func (f Facts) Origin(name string) (was string, unpacked bool) {
	if first := f.firstAt(name); first != nil && first.Path == name {
		was = first.was
	}
	return was, f.Unpacked(name)
}

// firstAt returns the first fact that the session put something at a path, or into a folder above it. What
// git or a build puts there is as much the project's as what lay there: nothing reads it either.
func (f Facts) firstAt(name string) *Fact {
	for i := range f {
		if (f[i].changes() || f[i].Deed == Unpacked) && isBelow(f[i].Path, name) {
			return &f[i]
		}
	}
	return nil
}

// Far returns where the session put what came from elsewhere and is at a path, or may be: a folder or the file itself.
func (f Facts) Far(name string) string {
	for i := range slices.Backward(f) {
		switch fact := &f[i]; {
		case fact.Path == name && fact.leaves() && !fact.Far:
			return ""
		case fact.Far && isBelow(fact.Path, name):
			return fact.Path
		case (fact.Deed == Unpacked || fact.Deed == Let) && isBelow(fact.Path, name):
			return ""
		}
	}
	return ""
}

// Let reports whether a person let something run that the session had brought from elsewhere into a folder above.
func (f Facts) Let(name string) bool {
	return f.any(func(fact *Fact) bool { return fact.Deed == Let && isBelow(fact.Path, name) })
}
