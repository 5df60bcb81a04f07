package commands

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// base returns the last step of a path.
func base(w shell.Word) shell.Word {
	w = trimSlashes(w)
	if s, ok := w.Text(); ok {
		return shell.Text(s[strings.LastIndexByte(s, '/')+1:])
	}
	parts := slices.Clone(w.Parts())
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Kind != shell.PartText {
			continue
		}
		if at := strings.LastIndexByte(parts[i].Text, '/'); at >= 0 {
			parts[i].Text = parts[i].Text[at+1:]
			return shell.NewWord(parts[i:]...)
		}
	}
	return w
}

func trimSlashes(w shell.Word) shell.Word {
	return w.MapSuffix(func(s string) string { return strings.TrimRight(s, "/") })
}

// onHost returns the path in host:path. The host need not be known.
func onHost(w shell.Word) (shell.Word, bool) {
	for i, p := range w.Parts() {
		at := strings.IndexAny(p.Text, ":/")
		switch {
		case p.Kind != shell.PartText || at < 0:
		case p.Text[at] == '/' || i+at == 0:
			return w, false
		default:
			rest := slices.Clone(w.Parts()[i:])
			rest[0].Text = p.Text[at+1:]
			return shell.NewWord(rest...), true
		}
	}
	return w, false
}
