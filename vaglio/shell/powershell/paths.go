package powershell

import (
	"regexp"
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
	root, ok := r.t.words["roots"][strings.ToLower(drive)]
	return strings.TrimRight(root+"/"+rest, "/"), ok
}

// key is a word of reg, of which a path is spelled as all tables spell it.
func (r *reader) key(w shell.Word) shell.Word {
	drive, rest, _ := strings.Cut(forward(w.String()), "/")
	if key, ok := r.registryKey(drive, rest); ok {
		return shell.Text(key)
	}
	return w
}

// paths are the words of a value as paths of files; what belongs to another
// provider is handled by itself.
func (w *work) paths(v value, literal, writes bool) []shell.Word {
	w.r.pay(len(v.items), 0)
	out := make([]shell.Word, 0, len(v.items))
	for _, item := range v.items {
		drive, rest, ok := provider(item)
		if !ok {
			out = append(out, w.r.path(item, literal))
		} else if writes {
			w.provided(drive, rest, item)
		}
	}
	return out
}

// provided notes a change of what is no file: a key of the registry, in the
// words of reg, or what else a provider keeps.
func (w *work) provided(drive, rest string, item shell.Word) {
	r := w.r
	if key, ok := r.registryKey(drive, rest); ok {
		order := "add"
		if strings.HasPrefix(w.name, "Remove-") || strings.HasPrefix(w.name, "Clear-") {
			order = "delete"
		}
		r.emit(shell.Command{Name: "reg", Argv: []shell.Word{shell.Text("reg"), shell.Text(order), shell.Text(key)}})
		return
	}
	switch drive {
	case "env":
		r.setenv(rest, unknown())
		r.setVar(drive+":"+strings.ToLower(rest), unknown())
	case "variable", "function", "alias":
		r.unread("what a name stands for is changed in a way that is not read")
	default:
		r.emit(shell.Command{Name: w.name, Argv: []shell.Word{shell.Text(w.name), item}})
	}
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
			if s = forward(s); strings.Contains(s, "/") {
				s = trimmed.ReplaceAllString(s, "$1$2")
			}
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
	device := strings.HasPrefix(s, `\\.\`)
	switch {
	case strings.HasPrefix(s, `\\?\`), device && len(s) > 5 && s[5] == ':':
		return s[len(`\\?\`):]
	case !device && (strings.HasPrefix(s, `\\`) || strings.HasPrefix(s, `//`) || strings.HasPrefix(s, `~\`)):
		return forward(s)
	case !device && strings.HasPrefix(s, `\`):
		return "C:" + s // the root of the drive
	}
	return s
}

// trimmed are dots and blanks at the ends of the steps of a path, which Windows
// leaves out.
var trimmed = regexp.MustCompile(`([^/. ])[. ]+(/|$)`)

func (r *reader) home() shell.Word {
	if r.o.Home == "" {
		return unknownWord("HOME")
	}
	return shell.Text(strings.TrimRight(forward(r.o.Home), "/"))
}

// renamed is the path of a file under a new name.
func renamed(from, name shell.Word) shell.Word {
	s, ok := from.Text()
	switch i := strings.LastIndexByte(s, '/'); {
	case isAbsolute(name) || ok && i < 0:
		return name
	case !ok || name.HasUnknown():
		return unknownWord("")
	default:
		return shell.Glue(shell.Text(s[:i+1]), name)
	}
}

// found is the folder of something that a search finds.
func found() shell.Word { return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find"}) }

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

// below are names in a folder.
func (r *reader) below(dir shell.Word, names []shell.Word) []shell.Word {
	r.pay(len(names), weigh(names...)+len(names)*weigh(dir))
	out := make([]shell.Word, len(names))
	for i := range names {
		out[i] = below(dir, names[i])
	}
	return out
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
	return strings.TrimSuffix(strings.TrimSuffix(s, ".exe"), ".com")
}

func isPowerShell(name string) bool {
	return name == "powershell" || name == "pwsh" || name == "powershell_ise" || name == "pwsh-preview"
}

// nativeWord is an argument of a program: as it is, but a path of Windows is
// spelled with the slashes that all tables use.
func (r *reader) nativeWord(w shell.Word) shell.Word {
	isPath := w.HasUnknown() || strings.Contains(w.String(), `\`)
	for _, p := range w.Parts() {
		isPath = isPath && (p.Kind != shell.PartText || pathText.MatchString(p.Text) && !strings.Contains(p.Text, "://"))
	}
	if s := w.Prefix(); isPath || s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) {
		return r.path(w, true)
	}
	return w
}

// pathText holds only what paths are made of, and begins with no escape of an
// expression.
var pathText = regexp.MustCompile(`^(?:$|[^\\]|\\\\)[\w\x{80}-\x{10ffff}\\/:.\- ~@+#,=*?()\[\]{}%&]*$`)

// forward writes a path of Windows with the slashes that all tables use.
func forward(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// nativeName is the name of a program as the tables know it: Windows does not
// tell capitals from small letters.
func (r *reader) nativeName(name shell.Word, base string) shell.Word {
	s, ok := name.Text()
	switch {
	case !ok:
		return r.path(name, true)
	case strings.ContainsAny(s, `/\~`):
		p := r.path(name, true)
		lower := strings.ToLower(p.String())
		if strings.HasPrefix(lower, "c:/windows/system32/") || strings.HasPrefix(lower, "c:/program files") || strings.HasPrefix(lower, "/usr/") {
			return shell.Text(base)
		}
		return p
	case strings.HasSuffix(strings.ToLower(s), ".exe"), s == strings.ToUpper(s):
		return shell.Text(base)
	}
	return name
}

// isScript says that a file holds a script of one of these shells.
func isScript(path string) bool { return scripts.MatchString(path) }

var scripts = regexp.MustCompile(`(?i)(?:\.psm?1|\.bat|[\\/].*\.cmd)$`)
