package unfold_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/code/unfold"
)

func TestSpelled(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{
		"let a = [\"push\", \"-f\"]\nrun(a)":                 "let a = [\"push\", \"-f\"]\nrun(\"push\",\"-f\")",
		"var a: [String] = ['x'];run(a);b(aa, \"a\")":        "var a: [String] = ['x'];run('x');b(aa, \"a\")",
		"a <- c('x',\n  'y')\nrun(a)":                        "a <- c('x',\n  'y')\nrun('x','y')",
		"a = Path.join(System.tmp_dir!(), \"x\")\nrm(a)":     "a = Path.join(System.tmp_dir!(), \"x\")\nrm(a)",
		"(def a [\"x\"])\n(sh a)":                            "(def a [\"x\"])\n(sh \"x\")",
		"a = 'x'\nb = [a, 'y']\nrun(b)":                      "a = 'x'\nb = ['x', 'y']\nrun('x','y')",
		"c = new(\"git\")\na = 'x'\na = 'z'\nc.arg(a)":       "c = new(\"git\")\na = 'x'\na = 'z'\n\"git\".arg('z')",
		"if a == 'x' { run(a) }\nf = a => 'x'\na != 'y'\n":   "if a == 'x' { run(a) }\nf = a => 'x'\na != 'y'\n",
		"it's, a \"text ; that\" ends\n\n;; a = `x\ny`\n a ": "it's, a \"text ; that\" ends\n\n;; a = `x\ny`\n `x\ny` ",
		"": "",
	} {
		if got := unfold.Spelled(program); got != want {
			t.Errorf("%q becomes %q, want %q", program, got, want)
		}
	}
}

// TestSpelledIsBounded gives a variable a long text and names it often.
func TestSpelledIsBounded(t *testing.T) {
	t.Parallel()
	program := "a = '" + strings.Repeat("x", 10_000) + "'\n" + strings.Repeat("a\n", 10_000)
	if got := unfold.Spelled(program); len(got) > 2*len(program)+64<<10 || strings.Count(got, "\n") != strings.Count(program, "\n") {
		t.Errorf("%d bytes become %d", len(program), len(got))
	}
}
