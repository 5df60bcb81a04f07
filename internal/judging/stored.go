package judging

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	models "github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/mask"
)

// Store updates records.
type Store interface {
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
}

// Stored returns the means for a daemon: its spending and records are kept in the store.
func Stored(s Store, masker mask.Masker) Means {
	return Means{Masker: masker, Ledger: ledger{s}, Records: judgements{s}, Meters: models.NewMeters()}
}

// judgements stores the executions of judge agents.
type judgements struct{ store Store }

// Keep stores a judgement.
func (s judgements) Keep(ctx context.Context, j vaglio.Judgement) error {
	body, err := approval.EncodeJudgement(j)
	if err != nil {
		return err
	}
	_, err = s.store.Update(ctx, approval.KindJudgement, j.ID, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = j.ID, body
		return r, nil
	})
	return err
}

// ledger stores what judging cost, by day.
type ledger struct{ store Store }

type spentBody struct {
	Version int          `json:"v"`
	Spent   budget.Spent `json:"spent"`
}

// Add adds to the spending of a day.
func (l ledger) Add(ctx context.Context, day string, by budget.Spent) (sum budget.Spent, err error) {
	id := "judge-budget/" + day
	_, err = l.store.Update(ctx, approval.KindMeta, id, func(r approval.Record) (approval.Record, error) {
		body := spentBody{Version: 1}
		if r.Exists() {
			if err := strictjson.Unmarshal(r.Body, &body); err != nil {
				return r, err
			}
			if body.Version != 1 {
				return r, errors.New("the record of what judging cost is from a newer vaglio")
			}
		}
		body.Spent.Calls, body.Spent.Cost = body.Spent.Calls+by.Calls, body.Spent.Cost+by.Cost
		sum = body.Spent
		text, err := strictjson.Marshal(body)
		r.ID, r.Body = id, text
		return r, err
	})
	return sum, err
}
