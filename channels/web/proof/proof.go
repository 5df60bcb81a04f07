// Package proof tells whether a request comes from the page that signed in, and not from
// somebody who holds a copy of its cookie.
//
// The page makes a key that no script can extract, and its session keeps the public half.
// Each request that changes something carries a nonce of ours and a signature over the
// session, the nonce, the address and every byte of the form. Cookies ignore ports; a key
// stays in its origin.
package proof

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Proof is what a request carries in addition to its cookie; zero if it carries nothing.
type Proof struct {
	// Nonce is one that [Verifier.Nonce] made.
	Nonce string
	// Signature is r and s of ECDSA on P-256 over SHA-256, 32 bytes each, in base64url.
	Signature string
}

const (
	// nonceHeader and signatureHeader carry a proof.
	nonceHeader     = "Vaglio-Nonce"
	signatureHeader = "Vaglio-Signature"
	// nonceFor is how long a nonce is valid.
	nonceFor = 2 * time.Minute
	// purpose begins what is signed, so that a signature for something else never verifies.
	purpose = "vaglio/inbox/answer/v1"
	// passkeyPurpose begins what a passkey signs.
	passkeyPurpose = "vaglio/inbox/passkey/v1" //nolint:gosec // It is not a secret.
	// half is the size of r and of s, in bytes.
	half = 32
)

// Of returns the proof that a request carries.
func Of(r *http.Request) Proof {
	return Proof{r.Header.Get(nonceHeader), r.Header.Get(signatureHeader)}
}

// Act is what a proof is about.
type Act struct {
	// Session is the session's id.
	Session string
	// Path is the address without its query, such as "/inbox/decide".
	Path string
	// Body is the form as it was sent.
	Body []byte
}

// Why a request does not come from the page that signed in.
var (
	ErrUnsigned = errors.New("it carries no signature")
	ErrForeign  = errors.New("its nonce was not made for this session, or by another process")
	ErrStale    = errors.New("its nonce is too old")
	ErrUsed     = errors.New("its nonce was used before")
	ErrAltered  = errors.New("its signature does not fit what was sent")
)

// KeyError says that a text is not a public key.
type KeyError struct{ err error }

func (e *KeyError) Error() string {
	return fmt.Sprintf("not a point on P-256, uncompressed, in base64url: %v", e.err)
}

// Unwrap returns the underlying error.
func (e *KeyError) Unwrap() error { return e.err }

// CheckKey returns a [*KeyError] unless the text is a public key as pages send it: the 65
// bytes of an uncompressed point on P-256, in base64url without padding.
func CheckKey(text string) error {
	_, err := parse(text)
	return err
}

// longest is the longest text that is decoded, in characters: a key has 87, a nonce 75.
const longest = 128

func decode(text string) ([]byte, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("%d characters are too many", len(text))
	}
	if strings.ContainsAny(text, "\r\n") { // the decoder ignores them
		return nil, errors.New("it has a line break")
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

func parse(text string) (*ecdsa.PublicKey, error) {
	raw, err := decode(text)
	if err != nil {
		return nil, &KeyError{err}
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return nil, &KeyError{err}
	}
	return key, nil
}

// Verifier makes nonces, and checks what was signed with them. Its nonces end with the
// process, and so does everything signed with them: none is valid twice, not even after a
// restart that forgot which were used. It is safe for concurrent use.
type Verifier struct {
	key []byte
	mu  sync.Mutex
	// used holds the nonces of valid signatures until they expire by themselves. Somebody
	// without a key adds nothing to it.
	used map[nonce]time.Time
}

// New returns a Verifier.
func New() *Verifier {
	v := &Verifier{key: make([]byte, sha256.Size), used: map[nonce]time.Time{}}
	_, _ = rand.Read(v.key) // it never fails
	return v
}

// nonce is random bytes, followed by its expiry in milliseconds of Unix time.
type nonce [16 + 8]byte

func (n *nonce) until() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(n[16:]))) //nolint:gosec // It was made of an int64.
}

// Nonce returns a nonce that is valid for one act of the session, for two minutes.
func (v *Verifier) Nonce(session string) string {
	var n nonce
	_, _ = rand.Read(n[:16]) // it never fails
	binary.BigEndian.PutUint64(n[16:], uint64(time.Now().Add(nonceFor).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(n[:], v.mac(&n, session)...))
}

func (v *Verifier) mac(n *nonce, session string) []byte {
	h := hmac.New(sha256.New, v.key)
	h.Write(n[:])
	h.Write([]byte(session))
	return h.Sum(nil)
}

// Check returns nil, once, if the owner of the public key signed the act. Otherwise it
// returns one of the errors above, and nothing is used up.
func (v *Verifier) Check(key string, a Act, p Proof) error {
	if p == (Proof{}) {
		return ErrUnsigned
	}
	n, ok := v.open(p.Nonce, a.Session)
	if !ok {
		return ErrForeign
	}
	now := time.Now()
	if !now.Before(n.until()) {
		return ErrStale
	}
	if !a.signed(key, p) {
		return ErrAltered
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for old, until := range v.used {
		if !now.Before(until) {
			delete(v.used, old)
		}
	}
	if _, ok := v.used[n]; ok {
		return ErrUsed
	}
	v.used[n] = n.until()
	return nil
}

// open reads a nonce that this process made for the session.
func (v *Verifier) open(text, session string) (n nonce, ok bool) {
	raw, err := decode(text)
	if err != nil || len(raw) != len(n)+sha256.Size {
		return nonce{}, false
	}
	copy(n[:], raw)
	return n, hmac.Equal(raw[len(n):], v.mac(&n, session))
}

// signed reports whether the owner of the key signed the act with the proof's nonce.
func (a *Act) signed(key string, p Proof) bool {
	public, err := parse(key)
	if err != nil {
		return false
	}
	raw, err := decode(p.Signature)
	if err != nil || len(raw) != 2*half {
		return false
	}
	hash := sha256.Sum256(a.message(purpose, p.Nonce))
	return ecdsa.Verify(public, hash[:], new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:]))
}

// Challenge returns what a passkey signs for the act in addition to the page's key, with
// the same nonce: a verifier that checks both accepts neither twice.
func (a *Act) Challenge(p Proof) []byte {
	hash := sha256.Sum256(a.message(passkeyPurpose, p.Nonce))
	return hash[:]
}

// message returns what is signed: a line each for purpose, session, nonce and path, and the
// form. None of the lines can contain a line break, so no two acts have the same message.
func (a *Act) message(purpose, nonce string) []byte {
	return append([]byte(strings.Join([]string{purpose, a.Session, nonce, a.Path, ""}, "\n")), a.Body...)
}
