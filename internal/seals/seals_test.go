package seals_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/internal/seals"
)

func TestAChangeIsNoticed(t *testing.T) {
	dir := t.TempDir()
	var files []seals.File
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"kept", "touched", "written", "gone", "replaced", "longer"} {
		files = append(files, seals.File{Path: at(name), What: "it is the " + name})
		if err := os.WriteFile(at(name), []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"program", "installed program"} {
		files = append(files, seals.File{Path: at(name), What: "it is the " + name})
		if err := os.WriteFile(at(name), make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := seals.New(append(files, seals.File{Path: at("never there"), What: "it was never there"}))
	if got := w.Changes(); len(got) != 0 || w.Files() != 9 {
		t.Fatalf("at first: %q of %d", got, w.Files())
	}
	later := time.Now().Add(time.Hour)
	was, err := os.Stat(at("longer"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.Chtimes(at("touched"), later, later), os.WriteFile(at("written"), []byte("after!"), 0o600), os.Chtimes(at("written"), later, later),
		os.Remove(at("gone")), os.WriteFile(at("new"), []byte("after!"), 0o600), os.Rename(at("new"), at("replaced")),
		os.WriteFile(at("longer"), []byte("after, and its time as before"), 0o600), os.Chtimes(at("longer"), was.ModTime(), was.ModTime()),
		os.WriteFile(at("new"), make([]byte, 2<<20), 0o600), os.Rename(at("new"), at("installed program")),
	); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(w.Changes(), "\n")
	for _, want := range []string{"written changed after the daemon started: it is the written.", "gone is gone: it is the gone.", "replaced changed", "longer changed", "installed program changed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not told: %q", want, got)
		}
	}
	if strings.Count(got, "\n") != 4 {
		t.Errorf("more is told than changed: %q", got)
	}
}

// A change is logged within half a minute.
func TestAChangeIsToldSoon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := seals.New([]seals.File{{Path: file, What: "it runs the hook"}})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Millisecond)
		defer cancel()
		if err := w.Run(ctx, slog.New(slog.NewTextHandler(&out, nil))); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(out.String(), "settings.json is gone") {
		t.Errorf("half a minute later nothing is told: %s", out.String())
	}
}

func TestTheLogIsToldOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := seals.New([]seals.File{{Path: file, What: "it runs the hook"}})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := w.Run(ctx, slog.New(slog.NewTextHandler(&out, nil))); err != nil {
			t.Error(err)
		}
	})
	if n := strings.Count(out.String(), "settings.json is gone: it runs the hook."); n != 1 {
		t.Errorf("told %d times: %s", n, out.String())
	}
}

// Contents are first read after the start, and a change before that is noticed, too.
func TestAChangeBeforeItIsReadIsNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vaglio-hook")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := seals.New([]seals.File{{Path: file, What: "it runs the hook"}})
	if err := os.WriteFile(file, []byte("after it, longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := w.Changes(); len(got) != 1 || !strings.Contains(got[0], "vaglio-hook changed after the daemon started") {
			t.Errorf("told: %q", got)
		}
	}
}
