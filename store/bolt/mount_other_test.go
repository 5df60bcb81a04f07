//go:build unix && !linux

package bolt_test

import (
	"errors"
	"os/exec"
)

func ownMounts(*exec.Cmd) bool { return false }

func mountSmall(string) error { return errors.ErrUnsupported }
