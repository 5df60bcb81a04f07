// Package realpath follows symbolic links as the kernel would, also on paths
// whose end does not exist yet: what exists is resolved, the rest is joined to
// it. It opens nothing of what it is asked about and creates nothing.
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

// Machine is the one door through which a machine is asked where paths lead.
type Machine interface {
	// Readlink tells what stands under a clean absolute name, and where it leads if
	// that is a link.
	Readlink(name string) (target string, kind Kind)
	// HomeOf is the home of a user, "" where there is none of that name.
	HomeOf(name string) string
}

// Kind is what stands under a name.
type Kind uint8

// The kinds.
const (
	// Missing is nothing, or nothing within our sight.
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

// Resolve is [On] this machine.
func Resolve(name string) string { return On(Here{}, name) }

// On gives the place that an absolute path with forward slashes leads to.
// ".." steps back from where a link led, as the kernel does it. Below /proc
// nothing is followed: its links mean another place to every process.
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

// isPlain says that no component of a clean path after the first from bytes is
// a link. It is the common case and allocates almost nothing.
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

// follow resolves component by component.
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
