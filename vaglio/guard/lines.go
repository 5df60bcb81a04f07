package guard

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// commandSet is what one map of arguments says about one run: a command, its
// words, its input.
type commandSet struct {
	g    *Guard
	o    shell.Options
	lang string
	args map[string]any
}

// runs tries every command line in args, at any depth.
func (g *Guard) runs(c Call) string {
	o := shell.Options{Home: g.home, User: g.user, Cwd: folderOf(g, c.Cwd, "")}
	return g.runsIn(c.Args, o, languageOf(c.Executor), 0)
}

// mayRun says whether args can hold a command line at all: a cheap first look.
func mayRun(args map[string]any) bool {
	for k, v := range args {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		if isRunKey(k) || isInputKey(k) {
			return true
		}
	}
	return false
}

// isInputKey says whether an argument holds what a shell reads. Where nothing
// else is to run, that is what runs.
func isInputKey(key string) bool {
	switch strings.ToLower(key) {
	case "stdin", "input", "keys":
		return true
	default:
		return false
	}
}

func (g *Guard) runsIn(args map[string]any, o shell.Options, lang string, depth int) string {
	if depth > maxDepth {
		return limitRule
	}
	set := commandSet{g: g, o: o, lang: lang, args: args}
	set.surroundings()
	keys := sortedKeys(args)
	runs := slices.ContainsFunc(keys, isRunKey)
	for _, k := range keys {
		v := args[k]
		if isRunKey(k) || (!runs && isInputKey(k)) {
			if id := set.value(k, v, 0); id != "" {
				return id
			}
			continue
		}
		if id := set.below(v, depth); id != "" {
			return id
		}
	}
	return ""
}

// below looks for command lines in what nests under another key.
func (s *commandSet) below(v any, depth int) string {
	switch v := v.(type) {
	case map[string]any:
		return s.g.runsIn(v, s.o, s.lang, depth+1)
	case []any:
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				if id := s.g.runsIn(m, s.o, s.lang, depth+1); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// surroundings takes the folder, the environment and the language from the
// arguments beside a command.
func (s *commandSet) surroundings() {
	for _, k := range sortedKeys(s.args) {
		switch strings.ToLower(k) {
		case "cwd", "workdir", "working_directory", "working_dir", "dir", "directory", "workingdirectory":
			if dir, ok := s.args[k].(string); ok && dir != "" {
				s.o.Cwd = folderOf(s.g, s.o.Cwd, dir)
			}
		case "env", "environment", "env_vars":
			if vars, ok := s.args[k].(map[string]any); ok {
				s.setEnv(vars)
			}
		case "language", "lang", "interpreter", "runtime", "shell":
			if name, ok := s.args[k].(string); ok {
				if lang := languageOf(name); lang != "" {
					s.lang = lang
				}
			}
		}
	}
}

func (s *commandSet) setEnv(vars map[string]any) {
	env := make(map[string]string, len(vars))
	for k, v := range vars {
		if text, ok := v.(string); ok {
			env[k] = text
		}
	}
	s.o.Env = env
}

func folderOf(g *Guard, cwd, dir string) string {
	if dir == "" {
		dir = cwd
		cwd = ""
	}
	if dir == "" {
		return ""
	}
	dir = g.localSpelling(dir)
	if dir[0] == '/' {
		return path.Clean(dir)
	}
	if cwd == "" {
		return ""
	}
	return path.Join(cwd, dir)
}

// isRunKey says whether an argument holds what will run.
func isRunKey(key string) bool {
	if isCommandKey(key) {
		return !strings.EqualFold(key, "stdin")
	}
	switch strings.ToLower(key) {
	case "shell_command", "bash_command", "keystrokes", "source_code", "program", "chars":
		return true
	default:
		return false
	}
}

// value tries what stands under one key.
func (s *commandSet) value(key string, v any, depth int) string {
	if depth > maxDepth {
		return limitRule
	}
	switch v := v.(type) {
	case nil, bool, int, int64, uint64, float64:
		return ""
	case string:
		return s.line(key, v)
	case []string:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		return s.list(key, list)
	case []any:
		return s.list(key, v)
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if id := s.value(key, v[k], depth+1); id != "" {
				return id
			}
		}
		return s.g.runsIn(v, s.o, s.lang, depth+1)
	default:
		return s.line(key, commandLine(v))
	}
}

// line tries a command line, or a program where the key or the executor says
// so.
func (s *commandSet) line(key, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if isCodeKey(key) || (strings.EqualFold(key, "script") && s.lang != "" && s.lang != "sh") {
		return s.code(text)
	}
	if isInputKey(key) {
		return s.g.readLine(text, s.o)
	}
	if words := s.words(); words != nil && !strings.ContainsAny(text, " \t\n;|&") {
		return s.argv(append([]string{text}, words...))
	}
	if in := s.input(); in != "" {
		const mark = "VAGLIO_INPUT"
		text = "{ " + text + "\n} <<'" + mark + "'\n" + in + "\n" + mark + "\n"
	}
	return s.g.readLine(text, s.o)
}

func isCodeKey(key string) bool {
	switch strings.ToLower(key) {
	case "code", "source_code", "program":
		return true
	default:
		return false
	}
}

// words are the arguments that stand beside a command's name.
func (s *commandSet) words() []string {
	for _, k := range [...]string{"args", "arguments", "argv", "parameters"} {
		if list, ok := s.args[k].([]any); ok {
			return words(list, nil, 0)
		}
		if list, ok := s.args[k].([]string); ok {
			return list
		}
	}
	return nil
}

// input is the text for the command's standard input.
func (s *commandSet) input() string {
	for _, k := range sortedKeys(s.args) {
		if l := strings.ToLower(k); l == "stdin" || l == "input" {
			if text, ok := s.args[k].(string); ok {
				return text
			}
		}
	}
	return ""
}

// list tries a list: of lines where the key says so, else of words.
func (s *commandSet) list(key string, list []any) string {
	lines := strings.HasSuffix(strings.ToLower(key), "s") || len(list) == 1
	for _, e := range list {
		text, isText := e.(string)
		if lines && isText {
			if id := s.line(key, text); id != "" {
				return id
			}
		} else if m, ok := e.(map[string]any); ok {
			if id := s.value(key, m, 1); id != "" {
				return id
			}
		}
	}
	all := words(list, nil, 0)
	for _, w := range all {
		switch w {
		case "&&", "||", ";", "|", "&", ">", ">>", "<":
			if id := s.g.readLine(strings.Join(all, " "), s.o); id != "" {
				return id
			}
			return s.argv(all)
		}
	}
	return s.argv(all)
}

func (s *commandSet) argv(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	if in := s.input(); in != "" {
		quoted := make([]string, len(argv))
		for i, w := range argv {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		return s.line("command", strings.Join(quoted, " "))
	}
	return s.g.examine(shell.ReadArgv(argv, s.o))
}

// code tries a program in its language. Where nobody names one it is read as a
// shell reads it and as the common languages do; what only some can read is no
// finding.
func (s *commandSet) code(text string) string {
	if s.lang == "sh" {
		return s.g.readLine(text, s.o)
	}
	if s.lang != "" {
		return s.inline(s.lang, text)
	}
	if id := s.g.readLine(text, s.o); id != "" && id != unreadableRule {
		return id
	}
	for _, lang := range [...]string{"python", "node"} {
		if id := s.inline(lang, text); id != "" && id != unreadableRule {
			return id
		}
	}
	return ""
}

func (s *commandSet) inline(lang, text string) string {
	flag := "-c"
	switch lang {
	case "node", "perl", "ruby", "lua":
		flag = "-e"
	case "php":
		flag = "-r"
	}
	return s.g.examine(shell.ReadArgv([]string{lang, flag, text}, s.o))
}

// languageOf finds the language in the name of an executor or an argument.
func languageOf(name string) string {
	for t := range tokens(name) {
		switch t {
		case "python", "python3", "py", "ipython", "jupyter", "notebook":
			return "python"
		case "node", "nodejs", "javascript", "js", "typescript", "ts", "deno", "bun":
			return "node"
		case "perl", "ruby", "php", "lua":
			return t
		case "bash", "sh", "shell", "zsh", "dash", "ksh":
			return "sh"
		}
	}
	return ""
}

// tokens yields the words of a name in snake, kebab, dotted or camel case, in
// lower case.
func tokens(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(name); i++ {
			border := i == len(name) || !isAlnum(name[i])
			if !border && !isHump(name, i) {
				continue
			}
			if i > start && !yield(strings.ToLower(name[start:i])) {
				return
			}
			start = i
			if border {
				start++
			}
		}
	}
}

// isHump says that a word begins at i in camel case.
func isHump(name string, i int) bool {
	return i > 0 && i < len(name) && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z'
}

func isAlnum(c byte) bool { return isLetter(c) || ('0' <= c && c <= '9') }
