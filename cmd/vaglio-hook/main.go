// Command vaglio-hook answers the hooks of coding agents, as `vaglio hook` does. It
// is a program of its own because every tool call starts it, and it starts in a
// fraction of the time.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/metnos/vaglio/gateway/hook/hookmain"
)

// briefly is the time in which most calls are judged. Signals are heard only after
// it, because to be ready for them costs an eighth of such a call; until then those
// that would stop the hook are ignored, and the agent has its answer.
const briefly = 50 * time.Millisecond

func main() {
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(stops...)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(briefly, func() {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, stops...)
		<-heard
		cancel()
	})
	os.Exit(hookmain.Main(ctx, os.Args[1:], hookmain.Variables(os.Environ()), hookmain.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
