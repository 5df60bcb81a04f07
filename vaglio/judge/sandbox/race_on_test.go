//go:build race

package sandbox

// raceDetector says that the attacker, which is the tests' binary, carries the race
// detector: it alone reserves more memory than these tests leave a command.
const raceDetector = true
