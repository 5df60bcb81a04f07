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

// ran gives the rule that a program breaks which the call runs.
func (s *scan) ran() *rule {
	for _, p := range s.g.Naming(s.rd) {
		if p.Sure {
			id, _ := s.g.names(p.Text)
			s.t.file, s.t.line = p.File, p.Line
			return s.g.ruleOf(id)
		}
	}
	return nil
}

// Naming gives the programs that the call runs or may run, that it or the session wrote
// and that name what is closed of the gate, or its address, wherever that stands: nobody
// can follow all that programs do with a name. The line is the one that does.
func (g *Guard) Naming(rd *reading.Reading) (all []shell.Ran) {
	for i := range rd.Commands {
		for _, p := range rd.Commands[i].Script.Ran {
			if id, at := g.names(p.Text); id != "" && (p.File == "" || rd.Means.Changed != nil && slices.Contains(rd.Means.Changed(), p.File)) {
				p.Line += at
				all = append(all, p)
			}
		}
	}
	return all
}

// Names says whether a program that holds a text would be denied for what it names.
func (g *Guard) Names(text string) bool {
	return g.itself.Answers(text) || g.mentionsOwn(text)
}

// names gives the rule about a program that holds a text, and how many lines stand
// before the one that breaks it.
func (g *Guard) names(text string) (id string, lines int) {
	if !g.Names(text) {
		return "", 0
	}
	for line := range strings.Lines(text) {
		switch {
		case g.mentionsOwn(line):
			return ownID, lines
		case g.itself.Answers(line):
			return ownCommand, lines
		}
		lines++
	}
	return ownCommand, 0
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
