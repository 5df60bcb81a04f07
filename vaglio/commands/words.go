package commands

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// base is the last step of a path.
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

// trimSlashes takes the slashes at the end away.
func trimSlashes(w shell.Word) shell.Word {
	if s, ok := w.Text(); ok {
		return shell.Text(strings.TrimRight(s, "/"))
	}
	if !strings.HasSuffix(w.Suffix(), "/") {
		return w
	}
	parts := slices.Clone(w.Parts())
	last := &parts[len(parts)-1]
	last.Text = strings.TrimRight(last.Text, "/")
	return shell.NewWord(parts...)
}

// onHost is the path in host:path.
func onHost(w shell.Word) (shell.Word, bool) {
	s := w.Prefix()
	at := strings.IndexByte(s, ':')
	if at <= 0 || strings.Contains(s[:at], "/") {
		return w, false
	}
	return w.Cut(at + 1), true
}
