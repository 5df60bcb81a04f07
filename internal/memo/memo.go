// Package memo remembers what was made of something large, so that it need not be made again.
package memo

import "sync"

// Map keeps values until their sizes together exceed a limit; then it begins anew. It is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	all        map[K]V
	size, most int
}

// New returns an empty map that keeps at most so many bytes.
func New[K comparable, V any](most int) *Map[K, V] { return &Map[K, V]{all: map[K]V{}, most: most} }

// Get returns the value of a key, and whether it is kept.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok = m.all[key]
	return value, ok
}

// entry is what a key and its value need besides their sizes, in bytes.
const entry = 256

// Put keeps a value of a size in bytes, instead of the one that the key had.
func (m *Map[K, V]) Put(key K, value V, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size += entry
	if _, ok := m.all[key]; !ok {
		m.size += size
	}
	if m.size > m.most {
		clear(m.all)
		m.size = size
	}
	m.all[key] = value
}
