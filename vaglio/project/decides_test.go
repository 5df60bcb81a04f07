package project_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/project"
)

// decides writes, below the commands and files of a test's rows, which of their characters
// decide what is run. After an intended change, run the tests with -update, and read which
// marks have moved.
type decides struct {
	t *testing.T
	b strings.Builder
}

// deciding returns a picture that is compared with its file when the test ends.
func deciding(t *testing.T) *decides {
	d := &decides{t: t}
	t.Cleanup(func() { golden.Check(t, "testdata/decides/"+t.Name()+".txt", d.b.String()) })
	return d
}

// add removes and doubles each character of a command and its files in turn. The two lines
// below have a blank where what is run has that character less or more, a dot where nothing
// changes, and a sign where anything else does.
func (d *decides) add(c call) {
	const longest = 200 // bytes: those that only try a bound are longer
	was := c.tasks(d.t)
	d.line("$ ", c.command, was, func(s string) string {
		changed := c
		if changed.command = s; len(strings.Fields(s)) == 0 {
			return ""
		}
		return changed.tasks(d.t)
	})
	if c.changed != "" {
		d.line("written ", c.changed, was, func(s string) string {
			changed := c
			changed.changed = s
			return changed.tasks(d.t)
		})
	}
	size := 0
	for _, text := range c.files {
		size += len(text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if size > longest {
			break
		}
		d.line(name+": ", c.files[name], was, func(s string) string {
			changed := c
			changed.files = maps.Clone(c.files)
			changed.files[name] = s
			return changed.tasks(d.t)
		})
	}
	d.b.WriteString("\n")
}

// loaded does the same with a file's text, of everything that it may run once it is loaded.
func (d *decides) loaded(file, text string) {
	run := func(s string) string { return written(project.Default().Loaded(file, s)) }
	d.line(file+": ", text, run(text), run)
	d.b.WriteString("\n")
}

// line draws one text and its marks.
func (d *decides) line(title, text, was string, run func(string) string) {
	chars, indent := []rune(text), strings.Repeat(" ", len([]rune(title)))
	less, more := []byte(indent), []byte(indent)
	for i, c := range chars {
		less = append(less, sign(was, run(string(slices.Delete(slices.Clone(chars), i, i+1))), c, '-'))
		more = append(more, sign(was, run(string(slices.Insert(slices.Clone(chars), i, c))), c, '+'))
	}
	for _, line := range []string{strings.NewReplacer("\n", "⏎", "\t", "→").Replace(title + text), string(less), string(more)} {
		d.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// sign tells how a result has changed for a character less or more.
func sign(was, now string, c rune, changed byte) byte {
	without := func(s string) string { return strings.ReplaceAll(s, string(c), "") }
	switch {
	case was == now:
		return '.'
	case without(was) == without(now):
		return ' '
	default:
		return changed
	}
}
