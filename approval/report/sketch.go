package report

import (
	"math"
	"time"
)

// DelayError is the largest relative error of a median of [Delays].
const DelayError = 0.025

// The bins of a delaySketch grow by twice the error, from a tenth of a second to more than
// two days: nobody waits longer.
const (
	delayLeast  = 100 * time.Millisecond
	delayBins   = 300
	delayGrowth = 1 + 2*DelayError
)

// delaySketch stores any number of durations in the memory of a page, so that quantiles can
// be estimated.
type delaySketch struct {
	bins [delayBins]int
	n    int
}

func (s *delaySketch) add(d time.Duration) {
	i := 0
	if d > delayLeast {
		i = int(math.Log(float64(d)/float64(delayLeast))/math.Log(delayGrowth)) + 1
	}
	s.bins[min(i, delayBins-1)]++
	s.n++
}

// quantile returns the duration within which the share q of all lies, or 0 if there are
// none.
func (s *delaySketch) quantile(q float64) time.Duration {
	rank := max(1, int(math.Ceil(q*float64(s.n))))
	for i, c := range s.bins {
		if rank -= c; rank <= 0 {
			if i == 0 {
				return delayLeast
			}
			return time.Duration(float64(delayLeast) * math.Pow(delayGrowth, float64(i)-0.5))
		}
	}
	return 0
}

// scoreBin returns the bin of a score. It is exact: a score that is below a hundredth by
// only the last digit of a double falls below it here, as it does for a judge.
func scoreBin(score float64) int {
	if !(score > 0) { // also true for NaN
		return 0
	}
	i := min(int(min(score, 1)*scoreBins), scoreBins-1)
	for i+1 < scoreBins && score >= float64(i+1)/scoreBins {
		i++
	}
	for i > 0 && score < float64(i)/scoreBins {
		i--
	}
	return i
}

// recentMap maps keys to values and forgets what was not touched for long. It holds at
// least the latest size keys, and at most twice as many.
type recentMap[K comparable, V any] struct {
	size       int
	young, old map[K]V
	// forget is called with what the map drops.
	forget func(K, V)
}

func newRecentMap[K comparable, V any](size int, forget func(K, V)) *recentMap[K, V] {
	return &recentMap[K, V]{size, make(map[K]V), make(map[K]V), forget}
}

// take removes the key and returns its value.
func (m *recentMap[K, V]) take(k K) (V, bool) {
	v, ok := m.young[k]
	if !ok {
		v, ok = m.old[k]
	}
	delete(m.young, k)
	delete(m.old, k)
	return v, ok
}

// put sets the value of a key that is not in the map.
func (m *recentMap[K, V]) put(k K, v V) {
	if len(m.young) >= m.size {
		m.each(m.old)
		m.young, m.old = make(map[K]V, m.size), m.young
	}
	m.young[k] = v
}

// drain drops everything.
func (m *recentMap[K, V]) drain() {
	m.each(m.old)
	m.each(m.young)
	m.young, m.old = make(map[K]V), make(map[K]V)
}

func (m *recentMap[K, V]) each(of map[K]V) {
	for k, v := range of {
		m.forget(k, v)
	}
}
