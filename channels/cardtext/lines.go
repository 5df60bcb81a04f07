package cardtext

import (
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// numbered is a line of a command.
type numbered struct {
	n    int
	text seen
}

// tells says which line of the command it is.
func (c *Call) tells(texts *templates.Texts, l *numbered) string {
	return texts.Plain("line", templates.Values{"n": l.n, "of": c.of})
}

// readLines reads the lines of the command that people are asked about.
func (c *Call) readLines(it *approval.Item) {
	all := strings.Split(strings.TrimRight(it.Command, "\n"), "\n")
	c.of = len(all)
	for _, n := range it.Lines {
		if n <= len(all) {
			c.lines = append(c.lines, numbered{n, seeLine(all[n-1])})
		}
	}
}

// asked writes the lines of a command that people are asked about before the command, unless that is
// shown whole and short enough to be seen at once: they would read them twice.
func (c *Call) asked(w *writer, budget int) {
	if c.brief() && (budget == Everything || c.command.runes <= budget) {
		return
	}
	if budget == Everything {
		budget = maxWords
	}
	first, more := c.first()
	for i := range first {
		w.put(Named, c.tells(w.texts, &first[i])+":")
		w.end()
		w.part(Command, first[i].text, min(budget, maxWords))
	}
	if more > 0 {
		w.line("line.more", templates.Values{"n": more})
	}
}

// first returns the lines that are shown before the command, and how many more there are: who
// reads a hundred of them reads the command twice.
func (c *Call) first() (lines []numbered, more int) {
	n := min(len(c.lines), maxLines)
	return c.lines[:n], len(c.lines) - n
}

// brief reports whether a phone shows the whole command at once.
func (c *Call) brief() bool { return c.of <= screenLines && c.command.runes <= screenRunes }

// screenLines and screenRunes are how much of a command a phone shows at once, maxLines how many of the
// lines that people are asked about a chat shows.
const screenLines, screenRunes, maxLines = 20, 600, 3
