package owner

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

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/strictjson"
)

// AskWithin bounds a request to the daemon on this machine that is not expected to take long.
const AskWithin = 10 * time.Second

// ErrNoDaemon means that no daemon serves the data folder.
var ErrNoDaemon = errors.New("no vaglio is serving this data folder; start one with 'vaglio serve'")

// Client calls the owner's side of the daemon that serves a data folder.
type Client struct {
	// Dir is the data folder.
	Dir string
}

// Ask sends a request and decodes the answer.
func (c Client) Ask(ctx context.Context, within time.Duration, method, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	in, err := c.Open(ctx, method, path)
	if err != nil {
		return err
	}
	defer in.Close()
	body, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	if err := strictjson.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("ask the daemon: its answer is from another version: %w", err)
	}
	return nil
}

// Open sends a request and returns the body of the answer. Any status but 200 is an error.
// [ErrNoDaemon] means that no daemon is serving.
func (c Client) Open(ctx context.Context, method, path string) (io.ReadCloser, error) {
	socket := filepath.Join(c.Dir, datafolder.AdminSocket)
	if err := datafolder.CheckSocketPath(socket); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://vaglio"+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask the daemon: %w", err)
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w (looked for %s)", ErrNoDaemon, socket)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s belongs to somebody else: run this as the user who serves", socket)
	case err != nil:
		return nil, fmt.Errorf("ask the daemon: %w", err)
	case res.StatusCode == http.StatusOK:
		return res.Body, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the daemon: %w", err)
	}
	var p Problem
	if err := strictjson.Unmarshal(bytes.TrimSpace(body), &p); err != nil || p.Error == "" {
		return nil, fmt.Errorf("ask the daemon: it answered %s", res.Status)
	}
	return nil, errors.New(p.Error)
}
