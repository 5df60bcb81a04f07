package setup_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/setup"
)

// TestWhatIsNoSystem rejects folders that are not systems. The command's tests, which run as root,
// check what a setup does to one that is.
func TestWhatIsNoSystem(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{"here": "not an absolute path", t.TempDir(): "holds no folder etc", "/nowhere": "holds no folder etc"} {
		_, err := setup.New(setup.Options{Root: root})
		wrong, ok := errors.AsType[*setup.MistakeError](err)
		if !ok || wrong.Field != "--root" || !strings.Contains(wrong.Problem, want) {
			t.Errorf("%s: %v", root, err)
		}
	}
}

// TestAFailedSetupLeavesNothing lets a step fail, because the program cannot be read.
func TestAFailedSetupLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("makes users, which takes root")
	}
	for _, tool := range []string{"groupadd", "useradd", "userdel", "groupdel"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: %v", tool, err)
		}
	}
	root := t.TempDir()
	before := map[string]string{"passwd": "root:x:0:0:root:/root:/bin/sh\n", "group": "root:x:0:\n", "shadow": "root:*:1:0:9:7:::\n", "gshadow": ""}
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := setup.New(setup.Options{Root: root, Program: filepath.Join(root, "none")})
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	err = p.Apply(t.Context(), &told)
	if err == nil || !strings.Contains(err.Error(), "write /usr/local/bin/vaglio") {
		t.Fatalf("%v\n%s", err, &told)
	}
	if strings.Count(told.String(), "done  ") != 2*strings.Count(told.String(), "undone  ") || !strings.Contains(told.String(), "undone  make the system user") {
		t.Errorf("told:\n%s", &told)
	}
	for name, text := range before {
		if have, err := os.ReadFile(filepath.Join(root, "etc", name)); err != nil || string(have) != text {
			t.Errorf("%s: %q, %v", name, have, err)
		}
	}
	for _, path := range []string{"var/lib/vaglio", "etc/vaglio"} {
		if _, err := os.Lstat(filepath.Join(root, path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
}
