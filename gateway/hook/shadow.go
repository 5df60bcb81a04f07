package hook

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// shadowEnding is the file name extension of a day's calls.
	shadowEnding = ".ndjson"
	// keepShadow is how long such a file is kept.
	keepShadow = 30 * 24 * time.Hour
)

// seen is a call as recorded.
type seen struct {
	At time.Time `json:"timestamp"`
	client.Proposal
}

// watch records a call and lets it pass, whatever happens: shadow mode stops nothing.
func (h *hook) watch(ctx context.Context, in io.Reader) (out reply) {
	defer func() {
		if v := recover(); v != nil {
			out = h.dialect.pass()
		}
	}()
	if data, err := read(ctx, in); err == nil {
		if e, err := h.dialect.decode(data, h.Getenv); err == nil && e.kind == before {
			h.complete(&e)
			h.writeDown(&e, time.Now())
		}
	}
	return h.dialect.pass()
}

// writeDown appends a call to the day's file in a single write, since several hooks may run.
func (h *hook) writeDown(e *event, now time.Time) {
	line, err := strictjson.Marshal(seen{now.UTC(), e.proposal})
	if err != nil || os.MkdirAll(h.Shadow, 0o700) != nil {
		return
	}
	name := filepath.Join(h.Shadow, now.UTC().Format(time.DateOnly)+shadowEnding)
	if _, err := os.Stat(name); err != nil {
		h.forgetShadow(now)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // The folder is vaglio's own.
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n')) // A call that is not recorded is missing from a replay, no more.
	_ = f.Close()
}

// forgetShadow removes the files that are older than keepShadow.
func (h *hook) forgetShadow(now time.Time) {
	all, _ := os.ReadDir(h.Shadow)
	for _, f := range all {
		day, err := time.Parse(time.DateOnly+shadowEnding, f.Name())
		if err == nil && now.Sub(day) > keepShadow {
			_ = os.Remove(filepath.Join(h.Shadow, f.Name()))
		}
	}
}
