//go:build !unix

package client

import "net"

// quiet returns false because it cannot tell here: each exchange opens its own connection.
func quiet(net.Conn) bool { return false }
