// Package instance keeps what an instance remembers of itself besides the asks:
// its secret, the notes of its channels, and who is signed in.
package instance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The records that an instance keeps of itself.
const (
	secretRecord   = "instance-secret"
	telegramRecord = "telegram"
	slackRecord    = "slack"
	sessionsRecord = "sessions"
)

// Reader reads records.
type Reader interface {
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
}

// Store keeps records.
type Store interface {
	Reader
	Update(ctx context.Context, kind approval.Kind, idOrKey string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
}

// secretBody is the record of the instance's secret.
type secretBody struct {
	Version int    `json:"v"`
	Secret  string `json:"secret"` // hex
}

// Secret returns the secret that fingerprints, permits and sessions
// derive from. It is made at the first start and never changes.
func Secret(ctx context.Context, s Store) (approval.Secret, error) {
	var fresh, got approval.Secret
	if _, err := rand.Read(fresh[:]); err != nil {
		return got, fmt.Errorf("instance secret: %w", err)
	}
	r, err := s.Update(ctx, approval.KindMeta, secretRecord, func(r approval.Record) (approval.Record, error) {
		if r.Exists() {
			return r, approval.ErrKeep
		}
		body, err := strictjson.Marshal(secretBody{1, hex.EncodeToString(fresh[:])})
		r.ID, r.Body = secretRecord, body
		return r, err
	})
	if err != nil {
		return got, fmt.Errorf("instance secret: %w", err)
	}
	var body secretBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return got, fmt.Errorf("instance secret: %w", err)
	}
	b, err := hex.DecodeString(body.Secret)
	if err != nil || len(b) != len(got) || body.Version != 1 {
		return got, errors.New("instance secret: the record is damaged, or from a newer vaglio")
	}
	copy(got[:], b)
	return got, nil
}
