package storetest

import (
	"errors"

	"github.com/metnos/vaglio/approval"
)

// Spoil makes a record unreadable from now on, as if its bytes had been damaged.
func (m *Memory) Spoil(kind approval.Kind, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.spoiled[recordKey{kind, id}] = true
}

// recordKey identifies a record.
type recordKey struct {
	kind approval.Kind
	id   string
}

// read returns a record as a store yields it.
func (m *Memory) read(kind approval.Kind, r approval.Record) (approval.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept.read(kind, r)
}

func (k *kept) read(kind approval.Kind, r approval.Record) (approval.Record, error) {
	if err := k.unread(kind, r.ID); err != nil {
		return approval.Record{ID: r.ID, Seq: r.Seq, Born: r.Born, Open: r.Open}, err
	}
	return r.Clone(), nil
}

// unread says why a record cannot be read; nil if it can.
func (k *kept) unread(kind approval.Kind, id string) error {
	if !k.spoiled[recordKey{kind, id}] {
		return nil
	}
	return &approval.UnreadError{Kind: kind, ID: id, Err: errors.New("it does not read as it was written")}
}
