package telegram

import (
	"sync"
	"time"
)

// patience bounds what strangers get out of the bot. Its zero value is ready.
type patience struct {
	mu    sync.Mutex
	since time.Time
	by    map[int64]int
}

const (
	// patienceLasts is how long a stranger is counted.
	patienceLasts = CodeLives
	// maxAsked is how often one stranger is heard in that time.
	maxAsked = 5
	// maxStrangers is how many are; nobody else is heard then.
	maxStrangers = 1000
)

// heeds reports whether the stranger may be answered once more.
func (p *patience) heeds(person int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.by == nil || now.Sub(p.since) >= patienceLasts {
		p.by, p.since = map[int64]int{}, now
	}
	if _, known := p.by[person]; !known && len(p.by) >= maxStrangers {
		return false
	}
	p.by[person]++
	return p.by[person] <= maxAsked
}

// forget starts the count anew: who mistyped an old code may try the new one.
func (p *patience) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by = nil
}
