// Command vaglio-hook answers the hooks of coding agents, as `vaglio hook` does. It is a program of
// its own because it starts with every tool call, and starts in a fraction of the time.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/metnos/vaglio/gateway/hook/hookmain"
)

// briefly is the time within which most calls are judged. Signals are handled only after it, because
// setting up their handling would cost an eighth of such a call. Until then the signals that would
// stop the hook are ignored, and the agent gets its answer.
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
