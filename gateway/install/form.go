package install

import (
	"bytes"
	"errors"
)

// form is how a client's file holds a hook. now is nil for a file that is not there,
// and so is a result.
type form interface {
	// add returns the file with the hook; the same bytes when it is there already.
	add(now []byte, o Options) ([]byte, error)
	// remove returns the file without it.
	remove(now []byte, o Options) ([]byte, error)
	// holds tells whether the hook is there, and with which limit of the client's
	// and of the hook's own.
	holds(now []byte, o Options) (found bool, limits Limits, err error)
}

// whole is a file that is ours alone.
type whole struct {
	content func(o Options) []byte
	// sign stands in every version of the file, and in nobody else's.
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
