package project

import "path"

// readImports reads the files of the project that a program takes in when it
// begins: one that stands among the words, or in a file that they name.
func readImports(v *visit, r *row) {
	find := v.imports[r.language]
	follow := func(dir, text string) {
		for _, names := range find.In(dir, text) {
			if file, text, ok := v.first(names...); ok && v.once(file) {
				v.add(file, 1, r.language, text)
			}
		}
	}
	if text, ok := value(v.words, "-c", "-e", "--eval", "-p"); ok {
		follow(v.dir, text)
		return
	}
	if module, ok := value(v.words, "-m"); ok && r.language == "python" {
		follow(v.dir, "import "+module+"\nimport "+module+".__main__")
		return
	}
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok {
			follow(path.Dir(file), text)
		}
	}
}
