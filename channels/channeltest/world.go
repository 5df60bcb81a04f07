package channeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Denial returns what a judge said about a call.
func Denial() vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "it deletes more than was asked for", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.2, Confidence: 1, Reasoning: "it deletes more than was asked for",
			Signals: []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "removes ./build"}},
		}},
	}
}

// Command returns a call that runs a command line.
func Command(line string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/ann/app"}}
}

// Open opens an ask of the agent coder on a channel, for calls that a judge denied.
func Open(t testing.TB, channel string, v vaglio.Verdict, calls ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	return open(t, v, approval.Opening{Agent: "coder", Intent: "clean the old build", TurnID: "t-1", Channels: []string{channel}}, calls...)
}

// open opens an ask for half an hour.
func open(t testing.TB, v vaglio.Verdict, o approval.Opening, calls ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	d, err := approval.JudgeDenial(v)
	if err != nil {
		t.Fatal(err)
	}
	o.At = time.Now()
	o.ExpiresAt = o.At.Add(30 * time.Minute)
	for i, p := range calls {
		o.Calls = append(o.Calls, approval.Call{Proposal: p, Denial: d, Fingerprint: approval.Fingerprint(fmt.Sprint("fp", i))})
	}
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

// Memory keeps a channel's notes, and can fail to.
type Memory[N any] struct {
	mu sync.Mutex
	// Notes are what was last kept. A test may touch them while no channel runs.
	Notes N
	// Saved is how often they were saved.
	Saved int
	fail  error
}

// Load returns the notes.
func (m *Memory[N]) Load(context.Context) (N, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Notes, nil
}

// Save keeps the notes.
func (m *Memory[N]) Save(ctx context.Context, n N) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return err
	}
	m.Notes = n
	m.Saved++
	return nil
}

// Kept returns the notes while a channel runs.
func (m *Memory[N]) Kept() N {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Notes
}

// Fail makes every Save fail, or none if err is nil.
func (m *Memory[N]) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// Log is a log that is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns everything that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Wrong returns the problems among what a channel found out about itself, as "subject: text
// → remedy". It fails the test if a finding lacks one of these or shows a secret.
func Wrong(t testing.TB, all []approval.Finding, secrets ...string) []string {
	t.Helper()
	var out []string
	for _, f := range all {
		if f.Subject == "" || f.Text == "" || (f.Grade == approval.Wrong) != (f.Remedy != "") {
			t.Errorf("every finding says what and how, and a problem says what helps: %+v", f)
		}
		for _, s := range secrets {
			if strings.Contains(f.Text+f.Remedy, s) {
				t.Errorf("a secret is in %+v", f)
			}
		}
		if f.Grade == approval.Wrong {
			out = append(out, f.Subject+": "+f.Text+" → "+f.Remedy)
		}
	}
	return out
}
