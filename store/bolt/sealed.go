package bolt

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/keyring"
)

// Sealed values are encrypted by package keyring, and bound to their place: a record's body
// to its key and everything else in the record, a leaf to its index. Values that predate
// keys are recognized by their first byte, and read as they are.

// KeyFileOf returns the path of the key file of a store's file.
func KeyFileOf(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".keys"
}

func (db *DB) keyFile() string {
	if db.options.KeyFile != "" {
		return db.options.KeyFile
	}
	return KeyFileOf(db.path)
}

// RotateKeys makes a new key for what is written from now on. Existing values are
// re-encrypted with it when the store is next opened; after that the old key is dropped.
func (db *DB) RotateKeys() error {
	if err := db.keys.Rotate(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// loadKeys loads the keys of a file with sealed values, and checks them against the value
// that says which key they are sealed with.
func (db *DB) loadKeys(sealed []byte) (stale bool, err error) {
	if db.keys, err = keyring.Load(db.keyFile(), db.options.Credential); err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	if _, err := db.keys.Open(sealed, aboutFile()); err != nil {
		return false, &KeyError{db.path, db.keyFile(), err}
	}
	return keyring.KeyOf(sealed) != db.keys.Newest(), nil
}

// aboutFile is what the value is bound to that says with which key the file was written.
func aboutFile() []byte { return []byte(bucketVaglio + "\x00" + keySealed) }

// putSealed records that the whole file is written with the newest key.
func (db *DB) putSealed(tx *bbolt.Tx) error {
	return tx.Bucket([]byte(bucketVaglio)).Put([]byte(keySealed), db.keys.Seal(nil, nil, aboutFile()))
}

// sealAnew rewrites the file with the newest key, and opens the file that replaced it. No
// trace of the old values remains in the file, as it would in freed pages. If there is no
// room, a file sealed with an older key is used as it is.
func (db *DB) sealAnew() (*DB, error) {
	successor, _, err := db.copied()
	if err != nil {
		err = db.ioError("encrypt", err)
		if db.sealedSomehow() && errors.Is(err, approval.ErrFull) {
			return db, nil
		}
		return nil, errors.Join(err, db.bolt.Close())
	}
	db.successor = successor
	if err := errors.Join(db.succeed(), db.bolt.Close()); err != nil {
		return nil, fmt.Errorf("store: encrypt %s: %w", db.path, err)
	}
	fresh, _, err := openFile(db.path, db.options)
	return fresh, err
}

// sealedSomehow reports whether the file's values are encrypted.
func (db *DB) sealedSomehow() (yes bool) {
	_ = db.bolt.View(func(tx *bbolt.Tx) error {
		yes = tx.Bucket([]byte(bucketVaglio)).Get([]byte(keySealed)) != nil
		return nil
	})
	return yes
}

// tidyKeys drops the keys that neither the file nor the journal needs, and binds the others
// to the credential.
func (db *DB) tidyKeys() error {
	if err := db.keys.Bind(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if db.keys.Single() {
		return nil
	}
	used, err := db.journal.Keys()
	if err != nil {
		return nil //nolint:nilerr // What cannot be read may need any of them; its readers are told.
	}
	return db.view(func(tx *bbolt.Tx) error {
		used[keyring.KeyOf(tx.Bucket([]byte(bucketVaglio)).Get([]byte(keySealed)))] = true
		if err := db.keys.Keep(used); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		return nil
	})
}

// sealedLeaf is the first byte of a sealed leaf; others begin the way JSON does.
const sealedLeaf = 0x02

func aboutLeaf(key []byte) []byte { return append([]byte(bucketLeaf+"\x00"), key...) }

// sealLeaf returns the stored form of a leaf's value.
func sealLeaf(keys *keyring.Ring, key, value []byte) []byte {
	return keys.Seal([]byte{sealedLeaf}, value, aboutLeaf(key))
}

// openLeaf returns the value of a leaf. A value that cannot be decrypted is returned as
// stored: its hash is not the one in the tree, so its readers are told.
func openLeaf(keys *keyring.Ring, key, stored []byte) (value []byte, whole bool) {
	if len(stored) == 0 || stored[0] != sealedLeaf {
		return append([]byte{}, stored...), true
	}
	value, err := keys.Open(stored[1:], aboutLeaf(key))
	if err != nil {
		return append([]byte{}, stored...), false
	}
	return value, true
}
