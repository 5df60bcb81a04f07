package install

import (
	"bytes"
	"errors"
)

// form is how a client's file holds a hook. A nil now is a file that does not exist, and a nil
// result means that the file should not exist.
type form interface {
	// add returns the file with the hook; the same bytes if the hook is there already.
	add(now []byte, o Options) ([]byte, error)
	// remove returns the file without the hook.
	remove(now []byte, o Options) ([]byte, error)
	// holds reports whether the hook is in the file, and the limits that the client's
	// settings and the hook's command name.
	holds(now []byte, o Options) (found bool, limits Limits, err error)
}

// whole is a file that belongs to vaglio alone.
type whole struct {
	content func(o Options) []byte
	// sign occurs in every version of our file, and in nobody else's.
	sign string
}

func (w whole) add(now []byte, o Options) ([]byte, error) {
	if now != nil && !bytes.Contains(now, []byte(w.sign)) {
		return nil, errors.New("is there, and not by vaglio; it was left alone. Move it away, or call the hook from it")
	}
	return w.content(o), nil
}

func (w whole) remove(now []byte, _ Options) ([]byte, error) {
	if !bytes.Contains(now, []byte(w.sign)) {
		return now, nil
	}
	return nil, nil
}

func (w whole) holds(now []byte, _ Options) (bool, Limits, error) {
	return bytes.Contains(now, []byte(w.sign)), limitsIn(string(now), 0), nil
}
