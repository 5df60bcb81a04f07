package vaglio

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sessions keeps the facts of sessions in memory, those in use last. It is safe
// for concurrent use, and its zero value is ready for it.
type Sessions struct {
	mu   sync.Mutex
	by   map[sessionKey]*kept
	held held // by all of them
	// used are all of them and texts those with contents, of *kept, in use last first.
	used, texts list.List
}

// held is how many bytes are remembered: contents of files, and the rest.
type held struct{ texts, rest int }

type sessionKey struct{ agent, id string }

type kept struct {
	key   sessionKey
	facts Facts
	held  held
	// used is where it stands among all sessions, texts among those with contents; nil
	// without any.
	used, texts *list.Element
}

// set replaces the facts of one of the sessions.
func (s *Sessions) set(k *kept, facts Facts) {
	is := held{rest: len(k.key.agent) + len(k.key.id)}
	for i := range facts {
		is.texts += len(facts[i].text)
		is.rest += facts[i].size()
	}
	s.held.texts += is.texts - k.held.texts
	s.held.rest += is.rest - k.held.rest
	k.facts, k.held = facts, is
	switch {
	case is.texts > 0 && k.texts == nil:
		k.texts = s.texts.PushFront(k)
	case is.texts == 0 && k.texts != nil:
		s.texts.Remove(k.texts)
		k.texts = nil
	}
}

// use notes that a session is in use.
func (s *Sessions) use(k *kept) {
	s.used.MoveToFront(k.used)
	if k.texts != nil {
		s.texts.MoveToFront(k.texts)
	}
}

// oldest is the session in the list that was used longest ago; there is one.
func oldest(of *list.List) *kept {
	return of.Back().Value.(*kept) //nolint:errcheck,forcetypeassert // there is nothing else in it
}

// forget forgets the session that was used longest ago.
func (s *Sessions) forget() {
	k := oldest(&s.used)
	s.set(k, nil)
	s.held.rest -= k.held.rest
	s.used.Remove(k.used)
	delete(s.by, k.key)
}

// maxSessions is how many sessions are remembered.
const maxSessions = 1000

// Facts are those of the session that the call belongs to.
func (s *Sessions) Facts(p *Proposal) Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.by[sessionKey{p.Agent, p.SessionID()}]
	if k == nil {
		return nil
	}
	s.use(k)
	return k.facts
}

// Note adds what a call did, which was let through, to its session.
func (s *Sessions) Note(p *Proposal, now time.Time, did Facts) {
	if p.SessionID() == "" || len(did) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.use(k)
	s.set(k, k.facts.add(now, s.unshared(k, did)...))
	for s.held.texts+s.held.rest > maxAll {
		if s.held.texts <= leastTexts {
			s.forget()
			continue
		}
		// Digests tell more than nothing: contents go before sessions do.
		large := oldest(&s.texts)
		s.set(large, large.facts.withoutTexts())
	}
}

// unshared are facts that a session adds. What another started with the same words
// in the same folder is told from it by nothing, and is neither's own then.
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

// detach takes what a fact tells out of the call that it is a part of, which would
// be held as long as the fact is.
func (f *Fact) detach() {
	f.Path, f.Words = strings.Clone(f.Path), detached(f.Words)
	if f.weight == nil { // which has taken it out
		f.text = strings.Clone(f.text)
	}
}

// detached are texts outside of the call that they were parts of.
func detached(all []string) []string {
	all = slices.Clone(all)
	for i := range all {
		all[i] = strings.Clone(all[i])
	}
	return all
}

// share marks the facts of a session that tell the same as another's, and says
// whether there are any.
func (k *kept) share(f *Fact) (same bool) {
	for i := range k.facts {
		if g := &k.facts[i]; g.Deed == Started && g.Path == f.Path && slices.Equal(g.Words, f.Words) {
			if !same {
				k.facts = slices.Clone(k.facts) // others hold what they were given
			}
			k.facts[i].shared, same = true, true
		}
	}
	return same
}
