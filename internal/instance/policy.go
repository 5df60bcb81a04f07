package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// policyRecord is the record of the policy under which the store was last served.
const policyRecord = "policy"

// policyBody is the body of the record.
type policyBody struct {
	Version int `json:"v"`
	// SHA256 is the hash of the policy's text, in hex.
	SHA256 string `json:"sha256"`
}

// PolicyChanged stores the hash of the policy's text, and calls tell first if it has changed. If
// tell fails, the hash is not stored, and the next start calls tell again.
func PolicyChanged(ctx context.Context, s Store, text []byte, tell func(sum string) error) error {
	h := sha256.Sum256(text)
	sum := hex.EncodeToString(h[:])
	before, err := loadPolicy(ctx, s)
	if err != nil || before == sum {
		return err
	}
	if before != "" {
		if err := tell(sum); err != nil {
			return err
		}
	}
	body, err := strictjson.Marshal(policyBody{1, sum})
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, approval.KindMeta, policyRecord, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = policyRecord, body
		return r, nil
	})
	if err != nil {
		return fmt.Errorf("keep the policy's hash: %w", err)
	}
	return nil
}

// loadPolicy returns the hash of the last start, "" if there is none.
func loadPolicy(ctx context.Context, from Reader) (string, error) {
	r, err := from.Get(ctx, approval.KindMeta, policyRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return "", nil
	}
	var b policyBody
	if err == nil {
		err = strictjson.Unmarshal(r.Body, &b)
	}
	if err != nil {
		return "", fmt.Errorf("read the policy's hash: %w", err)
	}
	return b.SHA256, nil
}
