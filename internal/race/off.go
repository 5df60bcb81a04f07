//go:build !race

package race

// Detector reports whether this binary was built with the race detector.
const Detector = false
