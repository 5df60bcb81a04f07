// Package realpath follows symbolic links as the kernel would, also on paths
// whose end does not exist yet: what exists is resolved, the rest is joined to
// it. It opens nothing and creates nothing.
package realpath

import (
	"path"
	"strings"
)

// maxLinks is the number of links after which the kernel gives up, too.
const maxLinks = 40

// maxLength is the longest path, in bytes, that a kernel accepts.
const maxLength = 4096

// Resolve gives the place that an absolute path with forward slashes leads to.
// ".." steps back from where a link led, as the kernel does it. Below /proc
// nothing is followed: its links mean another place to every process.
func Resolve(name string) string {
	return Join("/", name)
}

// Join is [Resolve] for a path below base, which must be resolved already.
func Join(base, name string) string {
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
	if path.Clean(whole) == whole && isPlain(whole, len(base)) {
		return whole
	}
	return follow(base, name)
}

// isPlain says that no component of a clean path after the first from bytes is
// a link. It is the common case and allocates almost nothing.
func isPlain(whole string, from int) bool {
	for end := from + 1; end <= len(whole); end++ {
		if end < len(whole) && whole[end] != '/' {
			continue
		}
		if isVolatile(whole[:end]) {
			return true
		}
		switch _, kind := readlink(whole[:end]); kind {
		case missing:
			return true
		case link:
			return false
		case other:
		}
	}
	return true
}

// follow resolves component by component.
func follow(base, name string) string {
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
		target, kind := readlink(at)
		if kind != link {
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

// kind is what stands under a name.
type kind int

const (
	missing kind = iota // or out of our sight
	link
	other
)
