package keyring_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/store/keyring"
)

func newRing(t *testing.T) (*keyring.Ring, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.keys")
	r, err := keyring.Make(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, path
}

func load(t *testing.T, path, credential string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Load(path, []byte(credential))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// opens checks that the ring opens what was sealed with the additional data "here".
func opens(t *testing.T, r *keyring.Ring, sealed []byte, want string) {
	t.Helper()
	if got, err := r.Open(sealed, []byte("here")); err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAValueIsReadWhereItWasSealed(t *testing.T) {
	t.Parallel()
	r, path := newRing(t)
	here := []byte("here")
	for _, value := range []string{"", "v", strings.Repeat("value ", 1000)} {
		sealed := r.Seal([]byte("before"), []byte(value), here)
		again := r.Seal(nil, []byte(value), here)
		sealed = bytes.TrimPrefix(sealed, []byte("before"))
		if len(sealed) != len(value)+keyring.Overhead || bytes.Equal(sealed, again) {
			t.Errorf("%d bytes are %d, twice the same: %v", len(value), len(sealed), bytes.Equal(sealed, again))
		}
		if len(value) > 1 && bytes.Contains(sealed, []byte(value)) {
			t.Error("the value stands there")
		}
		opens(t, r, sealed, value)
		opens(t, load(t, path, ""), sealed, value)
		if _, err := r.Open(sealed, []byte("elsewhere")); !errors.Is(err, keyring.ErrAltered) {
			t.Errorf("elsewhere: %v", err)
		}
		for i := 4; i < min(len(sealed), 40); i++ {
			spoilt := bytes.Clone(sealed)
			spoilt[i] ^= 1
			if _, err := r.Open(spoilt, here); !errors.Is(err, keyring.ErrAltered) {
				t.Errorf("byte %d altered: %v", i, err)
			}
		}
		if _, err := r.Open(sealed[:keyring.Overhead-1], here); !errors.Is(err, keyring.ErrAltered) {
			t.Errorf("cut: %v", err)
		}
		if _, err := r.Open(sealed[:3], here); !errors.Is(err, keyring.ErrAltered) {
			t.Errorf("no key's id: %v", err)
		}
		other, _ := newRing(t)
		binary.BigEndian.PutUint32(sealed, 0)
		if _, err := other.Open(sealed, here); !errors.Is(err, keyring.ErrNoKey) {
			t.Errorf("another ring: %v", err)
		}
		if _, err := (*keyring.Ring)(nil).Open(again, here); !errors.Is(err, keyring.ErrNoKey) {
			t.Errorf("no ring: %v", err)
		}
	}
}

func TestOldKeysAreKeptAsLongAsTheyAreUsed(t *testing.T) {
	t.Parallel()
	r, path := newRing(t)
	var sealed [][]byte
	var ids []uint32
	for range 3 {
		sealed, ids = append(sealed, r.Seal(nil, []byte("v"), []byte("here"))), append(ids, r.Newest())
		if err := r.Rotate(); err != nil {
			t.Fatal(err)
		}
		if r.Newest() == ids[len(ids)-1] || r.Single() {
			t.Fatal("the key is the same")
		}
	}
	for _, s := range sealed {
		opens(t, load(t, path, ""), s, "v")
	}
	if err := r.Keep(map[uint32]bool{ids[1]: true, 7: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*keyring.Ring{r, load(t, path, "")} {
		for i, s := range sealed {
			if _, err := r.Open(s, []byte("here")); (err == nil) != (i == 1) {
				t.Errorf("key %d: %v", i, err)
			}
		}
	}
	if err := r.Keep(nil); err != nil || !r.Single() {
		t.Error(err, "the newest stays alone")
	}
}

// TestAKeyThatCannotBeWrittenIsNotUsed removes the directory while keys are rotated.
func TestAKeyThatCannotBeWrittenIsNotUsed(t *testing.T) {
	t.Parallel()
	r, path := newRing(t)
	before := r.Newest()
	if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := r.Rotate(); err == nil || r.Newest() != before {
		t.Errorf("%v: what would be sealed now could not be read later", err)
	}
	if err := errors.Join(r.Keep(nil), r.Bind()); err != nil {
		t.Errorf("there is nothing to write: %v", err)
	}
	if err := os.Rename(filepath.Dir(path)+"-away", filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if load(t, path, "").Newest() != before {
		t.Error("the file holds another key")
	}
}

func TestKeysAreBoundToACredential(t *testing.T) {
	t.Parallel()
	r, path := newRing(t)
	sealed := r.Seal(nil, []byte("v"), []byte("here"))
	with := load(t, path, "a secret of the service")
	opens(t, with, sealed, "v")
	if err := with.Bind(); err != nil {
		t.Fatal(err)
	}
	opens(t, load(t, path, "a secret of the service"), sealed, "v")
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte("\nopen ")) {
		t.Errorf("it stands there: %v", err)
	}
	if err := with.Bind(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(text, again) {
		t.Errorf("what is bound was written anew: %v", err)
	}
	for credential, want := range map[string]string{
		"": "line 2 is bound to a credential, and none was given", "another secret": "line 2 is bound to another credential",
	} {
		if _, err := keyring.Make(path, []byte(credential)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", credential, err)
		}
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(text, again) {
		t.Error("the file was changed")
	}
}

func TestWrongKeyFiles(t *testing.T) {
	t.Parallel()
	_, path := newRing(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Fields(string(whole))[5]
	for name, tt := range map[string]struct{ text, want string }{
		"empty":              {"", `does not begin with "vaglio keys 1"`},
		"another file":       {"-----BEGIN", `does not begin with "vaglio keys 1"`},
		"newer":              {"vaglio keys 2\n", `or a newer vaglio's`},
		"no key":             {"vaglio keys 1\n", "holds no key"},
		"no line":            {"vaglio keys 1", "holds no key"},
		"another word":       {"vaglio keys 1\nplain 00000001 " + secret + "\n", "line 2 is not a key"},
		"id of zero":         {"vaglio keys 1\nopen 00000000 " + secret + "\n", "line 2 is not a key"},
		"no hex":             {"vaglio keys 1\nopen 00000001 " + secret[1:] + "\n", "line 2 is not a key"},
		"too short":          {"vaglio keys 1\nopen 00000001 " + secret[2:] + "\n", "line 2 holds a key of 31 bytes, and keys have 32"},
		"the second":         {string(whole) + "x\n", "line 3 is not a key"},
		"too long":           {string(whole) + strings.Repeat(strings.SplitAfter(string(whole), "\n")[1], 1<<20/64), "is longer than 1048576 bytes"},
		"as long as may be":  {string(whole) + strings.Repeat("x", 1<<20-len(whole)), "line 3 is not a key"},
		"longer than may be": {string(whole) + strings.Repeat("x", 1<<20+1-len(whole)), "is longer than 1048576 bytes"},
		"three columns":      {"vaglio keys 1\nopen 00000001 " + secret + " x\n", "line 2 is not a key"},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := keyring.Make(path, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), secret[2:]) {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != tt.text {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
	if err := errors.Join(os.WriteFile(path, whole, 0o600), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Make(path, nil); err == nil || !strings.Contains(err.Error(), "can be used by others (mode 0640); run chmod 600 "+path) {
		t.Error(err)
	}
	if _, err := keyring.Load(path+"x", nil); !errors.Is(err, keyring.ErrMissing) || !strings.Contains(err.Error(), "is not there") {
		t.Error(err)
	}
	if _, err := keyring.Make(t.TempDir(), nil); err == nil || !strings.HasSuffix(err.Error(), ": cannot be read: is not a regular file") {
		t.Errorf("a folder is a key file: %v", err)
	}
}

// TestAKeyFileThatCannotBeReadToItsEnd uses a file that can be opened, but whose first byte
// cannot be read.
func TestAKeyFileThatCannotBeReadToItsEnd(t *testing.T) {
	t.Parallel()
	const path = "/proc/self/mem"
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no such file")
	}
	if _, err := keyring.Make(path, nil); err == nil || err.Error() != "key file "+path+": cannot be read: input/output error" {
		t.Error(err)
	}
}

func TestWhatIsShorterThanAKeysIDHasNone(t *testing.T) {
	t.Parallel()
	for sealed, want := range map[string]uint32{"": 0, "\x00\x00\x01": 0, "\x00\x00\x01\x02": 258, "\x00\x00\x01\x02more": 258} {
		if got := keyring.KeyOf([]byte(sealed)); got != want {
			t.Errorf("%q was sealed with %d, want %d", sealed, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("vaglio keys 1\nopen 00000001 00\nbound 0000000a zz\n", "credential")
	f.Add("vaglio keys 1\nopen 1234abcd "+strings.Repeat("5a", 32), "")
	f.Fuzz(func(t *testing.T, text, credential string) {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := keyring.Load(path, []byte(credential))
		if err != nil {
			return
		}
		sealed := r.Seal(nil, []byte("v"), []byte("here"))
		if got, err := r.Open(sealed, []byte("here")); err != nil || string(got) != "v" {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
	})
}
