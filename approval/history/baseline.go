package history

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"iter"

	"github.com/metnos/vaglio/approval"
)

// Baseline is how approvals stood before a leaf, where the history does not tell
// of the time before: at its beginning, and where values were dropped. It can be
// computed from the records at any time later, because every change since then
// has a leaf.
type Baseline struct {
	// Approvals is how many there were.
	Approvals int    `json:"approvals"`
	Sum       string `json:"sum"`
}

// Records are the records that a history is held against.
type Records interface {
	// List yields the records that match, in the query's order.
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
}

// BaselineAt returns how the approvals stood before the leaf with the index. It
// may run while the history grows.
func BaselineAt(ctx context.Context, records Records, t Tree, through int64) (Baseline, error) {
	// What changes after a record was read has a leaf that is read below.
	var all []standing
	for r, err := range records.List(ctx, approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			return Baseline{}, fmt.Errorf("history: read the asks: %w", err)
		}
		ask, err := approval.DecodeAsk(r.Body)
		if err != nil {
			return Baseline{}, err
		}
		for i := range ask.Approvals {
			s, err := standingOf(&ask, &ask.Approvals[i])
			if err != nil {
				return Baseline{}, err
			}
			all = append(all, s)
		}
	}
	lives := newLives()
	for leaf, err := range t.Leaves(ctx, through) {
		if err != nil {
			return Baseline{}, fmt.Errorf("history: read the leaves: %w", err)
		}
		e, err := Decode(leaf.Value)
		if err != nil {
			return Baseline{}, err
		}
		lives.begin(&e)
	}
	s := newSummer()
	for i := range all {
		if before, ok := lives.before(all[i]); ok {
			s.add(before)
		}
	}
	return s.baseline(), nil
}

// standing is how an approval stands.
type standing struct {
	id    approval.ID
	state approval.State
	// content is the sum of one to which nothing can happen any more.
	content string
}

func standingOf(a *approval.Ask, p *approval.Approval) (standing, error) {
	s := standing{id: p.ID, state: p.State}
	if !p.State.Final() {
		return s, nil
	}
	var err error
	s.content, err = sum("", sealOf(a, p))
	return s, err
}

// lives are the states in which the leaves found approvals.
type lives struct {
	from map[approval.ID]approval.State
}

func newLives() *lives { return &lives{make(map[approval.ID]approval.State)} }

// begin notes an approval's first change of state.
func (l *lives) begin(e *Event) {
	if e.To == "" {
		return
	}
	if _, ok := l.from[e.Approval]; !ok {
		l.from[e.Approval] = e.From
	}
}

// before returns how an approval stood before the first leaf, and whether there
// was one.
func (l *lives) before(s standing) (standing, bool) {
	from, moved := l.from[s.id]
	switch {
	case !moved:
		return s, true
	case from == "":
		return s, false
	}
	return standing{id: s.id, state: from}, true
}

// summer computes a baseline, the approvals in the order in which they were asked.
type summer struct {
	n int
	h hash.Hash
}

func newSummer() *summer { return &summer{h: sha256.New()} }

func (s *summer) add(p standing) {
	s.n++
	s.h.Write(fmt.Appendf(nil, "%q %q %s\n", p.id, p.state, p.content))
}

func (s *summer) baseline() Baseline {
	return Baseline{s.n, base64.RawURLEncoding.EncodeToString(s.h.Sum(nil))}
}
