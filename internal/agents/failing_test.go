package agents

import (
	"context"

	"github.com/metnos/vaglio/approval"
)

// failing is a store that can be read but not written.
type failing struct {
	Store
	err error
}

func (f failing) Update(context.Context, approval.Kind, string, func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	return approval.Record{}, f.err
}

// unread is a store that cannot be read.
type unread struct {
	Store
	err error
}

func (u unread) Get(context.Context, approval.Kind, string) (approval.Record, error) {
	return approval.Record{}, u.err
}
