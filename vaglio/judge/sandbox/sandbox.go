// Package sandbox gives a judge agent tools that examine an agent's folders and change nothing:
// running commands from a list, searching with ast-grep, and reading, listing and searching files.
// What they run is hostile, because a project's tests belong to the agent that is being judged. So
// every limit ends a call with an error or a stated cut, and a tool is refused if it cannot be
// isolated.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Sandbox is what one judge agent may use while it examines one call. Its tools may be called
// concurrently. It must be closed, because only that removes its private copies.
type Sandbox struct {
	host    *Host
	network Network
	limits  Limits
	mounts  []mount
	allowed [][]string
	hide    func(string) bool
	scratch *scratch
}

// Config says what one judge agent may see and run.
type Config struct {
	// Host is the machine, as [Find] returned it.
	Host *Host
	// Roots are the folders that mounts must be in: the policy's workspaces.
	Roots []string
	// Mounts are the absolute paths of the folders to show, read-only, at the same paths. They are
	// claims of the judged agent; each must, with symlinks resolved, be in a root.
	Mounts []string
	// Hide reports whether an absolute path, with symlinks resolved, holds a secret: it and
	// everything below it is hidden. Nil hides nothing.
	Hide func(path string) bool
	// Allow lists the commands of [Sandbox.Run] as words: "npm test" allows npm with test as its
	// first argument and any others after it.
	Allow []string
	// Network is [NoNetwork] unless set to [OpenNetwork].
	Network Network
	// Scratch is [NoScratch] unless set to [CopyScratch].
	Scratch Scratch
	// Limits limit each call. Zero fields mean the defaults.
	Limits Limits
}

// Network is what a sandboxed command can reach.
type Network string

const (
	// NoNetwork provides only a loopback interface of its own.
	NoNetwork Network = ""
	// OpenNetwork provides the machine's network, including its loopback.
	OpenNetwork Network = "open"
)

// Scratch says where a sandboxed command may write besides /tmp and its home, which start empty and
// are deleted when it ends.
type Scratch string

const (
	// NoScratch shows the mounts as they are, read-only.
	NoScratch Scratch = ""
	// CopyScratch shows, at the mounts' paths, a writable private copy that [Sandbox.Close] removes.
	CopyScratch Scratch = "copy"
)

// Open checks what a judge agent asks to see, and makes its private copies. An error is a
// [MountError], a [ConfigError] or a failure of the machine; nothing is then left behind.
func Open(ctx context.Context, c Config) (_ *Sandbox, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	limits, err := c.Limits.filled()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{host: c.Host, network: c.Network, limits: limits, hide: c.Hide}
	if s.hide == nil {
		s.hide = func(string) bool { return false }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.allowed, err = readAllowed(c.Allow); err != nil {
		return nil, err
	}
	if s.mounts, err = openMounts(c.Mounts, c.Roots, s.hide); err != nil {
		return nil, err
	}
	if c.Scratch == CopyScratch {
		err = s.copyMounts(ctx)
	} else {
		err = s.findHidden(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// check returns an error if a configuration has an unknown value.
func (c *Config) check() error {
	switch {
	case c.Host == nil:
		return ConfigError{"Host", "is missing"}
	case c.Host.Layer().Name == LayerNone:
		return fmt.Errorf("no sandbox: %s", c.Host.Layer().Why)
	case c.Network != NoNetwork && c.Network != OpenNetwork:
		return ConfigError{"Network", fmt.Sprintf("is %q; it is %q or nothing", c.Network, OpenNetwork)}
	case c.Scratch != NoScratch && c.Scratch != CopyScratch:
		return ConfigError{"Scratch", fmt.Sprintf("is %q; it is %q or nothing", c.Scratch, CopyScratch)}
	}
	return nil
}

// Layer returns what confines this sandbox's tools.
func (s *Sandbox) Layer() Layer { return s.host.Layer() }

// Mounts returns the folders that the tools see, with symlinks resolved.
func (s *Sandbox) Mounts() []string {
	paths := make([]string, len(s.mounts))
	for i, m := range s.mounts {
		paths[i] = m.path
	}
	return paths
}

// Close removes the private copies. All calls must have ended.
func (s *Sandbox) Close() error {
	for _, m := range s.mounts {
		_ = m.root.Close()
	}
	s.mounts = nil
	if s.scratch == nil {
		return nil
	}
	err := s.scratch.remove()
	s.scratch = nil
	return err
}

// ConfigError is a mistake in the operator's configuration.
type ConfigError struct {
	Field string // the field of [Config], [Limits] or [HostConfig]
	Wrong string // what is wrong with it, and what would be right
}

// Error names the field and the mistake.
func (e ConfigError) Error() string { return "sandbox: " + e.Field + " " + e.Wrong }

// ToolError says, for the judge to read, why a call of a tool was not executed.
type ToolError struct {
	Tool string // its name, such as "cmd.run"
	Why  string // what was wrong, and what would be right
}

// Error names the tool and the reason.
func (e ToolError) Error() string { return e.Tool + ": " + e.Why }

// inMount returns the mount that contains an absolute path, and the path below it.
func (s *Sandbox) inMount(tool, path string) (m *mount, rel string, err error) {
	if path == "" && len(s.mounts) == 1 {
		path = s.mounts[0].path
	}
	if !filepath.IsAbs(path) {
		return nil, "", ToolError{tool, fmt.Sprintf("path %q is not absolute; the folders are %s", path, s.named())}
	}
	path = filepath.Clean(path)
	for i := range s.mounts {
		m := &s.mounts[i]
		for _, at := range []string{m.path, m.asked} {
			if rel, ok := below(path, at); ok {
				return m, rel, nil
			}
		}
	}
	return nil, "", ToolError{tool, fmt.Sprintf("path %q is in none of the folders %s", path, s.named())}
}

// named lists the folders in words.
func (s *Sandbox) named() string {
	if len(s.mounts) == 0 {
		return "(none)"
	}
	return strings.Join(s.Mounts(), ", ")
}

// below reports whether path is dir or inside it, and returns the path relative to dir. Both must be
// clean.
func below(path, dir string) (rel string, ok bool) {
	if path == dir {
		return ".", true
	}
	if dir != string(os.PathSeparator) {
		dir += string(os.PathSeparator)
	}
	rel, ok = strings.CutPrefix(path, dir)
	return rel, ok
}
