package shell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// scanTail looks for a destructive command among the words of a program that
// is not known, which may be a wrapper.
func (r *reader) scanTail(f *frame, k *call) {
	name := baseName(k.argv[0])
	if len(k.argv) < 3 || wordclass.Is("takes-words", name) || r.carriers.known(name) {
		return
	}
	last := lastCommandLike(k.argv)
	for i := 1; i < last; i++ {
		if !destructive(baseName(k.argv[i])) || strings.HasSuffix(k.argv[i].Suffix(), "/") {
			continue
		}
		g := f.at(k, name+"?")
		g.conditional = true
		r.run(g, &call{argv: k.argv[i:], span: k.span, external: true})
		return
	}
}

// lastCommandLike is the place of the last word that looks like one of a file
// tool: an option or a path, other than in "tool rm NAME"; 0 if there is none.
func lastCommandLike(words []Word) int {
	for i, w := range slices.Backward(words) {
		s := w.Prefix()
		if w.parts != nil || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "/~=") || s == "." || s == ".." {
			return i
		}
	}
	return 0
}

// destructive reports whether a program's name alone is worth a second look.
func destructive(name string) bool {
	return wordclass.Is("acts-on-system", name) || strings.HasPrefix(name, "mkfs")
}
