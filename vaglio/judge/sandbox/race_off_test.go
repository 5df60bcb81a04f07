//go:build !race

package sandbox

// raceDetector says that the attacker carries the race detector.
const raceDetector = false
