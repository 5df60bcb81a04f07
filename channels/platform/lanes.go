package platform

import "sync"

// Lanes do what may be slow beside what must not wait for it: in a lane one thing
// after the other, in the order in which it was given, and the lanes side by side.
// The zero value is ready. It is safe for concurrent use.
type Lanes struct {
	mu     sync.Mutex
	queued map[string][]func()
	busy   sync.WaitGroup
}

const (
	// maxLanes is how many lanes there are at once, maxQueued how much waits in
	// one: who writes faster than a platform takes answers does not get them all.
	maxLanes  = 100
	maxQueued = 100
)

// Do has the work done behind what is in the lane. It reports false where there is
// no room: then the work is not done.
func (l *Lanes) Do(lane string, work func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, running := l.queued[lane]
	if len(queue) >= maxQueued || !running && len(l.queued) >= maxLanes {
		return false
	}
	if l.queued == nil {
		l.queued = map[string][]func(){}
	}
	l.queued[lane] = append(queue, work)
	if !running {
		l.busy.Go(func() { l.drain(lane) })
	}
	return true
}

func (l *Lanes) drain(lane string) {
	for work := l.next(lane); work != nil; work = l.next(lane) {
		work()
	}
}

// next takes what is first in the lane; where nothing is, the lane ends.
func (l *Lanes) next(lane string) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queued[lane]
	if len(queue) == 0 {
		delete(l.queued, lane)
		return nil
	}
	l.queued[lane] = queue[1:]
	return queue[0]
}

// Wait returns when nothing is left to do.
func (l *Lanes) Wait() { l.busy.Wait() }
