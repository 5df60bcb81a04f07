package effects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/shell"
)

// fact tells whether something holds of a command, or of some of its words,
// that a line of its table asks for besides them.
type fact func(c *call, of []arg) bool

// allFacts are what the tables may ask, by the names that they know.
func allFacts() map[string]fact {
	all := wordFacts()
	maps.Copy(all, commandFacts())
	return all
}

// wordFacts hold of some words when they hold of one of them, which messages may
// name.
func wordFacts() map[string]fact {
	of := func(holds func(c *call, a arg) bool) fact {
		return func(c *call, words []arg) bool {
			i := slices.IndexFunc(words, func(a arg) bool { return holds(c, a) })
			if i >= 0 {
				c.Found = words[i].text
			}
			return i >= 0
		}
	}
	at := func(p where) fact {
		return of(func(c *call, a arg) bool { return c.r.world.placeOf(a, c.cwd) == p })
	}
	return map[string]fact{
		"secret":      at(placeSecret),
		"temporary":   at(placeTemp),
		"workspace":   at(placeWorkspace),
		"known":       of(func(_ *call, a arg) bool { return a.known }),
		"url":         of(func(_ *call, a arg) bool { return strings.Contains(a.text, "://") }),
		"abroad":      of(func(_ *call, a arg) bool { return strings.Contains(a.text, "://") && !localURL(a.text) }),
		"far":         of(func(_ *call, a arg) bool { return strings.Contains(a.text, "://") || remotePath(a.text) }),
		"near":        of(func(_ *call, a arg) bool { return startsAny(a.text, ".", "/") }),
		"number":      of(func(_ *call, a arg) bool { return a.text != "" && strings.Trim(a.text, "0123456789.") == "" }),
		"versioned":   of(func(_ *call, a arg) bool { return strings.Contains(a.text, "@") }),
		"secret-name": of(func(c *call, a arg) bool { return c.r.secretName(a.text) }),
		"reads":       of((*call).namesReading),
		"foreign": of(func(_ *call, a arg) bool {
			archive, _ := localArchive(a.text)
			return !archive && foreignSource(a.text) && !strings.Contains(a.text, "download.pytorch.org")
		}),
		"stray": of(func(_ *call, a arg) bool {
			_, stray := localArchive(a.text)
			return stray
		}),
		"strange-channel": of(func(c *call, a arg) bool {
			name, _, _ := strings.Cut(a.text, "/")
			return !c.r.judge.tables.ofClass("known-channel", name) && !localURL(a.text)
		}),
	}
}

// commandFacts hold of a command, or of all of some words.
func commandFacts() map[string]fact {
	all := func(holds func(c *call, a arg) bool) fact {
		return func(c *call, words []arg) bool {
			return len(words) > 0 && !slices.ContainsFunc(words, func(a arg) bool { return !holds(c, a) })
		}
	}
	return map[string]fact{
		"cloned":   func(c *call, _ []arg) bool { return c.r.cloned },
		"wrapped":  func(c *call, _ []arg) bool { return c.wrapper },
		"root":     func(c *call, _ []arg) bool { return c.root },
		"testing":  func(c *call, _ []arg) bool { return c.testing() },
		"emulated": func(c *call, _ []arg) bool { return c.local() },
		"bulk":     func(c *call, _ []arg) bool { return c.bulk() },
		"told":     func(c *call, _ []arg) bool { return c.isTold() },
		"sends":    func(c *call, _ []arg) bool { return c.sendsFile() },
		"inside":   all(func(c *call, a arg) bool { return c.r.world.inside(c.r.world.clean(a.text, c.cwd)) }),
		"rebuilt": all(func(c *call, a arg) bool {
			return a.known && c.r.judge.places.Rebuilt(c.r.relative(c.r.world.clean(a.text, c.cwd)))
		}),
		"local": func(c *call, words []arg) bool {
			if words == nil {
				return c.allLocal()
			}
			return slices.ContainsFunc(words, func(a arg) bool { return localURL(a.text) })
		},
	}
}

// namesReading reports whether a word is the name of something that reads.
func (c *call) namesReading(a arg) bool {
	words := taskWords(lastPart(a.text))
	return len(words) > 0 && c.r.verbOf(words[0]).effect.Kind == KindRead
}

// isTold reports whether all is known of what the command is given as its input.
func (c *call) isTold() bool {
	text, all := c.input()
	return all && text.text != ""
}

// sendsFile reports whether the input is a file, or comes from a command that
// reads files.
func (c *call) sendsFile() bool {
	return c.stdin.kind == shell.InputFile && c.stdin.file.text != "/dev/null" || c.stdin.piped &&
		slices.ContainsFunc(c.stdin.text.from, func(f string) bool { return c.r.judge.tables.ofClass("sends-file", f) })
}

// checkFacts reports a fact that the tables may ask and that nobody can tell.
func (j *Judge) checkFacts() error {
	for _, name := range commands.Facts() {
		if j.facts[name] == nil {
			return fmt.Errorf("effects: nobody can tell the fact %q", name)
		}
	}
	return nil
}

// asked tells a fact about some words of the command.
func (c *call) asked(name string, of []commands.Spot) bool {
	var words []arg
	for _, s := range of {
		words = append(words, c.all[s.Word].slice(s.Cut))
	}
	return c.r.judge.facts[name](c, words)
}

// leave keeps for the commands that follow what a line of the table says of one.
func (c *call) leave(marks []string) {
	for _, mark := range marks {
		switch mark {
		case "cloned":
			c.r.cloned = true
		case "rewired":
			c.r.rewired = true
		case "listed":
			c.r.listed = true
		case "started":
			c.r.started = true
		case "switched":
			c.switched()
		case "fetched":
			for _, a := range c.operands {
				c.r.fetched[lastPart(a.text)] = true
			}
		}
	}
}

// rows judges words that are no command of the shell, but have a section of
// their own: a setting, a line of another language.
func (c *call) rows(section string, words ...arg) []Effect {
	inner := *c.invocation
	inner.name, inner.args = "", words
	return c.r.tabled(&inner, section, c.r.judge.tables.sections[section])
}
