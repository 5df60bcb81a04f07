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

// Checkpoint is the state of a history: how many leaves it has, and the hash of
// their tree. Its signed form is that of C2SP tlog-checkpoint.
type Checkpoint struct {
	// Origin names the history; it is the name of the key, too.
	Origin string
	Size   int64
	Root   tlog.Hash
}

// Key signs checkpoints.
type Key struct {
	secret, verifier string
	signer           note.Signer
}

// NewKey makes a key, with a name that no other history has.
func NewKey() (Key, error) {
	name := "vaglio/" + strings.ToLower(rand.Text()[:12])
	secret, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return Key{}, fmt.Errorf("history: make a key: %w", err)
	}
	return ParseKey(secret)
}

// ErrKey says that a text is not a signing key. It is not repeated.
var ErrKey = errors.New("history: this is not a signing key")

// ParseKey reads the text of a key.
func ParseKey(secret string) (Key, error) {
	secret = strings.TrimSpace(secret)
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Key{}, ErrKey // The library's error may show the key.
	}
	// PRIVATE+KEY+name+hash+seed: the seed is behind a byte for the algorithm.
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

// Secret returns the text that [ParseKey] reads. Whoever has it can sign.
func (k Key) Secret() string { return k.secret }

// Verifier returns the text of the key that checks what k signed. It is for
// everybody.
func (k Key) Verifier() string { return k.verifier }

// Sign returns a checkpoint as a text that can be copied, signed.
func (k Key) Sign(size int64, root tlog.Hash) (string, error) {
	c := Checkpoint{k.signer.Name(), size, root}
	signed, err := note.Sign(&note.Note{Text: c.text()}, k.signer)
	if err != nil {
		return "", fmt.Errorf("history: sign a checkpoint: %w", err)
	}
	return string(signed), nil
}

// text is what is signed.
func (c Checkpoint) text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + c.Root.String() + "\n"
}

// CheckpointError says why a text is no checkpoint of the history with the key.
type CheckpointError struct{ Problem string }

func (e *CheckpointError) Error() string { return e.Problem }

// OpenCheckpoint reads a checkpoint and checks its signature by the verifier key.
// A text that was copied from a chat may have lost its line breaks, or have
// spaces or quotes around it. The error is a [*CheckpointError].
func OpenCheckpoint(text, verifier string) (Checkpoint, error) {
	v, err := note.NewVerifier(strings.TrimSpace(verifier))
	if err != nil {
		return Checkpoint{}, &CheckpointError{"the key is no verifier key: it looks like vaglio/name+hash+key, as 'vaglio log key' prints it"}
	}
	c, plain, err := readCheckpoint(text)
	if err != nil {
		return Checkpoint{}, err
	}
	// What is verified is c's own text: the reader wrote it anew from the words.
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
	return Checkpoint{}, &CheckpointError{"it is no checkpoint in the form of C2SP tlog-checkpoint"}
}

// readCheckpoint reads a checkpoint word by word: none of its parts has a space
// in it, so that line breaks do not matter. It returns the text as it was signed.
func readCheckpoint(text string) (Checkpoint, []byte, error) {
	words := strings.Fields(strings.NewReplacer("`", " ", ">", " ", "\u00a0", " ").Replace(text))
	bad := func(problem string) (Checkpoint, []byte, error) {
		return Checkpoint{}, nil, &CheckpointError{"it is no checkpoint: " + problem}
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
		case "—", "–", "-", "--": // what editors make of a dash
		default:
			return bad("a dash is missing before a signature")
		}
		b.WriteString("— " + words[i+1] + " " + words[i+2] + "\n")
	}
	return c, []byte(b.String()), nil
}

// signerOf names who signed a checkpoint, without the right to say so.
func signerOf(plain []byte) string {
	_, err := note.Open(plain, note.VerifierList())
	e, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok || len(e.Note.UnverifiedSigs) == 0 {
		return "an unknown one"
	}
	s := e.Note.UnverifiedSigs[0]
	return fmt.Sprintf("%s+%08x", s.Name, s.Hash)
}

// keyName is a verifier key without the key itself.
func keyName(verifier string) string {
	name, rest, _ := strings.Cut(strings.TrimSpace(verifier), "+")
	hash, _, _ := strings.Cut(rest, "+")
	return name + "+" + hash
}

// Holds returns nil when the tree has grown from the one that the checkpoint was
// signed for. A [*CheckpointError] says what does not fit, or that the checkpoint
// is not good; another error, that the tree could not be read.
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
