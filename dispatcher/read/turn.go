package read

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// StepsKept is the longest time that the turn log is kept. It holds the values of calls,
// and goes when they do if they are kept for less.
const StepsKept = 30 * 24 * time.Hour

// TurnPrefix is the prefix of the ids of a turn's steps. Agents choose their turn ids, so
// they are hashed: no agent can reach into another's turn.
func TurnPrefix(agent, turn string) string {
	h := sha256.Sum256([]byte(agent + "\x00" + turn))
	return hex.EncodeToString(h[:12]) + "/"
}

// Steps returns steps of an agent's turn, in order, with secrets masked: it is for people.
func (r *Reader) Steps(ctx context.Context, q approval.TurnQuery) (approval.TurnPage, error) {
	page, err := r.turn(ctx, &q)
	for i := range page.Steps {
		page.Steps[i] = r.masker.Step(page.Steps[i])
	}
	return page, err
}

// Turn returns steps of an agent's turn, in order, with the values that the agent itself
// proposed. For a turn of which nothing is known it returns [approval.ErrNotFound].
func (r *Reader) Turn(ctx context.Context, q approval.TurnQuery) (approval.TurnPage, error) {
	page, err := r.turn(ctx, &q)
	if err == nil && len(page.Steps)+len(page.Unread) == 0 {
		err = approval.ErrNotFound
	}
	return page, err
}

// The most that is read of a turn at once: the number of steps, and roughly the number of
// bytes.
const (
	mostSteps     = 2000
	mostStepBytes = 16 << 20
)

func (r *Reader) turn(ctx context.Context, q *approval.TurnQuery) (page approval.TurnPage, err error) {
	begin, end := now().Add(-r.stepsKept), now()
	lost := func(e *approval.UnreadError) { page.Unread.Add(e, begin, end) }
	newest := stepsOfTurn{most: mostSteps}
	if q.Limit > 0 {
		newest.most = min(q.Limit, mostSteps)
	}
	refused, more, err := r.records.newestOfTurn(ctx, q, newest.most, lost)
	if err != nil {
		return approval.TurnPage{}, fmt.Errorf("read: read the turn log: %w", err)
	}
	for s, err := range r.records.passed(ctx, approval.Span{Key: stepsKey(q.Agent, q.Turn), Newest: true, Before: q.Before}, lost) {
		if err != nil {
			return approval.TurnPage{}, fmt.Errorf("read: read the turn log: %w", err)
		}
		refused = newest.takeSince(refused, s.Born)
		if known := len(refused) > 0 || !more; !known || !newest.take(&s) {
			break
		}
	}
	if newest.takeSince(refused, 0); newest.full || more {
		page.Older = newest.oldest
	}
	page.Steps = newest.inOrder()
	return page, nil
}

// mostLately is how many of a turn's steps the judges' facts are taken from, each of those that
// passed and of the others.
const mostLately = 200

// Lately returns the last steps of an agent's turn, by their numbers, with secrets masked. It is
// for the judges: what it costs does not grow with the turn.
func (r *Reader) Lately(ctx context.Context, agent, turn string) ([]approval.Step, error) {
	last := stepsOfTurn{most: mostLately}
	for s, err := range r.records.Passed(ctx, approval.Span{Key: stepsKey(agent, turn), Newest: true}) {
		if err != nil {
			return nil, fmt.Errorf("read: read the turn log: %w", err)
		}
		if !last.take(&s) {
			break
		}
	}
	refused := stepsOfTurn{most: mostLately}
	for s, err := range r.records.Steps(ctx, approval.Query{Prefix: TurnPrefix(agent, turn), Newest: true}) {
		if err != nil {
			return nil, fmt.Errorf("read: read the turn log: %w", err)
		}
		if !refused.take(&s) {
			break
		}
	}
	last.steps = append(last.steps, refused.steps...)
	steps := last.inOrder()
	for i := range steps {
		steps[i] = r.masker.Step(steps[i])
	}
	return steps, nil
}

// newestOfTurn returns the newest steps of a turn that are records, the newest first, and
// whether there are more.
func (r *Records) newestOfTurn(
	ctx context.Context, q *approval.TurnQuery, most int, lost func(*approval.UnreadError),
) (steps []Kept[approval.Step], more bool, err error) {
	newest := newestRecords{most: most}
	for rec, err := range r.store.List(ctx, approval.Query{Kind: approval.KindStep, Prefix: TurnPrefix(q.Agent, q.Turn)}) {
		if err == nil {
			newest.add(&rec, q.Before)
			continue
		}
		e := r.Note(ctx, err)
		if e == nil {
			return nil, false, err
		}
		lost(e)
	}
	newest.trim()
	all := newest.all
	for i := range all {
		s, err := decoded(ctx, r, recordKey{approval.KindStep, all[i].ID}, &all[i], nil, approval.DecodeStep)
		if e, unread := errors.AsType[*approval.UnreadError](err); unread {
			lost(e)
			continue
		}
		steps = append(steps, Kept[approval.Step]{all[i], s})
	}
	return steps, newest.more, nil
}

// newestRecords keeps the newest of many records, up to so many and so many bytes.
type newestRecords struct {
	all        []approval.Record
	most, size int
	more       bool // than are kept
}

// add takes a record, if it was born before the given one; 0 takes every record.
func (n *newestRecords) add(r *approval.Record, before uint64) {
	if before != 0 && r.Born >= before {
		return
	}
	n.all, n.size = append(n.all, *r), n.size+len(r.Body)
	if len(n.all) > 2*n.most || n.size > 2*mostStepBytes {
		n.trim()
	}
}

// trim drops all but the newest, and orders these, the newest first.
func (n *newestRecords) trim() {
	slices.SortFunc(n.all, func(a, b approval.Record) int { return cmp.Compare(b.Born, a.Born) })
	n.size = 0
	for i := range n.all {
		size := n.size + len(n.all[i].Body)
		if i == n.most || i > 0 && size > mostStepBytes {
			clear(n.all[i:]) // nobody needs what they hold
			n.all, n.more = n.all[:i], true
			return
		}
		n.size = size
	}
}

// stepsOfTurn takes the steps of a turn, the newest first, until there are enough.
type stepsOfTurn struct {
	steps       []approval.Step
	most, bytes int
	oldest      uint64
	full        bool
}

// take reports whether the step was taken.
func (t *stepsOfTurn) take(s *Kept[approval.Step]) bool {
	n := len(t.steps)
	if t.full = t.full || n == t.most || n > 0 && t.bytes+len(s.Body) > mostStepBytes; t.full {
		return false
	}
	t.steps, t.bytes, t.oldest = append(t.steps, s.Is), t.bytes+len(s.Body), s.Born
	return true
}

// takeSince takes those of some steps, the newest first, that were born after the given one, and
// returns the others.
func (t *stepsOfTurn) takeSince(steps []Kept[approval.Step], born uint64) []Kept[approval.Step] {
	for len(steps) > 0 && steps[0].Born > born && t.take(&steps[0]) {
		steps = steps[1:]
	}
	return steps
}

// inOrder returns the steps by their numbers, each once.
func (t *stepsOfTurn) inOrder() (steps []approval.Step) {
	at := make(map[string]int)
	for i := range slices.Backward(t.steps) {
		s := &t.steps[i]
		if first, repeated := at[s.ID]; repeated {
			steps[first].Repeat(s)
			continue
		}
		at[s.ID] = len(steps)
		steps = append(steps, *s)
	}
	slices.SortStableFunc(steps, func(a, b approval.Step) int {
		return cmp.Or(cmp.Compare(a.Proposal.Step, b.Proposal.Step), a.At.Compare(b.At))
	})
	return steps
}

// ofTurn yields what is counted of the steps of a turn, the records first. What cannot be read
// is passed to lost.
func (r *Records) ofTurn(ctx context.Context, agent, turn string, lost func(*approval.UnreadError)) iter.Seq2[Kept[approval.Step], error] {
	all := approval.Query{Kind: approval.KindStep, Prefix: TurnPrefix(agent, turn)}
	return func(yield func(Kept[approval.Step], error) bool) {
		for _, from := range []iter.Seq2[Kept[approval.Step], error]{
			readable(ctx, r, all.Kind, r.store.List(ctx, all), approval.DecodeStep, lost),
			r.passed(ctx, approval.Span{Key: stepsKey(agent, turn), NotesOnly: true}, lost),
		} {
			for s, err := range from {
				if !yield(s, err) {
					return
				}
			}
		}
	}
}

// TurnCounts counts what the ask's turn has done so far, as a digest would. For a turn
// without a name, a longer one than is read for this, or one of which a part cannot be
// read, the counts are zero.
func (r *Reader) TurnCounts(ctx context.Context, ask *approval.Ask) (report.Counts, error) {
	if ask.TurnID == "" {
		return report.Counts{}, nil
	}
	all := report.Window{To: now().AddDate(1, 0, 0)}
	b := report.NewDigestBuilder(all, r.masker)
	asks := map[approval.AskID]bool{}
	read, whole := 0, true
	for s, err := range r.records.ofTurn(ctx, ask.Agent, ask.TurnID, func(*approval.UnreadError) { whole = false }) {
		if err != nil {
			return report.Counts{}, fmt.Errorf("read: read the turn log: %w", err)
		}
		if read++; read > turnRead {
			return report.Counts{}, nil
		}
		if id := s.Is.Approval.Ask(); s.Is.Approval != "" && !asks[id] {
			asks[id] = true
			if err := r.countAsk(ctx, b, id, ask.TurnID); err != nil {
				return report.Counts{}, err
			}
		}
		b.Step(&s.Is)
	}
	if !whole {
		return report.Counts{}, nil
	}
	return b.Digest(nil).Counts, nil
}

// turnRead is the most steps of a turn that are counted.
const turnRead = 1000

// countAsk takes an ask of the turn. One of another turn that a call of this one joined
// counts as its step says.
func (r *Reader) countAsk(ctx context.Context, b *report.DigestBuilder, id approval.AskID, turn string) error {
	ask, err := r.ask(ctx, string(id))
	if Nothing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: read ask %s: %w", id, err)
	}
	if ask.TurnID == turn {
		b.Ask(&ask)
	}
	return nil
}
