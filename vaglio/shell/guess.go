package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// maxGuesses bounds how many programs a pattern is read as.
const maxGuesses = 12

// guesses are the commands that a name may be of which something is known: a
// pattern below a folder of programs, or text around parts that may be empty.
func (r *reader) guesses(name Word) []string {
	dir, base, known := splitName(name)
	if !known {
		return nil
	}
	if !base.HasGlob() {
		text, ok := base.Text()
		if !ok || text == "" || dir.HasUnknown() || !r.knownProgram(text) {
			return nil
		}
		return []string{text}
	}
	return matching(dir, base)
}

// matching are the programs that a pattern below a folder of programs may be.
func matching(dir, base Word) []string {
	folder, ok := compile(dir)
	pat, okBase := compile(base)
	if !ok || !okBase || !slices.ContainsFunc(base.Parts(), func(p Part) bool { return p.Text != "*" }) {
		return nil
	}
	if !slices.ContainsFunc([]string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"}, folder.MatchString) {
		return nil
	}
	var out []string
	for _, n := range wordclass.Of("likely-command") {
		if pat.MatchString(n) {
			out = append(out, n)
		}
	}
	return out[:min(len(out), maxGuesses)]
}

// splitName splits a command's name at its last slash, without the parts that
// may be empty; false if a part cannot be.
func splitName(name Word) (dir, base Word, ok bool) {
	var b builder
	for _, p := range name.Parts() {
		switch {
		case p.Kind == PartUnknown && !p.MayBeEmpty:
			return Word{}, Word{}, false
		case p.Kind != PartUnknown:
			b.add(p)
		}
	}
	w := b.word()
	parts := slices.Clone(w.Parts())
	var d, f builder
	for i, p := range slices.Backward(parts) {
		at := strings.LastIndexByte(p.Text, '/')
		if p.Kind != PartText || at < 0 {
			continue
		}
		for _, p := range parts[:i] {
			d.add(p)
		}
		d.addText(parts[i].Text[:at+1])
		f.addText(parts[i].Text[at+1:])
		for _, p := range parts[i+1:] {
			f.add(p)
		}
		return d.word(), f.word(), true
	}
	return Word{}, w, true
}

// knownProgram reports whether a name is one that the reader knows.
func (r *reader) knownProgram(name string) bool {
	return r.carriers.known(name) || wordclass.Is("likely-command", name)
}

// guessed reads a command whose name is not known in full as each program
// that it may be.
func (r *reader) guessed(f *frame, k *call) {
	for _, name := range r.guesses(k.argv[0]) {
		g := f.with("?")
		g.conditional = true
		argv := append([]Word{Text(name)}, k.argv[1:]...)
		r.run(g, &call{argv: argv, redirs: k.redirs, assigns: k.assigns, span: k.span, external: true})
	}
}

// renamed notes that a program got another name, by cp or ln.
func (r *reader) renamed(from, to Word) {
	key, ok := r.fileKey(to)
	if name := baseName(from); ok && r.knownProgram(name) && !r.written(from) {
		r.st.set(keyProgram+strings.TrimPrefix(key, keyFile), Text(name))
	}
}

// originalName is the program that a path was made a copy of, "" if none.
func (r *reader) originalName(name Word) string {
	s, ok := name.Text()
	if !ok || !strings.Contains(s, "/") {
		return ""
	}
	key, ok := r.fileKey(name)
	if !ok {
		return ""
	}
	e := r.st.get(keyProgram + strings.TrimPrefix(key, keyFile))
	if !e.hasValue() {
		return ""
	}
	return path.Base(e.vals[0].text)
}

// scanTail looks for a destructive command among the words of a program that
// is not known, which may be a wrapper.
func (r *reader) scanTail(f *frame, k *call) {
	name := baseName(k.argv[0])
	if len(k.argv) < 3 || harmlessWords(name) || r.carriers.known(name) {
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

// harmlessWords reports whether the words of a program are certainly no
// command.
func harmlessWords(name string) bool {
	return wordclass.Is("takes-words", name)
}
