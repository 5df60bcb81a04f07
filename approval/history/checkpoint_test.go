package history_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval/history"
)

func signed(t testing.TB, key history.Key) string {
	t.Helper()
	text, err := key.Sign(4711, tlog.RecordHash([]byte("root")))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func newKey(t testing.TB) history.Key {
	t.Helper()
	key, err := history.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestACheckpointHasTheFormOfTheLibrary opens a checkpoint with the library alone, as any
// witness would.
func TestACheckpointHasTheFormOfTheLibrary(t *testing.T) {
	key := newKey(t)
	text := signed(t, key)
	v, err := note.NewVerifier(key.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open([]byte(text), note.VerifierList(v))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != v.Name() || lines[1] != "4711" || lines[2] != tlog.RecordHash([]byte("root")).String() || lines[3] != "" {
		t.Errorf("the text is %q", lines)
	}
	again, err := history.ParseKey(key.Secret() + "\n")
	if err != nil || again.Verifier() != key.Verifier() || signed(t, again) != text {
		t.Errorf("the key read again is another: %v", err)
	}
	if other := newKey(t); strings.Split(other.Verifier(), "+")[0] == v.Name() {
		t.Error("two keys have one name")
	}
}

func TestOpenCheckpoint(t *testing.T) {
	key := newKey(t)
	text := signed(t, key)
	lines := strings.Split(text, "\n")
	for name, copied := range map[string]string{
		"as it is":     text,
		"one line":     strings.Join(strings.Fields(text), " "),
		"windows":      strings.ReplaceAll(text, "\n", "\r\n"),
		"code":         "```\n" + text + "```",
		"quoted":       "> " + strings.Join(lines, "\n> "),
		"no end":       strings.TrimSpace(text),
		"other spaces": strings.Join(strings.Fields(text), "\u00a0"),
		"short dash":   strings.ReplaceAll(text, "—", "-"),
		"two dashes":   strings.ReplaceAll(text, "—", "--"),
		"witnessed":    text + "— witness.example/w " + strings.Fields(text)[5] + "\n",
	} {
		c, err := history.OpenCheckpoint(copied, key.Verifier())
		if err != nil || c.Size != 4711 || c.Root != tlog.RecordHash([]byte("root")) || c.Origin != lines[0] {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	for name, tt := range map[string]struct{ text, key, want string }{
		"nothing":       {"", key.Verifier(), "it is not a checkpoint: it has the history's name"},
		"words":         {"this is not a checkpoint of a history", key.Verifier(), "it is not a checkpoint"},
		"other size":    {strings.Replace(text, "4711", "4712", 1), key.Verifier(), "its signature is not good"},
		"zeros":         {strings.Replace(text, "4711", "04711", 1), key.Verifier(), "not the number of leaves"},
		"negative":      {strings.Replace(text, "4711", "-4711", 1), key.Verifier(), "not the number of leaves"},
		"no number":     {strings.Replace(text, "4711", "many", 1), key.Verifier(), "not the number of leaves"},
		"no leaves":     {strings.Replace(text, "4711", "0", 1), key.Verifier(), "its signature is not good"},
		"no hash":       {strings.Replace(text, lines[2], "abc=", 1), key.Verifier(), "its third part is not a hash"},
		"other name":    {strings.ReplaceAll(text, lines[0], "vaglio/other"), key.Verifier(), "signed with another key (vaglio/other+"},
		"cut":           {text[:len(text)-9], key.Verifier(), "its signature is not good"},
		"other key":     {text, newKey(t).Verifier(), "it was signed with another key (" + lines[0]},
		"no key":        {text, "hello", "the key is not a verifier key"},
		"key is secret": {text, key.Secret(), "the key is not a verifier key"},
	} {
		_, err := history.OpenCheckpoint(tt.text, tt.key)
		if e, ok := errors.AsType[*history.CheckpointError](err); !ok || !strings.Contains(e.Problem, tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: the error shows a key", name)
		}
	}
}

func TestParseKey(t *testing.T) {
	parts := strings.SplitN(newKey(t).Secret(), "+", 5)
	parts[2] = "other" // the hash is of another name
	for _, bad := range []string{"", "hello", strings.Join(parts, "+"), "PRIVATE+KEY+x", newKey(t).Verifier(), strings.Replace(newKey(t).Secret(), "+", "-", 2)} {
		if _, err := history.ParseKey(bad); !errors.Is(err, history.ErrKey) || strings.ContainsAny(err.Error(), "x+") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzOpenCheckpoint checks that whatever opens says what was signed.
func FuzzOpenCheckpoint(f *testing.F) {
	key := newKey(f)
	text := signed(f, key)
	f.Add(text)
	f.Add(strings.Join(strings.Fields(text), " "))
	f.Add(strings.ReplaceAll(text, "4711", "4712"))
	f.Fuzz(func(t *testing.T, copied string) {
		c, err := history.OpenCheckpoint(copied, key.Verifier())
		if err == nil && (c.Size != 4711 || c.Root != tlog.RecordHash([]byte("root"))) {
			t.Errorf("%q opens as %+v", copied, c)
		}
	})
}

// FuzzDecode checks that whatever can be read can be written again, and that nothing can be
// read in two ways.
func FuzzDecode(f *testing.F) {
	w := history.NewWriter(func(s string) string { return s })
	leaves, err := w.Note(history.Event{Kind: history.Began, At: start, Baseline: &history.Baseline{Approvals: 2, Sum: "x"}}, "seed")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(leaves[0])
	f.Add([]byte(`{"v":1,"kind":"denied","at":"2026-11-21T08:00:00Z","salt":"s","kind":"allowed"}`))
	f.Add([]byte(`{"v":2,"kind":"denied","at":"2026-11-21T08:00:00Z","salt":"s"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		e, err := history.Decode(value)
		if err != nil {
			return
		}
		again, err := history.Encode(&e)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", value, err)
		}
		same, err := history.Decode(again)
		if err != nil || same.Kind != e.Kind || same.Salt != e.Salt || !same.At.Equal(e.At) {
			t.Errorf("%q reads as %+v and then as %+v, %v", value, e, same, err)
		}
	})
}
