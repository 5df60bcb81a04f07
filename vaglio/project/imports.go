package project

import (
	"cmp"
	"path"

	"github.com/metnos/vaglio/vaglio/shell"
)

// readImports adds the project's files that a program imports, directly and indirectly. The
// program is given in the words, or in a file that they name.
func readImports(v *visit, r *row) {
	find, search := v.reader.imports[r.language], v.searched(r.language)
	var follow func(dir, text string, by bool) // by a program that is read itself
	follow = func(dir, text string, by bool) {
		for _, names := range find.In(dir, search, text) {
			if file, text, ok := v.first(names...); ok && v.once(file) {
				v.marked(func() { v.add(file, 1, r.language, text) }, func(t *shell.Task) { t.Imported = by })
				follow(path.Dir(file), text, true)
			}
		}
	}
	if module, ok := v.value("-M", "-m"); ok && r.language == "perl" {
		follow(v.dir, "use "+module, false)
	}
	text, ok := v.value("-c", cmp.Or(map[string]string{"php": "-r"}[r.language], "-e"), "--eval", "-p")
	if given := operands(v.words); len(r.with) > 0 && len(given) > 1 { // it is what the row's word runs
		text, ok = given[1], true
	}
	if ok {
		follow(v.dir, text, true)
		return
	}
	if module, ok := v.value("-m"); ok && r.language == "python" {
		follow(v.dir, "import "+module+"\nimport "+module+".__main__", false)
		return
	}
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok {
			if r.language == "python" { // modules are also found from the program's folder
				search = append(search, path.Dir(file))
			}
			follow(path.Dir(file), text, true)
		}
	}
}
