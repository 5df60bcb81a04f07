package datafolder

import "github.com/metnos/vaglio/internal/durable"

// Write atomically writes a file that only the owner can read.
func Write(path, text string) error {
	return Plain(durable.Replace(path, []byte(text), 0o600))
}
