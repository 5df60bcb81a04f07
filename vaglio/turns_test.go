package vaglio

import (
	"context"
	"errors"
	"testing"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	all := newTurns()
	var ends []func()
	for range 2 {
		done, err := all.take(t.Context(), readAtOnce/2)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, done)
	}
	if done, err := all.take(t.Context(), smallCall); err != nil {
		t.Fatalf("a small call waits: %v", err)
	} else {
		done()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.take(ctx, smallCall+1); !errors.Is(err, context.Canceled) {
		t.Fatalf("a third large call is read beside two: %v", err)
	}
	waits := make(chan error)
	go func() {
		done, err := all.take(t.Context(), 10*readAtOnce)
		if err == nil {
			done()
		}
		waits <- err
	}()
	for _, end := range ends {
		end()
	}
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
}
