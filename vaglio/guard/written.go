package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// written gives the rule that a text breaks which the call puts into a file that
// can be run. What only matters where it runs is left to when it runs, and so is
// what is not known to its last word: here a script is written, not run.
func (s *scan) written() *rule {
	for _, w := range s.rd.Written() {
		script := reading.ReadWritten(w, reading.LineOptions(s.g.home, s.g.user, "/", s.t.means))
		sv := &survey{g: s.g, script: script, written: true, t: &trouble{means: s.t.means}}
		for i := range script.Commands {
			c := &script.Commands[i]
			if id := problemRule(script.Problems); id == forkRule {
				return s.g.ruleOf(id)
			}
			if !isCertain(c) {
				continue
			}
			if id := sv.command(c); isLasting(id) {
				s.t.blame(c)
				return s.g.ruleOf(id)
			}
		}
	}
	return nil
}

// isCertain says whether all words of a command of this machine are known, and
// nothing carries it of which nobody knows what it does: a test may.
func isCertain(c *shell.Command) bool {
	guessed := func(via string) bool { return strings.HasSuffix(via, "?") }
	return c.Remote == nil && c.File != "" && !slices.ContainsFunc(c.Via, guessed) && !slices.ContainsFunc(c.Argv, shell.Word.HasUnknown) &&
		!slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.Target.HasUnknown() })
}

// isLasting says whether a rule is about what cannot be had again, or about
// vaglio itself.
func isLasting(id string) bool {
	room, _, _ := strings.Cut(id, ".")
	return slices.Contains([]string{"tree", "disk", "process", "own"}, room)
}
