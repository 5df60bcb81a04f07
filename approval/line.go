package approval

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Line returns the call in one line: the command line that it would run, if there is one,
// else [Wanted].
func Line(p vaglio.Proposal) string {
	if line := commandLine(p); line != "" {
		return clip(line, maxWanted)
	}
	return Wanted(p)
}

// commandLine returns the command line that a call would run, or "" if there is none or
// more than one. A list of words is quoted the way a shell needs it.
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

// clip is [visible.Clip].
func clip(s string, n int) string { return visible.Clip(s, n) }

// quote is [visible.Quote].
func quote(s string, n int) string { return visible.Quote(s, n) }

// oneLine escapes line breaks and everything else that is not printable.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	quoted := strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\\`, `\`)
}
