package guard

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// written returns the rule that is broken by a text that the call puts into a runnable file. Here the script is only written, not run: what matters only
// where it runs, or is not fully known, is checked when it runs.
func (s *scan) written() *rule {
	for _, w := range s.rd.Written() {
		o := reading.LineOptions(s.g.home, s.g.user, "/", s.t.means)
		if rule := s.writes(w.Runs(o), isLasting); rule != nil {
			return rule
		}
		// Nothing is asked when a client runs this, so what matters there must be checked now.
		ungated, _ := reading.ReadUngated(w, o)
		if rule := s.writes(ungated, func(id string) bool { return id != "" }); rule != nil {
			return rule
		}
	}
	return nil
}

// writes returns the rule that is broken by a script that the call writes, if it is one that counts.
func (s *scan) writes(script *shell.Script, counts func(id string) bool) *rule {
	if len(script.Commands) == 0 {
		return nil
	}
	sv := &survey{g: s.g, script: script, written: true, t: &trouble{means: s.t.means, checked: s.t.checked}}
	defer func() { s.t.checked = sv.t.checked }()
	for i := range script.Commands {
		c := &script.Commands[i]
		if id := problemRule(script.Problems); id == forkRule {
			return s.g.ruleOf(id)
		}
		if !isCertain(c) {
			continue
		}
		if id := sv.command(c); counts(id) {
			s.t.blame(c)
			return s.g.ruleOf(id)
		}
	}
	return nil
}

// ran returns the rule that is broken by a program that the call runs.
func (s *scan) ran() *rule {
	for _, p := range s.g.Naming(s.rd) {
		picked := picks.MatchString(p.Text) && stops.MatchString(p.Text)
		if id, _ := s.g.names(&p); p.Sure && !p.Loose && !picked && !s.g.Names(p.Text) {
			s.t.doubts() // it is known what it does, but not to what
		} else if p.Sure {
			s.t.file, s.t.line = p.File, p.Line
			return s.g.ruleOf(id)
		}
	}
	return nil
}

// Naming returns the programs that the call runs or may run, that the call or the session wrote, and that name a closed place of the gate or its address
// anywhere: nobody can trace everything that a program does with a name. The names of its settings count where a program may change any file, and its own
// commands where a program may run them. Line is the offending line.
func (g *Guard) Naming(rd *reading.Reading) (all []shell.Ran) {
	for i := range rd.Commands {
		unnamed := slices.ContainsFunc(rd.Commands[i].Script.Commands, func(c shell.Command) bool {
			return c.Call != nil && slices.ContainsFunc(c.Call.Targets, shell.Word.HasUnknown) && operation.OfCall(c.Call)[0].Verb.Alters()
		})
		for _, p := range rd.Commands[i].Script.Ran {
			p.Unnamed = unnamed || p.Loose && altering.MatchString(p.Text)
			own := p.File == "" || rd.Means.Session != nil && slices.Contains(rd.Means.Session.Changed(), p.File)
			if id, at := g.names(&p); id != "" && own && !g.stood(&p) {
				p.Line += at
				all = append(all, p)
			}
		}
	}
	return all
}

// stood reports whether only lines break a rule that the program had before the session changed its file.
func (g *Guard) stood(p *shell.Ran) bool {
	was, now := map[string]bool{}, *p
	for line := range strings.Lines(p.Was) {
		was[line] = true
	}
	now.Text = strings.Join(slices.DeleteFunc(slices.Collect(strings.Lines(p.Text)), func(line string) bool { return was[line] }), "")
	id, _ := g.names(&now)
	return p.Was != "" && id == ""
}

// Names reports whether a program with this text would be denied for what it names.
func (g *Guard) Names(text string) bool {
	return g.itself.Answers(text) || g.mentionsOwn(text)
}

// altering matches a name that in most languages means that a file is changed.
var altering = regexp.MustCompile(`(?i)writ|sav|delet|unlink|renam|mov|copy|copi|replac|truncat|append|creat|fopen|open_out|spit|dest|text *=|filename|ensure`)

// sets reports whether a text names one of the files that install the hook, in one word or several.
func (g *Guard) sets(text string) bool {
	return slices.ContainsFunc(g.own, func(p ownPlace) bool {
		return p.rule == ownSettings && place.Mentions(text, path.Base(p.path)) && place.Mentions(text, path.Base(path.Dir(p.path)))
	})
}

// names returns the rule that a program breaks, and how many lines precede the one that breaks it.
func (g *Guard) names(p *shell.Ran) (id string, lines int) {
	sets := p.Sure && p.Unnamed && g.sets(p.Text)
	acts := sync.OnceValue(func() bool { return g.acts(p.Text) })
	for line := range strings.Lines(p.Text) {
		if id := g.namesIn(line, p, sets, acts); id != "" {
			return id, lines
		}
		lines++
	}
	if !p.Inline && g.Names(p.Text) { // over several lines
		return ownCommand, 0
	}
	return "", 0
}

// namesIn is names for one line; sets says that the settings count, acts is of the whole program.
func (g *Guard) namesIn(line string, p *shell.Ran, sets bool, acts func() bool) string {
	switch {
	case p.Sure && g.governs(line, acts):
		return ownCommand
	case g.joinsOwn(line):
		return ownID
	case p.Inline: // its words are read as commands
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

// joinsOwn reports whether a line of a program joins the home, by whatever name, with the rest of a closed path: homedir() * "/.token", $ENV{HOME}/.token.
func (g *Guard) joinsOwn(line string) bool {
	return slices.ContainsFunc(g.inHome, func(rest string) bool {
		at := strings.Index(line, rest)
		return at > 0 && place.Mentions(line[at:], rest) && joined.MatchString(line[:at])
	})
}

// joined matches a name of the home, and the marks that join it with what follows.
var joined = regexp.MustCompile(`(?i)home\w*\W{1,10}$`)

// quoted matches a text in a program that may be a command or a word of one.
var quoted = regexp.MustCompile("[\"'`]([\\w./~ -]+)[\"'`]")

// stops matches a call whose name says that it stops a process or attaches to it.
var stops = regexp.MustCompile(`(?i)(?:kill|terminate|suspend|signal|ptrace|destroy)\w*\(`)

// picks finds the gate's name held against another text, or looked for by it.
var picks = regexp.MustCompile("(?i)(?:[=!]=|=~|\\b(?:in|eq|like)|(?:with|includes?|contains|match\\w*|equals|find\\w*|name|command)\\W{1,3})\\s*" +
	"[\"'`/]vaglio[\"'`/]|[\"'`/]vaglio[\"'`/]\\s*(?:[=!]=|=~|\\b(?:in|eq)\\b)")

// runs matches a call whose name says that it runs a program.
var runs = regexp.MustCompile(`(?i)(?:system|exec|process|spawn|run|start|popen|shell|command|cmd)\w*[!(\s]`)

// answers reports whether a quoted text is an answer to the gate.
func (g *Guard) answers(m []string) bool {
	words := strings.Fields(strings.TrimPrefix(m[1], "vaglio "))
	return len(words) > 0 && len(words) < 3 && g.base.Nouns["admin-word"][words[0]]
}

// acts reports whether a program contains an answer or something that stops processes.
func (g *Guard) acts(program string) bool {
	return stops.MatchString(program) || runs.MatchString(program) && slices.ContainsFunc(quoted.FindAllStringSubmatch(program, -1), g.answers)
}

// governs reports whether a line of a program that acts contains vaglio's own program in a text, or stops vaglio by its PID.
func (g *Guard) governs(line string, acts func() bool) bool {
	its := func(m []string) bool {
		return path.Base(m[1]) == "vaglio" || strings.HasPrefix(m[1], "vaglio ") && g.answers(m)
	}
	if strings.Contains(line, "vaglio") && slices.ContainsFunc(quoted.FindAllStringSubmatch(line, -1), its) {
		return acts()
	}
	return slices.ContainsFunc(g.itself.Processes, func(n int) bool { return place.Mentions(line, strconv.Itoa(n)) && stops.MatchString(line) })
}

// isCertain reports whether all words of a local command are known, and it is not run through something unknown, such as a test.
func isCertain(c *shell.Command) bool {
	guessed := func(via string) bool { return strings.HasSuffix(via, "?") }
	return c.Remote == nil && c.File != "" && !slices.ContainsFunc(c.Via, guessed) && !slices.ContainsFunc(c.Argv, shell.Word.HasUnknown) &&
		!slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.Target.HasUnknown() })
}

// isLasting reports whether a rule is about something irretrievable, or about vaglio itself.
func isLasting(id string) bool {
	room, _, _ := strings.Cut(id, ".")
	return slices.Contains([]string{"tree", "disk", "process", "own"}, room)
}
