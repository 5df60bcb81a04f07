package approval

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// Fingerprint is the HMAC-SHA256 over the canonical form (RFC 8785) of agent, executor,
// args, workspace and the content of the files that the call runs, in hex. Two calls with
// equal fingerprints are the same call.
type Fingerprint string

// Secret keys fingerprints, permits and masks, each under its own label. It cannot be
// printed.
type Secret [32]byte

const hidden = "[secret]"

// String returns a fixed text, so that no message holds the secret.
func (Secret) String() string { return hidden }

// Format writes the same fixed text for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue makes logs show the same fixed text.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText makes text encoders write the same fixed text.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON makes JSON encoders write the same fixed text.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// The labels that keep apart the things that one secret keys.
const (
	labelFingerprint = "vaglio fingerprint 1"
	labelPermit      = "vaglio permit 1"
	labelMask        = "vaglio mask 1"
	labelDigits      = "vaglio digits 1"
)

func (s Secret) mac(label string, data []byte) []byte {
	h := hmac.New(sha256.New, s[:])
	h.Write([]byte(label))
	h.Write([]byte{0})
	h.Write(data)
	return h.Sum(nil)
}

// covered is what a fingerprint covers: everything that decides what would run,
// and nothing that does not.
type covered struct {
	Agent     string         `json:"agent"`
	Executor  string         `json:"executor"`
	Args      map[string]any `json:"args"`
	Workspace workspace      `json:"workspace"`
	Sources   []source       `json:"sources,omitempty"`
}

// source is a file that the call runs. A file that could not be read is bound by its name
// alone.
type source struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type workspace struct {
	Cwd    string   `json:"cwd"`
	Mounts []string `json:"mounts"`
	// Elsewhere marks a workspace on another machine, whatever its name here.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Fingerprint returns the fingerprint of the proposed call and the files that it runs. It
// returns an error if the call has no canonical form, for example because a string is not
// valid UTF-8.
func (s Secret) Fingerprint(p vaglio.Proposal, sources []vaglio.Source) (Fingerprint, error) {
	c := covered{
		Agent: p.Agent, Executor: p.Executor, Args: p.Args,
		Workspace: workspaceOf(p),
	}
	if c.Args == nil {
		c.Args = map[string]any{}
	}
	for _, f := range sources {
		c.Sources = append(c.Sources, source{Path: f.Path, SHA256: f.SHA256})
	}
	form, err := strictjson.Canonical(c)
	if err != nil {
		return "", fmt.Errorf("fingerprint: %w", err)
	}
	return Fingerprint(hex.EncodeToString(s.mac(labelFingerprint, form))), nil
}

// workspaceOf returns where a call runs.
func workspaceOf(p vaglio.Proposal) workspace {
	w := workspace{Cwd: p.Context.Cwd, Mounts: p.Context.Mounts, Elsewhere: p.Elsewhere}
	if w.Mounts == nil {
		w.Mounts = []string{}
	}
	return w
}

// Permit returns the text of the approval's permit. It is the right to run the call: anyone
// who has it and the agent's credentials can redeem it.
func (s Secret) Permit(id ID) string {
	const bytes = 20
	sum := s.mac(labelPermit, []byte(id))[:bytes]
	return string(id) + "." + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum))
}

// ParsePermit returns the approval that a permit is for, or [ErrNotFound] for any text that
// [Secret.Permit] did not make.
func (s Secret) ParsePermit(text string) (ID, error) {
	i := strings.LastIndexByte(text, '.')
	id := ID(text[:max(i, 0)])
	if !hmac.Equal([]byte(s.Permit(id)), []byte(text)) || id == "" {
		return "", ErrNotFound
	}
	return id, nil
}

// Permits makes permits and reads them.
type Permits struct {
	// Secret keys permits. Former keyed those issued before the last rotation, which are
	// void; the zero value means there was none.
	Secret, Former Secret
}

// Of returns the text of the approval's permit.
func (p *Permits) Of(id ID) string { return p.Secret.Permit(id) }

// Parse returns the approval that a permit is for, and whether the permit is void because
// the keys were rotated since. It returns [ErrNotFound] for any other text.
func (p *Permits) Parse(text string) (id ID, void bool, err error) {
	id, err = p.Secret.ParsePermit(text)
	if err == nil || p.Former == (Secret{}) {
		return id, false, err
	}
	id, err = p.Former.ParsePermit(text)
	return id, err == nil, err
}

// digest shortens text to a name of fixed length.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
