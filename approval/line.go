package approval

import (
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Line returns the call in one line: the command line that it would run, where
// there is one, or else [Wanted].
func Line(p vaglio.Proposal) string {
	if line := commandLine(p); line != "" {
		return clip(line, maxWanted)
	}
	return Wanted(p)
}

// commandLine returns the command line that a call would run, or nothing when
// there is none or more than one. A list of words is written as a shell would
// have to read it.
func commandLine(p vaglio.Proposal) string {
	line := ""
	for _, c := range reading.NewReader(reading.Options{}).Read(p.Call()).Commands {
		switch {
		case c.Doubt || c.Verb:
		case !c.IsLine() || line != "" && c.Text != line:
			return ""
		default:
			line = c.Text
		}
	}
	return line
}
