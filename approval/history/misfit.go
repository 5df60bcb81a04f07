package history

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// describe describes the event in a leaf's value, in parentheses, or returns "" if it
// cannot be read.
func (v *verification) describe(value []byte) string {
	e, err := Decode(value)
	if err != nil {
		return ""
	}
	return " (" + e.String() + ")"
}

// oneLine puts a checkpoint on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// changedValues reports values whose hash differs from the one in the tree. A value that
// the tree has elsewhere was moved; a run of those shows what was left out or inserted.
func (v *verification) changedValues(ctx context.Context) error {
	home, text, err := v.homes(ctx)
	if err != nil {
		return err
	}
	for i := 0; i < len(v.changed); {
		m := v.changed[i]
		at := home[m.has]
		n := 1
		for at >= 0 && i+n < len(v.changed) && v.changed[i+n].leaf == m.leaf+int64(n) && home[v.changed[i+n].has] == at+int64(n) {
			n++
		}
		v.misplaced(m.leaf, int64(n), at, text[m.leaf])
		i += n
	}
	return nil
}

// homes returns where the tree has the values that do not fit, -1 for nowhere, and
// descriptions of the first of them.
func (v *verification) homes(ctx context.Context) (home map[tlog.Hash]int64, text map[int64]string, err error) {
	home, text = make(map[tlog.Hash]int64, len(v.changed)), make(map[int64]string, min(len(v.changed), maxFindings))
	misfits := make(map[int64]bool, len(v.changed))
	for _, m := range v.changed {
		home[m.has], misfits[m.leaf] = -1, true
	}
	for leaf, err := range v.c.Tree.Leaves(ctx, 0) {
		if err != nil {
			return nil, nil, fmt.Errorf("history: read the leaves again: %w", err)
		}
		if len(leaf.Hashes) > 0 {
			if _, sought := home[leaf.Hashes[0]]; sought {
				home[leaf.Hashes[0]] = leaf.Index
			}
		}
		if misfits[leaf.Index] && len(text) < maxFindings {
			text[leaf.Index] = v.describe(leaf.Value)
		}
	}
	return home, text, nil
}

// misplaced reports n values, from the given leaf on, that the tree has at another
// position; at is -1 if it has them nowhere.
func (v *verification) misplaced(leaf, n, at int64, text string) {
	switch shift := at - leaf; {
	case at < 0:
		v.found(leaf, "leaf %d%s was changed: its hash is not the one in the tree", leaf, text)
	case n == 1:
		v.found(leaf, "leaf %d%s is out of order: it belongs at %d", leaf, text, at)
	case shift > 0:
		v.found(leaf, "%s left out at leaf %d: what is in the leaves %d to %d belongs %d further on", leavesWere(shift), leaf, leaf, leaf+n-1, shift)
	default:
		v.found(at, "%s put in at leaf %d: what is in the leaves %d to %d belongs %d before", leavesWere(-shift), at, leaf, leaf+n-1, -shift)
	}
}

func leavesWere(n int64) string {
	if n == 1 {
		return "a leaf was"
	}
	return fmt.Sprintf("%d leaves were", n)
}
