package guard

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/place"
)

// Hides reports whether a rule forbids touching a clean path, so that nobody may see what is there.
func (g *Guard) Hides(path string) bool { return g.matchPlace(g.paths, path) != nil }

// firstBroken returns the first of the rules that a text breaks.
func firstBroken(rules []*rule, s string) *rule {
	for _, r := range rules {
		if r.match(s) {
			return r
		}
	}
	return nil
}

// forms checks a text in all its spellings.
func (s *scan) forms(t text) *rule {
	if place.IsPlain(t.s) && (t.key || t.command || len(s.bases) == 0) {
		return nil
	}
	if r := s.place(t, t.s); r != nil {
		return r
	}
	for form := range place.Spellings(t.s, t.hints(), s.g.fold) {
		if r := s.place(t, form); r != nil {
			return r
		}
	}
	return nil
}

func (t *text) hints() place.Hint {
	h := [...]place.Hint{asData: place.Content, asPath: place.Named, asGoal: place.Named, asGlob: 0}[t.use]
	if t.key {
		h |= place.Key
	}
	if t.command {
		h |= place.Line
	}
	return h
}

// place checks one spelling of a text as a file name.
func (s *scan) place(t text, form string) *rule {
	name := t.key && !strings.Contains(form, "/")
	form = s.expand(strings.TrimSpace(form))
	if r := s.g.match(s.g.paths, form); r != nil {
		return r
	}
	if s.g.mentionsOwn(form) {
		return s.g.rules[ownID]
	}
	if t.command || name || t.use == asData && strings.Contains(form, "\n") { // a comment that begins with a slash begins no path
		return nil
	}
	if strings.HasPrefix(form, "/") {
		return s.absolute(t, form)
	}
	return s.relative(t, form)
}

// absolute checks where an absolute path leads, both lexically and through existing links.
func (s *scan) absolute(t text, form string) *rule {
	lexical := s.ownProcess(path.Clean(form))
	if lexical != form {
		if r := s.g.match(s.g.paths, lexical); r != nil {
			return r
		}
	}
	if s.g.isOwn(lexical) {
		return s.g.rules[ownID]
	}
	s.tryPlace(t, lexical)
	resolved := realpath.On(s.g.machine, form)
	if resolved == lexical {
		return nil
	}
	s.tryPlace(t, resolved)
	return s.g.matchPlace(s.g.paths, resolved)
}

// relative checks a relative path below every folder in which it may begin.
func (s *scan) relative(t text, form string) *rule {
	// A few words without a slash are hardly a file name: they count only if a link really has that name. No file name has more than 255 characters.
	prose := !strings.Contains(form, "/") && strings.ContainsAny(form, " \t\n")
	if form == "" || prose && utf8.RuneCountInString(form) > 255 {
		return nil
	}
	if !s.inCwd {
		if r := s.climbing(form); r != nil {
			return r
		}
	}
	for i := range s.bases {
		if r := s.from(&s.bases[i], t, form, prose); r != nil {
			return r
		}
	}
	return nil
}

// from checks a relative path below one folder.
func (s *scan) from(b *base, t text, form string, prose bool) *rule {
	b.resolve(s.g)
	lexical, resolved := path.Join(b.lexical, form), realpath.Join(s.g.machine, b.real, form)
	if !prose {
		if r := s.below(b, t, lexical); r != nil {
			return r
		}
	}
	if resolved != lexical && (!prose || resolved != path.Join(b.real, form)) {
		return s.below(b, t, resolved)
	}
	return nil
}

// climbing checks a relative path whose start is unknown. Enough ".." may reach the root, so for names that no project has, they are assumed to.
func (s *scan) climbing(form string) *rule {
	if !strings.Contains(form, "//") && !strings.Contains(form, "./") {
		return nil
	}
	lexical := path.Clean(form)
	if r := s.g.match(s.g.paths, lexical); r != nil {
		return r
	}
	rest := lexical
	for strings.HasPrefix(rest, "../") {
		rest = rest[len("../"):]
	}
	if !strings.HasPrefix(lexical, "../") {
		return nil
	}
	if s.g.isOwn("/" + rest) {
		return s.g.rules[ownID]
	}
	for _, r := range s.g.paths {
		if r.isTelling() && r.match("/"+rest) {
			return r
		}
	}
	return nil
}

// below checks the path that a relative name led to.
func (s *scan) below(b *base, t text, where string) *rule {
	where = s.ownProcess(where)
	s.tryPlace(t, where)
	paths := s.g.paths
	if b.inRoot {
		paths = slices.DeleteFunc(slices.Clone(paths), func(r *rule) bool { return r.id == rootID })
	}
	return s.g.matchPlace(paths, where)
}

// match gives the first of the path rules that a text breaks, also in lower case where the system does not tell case apart.
func (g *Guard) match(paths []*rule, form string) *rule {
	if r := firstBroken(paths, form); r != nil || !g.fold {
		return r
	}
	return firstBroken(paths, strings.ToLower(form))
}

// matchPlace is match for a clean path. It also checks vaglio's own paths.
func (g *Guard) matchPlace(paths []*rule, where string) *rule {
	if r := g.match(paths, where); r != nil || !g.isOwn(where) {
		return r
	}
	return g.rules[ownID]
}

// ownProcess rewrites a path through a process's own /proc folder: root and cwd become the caller's, and all else becomes that of a numbered process.
func (s *scan) ownProcess(where string) string {
	cwd := ""
	if s.inCwd {
		cwd = s.bases[0].lexical
	}
	where = place.ByProcess(where, cwd)
	for _, own := range [...]string{"/proc/self", "/proc/thread-self"} {
		if rest, ok := strings.CutPrefix(where, own); ok && place.IsStep(rest) {
			return "/proc/0" + rest
		}
	}
	return where
}

// expand replaces a leading tilde, and $HOME and ${HOME} anywhere.
func (s *scan) expand(form string) string {
	form = s.expandUser(form)
	if s.g.home == "" || !strings.Contains(form, "$") {
		return form
	}
	home := strings.TrimRight(s.g.home, "/")
	return place.ReplaceHome(strings.ReplaceAll(form, "${HOME}", home), home)
}

// commandForms checks a line as it stands and in its normal form.
func (g *Guard) commandForms(line string) *rule {
	if r := firstBroken(g.commands, line); r != nil {
		return r
	}
	form := place.PlainLine(line)
	if g.fold {
		form = strings.ToLower(form)
	}
	if form == line {
		return nil
	}
	return firstBroken(g.commands, form)
}
