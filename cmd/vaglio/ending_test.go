package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/templates"
)

// TestAHangupEndsInOrder closes the terminal of a daemon that has a waiting agent.
func TestAHangupEndsInOrder(t *testing.T) {
	t.Parallel()
	// The process that runs the tests may ignore hangups, which its children would inherit. A signal
	// that is caught is not ignored.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	s := newHome(t).serve()
	waits := s.propose()
	s.waiting(1)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-s.done
	if a := waits.answer(t); a.Decision != approval.RulingPending {
		t.Errorf("the agent that waited got %+v", a)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(s.log.String(), "stopping") {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

// TestNohupOutlivesTheTerminal starts the daemon with hangups ignored.
func TestNohupOutlivesTheTerminal(t *testing.T) {
	t.Parallel()
	s := newHome(t).start(func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("needs sh")
		}
		cmd.Path = sh
	})
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if r := s.send(http.DefaultClient, "GET", s.base+"/readyz", "", ""); r.status != http.StatusOK {
		t.Errorf("after the hangup: %d", r.status)
	}
}

// inProcess opens a daemon in this process.
func inProcess(t *testing.T) *daemon {
	t.Helper()
	d, err := openIn(t, newHome(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// openIn opens a daemon in this process, with the data folder of a home.
func openIn(t *testing.T, h *home) (*daemon, error) {
	t.Helper()
	texts, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t.Context(), config{
		Texts: texts, Zone: time.UTC,
		Home: h.dir, DataDir: filepath.Join(h.dir, "d"), AgentSocket: filepath.Join(h.dir, "d", "agent.sock"), Listen: "127.0.0.1:0", Threshold: 0.5, Kind: "rule-based-v1", Deadline: time.Minute,
	}, policyfile.Policy{}, slog.New(slog.DiscardHandler))
}

// endWriter makes a daemon's store fail.
func endWriter(d *daemon) {
	_, _ = d.store.Update(context.Background(), approval.KindMeta, "x", func(approval.Record) (approval.Record, error) {
		runtime.Goexit() // This ends the store's writer.
		return approval.Record{}, nil
	})
}

// TestABrokenStoreIsNotReady checks that a daemon whose store fails says so before it has ended.
func TestABrokenStoreIsNotReady(t *testing.T) {
	t.Parallel()
	d := inProcess(t)
	if err := d.ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	endWriter(d)
	if _, broken := errors.AsType[*bolt.BrokenError](d.ready(t.Context())); !broken {
		t.Errorf("with a broken store it says %v", d.ready(t.Context()))
	}
	_ = d.close()
}

// TestABrokenStoreEndsTheProcess makes the store of an in-process daemon fail while an agent waits.
func TestABrokenStoreEndsTheProcess(t *testing.T) {
	t.Parallel()
	d := inProcess(t)
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(d.run(t.Context()), d.close()) }()
	endWriter(d)
	err := <-ended
	code, coded := errors.AsType[*exitError](err)
	_, broken := errors.AsType[*bolt.BrokenError](err)
	if !coded || code.code != exitBroken || !broken || strings.Contains(err.Error(), "\n") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := d.dispatcher.Propose(t.Context(), "a", dispatcher.Request{}); !errors.Is(err, dispatcher.ErrStopping) {
		t.Errorf("a later proposal: %v", err)
	}
}

// TestOrphansGoAtTheStart leaves files that a killed start leaves, and some that only look like it.
func TestOrphansGoAtTheStart(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	h.serve().stop()
	stays := []string{"probe-1", "notes.new-1"}
	for _, name := range append([]string{".probe-123", ".new-456"}, stays...) {
		if err := os.WriteFile(h.data(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(h.data(".new-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.serve().stop()
	for name, want := range map[string]bool{".probe-123": false, ".new-456": false, "probe-1": true, "notes.new-1": true, ".new-folder": true} {
		if _, err := os.Lstat(h.data(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRecordsThatCannotBeReadStopTheStart damages records that the daemon keeps about itself: no start
// replaces a key, or forgets who is signed in, because it cannot read what it has.
func TestRecordsThatCannotBeReadStopTheStart(t *testing.T) {
	t.Parallel()
	const damaged = "{"
	for _, id := range []string{"instance-secret", "sessions", "passkeys"} {
		h := newHome(t)
		d, err := openIn(t, h)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.store.Update(t.Context(), approval.KindMeta, id, func(r approval.Record) (approval.Record, error) {
			r.ID, r.Body = id, []byte(damaged)
			return r, nil
		})
		if err := errors.Join(err, d.close()); err != nil {
			t.Fatal(err)
		}
		if d, err := openIn(t, h); err == nil {
			t.Errorf("a daemon starts that cannot read its %s", id)
			_ = d.close()
		}
		db, err := openStore(filepath.Join(h.dir, "d", datafolder.StoreFile))
		if err != nil {
			t.Fatal(err)
		}
		r, err := db.Get(t.Context(), approval.KindMeta, id)
		if err := errors.Join(err, db.Close()); err != nil || string(r.Body) != damaged {
			t.Errorf("%s became %q: %v", id, r.Body, err)
		}
	}
}
