// Package instance stores what an instance remembers besides the asks: its secrets, the notes of
// its channels, and who is signed in.
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

// The records that an instance keeps about itself.
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

// Store reads and updates records.
type Store interface {
	Reader
	Update(ctx context.Context, kind approval.Kind, idOrKey string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
}

// Secrets are an instance's keys, each for its own purpose.
type Secrets struct {
	// Names keys fingerprints and masks. What they identify is stored and shown, and must stay
	// the same forever, so this key is never rotated. It grants no rights.
	Names approval.Secret
	// Rights keys permits, the cookie's name, and what browsers carry between pages. Former is
	// its value before the last rotation; zero if there was none.
	Rights, Former approval.Secret
	// Unfinished says that a rotation has begun: sessions and permits from before may still
	// exist.
	Unfinished bool
}

// secretBody is the record of the secrets, in hex. In form 1, one secret served all purposes.
type secretBody struct {
	Version    int    `json:"v"`
	Secret     string `json:"secret"`
	Rights     string `json:"rights,omitempty"`
	Former     string `json:"former,omitempty"`
	Unfinished bool   `json:"unfinished,omitempty"`
}

const secretForm = 2

// ErrNoSecrets means that a store has no secrets, because it was never served.
var ErrNoSecrets = errors.New("there are no keys to rotate: vaglio has not served this data folder")

// LoadSecrets returns the instance's secrets. It creates them at the first start.
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

// Rotate creates a new key for rights. The caller must invalidate what the former key was good for
// and then call [FinishRotation]. If an earlier rotation is unfinished, Rotate creates no key.
// Without secrets it returns [ErrNoSecrets].
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

// FinishRotation records that nothing from before the rotation is valid any more.
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

// changeSecrets changes the record, and returns its new content.
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

// hexOf returns s in hex, "" for the zero secret.
func hexOf(s approval.Secret) string {
	if s == (approval.Secret{}) {
		return ""
	}
	return hex.EncodeToString(s[:])
}
