package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// readScripts adds the package scripts that a program runs by name, with those that run before and after them.
func readScripts(v *visit, r *row) {
	words, where := v.words, []string{"--prefix", "--cwd", "-C", "--dir"}
	if dir, ok := v.value(where...); ok {
		v.dir = v.in(dir)
	}
	if at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(where, w) }); at >= 0 {
		words = slices.Delete(slices.Clone(words), at, min(at+2, len(words)))
	}
	file, text, _ := v.first(r.files...)
	var pkg struct{ Scripts, Tasks map[string]any }
	if !v.parsed(file, text, &pkg) {
		return
	}
	scripts := pkg.Scripts
	if scripts == nil {
		scripts = pkg.Tasks
	}
	names := asked(v, scriptsOf(v.c.Name, words), scripts)
	for i := 0; i < len(names); i++ {
		name := names[i]
		if task, is := scripts[name].(map[string]any); is && v.once("needs "+file+" "+name) { // of deno
			needs, _ := task["dependencies"].([]any)
			names = append(names, texts(needs)...)
		}
		for _, step := range []string{"pre" + name, name, "post" + name} {
			v.script(file, text, step, scripts[step])
		}
	}
}

// quotedPair matches a name and its text in JSON.
var quotedPair = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"\s*:\s*"(?:[^"\\\n]|\\.)*"`)

// besideScripts returns the text of a package without its scripts, with the same lines.
func (v *visit) besideScripts(file, text string) string {
	var pkg struct{ Scripts map[string]any }
	if !v.decode(file, text, &pkg) {
		return ""
	}
	return quotedPair.ReplaceAllStringFunc(text, func(pair string) string {
		name, _, _ := strings.Cut(pair[1:], `"`)
		if _, is := pkg.Scripts[name]; is {
			return `""`
		}
		return pair
	})
}

func (v *visit) script(file, text, name string, what any) {
	if !v.once("script " + file + " " + name) {
		return
	}
	for _, line := range linesOf(what, "command") {
		v.addFrom(file, text, `"`+name+`"`, strings.TrimPrefix(line, "@"))
	}
}

// linesOf returns the command lines of a script or a step: a text, a list of texts, or what is under one of the keys.
func linesOf(what any, keys ...string) (all []string) {
	switch what := what.(type) {
	case string:
		return []string{what}
	case []any:
		return texts(what)
	case map[string]any:
		for _, key := range keys {
			if s, ok := what[key].(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// scriptsOf returns the scripts that a package manager's command runs: the one that it names, or those of the project itself that run on install.
func scriptsOf(program string, words []string) []string {
	plain := operands(words)
	if len(plain) == 0 && program == "yarn" {
		plain = []string{"install"}
	}
	if len(plain) == 0 || program == "bun" && wordclass.Is("bun-command", plain[0]) {
		return nil
	}
	switch verb := plain[0]; {
	case wordclass.Is("runs-script", verb):
		return plain[1:min(len(plain), 2)]
	case wordclass.Is("tests-script", verb):
		return []string{"test"}
	case wordclass.Is("installs-package", verb):
		if slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(w, "=true") == "--ignore-scripts" }) {
			return nil
		}
		return slices.Concat(wordclass.Of("install-script"), strings.Fields(wordclass.Kind("installs-package", verb)))
	case wordclass.Is("publishes-package", verb):
		return append(slices.Clone(wordclass.Of("publish-script")), verb)
	default:
		return []string{verb} // start, version, and with some package managers any script
	}
}

// instead returns the first of some files, or the one that an option names instead, and the operands.
func (v *visit) instead(files []string, options ...string) (file, text string, names []string) {
	names = operands(v.words)
	if name, ok := v.value(options...); ok {
		files, names = []string{name}, slices.DeleteFunc(names, func(w string) bool { return w == name })
	}
	file, text, _ = v.first(files...)
	return file, text, names
}

// readTaskfile adds the tasks of a Taskfile.
func readTaskfile(v *visit, r *row) {
	file, text, names := v.instead(r.files, "--taskfile", "-t")
	names = slices.DeleteFunc(names, func(w string) bool { return slices.Contains(r.with, w) })
	if len(names) == 0 {
		names = []string{"default"}
	}
	v.tasksOf(r, file, text, names)
	for _, name := range names {
		for folder := range strings.FieldsSeq(r.language) { // tasks that are files
			at := folder + strings.ReplaceAll(name, ":", "/")
			if file, text, ok := v.first(at, at+"/_default"); ok {
				v.code(file, languageOf(text), text)
			}
		}
	}
}

// tasksOf adds the requested tasks of a Taskfile and of those that it includes. The names of included tasks have the name of the include as a prefix.
func (v *visit) tasksOf(r *row, file, text string, names []string) {
	var f struct{ Tasks, Includes, Vars, Env map[string]any }
	if !v.once("taskfile "+file) || !v.parsed(file, text, &f) {
		return
	}
	v.taskVars(file, text, f.Vars)
	v.taskVars(file, text, f.Env)
	for _, name := range asked(v, names, f.Tasks) {
		v.task(file, text, f.Tasks, name)
	}
	for _, as := range slices.Sorted(maps.Keys(f.Includes)) {
		where, _ := f.Includes[as].(string)
		if long, ok := f.Includes[as].(map[string]any); ok {
			where, _ = long["taskfile"].(string)
		}
		var inner []string
		for _, name := range names {
			if name, ok := strings.CutPrefix(name, as+":"); ok {
				inner = append(inner, name)
			}
		}
		if len(inner) == 0 {
			continue
		}
		at := joined(path.Dir(file), where)
		files := lists.Each(r.files, func(name string) string { return path.Join(at, name) })
		if in, text, ok := v.first(append([]string{at}, files...)...); ok {
			v.tasksOf(r, in, text, inner)
		}
	}
}

// task adds the commands of a task and of its dependencies.
func (v *visit) task(file, text string, all map[string]any, name string) {
	if !v.once("task " + file + " " + name) {
		return
	}
	task, _ := all[name].(map[string]any)
	if task == nil {
		task = map[string]any{"cmds": all[name]}
	}
	dir, _ := task["dir"].(string)
	runs := func(line string) { v.inside(dir, func() { v.addFrom(file, text, headOf(text, name), line) }) }
	for _, key := range []string{"vars", "env"} {
		set, _ := task[key].(map[string]any)
		v.inside(dir, func() { v.taskVars(file, text, set) })
	}
	needs := []string{"deps", "depends", "wait_for", "depends_post"}
	for _, key := range append(slices.Clip(needs), "cmd", "cmds", "run", "file", "status", "preconditions") {
		list, isList := task[key].([]any)
		if !isList {
			list = []any{task[key]}
		}
		for _, c := range list {
			switch name, ok := c.(string); {
			case ok && slices.Contains(needs, key):
				name, _, _ = strings.Cut(name, " ") // what follows goes to the task
				v.task(file, text, all, name)
			case ok && key == "file":
				runs(quoted(v.in(name)))
			default:
				v.taskStep(file, text, all, c, runs)
			}
		}
	}
}

// headOf returns how a task begins, in YAML or in TOML.
func headOf(text, name string) string {
	for _, table := range []string{"[tasks." + name + "]", `[tasks."` + name + `"]`} {
		if strings.Contains(text, table) {
			return table
		}
	}
	return "\n  " + name + ":"
}

// taskVars adds the commands whose output variables get.
func (v *visit) taskVars(file, text string, set map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if from, ok := set[name].(map[string]any); ok {
			for _, line := range linesOf(from, "sh") {
				v.addFrom(file, text, name+":", line)
			}
		}
	}
}

// inside does something in a folder of the project that is not the command's own.
func (v *visit) inside(dir string, do func()) {
	was := v.dir
	v.dir = v.in(dir)
	do()
	v.dir = was
}

// taskStep adds what one step of a task runs, and the task that it names.
func (v *visit) taskStep(file, text string, all map[string]any, step any, runs func(line string)) {
	for _, line := range linesOf(step, "cmd", "sh", "defer") {
		runs(line)
	}
	if c, ok := step.(map[string]any); ok {
		for _, name := range linesOf(c["task"]) {
			v.task(file, text, all, name)
		}
	}
}

// operands returns the words that are neither options nor assignments.
func operands(words []string) (out []string) {
	for _, w := range words {
		if w == "--" {
			break
		}
		if w != "" && !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			out = append(out, w)
		}
	}
	return out
}

// members returns the files of a name in a folder and in those of its packages, where its workspace's settings say or, without any, where they usually are.
func (v *visit) members(name string) []string {
	all, in := []string{name}, strings.Fields("packages apps libs")
	for _, file := range []string{"package.json", "pnpm-workspace.yaml", "lerna.json", "rush.json"} {
		var settings struct {
			Workspaces, Packages any
			Projects             []struct {
				Folder string `yaml:"projectFolder"`
			}
		}
		if file, text, ok := v.content(file); ok && v.decode(file, text, &settings) {
			in = append(append(in, leaves(settings.Workspaces)...), leaves(settings.Packages)...)
			for _, p := range settings.Projects {
				in = append(in, p.Folder)
			}
		}
	}
	for i, folder := range in {
		if folder, _, _ = strings.Cut(folder, "*"); folder != "" && folder[0] != '!' && !slices.Contains(in[:i], folder) {
			below, _ := v.c.Files.Below(v.in(folder), 1, func(rel string) bool { return path.Base(rel) == name })
			all = append(all, below...)
		}
	}
	return all
}

// labelled returns the files of a name in the folders of the labels that the words give, and in the command's own: //lib:a, lib/..., //lib.
func (v *visit) labelled(name string) []string {
	all := []string{name}
	for _, w := range operands(v.words) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(w, "//"), ":")
		folder, deep := strings.CutSuffix(folder, "...")
		if all = append(all, path.Join(folder, name)); deep {
			const levels = 3
			below, _ := v.c.Files.Below(v.in(folder), levels, func(rel string) bool { return path.Base(rel) == name })
			all = append(all, below...)
		}
	}
	return all
}
