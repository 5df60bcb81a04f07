package reading

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/notebook"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/powershell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// program reads a text under a key that names code. The key, the executor or an argument may tell its language; otherwise it is read as what it looks like.
func (w *walk) program(key, text string, role Role, sc *scope, at string) {
	in := *sc
	if lang := languageWord(Normal(key)); lang != "" {
		in.lang = lang
	}
	switch {
	case w.statement(text, sc, at), w.isName(text, role):
		return
	case role&RoleScript != 0 && w.class.shell && in.lang == "" && !isOther(shapeOf(text)):
		w.withWords(text, &in, at, mood{final: true})
		return
	}
	if in.lang == "" || in.lang == langPython {
		if text = w.cell(text, &in, at); strings.TrimSpace(text) == "" {
			return
		}
	}
	w.spoken(text, role, &in, at)
}

// isName reports whether a text is a number or a name, which does nothing as a program, under a key that does not pass it to a shell.
func (w *walk) isName(text string, role Role) bool {
	return !w.class.shell && isWord(strings.TrimSpace(text)) && (role&RoleScript == 0 || !w.class.runs)
}

// mayBeShell reports whether a program may be shell code, whatever its claimed language.
func (sc *scope) mayBeShell(role Role) bool {
	return (sc.claimed || role&RoleScript != 0) && interpreter(sc.lang, "") != nil
}

// spoken reads a program in its claimed language, and in the one that it looks like.
func (w *walk) spoken(text string, role Role, in *scope, at string) {
	shape := shapeOf(text)
	said := isOther(in.lang)
	switch {
	case !isOther(shape) && (w.class.shell || in.lang == langShell):
		w.withWords(text, in, at, mood{final: w.class.posix && !said})
		if said { // an argument says so, but a shell ignores it
			w.inline(text, in, at)
		}
	case said:
		w.inline(text, in, at)
		if !isOther(shape) && in.mayBeShell(role) {
			w.line(text, in, at, mood{doubt: true})
		}
	case shape != "":
		in.lang = shape
		w.inline(text, in, at)
		w.otherwise(text, in, at)
	default:
		w.undecided(text, role, in, at)
	}
}

// statement records a database statement under a key for things that run, and reports whether the text is one.
func (w *walk) statement(text string, sc *scope, at string) bool {
	if w.class.shell || !w.class.data && (!IsStatement(text) || isOther(shapeOf(text))) {
		return false
	}
	w.rd.Statements = append(w.rd.Statements, Text{At: at, Text: text, Role: RoleStatement})
	w.line(text, sc, at, mood{doubt: true})
	return true
}

// otherwise reads a program whose language is only guessed from its looks in the other likely language, too, and as shell code if a shell may run it.
func (w *walk) otherwise(text string, sc *scope, at string) {
	if w.class.shell {
		w.line(text, sc, at, mood{doubt: true})
	}
	if other := map[string]string{langPython: langNode, langNode: langPython}[sc.lang]; other != "" {
		w.add(Command{At: at, Text: text, Language: other, Script: ReadArgv(interpreter(other, text), sc.o), Doubt: true})
	}
}

// undecided reads a text of unknown language: as shell code if it parses, otherwise in the common languages, too.
func (w *walk) undecided(text string, role Role, sc *scope, at string) {
	known := w.class.runs && !w.class.elsewhere
	s := ReadLine(text, sc.o)
	if !slices.ContainsFunc(s.Problems, func(p shell.Problem) bool { return p.Kind == shell.ProblemUnparsable }) {
		w.everywhere(Command{At: at, Text: text, Language: langShell, Script: s, Env: sc.env, Doubt: !known && role&RoleScript == 0}, sc)
		return
	}
	w.add(Command{At: at, Text: text, Language: langShell, Script: s, Env: sc.env, Doubt: true})
	for _, lang := range [...]string{langPython, langNode} {
		w.add(Command{At: at, Text: text, Language: lang, Script: ReadArgv(interpreter(lang, text), sc.o), Doubt: true})
	}
	if known || role&RoleScript != 0 {
		w.gap(at, wording.Say("is not a program of a language that is known"))
	}
}

// inline reads a program in the language of its scope.
func (w *walk) inline(text string, sc *scope, at string) {
	argv := interpreter(sc.lang, text)
	switch {
	case sc.lang == langPowerShell:
		w.windows(powershell.PowerShell, text, sc, at)
	case sc.lang == langShell:
		w.line(text, sc, at, mood{})
	case argv == nil:
		if w.class.runs {
			w.gap(at, wording.Say("is a program in %s, which nobody here can read", clip(sc.lang)))
		}
		w.line(text, sc, at, mood{doubt: true})
	default:
		if sc.lang == langPython {
			if text = w.cell(text, sc, at); strings.TrimSpace(text) == "" {
				return
			}
			argv = interpreter(sc.lang, text)
		}
		w.add(Command{At: at, Text: text, Language: sc.lang, Script: ReadArgv(argv, sc.o), Env: sc.env})
	}
}

func clip(s string) string {
	const most = 40
	return s[:min(len(s), most)]
}

// interpreter returns the command line that runs a program, nil for a language that is not read.
func interpreter(lang, text string) []string {
	switch lang {
	case langPython:
		return []string{lang, "-c", text}
	case langNode, "perl", "ruby", "lua", "osascript":
		return []string{lang, "-e", text}
	case "php":
		return []string{lang, "-r", strings.TrimPrefix(strings.TrimSpace(text), "<?php")}
	default:
		return nil
	}
}

// cell reads what a notebook cell passes to a shell or a file, and returns the rest of it.
func (w *walk) cell(text string, sc *scope, at string) string {
	if !strings.ContainsAny(text, "!%") {
		return text
	}
	magic, args, body := notebook.Split(text)
	in := *sc
	switch kind := wordclass.Kind("cell", magic); kind {
	case "file":
		w.argv([]string{"tee", strings.TrimSpace(strings.TrimPrefix(args, "-a "))}, &scope{o: sc.o}, at, false)
		return ""
	case "sh", "python":
		in.lang = map[string]string{"sh": langShell, "python": langPython}[kind]
	case "rest":
		return w.cellLines(body, sc, at)
	case "shown":
		return body
	default:
		in.lang = languageWord(magic)
	}
	switch {
	case body == text: // without a mark
		return w.cellLines(text, sc, at)
	case magic == "script":
		if in.lang = languageOf(args); in.lang == "" {
			w.gap(at, wording.Say("is a program of an interpreter that is not named"))
			return ""
		}
	case in.lang == "":
		w.gap(at, wording.Say("begins with %s, which nobody here can read", "%%"+clip(magic)))
		return text[strings.Index(text, "%%")+len("%%"):]
	}
	if in.lang == langPython {
		w.add(Command{At: at, Text: body, Language: langPython, Script: ReadArgv(interpreter(langPython, body), in.o), Env: in.env})
		return ""
	}
	w.inline(body, &in, at)
	return ""
}

// cellLines reads the lines of a cell that a shell gets, and returns the others.
func (w *walk) cellLines(text string, sc *scope, at string) string {
	lines, rest := notebook.Lines(text)
	if len(lines) == 0 {
		return text
	}
	commands := make([]string, len(lines))
	for i, l := range lines {
		commands[i] = l.Command
	}
	w.line(strings.Join(commands, "\n"), sc, at, mood{})
	return rest
}
