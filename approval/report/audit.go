package report

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Judgement is one verdict of a window, for which the audit log should have a line.
type Judgement struct {
	// TS is its time, in the form of [vaglio.Verdict.TS].
	TS       float64      `json:"ts"`
	Agent    string       `json:"agent"`
	Turn     string       `json:"turn"`
	Step     int          `json:"step"`
	Executor string       `json:"executor"`
	Phase    vaglio.Phase `json:"phase"`
	// Again says that the same step was judged before with the same outcome: the digest
	// counts it there.
	Again bool `json:"again,omitempty"`
	// Unlisted is how many repeats of the step followed the first [approval.MaxAgain], at
	// unknown times. A judgement with Unlisted has no TS.
	Unlisted int `json:"unlisted,omitempty"`
}

// Crash is a disorderly end of the daemon: it was killed, or the machine lost power.
// Whatever was in progress then is only in the audit log, and a power cut loses what was
// written last.
type Crash struct {
	// Began is the start of the daemon that crashed, Noticed the start of the next one.
	Began   time.Time `json:"began"`
	Noticed time.Time `json:"noticed"`
}

// Tell makes the builder call each with every verdict of its window as it takes the
// records, with secrets masked. Call it before adding any records.
func (b *DigestBuilder) Tell(each func(Judgement)) { b.told = each }

// tellStep passes on a step's verdict, unless its ask already did, and its repeats.
func (b *DigestBuilder) tellStep(s *approval.Step, opened bool) {
	if b.told == nil || s.Verdict == nil {
		return
	}
	if !opened {
		b.tellOne(&s.Proposal, s.Verdict, s.Verdict.TS, false)
	}
	for _, ts := range s.Again {
		b.tellOne(&s.Proposal, s.Verdict, ts, true)
	}
	if more := s.Repeats - len(s.Again); more > 0 && approval.Instant(s.Again[len(s.Again)-1]).Before(b.window.To) {
		j := b.judgement(&s.Proposal, s.Verdict)
		j.Again, j.Unlisted = true, more
		b.told(j)
	}
}

func (b *DigestBuilder) tellOne(p *vaglio.Proposal, v *vaglio.Verdict, ts float64, again bool) {
	if b.told == nil || !b.window.Holds(approval.Instant(ts)) {
		return
	}
	j := b.judgement(p, v)
	j.TS, j.Again = ts, again
	b.told(j)
}

func (b *DigestBuilder) judgement(p *vaglio.Proposal, v *vaglio.Verdict) Judgement {
	mask := b.masker.Mask
	return Judgement{Agent: mask(p.Agent), Turn: mask(p.TurnID), Step: p.Step, Executor: mask(p.Executor), Phase: v.BlockedBy}
}
