package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// source is a setting by which a tool takes packages or code from elsewhere: where a file holds it, and the assignment that says the same in the environment,
// with a percent sign for its value or @ for the addresses in it.
type source struct {
	assigns string
	at      *regexp.Regexp
}

// sourcesOf parses marks of the form NAME=%~pattern or NAME=@~pattern.
func sourcesOf(marks string) (all []source, err error) {
	for mark := range strings.FieldsSeq(marks) {
		assigns, pattern, _ := strings.Cut(mark, "~")
		at, err := regexp.Compile("(?im)" + pattern)
		if err != nil || at.NumSubexp() == 0 || !strings.ContainsAny(assigns, "%@") {
			return nil, rows.Wrong(mark, "want NAME=%%~pattern with a group, got %q", mark)
		}
		all = append(all, source{assigns, at})
	}
	return all, nil
}

// remarked matches a line that is a remark in any of the files of settings.
var remarked = regexp.MustCompile(`(?m)^[ \t]*(?:#|//|;|!).*$|(?s:<!--.*?-->)`)

// readSources adds the settings of the row's files that name another place for packages or code. In a
// file that lay there before, they are the project's own: they count in what the session put there.
func readSources(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		file := v.in(name)
		if !v.all && !v.brought(file) && (!slices.Contains(r.files, "@") || !slices.Contains(v.c.Changed, file)) { // nor named
			continue
		}
		_, text, _ := v.content(name)
		text = remarked.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		text = strings.ReplaceAll(text, `\`, "") // https\://x and https:\/\/x
		for _, s := range r.sources {
			for _, at := range s.at.FindAllStringSubmatchIndex(text, -1) {
				if says := s.says(text[at[2]:at[3]]); says != "" {
					v.add(file, lineOf(text, at[2]), "sh", says)
				}
			}
		}
	}
}

// address matches an address in the value of a setting.
var address = regexp.MustCompile(`\b\w+://[^\s"'<>,;)}\]]+`)

// says returns the command line that says what a value says, "" if it names no address.
func (s *source) says(value string) string {
	words := strings.Fields(value)
	if strings.HasSuffix(s.assigns, "@") {
		words = address.FindAllString(value, -1)
	}
	if len(words) == 0 {
		return ""
	}
	return "export " + strings.TrimRight(s.assigns, "%@") + quoted(strings.Join(words, " "))
}

// brought reports whether the session put what it would be asked about into a file, downloaded it, or writes it in this call.
func (v *visit) brought(file string) bool {
	if slices.Contains(v.c.Written, file) {
		return true
	}
	s := v.c.Session
	if s != nil && (len(s.Fetched()) > 0 || v.reader.isFor("data", file)) { // nobody weighs what it says, or with what was fetched
		return slices.Contains(s.Changed(), file) || s.Fetched()[path.Base(file)]
	}
	return s != nil && slices.Contains(s.Loaded(), file)
}

// readUnchecked adds what a playbook does although it is only checked: the command lines of tasks that
// say so, under the row's keys. A task with another module that does something counts as the run itself.
func readUnchecked(v *visit, r *row) {
	if v.all { // nothing checks it
		return
	}
	for file, text := range v.files(r) {
		var tree any
		if v.decode(file, text, &tree) {
			v.unchecked(file, text, strings.Fields(r.language), tree, false)
		}
	}
}

func (v *visit) unchecked(file, text string, keys []string, tree any, off bool) {
	switch t := tree.(type) {
	case []any:
		for _, e := range t {
			v.unchecked(file, text, keys, e, off)
		}
	case map[string]any:
		if mode, ok := t["check_mode"]; ok {
			off = !slices.Contains([]any{true, "yes", "on", "True"}, mode)
		}
		for _, key := range slices.Sorted(maps.Keys(t)) {
			v.uncheckedBy(file, text, keys, key[strings.LastIndexByte(key, '.')+1:], t[key], off)
		}
	}
}

// uncheckedBy is [visit.unchecked] for one setting of a play or a task.
func (v *visit) uncheckedBy(file, text string, keys []string, module string, set any, off bool) {
	switch {
	case off && slices.Contains(keys, module):
		v.under(file, text, []string{"it", "cmd", "argv"}, false, map[string]any{"it": set, "in": set})
	case wordclass.Is("playbook-include", module) && v.brings(file, keys, module, set, off): // what they name is read
	case off && !wordclass.Is("playbook-inert", module):
		v.add(file, 1, "sh", v.c.Name+" "+quoted(file))
	case slices.Contains([]string{"tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always"}, module):
		v.unchecked(file, text, keys, set, off)
	}
}

// brings does the same for the files of tasks, the playbooks or the roles that a setting names, and reports whether there is any.
func (v *visit) brings(by string, keys []string, module string, named any, off bool) (found bool) {
	for _, name := range namesIn(named) {
		files := []string{joined(path.Dir(by), name), v.in(name), joined(path.Dir(by), "tasks/"+name)}
		if module == "dependencies" || strings.Contains(module, "role") {
			of := "roles/" + name
			files = []string{v.in(of + "/tasks/main.yml"), v.in(of + "/tasks/main.yaml"), v.in(of + "/handlers/main.yml"), v.in(of + "/meta/main.yml")}
		}
		for _, name := range files {
			file, text, ok := v.content(name)
			var tree any
			if found = found || ok; ok && v.once(strconv.FormatBool(off)+file) && v.decode(file, text, &tree) {
				v.unchecked(file, text, keys, tree, off)
			}
		}
	}
	return found
}

// namesIn returns the names that a playbook's setting gives: a text, or what stands under the keys that name a file or a role, or a list of either.
func namesIn(tree any) (names []string) {
	switch t := tree.(type) {
	case string:
		return []string{t}
	case []any:
		return lists.All(t, namesIn)
	case map[string]any:
		for _, key := range []string{"file", "name", "role"} {
			if s, ok := t[key].(string); ok {
				names = append(names, s)
			}
		}
	}
	return names
}
