package effects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// helpOnly reports whether a call only asks a known program for help.
func (c *command) helpOnly(name string) ([]Effect, bool) {
	if wordclass.Is("interpreter", wordclass.Bare(name)) || c.r.judge.tables.ofClass("runs-others", name) {
		return nil, false
	}
	if c.has("--dry-run", "--dryrun", "--dry_run", "--just-print", "--what-if", "--whatif", "-WhatIf") {
		return reads(), true
	}
	if c.has("--help") && (!c.Wrapper || name == "crontab" || name == "at" || name == "batch") || len(c.operands) == 0 && len(c.all) == 1 &&
		c.has("--version", "-V", "-version") {
		return reads(), true
	}
	return nil, false
}

// finish turns an outcome into effects.
func (c *command) finish(o commands.Outcome) []Effect {
	c.leave(o.Leaves)
	c.why = o.Why
	if o.Rule != "" {
		return c.byRule(o)
	}
	e := effectOf(o)
	target := c.object()
	if e.Target = target; target == "" {
		e.Target = strings.TrimSpace(c.name + " " + join(c.all))
	}
	e.Why = c.whyOf(o.Vague, e.Kind, target)
	switch {
	case e.Kind == KindInstall && c.box != "":
		return own(say("installs packages in the container"))
	case e.Kind == KindRead:
		return c.disclosures([]Effect{e})
	case e.Kind == KindUnknown && o.Why == "":
		e.Why = say("does something with %s that is not known: %s", c.name, c.name+" "+join(c.all))
	case e.Kind == KindOverwrite && e.Counts() == ReachWorkspace:
		return append(c.written(), e)
	case o.Here:
		return c.here(e)
	}
	return []Effect{e}
}

// whyOf returns what the line's message says, the words themselves if they tell more, or the kind.
func (c *command) whyOf(vague bool, kind Kind, target string) wording.Sentence {
	if vague {
		if said := c.spoken(); said != nil {
			return said
		}
	}
	if said := c.said(target); said != nil {
		return said
	}
	return plainly(kind, strings.TrimSpace(c.name+" "+join(c.all)))
}

// byRule applies the rule that a line names, or continues with the lines that it refers to.
func (c *command) byRule(o commands.Outcome) []Effect {
	if strings.HasPrefix(o.Rule, "(") {
		return c.shared(o.Rule)
	}
	about, with := o.Given(&c.Parsed, c.took)
	c.about, c.with = c.at(about), c.at(with)
	if section, ok := strings.CutPrefix(o.Rule, "<"); ok {
		return c.eachLine(section)
	}
	if out := c.r.judge.rules[o.Rule](c); len(out) > 0 {
		return out
	}
	return reads()
}

// said returns the message of the line, in its form for one thing or for several.
func (c *command) said(target string) wording.Sentence {
	things := texts(c.operands[min(c.took, len(c.operands)):])
	message, several := wording.Number(c.why, things)
	said := wording.Worded(message, func(of string) string { return c.filled(of, target) })
	if several {
		said = said.About(target, wording.List(things))
	}
	return said
}

// filled returns what a placeholder of a table's message stands for, see [wording.Template].
func (c *command) filled(of, target string) string {
	if of != "" && of[0] >= '0' && of[0] <= '9' {
		return c.operand(c.took + int(of[0]-'0'))
	}
	if said, ok := map[string]string{
		"": target, "#": c.name, "!": c.Found, "+": c.name + " " + c.rest(0), "&": c.rest(0), "*": strings.TrimSpace(c.name + " " + join(c.all)),
		"=": c.rest(c.took), "^": join(c.operands[:min(c.took, len(c.operands))]), "|": c.brought(), "@": c.User,
	}[of]; ok {
		return said
	}
	return join(c.values(strings.Split(of, "|")...))
}

// object returns what a command acts on: the operands after those that the line matched, or else the values of its options.
func (c *command) object() string {
	return cmp.Or(c.rest(c.took), join(slices.DeleteFunc(c.valued(), func(a arg) bool { return wordclass.Is("answer", a.text) })))
}

// fact reports whether something holds for a command, or for some of its words, that a table line asks for in addition.
type fact func(c *command, of []arg) bool

// wordFacts hold for words if they hold for one of them, which messages may name.
func wordFacts() map[string]fact {
	of := func(holds func(c *command, a arg) bool) fact {
		return func(c *command, words []arg) bool {
			i := slices.IndexFunc(words, func(a arg) bool { return holds(c, a) })
			if i >= 0 {
				c.Found = words[i].text
			}
			return i >= 0
		}
	}
	at := func(p where) fact {
		return of(func(c *command, a arg) bool { return c.r.world.placeOf(a, c.cwd) == p })
	}
	return map[string]fact{
		"secret":         at(placeSecret),
		"secret-filter":  of(func(c *command, a arg) bool { return !strings.HasPrefix(a.text, "!") && c.secret(a) }),
		"temporary":      at(placeTemp),
		"workspace":      at(placeWorkspace),
		"system":         at(placeSystem),
		"sed-acts":       of(func(_ *command, a arg) bool { return writesByPath.MatchString(a.text) || runsSubstitution(a.text) }),
		"writes-by-path": of(func(_ *command, a arg) bool { return writesByPath.MatchString(a.text) }),
		"known":          of(func(_ *command, a arg) bool { return a.known }),
		"empty":          of(func(_ *command, a arg) bool { return a.known && a.text == "" }),
		"url":            of(func(_ *command, a arg) bool { return strings.Contains(a.text, "://") }),
		"abroad":         of(func(_ *command, a arg) bool { return strings.Contains(a.text, "://") && !a.local() }),
		"far":            of(func(_ *command, a arg) bool { return urls.IsFar(a.text) }),
		"near":           of(func(_ *command, a arg) bool { return startsAny(a.text, ".", "/") }),
		"number":         of(func(_ *command, a arg) bool { return a.text != "" && strings.Trim(a.text, "0123456789.") == "" }),
		"versioned":      of(func(_ *command, a arg) bool { return strings.Contains(a.text, "@") }),
		"code-outside":   of((*command).codeOutside),
		"tells-env":      of(func(c *command, a arg) bool { return c.r.tellsEnv(a.text) }),
		"secret-name":    of(func(c *command, a arg) bool { return c.r.secretName(a.text) }),
		"setting":        of(func(_ *command, a arg) bool { return a.known && settingName.MatchString(a.text) }),
		"masks":          of(func(_ *command, a arg) bool { return masks(a.text) }),
		"reads":          of((*command).namesReading),
		"beyond":         of((*command).beyond),
		"read": of(func(c *command, a arg) bool {
			_, read := c.content(a.text)
			return read
		}),
		"foreign": of(func(_ *command, a arg) bool {
			archive, _ := localArchive(a.text)
			return !archive && foreignSource(a.text) && !strings.Contains(a.text, "download.pytorch.org")
		}),
		"stray": of(func(_ *command, a arg) bool {
			_, stray := localArchive(a.text)
			return stray
		}),
		"strange-channel": of(func(c *command, a arg) bool {
			name, _, _ := strings.Cut(a.text, "/")
			return !c.r.judge.tables.ofClass("known-channel", name) && !urls.Local(a.text)
		}),
	}
}

// commandFacts hold for a command, or for all of some words.
func commandFacts() map[string]fact {
	all := func(holds func(c *command, a arg) bool) fact {
		return func(c *command, words []arg) bool {
			return len(words) > 0 && !slices.ContainsFunc(words, func(a arg) bool { return !holds(c, a) })
		}
	}
	inWorkspace := all(func(c *command, a arg) bool { return c.r.world.placeOf(literal(a.text+"/x"), c.cwd) == placeWorkspace })
	return map[string]fact{
		"placed": func(c *command, _ []arg) bool {
			return inWorkspace(c, c.variables(wordclass.Of("install-variable")...))
		},
		"cloned":   func(c *command, _ []arg) bool { return c.r.worksOnForeign(c.invocation, true) },
		"filtered": func(c *command, _ []arg) bool { return c.filtered() },
		"own-jobs": func(c *command, _ []arg) bool { // what the same shell started
			return c.name == "kill" && len(c.operands) > 0 && !slices.ContainsFunc(c.operands, foreignProcess)
		},
		"own-processes": func(c *command, _ []arg) bool { return c.ownProcesses() },
		"own-database":  func(c *command, _ []arg) bool { return c.r.database.here == ReachWorkspace || c.r.database.fixed },
		"own-boxes":     func(c *command, named []arg) bool { return c.ownBoxes(named) },
		"own-server":    func(c *command, _ []arg) bool { return c.ownServer() },
		"wrapped":       func(c *command, _ []arg) bool { return c.Wrapper },
		"fetched":       (*command).given,
		"root":          func(c *command, _ []arg) bool { return c.Privileged && c.User == "" },
		"continued":     func(c *command, _ []arg) bool { return strings.HasPrefix(c.stdin.text.text, "$("+c.name+")") },
		"other-user":    func(c *command, _ []arg) bool { return c.User != "" },
		"testing":       func(c *command, _ []arg) bool { return c.testing() },
		"dotenv":        func(c *command, _ []arg) bool { return c.r.present(c.invocation, ".env") },
		"emulated":      func(c *command, _ []arg) bool { return c.local() },
		"aliased": func(c *command, _ []arg) bool { // what the first operand stands for is read by itself
			return slices.ContainsFunc(c.values("-c"), func(a arg) bool { return strings.HasPrefix(a.text, "alias."+c.operand(0)+"=") })
		},
		"bulk": func(c *command, _ []arg) bool { // it works on whatever another command lists, rather than only on what this call started
			return (c.r.listed || !c.r.started) && slices.ContainsFunc(c.operands, func(a arg) bool { return !a.known && len(a.from) > 0 })
		},
		"told": func(c *command, _ []arg) bool {
			text, all := c.input()
			return all && text.text != ""
		},
		"brought":          func(c *command, _ []arg) bool { return c.brought() != "" },
		"sends":            func(c *command, _ []arg) bool { return c.sendsFile() },
		"production":       func(c *command, _ []arg) bool { return c.production() },
		"unknown-database": func(c *command, _ []arg) bool { return c.unknownDatabase() },
		"file-database":    func(c *command, _ []arg) bool { return c.fileDatabase() },
		"hoard":            (*command).hoard,
		"keeps-nothing":    all((*command).keepsNothing),
		"outside":          (*command).outside,
		"plain":            func(c *command, words []arg) bool { return c.r.onlyPlain(words) },
		"inside":           all(func(c *command, a arg) bool { return c.r.world.inside(c.r.world.clean(a.text, c.cwd)) }),
		"own-files":        all((*command).ownFile),
		"own-refs":         all((*command).ownRef),
		"taken-ref":        all(func(c *command, a arg) bool { return c.r.present(c.invocation, c.ref(a.text)) }),
		"rebuilt": all(func(c *command, a arg) bool {
			return a.known && c.r.judge.places.Rebuilt(c.r.relative(c.r.world.clean(a.text, c.cwd)))
		}),
		"local": func(c *command, words []arg) bool {
			if words == nil {
				return c.allLocal()
			}
			return slices.ContainsFunc(words, arg.local)
		},
	}
}

// asked answers a fact about some words of the command.
func (c *command) asked(name string, of []commands.Spot) bool {
	if class, ok := strings.CutPrefix(name, commands.Says); ok {
		return c.says(class)
	}
	if of == nil {
		return c.r.judge.facts[name](c, nil)
	}
	return c.r.judge.facts[name](c, c.at(of))
}

// at returns the words at some spots.
func (c *command) at(of []commands.Spot) []arg {
	return append([]arg{}, lists.Each(of, func(s commands.Spot) arg { return c.all[s.Word].slice(s.Cut) })...) // not nil, which would be all
}

// says reports whether the operands, the values of options or the input contain a word of a class.
func (c *command) says(class string) bool {
	text := texts(slices.Concat(c.operands, c.valued()))
	if input, all := c.input(); all {
		text = append(text, input.text)
	}
	return c.r.judge.tables.inText(class, " "+strings.Join(strings.Fields(strings.ToLower(strings.Join(text, " "))), " ")+" ") != nil
}

// leave notes for the commands that follow what a table line says about this one.
func (c *command) leave(marks []string) {
	if len(marks) == 0 {
		return
	}
	notes := map[string]*bool{"cloned": &c.r.clones, "rewired": &c.r.rewired, "listed": &c.r.listed, "started": &c.r.started, "unpacks": &c.r.unpacks}
	for _, mark := range marks {
		if note := notes[mark]; note != nil {
			*note = true
			c.r.unpacks = c.r.unpacks || mark == "cloned"
			for i := c.took; i < len(c.operands) && mark == "rewired"; i++ {
				c.r.tell(c.invocation, vaglio.Wrote, literal(path.Join(".git/remotes", c.operands[i].text)))
			}
		} else {
			c.noted(mark)
		}
	}
}

// noted is leave for a mark that says more than that something was done.
func (c *command) noted(mark string) {
	switch mark {
	case "alone": // nothing of the project runs, which is for those who ask for that
	case "serves":
		c.serves()
	case "switched":
		c.switched()
	case "branched":
		c.branched()
	case "renamed": // What a branch holds that is named like one of the session's may be nowhere else.
		c.r.tell(c.invocation, vaglio.Moved, literal(".git/refs"))
	case "repository":
		c.r.repository = c.repository()
	case "brings":
		c.r.tell(c.invocation, vaglio.Brought, literal(c.cwd))
	case "makes":
		c.makes()
	case "fetched":
		c.keeps(c.operands)
	case "downloads":
		c.downloads()
	default:
		file, _ := strings.CutPrefix(mark, commands.Sets)
		c.r.tell(c.invocation, vaglio.Wrote, literal(file))
	}
}

// eachLine judges the lines of some words, of the files that they name, or else of the input, each as the words of a section.
func (c *command) eachLine(section string) []Effect {
	told := texts(c.about)
	for _, f := range c.with {
		text, ok := c.content(f.text)
		if !ok || !f.known {
			return unknown(c.said(c.object()), c.name)
		}
		told = append(told, text)
	}
	if text, all := c.input(); len(told) == 0 && all {
		told = append(told, text.text)
	}
	joined := strings.NewReplacer(" && ", "\n", " || ", "\n", " & ", "\n").Replace(strings.Join(told, "\n"))
	lines := strings.FieldsFunc(joined, func(r rune) bool { return r == '\n' || r == ';' })
	if len(lines) == 0 {
		return unknown(c.said(c.object()), c.name)
	}
	var out []Effect
	inner := *c
	inner.invocation = c.inner(c.name, nil)
	inner.stdin = stdin{} // so that a line does not read the lines again
	for _, l := range lines {
		words := lists.Each(strings.Fields(l), func(f string) arg { return literal(strings.Trim(f, "'\"")) })
		switch {
		case len(out) >= maxCommands:
			return append(out, unknown(say("runs more commands than are read"), c.name)...)
		case len(words) > 0:
			out = append(out, inner.rows(section, words...)...)
		}
	}
	return c.transferred(section, lines, out)
}

// rows judges words that are not a shell command but have a section of their own: a setting, a line of another language.
func (c *command) rows(section string, words ...arg) []Effect {
	inner := *c.invocation
	inner.args = words
	return c.r.tabled(&inner, section, c.r.judge.tables.Judged[section])
}

// rule returns the effects of a command that a table line cannot express. No effects mean that the command only reads.
type rule func(c *command) []Effect

// allRules returns the rules that the tables name.
func allRules() map[string]rule {
	return map[string]rule{
		"operations": operationsRule, // what the tables say it does, and to what
		"task": func(c *command) []Effect { // a task of the project, by its name
			return c.task(path.Base(c.operand(c.took)), c.said(c.rest(c.took)))
		},
		"verb":     func(c *command) []Effect { return c.byVerb(0, 6) },
		"verbAny1": func(c *command) []Effect { return c.byVerb(1, 6) },
		"verbAt2":  func(c *command) []Effect { return c.byVerb(1, 2) },

		"gitCheckout": gitCheckout, "gitConfig": gitConfig, "gitFetch": gitFetch, "gitPush": gitPush,
		"gitSetting": func(c *command) []Effect { return c.gitSetting(c.operand(c.took-2), c.operands[c.took-1]) },
		"gitModule":  func(c *command) []Effect { return c.gitSetting("submodule.*.url", c.operands[c.took-1]) },
		"gitUnset":   func(c *command) []Effect { return c.gitSetting(c.operand(c.took-1), arg{}) },

		"request": requests("", false), "GET": requests("GET", false), "POST": requests("POST", false), "PUT": requests("PUT", false),
		"QUOTE": requests("QUOTE", false), "saved": requests("GET", true),
		"httpie": httpieRule,

		"compose": composeRule, "dockerRun": dockerRun, "kubeExec": kubeExec, "stored": stored,

		"client": (*command).client, "mongo": mongoRule,

		"execTool": execTool, "npmInit": npmInit, "npx": npxRule,
		"script": scriptRule, "scriptOrTool": (*command).scriptOrTool, "tasks": tasksRule,

		"carried": (*command).carriedText,
	}
}
