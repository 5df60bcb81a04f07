package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// provider is the drive of a path that is no file: registry, certificates,
// variables.
func provider(w shell.Word) (drive, rest string, ok bool) {
	s := w.Prefix()
	if i := strings.Index(s, "::"); i > 0 {
		name := strings.ToLower(s[:i])
		name = name[strings.LastIndexByte(name, '\\')+1:]
		if name == "filesystem" {
			return "", "", false
		}
		return name, s[i+2:], true
	}
	drive, rest, ok = strings.Cut(s, ":")
	if !ok || len(drive) < 2 || strings.ContainsAny(drive, `/\.~ `) || strings.HasPrefix(rest, "//") {
		return "", "", false
	}
	return strings.ToLower(drive), rest, true
}

// registryKey is a path of the registry as reg spells it, with slashes.
func (r *reader) registryKey(drive, rest string) (string, bool) {
	rest = strings.Trim(forward(rest), "/")
	if drive == "registry" {
		drive, rest, _ = strings.Cut(rest, "/")
	}
	root, ok := r.t.roots[strings.ToLower(drive)]
	return strings.TrimRight(root+"/"+rest, "/"), ok
}

// path is a word as the path of a file: forward slashes, the home and the
// drive at its beginning, wildcards where they work.
func (r *reader) path(w shell.Word, literal bool) shell.Word {
	parts := make([]shell.Part, 0, 4)
	first := true
	for _, p := range w.Parts() {
		if p.Kind != shell.PartText {
			parts = append(parts, p)
			first = false
			continue
		}
		s := p.Text
		if first {
			s = r.beginning(s)
			if rest, ok := strings.CutPrefix(s, "~"); ok && (rest == "" || rest[0] == '/') {
				parts = append(parts, r.home().Parts()...)
				s = rest
			}
		}
		first = false
		if !strings.HasPrefix(s, `\\.\`) {
			s = trimmed(forward(s))
		}
		if literal || strings.HasPrefix(s, `\\`) {
			parts = append(parts, shell.Part{Text: s})
			continue
		}
		parts = append(parts, shell.Globs(s)...)
	}
	return shell.NewWord(parts...)
}

// beginning reads what may stand before a path proper.
func (r *reader) beginning(s string) string {
	if i := strings.Index(s, "::"); i > 0 && strings.HasSuffix(strings.ToLower(s[:i]), "filesystem") {
		s = s[i+2:]
	}
	switch {
	case strings.HasPrefix(s, `\\?\`):
		s = s[len(`\\?\`):]
	case strings.HasPrefix(s, `\\.\`):
		if len(s) > 5 && s[5] == ':' {
			return s[len(`\\.\`):]
		}
		return s
	case strings.HasPrefix(s, `\\`), strings.HasPrefix(s, `//`):
		return forward(s)
	}
	if strings.HasPrefix(s, `\`) {
		s = "C:" + s // the root of the drive
	}
	if rest, ok := strings.CutPrefix(s, "~"); ok && (rest == "" || strings.IndexByte(`\/`, rest[0]) >= 0) {
		return "~" + forward(rest)
	}
	return s
}

// trimmed writes the steps of a path as Windows understands them: without dots
// or blanks at their ends.
func trimmed(s string) string {
	steps := strings.Split(s, "/")
	for i, step := range steps {
		if t := strings.TrimRight(step, ". "); t != "" && len(steps) > 1 {
			steps[i] = t
		}
	}
	return strings.Join(steps, "/")
}

func (r *reader) home() shell.Word {
	if r.o.Home == "" {
		return unknownWord("HOME")
	}
	return shell.Text(strings.TrimRight(forward(r.o.Home), "/"))
}

// below is a name in a folder.
func below(dir, name shell.Word) shell.Word {
	if dir.Is("") || dir.Is(".") {
		return name
	}
	if strings.HasSuffix(dir.Suffix(), "/") || strings.HasSuffix(dir.Suffix(), `\`) {
		return shell.Glue(dir, name)
	}
	return shell.Glue(dir, shell.Text("/"), name)
}

// isAbsolute says that a path does not begin in the current folder.
func isAbsolute(w shell.Word) bool {
	s := w.Prefix()
	return s == "" && w.HasUnknown() || strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "~") || len(s) > 1 && s[1] == ':'
}

// programName is the name of a program in lower case, without its folder and
// without the ending of a file that runs; "" if it is not known.
func programName(w shell.Word) string {
	s, ok := w.Text()
	if !ok {
		s = w.Suffix()
		if !strings.ContainsAny(s, `/\`) {
			return ""
		}
	}
	s = strings.ToLower(s[strings.LastIndexAny(s, `/\`)+1:])
	for _, ending := range [...]string{".exe", ".com"} {
		s = strings.TrimSuffix(s, ending)
	}
	return s
}

func isPowerShell(name string) bool {
	return name == "powershell" || name == "pwsh" || name == "powershell_ise" || name == "pwsh-preview"
}

// nativeWord is an argument of a program: as it is, but a path of Windows is
// spelled with the slashes that all tables use.
func (r *reader) nativeWord(w shell.Word) shell.Word {
	s := w.Prefix()
	if s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) {
		return r.path(w, true)
	}
	if !w.HasUnknown() && !strings.Contains(w.String(), `\`) {
		return w
	}
	for _, p := range w.Parts() {
		if p.Kind == shell.PartText && !isPathText(p.Text) {
			return w
		}
	}
	return r.path(w, true)
}

// isPathText says that a text holds only what paths are made of.
func isPathText(s string) bool {
	if strings.HasPrefix(s, `\`) && !strings.HasPrefix(s, `\\`) {
		return false // an escape of an expression
	}
	for i := range len(s) {
		switch c := s[i]; {
		case isNameByte(c) || strings.IndexByte(`\/:.-_ ~@+#,=*?()[]{}%&`, c) >= 0:
		default:
			return false
		}
	}
	return !strings.Contains(s, "://")
}
