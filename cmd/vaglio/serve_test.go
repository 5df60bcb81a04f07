package main

import (
	"context"
	"errors"
	"testing"
)

func TestTogetherEndsWhenOneFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ended := false
	err := together(t.Context(),
		func(ctx context.Context) error { <-ctx.Done(); ended = true; return errors.New("a consequence") },
		func(context.Context) error { return broken },
		func(context.Context) error { return nil },
	)
	if !errors.Is(err, broken) || !ended {
		t.Errorf("got %v, the others ended: %v; want the first failure, after all ended", err, ended)
	}
}
