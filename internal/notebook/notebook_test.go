package notebook_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/notebook"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{
		"%%bash -e\nls\n":   {"bash", "-e", "ls"},
		" %%writefile a.py": {"writefile", "a.py", ""},
		"x = 1\n%%time":     {"", "", "x = 1\n%%time"},
	} {
		if magic, args, body := notebook.Split(text); [3]string{magic, args, body} != want {
			t.Errorf("%q: %q %q %q, want %q", text, magic, args, body, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	lines, rest := notebook.Lines("import os\n!ls -l\nout, err = !make\n%pip install x\n%run a.py\nx = 1 != 2")
	want := []string{"ls -l", "make", "pip install x", "python3 a.py"}
	for i, l := range lines {
		if i >= len(want) || l.Command != want[i] {
			t.Errorf("line %d: %q, want %q", i, l.Command, want)
		}
	}
	if len(lines) != len(want) || rest != "import os\n\n\n\n\nx = 1 != 2" {
		t.Errorf("%d lines, rest %q", len(lines), rest)
	}
}
