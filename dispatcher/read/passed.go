package read

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Steps that the judges let through are many and never change, so they are in the journal.
// All others are records. What an older program let through is also a record, until its
// retention ends.

// turnless is the key of steps without a turn.
const turnless = "-/"

// StepID returns the id of a step, which is within its turn. A repeat of the same step has
// the same id. One that says anything else, such as another intent, a new approval or
// another outcome, gets its own id: an agent cannot overwrite what it did.
func StepID(s *approval.Step) (string, error) {
	p := s.Proposal
	if p.TurnID == "" {
		return turnless + rand.Text(), nil
	}
	form, err := strictjson.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("read: name a step: %w", err)
	}
	h := sha256.New()
	h.Write(form)
	h.Write([]byte(s.Approval))
	if s.Verdict != nil {
		h.Write([]byte(s.Verdict.BlockedBy))
	}
	h.Write([]byte(s.Error))
	return TurnPrefix(p.Agent, p.TurnID) + fmt.Sprintf("%08d-%x", p.Step, h.Sum(nil)[:12]), nil
}

// stepsKey is the key under which the steps of a turn are found.
func stepsKey(agent, turn string) string {
	if turn == "" {
		return turnless
	}
	return TurnPrefix(agent, turn)
}

// EncodePassed returns the entry of a step that the judges let through, encoded into room,
// and the extended room. Its note holds what digests and statistics count.
func EncodePassed(room []byte, s *approval.Step) (approval.JournalEntry, []byte, error) {
	room = appendPassed(room, s)
	note := len(room)
	room, err := approval.AppendStep(room, s)
	if err != nil {
		return approval.JournalEntry{}, room, err
	}
	p := &s.Proposal
	e := approval.JournalEntry{At: s.Judged(), Key: stepsKey(p.Agent, p.TurnID), Note: room[:note:note], Body: room[note:]}
	return e, room, nil
}

// passedForm is the form of a note.
const passedForm = 1

// longestCounted is the longest name in a note: what is counted clips names far shorter, and
// knows a turn by its [report.TurnName].
const longestCounted = approval.MaxName

// appendPassed writes a step's note: the form, agent, turn, executor, route, the time of
// the verdict, and each judge with its score.
func appendPassed(to []byte, s *approval.Step) []byte {
	to = append(to, passedForm)
	for _, name := range []string{s.Proposal.Agent, report.TurnName(s.Proposal.TurnID), s.Proposal.Executor, s.Route} {
		to = appendName(to, name)
	}
	to = binary.LittleEndian.AppendUint64(to, math.Float64bits(s.Verdict.TS))
	judges := s.Verdict.Results[:min(len(s.Verdict.Results), mostJudges)]
	to = append(to, byte(len(judges))) //nolint:gosec // At most mostJudges.
	for i := range judges {
		to = appendName(to, judges[i].Judge)
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(judges[i].Score))
	}
	return to
}

// mostJudges is how many judges a note names.
const mostJudges = 3

func appendName(to []byte, name string) []byte {
	name = name[:min(len(name), longestCounted)]
	return append(binary.AppendUvarint(to, uint64(len(name))), name...)
}

var errNote = errors.New("the note of a step is damaged")

// note is the rest of a note that is being read.
type note struct {
	rest  []byte
	bad   bool
	names names
}

// names are the names in notes read before, so that frequent names share one string. The
// zero value remembers none.
type names map[string]string

// mostNames is how many names are remembered.
const mostNames = 1000

func (n names) of(name []byte) string {
	if known, ok := n[string(name)]; ok {
		return known
	}
	if len(n) >= mostNames {
		clear(n)
	}
	text := string(name)
	if n != nil {
		n[text] = text
	}
	return text
}

func (n *note) bytes(size uint64) []byte {
	if size > uint64(len(n.rest)) {
		n.bad = true
		return nil
	}
	b := n.rest[:size]
	n.rest = n.rest[size:]
	return b
}

// text reads a name, which shares the note's bytes.
func (n *note) text() []byte {
	size, used := binary.Uvarint(n.rest)
	if used <= 0 {
		n.bad = true
		return nil
	}
	n.rest = n.rest[used:]
	return n.bytes(size)
}

func (n *note) name() string { return n.names.of(n.text()) }

func (n *note) byte() byte {
	if b := n.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (n *note) float() float64 {
	if b := n.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// counted decodes a note as a step that holds only what digests and statistics count.
func counted(e *approval.JournalEntry) (s approval.Step, err error) {
	err = count(&s, e, nil)
	return s, err
}

// count is counted for a step whose verdict, if it has one, is reused.
func count(s *approval.Step, e *approval.JournalEntry, known names) error {
	n := note{rest: e.Note, names: known}
	if form := n.byte(); form != passedForm && !n.bad {
		return &approval.FormError{What: "note of a step", Found: int(form), Known: passedForm}
	}
	v := s.Verdict
	if v == nil {
		v = new(vaglio.Verdict)
	}
	*v = vaglio.Verdict{Approved: true, Results: v.Results[:0]}
	*s = approval.Step{At: e.At, Verdict: v}
	s.Proposal.Agent, s.Proposal.TurnID, s.Proposal.Executor, s.Route = n.name(), n.name(), n.name(), n.name()
	v.TS = n.float()
	for range n.byte() {
		v.Results = append(v.Results, vaglio.GradientResult{Judge: n.name(), Score: n.float()})
	}
	if n.bad {
		*s = approval.Step{}
		return errNote
	}
	return nil
}

// passed decodes an entry as a step.
func passed(e *approval.JournalEntry) (approval.Step, error) {
	s, err := approval.DecodeStep(e.Body)
	if err != nil {
		return s, err
	}
	if s.Proposal.TurnID == "" {
		s.ID = fmt.Sprintf("%s%d", turnless, e.Seq)
		return s, nil
	}
	s.ID, err = StepID(&s)
	return s, err
}

// unreadEntry returns the error of a journal entry that cannot be read.
func unreadEntry(e *approval.JournalEntry, err error) *approval.UnreadError {
	return &approval.UnreadError{Kind: approval.KindStep, ID: fmt.Sprintf("journal %d", e.Seq), From: e.At, To: e.At, Err: err}
}

// Passed yields the readable steps of the journal; with NotesOnly, just what digests and
// statistics count of each.
func (r *Records) Passed(ctx context.Context, span approval.Span) iter.Seq2[Kept[approval.Step], error] {
	return r.passed(ctx, span, func(*approval.UnreadError) {})
}

// passed is Passed, and passes to lost what cannot be read.
func (r *Records) passed(ctx context.Context, span approval.Span, lost func(*approval.UnreadError)) iter.Seq2[Kept[approval.Step], error] {
	read := passed
	if span.NotesOnly {
		read = counted
	}
	return func(yield func(Kept[approval.Step], error) bool) {
		for e, err := range r.store.Entries(ctx, span) {
			var s approval.Step
			if err == nil {
				if s, err = read(&e); err != nil {
					err = unreadEntry(&e, err)
				}
			}
			if err != nil {
				if u := r.Note(ctx, err); u != nil {
					lost(u)
					continue
				}
			}
			kept := Kept[approval.Step]{approval.Record{ID: s.ID, Seq: e.Seq, Born: e.Seq, Body: e.Body}, s}
			if !yield(kept, err) || err != nil {
				return
			}
		}
	}
}

// listing is the rest of a listing.
type listing struct {
	head Kept[approval.Step]
	err  error
	more bool
	next func() (Kept[approval.Step], error, bool)
}

func startOf(of iter.Seq2[Kept[approval.Step], error]) (l *listing, stop func()) {
	l = &listing{}
	l.next, stop = iter.Pull2(of)
	l.take()
	return l, stop
}

func (l *listing) take() { l.head, l.err, l.more = l.next() }
