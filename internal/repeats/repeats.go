// Package repeats keeps a log readable while something stays broken: what says
// the same trouble again and again is said once a minute, with a count.
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
	// every is how often the same trouble is told.
	every = time.Minute
	// mostCauses is how many troubles are told apart at a time. Beyond them a
	// trouble is known by its message alone.
	mostCauses = 500
)

// Handler passes on what is below a warning. Of the warnings and errors that have
// a message, a cause and a logger in common it passes on the first, and after
// each minute the newest, with how many were left out between. The cause is what lies at the bottom of the
// errors among the attributes: the same for every call while a disk is full. The
// other attributes say about which of many things it is, and tell no trouble
// apart; what does belongs to the logger, by its With.
type Handler struct {
	next slog.Handler
	// logger names the attributes and groups that all records have.
	logger string
	told   *told
}

// New returns a handler before the next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, told: &told{all: make(map[trouble]*count)}}
}

// trouble is what makes two records say the same.
type trouble struct {
	level                  slog.Level
	logger, message, cause string
}

// count is how often a trouble was told.
type count struct {
	since time.Time
	// left is how many records were left out, and newest the last of them.
	left   int
	newest slog.Record
	by     slog.Handler
}

// told are the troubles of the last minute.
type told struct {
	mu  sync.Mutex
	all map[trouble]*count
}

// Enabled reports whether the next handler handles records of the level.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes the record on, or counts it. Whatever is logged next, what was
// counted for a minute is told before it.
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

// Flush tells what was counted and not told yet.
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

// causeOf is the text of what lies at the bottom of the record's errors.
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

// bottom is the error that others only put into words; of several the first.
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

// first reports whether the record is to be passed on, and counts it otherwise.
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

// take forgets the counts that are over, and returns those with something to
// tell. What is told begins a minute of its own.
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
