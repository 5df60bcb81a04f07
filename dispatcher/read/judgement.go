package read

import (
	"context"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Judgement returns what a judge agent was shown, did and said, with secrets masked as it
// was stored. If it is no longer kept, it returns [approval.ErrNotFound].
func (r *Reader) Judgement(ctx context.Context, id string) (vaglio.Judgement, error) {
	stored, err := r.records.store.Get(ctx, approval.KindJudgement, id)
	return decoded(ctx, r.records, recordKey{approval.KindJudgement, stored.ID}, &stored, err, approval.DecodeJudgement)
}

// JudgementsOf returns the kept judgements behind a verdict, in order.
func (r *Reader) JudgementsOf(ctx context.Context, v *vaglio.Verdict) (all []vaglio.Judgement) {
	for i := range v.Results {
		if id := v.Results[i].Judgement; id != "" {
			if j, err := r.Judgement(ctx, id); err == nil {
				all = append(all, j)
			}
		}
	}
	return all
}
