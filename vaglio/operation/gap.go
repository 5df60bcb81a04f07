package operation

import "github.com/metnos/vaglio/vaglio/shell"

// GapKind says why something could not be read.
type GapKind string

// The kinds of gaps.
const (
	// GapUnknownProgram is a program that is not known.
	GapUnknownProgram GapKind = "unknown program"
	// GapUnknownName is a program or an object whose name is not known.
	GapUnknownName GapKind = "unknown name"
	// GapUnread is text that would run but was not read.
	GapUnread GapKind = "unread"
	// GapBudget is text beyond the end of the budget.
	GapBudget GapKind = "budget"
)

// Gap is something that could not be read. It is never a pass.
type Gap struct {
	Kind GapKind
	// What describes what was not read: a program, a file, a text.
	What string
	// Span is its place in the source.
	Span shell.Span
}
