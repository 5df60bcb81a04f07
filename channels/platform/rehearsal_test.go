package platform_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
)

func TestWaitTellsWhoPressedFirstOrWhyNobodyDid(t *testing.T) {
	t.Parallel()
	gone, broken := errors.New("gone"), errors.New("broken")
	ann := approval.Person{ID: "test:1", Name: "Ann"}
	untilCancelled := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, tt := range map[string]struct {
		act  func(r *platform.Rehearsal, end context.CancelCauseFunc)
		hear func(context.Context) error
		by   approval.Person
		err  error
	}{
		"Pressed": {act: func(r *platform.Rehearsal, _ context.CancelCauseFunc) {
			r.Press(ann)
			r.Press(approval.Person{ID: "test:2"})
		}, by: ann},
		"Heard":   {act: func(r *platform.Rehearsal, _ context.CancelCauseFunc) { r.Press(ann) }, hear: untilCancelled, by: ann},
		"Ended":   {act: func(_ *platform.Rehearsal, end context.CancelCauseFunc) { end(gone) }, hear: untilCancelled, err: gone},
		"Deaf":    {hear: func(context.Context) error { return broken }, err: broken},
		"Nobody":  {act: func(_ *platform.Rehearsal, end context.CancelCauseFunc) { end(gone) }, err: gone},
		"DeafEnd": {hear: func(ctx context.Context) error { <-ctx.Done(); return broken }, act: func(_ *platform.Rehearsal, end context.CancelCauseFunc) { end(gone) }, err: gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var s platform.Rehearsals
				r := s.Open()
				defer r.Close()
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				hearing := false
				hear := tt.hear
				if hear != nil {
					hear = func(ctx context.Context) error {
						hearing = true
						defer func() { hearing = false }()
						return tt.hear(ctx)
					}
				}
				if tt.act != nil {
					time.AfterFunc(time.Second, func() { tt.act(r, end) })
				}
				by, err := r.Wait(ctx, hear)
				if by != tt.by || !errors.Is(err, tt.err) || hearing {
					t.Errorf("pressed by %+v, %v; somebody still hears: %v", by, err, hearing)
				}
			})
		})
	}
}

func TestAStageKnowsWhatGoesOn(t *testing.T) {
	t.Parallel()
	var s platform.Rehearsals
	if s.Find("") != nil {
		t.Error("where none was opened there is a rehearsal")
	}
	a, b := s.Open(), s.Open()
	if a.Token == b.Token || s.Find(a.Token) != a || s.Find(b.Token) != b {
		t.Error("two rehearsals are not told apart")
	}
	a.Close()
	a.Close()
	if s.Find(a.Token) != nil || s.Find(b.Token) != b {
		t.Error("what was closed goes on, or ended the other one")
	}
}
