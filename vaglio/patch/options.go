package patch

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// parse separates the options of a command from its operands.
func (a *applier) parse() {
	words := a.cmd.Argv[1:]
	if strings.HasPrefix(a.name, "apply") { // the patch itself may begin with a dash
		a.words = words
		return
	}
	if _, sub, ok := strings.Cut(a.name, " "); ok {
		words = a.behind(sub, words)
	}
	short, long := grammarOf(a.name)
	a.options, a.words = shell.ParseOptions(words, short, long)
}

// behind returns git's words after its own options and the subcommand.
func (a *applier) behind(sub string, words []shell.Word) []shell.Word {
	for i, w := range words {
		if w.Is(sub) && (i == 0 || !words[i-1].Is("-C")) {
			return words[i+1:]
		}
	}
	return nil
}

func (a *applier) has(names ...string) bool {
	_, ok := a.options.Get(names...)
	return ok
}
