package shell

import (
	"slices"
	"strings"
)

// looseLanguage describes programs of a language without a reader of its own:
// only the texts in them are looked at, and only when a call that runs
// commands or removes files stands before.
type looseLanguage struct {
	grammar

	// code are the options whose value is program text.
	code []string
	// operand says that the first operand is program text; stdin that the
	// input is.
	operand, stdin bool
	// runs and deletes are what the calls look like that run a command or
	// remove what their first text names, separated by blanks.
	runs, deletes string
	// after says that the call stands behind its texts, as in "ls".execute().
	after bool
}

// looseLanguages are the programs read that way, by name.
//
//nolint:gochecknoglobals // A table that is only read.
var looseLanguages = map[string]looseLanguage{
	"elixir":      {grammar: grammar{values: "erSp", long: "eval rpc-eval"}, code: []string{"e", "eval"}, stdin: true, runs: "System.cmd System.shell :os.cmd os:cmd Port.open", deletes: "File.rm_rf File.rm File.rm_rf! File.rm!"},
	"iex":         {grammar: grammar{values: "erSp", long: "eval"}, code: []string{"e", "eval"}, operand: true, stdin: true, runs: "System.cmd System.shell :os.cmd os:cmd", deletes: "File.rm_rf File.rm"},
	"erl":         {grammar: grammar{long: "eval", single: true}, code: []string{"eval"}, stdin: true, runs: "os:cmd open_port", deletes: "file:delete file:del_dir_r file:del_dir"},
	"escript":     {stdin: true, runs: "os:cmd", deletes: "file:delete file:del_dir_r"},
	"ghc":         {grammar: grammar{values: "e"}, code: []string{"e"}, runs: "callCommand system callProcess readProcess rawSystem spawnCommand createProcess", deletes: "removeDirectoryRecursive removePathForcibly removeFile removeDirectory"},
	"ghci":        {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "callCommand system callProcess readProcess", deletes: "removeDirectoryRecursive removePathForcibly removeFile"},
	"runghc":      {stdin: true, runs: "callCommand system callProcess readProcess", deletes: "removeDirectoryRecursive removePathForcibly removeFile"},
	"guile":       {grammar: grammar{values: "c"}, code: []string{"c"}, stdin: true, runs: "system system* open-pipe open-input-pipe open-output-pipe execlp", deletes: "delete-file rmdir delete-file-recursively"},
	"racket":      {grammar: grammar{values: "etlfp", long: "eval"}, code: []string{"e", "eval"}, stdin: true, runs: "system system* process", deletes: "delete-directory/files delete-file delete-directory"},
	"sbcl":        {grammar: grammar{long: "eval load"}, code: []string{"eval"}, stdin: true, runs: "run-program run-shell-command uiop:run-program", deletes: "delete-file delete-directory uiop:delete-directory-tree"},
	"clisp":       {grammar: grammar{values: "x"}, code: []string{"x"}, stdin: true, runs: "run-shell-command run-program shell", deletes: "delete-file delete-directory"},
	"clojure":     {grammar: grammar{values: "e", long: "eval"}, code: []string{"e", "eval"}, stdin: true, runs: "shell/sh sh .exec", deletes: "delete-file io/delete-file fs/delete-tree"},
	"bb":          {grammar: grammar{values: "e", long: "eval"}, code: []string{"e", "eval"}, operand: true, runs: "shell/sh shell sh process", deletes: "fs/delete-tree fs/delete io/delete-file"},
	"emacs":       {grammar: grammar{long: "eval execute", single: true}, code: []string{"eval", "-eval", "execute"}, runs: "shell-command shell-command-to-string call-process call-process-shell-command start-process async-shell-command compile", deletes: "delete-directory delete-file"},
	"emacsclient": {grammar: grammar{values: "esf", long: "eval"}, code: []string{"e", "eval"}, operand: true, runs: "shell-command shell-command-to-string call-process start-process", deletes: "delete-directory delete-file"},
	"Rscript":     {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "system system2 shell", deletes: "unlink file.remove"},
	"R":           {grammar: grammar{values: "ef", long: "file"}, code: []string{"e"}, stdin: true, runs: "system system2 shell", deletes: "unlink file.remove"},
	"littler":     {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "system system2", deletes: "unlink file.remove"},
	"julia":       {grammar: grammar{values: "eEpL", long: "eval print"}, code: []string{"e", "E", "eval", "print"}, stdin: true, runs: "run pipeline read", deletes: "rm Base.rm Filesystem.rm"},
	"octave":      {grammar: grammar{long: "eval"}, code: []string{"eval"}, stdin: true, runs: "system shell_cmd unix", deletes: "delete unlink rmdir confirm_recursive_rmdir"},
	"groovy":      {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: ".execute .exec ProcessBuilder", deletes: "File deleteDir delete", after: true},
	"scala":       {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: ".! .!! Process .exec", deletes: "Files.delete deleteRecursively", after: true},
	"kotlin":      {grammar: grammar{values: "e"}, code: []string{"e"}, runs: ".exec ProcessBuilder", deletes: "File deleteRecursively", after: true},
	"jshell":      {grammar: grammar{values: "R"}, stdin: true, runs: ".exec ProcessBuilder", deletes: "Files.delete deleteIfExists"},
	"swift":       {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "system popen Process", deletes: "removeItem unlink rmdir"},
	"raku":        {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "run shell qx Proc", deletes: "unlink rmdir rm-rf"},
	"crystal":     {grammar: grammar{}, code: []string{}, stdin: true, runs: "system Process.run Process.exec", deletes: "File.delete FileUtils.rm_r FileUtils.rm_rf Dir.delete"},
	"nim":         {grammar: grammar{long: "eval"}, code: []string{"eval"}, runs: "exec execCmd gorge staticExec", deletes: "rmDir removeDir removeFile rmFile"},
	"ocaml":       {grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true, runs: "Sys.command Unix.system Unix.execvp", deletes: "Sys.remove Unix.unlink Unix.rmdir Sys.rmdir"},
	"osascript":   {grammar: grammar{values: "el"}, code: []string{"e"}, stdin: true, runs: "shell script doShellScript", deletes: "delete"},
	"gdb":         {grammar: grammar{values: "x", long: "ex eval-command iex", single: true}, code: []string{"ex", "eval-command", "iex"}, runs: "os.system subprocess.run subprocess.call os.popen shell", deletes: "rmtree os.remove os.unlink"},
	"lldb":        {grammar: grammar{values: "oOkQSs", long: "one-line one-line-before-file"}, code: []string{"o", "O", "one-line"}, runs: "os.system subprocess.run subprocess.call os.popen", deletes: "rmtree os.remove os.unlink"},
	"vim":         {grammar: grammar{values: "cSTuUiwW", long: "cmd"}, code: []string{"c", "cmd"}, stdin: true, runs: "system systemlist os.system os.execute jobstart termopen job_start subprocess.run subprocess.call vim.fn.system io.popen", deletes: "delete rmtree os.remove"},
}

// readLoose reads the program texts of a call in a language that is known by
// its calls alone.
func (r *reader) readLoose(f *frame, k *call, name string, lang looseLanguage) {
	opts, rest := lang.parse(k.argv[1:])
	texts := opts.all(lang.code...)
	if len(texts) == 0 && lang.operand && len(rest) > 0 {
		texts = rest[:1]
	}
	if lang.stdin && f.stdin.Kind == InputText {
		texts = append(texts, f.stdin.Text)
	}
	for _, w := range rest {
		if r.written(w) {
			texts = append(texts, r.content(f, w))
		}
		if code, ok := strings.CutPrefix(w.Prefix(), "+"); ok && name == "vim" {
			texts = append(texts, w.cut(len(w.Prefix())-len(code)))
		}
	}
	g := f.at(k, name)
	g.conditional, g.lenient = true, true
	g.stdin = Input{}
	for _, t := range texts {
		r.looseProgram(g, t, name, lang)
	}
}

// looseProgram reads the texts of one program.
func (r *reader) looseProgram(f *frame, code Word, name string, lang looseLanguage) {
	src := r.splice(code)
	if !r.step(f, len(src)/4) {
		return
	}
	for _, l := range looseCalls(src, lang) {
		words := make([]Word, len(l.texts))
		for i, t := range l.texts {
			words[i] = r.fillHoles(t)
		}
		switch {
		case l.deletes:
			r.emit(f, Command{Name: name + ":" + l.name, Argv: append([]Word{Text(name + ":" + l.name)}, words[:1]...), Call: &Call{
				Language: name, Function: l.name, Verb: VerbDeleteTree, Targets: words[:1],
			}})
		case len(words) == 1:
			r.carried(f, words[0], name)
		default:
			r.run(f, &call{argv: words, external: true})
			r.carried(f, words[0], name)
		}
	}
}

// looseCall is one call and the texts among its arguments.
type looseCall struct {
	name    string
	texts   []string
	deletes bool
}

// looseCalls finds the calls of a program: a name of the table, and the string
// literals up to the end of the statement.
//
//nolint:cyclop // One case per form that the grammar knows.
func looseCalls(src string, lang looseLanguage) []looseCall {
	var out []looseCall
	var pending []string // texts that no call has taken
	var open *looseCall
	flush := func() {
		if open != nil && len(open.texts) > 0 {
			out = append(out, *open)
		}
		open = nil
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch c {
		case '"', '\'', '`':
			text, n := looseString(src[i:])
			if n == 0 {
				i++
				continue
			}
			i += n
			if open != nil {
				open.texts = append(open.texts, text)
			} else {
				pending = append(pending, text)
			}
		case ';', '\n':
			flush()
			pending = nil
			i++
		default:
			n := looseName(src[i:])
			if n == 0 {
				i++
				continue
			}
			name := src[i : i+n]
			i += n
			runs, deletes := looseMatch(name, lang.runs), looseMatch(name, lang.deletes)
			if !runs && !deletes {
				continue
			}
			flush()
			open = &looseCall{name: name, deletes: deletes}
			if lang.after && len(pending) > 0 {
				open.texts, pending = pending, nil
			}
		}
	}
	flush()
	return out
}

// looseMatch reports whether a name is one of a list; a listed name that
// begins with a dot counts with anything before it, and so does any name
// behind a module's.
func looseMatch(name, list string) bool {
	for l := range strings.FieldsSeq(list) {
		if name == l || strings.HasSuffix(name, "."+strings.TrimPrefix(l, ".")) || l[0] == '.' && strings.HasSuffix(name, l) {
			return true
		}
	}
	return false
}

// looseName is the length of the dotted name that s begins with.
func looseName(s string) int {
	n := 0
	for n < len(s) && (isNameByte(s[n]) || strings.IndexByte(".:*!/-", s[n]) >= 0) {
		n++
	}
	return n
}

// looseString reads a string literal and returns its text and its length, 0
// when it does not end.
func looseString(s string) (string, int) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return unescapeProgram(s[1:i]), i + 1
		}
	}
	return "", 0
}

// looseOf finds the loose language of a program.
func looseOf(name string) (looseLanguage, bool) {
	if slices.Contains([]string{"vi", "nvim", "ex", "view", "gvim", "vimdiff"}, name) {
		name = "vim"
	}
	l, ok := looseLanguages[name]
	return l, ok && (l.runs != "" || l.deletes != "")
}
