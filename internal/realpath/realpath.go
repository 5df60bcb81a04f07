// Package realpath resolves symbolic links as the kernel would, also on paths whose end does not
// exist yet: what exists is resolved, and the rest is appended. It neither opens nor creates
// anything.
package realpath

import (
	"os/user"
	"path"
	"strings"
)

// maxLinks is the number of links after which the kernel gives up, too.
const maxLinks = 40

// maxLength is the longest path, in bytes, that a kernel accepts.
const maxLength = 4096

// Machine is the only way in which this package asks a machine where paths lead.
type Machine interface {
	// Readlink returns what is at a clean absolute path and, if it is a link, its target.
	Readlink(name string) (target string, kind Kind)
	// HomeOf returns the home folder of a user, "" if there is no such user.
	HomeOf(name string) string
}

// Kind is what is at a path.
type Kind uint8

// The kinds.
const (
	// Missing is nothing, or nothing that we can see.
	Missing Kind = iota
	Link
	Other
)

// Here is the machine on which this program runs.
type Here struct{}

// HomeOf asks the system.
func (Here) HomeOf(name string) string {
	if u, err := user.Lookup(name); err == nil {
		return u.HomeDir
	}
	return ""
}

// Resolve is [On] for this machine.
func Resolve(name string) string { return On(Here{}, name) }

// On returns the place that an absolute path with forward slashes leads to. ".." steps back from
// where a link led, as in the kernel. Nothing below /proc is resolved, because its links mean
// different places to different processes.
func On(m Machine, name string) string { return Join(m, "/", name) }

// Join is [On] for a path below base, which must be resolved already.
func Join(m Machine, base, name string) string {
	if base == "/" {
		base = ""
	}
	if strings.HasPrefix(name, "/") {
		base = ""
	}
	if len(base)+len(name) > maxLength {
		return path.Join("/", base, name)
	}
	whole := base + "/" + strings.TrimPrefix(name, "/")
	if base == "" && strings.HasPrefix(name, "/") {
		whole = name
	}
	if path.Clean(whole) == whole && isPlain(m, whole, len(base)) {
		return whole
	}
	return follow(m, base, name)
}

// isPlain reports whether no component of a clean path after the first from bytes is a link. This
// is the common case, and allocates almost nothing.
func isPlain(m Machine, whole string, from int) bool {
	for end := from + 1; end <= len(whole); end++ {
		if end < len(whole) && whole[end] != '/' {
			continue
		}
		if isVolatile(whole[:end]) {
			return true
		}
		switch _, kind := m.Readlink(whole[:end]); kind {
		case Missing:
			return true
		case Link:
			return false
		case Other:
		}
	}
	return true
}

// follow resolves a path component by component.
func follow(m Machine, base, name string) string {
	at, rest := base, name
	for links := 0; rest != ""; {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		switch step {
		case "", ".":
			continue
		case "..":
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		at += "/" + step
		if isVolatile(at) || len(at)+len(rest) > maxLength {
			return path.Join(at, rest)
		}
		target, kind := m.Readlink(at)
		if kind == Missing && !strings.Contains(rest, "..") { // nothing is below what is missing
			return path.Join(at, rest)
		}
		if kind != Link {
			continue
		}
		if links++; links > maxLinks {
			return path.Join(at, rest)
		}
		at = at[:strings.LastIndexByte(at, '/')]
		if strings.HasPrefix(target, "/") {
			at = ""
		}
		rest = target + "/" + rest
	}
	if at == "" {
		return "/"
	}
	return at
}

func isVolatile(name string) bool { return name == "/proc" }
