//go:build unix

package bolt

import (
	"os"
	"strings"
	"testing"
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
			err := save(t.Context(), db, "b")
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !isBroken(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a BrokenError that says %q", err, tt.want)
			}
			if err := db.Ping(t.Context()); !isBroken(err) {
				t.Errorf("ping: %v", err)
			}
			mustBeBroken(t, db)
		})
	}
}
