package settings_test

import (
	"slices"
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

func TestSettingsOfGit(t *testing.T) {
	got := settings.Git("[core]\n\tPager = less # not this\n; nor this\n[Remote \"Origin\"]\n\tpush = \"+a b\" \n[alias] \n x = !sh \\\n -c y\n\tbare\n")
	want := []settings.Entry{{2, "core", "", "pager", "less"}, {5, "remote", "Origin", "push", "+a b"}, {7, "alias", "", "x", "!sh  -c y"}, {9, "alias", "", "bare", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
