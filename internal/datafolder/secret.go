package datafolder

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/metnos/vaglio/internal/regular"
)

// Secret is a string that never appears in logs or errors.
type Secret string

// String hides the secret from fmt.
func (Secret) String() string { return "[secret]" }

// GoString hides the secret from fmt's %#v.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// maxSecret is the maximum size of a secret's file, in bytes. A larger one is the wrong file.
const maxSecret = 4 << 10

// ReadSecret reads a secret from a file, without the newline at the end. At most the owner and the
// group may be able to read the file, and only the owner to write it.
func ReadSecret(name string) (Secret, error) {
	f, err := regular.OpenTrusted(name, regular.NotRead)
	if errors.Is(err, regular.ErrIrregular) {
		return "", fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		return "", Plain(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", Plain(err)
	}
	if len(b) > maxSecret {
		return "", fmt.Errorf("%s is longer than %d bytes; it cannot be the secret", name, maxSecret)
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if s == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	if strings.ContainsAny(s, "\n\r\x00") {
		return "", fmt.Errorf("%s holds more than one line; it cannot be the secret", name)
	}
	return Secret(s), nil
}

// Plain rewrites a path error from the system as "path: cause".
func Plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
