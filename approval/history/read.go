package history

import (
	"context"
	"fmt"
	"time"
)

// Entry is one event with its position in the history.
type Entry struct {
	Leaf int64 `json:"leaf"`
	Event
}

// Filter selects events. An empty field selects everything.
type Filter struct {
	Turn, Agent string
	// Since excludes earlier events.
	Since time.Time
}

// Fits reports whether the filter selects the event.
func (f *Filter) Fits(e *Event) bool {
	return (f.Turn == "" || f.Turn == e.Turn) && (f.Agent == "" || f.Agent == e.Agent) && !e.At.Before(f.Since)
}

// Page is a part of the history, oldest first.
type Page struct {
	Entries []Entry `json:"entries"`
	// Next is the leaf after the last one that was read; Done says that there is none.
	Next int64 `json:"next"`
	Done bool  `json:"done"`
	// Dropped is how many of the leaves that were read have only their hash.
	Dropped int64 `json:"dropped"`
}

// pageLeaves is the most leaves that are read for a page.
const pageLeaves = 4096

// Read returns the next page of the history, starting at a leaf, with the events that the
// filter selects. A page may be empty and still have more after it.
func Read(ctx context.Context, t Tree, from int64, f Filter) (Page, error) {
	p := Page{Entries: []Entry{}, Next: from, Done: true}
	for leaf, err := range t.Leaves(ctx, from) {
		if err != nil {
			return p, fmt.Errorf("history: read the leaves: %w", err)
		}
		if leaf.Index-from >= pageLeaves {
			p.Done = false
			break
		}
		p.Next = leaf.Index + 1
		if leaf.Value == nil {
			p.Dropped++
			continue
		}
		e, err := Decode(leaf.Value)
		if err != nil {
			return p, fmt.Errorf("leaf %d: %w", leaf.Index, err)
		}
		if f.Fits(&e) {
			p.Entries = append(p.Entries, Entry{leaf.Index, e})
		}
	}
	return p, nil
}
