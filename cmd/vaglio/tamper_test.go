package main

import (
	bigendian "encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/logverify"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/keyring"
)

// chronicle is the data folder of a daemon with a history of nine leaves.
type chronicle struct {
	*testing.T
	dir     string
	allowed approval.ID
	denied  approval.ID
	// checkpoint was copied from the running daemon, and verifier is its key.
	checkpoint, verifier string
}

const chronicleLeaves = 10

// newChronicle lets a daemon produce a history: a call that is allowed and runs, a veto, a call
// that is denied, and one that waits. older is the store as it was before the denial.
func newChronicle(t *testing.T) (h *home, c *chronicle, older []byte) {
	t.Helper()
	h = newHome(t)
	s := h.serve()
	p := s.signIn(s.link)
	waits := s.propose()
	s.waiting(1)
	p.decide("allow", "")
	a := waits.answer(t)
	s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", forcePush)
	s.agent("POST", "/v1/approvals/"+string(a.Approval.ID)+"/outcome", `{"succeeded":true,"detail":"pushed"}`)
	if r := s.agent("POST", "/v1/proposals", `{"turn_id":"t-82","step":1,"executor":"shell_exec","args":{"command":"rm -rf /"}}`); r.answer(t).Decision != approval.RulingDeny {
		t.Fatalf("the guard answers %s", r.body)
	}
	fresh, err := storeCopyIn(t, h)
	if err != nil {
		t.Fatal(err)
	}
	second := s.agent("POST", "/v1/proposals", strings.ReplaceAll(forcePush, "main", "next")).answer(t)
	p.decide("deny", "not today")
	s.agent("GET", "/v1/approvals/"+string(second.Approval.ID)+"?wait=55s", "")
	s.agent("POST", "/v1/proposals", strings.ReplaceAll(forcePush, "main", "third")).answer(t)
	signed, key := h.run("", "log", "checkpoint"), h.run("", "log", "key")
	if signed.code != 0 || key.code != 0 {
		t.Fatal(signed, key)
	}
	s.stop()
	return h, &chronicle{t, h.data(""), a.Approval.ID, second.Approval.ID, signed.out, strings.TrimSpace(key.out)}, fresh
}

// storeCopyIn takes a copy of a running daemon's store.
func storeCopyIn(t *testing.T, h *home) ([]byte, error) {
	t.Helper()
	t.Setenv("HOME", h.dir)
	path, err := logverify.CopyInto(t.Context(), t.TempDir(), handOutStore)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// copyTo copies the data folder's files, so that a test can spoil them.
func (c *chronicle) copyTo(t *testing.T) *chronicle {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{datafolder.StoreFile, datafolder.ValueKeys, datafolder.KeyFile, datafolder.CheckpointFile} {
		b, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoilt := *c
	spoilt.T, spoilt.dir = t, dir
	return &spoilt
}

func (c *chronicle) path(file string) string { return filepath.Join(c.dir, file) }

// in changes the store's file directly, as somebody could who also has its keys: the leaves can be
// read, and are taken as they are.
func (c *chronicle) in(change func(leaf, tree *bbolt.Bucket) error) {
	c.Helper()
	db, err := bbolt.Open(c.path(datafolder.StoreFile), 0o600, nil)
	if err != nil {
		c.Fatal(err)
	}
	defer db.Close()
	keys, err := keyring.Load(c.path(datafolder.ValueKeys), nil)
	if err != nil {
		c.Fatal(err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		leaf := tx.Bucket([]byte("leaf"))
		for i, stored := range values(leaf) {
			value, err := keys.Open(stored[1:], append([]byte("leaf\x00"), at(i)...))
			if err == nil {
				err = leaf.Put(at(i), value)
			}
			if err != nil {
				return err
			}
		}
		return change(tx.Bucket([]byte("leaf")), tx.Bucket([]byte("tree")))
	}); err != nil {
		c.Fatal(err)
	}
}

func at(i int) []byte { return bigendian.BigEndian.AppendUint64(nil, uint64(i)) }

// record changes an approval's record, as somebody could who knows how.
func (c *chronicle) record(id approval.ID, change func(*approval.Approval)) {
	c.Helper()
	db, err := bolt.Open(c.path(datafolder.StoreFile), bolt.Options{})
	if err != nil {
		c.Fatal(err)
	}
	defer db.Close()
	_, err = db.Update(c.Context(), approval.KindAsk, string(id.Ask()), func(r approval.Record) (approval.Record, error) {
		ask, err := approval.DecodeAsk(r.Body)
		if err != nil {
			return r, err
		}
		change(ask.Find(id))
		r.Body, err = approval.EncodeAsk(ask)
		return r, err
	})
	if err != nil {
		c.Fatal(err)
	}
}

// rebuild writes all hashes of the tree anew, from the leaves as they are now.
func rebuild(leaf, tree *bbolt.Bucket) error {
	var all []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = all[index]
		}
		return found, nil
	})
	n := int64(0)
	return leaf.ForEach(func(k, v []byte) error {
		hashes, err := tlog.StoredHashes(n, v, read)
		if err != nil {
			return err
		}
		n++
		all = append(all, hashes...)
		var packed []byte
		for _, h := range hashes {
			packed = append(packed, h[:]...)
		}
		return tree.Put(k, packed)
	})
}

// values returns copies of the leaves' values.
func values(leaf *bbolt.Bucket) (all [][]byte) {
	_ = leaf.ForEach(func(_, v []byte) error { all = append(all, append([]byte{}, v...)); return nil }) // The function never fails.
	return all
}

func put(leaf *bbolt.Bucket, all [][]byte) error {
	for i, v := range all {
		if err := leaf.Put(at(i), v); err != nil {
			return err
		}
	}
	return nil
}

// tampering is a change to a history, and what is reported about it.
type tampering struct {
	do   func(c *chronicle)
	want []string
}

// tamperings returns the table. In the texts, DENIED stands for the denied approval and ALLOWED for
// the other.
func tamperings(older []byte) map[string]tampering {
	in := func(change func(leaf, tree *bbolt.Bucket) error) func(*chronicle) {
		return func(c *chronicle) { c.Helper(); c.in(change) }
	}
	const kept, copied = "the checkpoint kept beside the store", "the checkpoint given"
	return map[string]tampering{
		"a leaf altered": {in(func(leaf, _ *bbolt.Bucket) error {
			return leaf.Put(at(8), []byte(strings.Replace(string(leaf.Get(at(8))), "not today", "certainly", 1)))
		}), []string{"leaf 8 (approval DENIED, denied by owner, 20", ") was changed: its hash is not the one in the tree."}},
		"a leaf altered with its hash": {in(func(leaf, tree *bbolt.Bucket) error {
			v := []byte(strings.Replace(string(leaf.Get(at(8))), "not today", "certainly", 1))
			h, packed := tlog.RecordHash(v), append([]byte{}, tree.Get(at(8))...)
			copy(packed, h[:])
			if err := leaf.Put(at(8), v); err != nil {
				return err
			}
			return tree.Put(at(8), packed)
		}), []string{
			"the tree's hash over the leaves 8 to 9 is not that of these leaves", "the first 10 leaves are not those that " + kept + " was signed for",
		}},
		"a leaf altered with the whole tree": {in(func(leaf, tree *bbolt.Bucket) error {
			if err := leaf.Put(at(8), []byte(strings.Replace(string(leaf.Get(at(8))), "not today", "certainly", 1))); err != nil {
				return err
			}
			return rebuild(leaf, tree)
		}), []string{
			"the first 10 leaves are not those that " + kept + " was signed for: one of the leaves 0 to 9 was changed, left out or put in",
			"the first 10 leaves are not those that " + copied + " was signed for",
		}},
		"a leaf of nonsense": {in(func(leaf, _ *bbolt.Bucket) error { return leaf.Put(at(4), []byte(`{"v":1`)) }), []string{
			"leaf 4 cannot be read", "leaf 4 was changed: its hash is not the one in the tree",
		}},
		"a leaf removed": {in(func(leaf, tree *bbolt.Bucket) error {
			if err := leaf.Delete(at(6)); err != nil {
				return err
			}
			return tree.Delete(at(6))
		}), []string{"leaf 6 is missing: it was left out", "it cannot be held against " + kept, "(a call of default, 20"}},
		"a leaf's value removed": {in(func(leaf, _ *bbolt.Bucket) error { return leaf.Delete(at(6)) }), []string{
			"leaf 6 has no value, and no leaf says that it was dropped: it was taken out",
		}},
		"a leaf removed and the others moved up": {in(func(leaf, _ *bbolt.Bucket) error {
			all := values(leaf)
			return put(leaf, append(all[:6:6], all[7:]...))
		}), []string{"a leaf was left out at leaf 6: what is in the leaves 6 to 8 belongs 1 further on"}},
		"a leaf removed with the whole tree": {in(func(leaf, tree *bbolt.Bucket) error {
			all := values(leaf)
			for _, b := range []*bbolt.Bucket{leaf, tree} {
				if err := b.Delete(at(9)); err != nil {
					return err
				}
			}
			if err := put(leaf, append(all[:3:3], all[4:]...)); err != nil {
				return err
			}
			return rebuild(leaf, tree)
		}), []string{
			"there are 9 leaves, and " + kept + " was signed for 10", "leaf 3 says that approval ALLOWED was allowed before, and leaf 2 left it pending",
		}},
		"a leaf put in": {in(func(leaf, _ *bbolt.Bucket) error { return leaf.Put(at(10), leaf.Get(at(6))) }), []string{
			"leaf 10 (veto-", ", a call of default, vetoed by the rule ", ") has no hash in the tree: it was put in",
		}},
		"a leaf put in between": {in(func(leaf, _ *bbolt.Bucket) error {
			all := values(leaf)
			return put(leaf, append(append(all[:4:4], all[6]), all[4:]...))
		}), []string{"a leaf was put in at leaf 4: what is in the leaves 5 to 9 belongs 1 before"}},
		"a leaf put in with the whole tree": {in(func(leaf, tree *bbolt.Bucket) error {
			all := values(leaf)
			if err := put(leaf, append(append(all[:4:4], all[6]), all[4:]...)); err != nil {
				return err
			}
			return rebuild(leaf, tree)
		}), []string{"the first 10 leaves are not those that " + kept + " was signed for"}},
		"leaves re-ordered": {in(func(leaf, _ *bbolt.Bucket) error {
			all := values(leaf)
			all[3], all[8] = all[8], all[3]
			return put(leaf, all)
		}), []string{
			"leaf 3 (approval DENIED, denied by owner, 20", ") is out of order: it belongs at 8.",
			"leaf 8 (approval ALLOWED, allowed by owner, 20", ") is out of order: it belongs at 3.",
		}},
		"leaves re-ordered with the whole tree": {in(func(leaf, tree *bbolt.Bucket) error {
			all := values(leaf)
			all[3], all[4] = all[4], all[3]
			if err := put(leaf, all); err != nil {
				return err
			}
			return rebuild(leaf, tree)
		}), []string{
			"leaf 3 says that approval ALLOWED was allowed before, and leaf 2 left it pending", "the first 10 leaves are not those that " + kept,
		}},
		"an inner hash altered": {in(func(_, tree *bbolt.Bucket) error {
			packed := append([]byte{}, tree.Get(at(3))...)
			packed[tlog.HashSize]++ // over the leaves 2 to 3
			return tree.Put(at(3), packed)
		}), []string{"the tree's hash over the leaves 2 to 3 is not that of these leaves: it was changed"}},
		"a record altered": {func(c *chronicle) {
			c.record(c.denied, func(a *approval.Approval) { a.Decision.Words = "certainly" })
		}, []string{"the record of approval DENIED was changed: it is not what leaf 8 (denied) left"}},
		"a record's state altered": {func(c *chronicle) {
			c.record(c.denied, func(a *approval.Approval) { a.State, a.Decision.Choice = approval.Allowed, approval.ChoiceAllow })
		}, []string{"approval DENIED is allowed in the records, and denied by its last leaf, 8"}},
		"an older copy of the store": {func(c *chronicle) {
			if err := os.WriteFile(c.path(datafolder.StoreFile), older, 0o600); err != nil {
				c.Fatal(err)
			}
		}, []string{
			"there are 7 leaves, and " + kept + " was signed for 10: the end was left out, or an older copy of the store was put back",
			"there are 7 leaves, and " + copied + " was signed for 10",
		}},
		"an older copy of everything": {func(c *chronicle) {
			if err := os.WriteFile(c.path(datafolder.StoreFile), older, 0o600); err != nil {
				c.Fatal(err)
			}
			if err := os.Remove(c.path(datafolder.CheckpointFile)); err != nil {
				c.Fatal(err)
			}
		}, []string{"there are 7 leaves, and " + copied + " was signed for 10: the end was left out, or an older copy of the store was put back"}},
		"the key exchanged": {func(c *chronicle) {
			key, err := history.NewKey()
			if err != nil {
				c.Fatal(err)
			}
			if err := os.WriteFile(c.path(datafolder.KeyFile), []byte(key.Secret()), 0o600); err != nil {
				c.Fatal(err)
			}
		}, []string{
			kept + " proves nothing: it was signed with another key (vaglio/", copied + " proves nothing", "the history was begun with the key vaglio/", ": the key was exchanged",
		}},
	}
}

// TestWhateverIsDoneToTheHistoryIsFound spoils a daemon's files in every way in the table, and
// checks what is reported.
func TestWhateverIsDoneToTheHistoryIsFound(t *testing.T) {
	race.Alone(t)
	h, c, older := newChronicle(t)
	if r := h.run("", "log", "verify", "--checkpoint", c.checkpoint); r.code != 0 || !strings.Contains(r.out, fmt.Sprint(chronicleLeaves, " leaves")) ||
		strings.Count(r.out, "agrees with the tree, up to leaf 9") != 2 || !strings.Contains(r.out, "3 approvals agree with it") {
		t.Fatalf("unspoilt it is %d\n%s%s", r.code, r.out, r.err)
	}
	for name, tt := range tamperings(older) {
		t.Run(name, func(t *testing.T) {
			spoilt := c.copyTo(t)
			tt.do(spoilt)
			// The checkpoint is given as a chat returns it, on one line.
			given, err := logverify.Checkpoints([]string{strings.Join(strings.Fields(c.checkpoint), " ")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			q := logverify.Question{Store: spoilt.path(datafolder.StoreFile), Folder: spoilt.dir, Given: given}
			r, err := q.Verify(t.Context())
			if err != nil || r.Whole() {
				t.Errorf("%v: %+v", err, r)
			}
			told := logverify.Text(&r)
			for _, want := range tt.want {
				want = strings.NewReplacer("DENIED", string(c.denied), "ALLOWED", string(c.allowed)).Replace(want)
				if !strings.Contains(told, want) {
					t.Errorf("nothing is told of: %s", want)
				}
			}
			t.Log("\n" + told)
		})
	}
}

// TestAnOlderStoreIsToldOf starts the daemon on an older copy of the store: it keeps guarding, and
// warns everywhere until the owner has acknowledged it.
func TestAnOlderStoreIsToldOf(t *testing.T) {
	race.Alone(t)
	h, c, older := newChronicle(t)
	if err := os.WriteFile(h.data(datafolder.StoreFile), older, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		s := h.serve()
		if r := s.send(http.DefaultClient, "GET", s.base+"/readyz", "", ""); !strings.Contains(r.body, `"degraded"`) || !strings.Contains(r.body, "an older copy of the store was put back") || strings.Contains(r.body, h.dir) {
			t.Errorf("again %t: the probe says %d %s", again, r.status, r.body)
		}
		s.logs("an older copy of the store was put back")
		if r := h.run("", "doctor"); r.code != 1 || !strings.Contains(r.out, "remove "+h.data(datafolder.LostFile)) {
			t.Errorf("again %t: the doctor says %d %s", again, r.code, r.out)
		}
		if r := s.agent("POST", "/v1/proposals", `{"executor":"shell_exec","args":{"command":"rm -rf /"}}`); r.answer(t).Decision != approval.RulingDeny {
			t.Errorf("again %t: the guard answers %s", again, r.body)
		}
		r := h.run("", "log", "verify", "--checkpoint", c.checkpoint)
		if r.code != exitFailed || !strings.Contains(r.out, "at that start an older copy of the store was found") || !strings.Contains(r.out, "the checkpoint that was set aside") {
			t.Errorf("again %t: verify says %d\n%s%s", again, r.code, r.out, r.err)
		}
		s.stop()
	}
	if err := os.Remove(h.data(datafolder.LostFile)); err != nil {
		t.Fatal(err)
	}
	s := h.serve()
	if r := s.send(http.DefaultClient, "GET", s.base+"/readyz", "", ""); !strings.Contains(r.body, `"ready"`) {
		t.Errorf("with the file removed the probe says %s", r.body)
	}
	if r := h.run("", "log", "verify"); r.code != exitFailed {
		t.Errorf("verify is content with an older store: %s", r.out)
	}
	if r := h.run("", "log", "verify", "--accept", "7"); r.code != exitOK {
		t.Errorf("verify is not content though the owner is: %s%s", r.out, r.err)
	}
}

// TestTheHistoryIsRead reads the history with and without a daemon.
func TestTheHistoryIsRead(t *testing.T) {
	race.Alone(t)
	h, c, _ := newChronicle(t)
	read := func() (text string) {
		t.Helper()
		for _, args := range [][]string{{"log"}, {"log", "--json"}, {"log", "--json", "--turn", "t-82"}, {"log", "--agent", "nobody"}, {"log", "--since", "2999-01-01"}} {
			r := h.run("", args...)
			if r.code != 0 {
				t.Fatalf("%v: %d %s", args, r.code, r.err)
			}
			text += r.out + "---\n"
		}
		return text
	}
	without := read()
	s := h.serve()
	if with := read(); with != without {
		t.Errorf("with a daemon the log is\n%s\nand without\n%s", with, without)
	}
	if r := h.run("", "log", "verify", "--json"); r.code != 0 || !strings.Contains(r.out, `"findings":[]`) {
		t.Errorf("verify beside a daemon: %d %s%s", r.code, r.out, r.err)
	}
	if left, err := filepath.Glob(h.data(".verify-*")); len(left) > 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	parts := strings.Split(without, "---\n")
	for _, want := range []string{"denied", string(c.denied), "owner (web:owner)", "not today", "rule ", "succeeded"} {
		if !strings.Contains(parts[0], want) {
			t.Errorf("the log does not tell %q:\n%s", want, parts[0])
		}
	}
	var all []history.Entry
	for line := range strings.Lines(parts[1]) {
		var e history.Entry
		if err := strictjson.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all) != chronicleLeaves || all[8].Leaf != 8 || all[8].Kind != history.Denied {
		t.Errorf("as JSON it is %+v", all)
	}
	if n := strings.Count(parts[2], "\n"); n != 1 || !strings.Contains(parts[2], `"vetoed"`) {
		t.Errorf("of one turn it is %s", parts[2])
	}
	if want := "The history has no such entry.\n"; parts[3] != want || parts[4] != want {
		t.Errorf("of nothing it is %q and %q", parts[3], parts[4])
	}
	for _, file := range []string{datafolder.KeyFile, datafolder.CheckpointFile, datafolder.StoreFile} {
		call := `{"executor":"read_file","args":{"path":"` + h.data(file) + `"}}`
		if a := s.agent("POST", "/v1/proposals", call).answer(t); a.Decision != approval.RulingDeny || a.Verdict.BlockedBy != "guard" {
			t.Errorf("an agent may read %s: %+v", file, a)
		}
		if info, err := os.Stat(h.data(file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if r := s.send(http.DefaultClient, "GET", s.base+"/metrics", "", ""); !strings.Contains(r.body, fmt.Sprintf("vaglio_history_leaves %d\n", chronicleLeaves+3)) {
		t.Errorf("the metrics say %s", r.body)
	}
	s.stop()
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"since":      {[]string{"log", "--since", "soon"}, exitUsage, `--since: "soon" is not a time`},
		"no file":    {[]string{"log", "verify", "--store", "/none"}, exitFailed, "/none"},
		"checkpoint": {[]string{"log", "verify", "--checkpoint", "hello"}, exitUsage, "--checkpoint is neither a checkpoint"},
		"key":        {[]string{"log", "verify", "--key", "hello", "--checkpoint", c.checkpoint}, exitFailed, "the key is not a verifier key"},
	} {
		if r := h.run("", tt.args...); r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("%s: %d %s%s", name, r.code, r.out, r.err)
		}
	}
	if r := h.run(c.checkpoint, "log", "verify", "--checkpoint", "-", "--key", c.verifier, "--store", h.data(datafolder.StoreFile)); r.code != 0 {
		t.Errorf("with the key given: %d %s%s", r.code, r.out, r.err)
	}
}
