package hook

import "time"

// How long clients wait for a hook at most, whatever their settings say. They ignore a later
// answer, and most then run the tool.
const (
	capQwen   = 60 * time.Second
	capCline  = 120 * time.Second
	capHermes = 300 * time.Second
	capKimi   = 600 * time.Second
)
