package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// minToken is the least length of a token that an operator chooses.
const minToken = 24

// maxSecret bounds a secret's file: a longer one is the wrong file.
const maxSecret = 4 << 10

// secret is a text that no log and no error shows.
type secret string

// String hides the secret from fmt.
func (secret) String() string { return "[secret]" }

// GoString hides the secret from fmt's %#v.
func (secret) GoString() string { return "[secret]" }

// LogValue hides the secret from slog.
func (secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// secret reads a secret from its variable or from the file that the variable
// with _FILE names. Both at once is a mistake: one of them would be ignored.
func (m *mistakes) secret(name string, value, file text) secret {
	switch {
	case value.set && file.set:
		m.add(name, "is set, and so is %s_FILE; set one of them", name)
	case value.set && value.value == "":
		m.add(name, "is set but empty; unset it, or give the secret")
	case value.set:
		return secret(value.value)
	case file.set:
		s, err := readSecret(file.value)
		if err != nil {
			m.add(name+"_FILE", "%w", err)
		}
		return s
	}
	return ""
}

// readSecret reads a secret from a file that nobody else can read, without the
// newline at its end.
func readSecret(name string) (secret, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", plain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", name)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return "", fmt.Errorf("%s can be read or written by others (mode %04o); run chmod 600 %s", name, mode, name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", plain(err)
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
	return secret(s), nil
}

// plain returns a system's error in the words "path: cause".
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
