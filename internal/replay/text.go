package replay

import (
	"fmt"
	"strings"

	"github.com/metnos/vaglio/internal/terminal"
)

// mostGroups is how many groups the text lists, mostUnread how many places.
const (
	mostGroups = 20
	mostUnread = 5
)

// Text returns the result as text for a terminal.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s in %s", terminal.Counted(r.Calls, "call", "calls"), terminal.Counted(r.Sessions, "session", "sessions"),
		terminal.Counted(r.Files, "file", "files"))
	if !r.From.IsZero() {
		fmt.Fprintf(&b, ", from %s to %s", terminal.Stamp(r.From), terminal.Stamp(r.To))
	}
	b.WriteString("\n")
	if r.Older > 0 {
		fmt.Fprintf(&b, "Left out as older: %s, the last from %s; --days takes them in\n", terminal.Counted(r.Older, "call", "calls"), terminal.Stamp(r.Newest))
	}
	if r.Unread > 0 {
		fmt.Fprintf(&b, "%s could not be read, and are not among them:\n", terminal.Counted(r.Unread, "line or file", "lines or files"))
		for i := range r.UnreadAt {
			if i == mostUnread {
				fmt.Fprintf(&b, "  and %d more; --json tells all\n", r.Unread-mostUnread)
				break
			}
			fmt.Fprintf(&b, "  %s: %s\n", r.UnreadAt[i].Place(), r.UnreadAt[i].Why)
		}
	}
	fmt.Fprintf(&b, "\n%7d would pass\n%7d would be asked\n%7d would be denied for good\n", r.Passed, r.Asked, r.Denied)
	fmt.Fprintf(&b, "%7d of the asked and the denied ran then\n%7d were refused then, and would pass\n", r.Ran, r.Missed)
	for i := range r.Groups {
		g := &r.Groups[i]
		if i == mostGroups {
			fmt.Fprintf(&b, "\nand %d more kinds; --json tells all\n", len(r.Groups)-mostGroups)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s\n  %s, %d ran\n  such as   %s\n  because   %s\n", g.Outcome, g.About, terminal.Counted(g.Calls, "call", "calls"), g.Ran,
			g.Example, terminal.OneLine(g.Reason, longest))
	}
	if r.Proposal.Diff != "" {
		fmt.Fprintf(&b, "\nWith this in the policy %d of the %d would not be asked. Add only what you know:\n\n%s", r.Proposal.Spares, r.Asked, r.Proposal.Diff)
	}
	return b.String()
}
