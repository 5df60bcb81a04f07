package patch

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// parse tells the options and operands of a command apart.
func (a *applier) parse() {
	g := grammarOf(a.name)
	a.options = map[string]shell.Word{}
	words := a.cmd.Argv[1:]
	if strings.HasPrefix(a.name, "apply") { // the patch itself may begin with a dash
		a.words = words
		return
	}
	if _, sub, ok := strings.Cut(a.name, " "); ok {
		words = a.behind(sub, words)
	}
	for i := 0; i < len(words); i++ {
		s := words[i].Prefix()
		switch {
		case s == "--":
			a.words = append(a.words, words[i+1:]...)
			return
		case strings.HasPrefix(s, "--"):
			i += a.long(g, words[i], words[i+1:])
		case len(s) > 1 && s[0] == '-':
			i += a.short(g, words[i], words[i+1:])
		default:
			a.words = append(a.words, words[i])
		}
	}
}

// behind takes git's own options and the subcommand off its words.
func (a *applier) behind(sub string, words []shell.Word) []shell.Word {
	for i, w := range words {
		if w.Is(sub) && (i == 0 || !words[i-1].Is("-C")) {
			return words[i+1:]
		}
	}
	return nil
}

// long records a long option, which may be cut short, and returns how many
// further words it takes.
func (a *applier) long(g grammar, w shell.Word, rest []shell.Word) int {
	name, _, has := strings.Cut(strings.TrimPrefix(w.Prefix(), "--"), "=")
	full, takes := name, false
	for _, l := range g.long {
		if l == name || len(name) > 2 && !takes && strings.HasPrefix(l, name) {
			full, takes = l, true
		}
	}
	switch {
	case has:
		a.options[full] = cut(w, len("--")+len(name)+len("="))
	case takes && len(rest) > 0:
		a.options[full] = rest[0]
		return 1
	default:
		a.options[full] = shell.Word{}
	}
	return 0
}

// short records a word of short options and returns how many further words it
// takes.
func (a *applier) short(g grammar, w shell.Word, rest []shell.Word) int {
	s := w.Prefix()
	for i := 1; i < len(s); i++ {
		name := s[i : i+1]
		if !strings.Contains(g.short, name) {
			a.options[name] = shell.Word{}
			continue
		}
		if value := cut(w, i+1); !value.Is("") {
			a.options[name] = value
			return 0
		}
		if len(rest) > 0 {
			a.options[name] = rest[0]
			return 1
		}
	}
	return 0
}

// cut returns a word without its first n bytes, which are known.
func cut(w shell.Word, n int) shell.Word {
	parts := append([]shell.Part(nil), w.Parts()...)
	if len(parts) == 0 {
		return w
	}
	parts[0].Text = parts[0].Text[min(n, len(parts[0].Text)):]
	if parts[0].Text == "" {
		parts = parts[1:]
	}
	return shell.NewWord(parts...)
}

func (a *applier) has(names ...string) bool {
	_, ok := a.option(names...)
	return ok
}

// option returns the value of the first of the options that is given.
func (a *applier) option(names ...string) (shell.Word, bool) {
	for _, n := range names {
		if w, ok := a.options[n]; ok {
			return w, true
		}
	}
	return shell.Word{}, false
}
