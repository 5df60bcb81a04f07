package storetest_test

import (
	"testing"

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
