// Package instance keeps what an instance remembers of itself besides the asks:
// its secrets, the notes of its channels, and who is signed in.
package instance

import (
	"cmp"
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
	passkeysRecord = "passkeys"
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

// Secrets are what an instance keys things with, each for a purpose of its own.
type Secrets struct {
	// Names keys fingerprints and masks. What they name is kept and told, and has to
	// read the same for ever, so it is never made anew; it gives no right.
	Names approval.Secret
	// Rights keys permits, the cookie's name, and what browsers carry from page to
	// page. Former keyed them before the last rotation; zero is none.
	Rights, Former approval.Secret
	// Unfinished says that a rotation was begun: sessions and permits of before may
	// still be there.
	Unfinished bool
}

// secretBody is the record of the instance's secrets, in hex. In its first form one
// secret was good for everything.
type secretBody struct {
	Version    int    `json:"v"`
	Secret     string `json:"secret"`
	Rights     string `json:"rights,omitempty"`
	Former     string `json:"former,omitempty"`
	Unfinished bool   `json:"unfinished,omitempty"`
}

const secretForm = 2

// ErrNoSecrets says that a store has none: nothing was served from it.
var ErrNoSecrets = errors.New("there are no keys to rotate: vaglio has not served this data folder")

// LoadSecrets returns the instance's secrets, which are made at the first start.
func LoadSecrets(ctx context.Context, s Store) (Secrets, error) {
	return changeSecrets(ctx, s, func(now Secrets, err error) (Secrets, error) {
		if errors.Is(err, ErrNoSecrets) {
			now.Names, err = newSecret()
			if err == nil {
				now.Rights, err = newSecret()
			}
			return now, err
		}
		return now, cmp.Or(err, approval.ErrKeep)
	})
}

// Rotate makes a new secret for rights, which [FinishRotation] follows once what the
// former one was good for is gone. A rotation that was begun and not finished makes
// none. Without secrets it is [ErrNoSecrets].
func Rotate(ctx context.Context, s Store) (Secrets, error) {
	return changeSecrets(ctx, s, func(now Secrets, err error) (Secrets, error) {
		if err != nil || now.Unfinished {
			return now, cmp.Or(err, approval.ErrKeep)
		}
		now.Former, now.Unfinished = now.Rights, true
		now.Rights, err = newSecret()
		return now, err
	})
}

// FinishRotation notes that nothing of before the rotation is good any more.
func FinishRotation(ctx context.Context, s Store) error {
	_, err := changeSecrets(ctx, s, func(now Secrets, err error) (Secrets, error) {
		if err != nil || !now.Unfinished {
			return now, cmp.Or(err, approval.ErrKeep)
		}
		now.Unfinished = false
		return now, nil
	})
	return err
}

// changeSecrets changes the record, and returns what is in it then.
func changeSecrets(ctx context.Context, s Store, change func(Secrets, error) (Secrets, error)) (Secrets, error) {
	r, err := s.Update(ctx, approval.KindMeta, secretRecord, func(r approval.Record) (approval.Record, error) {
		next, err := change(decodeSecrets(&r))
		if err != nil {
			return r, err
		}
		body := secretBody{Version: secretForm, Secret: hexOf(next.Names), Rights: hexOf(next.Rights), Former: hexOf(next.Former), Unfinished: next.Unfinished}
		r.ID = secretRecord
		r.Body, err = strictjson.Marshal(body)
		return r, err
	})
	if err != nil {
		return Secrets{}, fmt.Errorf("instance secrets: %w", err)
	}
	return decodeSecrets(&r)
}

func decodeSecrets(r *approval.Record) (s Secrets, err error) {
	if !r.Exists() && r.Body == nil {
		return s, ErrNoSecrets
	}
	var body secretBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return s, fmt.Errorf("instance secrets: %w", err)
	}
	if body.Version == 1 {
		body.Rights = body.Secret
	}
	s.Unfinished = body.Unfinished
	for _, one := range []struct {
		text string
		to   *approval.Secret
		may  bool
	}{{body.Secret, &s.Names, false}, {body.Rights, &s.Rights, false}, {body.Former, &s.Former, true}} {
		if one.text == "" && one.may {
			continue
		}
		b, err := hex.DecodeString(one.text)
		if err != nil || len(b) != len(one.to) || body.Version < 1 || body.Version > secretForm {
			return s, errors.New("instance secrets: the record is damaged, or from a newer vaglio")
		}
		copy(one.to[:], b)
	}
	return s, nil
}

func newSecret() (s approval.Secret, err error) {
	if _, err := rand.Read(s[:]); err != nil {
		return s, fmt.Errorf("instance secrets: %w", err)
	}
	return s, nil
}

// hexOf is empty for no secret.
func hexOf(s approval.Secret) string {
	if s == (approval.Secret{}) {
		return ""
	}
	return hex.EncodeToString(s[:])
}
