// Package webtest signs in Go what the inbox's page signs in a browser, for tests that
// press its buttons without one.
package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Key is what a browser that signed in signs with.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey returns a fresh key.
func NewKey() *Key {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the machine has no random numbers
	}
	return &Key{private}
}

// Public returns the value of "key" in the form that signs in.
func (k *Key) Public() string {
	raw, err := k.private.PublicKey.Bytes()
	if err != nil {
		panic(err) // it is a point on P-256
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Offer is the answer to GET /inbox/nonce.
type Offer struct {
	// Session is the session's id.
	Session string `json:"session"`
	// Key is the public key of the session; empty if it has none.
	Key string `json:"key"`
	// Nonce is valid for one request of the session.
	Nonce string `json:"nonce"`
	// Host is what passkeys belong to at the address, and Passkeys are their ids.
	Host     string   `json:"host"`
	Passkeys [][]byte `json:"passkeys"`
}

// ReadOffer reads an answer to GET /inbox/nonce.
func ReadOffer(body []byte) (Offer, error) {
	var o Offer
	if err := strictjson.UnmarshalLoose(body, &o); err != nil {
		return o, fmt.Errorf("webtest: %w in %.200q", err, body)
	}
	return o, nil
}

// Challenge returns what an authenticator signs for a form that is sent to the path.
func (o *Offer) Challenge(path, body string) []byte {
	hash := sha256.Sum256([]byte("vaglio/inbox/passkey/v1\n" + o.Session + "\n" + o.Nonce + "\n" + path + "\n" + body))
	return hash[:]
}

// Sign signs a form that is sent to the path, and puts the proof into its request's header.
func (k *Key) Sign(h http.Header, o Offer, path, body string) {
	hash := sha256.Sum256([]byte("vaglio/inbox/answer/v1\n" + o.Session + "\n" + o.Nonce + "\n" + path + "\n" + body))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, hash[:])
	if err != nil {
		panic(err) // the machine has no random numbers
	}
	var both [64]byte
	r.FillBytes(both[:32])
	s.FillBytes(both[32:])
	h.Set("Vaglio-Nonce", o.Nonce)
	h.Set("Vaglio-Signature", base64.RawURLEncoding.EncodeToString(both[:]))
}
