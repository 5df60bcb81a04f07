package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// TestWhatIsWrittenToRun checks scripts and makefiles that would do what is forbidden, and
// prose, data and tests about it.
func TestWhatIsWrittenToRun(t *testing.T) {
	rows, err := os.ReadFile("testdata/written.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	g := gate()
	seen := map[bool]int{}
	for line := range strings.Lines(string(rows)) {
		var row struct {
			Deny     bool           `json:"deny"`
			Executor string         `json:"executor"`
			Args     map[string]any `json:"args"`
		}
		if err := strictjson.UnmarshalLoose([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		c := Call{Executor: row.Executor, Args: row.Args, Cwd: "/home/user/app"}
		d, denied := g.Check(c)
		if denied != row.Deny {
			t.Errorf("denied %v %s: %s", denied, d.ID, line)
		}
		seen[denied]++
	}
	if seen[true] < 35 || seen[false] < 55 {
		t.Errorf("%d denied, %d not", seen[true], seen[false])
	}
}

func TestTheLineOfWhatIsWrittenIsTold(t *testing.T) {
	d, denied := gate().Check(Call{
		Executor: "Write", Cwd: "/home/user/app", Args: map[string]any{"file_path": "clean.sh", "content": "#!/bin/sh\nset -e\n\nrm -rf /\n"},
	})
	if !denied || d.ID != treeRoot || d.File != "/home/user/app/clean.sh" || d.Line != 4 {
		t.Errorf("%v %+v", denied, d)
	}
}
