package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/datafolder"
)

// TestCompact compacts the store of a running daemon, of one that was killed, and none at all.
func TestCompact(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run("", "compact"); r.code != exitFailed || !strings.Contains(r.err, "there is no store yet") {
		t.Errorf("without a store: exit code %d, %q", r.code, r.err)
	}
	if _, err := os.Stat(h.data(datafolder.StoreFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store was made: %v", err)
	}
	s := h.serve()
	waits := s.propose()
	asked := s.waiting(1)[0]
	if r := h.run("", "compact"); r.code != exitFailed || !strings.Contains(r.err, "the store was not rewritten: another vaglio holds") {
		t.Errorf("beside a daemon: exit code %d, %q", r.code, r.err)
	}
	s.kill()
	<-waits.done
	before := h.size(t, datafolder.StoreFile)
	if r := h.run("", "compact"); r.code != exitOK || !strings.HasPrefix(r.out, "The store's file had ") {
		t.Fatalf("exit code %d, %q, %q", r.code, r.out, r.err)
	}
	if after := h.size(t, datafolder.StoreFile); after >= before {
		t.Errorf("the file has %d bytes, and had %d", after, before)
	}
	s = h.serve()
	if waiting := s.waiting(1); waiting[0].ID != asked.ID {
		t.Errorf("%+v waits, and %s was asked", waiting[0], asked.ID)
	}
	if r := h.run("", "log", "verify"); r.code != exitOK {
		t.Errorf("the history does not verify: %s%s", r.out, r.err)
	}
	s.stop()
}
