//go:build !unix

package hook

import (
	"context"
	"os"
)

// readable does not wait: reading blocks here until the client ends its input.
func readable(context.Context, *os.File) error { return nil }

// hungUp cannot be told here; the daemon notices that nobody waits.
func hungUp(ctx context.Context, _ *os.File) bool {
	<-ctx.Done()
	return false
}
