package journal

import (
	"errors"
	"os"
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/durable"
)

// seal seals segments that are full, until the journal closes.
func (l *Log) seal() {
	for {
		select {
		case <-l.toSeal:
		case <-l.closing:
			return
		}
		for l.sealOldest() || l.sealAnew() {
			select {
			case <-l.closing:
				return
			default:
			}
		}
	}
}

// SealAll seals every full segment, and rewrites those that were not sealed with the newest
// key, as the journal would do by itself in time.
func (l *Log) SealAll() {
	for more := !l.options.ReadOnly; more; {
		more = l.sealOldest() || l.sealAnew()
	}
}

// sealOldest seals the oldest full segment that is intact, and reports whether it did, or
// found one that is not. A damaged segment stays as it is and is reported: its unreadable
// parts may still be useful to somebody, and must not go unnoticed.
func (l *Log) sealOldest() bool {
	l.sealing.Lock()
	defer l.sealing.Unlock()
	l.mu.Lock()
	i := slices.IndexFunc(l.full, func(a *active) bool { return a.spoilt == nil })
	if i < 0 {
		l.mu.Unlock()
		return false
	}
	a := l.full[i]
	l.mu.Unlock()
	s, err := a.seal(l.dir)
	l.mu.Lock()
	defer l.mu.Unlock()
	if unread, is := errors.AsType[*approval.UnreadError](err); is {
		a.spoilt = unread
		return true
	}
	if err != nil {
		return false
	}
	l.full = slices.DeleteFunc(l.full, func(full *active) bool { return full == a })
	l.sealed = append(l.sealed, s)
	// The sealed form is on disk: it does not matter whether the other one goes now or at
	// the next start.
	_ = a.drop()
	return true
}

// sealAnew rewrites the oldest segment that was not sealed with the newest key, and reports
// whether there was one. A segment that cannot be read completely stays as it is.
func (l *Log) sealAnew() bool {
	l.sealing.Lock()
	defer l.sealing.Unlock()
	l.mu.Lock()
	i := slices.IndexFunc(l.sealed, (*sealed).stale)
	if i < 0 {
		l.mu.Unlock()
		return false
	}
	s := l.sealed[i]
	s.tried = true
	l.mu.Unlock()
	fresh, err := s.sealAnew()
	if err != nil {
		return true // the others may go better
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Readers open a segment by its path while holding the lock.
	if err := errors.Join(os.Rename(fresh.path, s.path), durable.SyncFolder(l.dir)); err == nil {
		fresh.path = s.path
		l.sealed[slices.Index(l.sealed, s)] = fresh
	}
	return true
}
