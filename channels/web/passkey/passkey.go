// Package passkey keeps the passkeys of the person who signs in to the inbox, and tells
// whether one of them was used for what was asked.
//
// What an authenticator signs begins with a challenge from the caller: it covers everything
// that the person agrees to, and a single-use nonce. So an answer is valid for nothing
// else, and never twice.
package passkey

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Passkey is a registered passkey.
type Passkey struct {
	// Name is the person's name for it; names are unique.
	Name string `json:"name"`
	// ID is the authenticator's name for it, and Key the public half, in COSE.
	ID  []byte `json:"id"`
	Key []byte `json:"key"`
	// User is the account under which the authenticator keeps it: a separate one for each,
	// so that another passkey on the same authenticator replaces none.
	User []byte `json:"user"`
	// Host is where it can be used: the relying party's id.
	Host string `json:"host"`
	// Count is its own signature counter; 0 if it has none. Synced says that it may be on
	// several devices, which never changes.
	Count  uint32    `json:"count,omitempty"`
	Synced bool      `json:"synced,omitempty"`
	Made   time.Time `json:"made"`
	// Used is when it was last used; zero means never.
	Used time.Time `json:"used,omitzero"`
}

// Site is where a passkey is used.
type Site struct {
	// Host is a name, never a numeric address.
	Host string
	// Origin is the page's origin in the browser, such as "http://localhost:8787".
	Origin string
}

// Keep stores the passkeys beyond the process.
type Keep interface {
	// Load returns what was last saved.
	Load(ctx context.Context) ([]Passkey, error)
	// Save stores all passkeys. If it returns nil, they are on disk.
	Save(ctx context.Context, all []Passkey) error
}

const (
	// Most is the largest number of passkeys.
	Most = 16
	// MaxName is the longest name, in characters.
	MaxName = 40
)

// Why an authenticator's answer, or a change, is not valid. The library's error is joined
// to it.
var (
	ErrShape      = errors.New("it is not an answer of an authenticator")
	ErrUnknown    = errors.New("no passkey of this site is known by its id")
	ErrUnverified = errors.New("the authenticator did not check who uses it")
	ErrUnfit      = errors.New("it does not fit what was sent, or the page that sent it")
	ErrCloned     = errors.New("the passkey's use count went down: somebody else may have a copy")
	ErrName       = fmt.Errorf("a passkey's name has 1 to %d characters that can be seen", MaxName)
	ErrTaken      = errors.New("there is a passkey of that name, or the same passkey by another name")
	ErrMany       = fmt.Errorf("there are already %d passkeys, the maximum: remove one first", Most)
	ErrNone       = errors.New("there is no passkey of that name")
)

// Ring holds all passkeys. It is safe for concurrent use.
type Ring struct {
	keep Keep

	mu  sync.Mutex
	all []Passkey
}

// Open loads the stored passkeys; with a nil keep they are forgotten when the process ends.
func Open(ctx context.Context, keep Keep) (*Ring, error) {
	r := &Ring{keep: keep}
	if keep == nil {
		return r, nil
	}
	var err error
	if r.all, err = keep.Load(ctx); err != nil {
		return nil, fmt.Errorf("passkey: read the passkeys: %w", err)
	}
	return r, nil
}

// List returns the passkeys, oldest first.
func (r *Ring) List() []Passkey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Any reports whether there is one.
func (r *Ring) Any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) > 0
}

// At returns those that can be used at a host.
func (r *Ring) At(host string) []Passkey {
	return slices.DeleteFunc(r.List(), func(p Passkey) bool { return p.Host != host })
}

// Check returns nil if the answer, as WebAuthn JSON, is an assertion of one of the passkeys
// for the challenge with the user verified, and its count is stored.
func (r *Ring) Check(ctx context.Context, at Site, challenge, answer []byte) error {
	said, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return joined(ErrShape, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(p Passkey) bool { return p.Host == at.Host && bytes.Equal(p.ID, said.RawID) })
	if i < 0 {
		return ErrUnknown
	}
	one := r.all[i]
	library, err := relying(at)
	if err != nil {
		return err
	}
	session := sessionOf(challenge, one.User)
	session.AllowedCredentialIDs = [][]byte{one.ID}
	used, err := library.ValidateLogin(holder{one.User, one.Name, []webauthn.Credential{one.credential()}}, session, said)
	switch {
	case !said.Response.AuthenticatorData.Flags.HasUserVerified():
		return joined(ErrUnverified, err)
	case err != nil:
		return joined(ErrUnfit, err)
	case used.Authenticator.CloneWarning:
		return ErrCloned
	}
	one.Count, one.Used = used.Authenticator.SignCount, time.Now().UTC().Round(0)
	next := slices.Clone(r.all)
	next[i] = one
	return r.save(ctx, next)
}

// Add registers what the authenticator made for the challenge, after calling tell.
func (r *Ring) Add(ctx context.Context, at Site, challenge, answer []byte, name string, tell func(context.Context) error) error {
	if !named(name) {
		return ErrName
	}
	said, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return joined(ErrShape, err)
	}
	library, err := relying(at)
	if err != nil {
		return err
	}
	session := sessionOf(challenge, challenge)
	for _, alg := range []webauthncose.COSEAlgorithmIdentifier{webauthncose.AlgES256, webauthncose.AlgEdDSA, webauthncose.AlgRS256} {
		session.CredParams = append(session.CredParams, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: alg})
	}
	made, err := library.CreateCredential(holder{id: challenge, name: name}, session, said)
	switch {
	case !said.Response.AttestationObject.AuthData.Flags.HasUserVerified():
		return joined(ErrUnverified, err)
	case err != nil:
		return joined(ErrUnfit, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.all, func(p Passkey) bool { return p.Name == name || bytes.Equal(p.ID, made.ID) }) {
		return ErrTaken
	}
	if len(r.all) >= Most {
		return ErrMany
	}
	if err := tell(ctx); err != nil {
		return err
	}
	return r.save(ctx, append(slices.Clone(r.all), Passkey{
		Name: name, ID: made.ID, Key: made.PublicKey, User: challenge, Host: at.Host,
		Count: made.Authenticator.SignCount, Synced: made.Flags.BackupEligible, Made: time.Now().UTC().Round(0),
	}))
}

// Remove forgets a passkey, after calling tell.
func (r *Ring) Remove(ctx context.Context, name string, tell func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(p Passkey) bool { return p.Name == name })
	if i < 0 {
		return ErrNone
	}
	if err := tell(ctx); err != nil {
		return err
	}
	return r.save(ctx, slices.Delete(slices.Clone(r.all), i, i+1))
}

// save stores the passkeys, and then uses them; r.mu must be held.
func (r *Ring) save(ctx context.Context, all []Passkey) error {
	if r.keep != nil {
		if err := r.keep.Save(ctx, slices.Clone(all)); err != nil {
			return fmt.Errorf("passkey: keep the passkeys: %w", err)
		}
	}
	r.all = all
	return nil
}

// credential returns the passkey in the library's form.
func (p *Passkey) credential() webauthn.Credential {
	return webauthn.Credential{
		ID: p.ID, PublicKey: p.Key, Flags: webauthn.CredentialFlags{BackupEligible: p.Synced},
		Authenticator: webauthn.Authenticator{SignCount: p.Count},
	}
}

// relying returns the library's configuration for one site.
func relying(at Site) (*webauthn.WebAuthn, error) {
	w, err := webauthn.New(&webauthn.Config{RPID: at.Host, RPDisplayName: "vaglio", RPOrigins: []string{at.Origin}})
	if err != nil {
		return nil, fmt.Errorf("passkey: %w", err)
	}
	return w, nil
}

func sessionOf(challenge, user []byte) webauthn.SessionData {
	return webauthn.SessionData{
		Challenge: base64.RawURLEncoding.EncodeToString(challenge), UserID: user, UserVerification: protocol.VerificationRequired,
	}
}

// joined returns the error joined with the library's.
func joined(err, why error) error {
	if why == nil {
		return err
	}
	return fmt.Errorf("%w: %w", err, why)
}

func named(name string) bool {
	n := utf8.RuneCountInString(name)
	return n >= 1 && n <= MaxName && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}

// holder is the account of one passkey.
type holder struct {
	id    []byte
	name  string
	owned []webauthn.Credential
}

// WebAuthnID returns the account's id.
func (h holder) WebAuthnID() []byte { return h.id }

// WebAuthnName returns the account's name.
func (h holder) WebAuthnName() string { return h.name }

// WebAuthnDisplayName returns the account's name.
func (h holder) WebAuthnDisplayName() string { return h.name }

// WebAuthnCredentials returns the account's credentials.
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.owned }
