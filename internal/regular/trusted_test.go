package regular_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/regular"
)

// stranger is a user who is neither root nor the one who tests.
const stranger = 64001

// TestOnlyTrustedFilesAreOpened holds who may own and write a file, the folders on
// the way to it, and the links.
func TestOnlyTrustedFilesAreOpened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// arrange changes a trusted conf/policy and returns what to open.
		arrange func(at func(string) string) (open string, err error)
		// root says that it takes root to arrange.
		root bool
		want string
	}{
		"AsMade": {arrange: func(at func(string) string) (string, error) { return at("conf/policy"), nil }},
		"Dots":   {arrange: func(at func(string) string) (string, error) { return at("conf") + "/../conf/./policy", nil }},
		"Readable": {arrange: func(at func(string) string) (string, error) {
			return at("conf/policy"), os.Chmod(at("conf/policy"), 0o644)
		}},
		"Link": {arrange: func(at func(string) string) (string, error) { return at("link"), os.Symlink("conf/policy", at("link")) }},
		"LinkedFolder": {arrange: func(at func(string) string) (string, error) {
			return at("link/policy"), os.Symlink(at("conf"), at("link"))
		}},
		"LinkUpAndDown": {arrange: func(at func(string) string) (string, error) {
			return at("deep/in"), errors.Join(os.Mkdir(at("deep"), 0o700), os.Symlink("../conf/./policy", at("deep/in")))
		}},
		"Sticky": {arrange: func(at func(string) string) (string, error) {
			return at("conf/policy"), os.Chmod(at("conf"), 0o777|os.ModeSticky)
		}},
		"Written": {
			arrange: func(at func(string) string) (string, error) {
				return at("conf/policy"), os.Chmod(at("conf/policy"), 0o666)
			},
			want: "conf/policy can be written by others (mode 0666); run chmod go-w ",
		},
		"WrittenByAGroup": {
			arrange: func(at func(string) string) (string, error) {
				return at("conf/policy"), os.Chmod(at("conf/policy"), 0o620)
			},
			want: "(mode 0620)",
		},
		"WrittenFolder": {
			arrange: func(at func(string) string) (string, error) { return at("conf/policy"), os.Chmod(at("conf"), 0o777) },
			want:    "conf can be written by others (mode 0777); run chmod go-w ",
		},
		"WrittenFolderOfALink": {
			arrange: func(at func(string) string) (string, error) {
				return at("open/link"), errors.Join(os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o777), os.Symlink(at("conf/policy"), at("open/link")))
			},
			want: "open can be written by others",
		},
		"LinkToWritten": {
			arrange: func(at func(string) string) (string, error) {
				return at("link"), errors.Join(os.Symlink("conf/policy", at("link")), os.Chmod(at("conf/policy"), 0o606))
			},
			want: "conf/policy can be written by others",
		},
		"Owner": {
			root: true, want: "conf/policy belongs to user 64001, who is neither root nor",
			arrange: func(at func(string) string) (string, error) {
				return at("conf/policy"), os.Chown(at("conf/policy"), stranger, -1)
			},
		},
		"OwnerOfTheFolder": {
			root: true, want: "conf belongs to user 64001",
			arrange: func(at func(string) string) (string, error) {
				return at("conf/policy"), os.Chown(at("conf"), stranger, -1)
			},
		},
		"OwnerOfTheLink": {
			root: true, want: "link belongs to user 64001",
			arrange: func(at func(string) string) (string, error) {
				return at("link"), errors.Join(os.Symlink("conf/policy", at("link")), os.Lchown(at("link"), stranger, -1))
			},
		},
		"Pipe": {
			arrange: func(at func(string) string) (string, error) { return at("pipe"), syscall.Mkfifo(at("pipe"), 0o600) },
			want:    "is no regular file",
		},
		"Device":     {arrange: func(func(string) string) (string, error) { return "/dev/zero", nil }, want: "is no regular file"},
		"Folder":     {arrange: func(at func(string) string) (string, error) { return at("conf"), nil }, want: "is no regular file"},
		"Circle":     {arrange: func(at func(string) string) (string, error) { return at("a"), os.Symlink("a", at("a")) }, want: "too many levels"},
		"Absent":     {arrange: func(at func(string) string) (string, error) { return at("conf/none"), nil }, want: "no such file"},
		"BelowAFile": {arrange: func(at func(string) string) (string, error) { return at("conf/policy/x"), nil }, want: "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.root && os.Geteuid() != 0 {
				t.Skip("gives a file to another user, which takes root")
			}
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			if err := errors.Join(os.Chmod(dir, 0o700), os.Mkdir(at("conf"), 0o700), os.WriteFile(at("conf/policy"), []byte("text"), 0o600)); err != nil {
				t.Fatal(err)
			}
			open, err := c.arrange(at)
			if err != nil {
				t.Fatal(err)
			}
			text, whole, err := regular.ReadTrusted(open, 10)
			switch {
			case c.want == "" && (err != nil || string(text) != "text" || !whole):
				t.Errorf("%q, %v, %v", text, whole, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%q, %v; want a mistake with %q", text, err, c.want)
			}
		})
	}
}

// TestTheCureCures runs what a mistake says, and looks again.
func TestTheCureCures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []os.FileMode{regular.NotWritten, regular.NotRead} {
		_, err := regular.OpenTrusted(path, forbidden)
		wrong, ok := errors.AsType[*regular.TrustError](err)
		if !ok {
			t.Fatalf("%v", err)
		}
		word := strings.Fields(wrong.Cure)
		if out, err := exec.CommandContext(t.Context(), word[0], word[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", wrong.Cure, err, out)
		}
		f, err := regular.OpenTrusted(path, forbidden)
		if err != nil {
			t.Fatalf("after %s: %v", wrong.Cure, err)
		}
		f.Close()
	}
}
