package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"

	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/terminal"
)

// drawDigest writes the picture of a digest into a file, or onto the output for
// "-". Of a file it leaves nothing half-written behind. What the picture shows
// is told in words.
func drawDigest(ctx context.Context, out, said io.Writer, day, file string) error {
	switch {
	case file == "":
		return &exitError{exitUsage, errors.New("--png: name a file, such as week.png, or - for the output")}
	case file == "-" && terminal.Is(out):
		return &exitError{exitUsage, errors.New("--png: a picture is not for the terminal: name a file, such as week.png, or lead the output into one")}
	}
	var a owner.Picture
	if err := askDaemonFor(ctx, digestWithin, http.MethodGet, "/digest/picture?"+url.Values{"date": {day}}.Encode(), &a); err != nil {
		return err
	}
	if file == "-" {
		if _, err := out.Write(a.PNG); err != nil {
			return err
		}
	} else if err := writePicture(file, a.PNG); err != nil {
		return fmt.Errorf("--png %s: %w", file, err)
	}
	_, err := fmt.Fprintln(said, a.Alt)
	return err
}

// writePicture writes a file whole or not at all. What is there and no file, such
// as a pipe, is written into and stays.
func writePicture(path string, picture []byte) error {
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return datafolder.Plain(err)
	case err == nil && info.IsDir():
		return errors.New("is a folder: name a file in it")
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return datafolder.Plain(err)
		}
		if terminal.Is(f) {
			return errors.Join(errors.New("is a terminal, which a picture is not for"), f.Close())
		}
		_, err = f.Write(picture)
		return errors.Join(err, f.Close())
	}
	return datafolder.Write(path, string(picture))
}
