package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/store/storetest"
)

// forged is a store whose tree shows other leaves than those written.
type forged struct {
	*storetest.Memory

	leaves []history.Leaf
	err    error
}

func (f forged) Leaves(context.Context, int64) iter.Seq2[history.Leaf, error] {
	return func(yield func(history.Leaf, error) bool) {
		for _, l := range f.leaves {
			if !yield(l, nil) {
				return
			}
		}
		if f.err != nil {
			yield(history.Leaf{}, f.err)
		}
	}
}

func (f forged) TreeSize(context.Context) (int64, error) { return int64(len(f.leaves)), f.err }

// failing is a store of which one reading fails, behind so many others.
type failing struct {
	forged

	reads int
}

func (f *failing) Leaves(ctx context.Context, from int64) iter.Seq2[history.Leaf, error] {
	f.reads--
	if f.reads == -1 {
		return forged{err: errBroken}.Leaves(ctx, from)
	}
	return f.forged.Leaves(ctx, from)
}

func (f *failing) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	f.reads--
	if f.reads == -1 {
		return func(yield func(approval.Record, error) bool) { yield(approval.Record{}, errBroken) }
	}
	return f.Memory.List(ctx, q)
}

var errBroken = errors.New("broken")

// hashless is a store whose hashes cannot be read.
type hashless struct{ *storetest.Memory }

func (hashless) TreeHashes(context.Context, []int64) ([]tlog.Hash, error) {
	return nil, errBroken
}

// written returns the leaves of a history of nine events, with a checkpoint of the first
// four and one of all.
func written(t *testing.T) (w *world, all []history.Leaf, checkpoints []string) {
	t.Helper()
	w = newWorld(t, 1)
	for w.size() < 9 {
		if w.size() == 4 {
			checkpoints = append(checkpoints, w.sign())
		}
		w.open(1)
	}
	for l, err := range w.store.Leaves(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if checkpoints = append(checkpoints, w.sign()); len(all) != 9 || len(checkpoints) != 2 {
		t.Fatalf("%d leaves, %d checkpoints", len(all), len(checkpoints))
	}
	return w, all, checkpoints
}

var askIDs = regexp.MustCompile(`\b[a-z2-7]{16}\b`)

// TestAForgedTreeIsFound checks that for trees whose leaves were omitted, inserted, moved
// or changed, verification reports what was done, and where.
func TestAForgedTreeIsFound(t *testing.T) {
	t.Parallel()
	w, all, checkpoints := written(t)
	value := func(from, to int) func([]history.Leaf) []history.Leaf {
		return func(l []history.Leaf) []history.Leaf { l[to].Value = all[from].Value; return l }
	}
	// changed is a value of the same length that can be read.
	changed := bytes.Replace(all[5].Value, []byte("coder"), []byte("other"), 1)
	if bytes.Equal(changed, all[5].Value) {
		t.Fatalf("nothing was changed in %s", all[5].Value)
	}
	anew := func(at int, value []byte) func([]history.Leaf) []history.Leaf { // with its own hash
		return func(l []history.Leaf) []history.Leaf {
			l[at].Value, l[at].Hashes = value, slices.Clone(l[at].Hashes)
			l[at].Hashes[0] = tlog.RecordHash(value)
			return l
		}
	}
	inner := func(at int, levels ...int) func([]history.Leaf) []history.Leaf {
		return func(l []history.Leaf) []history.Leaf {
			l[at].Hashes = slices.Clone(l[at].Hashes)
			for _, level := range levels {
				l[at].Hashes[level][0] ^= 1
			}
			return l
		}
	}
	var b strings.Builder
	for _, row := range []struct {
		name  string
		forge func([]history.Leaf) []history.Leaf
	}{
		{"as it is", func(l []history.Leaf) []history.Leaf { return l }},
		{"one left out", func(l []history.Leaf) []history.Leaf { return slices.Delete(l, 3, 4) }},
		{"two left out", func(l []history.Leaf) []history.Leaf { return slices.Delete(l, 3, 5) }},
		{"one twice", func(l []history.Leaf) []history.Leaf { return slices.Insert(l, 4, l[3]) }},
		{"the end left out", func(l []history.Leaf) []history.Leaf { return l[:8] }},
		{"all but what the first checkpoint is of", func(l []history.Leaf) []history.Leaf { return l[:4] }},
		{"all left out", func([]history.Leaf) []history.Leaf { return nil }},
		{"a value taken out", func(l []history.Leaf) []history.Leaf { l[5].Value = nil; return l }},
		{"values taken out", func(l []history.Leaf) []history.Leaf { l[1].Value, l[5].Value, l[6].Value = nil, nil, nil; return l }},
		{"two values taken out", func(l []history.Leaf) []history.Leaf { l[5].Value, l[6].Value = nil, nil; return l }},
		{"no hash", func(l []history.Leaf) []history.Leaf { l[5].Hashes = nil; return l }},
		{"a hash too few", func(l []history.Leaf) []history.Leaf { l[3].Hashes = l[3].Hashes[:2]; return l }},
		{"a hash too many", func(l []history.Leaf) []history.Leaf {
			l[4].Hashes = slices.Concat(l[4].Hashes, l[3].Hashes[:1])
			return l
		}},
		{"a hash over two", inner(7, 1)},
		{"two hashes over two", func(l []history.Leaf) []history.Leaf { return inner(7, 1)(inner(3, 1)(l)) }},
		{"a hash over four", inner(7, 2)},
		{"all hashes over a leaf", inner(7, 1, 2, 3)},
		{"a value changed", func(l []history.Leaf) []history.Leaf { l[5].Value = changed; return l }},
		{"a value changed, with its hash", anew(5, changed)},
		{"an early one changed, with its hash", anew(2, changed)},
		{"garbage", anew(5, []byte("no event"))},
		{"two change places", func(l []history.Leaf) []history.Leaf { return value(5, 7)(value(7, 5)(l)) }},
		{"all moved up", func(l []history.Leaf) []history.Leaf { return value(8, 7)(value(7, 6)(value(6, 5)(l))) }},
		{"all moved down", func(l []history.Leaf) []history.Leaf {
			l[5].Value = changed
			return value(5, 6)(value(6, 7)(value(7, 8)(l)))
		}},
		{"moved down by two", func(l []history.Leaf) []history.Leaf { return value(4, 6)(value(5, 7)(value(6, 8)(l))) }},
	} {
		c := history.Case{Tree: forged{Memory: w.store, leaves: row.forge(slices.Clone(all))}, Verifier: " " + w.key.Verifier() + "\n"}
		for i, text := range checkpoints {
			c.Witnesses = append(c.Witnesses, history.Witness{Source: fmt.Sprint("checkpoint ", i+1), Text: text})
		}
		r, err := history.Verify(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %d leaves, %d dropped, proved %v, whole %t\n", row.name, r.Size, r.Dropped, r.Proved, r.Whole())
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "\t%d: %s\n", f.Leaf, f.Text)
		}
	}
	// The ids of asks are random; here they are numbered in order of appearance.
	numbers := map[string]string{}
	text := askIDs.ReplaceAllStringFunc(b.String(), func(id string) string {
		if numbers[id] == "" {
			numbers[id] = fmt.Sprint("ask", len(numbers)+1)
		}
		return numbers[id]
	})
	golden.Check(t, "testdata/forged.txt", text)
}

// TestWhatCannotBeHeldAgainstAHistory checks what is reported about checkpoints, keys and
// stores that prove nothing or cannot be read.
func TestWhatCannotBeHeldAgainstAHistory(t *testing.T) {
	t.Parallel()
	w, all, checkpoints := written(t)
	other := newKey(t)
	name := func(key history.Key) string {
		parts := strings.Split(key.Verifier(), "+")
		return parts[0] + "+" + parts[1]
	}
	for _, row := range []struct {
		key  history.Key
		text string
		want string
	}{
		{w.key, "no checkpoint", "it proves nothing: it is not a checkpoint"},
		{other, checkpoints[0], "the history was begun with the key " + name(w.key) + ", and the key at hand is " + name(other) + ": the key was exchanged"},
	} {
		r, err := history.Verify(t.Context(), history.Case{Tree: w.store, Verifier: row.key.Verifier(), Witnesses: []history.Witness{{Source: "it", Text: row.text}}})
		if err != nil || r.Whole() || r.Findings[len(r.Findings)-1].Leaf != -1 || !slices.ContainsFunc(r.Findings, func(f history.Finding) bool { return strings.Contains(f.Text, row.want) }) {
			t.Errorf("%+v, %v; want %s", r.Findings, err, row.want)
		}
	}
	if r, err := history.Verify(t.Context(), history.Case{Tree: w.store}); err != nil || !r.Whole() {
		t.Errorf("without a key: %+v, %v", r.Findings, err)
	}
	for _, row := range []struct {
		name string
		tree history.Tree
		text string
		want string
	}{
		{"as it is", w.store, checkpoints[1], ""},
		{"grown", w.store, checkpoints[0], ""},
		{"older", forged{Memory: w.store, leaves: all[:8]}, checkpoints[1], "the history has 8 leaves, and had 9 when it was signed last"},
		{"another", newWorld(t, 2).store, checkpoints[1], "the history has 1 leaves"},
		{"unread", forged{Memory: w.store, err: errBroken}, checkpoints[1], "broken"},
		{"no checkpoint", w.store, "none", "it is not a checkpoint"},
		{"no hashes", hashless{w.store}, checkpoints[1], "history: read the tree: "},
	} {
		if err := history.Holds(t.Context(), row.tree, row.text, w.key.Verifier()); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
	rewritten := newWorld(t, 2)
	for rewritten.size() < 9 {
		rewritten.open(1)
	}
	if err := history.Holds(t.Context(), rewritten.store, checkpoints[0], w.key.Verifier()); err == nil || !strings.Contains(err.Error(), "the first 4 leaves of the history are not those that were signed last") {
		t.Errorf("a history that was rewritten: %v", err)
	}
}

// TestVerifyingNeedsTheWholeStore reads a history with a changed leaf from a store that
// fails at each read in turn: a part of it proves nothing.
func TestVerifyingNeedsTheWholeStore(t *testing.T) {
	w, all, _ := written(t)
	all[4].Value = slices.Concat(all[4].Value, []byte(" "))
	reads := 0
	for ; ; reads++ {
		f := &failing{forged{Memory: w.store, leaves: all}, reads}
		r, err := history.Verify(t.Context(), history.Case{Tree: f, Records: f, Verifier: w.key.Verifier()})
		if err == nil {
			if f.reads < 0 || len(r.Findings) == 0 {
				t.Errorf("of %d readings %d are left, found %v", reads, f.reads, r.Findings)
			}
			break
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("at read %d: %v", reads+1, err)
		}
	}
	if reads < 4 { // the leaves, once more for the changed one, the asks, the steps
		t.Errorf("it is verified after %d reads", reads)
	}
}

// TestFindingsAreBounded checks that findings beyond those listed are counted.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	w, all, _ := written(t)
	for n, more := range map[int]int{200: 0, 201: 1} {
		r, err := history.Verify(t.Context(), history.Case{Tree: forged{Memory: w.store, leaves: slices.Repeat(all[:1], n+1)}})
		if err != nil || len(r.Findings) != 200 || r.More != more {
			t.Errorf("of %d: %d findings and %d more, %v", n, len(r.Findings), r.More, err)
		}
	}
}
