package webtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Authenticator is a virtual authenticator with one ES256 credential, along with the
// browser around it. A test makes it lie through its fields.
type Authenticator struct {
	// Host and Origin are those of the page that it believes to be on.
	Host, Origin string
	// Verified says that it verifies its user.
	Verified bool
	// Count is its signature counter; unless 0, it increases by itself.
	Count uint32
	// Cross says that the page is in a frame of another origin.
	Cross bool

	id      []byte
	user    []byte
	private *ecdsa.PrivateKey
}

// NewAuthenticator returns an honest authenticator.
func NewAuthenticator(host, origin string) *Authenticator {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // The machine has no source of randomness.
	}
	return &Authenticator{Host: host, Origin: origin, Verified: true, Count: 1, id: []byte(rand.Text()), private: private}
}

// Clone returns a copy with a counter of its own.
func (a *Authenticator) Clone() *Authenticator {
	c := *a
	return &c
}

// text returns base64 in the form WebAuthn uses.
func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// client returns what the browser says about a ceremony.
func (a *Authenticator) client(kind string, challenge []byte) []byte {
	return marshal(map[string]any{"type": kind, "challenge": text(challenge), "origin": a.Origin, "crossOrigin": a.Cross})
}

func marshal(v any) []byte {
	b, err := strictjson.Marshal(v)
	if err != nil {
		panic(err) // it consists of strings
	}
	return b
}

// data returns what the authenticator says about a ceremony.
func (a *Authenticator) data(flags byte) []byte {
	hash := sha256.Sum256([]byte(a.Host))
	flags |= 1 // the user is present
	if a.Verified {
		flags |= 4
	}
	if a.Count > 0 {
		a.Count++
	}
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Count)
}

// Create returns the answer to a registration, with attestation "none".
func (a *Authenticator) Create(challenge []byte) []byte {
	a.user = challenge
	point, err := a.private.PublicKey.Bytes()
	if err != nil {
		panic(err) // it is a point on P-256
	}
	var key bytes.Buffer // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
	key.Write([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20})
	key.Write(point[1:33])
	key.Write([]byte{0x22, 0x58, 0x20})
	key.Write(point[33:])
	data := append(a.data(0x40), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id))) //nolint:gosec // It has 26 bytes.
	data = append(append(data, a.id...), key.Bytes()...)
	var object bytes.Buffer // {"fmt": "none", "attStmt": {}, "authData": data}
	object.WriteString("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58")
	object.WriteByte(byte(len(data))) //nolint:gosec // It fits, see below.
	object.Write(data)
	if len(data) > 0xff {
		panic(fmt.Sprintf("webtest: %d bytes of authenticator data", len(data)))
	}
	return marshal(map[string]any{
		"id": text(a.id), "rawId": text(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": text(a.client("webauthn.create", challenge)), "attestationObject": text(object.Bytes())},
	})
}

// Assert returns the answer to a request for an assertion.
func (a *Authenticator) Assert(challenge []byte) []byte {
	data, client := a.data(0), a.client("webauthn.get", challenge)
	inner := sha256.Sum256(client)
	hash := sha256.Sum256(append(bytes.Clone(data), inner[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.private, hash[:])
	if err != nil {
		panic(err) // the machine has no random numbers
	}
	return marshal(map[string]any{
		"id": text(a.id), "rawId": text(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{
			"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature), "userHandle": text(a.user),
		},
	})
}
