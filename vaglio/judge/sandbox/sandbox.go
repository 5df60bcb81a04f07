// Package sandbox gives a judge agent tools that look at an agent's folders and
// change nothing: a command of a list, a search with ast-grep, and reading,
// listing and searching files. What they run is hostile: a project's own tests
// belong to the agent that is being judged. So every limit ends a call with an
// error or a stated cut, and where no isolation can be had the tool is refused.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Sandbox is what one judge agent may use while it looks at one call. Its methods
// may be called side by side. It must be closed: only that removes its private
// copies.
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
	// Host is the machine, as [Find] found it.
	Host *Host
	// Roots holds the folders that mounts may lie in: the policy's workspaces.
	Roots []string
	// Mounts holds the absolute folders to show, read-only, at the same paths. They
	// are claims of the agent that is being judged; each must lie, symlinks resolved,
	// in a root.
	Mounts []string
	// Hide says whether an absolute path, symlinks resolved, holds a secret: neither
	// it nor what lies below it is shown. Nil hides nothing.
	Hide func(path string) bool
	// Allow holds the commands of [Sandbox.Run], as words: "npm test" allows npm with
	// test as its first argument and any others.
	Allow []string
	// Network is [NoNetwork] unless [OpenNetwork] is written.
	Network Network
	// Scratch is [NoScratch] unless [CopyScratch] is written.
	Scratch Scratch
	// Limits bound each call. Zero fields are the defaults.
	Limits Limits
}

// Network says what a sandboxed command reaches.
type Network string

const (
	// NoNetwork gives a loopback of its own, and nothing else.
	NoNetwork Network = ""
	// OpenNetwork gives the machine's network, its loopback included.
	OpenNetwork Network = "open"
)

// Scratch says where a sandboxed command may write besides its empty /tmp and
// home, which are gone when it ends.
type Scratch string

const (
	// NoScratch shows the mounts as they are, read-only.
	NoScratch Scratch = ""
	// CopyScratch shows, at the mounts' paths, a private copy that may be written and
	// that [Sandbox.Close] removes.
	CopyScratch Scratch = "copy"
)

// Open checks what a judge agent wants to see and makes its private copies. An
// error is one of [MountError], [ConfigError] or a failure of the machine, and
// nothing is left behind.
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

// check tells what of a configuration is no word of ours.
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

// Layer says what keeps this sandbox's tools in.
func (s *Sandbox) Layer() Layer { return s.host.Layer() }

// Mounts holds the folders that the tools see, symlinks resolved.
func (s *Sandbox) Mounts() []string {
	paths := make([]string, len(s.mounts))
	for i, m := range s.mounts {
		paths[i] = m.path
	}
	return paths
}

// Close removes the private copies. Calls must have ended.
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

// ConfigError is a mistake in what the operator wrote.
type ConfigError struct {
	Field string // the field of [Config], [Limits] or [HostConfig]
	Wrong string // what is wrong with it, and what would be right
}

// Error says field and mistake.
func (e ConfigError) Error() string { return "sandbox: " + e.Field + " " + e.Wrong }

// ToolError is a call of a tool that was not carried out, in words for the judge.
type ToolError struct {
	Tool string // its name, "cmd.run" for instance
	Why  string // what was wrong, and what would be right
}

// Error says tool and reason.
func (e ToolError) Error() string { return e.Tool + ": " + e.Why }

// inMount finds the mount that holds an absolute path and the path below it.
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

// named is the folders in words.
func (s *Sandbox) named() string {
	if len(s.mounts) == 0 {
		return "(none)"
	}
	return strings.Join(s.Mounts(), ", ")
}

// below says whether path is dir or lies in it, and where. Both are clean.
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
