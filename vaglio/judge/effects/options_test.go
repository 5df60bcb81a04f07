package effects

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/getopt"
)

// shapes returns the ways in which an option o can be given, with or without a value, and what
// else a program may be given.
func shapes(o string) []string {
	return []string{
		"", o, o + " -- a", o + " a b", o + "=a b", o + "=", o + "a", o + " " + o, "-- " + o, "a " + o, o + " '' ''", o + " $X",
		"<<< " + o, "<<< '" + o + " a'", "<<< '" + o + "\n;\n'", o + " a <<< '" + o + " b'", o + " - < a", "a b c " + o[:max(1, len(o)-1)] + "=a",
	}
}

// options returns the programs that are judged, and the options about which something is known.
func options(tb testing.TB) (j *Judge, programs []string, of map[string][]string) {
	tb.Helper()
	j, err := New(Options{})
	if err != nil {
		tb.Fatal(err)
	}
	of = map[string][]string{}
	for name := range j.tables.Judged {
		if strings.HasPrefix(name, "(") {
			continue
		}
		known := map[string]bool{"-x": true, "--": true, "-": true}
		maps.Copy(known, getopt.Of(name).Values)
		maps.Copy(known, getopt.Of(name).Glued)
		of[name] = slices.Sorted(maps.Keys(known))
	}
	return j, slices.Sorted(maps.Keys(of)), of
}

// TestOptionsOfEveryShape checks that no option of any program, in any shape, ends the process,
// whatever takes the place of a value or is in the input. The full run gives four options of each
// program in all shapes and the others in every ninth; the short one gives one, and every 45th.
func TestOptionsOfEveryShape(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	j, programs, of := options(t)
	whole, nth := 4, 9
	if testing.Short() {
		whole, nth = 1, 45
	}
	for _, name := range programs {
		for i, o := range of[name] {
			all := shapes(o)
			for k, s := range all {
				if i >= whole && (i+k)%nth != 0 { // each option in some shapes, each program in all
					continue
				}
				judged(t, j, name+" "+s)
			}
		}
	}
}

// judged checks that a call gets a valid score.
func judged(t *testing.T, j *Judge, line string) {
	t.Helper()
	p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/ann/src/shop"}}
	if got, err := j.Grade(t.Context(), p); err != nil || got.Score < 0 || got.Score > 1 || strings.Contains(got.Reasoning, "panic") {
		t.Errorf("%q: score %v, %s, %v", line, got.Score, got.Reasoning, err)
	}
}

func FuzzOptions(f *testing.F) {
	j, programs, of := options(f)
	f.Add(uint16(0), []byte{0, 1, 2}, "a")
	f.Add(uint16(slices.Index(programs, "redis-cli")), []byte{3, 14}, "-x")
	f.Fuzz(func(t *testing.T, program uint16, picks []byte, word string) {
		name := programs[int(program)%len(programs)]
		words := []string{name}
		for i, b := range picks[:min(len(picks), 12)] {
			o := of[name][int(b)%len(of[name])]
			all := append(shapes(o), word, "'"+word+"'", o+"="+word, o+word, "<<< '"+word+"'", "| sh", "&& "+name)
			words = append(words, all[(int(b)/7+i)%len(all)])
		}
		judged(t, j, strings.Join(words, " "))
	})
}
