package wording_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	const one, both = "removes the volume %", "removes the volume % / removes the volumes %"
	for _, r := range []struct {
		message string
		things  []string
		form    string
		several bool
	}{
		{one, nil, one, false},
		{one, []string{"a", "b"}, one, false},
		{both, nil, one, false},
		{both, []string{"a b"}, one, false},
		{both, []string{"a", "b"}, "removes the volumes %", true},
	} {
		if form, several := wording.Number(r.message, r.things); form != r.form || several != r.several {
			t.Errorf("%q of %q: %q, %v, want %q, %v", r.message, r.things, form, several, r.form, r.several)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	italian := func(p wording.Phrase) (string, bool) {
		said, ok := map[wording.Phrase]string{"%s and %s": "%s e %s"}[p]
		return said, ok
	}
	for said, things := range map[string][]string{"": nil, "a": {"a"}, "a e b": {"a", "b"}, "a, b e c": {"a", "b", "c"}, "a, b, c e d": {"a", "b", "c", "d"}} {
		list := wording.List(things)
		if got, _ := (wording.Sentence{list}).In(italian); !strings.EqualFold(got, said) {
			t.Errorf("%q: %q, want %q", things, got, said)
		}
	}
}

// TestLongListsAreCounted checks that a list of many things names the first hundred of them.
func TestLongListsAreCounted(t *testing.T) {
	t.Parallel()
	for n, end := range map[int]string{100: "x, x and x", 101: "x, x and 1 more", 5000: "x, x and 4900 more"} {
		got := wording.Sentence{wording.List(slices.Repeat([]string{"x"}, n))}.String()
		if !strings.HasSuffix(got, end) || strings.Count(got, "x") != 100 {
			t.Errorf("%d things: …%s", n, got[max(0, len(got)-40):])
		}
	}
}

func TestAboutFindsAThingAtAnyDepth(t *testing.T) {
	t.Parallel()
	was := wording.Sentence{{Phrase: "drops %s", Args: []wording.Clause{wording.Say("the table %s", "a")}}, {Text: "a"}}
	if got := was.About("a", wording.List([]string{"b", "c"})).String(); got != "drops the table b and c a" {
		t.Errorf("got %q", got)
	}
	if got := was.About("b", wording.Clause{Text: "c"}).String(); got != was.String() || got != "drops the table a a" {
		t.Errorf("got %q", got)
	}
}
