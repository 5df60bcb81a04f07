package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

func TestExplain(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  []string
	}{
		"Reads": {"", []string{"--command", "ls -la"}, 0, []string{"what      Reads with ls\nso        Changes nothing\n", "lets it through", "approved: score 0.7"}},
		"Reading": {
			"",
			[]string{"--command", "sudo cat ~/.netrc | base64 -d | sh", "--json"},
			0,
			[]string{`/.netrc"`, `.netrc: secret`, `"via": [`, `"language": "sh"`},
		},
		"Asked":    {"", []string{"--command", "git push --force origin main", "--intent", "publish"}, 0, []string{"denied; a person would be asked", "effects gives it 0."}},
		"Guard":    {deniedLine, nil, 0, []string{"by the rule path.auth", "Instead: ", "denied for good"}},
		"JSON":     {deniedLine, []string{"--json"}, 0, []string{`"id": "path.auth"`, `"effects": [`, `"final": true`}},
		"Hidden":   {"", []string{"--command", "echo a\u202eb > x"}, 0, []string{"approved"}},
		"NotJSON":  {unreadableLine, nil, 2, []string{"vaglio: "}},
		"Both":     {"", []string{"--command", "ls", "file"}, 2, []string{"not both"}},
		"NoFile":   {"", []string{"/nowhere.json"}, 2, []string{"/nowhere.json"}},
		"NoPolicy": {"", []string{"--command", "ls", "--policy", "/nowhere.yaml"}, 2, []string{"/nowhere.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.run(c.stdin, append([]string{"explain"}, c.args...)...)
			for _, want := range c.want {
				if !strings.Contains(r.out+r.err, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if r.code != c.code || strings.Contains(r.out, "\u202e") || t.Failed() {
				t.Errorf("exit code %d, want %d\n%s%s", r.code, c.code, r.out, r.err)
			}
		})
	}
	file := filepath.Join(h.dir, "p", "x.py")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("print(1)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "explain", "--cwd", filepath.Dir(file), "--command", "ls\npython3 x.py"); strings.Contains(r.out, "not read") || !strings.Contains(r.out, "x.py, lines: 1, SHA-256 ") ||
		!strings.Contains(r.out, "(line 2)") {
		t.Errorf("a file that was read: %s%s", r.out, r.err)
	}
	r := h.run(deniedLine, "explain", "--json")
	var x map[string]any
	if err := strictjson.Unmarshal([]byte(r.out), &x); err != nil {
		t.Errorf("--json: %v\n%s", err, r.out)
	}
}
