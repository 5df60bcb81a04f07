package telegram

import (
	"sync"
	"time"
)

// strangerLimit limits what strangers get from the bot. Its zero value is ready to use.
type strangerLimit struct {
	mu    sync.Mutex
	since time.Time
	by    map[int64]int
}

const (
	// strangerLasts is how long a stranger is counted.
	strangerLasts = CodeLives
	// maxAsked is how often one stranger is heard in that time.
	maxAsked = 5
	// maxStrangers is the most strangers that are heard; after that nobody else is.
	maxStrangers = 1000
)

// admits reports whether the stranger may be answered once more.
func (p *strangerLimit) admits(person int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.by == nil || now.Sub(p.since) >= strangerLasts {
		p.by, p.since = map[int64]int{}, now
	}
	if _, known := p.by[person]; !known && len(p.by) >= maxStrangers {
		return false
	}
	p.by[person]++
	return p.by[person] <= maxAsked
}

// reset restarts the count: people who mistyped an old code may try the new one.
func (p *strangerLimit) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by = nil
}
