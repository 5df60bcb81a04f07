package reading

import (
	"strings"
	"testing"
)

const (
	diffBody = "@@ -1 +1 @@\n-a\n+b\n"
	plain    = "--- a/dir/x\n+++ b/dir/x\n" + diffBody
	outside  = "--- a/../../y\n+++ b/../../y\n" + diffBody
	wrapped  = "*** Begin Patch\n*** Update File: e.py\n@@\n-a\n+b\n*** Delete File: f.py\n*** End Patch"
)

// patched lists the calls and problems of the patches in a reading.
func patched(rd *Reading) string {
	var out []string
	for _, c := range rd.Commands {
		if c.Language != langPatch {
			continue
		}
		for i := range c.Script.Commands {
			if call := c.Script.Commands[i].Call; call != nil {
				line := string(call.Verb)
				for _, w := range call.Targets {
					line += " " + w.String()
				}
				out = append(out, line)
			}
		}
		for i := range c.Script.Problems {
			out = append(out, "problem "+string(c.Script.Problems[i].Kind))
		}
	}
	return strings.Join(out, "; ")
}

// TestPatches checks which texts in the arguments are patches that a call applies.
func TestPatches(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	for _, r := range []struct {
		name, executor string
		args           args
		want           string
	}{
		{"codex", "apply_patch", args{"input": wrapped}, "write e.py; delete f.py"},
		{"server", "mcp__x__apply_patch", args{"patch": plain}, "write dir/x"},
		{"opencode", "functions.apply_patch", args{"patchText": wrapped}, "write e.py; delete f.py"},
		{"any tool, key", "update_code", args{"unified_diff": plain}, "write dir/x"},
		{"any tool, envelope", "do", args{"x": args{"y": []any{wrapped}}}, "write e.py; delete f.py"},
		{"other key of an applier", "applyPatch", args{"body": wrapped}, "write e.py; delete f.py"},
		{"list", "apply_patch", args{"patches": []any{plain, outside}}, "write dir/x; write ../../y"},
		{"no patch", "apply_patch", args{"input": "x"}, "problem partial code"},
		{"file content", "Write", args{"file_path": "x.patch", "content": wrapped}, ""},
		{"command", "Bash", args{"command": plain}, ""},
		{"review", "review_patch", args{"patch": plain}, ""},
		{"search and replace", "replace_in_file", args{"path": "a", "diff": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}, ""},
		{"cluster", "kubectl_patch", args{"patch": `{"spec":{}}`}, ""},
		{"nothing", "apply_patch", args{}, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rd := NewReader(Options{}).Read(Call{Executor: r.executor, Args: r.args, Cwd: "/w"})
			if got := patched(rd); got != r.want || rd.Patched != (r.want != "") {
				t.Errorf("found %q (patched: %t), want %q", got, rd.Patched, r.want)
			}
		})
	}
	rd := NewReader(Options{}).Read(Call{Executor: "apply_patch", Args: args{"input": wrapped, "workdir": "sub"}, Cwd: "/w"})
	if !rd.Commands[0].Script.Commands[0].Cwd.Is("/w/sub") {
		t.Errorf("the folder is %v", rd.Commands[0].Script.Commands[0].Cwd)
	}
}
