package instance

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/internal/strictjson"
)

// notesBody is the record of a channel's notes.
type notesBody[N any] struct {
	Version int `json:"v"`
	Notes   N   `json:"notes"`
}

// loadNotes reads a channel's notes; if there are none, it returns the zero value.
func loadNotes[N any](ctx context.Context, from Reader, record string) (N, error) {
	var none N
	r, err := from.Get(ctx, approval.KindMeta, record)
	if errors.Is(err, approval.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	var body notesBody[N]
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return none, err
	}
	if body.Version != 1 {
		return none, errors.New("the record is from a newer vaglio")
	}
	return body.Notes, nil
}

func saveNotes[N any](ctx context.Context, s Store, record string, n N) error {
	body, err := strictjson.Marshal(notesBody[N]{1, n})
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, approval.KindMeta, record, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = record, body
		return r, nil
	})
	return err
}

// TelegramNotes keeps the bot's notes in the store.
type TelegramNotes struct{ Store Store }

// Load returns the notes.
func (m TelegramNotes) Load(ctx context.Context) (telegram.Notes, error) {
	return ReadTelegramNotes(ctx, m.Store)
}

// Save stores the notes.
func (m TelegramNotes) Save(ctx context.Context, n telegram.Notes) error {
	return saveNotes(ctx, m.Store, telegramRecord, n)
}

// ReadTelegramNotes reads the bot's notes from a store that must not be written.
func ReadTelegramNotes(ctx context.Context, from Reader) (telegram.Notes, error) {
	return loadNotes[telegram.Notes](ctx, from, telegramRecord)
}

// SlackNotes keeps the app's notes in the store.
type SlackNotes struct{ Store Store }

// Load returns the notes.
func (m SlackNotes) Load(ctx context.Context) (slack.Notes, error) {
	return loadNotes[slack.Notes](ctx, m.Store, slackRecord)
}

// Save stores the notes.
func (m SlackNotes) Save(ctx context.Context, n slack.Notes) error {
	return saveNotes(ctx, m.Store, slackRecord, n)
}
