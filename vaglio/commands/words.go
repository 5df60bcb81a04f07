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

// after is what follows a separator in the static text of a word.
func after(w shell.Word, sep string) (shell.Word, bool) {
	if s, ok := w.Text(); ok {
		_, rest, found := strings.Cut(s, sep)
		return shell.Text(rest), found
	}
	parts := slices.Clone(w.Parts())
	for i := range parts {
		if parts[i].Kind != shell.PartText {
			continue
		}
		if _, rest, found := strings.Cut(parts[i].Text, sep); found {
			parts[i].Text = rest
			return shell.NewWord(parts[i:]...), true
		}
	}
	return shell.Word{}, false
}

// before is what stands before a separator, the whole word without one.
func before(w shell.Word, sep string) shell.Word {
	if s, ok := w.Text(); ok {
		first, _, _ := strings.Cut(s, sep)
		return shell.Text(first)
	}
	parts := slices.Clone(w.Parts())
	for i := range parts {
		if parts[i].Kind != shell.PartText {
			continue
		}
		if first, _, found := strings.Cut(parts[i].Text, sep); found {
			parts[i].Text = first
			return shell.NewWord(parts[:i+1]...)
		}
	}
	return w
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
