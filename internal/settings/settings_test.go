package settings_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/settings"
)

func TestLinesAreJoined(t *testing.T) {
	got := settings.Lines("a\\\nb\nc\r\n\td \\\n\te\n")
	want := []settings.Line{{1, "ab"}, {3, "c"}, {4, "\td \\\ne"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestLongLinesAreJoinedAtOnce checks that joining many lines takes linear memory.
func TestLongLinesAreJoinedAtOnce(t *testing.T) {
	for _, part := range []string{"a \\\n", "\ta \\\n"} {
		taken := func(lines int) uint64 {
			text := strings.Repeat(part, lines)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			settings.Lines(text)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if half, all := taken(10_000), taken(20_000); all > 3*half {
			t.Errorf("%q: %d bytes for so many lines, %d for twice as many", part, half, all)
		}
	}
}

func TestSettingsOfGit(t *testing.T) {
	got := settings.Git("[core]\n\tPager = less # not this\n; nor this\n[Remote \"Origin\"]\n\tpush = \"+a b\" \n[alias] \n x = !sh \\\n -c y\n\tbare\n")
	want := []settings.Entry{{2, "core", "", "pager", "less"}, {5, "remote", "Origin", "push", "+a b"}, {7, "alias", "", "x", "!sh  -c y"}, {9, "alias", "", "bare", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
