package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/templates"
)

// If a configuration file is a pipe that nobody writes to, this is reported at once.
func TestNobodyWaitsForAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "en.tmpl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := policyfile.Read(pipe, "/home/u"); err == nil || !strings.Contains(err.Error(), "en.tmpl: is not a regular file") {
		t.Errorf("as the policy: %v", err)
	}
	if _, err := datafolder.ReadSecret(pipe); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("as a secret: %v", err)
	}
	if _, err := templates.Load(regular.Folder(dir)); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("among the texts: %v", err)
	}
}
