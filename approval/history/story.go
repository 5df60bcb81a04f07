package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// story is what the leaves say about every approval and every veto.
type story struct {
	accepted []int64
	// first is the index of the first event; -1 if there was none yet.
	first int64
	// through is the leaf before which values were dropped, according to the newest event
	// that says so.
	through int64
	// base are the events with a baseline, in order.
	base      []baseEvent
	approvals map[approval.ID]*life
	vetoes    map[string]mark
	// keys are the verifier keys that the leaves name, the newest last.
	keys []string
}

// life is what the leaves say about one approval.
type life struct {
	// from is the state in which the first leaf found it, and content its sum then, if that
	// leaf gives it.
	from, state approval.State
	content     string
	// opened says that its whole ask was opened then.
	opened bool
	votes  map[vote]bool
	// last is its newest change of state.
	last mark
}

// mark is a leaf and the sum of a record in it.
type mark struct {
	leaf      int64
	salt, sum string
}

type vote struct{ by, route string }

// baseEvent is an event that says how older approvals stood.
type baseEvent struct {
	leaf, through int64
	at            time.Time
	baseline      Baseline
}

func newStory(accepted []int64) *story {
	return &story{accepted: accepted, first: -1, approvals: make(map[approval.ID]*life), vetoes: make(map[string]mark)}
}

// tell takes the next event, and reports if it cannot follow the earlier ones.
func (s *story) tell(r *Report, leaf int64, e *Event) {
	if s.first < 0 {
		s.first = leaf
	}
	switch e.Kind {
	case Began, Dropped, Rekeyed, Restored:
		s.note(r, leaf, e)
	case Vetoed:
		if e.Step != "" {
			s.vetoes[e.Step] = mark{leaf, e.Salt, e.Sum}
		}
	case Vote, Unvote:
		s.vote(r, leaf, e)
	case ValuesDropped:
		s.emptied(r, leaf, e)
	case Escalated, Granted, GrantUsed, GrantEnded, KindDenied, Edited, Lifted, Questioned, Replied, Snoozed, HandedOver, Revealed, Stopped, Resumed:
	case Opened, Joined, Allowed, Denied, Expired, Withdrawn, Superseded, Spent, Lapsed, Succeeded, Failed, Unknown:
		s.move(r, leaf, e)
	default:
		if slices.Contains(approval.AnnouncementKinds(), approval.AnnouncementKind(e.Kind)) {
			return // a change to the gate itself, not about an approval
		}
		r.found(leaf, "leaf %d tells of %q, which this vaglio does not know: use the newer vaglio that wrote it", leaf, e.Kind)
	}
}

// note takes an event about the history itself.
func (s *story) note(r *Report, leaf int64, e *Event) {
	if e.Baseline != nil {
		s.base = append(s.base, baseEvent{leaf, e.Through, e.At, *e.Baseline})
	}
	known := slices.Contains(s.accepted, leaf)
	switch e.Kind {
	case Began:
		if leaf != 0 {
			r.found(leaf, "leaf %d says that the history begins there, and %d leaves are before it", leaf, leaf)
		}
	case Dropped:
		s.through = max(s.through, min(e.Through, leaf))
	case Rekeyed:
		if !known {
			r.found(leaf, "leaf %d (%s): the signing key was missing at a start, and a new one was made; what was signed before is proved by the old key alone; if you know of it, accept leaf %d",
				leaf, stamp(e.At), leaf)
		}
	case Restored:
		if !known {
			r.found(leaf, "leaf %d (%s): at that start an older copy of the store was found in place of the newer one; what is lost was signed as %q; if you know of it, accept leaf %d",
				leaf, stamp(e.At), oneLine(e.Lost), leaf)
		}
	default:
	}
	if e.Key != "" {
		s.keys = append(s.keys, e.Key)
	}
}

// move takes a change of an approval's state.
func (s *story) move(r *Report, leaf int64, e *Event) {
	l := s.approvals[e.Approval]
	if e.Kind == Opened || e.Kind == Joined {
		if l != nil || e.From != "" || e.To != approval.Pending {
			r.found(leaf, "leaf %d opens approval %s, which was there already, or in a way that cannot be", leaf, e.Approval)
		}
	} else {
		s.follows(r, leaf, e, l)
	}
	if l == nil {
		l = &life{from: e.From, opened: e.Kind == Opened}
		s.approvals[e.Approval] = l
	}
	l.state, l.last = e.To, mark{leaf, e.Salt, e.Sum}
}

// emptied takes an event that an approval's values were dropped; nothing else about it
// changes.
func (s *story) emptied(r *Report, leaf int64, e *Event) {
	l := s.approvals[e.Approval]
	switch {
	case !e.From.Final():
		r.found(leaf, "leaf %d drops the values of approval %s, which was %s: nothing is dropped before the end", leaf, e.Approval, e.From)
	case l == nil && !s.older():
		r.found(leaf, "leaf %d drops the values of approval %s, and no leaf before it opens it: one was left out", leaf, e.Approval)
	case l != nil && l.state != e.From:
		r.found(leaf, "leaf %d says that approval %s was %s when its values were dropped, and leaf %d left it %s", leaf, e.Approval, e.From, l.last.leaf, l.state)
	}
	if l == nil {
		l = &life{from: e.From, state: e.From, content: e.Content}
		s.approvals[e.Approval] = l
	}
	l.last = mark{leaf, e.Salt, e.Sum}
}

// follows reports what prevents a change of state from following the approval's earlier
// events.
func (s *story) follows(r *Report, leaf int64, e *Event, l *life) {
	switch {
	case !e.From.Leads(e.To):
		r.found(leaf, "leaf %d brings approval %s from %s to %s, which cannot happen", leaf, e.Approval, e.From, e.To)
	case l == nil && !s.older():
		r.found(leaf, "leaf %d tells of approval %s, and no leaf before it opens it: one was left out", leaf, e.Approval)
	case l != nil && l.state != e.From:
		r.found(leaf, "leaf %d says that approval %s was %s before, and leaf %d left it %s: a leaf between them was left out, changed or moved",
			leaf, e.Approval, e.From, l.last.leaf, l.state)
	}
}

// older reports whether some approvals may have been opened before the leaves begin.
func (s *story) older() bool {
	return s.first > 0 || len(s.base) > 0 && s.base[0].baseline.older()
}

// vote takes a vote, or the loss of one.
func (s *story) vote(r *Report, leaf int64, e *Event) {
	l := s.approvals[e.Approval]
	if l == nil {
		if !s.older() {
			r.found(leaf, "leaf %d tells of a vote on approval %s, and no leaf before it opens it: one was left out", leaf, e.Approval)
		}
		return
	}
	if l.votes == nil {
		l.votes = make(map[vote]bool)
	}
	switch of := (vote{e.By, e.Route}); {
	case e.Kind == Vote:
		l.votes[of] = true
	case !l.votes[of] && l.from == "":
		r.found(leaf, "leaf %d takes a vote of %s on approval %s away that no leaf before it gives", leaf, e.By, e.Approval)
	default:
		delete(l.votes, of)
	}
}

// String describes the event for people.
func (e *Event) String() string {
	subject := ""
	switch {
	case e.Approval != "":
		subject = "approval " + string(e.Approval) + ", "
	case e.Ask != "":
		subject = "ask " + string(e.Ask) + ", "
	case e.Step != "":
		subject = string(approval.VetoID(e.Step)) + ", a call of " + e.Agent + ", "
	}
	what := string(e.Kind)
	switch {
	case e.Kind == Vetoed && e.Rule != "":
		what += " by the rule " + e.Rule
	case e.Name != "":
		what += " by " + e.Name
	case e.By != "":
		what += " by " + e.By
	case subject == "" && e.Agent != "":
		what += ": " + e.Agent
	}
	return fmt.Sprintf("%s%s, %s", subject, what, stamp(e.At))
}

// stamp returns a time as findings show it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
