//go:build !unix

package client

import "net"

// quiet is false where it cannot be told: each exchange has a connection of its own.
func quiet(net.Conn) bool { return false }
