package cardtext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/cardtext"
)

// TestLayoutsGiveUpLittleFirst lays out two calls, one waiting and one ended, in a limited
// number of characters.
func TestLayoutsGiveUpLittleFirst(t *testing.T) {
	t.Parallel()
	const long = 5000
	type budgets struct{ waiting, ended int }
	in := func(room int) cardtext.Layout[budgets] {
		return func(waiting, ended int) (budgets, bool) {
			takes := func(budget int) int {
				if budget == cardtext.Everything {
					return long
				}
				return budget
			}
			return budgets{waiting, ended}, takes(waiting)+takes(ended) <= room
		}
	}
	for room, want := range map[int]budgets{
		2 * long: {cardtext.Everything, cardtext.Everything}, 2*long - 1: {cardtext.Everything, 200},
		long + 199: {cardtext.Everything, 60}, long + 60: {cardtext.Everything, 60},
	} {
		if got, fits := in(room).Whole(); !fits || got != want {
			t.Errorf("whole in %d: %v %t, want %v", room, got, fits, want)
		}
	}
	if got, fits := in(long + 59).Whole(); fits {
		t.Errorf("the whole of %v fits where it does not", got)
	}
	for room, want := range map[int]budgets{
		long: {3000, 60}, 3059: {1500, 60}, 1000: {600, 60}, 310: {250, 60}, 160: {100, 60}, 159: {40, 40}, 80: {40, 40}, 79: {0, 0}, -1: {0, 0},
	} {
		if got := in(room).Cut(3000); got != want {
			t.Errorf("cut in %d: %v, want %v", room, got, want)
		}
	}
	var tried []int
	cardtext.Layout[int](func(waiting, _ int) (int, bool) { tried = append(tried, waiting); return 0, false }).Cut(1500)
	if want := []int{1500, 600, 250, 100, 40, 0}; !slices.Equal(tried, want) {
		t.Errorf("it tries %v, want %v", tried, want)
	}
}

// TestNamesAreShownWholeOrNotAtAll checks that a cut leaves no half of a name: it could be
// another's.
func TestNamesAreShownWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		text string
		n    int
		want string
	}{
		{"send to ann@example.com now", 12, "send to …"},
		{"send to ann@example.com now", 23, "send to ann@example.com…"},
		{"rm /srv/app/old/x", 10, "rm …"},
		{"pay 1250.00 EUR", 6, "pay …"},
		{"to IT60 X054 2811 1010 0000 0123 456", 20, "to …"},
		{"call +39 347 000 1122 now", 12, "call …"},
		{"to Ann Lee and Bob", 8, "to Ann …"},
		{`{"to":"ann@example.com"}`, 12, `{"to":"…`},
		{strings.Repeat("x", 300), 250, strings.Repeat("x", 250) + "…"},
		{"whole", 5, "whole"},
	} {
		if got := string(cardtext.Within(r.text, r.n)); got != r.want {
			t.Errorf("%d of %q: %q, want %q", r.n, r.text, got, r.want)
		}
	}
}

// TestALongNameIsCutAtOnce cuts a text without any place to cut: a search that looked at all of it
// for each of its characters would not end.
func TestALongNameIsCutAtOnce(t *testing.T) {
	t.Parallel()
	for _, s := range []string{strings.Repeat("a", 1<<22), strings.Repeat("a ", 1<<21), strings.Repeat("12345 ", 1<<19)} {
		const most = 1 << 20
		got := strings.TrimSuffix(string(cardtext.Within(s, most)), "…")
		if !strings.HasPrefix(s, got) || len(got) > most || len(got) < most-200 {
			t.Errorf("%.20q: %d characters are shown", s, len(got))
		}
	}
}
