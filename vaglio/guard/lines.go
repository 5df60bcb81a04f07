package guard

import (
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
	case "stdin", "input", "keys", "query", "source", "statement", "expression", "__arg1", "file":
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
		switch plainKey(k) {
		case "cwd", "workdir", "workingdirectory", "workingdir", "dir", "directory", "pwd", "currentdirectory", "currentdir", "currentworkingdirectory", "initialdirectory", "chdir", "basedir":
			if dir, ok := s.args[k].(string); ok && dir != "" {
				s.o.Cwd = folderOf(s.g, s.o.Cwd, dir)
			}
		case "env", "environment", "envvars", "environmentvariables":
			s.setEnv(s.args[k])
		case "options", "opts", "config", "settings":
			if more, ok := s.args[k].(map[string]any); ok {
				in := commandSet{g: s.g, o: s.o, lang: s.lang, args: more}
				in.surroundings()
				s.o, s.lang = in.o, in.lang
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

// setEnv takes the environment from a map, or from a list of NAME=value.
func (s *commandSet) setEnv(vars any) {
	env := map[string]string{}
	switch vars := vars.(type) {
	case map[string]any:
		for k, v := range vars {
			if text, ok := v.(string); ok {
				env[k] = text
			}
		}
	case []any:
		for _, e := range vars {
			if text, ok := e.(string); ok {
				name, value, _ := strings.Cut(text, "=")
				env[name] = value
			}
		}
	default:
		return
	}
	s.o.Env = env
}

// plainKey is a key in lower case without the marks between its words.
func plainKey(key string) string {
	if strings.IndexByte(key, '_') < 0 && strings.IndexByte(key, '-') < 0 && strings.IndexByte(key, ' ') < 0 {
		return strings.ToLower(key)
	}
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' {
			return -1
		}
		return c
	}, strings.ToLower(key))
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
	switch plainKey(key) {
	case "shellcommand", "bashcommand", "keystrokes", "sourcecode", "program", "chars", "run", "line", "commandstring", "cell", "bash", "executable", "binary":
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
		return s.fed(key, text)
	}
	if more, ok := s.args["args"].(string); ok && more != "" {
		text += " " + more
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

// fed tries what an executor reads when nothing else is to run.
func (s *commandSet) fed(key, text string) string {
	switch {
	case strings.EqualFold(key, "file"):
		if words := s.words(); words != nil {
			return s.argv(append([]string{text}, words...))
		}
		return ""
	case s.lang != "" && s.lang != "sh":
		return s.code(text)
	case s.lang == "sh" || strings.EqualFold(key, "stdin") || strings.EqualFold(key, "input") || strings.EqualFold(key, "keys"):
		return s.g.readLine(text, s.o)
	default:
		return ""
	}
}

func isCodeKey(key string) bool {
	switch strings.ToLower(key) {
	case "code", "source_code", "cell":
		return true
	default:
		return false
	}
}

// words are the arguments that stand beside a command's name.
func (s *commandSet) words() []string {
	var flags []string
	if list, ok := s.args["flags"].([]any); ok {
		flags = words(list, nil, 0)
	}
	for _, k := range [...]string{"args", "arguments", "argv", "parameters"} {
		if list, ok := s.args[k].([]any); ok {
			return words(list, flags, 0)
		}
		if list, ok := s.args[k].([]string); ok {
			return append(flags, list...)
		}
	}
	return flags
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
	if lines && len(list) > 1 { // the lines may run in one shell
		if id := s.g.readLine(strings.Join(all, "\n"), s.o); id != "" && id != unreadableRule {
			return id
		}
	}
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
