package about_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
)

// TestWhichWordsDecide leaves out each word of the calls of which it is known what they are
// about, and puts another word in its place, and marks the words on which it depends what is
// named: - if it is something else without the word, ~ if it is with another one, * if both.
// An answer covers every call that names the same, so no mark may go missing. After an
// intended change, run it with -update, and read which marks have moved.
func TestWhichWordsDecide(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/named.txt")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge.Rules()}}, Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	namer := newNamer(t)
	named := func(p vaglio.Proposal) string { return told(namer.Of(engine.Seen(p))) }
	var b strings.Builder
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.IndexByte("#\t", line[0]) >= 0:
		case line[0] == '{':
			var call struct {
				Executor string      `json:"executor"`
				Args     vaglio.Args `json:"args"`
			}
			if err := strictjson.Unmarshal([]byte(line), &call); err != nil {
				t.Fatal(err)
			}
			p := vaglio.Proposal{Executor: call.Executor, Args: call.Args, Context: vaglio.Context{Cwd: testCwd}}
			b.WriteString(line + "\n")
			for _, key := range slices.Sorted(maps.Keys(call.Args)) {
				less, other := p, p
				less.Args, other.Args = maps.Clone(p.Args), maps.Clone(p.Args)
				delete(less.Args, key)
				other.Args[key] = "zz"
				b.WriteString(" " + key + mark(named(p), named(less), named(other)))
			}
			b.WriteString("\n")
		default:
			words := strings.Split(line, " ")
			b.WriteString(line + "\n")
			var marks strings.Builder
			for i, w := range words {
				other := slices.Clone(words)
				other[i] = "zz"
				without := strings.Join(slices.Delete(slices.Clone(words), i, i+1), " ")
				marks.WriteString(mark(named(command(line)), named(command(without)), named(command(strings.Join(other, " ")))) + strings.Repeat(" ", len([]rune(w))))
			}
			b.WriteString(strings.TrimRight(marks.String(), " ") + "\n")
		}
	}
	golden.Check(t, "testdata/decides.txt", b.String())
}

// mark tells how what is named has changed without a word, and with another one.
func mark(was, without, other string) string {
	return map[[2]bool]string{{}: ".", {true, false}: "-", {false, true}: "~", {true, true}: "*"}[[2]bool{without != was, other != was}]
}
