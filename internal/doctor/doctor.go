// Package doctor finds out what keeps a person from being asked, and what helps: from outside a
// daemon, from within it, and where none is running.
package doctor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/store/bolt"
)

// Doctor examines an instance. It changes nothing and shows no secrets.
type Doctor struct {
	// Version is the version of this build.
	Version string
	// DataDir and AuditDir are the folders of the data and of the audit log, Listen is the
	// address of the API.
	DataDir, AuditDir, Listen string
	// Options are the options to open the store with.
	Options bolt.Options
	// Telegram and Slack say whether the current settings turn them on.
	Telegram, Slack bool
	Chart
}

// path returns the path of a file in the data folder.
func (d *Doctor) path(file string) string { return filepath.Join(d.DataDir, file) }

// Chart is what has been found so far.
type Chart struct {
	Findings []approval.Finding `json:"findings"`
}

// Found adds a finding about a subject, and what helps if something is wrong.
func (c *Chart) Found(subject string, g approval.Grade, text, remedy string) {
	c.Findings = append(c.Findings, approval.Finding{Subject: subject, Grade: g, Text: text, Remedy: remedy})
}

// Boundary notes whether agents can act as the user who runs the daemon. trial says what that
// means, and is empty if they cannot.
func (c *Chart) Boundary(trial string) {
	const subject = "boundary"
	if trial != "" {
		c.Found(subject, approval.Noted, trial+" 'sudo vaglio setup' gives it a user of its own.", "")
		return
	}
	c.Found(subject, approval.Fine, "Agents have users of their own, and cannot reach the owner's socket.", "")
}

// Wrong returns the number of problems.
func (c *Chart) Wrong() int {
	n := 0
	for _, f := range c.Findings {
		if f.Grade == approval.Wrong {
			n++
		}
	}
	return n
}

// Write writes one line for each finding, with the remedy below each problem.
func Write(w io.Writer, all []approval.Finding) error {
	var b strings.Builder
	for _, f := range all {
		label := fmt.Sprintf("%-8s %-17s ", f.Grade, f.Subject)
		for line := range strings.SplitSeq(visible.Text(f.Text), "\n") {
			b.WriteString(label + line + "\n")
			label = strings.Repeat(" ", len(label))
		}
		if f.Remedy != "" {
			b.WriteString(strings.Repeat(" ", 27) + "→ " + visible.Text(f.Remedy) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// RolledBackText is what the readiness probe tells everybody, and the doctor the owner.
const RolledBackText = "The history is not the one that was signed last: an older copy of the store was put back, or it was rewritten."

// RolledBack reports whether the data folder holds a checkpoint that was set aside and that nobody
// has dealt with.
func RolledBack(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, datafolder.LostFile))
	return err == nil
}

// RolledBackRemedy returns what helps.
func RolledBackRemedy(dir string) string {
	return "'vaglio log verify' shows what is lost. If you put the older store back yourself, remove " + filepath.Join(dir, datafolder.LostFile) + "."
}
