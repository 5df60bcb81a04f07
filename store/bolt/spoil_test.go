package bolt_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
)

// TestOneDamagedRecordHidesNoOther damages one record of three, and reads in every way.
func TestOneDamagedRecordHidesNoOther(t *testing.T) {
	db := open(t, newFile(t))
	for _, id := range []string{"n1", "n2", "n3"} {
		if err := put(t.Context(), db, approval.Record{ID: id, Open: true, Keys: []string{"key-" + id}, Body: []byte("body of " + id)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Spoil(approval.KindAsk, "n2"); err != nil {
		t.Fatal(err)
	}
	unread := func(err error) bool {
		u, ok := errors.AsType[*approval.UnreadError](err)
		return ok && u.Kind == approval.KindAsk && u.ID == "n2"
	}
	for name, c := range map[string]struct {
		q    approval.Query
		want []string
	}{
		"oldest": {approval.Query{}, []string{"n1", "!n2", "n3"}},
		"newest": {approval.Query{Newest: true}, []string{"n3", "!n2", "n1"}},
		"open":   {approval.Query{Open: true}, []string{"n1", "!n2", "n3"}},
		"prefix": {approval.Query{Prefix: "n"}, []string{"n1", "!n2", "n3"}},
		"limit":  {approval.Query{Newest: true, Limit: 2}, []string{"n3", "!n2", "n1"}},
		"behind": {approval.Query{After: 2}, []string{"n3"}},
	} {
		c.q.Kind = approval.KindAsk
		var got []string
		for r, err := range db.List(t.Context(), c.q) {
			switch {
			case err == nil:
				got = append(got, r.ID)
			case unread(err):
				got = append(got, "!"+r.ID)
				if c.q.Prefix == "" && r.Born != 2 {
					t.Errorf("%s: the damaged record was born as %d", name, r.Born)
				}
			default:
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for r, err := range db.Watch(ctx, approval.KindAsk, 0) {
		if err != nil && !unread(err) {
			t.Fatal(err)
		}
		if got = append(got, r.ID); len(got) == 3 {
			cancel()
		}
	}
	if !slices.Equal(got, []string{"n1", "n2", "n3"}) {
		t.Errorf("Watch: got %v", got)
	}
	for _, name := range []string{"n2", "key-n2"} {
		if _, err := db.Get(t.Context(), approval.KindAsk, name); !unread(err) {
			t.Errorf("Get %s: %v", name, err)
		}
	}
	if err := put(t.Context(), db, approval.Record{ID: "n2"}); !unread(err) {
		t.Errorf("Update: %v", err)
	}
	if _, err := db.Get(t.Context(), approval.KindAsk, "n3"); err != nil {
		t.Errorf("Get: %v", err)
	}
}

// TestAnIndexWithoutItsRecordIsDamage deletes a record behind the indexes' back: what they promise
// is told to be damaged, not to be absent.
func TestAnIndexWithoutItsRecordIsDamage(t *testing.T) {
	path := newFile(t)
	db := open(t, path)
	if err := errors.Join(put(t.Context(), db, approval.Record{ID: "n1", Keys: []string{"key"}}), db.Close()); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("record")).Delete([]byte("ask\x00n1")) })
	db = open(t, path)
	_, err := db.Get(t.Context(), approval.KindAsk, "key")
	for _, errList := range db.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		err = errors.Join(err, errList)
	}
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		if u, ok := errors.AsType[*approval.UnreadError](err); !ok || u.ID != "n1" {
			t.Errorf("got %v", err)
		}
	}
}
