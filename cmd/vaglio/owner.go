package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// askTimeout bounds a question to the daemon on this machine.
const askTimeout = 10 * time.Second

// errNoDaemon says that nobody serves the data folder.
var errNoDaemon = errors.New("no vaglio is serving this data folder; start one with 'vaglio serve'")

// askDaemon asks the owner's side of the daemon and decodes its answer.
func askDaemon(ctx context.Context, method, path string, answer any) error {
	return askDaemonFor(ctx, askTimeout, method, path, answer)
}

// askDaemonFor is askDaemon for questions that take longer.
func askDaemonFor(ctx context.Context, within time.Duration, method, path string, answer any) error {
	dir, err := loadDataDir()
	if err != nil {
		return err
	}
	socket := filepath.Join(dir, adminSocket)
	if err := checkSocketPath(socket); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://vaglio"+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w (looked for %s)", errNoDaemon, socket)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s belongs to somebody else: run this as the user who serves", socket)
	case err != nil:
		return fmt.Errorf("ask the daemon: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		var p problemAnswer
		if err := strictjson.Unmarshal(bytes.TrimSpace(body), &p); err != nil || p.Error == "" {
			return fmt.Errorf("ask the daemon: it answered %s", res.Status)
		}
		return errors.New(p.Error)
	}
	if err := strictjson.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("ask the daemon: its answer is from another version: %w", err)
	}
	return nil
}
