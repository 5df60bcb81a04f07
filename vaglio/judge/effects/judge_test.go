package effects_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

const (
	testHome = "/home/ann"
	testCwd  = "/home/ann/src/shop"
)

func newJudge(tb testing.TB) *effects.Judge {
	tb.Helper()
	j, err := effects.New(effects.Options{Home: testHome, User: "ann"})
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

func command(line string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: testCwd}}
}
