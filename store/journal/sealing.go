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

// SealAll seals every segment that is full, and writes those anew that were sealed without
// the newest key, as the journal does by itself in its time.
func (l *Log) SealAll() {
	for more := true; more; {
		more = l.sealOldest() || l.sealAnew()
	}
}

// sealOldest seals the oldest full segment that is whole, and reports whether it did, or
// found one that is not. Such a one stays as it is, and says so: what cannot be read of it
// may still be of use to somebody, and must not go unseen.
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
	if i = slices.Index(l.full, a); i < 0 { // dropped meanwhile
		_ = os.Remove(s.path)
		return true
	}
	l.full = slices.Delete(l.full, i, i+1)
	l.sealed = append(l.sealed, s)
	// The sealed form is on the disk: whether the other goes now or at the next
	// start is all the same.
	_ = a.drop()
	return true
}

// sealAnew writes the oldest segment anew that was sealed without the newest key, and
// reports whether it did. One that cannot be read whole stays as it is.
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
		return true // the others may do better
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i = slices.Index(l.sealed, s)
	if i < 0 { // dropped meanwhile
		_ = os.Remove(fresh.path)
		return true
	}
	// Readers open a segment by its path while they hold the lock.
	if err := errors.Join(os.Rename(fresh.path, s.path), durable.SyncFolder(l.dir)); err == nil {
		fresh.path = s.path
		l.sealed[i] = fresh
	}
	return true
}
