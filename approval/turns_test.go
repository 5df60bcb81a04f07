package approval_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// TestNoAgentFillsAListing checks that the first cards of each agent are listed, however many
// another one has, and that room that one does not need is the others'.
func TestNoAgentFillsAListing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		agents string
		most   int
		want   string
	}{
		"One":         {"aaaaaa", 4, "0123"},
		"Late":        {"aaaaaab", 4, "0126"},
		"Shared":      {"aaabbbccc", 6, "013467"},
		"LeftOver":    {"abbbbbb", 5, "01234"},
		"Room":        {"aabc", 9, "0123"},
		"MoreThanAll": {"abcdef", 3, "012"},
		"None":        {"", 3, ""},
		"NoRoom":      {"ab", 0, ""},
	} {
		l := approval.Listing{Most: tt.most}
		for i, agent := range tt.agents {
			l.Add(approval.Card{Agent: string(agent), Ask: approval.AskID(fmt.Sprint(i))})
		}
		got := ""
		for _, c := range l.Cards() {
			got += string(c.Ask)
		}
		if got != tt.want || l.N != len(tt.agents) {
			t.Errorf("%s: of %s are listed %s, want %s; %d are counted", name, tt.agents, got, tt.want, l.N)
		}
	}
}

// TestTurnsGoByWeight checks that an agent whose things weigh more has fewer of them before
// the others'.
func TestTurnsGoByWeight(t *testing.T) {
	t.Parallel()
	turns := approval.InTurns([]string{"a1", "a2", "a3", "b1", "b2", "b3", "b4"}, func(s string) string { return s[:1] })
	var got []string
	for v, ok := turns.Next(); ok; v, ok = turns.Next() {
		got = append(got, v)
		turns.Weigh(v[:1], map[string]int{"a": 3, "b": 1}[v[:1]])
	}
	if want := []string{"a1", "b1", "b2", "b3", "a2", "b4", "a3"}; !slices.Equal(got, want) {
		t.Errorf("they come as %v, want %v", got, want)
	}
}
