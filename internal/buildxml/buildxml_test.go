package buildxml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/buildxml"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	quote := func(words ...string) string { return "<" + strings.Join(words, ",") + ">" }
	for text, want := range map[string][]buildxml.Command{
		`<target><exec executable="rm"><arg value="-rf"/><arg line="a b"/></exec></target>`: {{"rm", " <-rf>a b "}},
		`<apply executable="sh"/>`: {{"sh", ""}},
		`<configuration><executable> git </executable><commandlineArgs>push -f</commandlineArgs></configuration>`:     {{"git", "push -f "}},
		`<configuration><executable>git</executable><arguments><argument>push</argument></arguments></configuration>`: {{"git", "<push>"}},
		`<java executable="x"/>`: nil,
		`no xml`:                 nil,
	} {
		if got := buildxml.Commands(text, quote); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
