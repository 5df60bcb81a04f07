package budget

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

const (
	// keptFor is how long an answer may be reused within its turn.
	keptFor = 10 * time.Minute
	// mostKept limits the memory: when it is reached, no further answers are cached.
	mostKept = 4096
)

// Answers caches answers for calls that are put again. It is safe for concurrent use, and its zero
// value is ready to use.
type Answers struct {
	mu   sync.Mutex
	kept map[Key]answer
}

// Key identifies what an answer is for.
type Key [sha256.Size]byte

type answer struct {
	result vaglio.GradientResult
	until  time.Time
}

// KeyOf returns the key for what a judge is shown within a turn. Without a turn there is no key, and
// nothing is cached.
func KeyOf(turn string, shown ...string) (key Key, ok bool) {
	if turn == "" {
		return Key{}, false
	}
	h := sha256.New()
	for _, part := range append([]string{turn}, shown...) {
		h.Write([]byte(strconv.Itoa(len(part)) + ":"))
		h.Write([]byte(part))
	}
	h.Sum(key[:0])
	return key, true
}

// Find returns the cached answer.
func (a *Answers) Find(key Key) (vaglio.GradientResult, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.kept[key]
	if !ok || time.Now().After(found.until) {
		return vaglio.GradientResult{}, false
	}
	return found.result, true
}

// Keep caches an answer.
func (a *Answers) Keep(key Key, r vaglio.GradientResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if len(a.kept) >= mostKept {
		for k, old := range a.kept {
			if now.After(old.until) {
				delete(a.kept, k)
			}
		}
	}
	if a.kept == nil {
		a.kept = make(map[Key]answer)
	}
	if len(a.kept) < mostKept {
		a.kept[key] = answer{r, now.Add(keptFor)}
	}
}
