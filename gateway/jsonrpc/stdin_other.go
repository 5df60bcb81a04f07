//go:build !unix

package jsonrpc

import "io"

// Awaited is in.
func Awaited(in io.Reader) (out io.Reader, done func()) { return in, func() {} }
