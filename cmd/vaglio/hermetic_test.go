package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hermetic removes from the environment what the commands read, and sets an empty home, so that a
// command run in this process reaches no daemon, store or proxy of whoever runs the tests. The Go
// tool keeps its folders.
func hermetic(home string) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOENV"} {
		out, err := exec.Command("go", "env", name).Output()
		if err == nil {
			err = os.Setenv(name, strings.TrimSpace(string(out)))
		}
		if err != nil {
			return fmt.Errorf("ask the Go tool for %s: %w", name, err)
		}
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); foreign(name) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return errors.Join(os.Mkdir(home, 0o700), os.Setenv("HOME", home))
}

// foreign reports whether a variable leads out of the tests' own folders.
func foreign(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "METNOS_") || strings.HasPrefix(upper, "XDG_") || strings.HasSuffix(upper, "_PROXY") && upper != "GOPROXY"
}

// No setting of the environment in which the tests were started reaches a command.
func TestTheEnvironmentIsTheTestsOwn(t *testing.T) {
	t.Parallel()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); foreign(name) {
			t.Errorf("%s is set", name)
		}
	}
	if home := os.Getenv("HOME"); filepath.Dir(home) != filepath.Dir(binary) {
		t.Errorf("HOME is %s", home)
	}
	for name, want := range map[string]bool{
		"METNOS_DATA_DIR": true, "metnos_x": true, "XDG_RUNTIME_DIR": true, "https_proxy": true, "NO_PROXY": true,
		"GOPROXY": false, "PATH": false, "HOME": false,
	} {
		if foreign(name) != want {
			t.Errorf("foreign(%s) is %v", name, !want)
		}
	}
}
