//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
)

// scratch does not exist on this system.
type scratch struct{}

var errElsewhere = errors.New("there is no sandbox on this system, only on Linux")

func (*scratch) remove() error { return nil }

func sweep(string) error { return nil }

func (h *Host) probe(context.Context) { h.layer = Layer{Name: LayerNone, Why: errElsewhere.Error()} }

func (s *Sandbox) copyMounts(context.Context) error { return errElsewhere }

func (s *Sandbox) confined(context.Context, *mount, func() error) error { return errElsewhere }

func (s *Sandbox) execute(context.Context, string, []string, string) (RunResult, error) {
	return RunResult{}, errElsewhere
}

func placeOf(*os.Root) (string, error) { return "", errElsewhere }

func placeOfFile(*os.File) (string, error) { return "", errElsewhere }
