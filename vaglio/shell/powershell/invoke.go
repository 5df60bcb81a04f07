package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// invoke runs a command by its name.
func (r *reader) invoke(name shell.Word, args []argument, in value, piped bool) value {
	s, known := name.Text()
	if !r.step(1+len(args)+len(s)/bytesPerStep) || !r.enter() {
		return unknownValue("")
	}
	defer r.leave()
	if !known {
		if programName(name) == "" {
			return r.dynamicName(name, args)
		}
		return r.program(name, args, in, piped)
	}
	if i := strings.LastIndexByte(s, '\\'); i > 0 && isCmdlet(s[i+1:]) {
		s = s[i+1:] // Module\Command
	}
	for _, key := range [...]string{s, r.t.aliases[strings.ToLower(s)]} {
		if f, ok := r.funcs[strings.ToLower(key)]; ok {
			r.blocks(args, in)
			return r.callFunction(f, in)
		}
	}
	return r.known(s, name, args, in, piped)
}

// known runs a cmdlet by its name, or else the program that a name says.
func (r *reader) known(s string, name shell.Word, args []argument, in value, piped bool) value {
	full, alias := r.fullName(s)
	if sp := r.t.cmdlets[strings.ToLower(full)]; sp != nil {
		if b := r.bind(sp, args); !alias || len(b.strange) == 0 {
			return r.cmdlet(sp, b, args, in, piped)
		}
	} else if isCmdlet(full) {
		return r.unknownCmdlet(full, args, in)
	}
	return r.program(name, args, in, piped)
}

// fullName is the cmdlet that an alias names, or that is meant without Get-.
func (r *reader) fullName(s string) (full string, alias bool) {
	key := strings.ToLower(s)
	if to, ok := r.t.aliases[key]; ok {
		return to, true
	}
	if _, ok := r.t.cmdlets["get-"+key]; ok && !strings.Contains(key, "-") && key != "item" {
		return "Get-" + s, false
	}
	return s, false
}

// isCmdlet says whether a name has the form of a cmdlet: Verb-Noun.
func isCmdlet(s string) bool {
	verb, noun, ok := strings.Cut(s, "-")
	return ok && len(verb) > 1 && noun != "" && !strings.ContainsFunc(verb+noun, func(c rune) bool { return c >= 0x80 || !isNameByte(byte(c&0x7f)) }) &&
		wordclass.Is("powershell-verb", strings.ToLower(verb))
}

// unknownCmdlet reads a cmdlet of which the table has no row: one of a family
// that only reads, or a stranger, which is left to those who judge.
func (r *reader) unknownCmdlet(s string, args []argument, in value) value {
	r.blocks(args, in)
	if slices.ContainsFunc(args, func(a argument) bool { return r.isDry(&a) }) {
		r.call(s, shell.VerbRead)
		return unknownValue(s)
	}
	lower := strings.ToLower(s)
	if !slices.ContainsFunc(r.t.families, func(f string) bool { return strings.HasPrefix(lower, f) }) {
		r.plain(s, args)
		return unknownValue(s)
	}
	var targets []shell.Word
	for _, a := range args {
		for _, w := range a.val.items {
			if strings.ContainsAny(w.Prefix(), `/\~`) || isAbsolute(w) {
				targets = append(targets, r.path(w, false))
			}
		}
	}
	r.call(s, shell.VerbRead, targets...)
	return unknownValue(s)
}

// plain adds a command as it stands, under its full name.
func (r *reader) plain(name string, args []argument) {
	r.emit(shell.Command{Name: name, Argv: append([]shell.Word{shell.Text(name)}, r.words(args)...)})
}

// words are the words of a command as a program gets them: of a list, each is
// one of its own.
func (r *reader) words(args []argument) []shell.Word {
	out := make([]shell.Word, 0, len(args))
	for i := range args {
		a := &args[i]
		items := a.val.items
		named := strings.TrimPrefix(a.name, "@") != ""
		switch {
		case a.bare && a.name == "" && len(items) < 2 && strings.ContainsAny(a.word.Prefix(), "*?"):
			out = append(out, r.path(a.word, false))
			continue
		case len(items) < 2 || a.val.either && !named || !r.step(len(items)):
			items = []shell.Word{a.word}
		case named:
			out = append(out, r.nativeWord(a.word))
		}
		for _, w := range items {
			out = append(out, r.nativeWord(w))
		}
	}
	return out
}

// program runs a program of the machine.
func (r *reader) program(name shell.Word, args []argument, in value, piped bool) value {
	base := programName(name)
	if isPowerShell(base) || base == "cmd" {
		return r.interpreter(base, args, in, piped)
	}
	if path, ok := name.Text(); ok && isScript(path) {
		return r.script(name, args)
	}
	if v, ok := r.windowsProgram(base, args); ok {
		return v
	}
	argv := []shell.Word{r.nativeName(name, base)}
	for _, w := range r.words(args) {
		drive, rest, _ := strings.Cut(forward(w.String()), "/")
		if key, ok := r.registryKey(drive, rest); ok && base == "reg" {
			w = shell.Text(key)
		}
		argv = append(argv, w)
	}
	stdin := shell.Input{}
	if piped {
		stdin = shell.Input{Kind: shell.InputText, Text: r.word(in), Piped: true}
		if in.isNothing() {
			stdin.Text = unknownWord("")
		}
	}
	r.blocks(args, in)
	return r.native(argv, stdin)
}

// nativeName is the name of a program as the tables know it: Windows does not
// tell capitals from small letters.
func (r *reader) nativeName(name shell.Word, base string) shell.Word {
	s, ok := name.Text()
	switch {
	case !ok:
		return r.path(name, true)
	case strings.ContainsAny(s, `/\~`):
		p, _ := r.path(name, true).Text()
		lower := strings.ToLower(p)
		if strings.HasPrefix(lower, "c:/windows/system32/") || strings.HasPrefix(lower, "c:/program files") || strings.HasPrefix(lower, "/usr/") {
			return shell.Text(base)
		}
		return shell.Text(p)
	case strings.HasSuffix(strings.ToLower(s), ".exe"):
		return shell.Text(base)
	case s == strings.ToUpper(s):
		return shell.Text(base)
	}
	return name
}

// isScript says that a file holds a script of one of these shells.
func isScript(path string) bool {
	lower := strings.ToLower(path)
	return slices.ContainsFunc([]string{".ps1", ".psm1", ".bat"}, func(ending string) bool { return strings.HasSuffix(lower, ending) }) ||
		strings.HasSuffix(lower, ".cmd") && strings.ContainsAny(path, `/\`)
}

// script runs a script's file, which is no part of the source.
func (r *reader) script(w shell.Word, args []argument) value {
	p := r.path(w, true)
	if s, ok := p.Text(); ok && !strings.Contains(s, "/") {
		p = shell.Text("./" + s)
	}
	r.problem(shell.Problem{Kind: shell.ProblemScriptFile, Detail: wording.Say("runs a script that was not read"), Word: p, Interpreter: "powershell"})
	r.emit(shell.Command{Name: baseOf(p), Argv: append([]shell.Word{p}, r.words(args)...)})
	r.blocks(args, value{})
	return unknownValue("")
}

func baseOf(w shell.Word) string {
	s, ok := w.Text()
	if !ok {
		s = w.Suffix()
	}
	return s[strings.LastIndexByte(s, '/')+1:]
}

// windowsProgram runs a program of Windows of which the table says what it
// does to files.
func (r *reader) windowsProgram(base string, args []argument) (value, bool) {
	i := slices.IndexFunc(r.t.programs[base], func(sp *spec) bool { return sp.holds(args) })
	if i < 0 || r.t.programs[base][i].pass {
		return value{}, false
	}
	sp := r.t.programs[base][i]
	return r.cmdlet(sp, r.bind(sp, slashed(sp, args)), args, value{}, false), true
}

// holds says whether one of the words is there that a row asks for.
func (s *spec) holds(args []argument) bool {
	if len(s.when) == 0 || s.when[0] == "*" {
		return true
	}
	return slices.ContainsFunc(args, func(a argument) bool {
		w := strings.ToLower(a.word.Prefix())
		if name, _, ok := strings.Cut(w, ":"); ok && name != "" && !slices.Contains(s.when, w) {
			w = name
		}
		return slices.Contains(s.when, w)
	})
}
