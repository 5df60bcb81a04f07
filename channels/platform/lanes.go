package platform

import "sync"

// Lanes run work that may be slow next to work that must not wait for it. The work in a
// lane runs in the order in which it was given; lanes run concurrently. The zero value is
// ready to use. It is safe for concurrent use.
type Lanes struct {
	mu     sync.Mutex
	queued map[string][]func()
	busy   sync.WaitGroup
}

const (
	// maxLanes is the most lanes at a time, maxQueued the most work that waits in one:
	// somebody who writes faster than a platform accepts answers does not get all of them.
	maxLanes  = 100
	maxQueued = 100
)

// Do runs the work after what is already in the lane. It reports false if there is no room;
// the work is then not done.
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

// next takes the first work in the lane; if there is none, the lane ends.
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

// Wait returns when no work is left.
func (l *Lanes) Wait() { l.busy.Wait() }
