package storetest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/storetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) storetest.Store {
			m := storetest.NewMemory()
			t.Cleanup(func() { m.Close() })
			return m
		},
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			m := s.(*storetest.Memory).Reopen()
			t.Cleanup(func() { m.Close() })
			return m
		},
	})
}

var errDisk = errors.New("disk on fire")

// TestMemoryFailsWhenTold fails each call of a sequence, before its effect and after it,
// and checks what the store then holds.
func TestMemoryFailsWhenTold(t *testing.T) {
	calls := []func(m *storetest.Memory) error{
		func(m *storetest.Memory) error {
			_, err := m.Update(t.Context(), approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) { return r, nil })
			return err
		},
		func(m *storetest.Memory) error { _, err := m.Lease(t.Context(), "l", "me", time.Hour); return err },
		func(m *storetest.Memory) error {
			if _, err := m.Get(t.Context(), approval.KindAsk, "x"); !errors.Is(err, approval.ErrNotFound) {
				return err
			}
			return nil
		},
		func(m *storetest.Memory) error {
			for _, err := range m.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
				return err
			}
			return nil
		},
		func(m *storetest.Memory) error {
			// Give the watch something to show, whatever failed before.
			if _, err := m.Update(t.Context(), approval.KindAsk, "w", func(r approval.Record) (approval.Record, error) { return r, nil }); err != nil {
				return err
			}
			for _, err := range m.Watch(t.Context(), approval.KindAsk, 0) {
				return err
			}
			return nil
		},
	}
	const all = 6 // calls of the store in the sequence
	for n := 1; n <= all; n++ {
		for _, late := range []bool{false, true} {
			m := storetest.NewMemory()
			if late {
				m.FailLate(n, errDisk)
			} else {
				m.Fail(n, errDisk)
			}
			failed := 0
			for _, call := range calls {
				if err := call(m); errors.Is(err, errDisk) {
					failed++
				} else if err != nil {
					t.Errorf("call %d, late %t: %v", n, late, err)
				}
			}
			if failed != 1 {
				t.Errorf("call %d, late %t: %d calls failed, want 1", n, late, failed)
			}
			_, err := m.Get(t.Context(), approval.KindAsk, "a")
			if lost := n == 1 && !late; lost != errors.Is(err, approval.ErrNotFound) {
				t.Errorf("call %d, late %t: the record: %v", n, late, err)
			}
			_, err = m.Lease(t.Context(), "l", "other", time.Hour)
			if lost := n == 2 && !late; lost != (err == nil) {
				t.Errorf("call %d, late %t: the lease: %v", n, late, err)
			}
		}
	}
}

func TestMemoryCountsItsCalls(t *testing.T) {
	m := storetest.NewMemory()
	m.Get(t.Context(), approval.KindAsk, "a")
	for range m.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		t.Error("shows something")
	}
	if n := m.Calls(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestMemoryBreaksAndMends(t *testing.T) {
	m := storetest.NewMemory()
	ended := make(chan error)
	go func() {
		for _, err := range m.Watch(t.Context(), approval.KindAsk, 0) {
			ended <- err
		}
	}()
	m.Break(errDisk)
	if err := <-ended; !errors.Is(err, errDisk) {
		t.Errorf("the watch ends with %v", err)
	}
	if _, err := m.Get(t.Context(), approval.KindAsk, "a"); !errors.Is(err, errDisk) {
		t.Errorf("broken: got %v", err)
	}
	m.Break(nil)
	if _, err := m.Get(t.Context(), approval.KindAsk, "a"); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("mended: got %v", err)
	}
}

// TestMemoryShowsAChangeThatIsNotPure shows why Memory runs each change twice.
func TestMemoryShowsAChangeThatIsNotPure(t *testing.T) {
	m := storetest.NewMemory()
	n := 0
	r, err := m.Update(t.Context(), approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) {
		n++
		r.Body = []byte{byte(n)}
		return r, nil
	})
	if err != nil || r.Body[0] != 2 {
		t.Errorf("got %v, %v; want the second run's", r.Body, err)
	}
}
