package guard

import (
	"path"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// A spot is a path in which some bytes stand for what is not known letter by
// letter. A file name can hold none of them in practice, and one that does is
// read more strictly, not less.
const (
	anyText  = '\x01' // the shell's *
	anyByte  = '\x02' // the shell's ? or a bracket expression
	someDisk = '\x03' // what a tool of disks prints: a device, as a rule
	unknown  = '\x04' // text of which nothing is known, but not empty
	perhaps  = '\x05' // the same, but it may be empty
	vague    = "\x01\x02\x03\x04\x05"
)

// anyFolders is a whole step that stands for any folders: where a find may
// have been. It is no more than something unknown where nobody asks.
const anyFolders = "\x04\x04"

// spotOf writes a word as a spot.
func spotOf(w shell.Word) string {
	if s, ok := w.Text(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		switch p.Kind {
		case shell.PartText:
			b.WriteString(p.Text)
		case shell.PartGlob:
			if p.Text == "?" || (p.Text != "" && p.Text[0] == '[') {
				b.WriteByte(anyByte)
			} else {
				b.WriteByte(anyText)
			}
		case shell.PartUnknown:
			b.WriteString(unknownSpot(p))
		}
	}
	return b.String()
}

func unknownSpot(p shell.Part) string {
	if user, ok := strings.CutPrefix(p.Name, "~"); ok && user != "" {
		if user == "root" {
			return "/root"
		}
		return "/home/" + user
	}
	switch p.From {
	case "which": // the folder of an installed program
		return "/usr/bin"
	case "find":
		if !p.MayBeEmpty {
			return anyFolders
		}
	case "findmnt", "lsblk", "blkid", "df":
		return string(someDisk)
	case "mktemp":
		return string(unknown)
	}
	if p.MayBeEmpty {
		return string(perhaps)
	}
	return string(unknown)
}

// isVague says that a spot is more than one known path.
func isVague(spot string) bool {
	for i := range len(spot) {
		if c := spot[i]; anyText <= c && c <= perhaps {
			return true
		}
	}
	return false
}

// variants gives the spots that a spot with texts that may be empty stands for.
func variants(spot string) []string {
	n := strings.Count(spot, string(perhaps))
	const most = 3
	if n == 0 {
		return []string{spot}
	}
	full := strings.ReplaceAll(spot, string(perhaps), string(unknown))
	empty := strings.ReplaceAll(spot, string(perhaps), "")
	if n == 1 || n > most {
		return []string{empty, full}
	}
	all := []string{spot}
	for range n {
		var next []string
		for _, s := range all {
			next = append(next,
				strings.Replace(s, string(perhaps), "", 1),
				strings.Replace(s, string(perhaps), string(unknown), 1))
		}
		all = next
	}
	return all
}

// meet says whether a name that a spot's step may stand for also matches a
// pattern with * and ?. What is unknown meets a * alone: it is never guessed.
func meet(step, pattern string) bool {
	if step != "" && pattern != "" && step[0] != pattern[0] && step[0] > perhaps && pattern[0] != '*' && pattern[0] != '?' {
		return false
	}
	if !isVague(step) && !strings.ContainsAny(pattern, "*?") {
		return step == pattern
	}
	// The shell's wildcards pass by names that begin with a dot.
	if step != "" && (step[0] == anyText || step[0] == anyByte) && strings.HasPrefix(pattern, ".") {
		return false
	}
	return meets(step, pattern, maxMeet)
}

// maxMeet bounds the work of one meeting of two patterns.
const maxMeet = 24

func meets(step, pattern string, stars int) bool {
	for {
		switch {
		case stars == 0:
			return true // too many stars to tell: strictly so
		case pattern == "":
			return strings.Trim(step, string(anyText)) == ""
		case pattern[0] == '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := 0; i <= len(step); i++ {
				if meets(step[i:], rest, stars-1) {
					return true
				}
			}
			return false
		case step == "":
			return false
		case step[0] == anyText:
			rest := strings.TrimLeft(step, string(anyText))
			for i := 0; i <= len(pattern); i++ {
				if meets(rest, pattern[i:], stars-1) {
					return true
				}
			}
			return false
		case step[0] == unknown || step[0] == perhaps:
			return false
		case step[0] == anyByte || pattern[0] == '?' || step[0] == pattern[0]:
			step, pattern = step[1:], pattern[1:]
		default:
			return false
		}
	}
}

// isWild says that a step stands for everything in a folder.
func isWild(step string) bool {
	if !strings.ContainsRune(step, anyText) {
		return false
	}
	return strings.Trim(step, string([]byte{anyText, anyByte, '.'})) == ""
}

// isOpaque says that nothing of a step is known.
func isOpaque(step string) bool {
	return step != "" && strings.Trim(step, string([]byte{unknown, perhaps, someDisk})) == ""
}

// room holds the steps of most paths without asking for memory.
type room [16]string

// maxSteps is more than a kernel accepts in a path.
const maxSteps = 2100

// stepsOf splits a clean path.
func stepsOf(clean string, in *room) []string {
	steps := in[:0]
	rest := strings.TrimPrefix(clean, "/")
	for rest != "" && len(steps) < maxSteps {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		steps = append(steps, step)
	}
	return steps
}

// matchSteps says whether the steps of a path may match those of a pattern, in
// which ** is any number of steps.
func matchSteps(pattern, steps []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return true
			}
			for i := range len(steps) + 1 {
				// What may be anywhere must be pointed at.
				if i < len(steps) && isWild(steps[i]) && pattern[1] != "*" {
					continue
				}
				if matchSteps(pattern[1:], steps[i:]) {
					return true
				}
			}
			return false
		}
		if len(steps) == 0 || !meet(steps[0], pattern[0]) {
			return false
		}
		pattern, steps = pattern[1:], steps[1:]
	}
	return len(steps) == 0
}

// baseOf is the last step of a spot.
func baseOf(spot string) string {
	spot = strings.TrimRight(spot, "/")
	return spot[strings.LastIndexByte(spot, '/')+1:]
}

// cleanSpot is path.Clean, which sees no difference between the bytes of a
// spot and those of a name.
func cleanSpot(spot string) string { return path.Clean(spot) }
