// Command vaglio-hook answers the hooks of coding agents, as `vaglio hook` does. It
// is a program of its own because every tool call starts it, and it starts in a
// fraction of the time.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/metnos/vaglio/gateway/hook/hookmain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(hookmain.Main(ctx, os.Args[1:], hookmain.Variables(os.Environ()), hookmain.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
