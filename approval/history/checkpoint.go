package history

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Checkpoint is the state of a history: how many leaves it has, and the hash of their tree.
// Its signed form is that of C2SP tlog-checkpoint.
type Checkpoint struct {
	// Origin names the history; it is also the name of the key.
	Origin string
	Size   int64
	Root   tlog.Hash
}

// Key signs checkpoints.
type Key struct {
	secret, verifier string
	signer           note.Signer
}

// NewKey makes a key with a name that no other history has.
func NewKey() (Key, error) {
	name := "vaglio/" + strings.ToLower(rand.Text()[:12])
	secret, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return Key{}, fmt.Errorf("history: make a key: %w", err)
	}
	return ParseKey(secret)
}

// ErrKey says that a text is not a signing key. It does not repeat the text.
var ErrKey = errors.New("history: this is not a signing key")

// ParseKey reads the text of a key.
func ParseKey(secret string) (Key, error) {
	secret = strings.TrimSpace(secret)
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Key{}, ErrKey // the library's error may contain the key
	}
	// PRIVATE+KEY+name+hash+seed: in the last part a byte for the algorithm precedes the
	// seed.
	parts := strings.SplitN(secret, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return Key{}, ErrKey
	}
	public, ok := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return Key{}, ErrKey
	}
	verifier, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return Key{}, ErrKey
	}
	return Key{secret, verifier, signer}, nil
}

// Secret returns the text that [ParseKey] reads. Anyone who has it can sign.
func (k Key) Secret() string { return k.secret }

// Verifier returns the text of the key that verifies k's signatures. It is public.
func (k Key) Verifier() string { return k.verifier }

// Sign returns a signed checkpoint as text that can be copied.
func (k Key) Sign(size int64, root tlog.Hash) (string, error) {
	c := Checkpoint{k.signer.Name(), size, root}
	signed, err := note.Sign(&note.Note{Text: c.text()}, k.signer)
	if err != nil {
		return "", fmt.Errorf("history: sign a checkpoint: %w", err)
	}
	return string(signed), nil
}

// text returns the text that is signed.
func (c Checkpoint) text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + c.Root.String() + "\n"
}

// CheckpointError says why a text is not a checkpoint of the history with the key.
type CheckpointError struct{ Problem string }

func (e *CheckpointError) Error() string { return e.Problem }

// OpenCheckpoint reads a checkpoint and verifies its signature with the verifier key. The
// text may have lost its line breaks, or gained spaces or quotes, when copied from a chat.
// The error is a [*CheckpointError].
func OpenCheckpoint(text, verifier string) (Checkpoint, error) {
	v, err := note.NewVerifier(strings.TrimSpace(verifier))
	if err != nil {
		return Checkpoint{}, &CheckpointError{"the key is not a verifier key: it looks like vaglio/name+hash+key, as 'vaglio log key' prints it"}
	}
	c, plain, err := readCheckpoint(text)
	if err != nil {
		return Checkpoint{}, err
	}
	// This verifies c itself: readCheckpoint rebuilt the text from the same words.
	_, err = note.Open(plain, note.VerifierList(v))
	if err == nil {
		return c, nil
	}
	if _, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return Checkpoint{}, &CheckpointError{"it was signed with another key (" + signerOf(plain) + ") than " + keyName(verifier)}
	}
	if _, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return Checkpoint{}, &CheckpointError{"its signature is not good: a part of it was changed, or is missing"}
	}
	return Checkpoint{}, &CheckpointError{"it is not a checkpoint in the form of C2SP tlog-checkpoint"}
}

// readCheckpoint reads a checkpoint word by word: no part of it contains a space, so line
// breaks do not matter. It also returns the text as it was signed.
func readCheckpoint(text string) (Checkpoint, []byte, error) {
	words := strings.Fields(strings.NewReplacer("`", " ", ">", " ", "\u00a0", " ").Replace(text))
	bad := func(problem string) (Checkpoint, []byte, error) {
		return Checkpoint{}, nil, &CheckpointError{"it is not a checkpoint: " + problem}
	}
	if len(words) < 6 || len(words)%3 != 0 {
		return bad("it has the history's name, its size and its hash, and behind them a dash, the key's name and a signature")
	}
	size, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != words[1] {
		return bad("its second part is not the number of leaves")
	}
	root, err := tlog.ParseHash(words[2])
	if err != nil {
		return bad("its third part is not a hash")
	}
	c := Checkpoint{words[0], size, root}
	var b strings.Builder
	b.WriteString(c.text() + "\n")
	for i := 3; i < len(words); i += 3 {
		switch words[i] {
		case "—", "–", "-", "--": // what editors turn a dash into
		default:
			return bad("a dash is missing before a signature")
		}
		b.WriteString("— " + words[i+1] + " " + words[i+2] + "\n")
	}
	return c, []byte(b.String()), nil
}

// signerOf names the claimed signer of a checkpoint; the claim is not verified.
func signerOf(plain []byte) string {
	_, err := note.Open(plain, note.VerifierList())
	e, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok || len(e.Note.UnverifiedSigs) == 0 {
		return "an unknown one"
	}
	s := e.Note.UnverifiedSigs[0]
	return fmt.Sprintf("%s+%08x", s.Name, s.Hash)
}

// keyName returns a verifier key without the key itself.
func keyName(verifier string) string {
	name, rest, _ := strings.Cut(strings.TrimSpace(verifier), "+")
	hash, _, _ := strings.Cut(rest, "+")
	return name + "+" + hash
}

// Holds returns nil if the tree has grown from the one that the checkpoint was signed for.
// A [*CheckpointError] says what does not fit, or that the checkpoint is invalid; any other
// error says that the tree could not be read.
func Holds(ctx context.Context, t Tree, text, verifier string) error {
	c, err := OpenCheckpoint(text, verifier)
	if err != nil {
		return err
	}
	size, err := t.TreeSize(ctx)
	if err != nil {
		return fmt.Errorf("history: read the tree: %w", err)
	}
	if size < c.Size {
		return &CheckpointError{fmt.Sprintf("the history has %d leaves, and had %d when it was signed last: an older copy of the store was put back", size, c.Size)}
	}
	root, err := Root(ctx, t, c.Size)
	if err != nil {
		return err
	}
	if root != c.Root {
		return &CheckpointError{fmt.Sprintf("the first %d leaves of the history are not those that were signed last: an older copy of the store was put back, or it was rewritten", c.Size)}
	}
	return nil
}
