package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGoTest runs a real project's tests in a private copy, as a quality judge would: once
// unchanged, once with a change that breaks one.
func TestGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library; run without -short")
	}
	w := newWorld(t)
	shop := w.root + "/shop"
	if err := os.CopyFS(shop, os.DirFS("testdata/shop")); err != nil {
		t.Fatal(err)
	}
	giveAway(t, shop)
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	toolchain, err := filepath.EvalSymlinks(strings.TrimSpace(string(root)))
	if err != nil {
		t.Fatal(err)
	}
	host, err := Find(t.Context(), HostConfig{Scratch: filepath.Dir(w.root) + "/copies", Programs: []string{toolchain}})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, shop)
	run := func() RunResult {
		s := w.open(t, Config{
			Host: host, Roots: []string{w.root}, Mounts: []string{shop}, Hide: isSecret, Allow: []string{"go test"}, Scratch: CopyScratch,
			Limits: Limits{Time: 9 * time.Minute},
		})
		r, err := s.Run(t.Context(), RunRequest{Command: "go test -vet=off ./...", Dir: shop})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(t.Context(), ReadRequest{Path: shop + "/report.txt"}); err != nil || got.Text != "ok" {
			t.Errorf("what the tests wrote: %+v, %v", got, err)
		}
		t.Logf("%d after %s: %s%s", r.ExitCode, r.Duration, r.Stdout.Text, r.Stderr.Text)
		return r
	}
	if r := run(); r.ExitCode != 0 || !strings.Contains(r.Stdout.Text, "ok  \texample.com/shop") {
		t.Error("the tests did not pass")
	}
	if after := snapshot(t, shop); after != before {
		t.Errorf("the workspace changed:\n%s\nwas\n%s", after, before)
	}
	text, err := os.ReadFile(shop + "/price.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, shop, map[string]string{"price.go": strings.Replace(string(text), ">= 10", "> 10", 1)})
	if r := run(); r.ExitCode != 1 || !strings.Contains(r.Stdout.Text, "10 cost 1000, not 900") {
		t.Error("the broken change was not noticed")
	}
}
