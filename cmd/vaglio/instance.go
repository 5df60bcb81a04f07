package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The records that an instance keeps of itself.
const (
	secretRecord = "instance-secret"
	tokenRecord  = "agent-token"
)

// tokenAgent names the agents that bear the token.
const tokenAgent = "agent"

// secretBody is the record of the instance's secret.
type secretBody struct {
	Version int    `json:"v"`
	Secret  string `json:"secret"` // hex
}

// tokenBody is the record of the agents' token.
type tokenBody struct {
	Version int    `json:"v"`
	SHA256  string `json:"sha256"` // hex
}

// instanceSecret returns the secret that fingerprints, permits and sessions
// derive from. It is made at the first start and never changes.
func instanceSecret(ctx context.Context, s dispatcher.Store) (approval.Secret, error) {
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

// agentToken returns the hash of the token that agents bear, and keeps it, and
// nothing but the hash, in the store. The token is the operator's, or the one
// in the token file, or, when there is neither, a new one in that file.
func agentToken(ctx context.Context, s dispatcher.Store, c config, log *slog.Logger) ([sha256.Size]byte, error) {
	token, made, err := c.AgentToken, false, error(nil)
	if token == "" {
		token, made, err = fileToken(filepath.Join(c.DataDir, tokenFile))
	}
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("agent token: %w", err)
	}
	hash := sha256.Sum256([]byte(token))
	replaced := false
	_, err = s.Update(ctx, approval.KindMeta, tokenRecord, func(r approval.Record) (approval.Record, error) {
		body, err := strictjson.Marshal(tokenBody{1, hex.EncodeToString(hash[:])})
		if err != nil {
			return r, err
		}
		if string(body) == string(r.Body) {
			return r, approval.ErrKeep
		}
		replaced = r.Exists()
		r.ID, r.Body = tokenRecord, body
		return r, nil
	})
	if err != nil {
		return hash, fmt.Errorf("agent token: %w", err)
	}
	switch {
	case replaced && made:
		log.WarnContext(ctx, "the agents' token file was missing: a new token was made, the old one no longer works", "file", tokenFile)
	case replaced:
		log.WarnContext(ctx, "the agents' token changed: the old one no longer works")
	}
	return hash, nil
}

// fileToken reads the token from its file. A missing file is made, with a new
// token; made says so.
func fileToken(path string) (token secret, made bool, err error) {
	token, err = readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	token = secret("vaglio_" + rand.Text() + rand.Text())
	if err := writeFile(path, string(token)+"\n"); err != nil {
		return "", false, err
	}
	return token, true, nil
}

// writeFile writes a file that only the owner can read, whole or not at all.
func writeFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), newFile+"*") // mode 0600
	if err != nil {
		return plain(err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(plain(err), os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a new name in the folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return plain(err)
	}
	return errors.Join(d.Sync(), d.Close())
}
