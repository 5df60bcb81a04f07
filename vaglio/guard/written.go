package guard

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/operation"
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
		picked := picks.MatchString(p.Text) && stops.MatchString(p.Text)
		if id, _ := s.g.names(&p); p.Sure && !p.Loose && !picked && !s.g.Names(p.Text) {
			s.t.doubts() // what it does is known, but not to what
		} else if p.Sure {
			s.t.file, s.t.line = p.File, p.Line
			return s.g.ruleOf(id)
		}
	}
	return nil
}

// Naming gives the programs that the call runs or may run, that it or the session wrote
// and that name what is closed of the gate, or its address, wherever that stands: nobody
// can follow all that programs do with a name. So it is with its settings, where a program
// may change any file, and with its own commands where one may run them. The line is the
// one that does.
func (g *Guard) Naming(rd *reading.Reading) (all []shell.Ran) {
	for i := range rd.Commands {
		unnamed := slices.ContainsFunc(rd.Commands[i].Script.Commands, func(c shell.Command) bool {
			return c.Call != nil && slices.ContainsFunc(c.Call.Targets, shell.Word.HasUnknown) && operation.OfCall(c.Call)[0].Verb.Alters()
		})
		for _, p := range rd.Commands[i].Script.Ran {
			p.Unnamed = unnamed || p.Loose && altering.MatchString(p.Text)
			if id, at := g.names(&p); id != "" && (p.File == "" || rd.Means.Changed != nil && slices.Contains(rd.Means.Changed(), p.File)) {
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

// altering finds a name that tells, in most languages, that a file becomes another one.
var altering = regexp.MustCompile(`(?i)writ|sav|delet|unlink|renam|mov|copy|copi|replac|truncat|append|creat|fopen|open_out|spit|dest|text *=|filename|ensure`)

// sets says whether a text names one of the files that install the hook, in one word or
// in several.
func (g *Guard) sets(text string) bool {
	return slices.ContainsFunc(g.own, func(p ownPlace) bool {
		return p.rule == ownSettings && place.Mentions(text, path.Base(p.path)) && place.Mentions(text, path.Base(path.Dir(p.path)))
	})
}

// names gives the rule about a program, and how many lines stand before the one that
// breaks it.
func (g *Guard) names(p *shell.Ran) (id string, lines int) {
	sets := p.Sure && p.Unnamed && g.sets(p.Text)
	for line := range strings.Lines(p.Text) {
		if id := g.namesIn(line, p, sets); id != "" {
			return id, lines
		}
		lines++
	}
	if !p.Inline && g.Names(p.Text) { // over several lines
		return ownCommand, 0
	}
	return "", 0
}

// namesIn is names for one line; sets says that the settings count.
func (g *Guard) namesIn(line string, p *shell.Ran, sets bool) string {
	switch {
	case p.Sure && g.governs(line, p.Text):
		return ownCommand
	case p.Inline: // its words are read
		return ""
	case g.mentionsOwn(line):
		return ownID
	case g.itself.Answers(line):
		return ownCommand
	case sets && g.sets(line):
		return ownSettings
	default:
		return ""
	}
}

// quoted finds a text in a program that may be a command or a word of one.
var quoted = regexp.MustCompile("[\"'`]([\\w./~ -]+)[\"'`]")

// stops finds a call by whose name a process is stopped or taken hold of.
var stops = regexp.MustCompile(`(?i)(?:kill|terminate|suspend|signal|ptrace|destroy)\w*\(`)

// picks finds the gate's name held against another text, or looked for by it.
var picks = regexp.MustCompile("(?i)(?:[=!]=|=~|\\b(?:in|eq|like)|(?:with|includes?|contains|match\\w*|equals|find\\w*|name|command)\\W{1,3})\\s*" +
	"[\"'`/]vaglio[\"'`/]|[\"'`/]vaglio[\"'`/]\\s*(?:[=!]=|=~|\\b(?:in|eq)\\b)")

// runs finds a call by whose name a program is run.
var runs = regexp.MustCompile(`(?i)(?:system|exec|process|spawn|run|start|popen|shell|command|cmd)\w*[!(\s]`)

// governs says whether a line of a program holds vaglio's own program in a text, and the
// program an answer or what stops processes; or whether it stops vaglio's by its number.
func (g *Guard) governs(line, program string) bool {
	answers := func(m []string) bool {
		words := strings.Fields(strings.TrimPrefix(m[1], "vaglio "))
		return len(words) > 0 && len(words) < 3 && g.base.Nouns["admin-word"][words[0]]
	}
	its := func(m []string) bool {
		return path.Base(m[1]) == "vaglio" || strings.HasPrefix(m[1], "vaglio ") && answers(m)
	}
	if strings.Contains(line, "vaglio") && slices.ContainsFunc(quoted.FindAllStringSubmatch(line, -1), its) {
		return stops.MatchString(program) || runs.MatchString(program) && slices.ContainsFunc(quoted.FindAllStringSubmatch(program, -1), answers)
	}
	return slices.ContainsFunc(g.itself.Processes, func(n int) bool { return place.Mentions(line, strconv.Itoa(n)) && stops.MatchString(line) })
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
