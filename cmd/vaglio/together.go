package main

import (
	"context"
	"sync"
)

// together runs the parts until all have returned. The first that fails, or
// the end of ctx, tells the others to end. It returns the first failure.
func together(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	for _, part := range parts {
		group.Go(func() {
			if err := part(ctx); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	group.Wait()
	return first
}
