package reading

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// scope is what surrounds a command: what the arguments beside and around it say.
type scope struct {
	files []string // the files that arguments beside or around it name
	o     shell.Options
	lang  string
	// claimed says that an argument, rather than the executor's name, gave the language.
	claimed bool
	host    string
	box     string
	// words are the words beside a program's name; more is the same as text.
	words []string
	more  string
	input string
	env   map[string]string
	// inherited is the role of texts whose own key has none.
	inherited Role
	// within holds the roles of the keys around this map that say whether it describes an operation, or is data.
	within Role
	// alone says that only surroundings are beside the command.
	alone bool
	// commands says that this map holds a command, program that it names a program that the words may belong to.
	commands, program bool
	// argv says that the words beside a program cannot be a command.
	argv bool
	// pod says that box is a pod of a cluster.
	pod bool
	// shell says that an argument asks for a shell.
	shell bool
}

// surround takes over what the keys of one map say about its commands.
func (w *walk) surround(args map[string]any, keys []string, sc *scope) {
	sc.words, sc.more, sc.input, sc.alone, sc.commands, sc.program, sc.argv, sc.shell = nil, "", "", true, false, false, false, false
	for _, k := range keys {
		role := w.role(k)
		switch {
		case role&(RoleCommand|RoleScript) == 0 || !holdsText(args[k]):
		case role&RoleWords != 0 && onlyWords(args[k]):
			sc.argv = true
		default:
			sc.commands = true
		}
		sc.program = sc.program || role&RoleProgram != 0 && isOneWord(args[k])
		w.surroundBy(k, args[k], role, sc)
	}
	if name, ok := args["name"].(string); ok && sc.box == "" && w.inPod() {
		sc.box, sc.pod = name, true
	}
}

// isOneWord reports whether a value is a text that is one word of a command line.
func isOneWord(v any) bool {
	text, ok := v.(string)
	return ok && text != "" && !strings.ContainsAny(text, " \t\n;|&")
}

// inPod reports whether the tool's name says that it runs what it is given in a pod.
func (w *walk) inPod() bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(w.rd.Words, word) })
	}
	return has("pod", "pods") && has("exec", "run", "execute")
}

// onlyWords reports whether a list cannot be a command of its own because it begins with an option.
func onlyWords(v any) bool {
	return strings.HasPrefix(strings.Join(Texts(v), " "), "-")
}

func holdsText(v any) bool {
	switch v.(type) {
	case string, []any:
		return strings.TrimSpace(strings.Join(Texts(v), " ")) != ""
	default:
		return false
	}
}

// surroundBy takes over one argument.
func (w *walk) surroundBy(key string, v any, role Role, sc *scope) {
	const around = RoleFolder | RoleEnv | RoleSettings | RoleLanguage | RoleHost | RoleBox | RoleWords | RoleInput
	text, isText := v.(string)
	switch {
	case role&around == 0:
		sc.alone = sc.alone && (role&RoleRuns != 0 || w.isAside(key))
	case role&(RoleFolder|RoleEnv|RoleSettings) != 0:
		w.placeBy(v, role, sc)
	case role&RoleLanguage != 0:
		sc.languageBy(key, v)
	case role&RoleHost != 0:
		sc.host = text
	case role&RoleBox != 0:
		sc.box, sc.pod = text, strings.HasPrefix(Normal(key), "pod")
	case role&RoleWords != 0:
		w.wordsBeside(key, v, sc)
	case isText:
		sc.input = text
	}
}

// isAside reports whether a key says nothing about what a tool does with its commands.
func (w *walk) isAside(key string) bool {
	return wordclass.Is("aside-key", Normal(key)) || w.inPod() && (key == "name" || key == "namespace")
}

// placeBy takes over the folder and the variables that a command runs with.
func (w *walk) placeBy(v any, role Role, sc *scope) {
	switch v := v.(type) {
	case string:
		if role&RoleFolder != 0 && v != "" {
			sc.o.Cwd = w.folder(sc.o.Cwd, v)
		}
	case map[string]any, []any:
		if role&RoleEnv != 0 {
			sc.env = variables(v)
			sc.o.Env = maps.Clone(w.rd.Means.Env)
			if sc.o.Env == nil {
				sc.o.Env = map[string]string{}
			}
			maps.Copy(sc.o.Env, sc.env)
		}
		if more, ok := v.(map[string]any); ok && role&RoleSettings != 0 {
			for _, k := range SortedKeys(more) {
				if r := w.role(k); r&(RoleFolder|RoleEnv|RoleLanguage) != 0 {
					w.surroundBy(k, more[k], r, sc)
				}
			}
		}
	}
}

// languageBy takes over the language that an argument names, or its request for a shell.
func (sc *scope) languageBy(key string, v any) {
	switch v := v.(type) {
	case bool:
		sc.shell = sc.shell || v && Normal(key) == "shell"
	case string:
		if lang := languageOf(v); lang != "" && (Normal(key) != "shell" || isInterpreter(v)) { // which may hold a command line
			sc.lang, sc.claimed = lang, true
		}
	}
}

// isInterpreter reports whether a text is just the name of an interpreter, possibly with its folder.
func isInterpreter(text string) bool {
	if strings.ContainsAny(text, " \t\n;|&$`") {
		return false
	}
	name := strings.TrimSuffix(text[strings.LastIndexAny(text, `/\`)+1:], ".exe")
	return languageWord(strings.ToLower(name)) != "" || strings.EqualFold(name, "cmd")
}

// wordsBeside takes over the words beside a program's name.
func (w *walk) wordsBeside(key string, v any, sc *scope) {
	switch v := v.(type) {
	case string:
		sc.more = v
	case []any, []string:
		list := Texts(v)
		if Normal(key) == "flags" {
			sc.words = slices.Concat(list, sc.words)
		} else {
			sc.words = append(sc.words, list...)
		}
	}
}

// variables reads an environment from a map, or from a list of NAME=value.
func variables(v any) map[string]string {
	env := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			env[k] = Word(e)
		}
	case []any:
		for _, e := range v {
			if text, ok := e.(string); ok {
				name, value, _ := strings.Cut(text, "=")
				env[name] = value
			}
		}
	default:
		return nil
	}
	return env
}

// Texts returns the texts and numbers in a value, flattened.
func Texts(v any) []string { return gather(nil, v, 0) }

func gather(into []string, v any, depth int) []string {
	if depth > maxDepth {
		return into
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			into = gather(into, e, depth+1)
		}
	case []string:
		into = append(into, v...)
	case map[string]any:
		for _, k := range SortedKeys(v) {
			into = gather(append(into, k), v[k], depth+1)
		}
	default:
		into = append(into, Word(v))
	}
	return into
}

// Word formats one value as Python's str does where that can matter. A nested value becomes one line of its words.
func Word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case []any, map[string]any:
		return strings.ReplaceAll(strings.Join(Texts(v), " "), "\n", " ")
	default:
		return fmt.Sprint(v)
	}
}

// SortedKeys returns the keys of a map in order.
func SortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
