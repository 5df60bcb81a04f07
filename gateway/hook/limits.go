package hook

import "time"

// How long clients wait for a hook at most, whatever their settings say. What comes
// later is not heard: most run the tool then.
const (
	capQwen     = 60 * time.Second
	capCline    = 120 * time.Second
	capHermes   = 300 * time.Second
	capKimi     = 600 * time.Second
	capOpenClaw = 600 * time.Second
)

// usualOpenClaw is how long OpenClaw waits for a plugin until its operator raises that
// in settings which vaglio does not write.
const usualOpenClaw = 15 * time.Second
