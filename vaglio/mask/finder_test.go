package mask

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestFinderComesBack repeats every literal many times, as a word of its own and within
// one. What a rule looks at is bounded, so the finder comes back each time.
func TestFinderComesBack(t *testing.T) {
	t.Parallel()
	f := newBuiltinFinder()
	size := 4 << 10
	if testing.Short() {
		size = 256
	}
	for _, r := range f.rules {
		for _, l := range slices.Concat(r.Starts, r.Needs) {
			for _, unit := range []string{l, l + "-", strings.ToUpper(l) + "=", l + "_aB3.", l + " = \""} {
				f.find(strings.Repeat(unit, size/len(unit)))
			}
		}
	}
}

// TestFinderFindsEveryLiteral checks that the automaton finds each literal in any case,
// even if another literal begins within it.
func TestFinderFindsEveryLiteral(t *testing.T) {
	t.Parallel()
	f := newBuiltinFinder()
	at := func(s string) (ends []ending) {
		state := uint32(0)
		for i := range len(s) {
			if state = f.next[state+uint32(f.class[s[i]])]; state&endsHere != 0 {
				ends = append(ends, f.ends[state]...)
				state &^= endsHere
			}
		}
		return ends
	}
	n := 0
	f.each(func(l string, e ending) {
		n++
		for _, text := range []string{l, "x " + l, strings.ToUpper(l), l[:len(l)-1] + l, "hooks.slac" + l} {
			if !slices.Contains(at(text), e) {
				t.Errorf("%q is not found in %q", l, text)
			}
		}
	})
	if n < 300 || len(f.rules) < 200 {
		t.Errorf("there are %d literals of %d rules", n, len(f.rules))
	}
}

// TestRulesThatCannotBeUsed checks that unusable rules are rejected by name.
func TestRulesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const rule = `{"id":"x","regex":"a","starts":["a"]}` + "\n"
	for rules, want := range map[string]string{
		rule: "", "# a remark\n" + rule: "", `{"id":`: "a rule for secrets", `{"id":"x","regex":"(","starts":["a"]}`: "the rule x", `{"id":"x","regex":"a"}`: "has no literal",
		strings.Repeat(rule, maxRules): "", strings.Repeat(rule, maxRules+1): "there are 257 rules",
	} {
		if _, err := newFinder([]byte(rules)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", rules, err)
		}
	}
}

// TestPlacesThatMeetAreOne checks that extents that touch or overlap become one.
func TestPlacesThatMeetAreOne(t *testing.T) {
	t.Parallel()
	for _, row := range [][2][]extent{
		{nil, nil},
		{{{3, 5}}, {{3, 5}}},
		{{{3, 5}, {0, 3}}, {{0, 5}}},
		{{{3, 5}, {0, 2}}, {{0, 2}, {3, 5}}},
		{{{0, 9}, {2, 3}, {8, 10}, {11, 12}}, {{0, 10}, {11, 12}}},
	} {
		if got := apart(slices.Clone(row[0])); !slices.Equal(got, row[1]) {
			t.Errorf("%v are %v", row[0], got)
		}
	}
}

// TestWhichRulesBeginAtAWord: only those whose every match does are not tried within one.
func TestWhichRulesBeginAtAWord(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		`\bx`: true, `(\bx)y`: true, `((\b)x)`: true, `(?:\bx|y)`: false, `(?:\bx)?y`: false, `x\b`: false, `(?:\bx)*y`: false, `x`: false, ``: false,
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := beginsAtWord(tree); got != want {
			t.Errorf("%s: %t", pattern, got)
		}
	}
}
