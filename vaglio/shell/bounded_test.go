package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

// TestReadNasty checks that the budget of steps holds for sources that cost much for their size,
// whatever their shape, and that the reader does not fail on them. It measures work;
// [BenchmarkReadNasty] uses the full mebibyte.
func TestReadNasty(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	share := 16
	if testing.Short() {
		share = 64
	}
	budget := maxSteps / share
	for name, src := range nasty(share) {
		src = src[:min(len(src), MaxSource)]
		var steps int
		s := run(testOptions(), func(r *reader, f *frame) {
			r.budget = budget
			r.source(f, src)
			steps = r.steps
		})
		switch {
		case slices.Contains(kinds(s), ProblemInternal):
			t.Errorf("%s: the reader failed: %v", name, s.Problems)
		case steps > budget && !slices.Contains(kinds(s), ProblemTooCostly):
			t.Errorf("%s: %d steps and no problem", name, steps)
		case len(s.Commands) > maxCommands+1:
			t.Errorf("%s: %d commands", name, len(s.Commands))
		}
	}
}

// BenchmarkReadNasty measures how long each shape takes.
func BenchmarkReadNasty(b *testing.B) {
	for name, src := range nasty(1) {
		src = src[:min(len(src), MaxSource)]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Read(src, testOptions())
			}
		})
	}
}

// FuzzReadAppend checks that an appended command never hides those before it.
func FuzzReadAppend(f *testing.F) {
	for _, src := range carriers() {
		f.Add(src)
	}
	for _, src := range []string{"ls; cat <<E\nx\nE", "a=b; $a", "f() { g; }; f", "if a; then b; fi", "a | b && c", "python -c 'import os; os.remove(\"x\")'", "echo ls | sh"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		before := Read(src, testOptions())
		plain := strings.ReplaceAll(src, "\x00", "") // a shell does not see NUL
		if len(before.Problems) > 0 || len(before.Commands) > 1000 || strings.HasSuffix(strings.TrimRight(plain, "\r"), "\\") || strings.Contains(plain, "<<") {
			return // an open quote or document swallows the next line
		}
		after := Read(src+"\nprobe", testOptions())
		if len(after.Commands) < len(before.Commands) {
			t.Fatalf("Read(%q) yields %d commands, with a further one %d: %q %v", src, len(before.Commands), len(after.Commands), shown(after), kinds(after))
		}
		for i, c := range before.Commands {
			if c.Name != after.Commands[i].Name || show(c) != show(after.Commands[i]) {
				t.Fatalf("Read(%q): command %d is %q, with a further one %q", src, i, show(c), show(after.Commands[i]))
			}
		}
	})
}
