//go:build !race

package race

// Detector says that this binary carries the race detector.
const Detector = false
