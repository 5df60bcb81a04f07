package reading

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/patch"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// walk reads one call.
type walk struct {
	r     *Reader
	home  string
	rd    *Reading
	class class
	name  string // the executor's
	// applies says that the executor applies patches, judging by its name.
	applies bool
	schema  map[string]any
	texts   int
	// stopped says that the arguments nest too deep: those that a program built could be endless.
	stopped bool
}

func (w *walk) role(key string) Role { return w.rd.Role(key) }

// gap records what could not be read.
func (w *walk) gap(at string, why wording.Clause) {
	const most = 64 // more would say the same
	if len(w.rd.Gaps) < most {
		w.rd.Gaps = append(w.rd.Gaps, Gap{At: at, Why: why})
	}
}

// tooDeep reports whether the reading stops here.
func (w *walk) tooDeep(at string, depth int) bool {
	if depth > maxDepth && !w.stopped {
		w.stopped = true
		w.gap(at, wording.Say("nests deeper than is read"))
	}
	return w.stopped
}

func (w *walk) args(args map[string]any, sc scope, at string, depth int) {
	if w.tooDeep(at, depth) {
		return
	}
	keys := SortedKeys(args)
	inherited, within := sc.inherited, sc.within
	w.surround(args, keys, &sc)
	w.writes(args, keys, &sc)
	if depth == 0 {
		w.rd.OnlyRuns = sc.alone && !w.class.elsewhere && w.declares(keys)
	}
	for _, k := range keys {
		role := w.roleIn(args, keys, k)
		if depth == 0 && role&RoleClaim != 0 && w.claims(k, args[k]) {
			w.rd.DryRun = true
		}
		w.base(args[k], role, join(at, k))
		w.marks(k, args[k], role, within, join(at, k))
		sc.within = role&(RoleMark|RoleData|RoleBody) | within&(RoleData|RoleBody)
		if wordclass.Is("holds-operation", k) {
			sc.within |= RoleMark
		}
		role = cmp.Or(role, inherited)
		sc.inherited = role & (RoleRuns | RolePath | RoleSource | RoleGoal)
		if w.isSurrounding(role, args[k], &sc) {
			role &^= RoleRuns | RoleTyped | RoleProse
		}
		w.value(k, args[k], role, &sc, join(at, k), depth)
	}
}

// roleIn returns the role of a key. It is no path's if it names a part of the file that another key names: a heading, as the key for its type says.
func (w *walk) roleIn(args map[string]any, keys []string, key string) Role {
	const most = 64 // with more keys than any tool has, each of these would be compared with all of them
	role := w.role(key)
	part, _ := args[key].(string)
	if role&(RolePath|RoleGoal) == 0 || len(keys) > most || part == "" || strings.ContainsAny(part, `/\~`) || strings.HasPrefix(part, ".") {
		return role
	}
	kind := Normal(key) + "type"
	said := func(k string) bool { return Normal(k) == kind && args[k] != "file" && args[k] != "folder" }
	named := func(k string) bool { return k != key && w.role(k)&RolePath != 0 && args[k] != nil }
	if slices.ContainsFunc(keys, said) && slices.ContainsFunc(keys, named) {
		role &^= RolePath | RoleGoal
	}
	return role
}

// base notes a folder that an argument names, and that relative paths beside it may start from.
func (w *walk) base(v any, role Role, at string) {
	const most = 8
	switch dir, ok := v.(string); {
	case !ok || dir == "" || role&RoleBase == 0 || slices.Contains(w.rd.Bases, dir):
	case len(w.rd.Bases) == most:
		w.gap(at, wording.Say("names more than is read"))
	default:
		w.rd.Bases = append(w.rd.Bases, dir)
	}
}

// marks notes what a key says of the verb that is meant: a key for verbs or, in what describes an operation, one for its kind. Data says nothing.
func (w *walk) marks(key string, v any, role, within Role, at string) {
	if within&(RoleData|RoleBody) != 0 || role&RoleMark == 0 && (within&RoleMark == 0 || !wordclass.Is("kind-of-operation", Normal(key))) {
		return
	}
	const most = 256
	if text, ok := v.(string); ok && text != "" && len(w.rd.Marks) < most {
		w.rd.Marks = append(w.rd.Marks, Text{At: at, Text: text, Role: role})
	}
	list, _ := v.([]any)
	for _, e := range list {
		if text, ok := e.(string); ok {
			w.marks(key, text, role, within, at)
		}
	}
}

// isSurrounding reports whether the value of a key only surrounds a command beside it: the words of a program, or its input.
func (w *walk) isSurrounding(role Role, v any, sc *scope) bool {
	switch {
	case role&RoleLanguage != 0:
		text, ok := v.(string)
		return ok && isInterpreter(text)
	case role&RoleWords != 0:
		if role&RoleCommand == 0 {
			return true
		}
		return (sc.commands || sc.program) && onlyWords(v) // a command of its own, or words of the program beside it
	case role&RoleInput != 0:
		return sc.commands
	default:
		return false
	}
}

// join returns the place of what is under a key.
func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// item returns the place of an element of a list.
func item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

func (w *walk) value(key string, v any, role Role, sc *scope, at string, depth int) {
	if w.tooDeep(at, depth) {
		return
	}
	switch v := v.(type) {
	case string:
		w.note(v, role, at)
		w.patch(v, role, sc, at)
		w.text(key, v, role, sc, at, depth)
	case []string:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		w.list(key, list, role, sc, at, depth)
	case []any:
		w.list(key, v, role, sc, at, depth)
	case map[string]any:
		w.args(v, *sc, at, depth+1)
	case nil, bool, int, int64, uint64, float64:
	default:
		if role&RoleRuns != 0 { // a program put it there, not a decoder
			w.text(key, Word(v), role, sc, at, depth)
		}
	}
}

// isStatement reports whether a text under a key for statements is one. For an executor that runs queries, any text with a statement's beginning is.
func (w *walk) isStatement(text string) bool {
	return w.class.data || IsStatement(text) || w.class.queries && beginsStatement(strings.Fields(strings.ToUpper(uncommented(text))))
}

// note keeps a text that is a path, an address, a recipient or a statement.
func (w *walk) note(text string, role Role, at string) {
	const files = RolePath | RoleSource | RoleGoal
	const kept = files | RoleURL | RoleStatement | RoleRecipient
	if role&kept == 0 || text == "" {
		return
	}
	if role&files != 0 && (strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")) && !strings.Contains(text, "..") {
		role = role&^files | RoleURL
	}
	if role&RoleStatement != 0 && !w.isStatement(text) {
		role &^= RoleStatement
	}
	t := Text{At: at, Text: text, Role: role}
	for _, to := range [...]struct {
		role Role
		list *[]Text
	}{
		{files, &w.rd.Paths},
		{RoleURL, &w.rd.URLs},
		{RoleStatement, &w.rd.Statements},
		{RoleRecipient, &w.rd.Recipients},
	} {
		if role&to.role != 0 {
			*to.list = append(*to.list, t)
		}
	}
}

// patch reads a text as what a patch does to files: text under a key that names a patch, whatever
// an applier of patches is given, and an envelope anywhere but in the content of a file.
func (w *walk) patch(text string, role Role, sc *scope, at string) {
	named := role&RolePatch != 0
	switch {
	case !named && !w.applies && !patch.IsEnvelope(text), patch.NamesReader(w.rd.Words):
		return
	case patch.Looks(text) && (named || w.applies):
	case w.applies && role&(RolePatch|RoleInput|RoleTyped) != 0:
	case role&(RoleData|RoleRuns) == 0 && patch.IsEnvelope(text):
	default:
		return
	}
	w.rd.Patched = true
	w.add(Command{At: at, Text: text, Language: langPatch, Script: patch.Script(text, shell.Text(sc.o.Cwd))})
}

// list reads a list of lines, words or maps.
func (w *walk) list(key string, list []any, role Role, sc *scope, at string, depth int) {
	plain := true // only texts and numbers
	for i, e := range list {
		switch e := e.(type) {
		case map[string]any:
			plain = false
			w.args(e, *sc, item(at, i), depth+1)
		case []any:
			plain = false
			w.value("command", e, role&^RoleWords, sc, item(at, i), depth+1) // a list in a list is one command
		case string:
			w.note(e, role, at)
			w.patch(e, role, sc, at)
		}
	}
	if role&(RoleRuns|RoleTyped) == 0 && !w.wordsAlone(role, sc) || len(list) == 0 {
		return
	}
	if !plain {
		for i, e := range list {
			if text, ok := e.(string); ok {
				w.text(key, text, role, sc, item(at, i), depth+1)
			}
		}
		return
	}
	w.sequence(key, Texts(list), role, sc, at, depth)
}

// wordsAlone reports whether a list of words has no program beside it, in an executor that runs what it is given.
func (w *walk) wordsAlone(role Role, sc *scope) bool {
	return role&RoleWords != 0 && (w.class.runs || sc.shell) && !w.class.elsewhere && !sc.commands && !sc.program
}

// embedded reads JSON inside a text, and reports whether there is any that may run.
func (w *walk) embedded(key, text string, role Role, sc *scope, at string, depth int) bool {
	trimmed := strings.TrimSpace(text)
	if strings.IndexAny(trimmed, "{[") != 0 {
		return false
	}
	var v any
	if err := strictjson.UnmarshalLoose([]byte(trimmed), &v); err != nil {
		return false
	}
	in := *sc
	in.alone = true
	switch v := v.(type) {
	case map[string]any:
		if !slices.ContainsFunc(SortedKeys(v), func(k string) bool { return w.role(k)&RoleRuns != 0 }) {
			return false
		}
		w.args(v, in, at, depth+1)
	case []any:
		if role&RoleCommand == 0 || len(v) == 0 {
			return false
		}
		w.list(key, v, role, &in, at, depth+1)
	}
	return true
}
