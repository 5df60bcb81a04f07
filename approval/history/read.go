package history

import (
	"context"
	"fmt"
	"time"
)

// Entry is one event with its place in the history.
type Entry struct {
	Leaf int64 `json:"leaf"`
	Event
}

// Filter selects events. What is left empty selects all.
type Filter struct {
	Turn, Agent string
	// Since leaves out what was before that moment.
	Since time.Time
}

// Fits reports whether the filter selects the event.
func (f *Filter) Fits(e *Event) bool {
	return (f.Turn == "" || f.Turn == e.Turn) && (f.Agent == "" || f.Agent == e.Agent) && !e.At.Before(f.Since)
}

// Page is a part of the history, oldest first.
type Page struct {
	Entries []Entry `json:"entries"`
	// Next is the leaf behind the last one that was read; Done says that there is
	// none.
	Next int64 `json:"next"`
	Done bool  `json:"done"`
	// Dropped is how many leaves were read that have their hash alone.
	Dropped int64 `json:"dropped"`
}

// pageLeaves bounds how many leaves are read for a page.
const pageLeaves = 4096

// Read returns the next part of the history from a leaf on, as far as the filter
// selects it. A part may be empty and have more behind it.
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
