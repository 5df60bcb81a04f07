package read

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Steps returns the steps of an agent's turn, in order, with secrets masked: it is for
// people. more reports whether the turn has earlier steps, as in [Reader.Turn].
func (r *Reader) Steps(ctx context.Context, agent, turn string) (steps []approval.Step, more bool, err error) {
	steps, more, err = r.turn(ctx, agent, turn)
	for i := range steps {
		steps[i] = r.masker.Step(steps[i])
	}
	return steps, more, err
}

// Turn returns the steps of an agent's turn, in order, with the values that the agent
// itself proposed. For a turn without steps it returns [approval.ErrNotFound]. For a long
// one it returns the newest steps, and more is true.
func (r *Reader) Turn(ctx context.Context, agent, turn string) (steps []approval.Step, more bool, err error) {
	steps, more, err = r.turn(ctx, agent, turn)
	if err == nil && len(steps) == 0 {
		err = approval.ErrNotFound
	}
	return steps, more, err
}

// The most that is read of a turn, each from records and from the journal: the number of
// steps, and roughly the number of bytes.
const (
	mostSteps     = 2000
	mostStepBytes = 16 << 20
)

func (r *Reader) turn(ctx context.Context, agent, turn string) (steps []approval.Step, more bool, err error) {
	at := make(map[string]int)
	var since time.Time // before this, steps of one kind are missing
	for fromEnd, from := range []iter.Seq2[Kept[approval.Step], error]{
		r.records.Steps(ctx, approval.Query{Prefix: TurnPrefix(agent, turn)}), // sorted by number
		r.records.Passed(ctx, approval.Span{Key: stepsKey(agent, turn), Newest: true}),
	} {
		newest, cut, err := newestOf(from, fromEnd == 1)
		if err != nil {
			return nil, false, fmt.Errorf("read: read the turn log: %w", err)
		}
		if more = more || cut; cut && newest[0].At.After(since) {
			since = newest[0].At
		}
		for i := range newest {
			s := &newest[i]
			if first, repeated := at[s.ID]; repeated {
				steps[first].Repeat(s)
				continue
			}
			at[s.ID] = len(steps)
			steps = append(steps, *s)
		}
	}
	steps = slices.DeleteFunc(steps, func(s approval.Step) bool { return s.At.Before(since) })
	slices.SortStableFunc(steps, func(a, b approval.Step) int {
		return cmp.Or(cmp.Compare(a.Proposal.Step, b.Proposal.Step), a.At.Compare(b.At))
	})
	return steps, more, nil
}

// newestOf returns the newest of some steps, in order, and reports whether there are
// others. fromEnd says that the newest come first.
func newestOf(from iter.Seq2[Kept[approval.Step], error], fromEnd bool) (newest []approval.Step, more bool, err error) {
	var sizes []int
	bytes := 0
	for s, err := range from {
		if err != nil {
			return nil, false, err
		}
		newest, sizes, bytes = append(newest, s.Is), append(sizes, len(s.Body)), bytes+len(s.Body)
		for len(newest) > mostSteps || len(newest) > 1 && bytes > mostStepBytes {
			if more = true; fromEnd {
				newest = newest[:len(newest)-1]
				break
			}
			bytes -= sizes[0]
			newest[0] = approval.Step{} // nobody needs what it holds
			newest, sizes = newest[1:], sizes[1:]
		}
		if more && fromEnd {
			break
		}
	}
	if fromEnd {
		slices.Reverse(newest)
	}
	return newest, more, nil
}

// ofTurn yields the steps of a turn, the records first. With notesOnly, those from the
// journal hold only what is counted.
func (r *Records) ofTurn(ctx context.Context, agent, turn string, notesOnly bool) iter.Seq2[Kept[approval.Step], error] {
	return func(yield func(Kept[approval.Step], error) bool) {
		for _, from := range []iter.Seq2[Kept[approval.Step], error]{
			r.Steps(ctx, approval.Query{Prefix: TurnPrefix(agent, turn)}),
			r.Passed(ctx, approval.Span{Key: stepsKey(agent, turn), NotesOnly: notesOnly}),
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
// without a name, or a longer one than is read for this, the counts are zero.
func (r *Reader) TurnCounts(ctx context.Context, ask *approval.Ask) (report.Counts, error) {
	if ask.TurnID == "" {
		return report.Counts{}, nil
	}
	all := report.Window{To: now().AddDate(1, 0, 0)}
	b := report.NewDigestBuilder(all, r.masker)
	asks := map[approval.AskID]bool{}
	read := 0
	for s, err := range r.records.ofTurn(ctx, ask.Agent, ask.TurnID, true) {
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
