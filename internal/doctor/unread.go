package doctor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/terminal"
)

// unreadNamed is how many unreadable records the doctor lists.
const unreadNamed = 10

// UnreadWarning says in one sentence, for whoever reads the readiness probe, that stored records
// cannot be read; "" if all can.
func UnreadWarning(all []*approval.UnreadError) string {
	newer := 0
	for _, e := range all {
		if isNewer(e) {
			newer++
		}
	}
	var why string
	switch {
	case len(all) == 0:
		return ""
	case newer == len(all):
		why = "a newer vaglio wrote them"
	case newer == 0:
		why = "they are damaged"
	default:
		why = fmt.Sprintf("a newer vaglio wrote %d of them, and the others are damaged", newer)
	}
	return fmt.Sprintf("Stored records that cannot be read: %d; %s. The calls that they are about stay denied; 'vaglio doctor' names them.", len(all), why)
}

// isNewer reports whether a newer version of the program wrote the record.
func isNewer(e *approval.UnreadError) bool {
	form, ok := errors.AsType[*approval.FormError](e)
	return ok && form.Found > form.Known
}

// unread reports the stored records that cannot be read.
func (c *Chart) unread(all []*approval.UnreadError) {
	const subject = "records"
	for _, e := range all[:min(len(all), unreadNamed)] {
		remedy := "Restore the store from a backup if the record matters; everything else goes on without it."
		if isNewer(e) {
			remedy = "Use the newer vaglio that wrote it; everything else goes on without it."
		}
		c.Found(subject, approval.Wrong, terminal.Sentence(e.Error()), remedy)
	}
	if more := len(all) - unreadNamed; more > 0 {
		c.Found(subject, approval.Wrong, fmt.Sprintf("%d more cannot be read.", more), "Do the same for them.")
	}
}

// reader lists a store's records and the stretches of its journal.
type reader interface {
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	Stretches(ctx context.Context) ([]approval.Stretch, error)
}

// UnreadIn reads every ask and every step, and returns those that cannot be read, together with the
// unreadable parts of the journal.
func UnreadIn(ctx context.Context, s reader) ([]*approval.UnreadError, error) {
	asks, err := unreadOf(ctx, s, approval.KindAsk, func(body []byte) error { _, err := approval.DecodeAsk(body); return err })
	if err != nil {
		return nil, err
	}
	steps, err := unreadOf(ctx, s, approval.KindStep, func(body []byte) error { _, err := approval.DecodeStep(body); return err })
	if err != nil {
		return nil, err
	}
	stretches, err := s.Stretches(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	all := slices.Concat(asks, steps)
	for i := range stretches {
		if stretches[i].Unread != nil {
			all = append(all, stretches[i].Unread)
		}
	}
	return all, nil
}

func unreadOf(ctx context.Context, s reader, kind approval.Kind, decode func([]byte) error) (all []*approval.UnreadError, err error) {
	for r, err := range s.List(ctx, approval.Query{Kind: kind}) {
		if err == nil {
			if err = decode(r.Body); err == nil {
				continue
			}
			err = &approval.UnreadError{Kind: kind, ID: r.ID, Err: err}
		}
		e, ok := errors.AsType[*approval.UnreadError](err)
		if !ok {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		all = append(all, e)
	}
	return all, nil
}
