package history

import (
	"errors"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// TestATreeThatCannotBeRead checks that a tree that cannot be read does not grow.
func TestATreeThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	if hashes, err := Grow(1, []byte("x"), func([]int64) ([]tlog.Hash, error) { return nil, broken }); !errors.Is(err, broken) || hashes != nil {
		t.Errorf("grown by %v, %v", hashes, err)
	}
}

// TestPlacesInTheTree checks the places in which the hashes of leaves are stored.
func TestPlacesInTheTree(t *testing.T) {
	for index, want := range map[int64][2]int64{-1: {-1, 0}, 0: {0, 0}, 1: {1, 0}, 2: {1, 1}, 3: {2, 0}, 4: {3, 0}, 5: {3, 1}, 6: {3, 2}, 7: {4, 0}} {
		if leaf, hash := Place(index); leaf != want[0] || int64(hash) != want[1] {
			t.Errorf("%d is hash %d of leaf %d, want %v", index, hash, leaf, want)
		}
	}
}

// TestWhereAHistoryDeparts checks that a history departs after the last checkpoint that it
// matches and before the first that it does not.
func TestWhereAHistoryDeparts(t *testing.T) {
	v := &verification{}
	v.Proved = []Proof{{"a", 3}, {"b", 5}, {"c", 9}}
	for size, want := range map[int64]string{
		3: "one of the leaves 0 to 2 was changed, left out or put in", 4: "one of the leaves 3 to 3 was changed, left out or put in",
		9: "one of the leaves 5 to 8 was changed, left out or put in",
	} {
		if got := v.where(size); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
}
