//go:build race

package judging_test

// raceDetector says that pools drop items at random, so that allocations cannot be counted.
const raceDetector = true
