//go:build !linux && !darwin

package httpapi

import (
	"errors"
	"net"
)

// uidOf cannot tell here: agents show their tokens.
func uidOf(*net.UnixConn) (uint32, error) { return 0, errors.ErrUnsupported }
