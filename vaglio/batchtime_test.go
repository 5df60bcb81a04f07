package vaglio_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// A judge that asks a model is asked once about each call of a batch, also if the order counts, and has
// for all of them the time that it has for one call. What it had no time for does not pass.
func TestABatchBoundsWhatAModelIsAsked(t *testing.T) {
	t.Parallel()
	reads, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		calls      int
		takes      time.Duration
		asked      int
		instead    bool
		approved   bool
		blocked    string
		atMost     time.Duration
		stubbornly bool
	}{
		"fast":              {calls: 50, takes: time.Second, asked: 50, approved: true, atMost: time.Minute},
		"too slow for all":  {calls: 50, takes: 1900 * time.Millisecond, asked: 32, blocked: "did not answer in time", atMost: time.Minute},
		"silent":            {calls: 50, takes: time.Hour, asked: 1, blocked: "did not answer in time", atMost: time.Minute},
		"deaf to the end":   {calls: 50, takes: time.Hour, asked: 1, blocked: "did not answer in time", atMost: time.Hour, stubbornly: true},
		"another answers":   {calls: 50, takes: 1900 * time.Millisecond, asked: 32, instead: true, blocked: "did not answer in time", atMost: time.Minute},
		"exactly in time":   {calls: 30, takes: 1999 * time.Millisecond, asked: 30, approved: true, atMost: time.Minute},
		"one call, as ever": {calls: 1, takes: 59 * time.Second, asked: 1, approved: true, atMost: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				model := vaglio.Gate{Timeout: time.Minute, Judge: &fake{"model", func(ctx context.Context, _ vaglio.Proposal) (vaglio.GradientResult, error) {
					asked++
					if tt.stubbornly {
						ctx = context.WithoutCancel(ctx)
					}
					select {
					case <-time.After(tt.takes):
						return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
					case <-ctx.Done():
						return vaglio.GradientResult{}, ctx.Err()
					}
				}}}
				if tt.instead {
					instead := model
					model = vaglio.Gate{Instead: &instead, Timeout: time.Minute, Judge: &fake{"broke", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
						return vaglio.GradientResult{}, &vaglio.JudgeError{Fault: "the budget is spent", Class: vaglio.FaultInstead}
					}}}
				}
				e := build(t, vaglio.Config{
					Judges: []vaglio.Gate{{Judge: reads, MinScore: effects.Threshold}, model}, Home: "/home/u",
					Files: folderOf{"/home/u/app/a": ""}, Workspaces: []string{"/home/u/app"},
				})
				var calls []map[string]any
				for i := range tt.calls {
					calls = append(calls, shellCall(fmt.Sprintf("echo hello > out%d.txt", i)))
				}
				since := time.Now()
				v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...), Context: vaglio.Context{Cwd: "/home/u/app"}})
				if err != nil || v.Approved != tt.approved || !strings.Contains(v.Reason, tt.blocked) {
					t.Errorf("%v: %s %v", v.Approved, v.Reason, err)
				}
				if took := time.Since(since); asked != tt.asked || took > tt.atMost {
					t.Errorf("asked %d times in %s", asked, took)
				}
			})
		})
	}
}
