package standing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/standing"
)

// TestAnAskIsFollowedForward checks that writes and the feed can arrive in any order, and
// that what is followed never goes back.
func TestAnAskIsFollowedForward(t *testing.T) {
	type come struct {
		told bool
		seq  uint64
	}
	wrote := func(seq uint64) come { return come{false, seq} }
	told := func(seq uint64) come { return come{true, seq} }
	for name, c := range map[string]struct {
		come     []come
		followed []uint64
	}{
		"the feed alone":           {[]come{told(1), told(2)}, []uint64{1, 2}},
		"the feed late":            {[]come{wrote(1), wrote(2), told(1), told(2)}, []uint64{1, 2, 2}},
		"the feed passes some by":  {[]come{wrote(1), wrote(2), told(2)}, []uint64{1, 2, 2}},
		"a writer late":            {[]come{wrote(2), wrote(1), told(2)}, []uint64{2, 2}},
		"a writer after the feed":  {[]come{told(2), wrote(1), wrote(2)}, []uint64{2}},
		"both late, then a writer": {[]come{wrote(2), told(1), wrote(1), wrote(3), told(2), told(3)}, []uint64{2, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var n standing.Newest
			var got []uint64
			for _, come := range c.come {
				follow := func() { got = append(got, come.seq) }
				if come.told {
					n.Told("a", come.seq, follow)
				} else {
					n.Wrote("a", come.seq, follow)
				}
			}
			if !slices.Equal(got, c.followed) {
				t.Errorf("followed %v, want %v", got, c.followed)
			}
		})
	}
}

// TestWhatWasDroppedIsForgotten checks that asks that the feed skips, because their records
// were dropped, do not accumulate without bounds.
func TestWhatWasDroppedIsForgotten(t *testing.T) {
	var n standing.Newest
	for seq := range uint64(2000) {
		n.Wrote(approval.AskID(fmt.Sprint("dropped-", seq)), 2*seq+1, func() {})
		n.Told("kept", 2*seq+2, func() {})
	}
	if got := n.Ahead(); got > 300 {
		t.Errorf("%d asks are remembered", got)
	}
}
