package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/regular"
)

// stranger is a user who is neither root nor the one who runs the tests.
const stranger = 64001

// TestOnlyTrustedFilesAreOpened checks who may own and write a file, the folders on the way to it,
// and the links.
func TestOnlyTrustedFilesAreOpened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// arrange changes a trusted conf/policy and returns what to open.
		arrange func(at func(string) string) (open string, err error)
		// root says that arrange needs root.
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
			want:    "is not a regular file",
		},
		"Socket": {
			arrange: func(at func(string) string) (string, error) {
				return at("socket"), syscall.Mknod(at("socket"), syscall.S_IFSOCK|0o600, 0)
			},
			want: "no such device",
		},
		"FortyLinks": {arrange: func(at func(string) string) (string, error) { return at("40"), chain(at, 40) }},
		"TooManyLinks": {
			arrange: func(at func(string) string) (string, error) { return at("41"), chain(at, 41) },
			want:    "41: too many levels",
		},
		"Device":       {arrange: func(func(string) string) (string, error) { return "/dev/zero", nil }, want: "is not a regular file"},
		"Folder":       {arrange: func(at func(string) string) (string, error) { return at("conf"), nil }, want: "is not a regular file"},
		"Circle":       {arrange: func(at func(string) string) (string, error) { return at("a"), os.Symlink("a", at("a")) }, want: "too many levels"},
		"Absent":       {arrange: func(at func(string) string) (string, error) { return at("conf/none"), nil }, want: "conf/none: no such file"},
		"AbsentFolder": {arrange: func(at func(string) string) (string, error) { return at("none/policy"), nil }, want: "none/policy: no such file"},
		"BelowAFile":   {arrange: func(at func(string) string) (string, error) { return at("conf/policy/x"), nil }, want: "not a directory"},
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
			text, whole, err := regular.ReadTrusted(open, 4)
			switch {
			case c.want == "" && (err != nil || string(text) != "text" || !whole):
				t.Errorf("%q, %v, %v", text, whole, err)
			case c.want != "" && (err == nil || whole || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%q, %v; want a mistake with %q", text, err, c.want)
			}
		})
	}
}

// chain makes a chain of that many links to conf/policy; the last link is named by its number.
func chain(at func(string) string, links int) error {
	to := "conf/policy"
	for n := range links {
		name := strconv.Itoa(n + 1)
		if err := os.Symlink(to, at(name)); err != nil {
			return err
		}
		to = name
	}
	return nil
}

// A file that is longer than the limit is not whole.
func TestALongFileIsNotWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, whole, err := regular.ReadTrusted(path, 3); err != nil || whole || !strings.HasPrefix("text", string(text)) {
		t.Errorf("%q, %v, %v", text, whole, err)
	}
}

// TestOnlyTrustedFoldersAreTaken checks the folder itself, and the folders and links on the way to
// it.
func TestOnlyTrustedFoldersAreTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.Chmod(dir, 0o700), os.Mkdir(at("conf"), 0o700), os.Mkdir(at("open"), 0o700), os.Mkdir(at("open/in"), 0o700),
		os.Chmod(at("open"), 0o777), os.Symlink("conf", at("link")), os.Symlink("open/in", at("led")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"conf": "", "link": "", "open": "open can be written by others (mode 0777)", "open/in": "open can be written by others",
		"led": "open can be written by others", "none": "none: no such file", "none/in": "none/in: no such file",
	} {
		if err := regular.CheckFolder(at(name)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	list, err := fs.ReadDir(regular.Folder(at("open")), ".")
	if _, ok := errors.AsType[*regular.TrustError](err); !ok {
		t.Errorf("others write the folder: %v, %v", list, err)
	}
}

// A relative name cannot be resolved if the working folder is gone.
func TestNoNameIsTrustedWhereItsFolderIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := regular.CheckFolder("conf"); err == nil {
		t.Error("a folder that is nowhere is trusted")
	}
	if _, _, err := regular.ReadTrusted("policy", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is nowhere: %v", err)
	}
}

// asStranger is the variable with the folder that the stranger's process checks.
const asStranger = "REGULAR_TEST_FOLDER"

// The user of the process is trusted like root, and nobody else is.
func TestWhoReadsIsTrusted(t *testing.T) {
	if dir := os.Getenv(asStranger); dir != "" {
		for name, want := range map[string]string{"own": "", "of root": "", "of another": "belongs to user 64002, who is neither root nor the user who reads it (64001)"} {
			if err := regular.CheckFolder(filepath.Join(dir, name)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("runs as another user, which takes root")
	}
	dir, err := os.MkdirTemp("/tmp", "regular") //nolint:usetesting // A stranger comes to it, and not to a folder of the test.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("this system does not say which program runs")
	}
	defer self.Close()
	if err := errors.Join(
		os.Chmod(dir, 0o755), os.Mkdir(at("own"), 0o700), os.Mkdir(at("of root"), 0o755), os.Mkdir(at("of another"), 0o755),
		os.Chown(at("own"), stranger, stranger), os.Chown(at("of another"), stranger+1, -1),
	); err != nil {
		t.Fatal(err)
	}
	// The stranger cannot reach the program by name, because it is in a folder of root's.
	c := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^TestWhoReadsIsTrusted$")
	c.Dir, c.Env, c.ExtraFiles = "/", append(os.Environ(), asStranger+"="+dir), []*os.File{self}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	if err := errors.Join(regular.CheckFolder(at("of root")), c.Err); err != nil {
		t.Error(err)
	}
	if err := regular.CheckFolder(at("own")); err == nil {
		t.Error("root trusts what is a stranger's")
	}
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestTheCureCures runs the command that an error suggests, and checks again.
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
