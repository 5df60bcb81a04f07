package standing

import (
	"maps"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// Newest makes sure that only the newest state of each ask is followed. Whoever changes an
// ask has its state at once; the store's feed has it later and in order. What comes late is
// older than what is known, and would bring back what was lifted or lose what was denied.
type Newest struct {
	mu sync.Mutex
	// told is how far the feed has come, and ahead the writes of asks that it has not
	// reached.
	told  uint64
	ahead map[approval.AskID]uint64
}

// sweepAt is the number of asks ahead of the feed at which those that it has passed are
// dropped: an ask whose record was dropped never comes.
const sweepAt = 256

// Wrote follows an ask as its seq-th write left it, unless a later state was already
// followed.
func (n *Newest) Wrote(id approval.AskID, seq uint64, follow func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if seq <= n.told || seq < n.ahead[id] {
		return
	}
	if n.ahead == nil {
		n.ahead = make(map[approval.AskID]uint64)
	}
	n.ahead[id] = seq
	follow()
}

// Told follows an ask as the feed reports it, unless a later state was already followed.
func (n *Newest) Told(id approval.AskID, seq uint64, follow func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = max(n.told, seq)
	if seq < n.ahead[id] {
		return
	}
	delete(n.ahead, id)
	if len(n.ahead) >= sweepAt {
		maps.DeleteFunc(n.ahead, func(_ approval.AskID, at uint64) bool { return at <= n.told })
	}
	follow()
}
