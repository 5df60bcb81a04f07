package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withAstGrep creates a world with the real ast-grep among its programs.
func withAstGrep(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	at, err := filepath.EvalSymlinks("astgrep/node_modules/.bin/ast-grep")
	if err != nil {
		at, err = exec.LookPath(astGrep)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no ast-grep: make ast-grep installs it")
		}
		t.Skip("no ast-grep: make ast-grep installs it")
	}
	program, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(filepath.Dir(w.suid))+"/"+astGrep, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.host.AstGrep(); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAstGrep(t *testing.T) {
	w := withAstGrep(t)
	write(t, w.ws, map[string]string{
		"app.py": "def f():\n    eval(x)\n\n    print('eval(y)')\n", "sub/b.py": "eval(\n  1,\n)\n", ".env.py": "", ".ssh/c.py": "eval(secret)\n",
		// What ast-grep would load from the folder that it starts in.
		"sgconfig.yml": "ruleDirs: [nowhere]\ncustomLanguages:\n  x:\n    libraryPath: ./evil.so\n    extensions: [x]\n",
	})
	s := w.open(t, w.config())
	r, err := s.AstGrep(t.Context(), AstGrepRequest{Pattern: "eval($$$A)", Language: "python"})
	got := fmt.Sprint(r.Matches)
	if err != nil || len(r.Matches) != 2 || !strings.Contains(got, "{"+w.ws+"/app.py 2 eval(x)}") || !strings.Contains(got, "{"+w.ws+"/sub/b.py 1 eval(\n  1,\n)}") {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = s.AstGrep(t.Context(), AstGrepRequest{Pattern: "func _() { b($A) }", Language: "go", Selector: "call_expression", Path: w.ws + "/code.go"})
	if err != nil || len(r.Matches) != 1 || r.Matches[0].Text != "b(1)" || r.Matches[0].Line != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = s.AstGrep(t.Context(), AstGrepRequest{Pattern: "nothing($A)", Language: "python"}); err != nil || len(r.Matches) != 0 || r.Matches == nil {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct {
		q   AstGrepRequest
		why string
	}{
		{AstGrepRequest{Language: "go"}, "pattern is"},
		{AstGrepRequest{Pattern: "a", Language: "no such"}, "language is"},
		{AstGrepRequest{Pattern: "a", Language: "klingon"}, "klingon"},
		{AstGrepRequest{Pattern: "a", Language: "--rewrite=x"}, "language is"},
		{AstGrepRequest{Pattern: "a", Language: "go", Selector: "x y"}, "selector is"},
		{AstGrepRequest{Pattern: "a", Language: "go", Path: "/etc"}, "is in none of the folders"},
	} {
		var wrong ToolError
		if _, err := s.AstGrep(t.Context(), c.q); !errors.As(err, &wrong) || !strings.Contains(wrong.Why, c.why) {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	// What looks like an option is a pattern.
	if r, err := s.AstGrep(t.Context(), AstGrepRequest{Pattern: "--update-all", Language: "python"}); err == nil && len(r.Matches) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	config := w.config()
	config.Limits.Output = 4000
	write(t, w.ws, map[string]string{"many.py": strings.Repeat("eval(x)\n", 2000)})
	s = w.open(t, config)
	r, err = s.AstGrep(t.Context(), AstGrepRequest{Pattern: "eval($A)", Language: "python", Path: w.ws + "/many.py"})
	if err != nil || len(r.Matches) == 0 || len(r.Matches) > 20 || r.Cut == "" {
		t.Errorf("%d matches, cut %q, %v", len(r.Matches), r.Cut, err)
	}
}

// TestAstGrepIsMissing checks that this is reported.
func TestAstGrepIsMissing(t *testing.T) {
	w := newWorld(t)
	s := w.open(t, w.config())
	if _, err := w.host.AstGrep(); err == nil {
		t.Skip("ast-grep is installed for the whole machine")
	}
	_, err := s.AstGrep(t.Context(), AstGrepRequest{Pattern: "a", Language: "go"})
	var wrong ToolError
	if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Why, `the program "ast-grep" is not installed in `) {
		t.Error(err)
	}
}
