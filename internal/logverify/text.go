package logverify

import (
	"fmt"
	"strings"

	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/terminal"
)

// Text returns the report as text for a terminal. Text by others is made visible.
func Text(r *history.Report) string {
	var b strings.Builder
	field := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, terminal.OneLine(fmt.Sprintf(format, args...), 1000))
	}
	leaves := terminal.Counted(int(r.Size), "leaf", "leaves")
	if r.Since.IsZero() {
		field("history", "%s", leaves)
	} else {
		field("history", "%s, from %s to %s", leaves, terminal.Stamp(r.Since), terminal.Stamp(r.Until))
	}
	if r.Dropped > 0 {
		field("", "%d of them have their hashes alone", r.Dropped)
	}
	field("tree", "%s", r.Root)
	field("records", "%s with it", terminal.Counted(r.Approvals, "approval agrees", "approvals agree"))
	for _, p := range r.Proved {
		field("checkpoint", "%s agrees with the tree, up to leaf %d", p.Source, p.Size-1)
	}
	if len(r.Proved) == 0 {
		field("checkpoint", "none agrees with the tree; one from a digest would prove it, with --checkpoint")
	}
	b.WriteByte('\n')
	for _, f := range r.Findings {
		b.WriteString("! " + visible.Text(terminal.OneLine(f.Text, 1000)) + ".\n")
	}
	switch n := len(r.Findings) + r.More; {
	case n == 0:
		b.WriteString("Nothing was changed, left out or put in.\n")
	case r.More > 0:
		fmt.Fprintf(&b, "The history was changed: %d findings; the first %d are shown.\n", n, len(r.Findings))
	default:
		fmt.Fprintf(&b, "The history was changed: %s.\n", terminal.Counted(n, "finding", "findings"))
	}
	return b.String()
}
