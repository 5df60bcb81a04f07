package datafolder

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that only the owner can read, whole or not at all.
func Write(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), newFile+"*") // mode 0600
	if err != nil {
		return Plain(err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(Plain(err), os.Remove(f.Name()))
	}
	return Sync(filepath.Dir(path))
}

// Sync makes a new name in the folder durable.
func Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return Plain(err)
	}
	return errors.Join(d.Sync(), d.Close())
}
