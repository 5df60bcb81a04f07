package main

import (
	"strings"
	"testing"
)

func TestPolicyMistakesSayWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"Empty":          {"", "p.yaml is empty"},
		"UnknownKey":     {"closed: true\nexecutor: []\n", `p.yaml:2:1: unknown field "executor"`},
		"UnknownInside":  {"executors:\n  - name: a\n    skip_juge: true\n", `p.yaml:3:5: unknown field "skip_juge"`},
		"DuplicateKey":   {"closed: true\nclosed: false\n", "p.yaml:2:1: "},
		"WrongType":      {"closed: perhaps\n", "p.yaml:1:9: "},
		"NotYAML":        {"executors: [\n", "p.yaml:1:"},
		"TwoDocuments":   {"closed: true\n---\nclosed: false\n", "p.yaml holds more than one document"},
		"NoName":         {"executors: [{shell: true}]\n", "p.yaml: "},
		"BadSchema":      {"executors: [{name: a, args_schema: {type: objekt}}]\n", "a"},
		"SameNameTwice":  {"executors: [{name: a}, {name: a}]\n", "a"},
		"SeveralAtOnce":  {"executors: [{name: a, args_schema: {type: objekt}}, {name: b}, {name: b}]\n", "; "},
		"ListAtTheTop":   {"- name: a\n", "p.yaml:1:"},
		"NothingButText": {"hello\n", "p.yaml:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsePolicy("p.yaml", []byte(c.text), "/home/u")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestAPolicyIsKept(t *testing.T) {
	t.Parallel()
	const text = `
closed: true
executors:
  - name: read_file
    args_schema:
      type: object
      properties: {path: {type: string, maxLength: 100}, lines: {type: integer, minimum: 1}}
      required: [path]
      additionalProperties: false
    capabilities: [{name: "fs:read", hint: ["~/work/**"]}]
    critical: false
    skip_judge: true
`
	known, err := parsePolicy("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		executor string
		args     map[string]any
		want     string
	}{
		"Fits":         {"read_file", map[string]any{"path": "/home/u/work/a"}, ""},
		"OutsideScope": {"read_file", map[string]any{"path": "/srv/a"}, "path"},
		"Missing":      {"read_file", map[string]any{}, "path"},
		"Unknown":      {"read_file", map[string]any{"path": "/home/u/work/a", "x": "y"}, "x"},
		"NotListed":    {"write_file", map[string]any{}, "write_file"},
	} {
		t.Run(name, func(t *testing.T) {
			err := known.Check(c.executor, c.args, "")
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want an error about %q", err, c.want)
			}
		})
	}
	if ex, ok := known.Find("read_file"); !ok || ex.Critical == nil || *ex.Critical || !ex.SkipJudge {
		t.Errorf("the catalog knows %+v", ex)
	}
}

// FuzzPolicy looks for a file that makes the reader panic, or complain without
// naming the file.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		"", "closed: true\n", "executors: [{name: a, args_schema: {type: object}}]\n",
		"executors:\n  - name: a\n    capabilities: [{name: \"fs:read\", hint: [\"~/**\"]}]\n", "a: &x [*x]\n", "? [\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		known, err := parsePolicy("p.yaml", []byte(text), "/home/u")
		if (known == nil) == (err == nil) {
			t.Fatalf("a catalog %v and the error %v", known, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "METNOS_POLICY: p.yaml") {
			t.Errorf("the error %q does not name the file", err)
		}
	})
}
