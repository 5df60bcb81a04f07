package project

import (
	"cmp"
	"path"

	"github.com/metnos/vaglio/vaglio/shell"
)

// readImports adds the project's files that a program imports, directly and indirectly. The program is given in the words, or in a file that they name.
func readImports(v *visit, r *row) {
	search := v.searched(r.language)
	if module, ok := v.value("-M", "-m"); ok && r.language == "perl" {
		v.follow(r.language, search, v.dir, "use "+module, false)
	}
	if text, by, ok := v.toldText(r); ok {
		v.follow(r.language, search, v.dir, text, by)
		return
	}
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok {
			if r.language == "python" { // modules are also found from the program's folder
				search = append(search, path.Dir(file))
			}
			v.follow(r.language, search, path.Dir(file), text, true)
		}
	}
}

// follow adds what a text in a folder imports; by says that the text is a program that is read itself.
func (v *visit) follow(language string, search []string, dir, text string, by bool) {
	find := v.reader.imports[language]
	for _, names := range append(find.In(dir, search, text), find.Alike(search, v.c.Changed, text)...) {
		if file, text, ok := v.first(names...); ok && v.once(file) {
			v.marked(func() { v.add(file, 1, language, text) }, func(t *shell.Task) { t.Imported = by })
			v.follow(language, search, path.Dir(file), text, true)
		}
	}
}

// toldText returns the text that an interpreter is told to run, by an option or by the row's word, and whether it is read itself: a module is not.
func (v *visit) toldText(r *row) (text string, read, ok bool) {
	if given := operands(v.words); len(r.with) > 0 && len(given) > 1 {
		return given[1], true, true
	}
	if text, ok = v.value("-c", cmp.Or(map[string]string{"php": "-r"}[r.language], "-e"), "--eval", "-p"); ok {
		return text, true, true
	}
	module, ok := v.value("-m")
	return "import " + module + "\nimport " + module + ".__main__", false, ok && r.language == "python"
}
