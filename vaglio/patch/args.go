package patch

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// Script returns what a patch that is passed to a tool does, as calls of inline programs. Relative
// names start in the folder in. A text that is not a patch is a problem.
func Script(text string, in shell.Word) *shell.Script {
	made := map[string]shell.Word{}
	words := []shell.Word{shell.Text("apply_patch"), shell.Text(text)}
	a := &applier{name: words[0].String(), words: words[1:], made: made, cmd: &shell.Command{Cwd: in, Argv: words}}
	calls, problems := a.expand()
	return &shell.Script{Commands: calls, Problems: problems, Wrote: made}
}

// NamesApplier reports whether a tool applies whatever patch it is given, judging by the words of its name in lower case.
func NamesApplier(words []string) bool {
	for i, w := range words {
		if (w == "patch" || w == "diff") && (len(words) == 1 || i > 0 && words[i-1] == "apply" || i+1 < len(words) && words[i+1] == "apply") {
			return true
		}
	}
	return slices.Contains(words, "applypatch")
}

// NamesReader reports whether a tool only looks at a patch, judging by the words of its name in lower case.
func NamesReader(words []string) bool {
	looks := strings.Fields("read view show get explain review describe summarize analyze analyse check validate lint parse list search comment")
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(looks, w) })
}
