package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Case is a history to verify, and what to check it against.
type Case struct {
	Tree Tree
	// Records are the records of the same store; nil checks the leaves alone.
	Records Records
	// Verifier verifies the signatures of the checkpoints.
	Verifier string
	// Witnesses are checkpoints that the history must agree with.
	Witnesses []Witness
	// Accepted are the leaves about new keys and older copies that the owner knows of.
	Accepted []int64
}

// Witness is a signed checkpoint and a description of where it comes from.
type Witness struct{ Source, Text string }

// Report is the result of a verification.
type Report struct {
	Size int64     `json:"size"`
	Root tlog.Hash `json:"root"`
	// Dropped is how many leaves have only their hash.
	Dropped int64 `json:"dropped"`
	// Since is the time of the first event that was read, Until that of the last.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Approvals is how many approvals in the records agree with the history.
	Approvals int `json:"approvals"`
	// Proved are the checkpoints that the history agrees with.
	Proved []Proof `json:"proved"`
	// Findings are what is wrong; none means that everything that could be checked is as it
	// was written.
	Findings []Finding `json:"findings"`
	// More is how many further findings were left out.
	More int `json:"more,omitempty"`
}

// Proof is a checkpoint that the history agrees with.
type Proof struct {
	Source string `json:"source"`
	Size   int64  `json:"size"`
}

// Finding is one thing that is wrong.
type Finding struct {
	// Leaf is where it is wrong; -1 if that is in no leaf.
	Leaf int64 `json:"leaf"`
	// Text says what is wrong and where, in a sentence without a full stop. Foreign text in
	// it has not been made visible.
	Text string `json:"text"`
}

// maxFindings is the most findings in a report. A history with more than that is wrong as a
// whole.
const maxFindings = 200

// Whole reports whether there are no findings.
func (r *Report) Whole() bool { return len(r.Findings) == 0 }

func (r *Report) found(leaf int64, format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, Finding{leaf, fmt.Sprintf(format, args...)})
}

// Verify rebuilds the tree from its leaves and checks it against the stored hashes, the
// checkpoints, and the records. The report has everything that is wrong; an error says that
// the store could not be read.
func Verify(ctx context.Context, c Case) (Report, error) {
	c.Verifier = strings.TrimSpace(c.Verifier)
	v := &verification{c: c, told: newStory(c.Accepted)}
	v.Proved, v.Findings = []Proof{}, []Finding{}
	v.openWitnesses()
	for leaf, err := range c.Tree.Leaves(ctx, 0) {
		if err != nil {
			return v.Report, fmt.Errorf("history: read the leaves: %w", err)
		}
		v.leaf(&leaf)
	}
	if err := v.finish(ctx); err != nil {
		return v.Report, err
	}
	if c.Records != nil {
		if err := v.records(ctx); err != nil {
			return v.Report, err
		}
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(a.Leaf, b.Leaf) })
	return v.Report, nil
}

// verification is one run of [Verify].
type verification struct {
	Report
	c     Case
	tree  spine
	told  *story
	wants []want
	// broken says that a leaf has no hash, so that the tree ends before it.
	broken bool
	// missing are the leaves without a value, changed those whose value does not hash to
	// what the tree has.
	missing []span
	changed []misfit
	// wrong are the subtrees whose hash is not that of their leaves.
	wrong []span
}

// span is a run of leaves; to is exclusive.
type span struct{ from, to int64 }

// misfit is a leaf whose value does not hash to what the tree has for it.
type misfit struct {
	leaf int64
	has  tlog.Hash
}

// want is an opened checkpoint that waits for the tree to reach its size.
type want struct {
	source string
	Checkpoint
	met bool
}

func (v *verification) openWitnesses() {
	for _, w := range v.c.Witnesses {
		c, err := OpenCheckpoint(w.Text, v.c.Verifier)
		if err != nil {
			v.found(-1, "%s proves nothing: %v", w.Source, err)
			continue
		}
		v.wants = append(v.wants, want{source: w.Source, Checkpoint: c})
	}
}

// leaf takes the next leaf of the store.
func (v *verification) leaf(l *Leaf) {
	if l.Index != v.Size {
		v.gap(l.Index)
	}
	v.Size = l.Index + 1
	if len(l.Hashes) == 0 {
		v.broken = true
		v.found(l.Index, "leaf %d%s has no hash in the tree: it was put in, or its hash was taken out", l.Index, v.describe(l.Value))
		return
	}
	v.grow(l)
	if l.Value == nil {
		v.lacks(l.Index)
		return
	}
	if has := tlog.RecordHash(l.Value); has != l.Hashes[0] {
		v.changed = append(v.changed, misfit{l.Index, has})
	}
	e, err := Decode(l.Value)
	if err != nil {
		v.found(l.Index, "leaf %d cannot be read: %v", l.Index, err)
		return
	}
	if v.Since.IsZero() {
		v.Since = e.At
	}
	v.Until = e.At
	v.told.tell(&v.Report, l.Index, &e)
}

// gap reports that leaves are missing before the index.
func (v *verification) gap(before int64) {
	v.broken = true
	switch n := before - v.Size; {
	case n == 1:
		v.found(v.Size, "leaf %d is missing: it was left out", v.Size)
	case n > 1:
		v.found(v.Size, "leaves %d to %d are missing: they were left out", v.Size, before-1)
	default:
		v.found(before, "leaf %d comes twice", before)
	}
}

// lacks records that a leaf has no value.
func (v *verification) lacks(leaf int64) {
	v.Dropped++
	if last := len(v.missing) - 1; last >= 0 && v.missing[last].to == leaf {
		v.missing[last].to++
		return
	}
	v.missing = append(v.missing, span{leaf, leaf + 1})
}

// grow extends the tree by a leaf and compares it with the stored hashes.
func (v *verification) grow(l *Leaf) {
	if v.broken {
		return
	}
	v.meet()
	ours := v.tree.add(l.Hashes[0])
	if len(ours) != len(l.Hashes) {
		v.found(l.Index, "leaf %d has %d hashes in the tree and should have %d", l.Index, len(l.Hashes), len(ours))
		return
	}
	for level := 1; level < len(ours); level++ {
		if ours[level] != l.Hashes[level] {
			v.wrong = append(v.wrong, span{l.Index + 1 - 1<<level, l.Index + 1})
		}
	}
}

// meet checks the tree against the checkpoints of its current size.
func (v *verification) meet() {
	for i := range v.wants {
		w := &v.wants[i]
		if w.met || w.Size != v.tree.size {
			continue
		}
		w.met = true
		if v.tree.root() == w.Root {
			v.Proved = append(v.Proved, Proof{w.source, w.Size})
			continue
		}
		v.found(-1, "the first %d leaves are not those that %s was signed for: %s", w.Size, w.source, v.where(w.Size))
	}
}

// where says between which checkpoints the history departs from what was signed.
func (v *verification) where(size int64) string {
	var sound int64
	for _, p := range v.Proved {
		if p.Size < size {
			sound = max(sound, p.Size)
		}
	}
	return fmt.Sprintf("one of the leaves %d to %d was changed, left out or put in", sound, size-1)
}

// finish reports what is known only once all leaves are read.
func (v *verification) finish(ctx context.Context) error {
	v.Root = v.tree.root()
	v.meet()
	for _, w := range v.wants {
		switch {
		case w.met:
		case v.broken:
			v.found(-1, "the tree ends at leaf %d, so it cannot be held against %s, which is of %d leaves", v.tree.size, w.source, w.Size)
		default:
			v.found(-1, "there are %d leaves, and %s was signed for %d: the end was left out, or an older copy of the store was put back",
				v.Size, w.source, w.Size)
		}
	}
	if k := v.told.keys; v.c.Verifier != "" && len(k) > 0 && !slices.Contains(k, v.c.Verifier) {
		v.found(-1, "the history was begun with the key %s, and the key at hand is %s: the key was exchanged", keyName(k[len(k)-1]), keyName(v.c.Verifier))
	}
	v.innerHashes()
	v.lackingValues()
	if len(v.changed) == 0 {
		return nil
	}
	return v.changedValues(ctx)
}

// innerHashes reports the smallest subtrees that are wrong: those above are wrong because
// these are.
func (v *verification) innerHashes() {
	for i, w := range v.wrong {
		if !slices.ContainsFunc(v.wrong[:i], func(s span) bool { return s.from >= w.from && s.to <= w.to }) {
			v.found(w.from, "the tree's hash over the leaves %d to %d is not that of these leaves: it was changed, or one of them was, with its own hash",
				w.from, w.to-1)
		}
	}
}

// lackingValues reports values that are missing without having been dropped.
func (v *verification) lackingValues() {
	for _, s := range v.missing {
		switch from := max(s.from, v.told.through); {
		case from >= s.to:
		case from == s.to-1:
			v.found(from, "leaf %d has no value, and no leaf says that it was dropped: it was taken out", from)
		default:
			v.found(from, "leaves %d to %d have no value, and no leaf says that they were dropped: they were taken out", from, s.to-1)
		}
	}
}
