package lists_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/lists"
)

func TestLists(t *testing.T) {
	t.Parallel()
	words := []string{"a b", "c"}
	if got := lists.Each(words, strings.ToUpper); !slices.Equal(got, []string{"A B", "C"}) {
		t.Errorf("each: %q", got)
	}
	if got := lists.All(words, strings.Fields); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("all: %q", got)
	}
	if got := lists.Each(nil, strings.ToUpper); got != nil {
		t.Errorf("each of nothing: %q", got)
	}
}
