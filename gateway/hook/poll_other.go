//go:build !unix

package hook

import (
	"context"
	"os"
)

// readable does not wait: on this system, reading blocks until the client ends its input.
func readable(context.Context, *os.File) error { return nil }

// hungUp never reports true on this system; the daemon notices that nobody waits.
func hungUp(ctx context.Context, _ *os.File) bool {
	<-ctx.Done()
	return false
}
