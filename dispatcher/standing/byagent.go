package standing

import (
	"maps"
	"slices"
	"sync"
)

// byAgent holds lists of what stands, by agent, in the order in which it was kept. Its
// methods take the lock.
type byAgent[T any] struct {
	sync.Mutex
	lists map[string][]T
}

// keep replaces what is over in the agent's list by more. It forgets an agent whose list is
// empty.
func (b *byAgent[T]) keep(agent string, over func(T) bool, more []T) {
	b.Lock()
	defer b.Unlock()
	list := append(slices.DeleteFunc(b.lists[agent], over), more...)
	if len(list) == 0 {
		delete(b.lists, agent)
		return
	}
	if b.lists == nil {
		b.lists = make(map[string][]T)
	}
	b.lists[agent] = list
}

// of returns the agent's list.
func (b *byAgent[T]) of(agent string) []T {
	b.Lock()
	defer b.Unlock()
	return slices.Clone(b.lists[agent])
}

// agents returns the agents for whom something stands.
func (b *byAgent[T]) agents() []string {
	b.Lock()
	defer b.Unlock()
	return slices.Sorted(maps.Keys(b.lists))
}
