package reading_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// TestWhatArgumentsSayTogether reads every argument that may run beside every one that may
// surround it, with values of every shape, and writes what they say together that neither
// says alone (+), and what one says alone but not beside the other (-). It proves that what
// surrounds a command is taken into account, and that nothing else takes one away. After an
// intended change, run it with -update, and read which readings have moved.
func TestWhatArgumentsSayTogether(t *testing.T) {
	t.Parallel()
	running := []any{"ls", "ls -l", []any{"ls", "-l"}, []any{}}
	around := []any{"", "sh", "a b", true, []any{}, []any{[]any{}}, []any{"-l", "x"}, map[string]any{"cwd": "/e"}}
	r := reader()
	var b strings.Builder
	for _, executor := range []string{"Bash", "unheardof"} {
		read := func(args map[string]any) []string {
			return strings.Split(strings.TrimRight(wholly(r.Read(reading.Call{Executor: executor, Args: args, Cwd: cwd})), "\n"), "\n")
		}
		for runs := range strings.FieldsSeq("command code program") {
			for beside := range strings.FieldsSeq("args program input cwd env options language shell host container path text") {
				for _, v := range running {
					for _, w := range around {
						args := map[string]any{runs: v, beside: w}
						alone := slices.Concat(read(map[string]any{runs: v}), read(map[string]any{beside: w}))
						together := read(args)
						moved := append(except(together, alone, "+"), except(alone, together, "-")...)
						if text, _ := strictjson.Marshal(args); len(moved) > 0 {
							fmt.Fprintf(&b, "%s %s\n%s", executor, text, strings.Join(moved, ""))
						}
					}
				}
			}
		}
	}
	golden.Check(t, "testdata/together.golden", b.String())
}

// except returns the lines that are not among others, once and with a sign.
func except(lines, others []string, sign string) (all []string) {
	for _, line := range lines {
		if signed := "  " + sign + line + "\n"; !slices.Contains(others, line) && !slices.Contains(all, signed) {
			all = append(all, signed)
		}
	}
	return all
}
