package web

// turns deals out what several agents have, so that none keeps the others waiting: next comes
// the first thing of the agent whose things weigh least so far.
type turns[T any] struct {
	agents []string
	queues map[string][]T
	weighs map[string]int
}

// inTurns returns the things of all agents, each agent's in the given order.
func inTurns[T any](all []T, agent func(T) string) *turns[T] {
	t := &turns[T]{queues: map[string][]T{}, weighs: map[string]int{}}
	for _, v := range all {
		name := agent(v)
		if _, known := t.queues[name]; !known {
			t.agents = append(t.agents, name)
		}
		t.queues[name] = append(t.queues[name], v)
	}
	return t
}

// next returns the next thing, if there is one.
func (t *turns[T]) next() (v T, ok bool) {
	best := ""
	for _, name := range t.agents {
		if len(t.queues[name]) > 0 && (!ok || t.weighs[name] < t.weighs[best]) {
			best, ok = name, true
		}
	}
	if ok {
		v, t.queues[best] = t.queues[best][0], t.queues[best][1:]
	}
	return v, ok
}

// weigh adds to what the agent's things weigh.
func (t *turns[T]) weigh(agent string, by int) { t.weighs[agent] += by }
