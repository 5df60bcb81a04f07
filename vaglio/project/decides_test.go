package project_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
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
func (d *decides) add(command string, f files) {
	const longest = 300 // bytes: those that only try a bound are longer
	size := len(command)
	for _, text := range f {
		size += len(text)
	}
	if size > longest {
		return
	}
	was := tasks(d.t, command, f)
	d.picture("$ "+command, "  ", command, was, func(s string) string {
		if len(strings.Fields(s)) == 0 {
			return ""
		}
		return tasks(d.t, s, f)
	})
	for _, name := range slices.Sorted(maps.Keys(f)) {
		d.picture(name+": "+f[name], strings.Repeat(" ", len([]rune(name))+2), f[name], was, func(s string) string {
			changed := maps.Clone(f)
			changed[name] = s
			return tasks(d.t, command, changed)
		})
	}
	d.b.WriteString("\n")
}

func (d *decides) picture(title, indent, text, was string, run func(string) string) {
	chars := []rune(text)
	less, more := []byte(indent), []byte(indent)
	for i, c := range chars {
		less = append(less, sign(was, run(string(slices.Delete(slices.Clone(chars), i, i+1))), c, '-'))
		more = append(more, sign(was, run(string(slices.Insert(slices.Clone(chars), i, c))), c, '+'))
	}
	for _, line := range []string{strings.NewReplacer("\n", "⏎", "\t", "→").Replace(title), string(less), string(more)} {
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
