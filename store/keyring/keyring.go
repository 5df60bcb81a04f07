// Package keyring encrypts the values of a store, so that a copy of its files is useless
// without the keys. The keys are in a file of their own next to the store's file, with mode
// 0600, and are encrypted there under a credential if the service has one.
//
// Each value is encrypted with AES-256-GCM under the newest key with a random 96-bit nonce,
// and bound to what it is about, so that none can take the place of another. A key is good
// for 2^32 values (NIST SP 800-38D, 8.3): at ten per second that is thirteen years.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Ring holds the keys of one store. It is safe for concurrent use; a nil Ring has no keys.
type Ring struct {
	path       string
	credential []byte
	// changing is held while the file is written.
	changing sync.Mutex
	keys     atomic.Pointer[[]key] // oldest first, never empty
}

// key is one data key. Its id says which key a value is encrypted with.
type key struct {
	id     uint32
	secret [secretBytes]byte
	aead   cipher.AEAD
}

const (
	secretBytes = 32
	idBytes     = 4
	// Overhead is how many bytes encryption adds to a value: the key's id, the nonce and
	// the tag.
	Overhead = idBytes + 12 + 16
)

var (
	// ErrNoKey says that a value was encrypted with a key that is not in the ring.
	ErrNoKey = errors.New("the key that it is encrypted with is not in the key file")
	// ErrAltered says that a value is not what was encrypted, or is about something else.
	ErrAltered = errors.New("it does not decrypt to what was written")
)

// Seal appends the value to to, encrypted with the newest key and bound to about.
func (r *Ring) Seal(to, value, about []byte) []byte {
	k := r.newest()
	return k.aead.Seal(binary.BigEndian.AppendUint32(to, k.id), nil, value, about) //nolint:gosec // The cipher makes a random nonce.
}

// Open returns the value that was sealed with the same about. The error is [ErrNoKey] or
// [ErrAltered].
func (r *Ring) Open(sealed, about []byte) ([]byte, error) {
	return r.OpenInto([]byte{}, sealed, about)
}

// OpenInto is like [Ring.Open] but appends the value to to and returns the result.
func (r *Ring) OpenInto(to, sealed, about []byte) ([]byte, error) {
	if len(sealed) < Overhead {
		return nil, ErrAltered
	}
	k := r.find(KeyOf(sealed))
	if k == nil {
		return nil, ErrNoKey
	}
	value, err := k.aead.Open(to, nil, sealed[idBytes:], about)
	if err != nil {
		return nil, ErrAltered
	}
	return value, nil
}

// KeyOf returns the id of the key that a value was sealed with; 0 if the value is too
// short.
func KeyOf(sealed []byte) uint32 {
	if len(sealed) < idBytes {
		return 0
	}
	return binary.BigEndian.Uint32(sealed)
}

// Newest returns the id of the key that values are sealed with.
func (r *Ring) Newest() uint32 { return r.newest().id }

// Single reports whether there is only one key.
func (r *Ring) Single() bool { return len(*r.keys.Load()) == 1 }

// Rotate makes a new key, which seals values from now on. The others stay for reading. The
// new key is on disk before it is used.
func (r *Ring) Rotate() error {
	return r.change(func(all []key) []key { return append(slices.Clone(all), newKey(all)) })
}

// Keep drops the keys that are neither used nor the newest.
func (r *Ring) Keep(used map[uint32]bool) error {
	return r.change(func(all []key) []key {
		last := len(all) - 1
		old := slices.DeleteFunc(slices.Clone(all[:last]), func(k key) bool { return !used[k.id] })
		return append(old, all[last])
	})
}

// change writes other keys to the file, and then uses them.
func (r *Ring) change(next func([]key) []key) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	was := *r.keys.Load()
	now := next(was)
	if len(now) == len(was) {
		return nil
	}
	if err := r.write(now); err != nil {
		return err
	}
	r.keys.Store(&now)
	return nil
}

func (r *Ring) newest() *key {
	all := *r.keys.Load()
	return &all[len(all)-1]
}

func (r *Ring) find(id uint32) *key {
	if r == nil {
		return nil
	}
	all := *r.keys.Load()
	if i := slices.IndexFunc(all, func(k key) bool { return k.id == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// newKey makes a key with an id that none of the others has.
func newKey(others []key) (k key) {
	var id [idBytes]byte
	for k.id == 0 || slices.ContainsFunc(others, func(o key) bool { return o.id == k.id }) {
		_, _ = rand.Read(id[:]) // never returns an error
		k.id = binary.BigEndian.Uint32(id[:])
	}
	_, _ = rand.Read(k.secret[:])
	k.aead = cipherOf(k.secret)
	return k
}

// cipherOf returns the cipher of a secret.
func cipherOf(secret [secretBytes]byte) cipher.AEAD {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		panic(err) // the secret has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the block cipher is AES
	}
	return aead
}
