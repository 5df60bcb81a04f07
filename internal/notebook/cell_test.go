package notebook

import "testing"

// TestCommandOf checks which lines of a notebook's cell a shell gets.
func TestCommandOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"!ls": "ls", "!!ls": "ls", "%sx ls": "ls", "x = !ls": "ls", "a, b = !ls": "ls", "x = %system ls": "ls", "x = 1": "", "x y = !ls": "", "f(x) = !ls": "", "ls": "",
	} {
		if got, ok := commandOf(line); got != want || ok != (want != "") {
			t.Errorf("%q hands %q to a shell (%v), want %q", line, got, ok, want)
		}
	}
}
