package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// TestLimits checks that each limit begins where it says: what is just within it is read in full,
// and what is just beyond it is told.
func TestLimits(t *testing.T) {
	t.Parallel()
	rep := strings.Repeat
	for name, limit := range map[string]struct {
		most   int
		source func(n int) string
		want   ProblemKind
	}{
		"source":     {MaxSource, func(n int) string { return "#" + rep("x", n-1) }, ProblemTooBig},
		"braces":     {maxBraces, func(n int) string { return "p " + rep("{a}", n) }, ProblemTooBig},
		"alternates": {maxFields, func(n int) string { return "a=({" + rep("a,", n-1) + "a})" }, ProblemTooBig},
		"words":      {maxFields, func(n int) string { return "x=a; p $x" + rep(" $x", n-2) }, ProblemTooBig},
		"rounds":     {maxRounds, func(n int) string { return "for i in" + rep(" a", n) + "; do :; done" }, ProblemTooBig},
		"mounts":     {maxMounts, func(n int) string { return "docker run " + rep("-v /a:/b ", n) + "i p" }, ProblemTooBig},
		"value":      {word.MaxSize, func(n int) string { return "x=" + rep("a", word.MaxSize/2) + "; x+=$x; x+=" + rep("b", n-word.MaxSize) }, ProblemTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kinds(Read(limit.source(limit.most), testOptions())); slices.Contains(got, limit.want) {
				t.Errorf("%d is told as %q", limit.most, limit.want)
			}
			if got := kinds(Read(limit.source(limit.most+1), testOptions())); !slices.Contains(got, limit.want) {
				t.Errorf("%d is not told: %q", limit.most+1, got)
			}
		})
	}
}

// TestReplacedInPart checks that a word that would be too long with what stands in the place of a
// mark is unknown, so that nobody takes the marks that are left for names.
func TestReplacedInPart(t *testing.T) {
	t.Parallel()
	s := Read("echo "+strings.Repeat("a", word.MaxSize/2)+" | xargs -I{} rm {}{}{}{}{}", testOptions())
	last := s.Commands[len(s.Commands)-1]
	if last.Name != "rm" || len(last.Argv) != 2 || !last.Argv[1].HasUnknown() {
		t.Errorf("%s is told %d words, the last of %d bytes", last.Name, len(last.Argv), last.Argv[len(last.Argv)-1].Size())
	}
}

// TestAFolderTooDeep checks that a folder whose path no system has is unknown, and not taken apart.
func TestAFolderTooDeep(t *testing.T) {
	t.Parallel()
	for n, unknown := range map[int]bool{MaxPath / 2: false, MaxPath: true} {
		s := Read("cd /"+strings.Repeat("a", n)+"; rm x", testOptions())
		if cwd := s.Commands[len(s.Commands)-1].Cwd; cwd.HasUnknown() != unknown {
			t.Errorf("after a folder of %d bytes: unknown %v, want %v", n, !unknown, unknown)
		}
	}
}
