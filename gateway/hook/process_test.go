package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestStoppedHookWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := &fakeGate{answer: pending, after: -1}
		var out bytes.Buffer
		done := make(chan error)
		go func() {
			_, err := Run(ctx, Options{Client: "claude-code", Gate: g, In: strings.NewReader(bash), Out: &out})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if s := parse(t, out.Bytes()); s.Out.Decision != "deny" || !strings.Contains(s.Out.Reason, "withdrawn") {
			t.Errorf("%+v", s)
		}
		if diff := cmp.Diff([]string{"propose", "await i-1", "withdraw i-1"}, g.asked); diff != "" {
			t.Error(diff)
		}
	})
}

// TestHangUpWithdraws plays a client that is killed: its end of the pipe closes, and nothing else
// happens.
func TestHangUpWithdraws(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	g := &fakeGate{answer: pending, after: -1, waits: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: strings.NewReader(bash), Out: w})
		done <- err
	}()
	<-g.waits
	r.Close()
	if err := <-done; err == nil {
		t.Error("an answer that nobody can read was told")
	}
	if diff := cmp.Diff([]string{"propose", "await i-1", "withdraw i-1"}, g.asked); diff != "" {
		t.Error(diff)
	}
}

// TestReaderThatStaysIsNoHangUp decides while the pipe is watched, with real pipes on both sides.
func TestReaderThatStaysIsNoHangUp(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inR.Close()
	defer outR.Close()
	g := &fakeGate{answer: pending, later: allowed}
	done := make(chan error)
	go func() {
		_, err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: inR, Out: outW})
		done <- errors.Join(err, outW.Close())
	}()
	_, _ = io.WriteString(inW, bash[:50])
	_, _ = io.WriteString(inW, bash[50:])
	inW.Close()
	out, _ := io.ReadAll(outR)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := parse(t, out); s.Out.Decision != "allow" {
		t.Errorf("%+v", s)
	}
}

// TestInputThatNeverEnds plays a client that does not close our stdin: the hook must deny before
// the client runs the tool for lack of an answer.
func TestInputThatNeverEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if _, err := Run(ctx, Options{Client: "claude-code", Gate: &fakeGate{answer: approved}, In: r, Out: &out}); err != nil {
		t.Fatal(err)
	}
	if s := parse(t, out.Bytes()); s.Out.Decision != "deny" {
		t.Errorf("%+v", s)
	}
}
