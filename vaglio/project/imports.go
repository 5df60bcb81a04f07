package project

import "path"

// readImports adds the project's files that a program imports, directly and indirectly. The
// program is given in the words, or in a file that they name.
func readImports(v *visit, r *row) {
	find, search := v.reader.imports[r.language], v.searched(r.language)
	var follow func(dir, text string)
	follow = func(dir, text string) {
		for _, names := range find.In(dir, search, text) {
			if file, text, ok := v.first(names...); ok && v.once(file) {
				v.add(file, 1, r.language, text)
				follow(path.Dir(file), text)
			}
		}
	}
	if module, ok := v.value("-M", "-m"); ok && r.language == "perl" {
		follow(v.dir, "use "+module)
	}
	if text, ok := v.value("-c", "-e", "--eval", "-p"); ok {
		follow(v.dir, text)
		return
	}
	if module, ok := v.value("-m"); ok && r.language == "python" {
		follow(v.dir, "import "+module+"\nimport "+module+".__main__")
		return
	}
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok {
			if r.language == "python" { // modules are also found from the program's folder
				search = append(search, path.Dir(file))
			}
			follow(path.Dir(file), text)
		}
	}
}
