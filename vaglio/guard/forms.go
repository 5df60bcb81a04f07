package guard

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/place"
)

// Hides says whether a rule forbids to touch a clean path, so that nobody is shown what
// is there.
func (g *Guard) Hides(path string) bool { return g.matchPlace(path) != nil }

// matchPath gives the first path rule that a text breaks.
func (g *Guard) matchPath(s string) *rule {
	for i := range g.paths {
		if r := &g.paths[i]; r.match(s) {
			return &r.rule
		}
	}
	return nil
}

// forms tries a text in all its normal forms.
func (s *scan) forms(t text) *rule {
	if t.key {
		if r := s.g.matchPath(s.expandUser(t.s)); r != nil {
			return r
		}
	}
	traits := traitsOf(t.s)
	if traits == 0 && (t.key || t.command || len(s.bases) == 0) {
		return nil
	}
	if r := s.place(t, t.s, traits); r != nil {
		return r
	}
	if t.use != asData && !t.key && !t.command {
		if r := s.grouped(t, traits); r != nil {
			return r
		}
	}
	return s.decoded(t, traits)
}

// grouped tries the paths of a text that may hold more than one.
func (s *scan) grouped(t text, traits trait) *rule {
	if traits&slash != 0 {
		if r := s.several(t); r != nil {
			return r
		}
	}
	if traits&grouped == 0 || strings.ContainsAny(t.s, " \t\n;") {
		return nil
	}
	for _, one := range place.Braced(t.s) {
		if r := s.place(t, one, traitsOf(one)); r != nil {
			return r
		}
	}
	return nil
}

// decoded tries what a text is behind its encodings.
func (s *scan) decoded(t text, traits trait) *rule {
	if traits&(encoded|nul|wide|backslash|colon|quoted) == 0 {
		return nil
	}
	for form := range place.Decodings(t.s, !t.command && t.use != asData, s.g.fold) {
		if r := s.place(t, form, traitsOf(form)); r != nil {
			return r
		}
	}
	return nil
}

// several tries the parts of a text that holds more than one path, or one in
// marks: a list with commas, colons or lines, a list of JSON, an angle bracket.
// Each part must begin as a path does.
func (s *scan) several(t text) *rule {
	listed := t.use == asPath || t.use == asGoal || strings.IndexByte("[{<@", t.s[0]) >= 0
	if !listed && !strings.Contains(t.s, "file:/") {
		return nil
	}
	const most = 64
	if !strings.ContainsAny(t.s, ",;:|<>[]{}\"'@ \t\n") {
		return nil
	}
	marks := marksIn(t.s)
	tried := 0
	for part := range strings.FieldsFuncSeq(t.s, func(r rune) bool { return strings.ContainsRune(marks, r) }) {
		part = fileOf(part)
		if len(part) == len(t.s) || (part[0] != '/' && part[0] != '~') {
			continue
		}
		if tried++; tried > most {
			return nil
		}
		if r := s.place(t, part, traitsOf(part)); r != nil {
			return r
		}
	}
	return nil
}

// marksIn are the bytes that part the paths of a text.
func marksIn(s string) string {
	marks := ",;|<>[]{}\"'@\t\n"
	if strings.ContainsRune("/~[{<@\"'", rune(s[0])) {
		marks += " " // what begins with a word is a sentence: the seed lets it mention a path
	}
	if !strings.Contains(s, "://") && !strings.Contains(s, "file:") {
		marks += ":"
	}
	return marks
}

// fileOf is the path of a URL of a file that a part holds, or the part.
func fileOf(part string) string {
	switch at := strings.Index(part, "file:/"); {
	case at > 0:
		return place.FileURL(strings.TrimRight(part[at:], "!"))
	case at == 0:
		return place.FileURL(part)
	default:
		return part
	}
}

// place tries one spelling of a text as a name in the file system.
func (s *scan) place(t text, form string, traits trait) *rule {
	if traits&blank != 0 {
		form = strings.TrimSpace(form)
	}
	if traits&(tilde|dollar) != 0 {
		form = s.expand(form)
	}
	if r := s.g.match(form); r != nil {
		return r
	}
	if s.g.mentionsOwn(form) {
		return ownRule()
	}
	if t.command || (t.key && traits&slash == 0) {
		return nil
	}
	if strings.HasPrefix(form, "/") {
		return s.absolute(t, form)
	}
	return s.relative(t, form)
}

// absolute tries where an absolute path leads, by its letters and by the links
// that exist.
func (s *scan) absolute(t text, form string) *rule {
	lexical := s.ownProcess(path.Clean(form))
	if lexical != form {
		if r := s.g.match(lexical); r != nil {
			return r
		}
	}
	if s.g.isOwn(lexical) {
		return ownRule()
	}
	s.tryPlace(t, lexical)
	resolved := realpath.Resolve(form)
	if resolved == form || resolved == lexical {
		return nil
	}
	s.tryPlace(t, resolved)
	return s.g.matchPlace(resolved)
}

// relative tries a relative path below every folder it may begin in.
func (s *scan) relative(t text, form string) *rule {
	// A few words without a slash are hardly a file's name: only a link that
	// really has this name counts, and no name has more than 255 characters.
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

// from tries a relative path below one folder.
func (s *scan) from(b *base, t text, form string, prose bool) *rule {
	b.resolve(s.g)
	lexical, resolved := path.Join(b.lexical, form), realpath.Join(b.real, form)
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

// climbing tries a relative path whose beginning nobody knows. Enough ".." may
// reach the root, so they are taken to do so for names that no project has.
func (s *scan) climbing(form string) *rule {
	if !strings.Contains(form, "//") && !strings.Contains(form, "./") {
		return nil
	}
	lexical := path.Clean(form)
	if r := s.g.match(lexical); r != nil {
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
		return ownRule()
	}
	for i := range s.g.paths {
		if r := &s.g.paths[i]; r.telling && r.match("/"+rest) {
			return &r.rule
		}
	}
	return nil
}

// below tries a place that a relative name led to.
func (s *scan) below(b *base, t text, where string) *rule {
	where = s.ownProcess(where)
	if !b.inRoot {
		s.tryPlace(t, where)
		return s.g.matchPlace(where)
	}
	for i := range s.g.paths {
		if r := &s.g.paths[i]; r.id != rootID && r.match(where) {
			return &r.rule
		}
	}
	if s.g.isOwn(where) {
		return ownRule()
	}
	s.tryPlace(t, where)
	return nil
}

// match is matchPath, also in lower case where the system does not tell case
// apart.
func (g *Guard) match(form string) *rule {
	if r := g.matchPath(form); r != nil {
		return r
	}
	if g.fold {
		return g.matchPath(strings.ToLower(form))
	}
	return nil
}

// matchPlace is match for a clean path, with vaglio's own places.
func (g *Guard) matchPlace(where string) *rule {
	if r := g.match(where); r != nil {
		return r
	}
	if g.isOwn(where) {
		return ownRule()
	}
	return nil
}

// ownProcess replaces a process's names for itself: its root and its folder
// are the caller's, all else is what a numbered process folder holds.
func (s *scan) ownProcess(where string) string {
	rest, ok := strings.CutPrefix(where, "/proc/self")
	if !ok {
		rest, ok = strings.CutPrefix(where, "/proc/thread-self")
	}
	if !ok || !place.IsStep(rest) {
		return where
	}
	if below, ok := strings.CutPrefix(rest, "/root"); ok && place.IsStep(below) {
		return s.ownProcess(path.Clean("/" + below))
	}
	if below, ok := strings.CutPrefix(rest, "/cwd"); ok && place.IsStep(below) && s.inCwd {
		return s.bases[0].lexical + below
	}
	return "/proc/0" + rest
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

// trait is a set of what a text holds, so that most texts need one look.
type trait uint16

const (
	slash trait = 1 << iota
	encoded
	dollar
	tilde
	backslash
	colon
	nul
	wide
	blank
	quoted
	grouped
)

func traitsOf(text string) trait {
	var t trait
	for i := range len(text) {
		t |= traitOf(text[i])
	}
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'' || text[0] == '`') {
		t |= quoted
	}
	if text != "" && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		t |= blank
	}
	return t
}

func traitOf(c byte) trait {
	switch c {
	case '/':
		return slash
	case '%', '&':
		return encoded
	case '{', '(':
		return grouped
	case '$':
		return dollar
	case '~':
		return tilde
	case '\\':
		return backslash
	case ':':
		return colon
	case 0:
		return nul
	default:
		if c >= utf8.RuneSelf {
			return wide | blank
		}
		return 0
	}
}
