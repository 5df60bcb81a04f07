// Package repeats keeps a log readable while something stays broken: a repeated problem is logged
// once a minute, with a count.
package repeats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// every is how often the same problem is logged.
	every = time.Minute
	// mostCauses is how many problems are distinguished at a time. Beyond that, a problem is
	// identified by its message alone.
	mostCauses = 500
)

// Handler passes on everything below a warning. Of the warnings and errors that share message, cause
// and logger, it passes on the first and, after each minute, the newest, with the number that were
// left out in between. The cause is the innermost of the errors among the attributes: while a disk
// is full, it is the same for every call. Other attributes only say which of many things is
// affected, and do not distinguish problems. Attributes that should do so belong to the logger, by
// its With.
type Handler struct {
	next slog.Handler
	// logger identifies the attributes and groups that all records have.
	logger string
	told   *told
}

// New returns a handler that passes records on to next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, told: &told{all: make(map[trouble]*count)}}
}

// trouble identifies a problem: two records with the same trouble say the same.
type trouble struct {
	level                  slog.Level
	logger, message, cause string
}

// count counts the records about one trouble.
type count struct {
	since time.Time
	// left is how many records were left out, and newest the last of them.
	left   int
	newest slog.Record
	by     slog.Handler
}

// told holds the troubles of the last minute.
type told struct {
	mu  sync.Mutex
	all map[trouble]*count
}

// Enabled reports whether the next handler handles records of the level.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes the record on, or counts it. Before that, it logs what has been counted for a
// minute.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	err := h.tellOver(ctx, r.Time)
	if r.Level < slog.LevelWarn || h.told.first(h.trouble(&r), &r, h.next) {
		err = errors.Join(err, h.next.Handle(ctx, r))
	}
	return err
}

// WithAttrs returns a handler whose records all have the attributes.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.next.WithAttrs(attrs), h.logger + fmt.Sprint(attrs), h.told}
}

// WithGroup returns a handler whose attributes are in a group.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.logger + name + ".", h.told}
}

// Flush logs what has been counted and not been logged yet.
func (h *Handler) Flush(ctx context.Context) error {
	return h.tell(ctx, h.told.take(func(*count) bool { return true }))
}

func (h *Handler) tellOver(ctx context.Context, now time.Time) error {
	return h.tell(ctx, h.told.take(func(c *count) bool { return now.Sub(c.since) >= every }))
}

// tell passes on the newest record of each count.
func (h *Handler) tell(ctx context.Context, counts []*count) error {
	var all []error
	for _, c := range counts {
		r := c.newest.Clone()
		if c.left > 1 {
			r.AddAttrs(slog.Int("left_out", c.left-1))
		}
		all = append(all, c.by.Handle(ctx, r))
	}
	return errors.Join(all...)
}

func (h *Handler) trouble(r *slog.Record) trouble {
	return trouble{r.Level, h.logger, r.Message, causeOf(r)}
}

// causeOf returns the text of the innermost of the record's errors.
func causeOf(r *slog.Record) string {
	var all []string
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			all = append(all, bottom(err).Error())
		}
		return true
	})
	return strings.Join(all, "\n")
}

// bottom returns the innermost error; if an error wraps several, it follows the first.
func bottom(err error) error {
	var below []error
	switch e := err.(type) { //nolint:errorlint // It is taken apart here.
	case interface{ Unwrap() error }:
		below = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		below = e.Unwrap()
	}
	if len(below) == 0 || below[0] == nil {
		return err
	}
	return bottom(below[0])
}

// first reports whether the record must be passed on, and counts it otherwise.
func (t *told) first(is trouble, r *slog.Record, by slog.Handler) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[is] == nil && len(t.all) >= mostCauses {
		is.cause = ""
	}
	c := t.all[is]
	if c == nil {
		t.all[is] = &count{since: r.Time}
		return true
	}
	c.left, c.newest, c.by = c.left+1, r.Clone(), by
	return false
}

// take removes the counts for which over returns true, and returns those with left-out records. A
// returned count starts another minute.
func (t *told) take(over func(*count) bool) []*count {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*count
	for is, c := range t.all {
		if !over(c) {
			continue
		}
		delete(t.all, is)
		if c.left > 0 {
			all = append(all, c)
			t.all[is] = &count{since: c.newest.Time}
		}
	}
	slices.SortFunc(all, func(a, b *count) int { return a.newest.Time.Compare(b.newest.Time) })
	return all
}
