package shell

// Tasks knows what the tools of a project run from its files, such as make from
// a makefile.
type Tasks interface {
	// Tasks returns the texts that a command runs, in order; none when it is not
	// such a tool, or its files are not there.
	Tasks(c TaskCall) []Task
}

// TaskCall is a command that may run what stands in files.
type TaskCall struct {
	// Name is the program's name without its folder, Args are the words behind
	// it.
	Name string
	Args []Word
	// Cwd is the folder in which it runs, absolute and clean.
	Cwd string
	// Files gives the files' contents, with those that the source wrote.
	Files Files
}

// Task is one text that a tool runs from a file.
type Task struct {
	// File is the path of the file, and Line the text's first line in it.
	File string
	Line int
	// Text is what runs, in Language: "sh" or one that [ProgramReader] has.
	Text, Language string
	// Dir is the folder in which it runs.
	Dir string
}

// Content gives what is known of a file's content: what the source wrote, or
// what it holds now.
func (r *reader) Content(path string) (string, bool) {
	if r.written(Text(path)) {
		return r.content(&frame{}, Text(path)).Text()
	}
	text, _, ok := r.load(&frame{}, Text(path))
	return text, ok
}

// tasks reads what a command runs from the project's files.
func (r *reader) tasks(f *frame, k *call, name string) {
	cwd, known := r.cwd().Text()
	if r.opts.Tasks == nil || r.opts.Files == nil || !known || f.remote != nil {
		return
	}
	for _, t := range r.opts.Tasks.Tasks(TaskCall{Name: name, Args: k.argv[1:], Cwd: cwd, Files: r}) {
		g := f.at(k, name)
		g.stdin, g.capture = Input{}, false
		r.fromFile(g, sourceFile{path: t.File, text: t.Text, first: t.Line}, func(g *frame) Word {
			return r.freshShell(func() Word {
				r.st.set(keyCwd, Text(t.Dir))
				if t.Language == "sh" {
					return r.source(g, t.Text)
				}
				return r.readProgram(g, &Program{Language: t.Language, Text: Text(t.Text), File: true, Stdin: outputOf(name)}, Word{})
			})
		})
	}
}
