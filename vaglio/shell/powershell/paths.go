package powershell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
)

// provider returns the drive of a path that is not a file, and the rest of the path: registry, certificates, variables.
func provider(w shell.Word) (drive, rest string, ok bool) {
	m := providers.FindStringSubmatch(w.Prefix())
	if m == nil || strings.HasPrefix(m[3], "//") || strings.EqualFold(m[1], "filesystem") {
		return "", "", false
	}
	return strings.ToLower(m[1] + m[2]), m[3], true
}

// providers matches Module\Registry::rest and hklm:rest.
var providers = regexp.MustCompile(`(?s)^(?:(?:[\w.]+\\)?(\w+)::|([^:/\\.~ ]{2,}):)(.*)$`)

// paths returns the words of a value as file paths, and handles what belongs to another provider itself.
func (w *work) paths(v value, literal, writes bool) []shell.Word {
	w.r.pay(len(v.items), 0)
	out := make([]shell.Word, 0, len(v.items))
	for _, item := range v.items {
		drive, rest, ok := provider(item)
		switch {
		case !ok:
			out = append(out, w.r.path(item, literal))
		case writes:
			w.provided(drive, rest, item)
		case drive == "env":
			w.r.environment(strings.Trim(rest, `/\*`))
		}
	}
	return out
}

// environment records that a variable of the environment is shown, or all of them.
func (r *reader) environment(name string) {
	argv := []shell.Word{shell.Text("printenv"), shell.Text(name)}
	if name == "" {
		argv = argv[:1]
	}
	r.emit(shell.Command{Name: "printenv", Argv: argv})
}

// shown records that values are printed, as far as they are of variables of the environment: their names are in capitals.
func (r *reader) shown(v value) {
	for _, w := range v.items {
		if slices.ContainsFunc(w.Parts(), func(p shell.Part) bool { return p.Name != "" && p.Name == strings.ToUpper(p.Name) }) {
			r.emit(shell.Command{Name: "echo", Argv: []shell.Word{shell.Text("echo"), w}})
		}
	}
}

// provided records a change to something other than a file: a registry key, as reg would name it, or what else a provider holds.
func (w *work) provided(drive, rest string, item shell.Word) {
	r := w.r
	if rest = strings.Trim(forward(rest), "/"); drive == "registry" {
		drive, rest, _ = strings.Cut(rest, "/")
	}
	if roots.MatchString(drive) {
		order := "add"
		if strings.HasPrefix(w.name, "Remove-") || strings.HasPrefix(w.name, "Clear-") {
			order = "delete"
		}
		key := strings.TrimRight(strings.ToUpper(drive)+"/"+rest, "/")
		argv := []shell.Word{shell.Text("reg"), shell.Text(order), shell.Text(key)}
		if strings.HasSuffix(w.name, "Property") { // a value of the key
			argv = append(argv, shell.Text("/v"))
		}
		r.emit(shell.Command{Name: "reg", Argv: argv})
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

var roots = regexp.MustCompile(`(?i)^hk(?:lm|cu|cr|u|ey_\w+)$`)

// path returns a word as a file path: with forward slashes, with the home and the drive at its beginning, with active wildcards unless literal is set.
func (r *reader) path(w shell.Word, literal bool) shell.Word {
	var parts []shell.Part
	for i, p := range w.Parts() {
		s := p.Text
		if p.Kind != shell.PartText {
			parts = append(parts, p)
			continue
		}
		r.step(len(s) / bytesPerStep)
		if i == 0 {
			s = fromDrive(s)
			if s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) {
				parts = append(parts, r.home().Parts()...)
				s = s[1:]
			}
		}
		device := strings.HasPrefix(s, `\\.\`)
		if !device && strings.ContainsAny(s, `/\`) {
			if s = forward(s); strings.ContainsAny(s, ". ") {
				s = trimmed.ReplaceAllString(s, "$1$2")
			}
		}
		if literal || device {
			parts = append(parts, shell.Part{Text: s})
			continue
		}
		parts = append(parts, shell.Globs(s)...)
	}
	return shell.NewWord(parts...)
}

// fromDrive returns a path without any prefix, with the drive that it is on.
func fromDrive(s string) string {
	if strings.HasPrefix(s, `\\`) || strings.Contains(s, ":") {
		s = outside.ReplaceAllString(s, "$1")
	}
	return rooted.ReplaceAllString(s, "C:$0")
}

// rooted matches the beginning of a path from the drive's root, and outside matches prefixes of a path.
var rooted = regexp.MustCompile(`^\\(?:[^\\]|$)`)

var outside = regexp.MustCompile(`(?i)^(?:[^:]*filesystem::|\\\\\?\\|\\\\\.\\([a-z]:))`)

// trimmed matches dots and blanks at the end of path elements, which Windows ignores.
var trimmed = regexp.MustCompile(`([^/. ])[. ]+(/|$)`)

func (r *reader) home() shell.Word {
	if r.o.Home == "" {
		return word.Unknown("HOME")
	}
	return shell.Text(strings.TrimRight(forward(r.o.Home), "/"))
}

// renamed returns the path of a file under a new name.
func renamed(from, name shell.Word) shell.Word {
	s, ok := from.Text()
	if !ok || name.HasUnknown() {
		return word.Unknown("")
	}
	dir, _ := path.Split(s)
	return below(shell.Text(dir), name)
}

// found returns the folder of something that a search finds.
func found() shell.Word {
	return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find", Level: true})
}

// below returns the path of a name in a folder.
func below(dir, name shell.Word) shell.Word {
	if dir.Is("") || dir.Is(".") {
		return name
	}
	if strings.HasSuffix(dir.Suffix(), `\`) {
		return shell.Glue(dir, name)
	}
	return word.InFolder(dir, name)
}

// below returns the paths of names in a folder.
func (r *reader) below(dir shell.Word, names []shell.Word) []shell.Word {
	r.pay(len(names), weigh(names...)+len(names)*weigh(dir))
	out := make([]shell.Word, len(names))
	for i := range names {
		out[i] = below(dir, names[i])
	}
	return out
}

// isAbsolute reports whether a path does not start in the current folder.
func isAbsolute(w shell.Word) bool {
	s := w.Prefix()
	return s == "" && w.HasUnknown() || strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "~") || len(s) > 1 && s[1] == ':'
}

// programName returns the name of a program in lower case, without its folder and its executable extension; "" if unknown.
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

// nativeWord returns an argument for a program: unchanged, except that a Windows path gets the slashes that all tables use.
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

// pathText matches text that only contains what paths consist of and does not begin with an escape.
var pathText = regexp.MustCompile(`^(?:$|[^\\]|\\\\)[\w\x{80}-\x{10ffff}\\/:.\- ~@+#,=*?()\[\]{}%&]*$`)

// forward writes a Windows path with the slashes that all tables use.
func forward(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// nativeName returns the name of a program as the tables know it: Windows ignores case.
func (r *reader) nativeName(name shell.Word, base string) shell.Word {
	p := r.path(name, true)
	if s, ok := p.Text(); ok && (installed.MatchString(s) || !strings.Contains(s, "/") && s == strings.ToUpper(s)) {
		return shell.Text(base)
	}
	return p
}

var installed = regexp.MustCompile(`(?i)^(?:c:/windows/system32/|c:/program files|/usr/|[^/~]*\.exe$)`)

// isScript reports whether a file is a script of one of these shells.
func isScript(path string) bool { return scripts.MatchString(path) }

var scripts = regexp.MustCompile(`(?i)(?:\.psm?1|\.bat|[\\/].*\.cmd)$`)
