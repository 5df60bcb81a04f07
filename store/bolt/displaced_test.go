//go:build unix

package bolt

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestAStoreWhoseFileIsGoneAcknowledgesNothing puts another file in the store's place while it is
// open: what is written then would be gone with the process.
func TestAStoreWhoseFileIsGoneAcknowledgesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(path string) error
		want string
	}{
		"removed": {os.Remove, "was removed while it was in use"},
		"replaced by a backup": {func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".bak", text, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".bak", path)
		}, "stop vaglio before you put a backup back"},
		"moved":             {func(path string) error { return os.Rename(path, path+".old") }, "was removed"},
		"moved and back":    {func(path string) error { return os.Rename(path, path) }, ""},
		"its folder linked": {func(path string) error { return os.Link(path, path+".too") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db := newDB(t)
			if err := save(t.Context(), db, "a"); err != nil {
				t.Fatal(err)
			}
			if err := tt.act(db.path); err != nil {
				t.Fatal(err)
			}
			mustSay(t, db, save(t.Context(), db, "b"), tt.want)
			if err := db.Ping(t.Context()); isBroken(err) != (tt.want != "") {
				t.Errorf("ping: %v", err)
			}
		})
	}
}

// TestAJournalThatIsGoneStopsTheStore moves the journal's folder away while it is open. The next write of
// the store notices, and so does a step within milliseconds, if nothing else is written.
func TestAJournalThatIsGoneStopsTheStore(t *testing.T) {
	aside := func(t *testing.T, folder string) {
		if err := os.Rename(folder, folder+".old"); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		act  func(t *testing.T, folder string)
		want string
	}{
		"moved": {aside, "was removed while it was in use"},
		"replaced by a backup": {func(t *testing.T, folder string) {
			if err := os.CopyFS(folder+".bak", os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			aside(t, folder)
			if err := os.Rename(folder+".bak", folder); err != nil {
				t.Fatal(err)
			}
		}, "stop vaglio before you put a backup back"},
		"replaced by an empty folder": {func(t *testing.T, folder string) {
			aside(t, folder)
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "was removed while it was in use"},
		"moved and back": {func(t *testing.T, folder string) {
			aside(t, folder)
			if err := os.Rename(folder+".old", folder); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"behind a link": {func(t *testing.T, folder string) {
			aside(t, folder)
			if err := os.Symlink(folder+".old", folder); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		for how, write := range map[string]func(t *testing.T, db *DB) error{
			"record": func(t *testing.T, db *DB) error { return save(t.Context(), db, "b") },
			"step": func(t *testing.T, db *DB) error {
				if err := db.Append(t.Context(), &approval.JournalEntry{Key: "t", At: time.Now(), Body: []byte("x")}); err != nil {
					t.Fatal(err)
				}
				if tt.want != "" {
					<-db.Broken()
				}
				return db.Ping(t.Context())
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				db := newDB(t)
				tt.act(t, journalOf(db.path))
				mustSay(t, db, write(t, db), tt.want)
			})
		}
	}
}

// mustSay checks that a write broke the store and says why, or, if nothing is wanted, that it did not.
func mustSay(t *testing.T, db *DB, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want == "":
	case !isBroken(err) || !strings.Contains(err.Error(), want):
		t.Errorf("got %v, want a BrokenError that says %q", err, want)
	default:
		mustBeBroken(t, db)
	}
}
