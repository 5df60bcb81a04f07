package place

import (
	"path"
	"strings"
)

// These bytes stand for unknown parts of a path. In practice no file name contains them, and one that does is only treated more strictly.
const (
	AnyText  = '\x01' // the shell's *
	AnyByte  = '\x02' // the shell's ? or a bracket expression
	SomeDisk = '\x03' // what a tool for disks prints, usually a device
	Unknown  = '\x04' // unknown text, but not empty
	Perhaps  = '\x05' // unknown text that may be empty
	// Marks is all of them.
	Marks = "\x01\x02\x03\x04\x05"
)

// AnyFolders is a whole step that stands for any folders that a search may have been in. Elsewhere it counts as unknown.
const AnyFolders = "\x04\x04"

// IsVague reports whether part of a path is unknown.
func IsVague(p string) bool {
	return strings.ContainsFunc(p, func(c rune) bool { return AnyText <= c && c <= Perhaps })
}

// Variants returns the paths that a path with possibly empty texts stands for.
func Variants(p string) (all []string) {
	if strings.IndexByte(p, Perhaps) < 0 {
		return []string{p}
	}
	const most = 3
	if strings.Count(p, string(Perhaps)) > most {
		return []string{strings.ReplaceAll(p, string(Perhaps), ""), strings.ReplaceAll(p, string(Perhaps), string(Unknown))}
	}
	before, after, _ := strings.Cut(p, string(Perhaps))
	for _, start := range []string{before, before + string(Unknown)} {
		for _, end := range Variants(after) {
			all = append(all, start+end)
		}
	}
	return all
}

// IsWild reports whether a step stands for everything in a folder.
func IsWild(step string) bool {
	return strings.ContainsRune(step, AnyText) && strings.Trim(step, string([]byte{AnyText, AnyByte, '.'})) == ""
}

// IsOpaque reports whether nothing of a step is known.
func IsOpaque(step string) bool {
	return step != "" && strings.Trim(step, string([]byte{Unknown, Perhaps, SomeDisk})) == ""
}

// IsTelling reports whether a pattern of names leaves out most names.
func IsTelling(pattern string) bool {
	depth := 0
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth > 0, c == Unknown, c == AnyText, c == AnyByte, strings.IndexByte(`*?./\^$+`, c) >= 0:
		default:
			return true
		}
	}
	return false
}

// Base returns the last step of a path.
func Base(p string) string {
	p = strings.TrimRight(p, "/")
	return p[strings.LastIndexByte(p, '/')+1:]
}

// Clean removes "//", "." and ".." from a path. The unknown parts of a step belong to its name.
func Clean(p string) string { return path.Clean(p) }

// IsStep reports whether a name before rest is a whole step of a path.
func IsStep(rest string) bool { return rest == "" || rest[0] == '/' }

// Globbed replaces the wildcards of a path by marks.
func Globbed(where string) string {
	if !strings.ContainsAny(where, "*?[") {
		return where
	}
	var b strings.Builder
	next, ended := -1, where+"//" // where a bracket or a step ends next
	for i := 0; i < len(where); i++ {
		switch where[i] {
		case '*':
			b.WriteByte(AnyText)
		case '?':
			b.WriteByte(AnyByte)
		case '[':
			first := i + 1 // the first character in a bracket does not close it
			if strings.HasPrefix(where[first:], "!") || strings.HasPrefix(where[first:], "^") {
				first++
			}
			if next <= first {
				next = first + 1 + strings.IndexAny(ended[first+1:], "]/")
			}
			if ended[next] == ']' && ended[first] != '/' {
				b.WriteByte(AnyByte)
				i = next
				continue
			}
			b.WriteByte('[')
		default:
			b.WriteByte(where[i])
		}
	}
	return b.String()
}
