package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// TestABaselineGoesOnWithoutWhatCannotBeRead drops values while the record of one ask was
// written by a newer program. Whichever ask it is, verification must find only that, and
// nothing once the record can be read again.
func TestABaselineGoesOnWithoutWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		w := newWorld(t, seed)
		for range 60 {
			w.live()
		}
		id := string(w.asks[w.random.IntN(len(w.asks))])
		before, err := w.store.Get(t.Context(), approval.KindAsk, id)
		if err != nil {
			t.Fatal(err)
		}
		w.put(approval.KindAsk, id, []byte(`{"v":99,"ask":{}}`), nil)
		w.drop(w.random.Int64N(w.size()))
		if want := fmt.Sprintf("ask %s cannot be read", id); len(w.unread) != 1 || !strings.Contains(w.unread[0], want) {
			t.Errorf("seed %d: told %q, want %q", seed, w.unread, want)
		}
		found := false
		for _, f := range w.verify().Findings {
			found = found || strings.Contains(f.Text, id+" cannot be read")
			if strings.Contains(f.Text, "was changed") || strings.Contains(f.Text, "older than leaf") {
				t.Errorf("seed %d: without ask %s: leaf %d: %s", seed, id, f.Leaf, f.Text)
			}
		}
		if !found {
			t.Errorf("seed %d: it is not told that ask %s cannot be read", seed, id)
		}
		w.put(approval.KindAsk, id, before.Body, nil)
		for range 20 {
			w.live()
		}
		for _, f := range w.verify().Findings {
			t.Errorf("seed %d: with ask %s again: leaf %d: %s", seed, id, f.Leaf, f.Text)
		}
	}
}

// TestVerifyingGoesOnPastASpoiledRecord verifies a history in which the bytes of a step and
// of an ask are not those that were written.
func TestVerifyingGoesOnPastASpoiledRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	ask := w.open(1)
	w.open(1)
	w.veto()
	w.store.Spoil(approval.KindAsk, string(ask))
	w.store.Spoil(approval.KindStep, "turn/00000001")
	var all []string
	r := w.verify()
	for _, f := range r.Findings {
		all = append(all, f.Text)
	}
	told := strings.Join(all, "\n")
	for _, want := range []string{"ask " + string(ask) + " cannot be read", "step turn/00000001 cannot be read"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	if r.Approvals != 1 {
		t.Errorf("%d approvals agree with the history, want the other one", r.Approvals)
	}
}
