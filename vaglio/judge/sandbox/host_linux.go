package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// probeTime bounds the runs that test a layer.
const probeTime = 30 * time.Second

// probe determines the layer by running a command in it.
func (h *Host) probe(ctx context.Context) {
	h.landlock = landlockVersion()
	version, err := h.proveBubblewrap(ctx)
	switch {
	case err == nil:
		h.layer = Layer{Name: LayerBubblewrap, Version: version}
	case h.landlock > 0:
		h.layer = Layer{Name: LayerLandlock, Version: fmt.Sprint(h.landlock), Why: err.Error()}
	default:
		h.layer = Layer{Name: LayerNone, Why: err.Error() + "; and the kernel has no Landlock"}
	}
}

// proveBubblewrap runs true in a sandbox.
func (h *Host) proveBubblewrap(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if version, err = h.findBubblewrap(ctx); err != nil {
		return "", err
	}
	if h.prlimit, err = h.program("prlimit"); err != nil {
		return "", fmt.Errorf("%w (package util-linux)", err)
	}
	if h.seccomp.closed, err = seccompProgram(false); err == nil {
		h.seccomp.withUnix, err = seccompProgram(true)
	}
	if err != nil {
		return "", fmt.Errorf("the filter for system calls: %w", err)
	}
	limits, err := Limits{Time: probeTime}.filled()
	if err != nil {
		return "", err
	}
	return version, h.proveRun(ctx, limits)
}

// findBubblewrap finds bubblewrap among the machine's programs, and checks what it supports.
func (h *Host) findBubblewrap(ctx context.Context) (version string, err error) {
	for dir := range strings.SplitSeq(sandboxPath, ":") {
		if path := filepath.Join(dir, "bwrap"); h.bwrap == "" && isProgram(path) {
			h.bwrap = path
		}
	}
	if h.bwrap == "" {
		return "", errors.New("bubblewrap is not installed (package bubblewrap)")
	}
	says := func(option string) (string, error) {
		out, err := exec.CommandContext(ctx, h.bwrap, option).Output() //nolint:gosec // a path of the list above
		if err != nil {
			err = fmt.Errorf("%s %s: %w", h.bwrap, option, err)
		}
		return strings.TrimSpace(string(out)), err
	}
	help, err := says("--help")
	if err != nil {
		return "", err
	}
	for _, option := range []string{"--ro-bind-fd", "--disable-userns"} {
		if !strings.Contains(help, option) {
			return "", fmt.Errorf("this bubblewrap has no %s; version 0.10 has, and Debian 12's 0.8", option)
		}
	}
	version, err = says("--version")
	return strings.TrimPrefix(version, "bubblewrap "), err
}

// proveRun runs true without mounts and, if private copies are possible, with an empty one.
func (h *Host) proveRun(ctx context.Context, limits Limits) error {
	program, err := h.program("true")
	if err != nil {
		return err
	}
	prove := func(s *Sandbox) error {
		r, err := s.execute(ctx, program, []string{"true"}, "/")
		if err == nil && (r.ExitCode != 0 || r.Ended != "") {
			err = fmt.Errorf("true ended with %d %s%s", r.ExitCode, r.Ended, strings.TrimSpace(r.Stderr.Text))
		}
		return err
	}
	if err := prove(&Sandbox{host: h, limits: limits}); err != nil {
		return fmt.Errorf("bubblewrap does not run here: %w", err)
	}
	if h.unshared != "" {
		return nil
	}
	s := &Sandbox{host: h, limits: limits}
	dir, err := h.newScratch()
	if err == nil {
		s.scratch = dir
		var root *os.Root
		if root, err = dir.folder(); err == nil {
			s.mounts = []mount{{asked: "/scratch", path: "/scratch", source: root.Name(), root: root}}
			err = prove(s)
		}
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		h.unshared = fmt.Sprintf("a copy in %s cannot be shown: %s", h.scratch, err)
	}
	return nil
}
