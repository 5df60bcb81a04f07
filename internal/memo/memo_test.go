package memo_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/memo"
)

func TestMapKeepsNoMoreThanItMay(t *testing.T) {
	m := memo.New[string, int](1000)
	m.Put("a", 1, 150)
	m.Put("b", 2, 150)
	m.Put("b", 3, 150) // instead of the first, which counts once
	for key, want := range map[string]int{"a": 1, "b": 3} {
		if got, ok := m.Get(key); got != want || !ok {
			t.Errorf("%s: got %d %t, want %d", key, got, ok, want)
		}
	}
	m.Put("c", 4, 150)
	if _, ok := m.Get("a"); ok {
		t.Error("a is still kept, though all three are too much")
	}
	if got, ok := m.Get("c"); got != 4 || !ok {
		t.Errorf("c: got %d %t", got, ok)
	}
	m.Put("d", 5, 5000) // alone it is kept, however large it is
	if _, ok := m.Get("c"); ok {
		t.Error("c is still kept")
	}
	if got, _ := m.Get("d"); got != 5 {
		t.Errorf("d: got %d", got)
	}
}
