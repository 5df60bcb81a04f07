package keyring

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/internal/regular"
)

// The key file consists of lines: the form, then one key on each, oldest first. A key is
// its id followed by either the key itself or the key encrypted under a key derived from
// the credential, in hex.
const (
	fileForm  = "vaglio keys 1"
	lineOpen  = "open"
	lineBound = "bound"

	fileMode = 0o600
	// others are the permissions that nobody else may have on the file.
	others = 0o077
	// fileMost is the longest file that is read: some thousand rotations.
	fileMost = 1 << 20
)

// ErrMissing says that there is no key file. It does not say that there is no store.
var ErrMissing = errors.New("there is no key file")

// FileError says why a key file cannot be used. Nothing was changed.
type FileError struct {
	File, Problem string
	// Err is the system's error; nil if there was none.
	Err error
}

func (e *FileError) Error() string { return fmt.Sprintf("key file %s: %s", e.File, e.Problem) }

func (e *FileError) Unwrap() error { return e.Err }

// Load reads the keys from the file. The credential, if there is one, decrypts those that
// are bound to it. Errors: a [*FileError], which wraps [ErrMissing] if the file does not
// exist.
func Load(path string, credential []byte) (*Ring, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	r := &Ring{path: path, credential: credential}
	all, err := r.parse(string(text))
	if err != nil {
		return nil, err
	}
	r.keys.Store(&all)
	return r, nil
}

// read returns the contents of a key file, which only its owner may be able to access.
func read(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{path, "is not there, and the store cannot be read without it; put it back from the backup that the store is of", ErrMissing}
	}
	if err != nil {
		return nil, &FileError{path, "cannot be read: " + plain(err).Error(), err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&others != 0 {
		return nil, &FileError{path, fmt.Sprintf("can be used by others (mode %04o); run chmod 600 %s", info.Mode().Perm(), path), nil}
	}
	text, errRead := io.ReadAll(io.LimitReader(f, fileMost+1))
	if err := errors.Join(err, errRead); err != nil {
		return nil, &FileError{path, "cannot be read: " + plain(err).Error(), err}
	}
	if len(text) > fileMost {
		return nil, &FileError{path, fmt.Sprintf("is longer than %d bytes: it is not a key file", fileMost), nil}
	}
	return text, nil
}

// plain returns the error without the file's name, which is already given.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Make loads the file, and creates one with one key if there is none.
func Make(path string, credential []byte) (*Ring, error) {
	r, err := Load(path, credential)
	if !errors.Is(err, ErrMissing) {
		return r, err
	}
	r = &Ring{path: path, credential: credential}
	r.keys.Store(&[]key{newKey(nil)})
	return r, r.write(*r.keys.Load())
}

// Bind rewrites the file if it holds unbound keys although there is a credential now.
func (r *Ring) Bind() error {
	if len(r.credential) == 0 {
		return nil
	}
	text, err := read(r.path)
	if err != nil || !bytes.Contains(text, []byte("\n"+lineOpen+" ")) {
		return err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.write(*r.keys.Load())
}

func (r *Ring) parse(text string) (all []key, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != fileForm {
		return nil, &FileError{r.path, fmt.Sprintf("does not begin with %q: it is not a key file, or a newer vaglio's", fileForm), nil}
	}
	for i, line := range lines[1:] {
		k, problem := r.parseLine(line)
		if problem != "" {
			return nil, &FileError{r.path, fmt.Sprintf("line %d %s", i+2, problem), nil}
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		return nil, &FileError{r.path, "holds no key", nil}
	}
	return all, nil
}

// parseLine reads a key, or says what is wrong with it without quoting it.
func (r *Ring) parseLine(line string) (k key, problem string) {
	const form = "is not a key: it should be 'open' or 'bound', 8 hex digits, and the key in hex"
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return k, form
	}
	id, err := strconv.ParseUint(f[1], 16, 8*idBytes)
	secret, errHex := hex.DecodeString(f[2])
	if err != nil || errHex != nil || id == 0 || len(f[1]) != 2*idBytes {
		return k, form
	}
	k.id = uint32(id)
	switch f[0] {
	case lineOpen:
	case lineBound:
		if secret, problem = r.unbind(k.id, secret); problem != "" {
			return k, problem
		}
	default:
		return k, form
	}
	if len(secret) != len(k.secret) {
		return k, fmt.Sprintf("holds a key of %d bytes, and keys have %d", len(secret), len(k.secret))
	}
	copy(k.secret[:], secret)
	k.aead = cipherOf(k.secret)
	return k, ""
}

// unbind decrypts a key that is bound to the credential.
func (r *Ring) unbind(id uint32, secret []byte) (_ []byte, problem string) {
	if len(r.credential) == 0 {
		return nil, "is bound to a credential, and none was given: start it with LoadCredential=" + Credential + ":PATH"
	}
	wrap, err := wrapperOf(r.credential)
	if err != nil {
		return nil, err.Error()
	}
	if secret, err = wrap.Open(nil, nil, secret, aboutKey(id)); err != nil {
		return nil, "is bound to another credential"
	}
	return secret, ""
}

// Credential is the name of a service's credential for the keys.
const Credential = "vaglio.key" //nolint:gosec // The name of one.

// wrapperOf returns the cipher for keys that are bound to a credential.
func wrapperOf(credential []byte) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, credential, nil, fileForm, secretBytes)
	if err != nil {
		return nil, err
	}
	return cipherOf([secretBytes]byte(secret)), nil
}

func aboutKey(id uint32) []byte { return fmt.Appendf(nil, "key %08x", id) }

// write replaces the file with the keys, in one step.
func (r *Ring) write(all []key) error {
	b := []byte(fileForm + "\n")
	for _, k := range all {
		if len(r.credential) == 0 {
			b = fmt.Appendf(b, "%s %08x %x\n", lineOpen, k.id, k.secret)
			continue
		}
		wrap, err := wrapperOf(r.credential)
		if err != nil {
			return &FileError{r.path, err.Error(), err}
		}
		b = fmt.Appendf(b, "%s %08x %x\n", lineBound, k.id, wrap.Seal(nil, nil, k.secret[:], aboutKey(k.id))) //nolint:gosec // The cipher makes a random nonce.
	}
	if err := durable.Replace(r.path, b, fileMode); err != nil {
		return &FileError{r.path, "cannot be written: " + err.Error(), err}
	}
	return nil
}
