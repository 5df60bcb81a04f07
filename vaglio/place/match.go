package place

import (
	"slices"
	"strings"
)

// Meet reports whether a step of a path, or any name that it may stand for, matches a pattern with * and ?. Unknown text matches only a *: it is never guessed.
func Meet(step, pattern string) bool {
	if step != "" && pattern != "" && (differ(step[0], pattern[0]) || differ(step[len(step)-1], pattern[len(pattern)-1])) {
		return false
	}
	if !IsVague(step) && !strings.ContainsAny(pattern, "*?") {
		return step == pattern
	}
	// The shell's wildcards skip names that begin with a dot.
	hidden := step != "" && (step[0] == AnyText || step[0] == AnyByte) && strings.HasPrefix(pattern, ".")
	return !hidden && meets(step, pattern)
}

// differ reports whether the first or last bytes of a step and a pattern rule out a match.
func differ(c, mark byte) bool { return c != mark && c > Perhaps && mark != '*' && mark != '?' }

// No kernel takes a longer path, and no pattern of the table is as long.
const (
	longestStep    = 4096
	longestPattern = 256
)

// meets is [Meet] byte by byte. It fills a table from the ends of both, so that no number of stars makes it slow.
func meets(step, pattern string) bool {
	if len(step) > longestStep || len(pattern) >= longestPattern {
		return IsVague(step) // too long to tell, so be strict
	}
	// after[j] says whether the rest of the step matches pattern[j:].
	var rooms [2][longestPattern]bool
	now, after := &rooms[0], &rooms[1]
	for i := len(step); i >= 0; i-- {
		for j := len(pattern); j >= 0; j-- {
			now[j] = meetsAt(step, pattern, i, j, now, after)
		}
		now, after = after, now
	}
	return after[0]
}

func meetsAt(step, pattern string, i, j int, now, after *[longestPattern]bool) bool {
	more := i < len(step)
	switch {
	case j == len(pattern):
		return !more || step[i] == AnyText && after[j]
	case pattern[j] == '*':
		return now[j+1] || more && after[j]
	case !more:
		return false
	case step[i] == AnyText:
		return after[j] || now[j+1]
	default:
		return meetsByte(step[i], pattern[j]) && after[j+1]
	}
}

// meetsByte is [Meet] for one byte that is no star.
func meetsByte(c, mark byte) bool {
	return c != Unknown && c != Perhaps && (c == AnyByte || mark == '?' || c == mark)
}

// room holds the steps of most paths without an allocation.
type room [16]string

// maxSteps is more than a kernel accepts in a path.
const maxSteps = 2100

func stepsOf(clean string, in *room) []string {
	steps := in[:0]
	rest := strings.TrimPrefix(clean, "/")
	if n := min(strings.Count(rest, "/")+1, maxSteps); n > len(in) {
		steps = make([]string, 0, n)
	}
	for rest != "" && len(steps) < maxSteps {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		steps = append(steps, step)
	}
	return steps
}

// MatchSteps reports whether the steps of a path may match those of a pattern, in which ** is any number of steps.
func MatchSteps(pattern, steps []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			return matchAnywhere(pattern[1:], steps)
		}
		if len(steps) == 0 || !Meet(steps[0], pattern[0]) {
			return false
		}
		pattern, steps = pattern[1:], steps[1:]
	}
	return len(steps) == 0
}

// matchAnywhere matches what follows a **. A name that may lie anywhere must be spelled out to match, unless the path comes from a search below a folder.
func matchAnywhere(pattern, steps []string) bool {
	if len(pattern) == 0 {
		return true
	}
	from, to := 0, len(steps)-1
	if !slices.Contains(pattern, "**") { // only the end can match
		from = len(steps) - len(pattern)
		to = from
		if from < 0 {
			return false
		}
	}
	for i := from; i <= to; i++ {
		found := i > 0 && steps[i-1] == AnyFolders
		if pattern[0] != "*" && (IsWild(steps[i]) || !found && !pointsAt(steps[i], pattern[0])) {
			continue
		}
		if MatchSteps(pattern, steps[i:]) {
			return true
		}
	}
	return false
}

// pointsAt reports whether a step with wildcards means a name that may lie anywhere: it must spell out half of its letters, because "cat v*" and "rm *.db" in
// a project mean other files.
func pointsAt(step, pattern string) bool {
	if strings.IndexByte(step, AnyText) < 0 || strings.ContainsAny(pattern, "*?") {
		return true
	}
	told := len(step)
	for i := range len(step) {
		if IsVague(step[i : i+1]) {
			told--
		}
	}
	return 2*told >= len(pattern)
}
