package main

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
)

// endedRecord is where the inbox keeps which sessions were ended.
const endedRecord = "ended-sessions"

// endedMemory keeps the inbox's ended sessions in the store.
type endedMemory struct{ store dispatcher.Store }

// endedBody is the record of the ended sessions.
type endedBody struct {
	Version int              `json:"v"`
	Ended   map[string]int64 `json:"ended"`
}

// load returns the ended sessions.
func (m endedMemory) load(ctx context.Context) (map[string]int64, error) {
	r, err := m.store.Get(ctx, approval.KindMeta, endedRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var body endedBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return nil, err
	}
	if body.Version != 1 {
		return nil, errors.New("the record of ended sessions is from a newer vaglio")
	}
	return body.Ended, nil
}

// save stores the ended sessions.
func (m endedMemory) save(ctx context.Context, ended map[string]int64) error {
	body, err := strictjson.Marshal(endedBody{1, ended})
	if err != nil {
		return err
	}
	_, err = m.store.Update(ctx, approval.KindMeta, endedRecord, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = endedRecord, body
		return r, nil
	})
	return err
}
