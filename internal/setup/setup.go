// Package setup gives the gate a user of its own on a machine: the user and its
// folders, the program where no agent can write, a unit of systemd, a socket that a
// group reaches, and rights to read where agents work. What it does is a list of
// steps, each of which says what it changes, sees whether that is so, does it and
// undoes it.
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
	// Notes are what the operator should know before it.
	Notes []string
	steps []Step
}

// Step is one change.
type Step struct {
	// Say says what it does, such as "make the group vaglio-agents".
	Say string
	// Done sees whether it is so already.
	Done func() (bool, error)
	// Do does it, and Undo takes it back, also in a later run. A [*KeptError] says
	// what of it had to stay.
	Do, Undo func(context.Context) error
}

// KeptError says what an undoing left, and why.
type KeptError struct{ Why string }

func (e *KeptError) Error() string { return e.Why }

// Left returns the steps that there are still to do, or, of an undoing, to undo.
func (p *Plan) Left(undo bool) ([]Step, error) {
	var left []Step
	for _, s := range p.steps {
		done, err := s.Done()
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

// Show writes the steps that there are still to do, or to undo.
func (p *Plan) Show(w io.Writer, undo bool) error {
	left, err := p.Left(undo)
	if err != nil {
		return err
	}
	var b strings.Builder
	head := "Steps:"
	switch {
	case len(left) == 0 && undo:
		head = "Nothing is set up here."
	case len(left) == 0:
		head = "Everything is set up already."
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

// Apply does every step that is still to do. If one fails, those of this run are
// undone, the last first.
func (p *Plan) Apply(ctx context.Context, told io.Writer) error {
	var done []Step
	for _, s := range p.steps {
		is, err := s.Done()
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

// Undo undoes every step that is done, the last first. One that cannot be undone
// does not keep the others.
func (p *Plan) Undo(ctx context.Context, told io.Writer) error {
	left, err := p.Left(true)
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
