//go:build !linux && !darwin

package peers

import "errors"

// ask is not supported on this system: agents must present their tokens.
func ask(int) (Peer, error) { return Peer{}, errors.ErrUnsupported }
