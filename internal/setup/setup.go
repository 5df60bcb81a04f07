// Package setup gives the gate a user of its own on a machine: the user and its folders, the program
// where no agent can write, a systemd unit, a socket that a group may connect to, and permission to
// read where agents work. It is a list of steps, each of which says what it changes, checks whether
// that has been done, does it and undoes it.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Plan is what a setup changes on a machine, in order.
type Plan struct {
	// Notes are what the operator should know first.
	Notes []string
	steps []Step
}

// Step is one change.
type Step struct {
	// Say says what it does, such as "make the group vaglio-agents".
	Say string
	// Done reports whether it has been done already.
	Done func(context.Context) (bool, error)
	// Do does it, and Undo undoes it, possibly in a later run. A [*KeptError] says what Undo had
	// to leave.
	Do, Undo func(context.Context) error
}

// KeptError says what an undoing left in place, and why.
type KeptError struct{ Why string }

func (e *KeptError) Error() string { return e.Why }

// Left returns the steps that remain to be done or, with undo, to be undone.
func (p *Plan) Left(ctx context.Context, undo bool) ([]Step, error) {
	var left []Step
	for _, s := range p.steps {
		done, err := s.Done(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Say, err)
		}
		if done == undo {
			left = append(left, s)
		}
	}
	if undo {
		slices.Reverse(left)
	}
	return left, nil
}

// Show writes the steps that remain to be done, or to be undone.
func (p *Plan) Show(ctx context.Context, w io.Writer, undo bool) error {
	left, err := p.Left(ctx, undo)
	if err != nil {
		return err
	}
	var b strings.Builder
	head := "Steps:"
	switch {
	case len(left) == 0 && undo:
		head = "Nothing is set up here."
	case len(left) == 0:
		head = "Everything is already set up."
	case undo:
		head = "Steps that are undone:"
	}
	b.WriteString(head + "\n")
	for n, s := range left {
		fmt.Fprintf(&b, "%4d  %s\n", n+1, s.Say)
	}
	for _, note := range p.Notes {
		b.WriteString("note  " + note + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// Apply does every step that remains. If one fails, it undoes those of this run in reverse order.
func (p *Plan) Apply(ctx context.Context, told io.Writer) error {
	var done []Step
	for _, s := range p.steps {
		is, err := s.Done(ctx)
		if err == nil && !is {
			if err = s.Do(ctx); err == nil {
				done = append(done, s)
				_, err = fmt.Fprintln(told, "done  "+s.Say)
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Say, err)
			slices.Reverse(done)
			return errors.Join(err, undo(context.WithoutCancel(ctx), done, told))
		}
	}
	return nil
}

// Undo undoes every step that has been done, in reverse order. It goes on if one step cannot be
// undone.
func (p *Plan) Undo(ctx context.Context, told io.Writer) error {
	left, err := p.Left(ctx, true)
	if err != nil {
		return err
	}
	return undo(ctx, left, told)
}

func undo(ctx context.Context, steps []Step, told io.Writer) error {
	var errs []error
	for _, s := range steps {
		err := s.Undo(ctx)
		line := "undone  " + s.Say
		if kept, ok := errors.AsType[*KeptError](err); ok {
			line, err = "kept  "+kept.Why, nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("undo: %s: %w", s.Say, err))
			continue
		}
		if _, err := fmt.Fprintln(told, line); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
