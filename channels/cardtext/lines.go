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

// asked writes the lines of a long command that people are asked about, before the command.
func (c *Call) asked(w *writer, budget int) {
	if c.of <= fewLines && (budget == Everything || c.command.runes <= budget) {
		return
	}
	if budget == Everything {
		budget = maxWords
	}
	for i := range c.lines[:min(len(c.lines), maxLines)] {
		w.put(Named, c.tells(w.texts, &c.lines[i])+":")
		w.end()
		w.part(Command, c.lines[i].text, min(budget, maxWords))
	}
	if more := len(c.lines) - maxLines; more > 0 {
		w.line("line.more", templates.Values{"n": more})
	}
}

// fewLines is how many lines of a command are seen at a glance, maxLines how many of those that
// people are asked about a chat shows.
const fewLines, maxLines = 5, 3
