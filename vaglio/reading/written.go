package reading

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Written is a text that a call writes to a file.
type Written struct {
	// File is the path, absolute if its folder is known.
	File string
	Text string
}

// writes keeps the texts that are beside the names of files, or below them.
func (w *walk) writes(args map[string]any, keys []string, sc *scope) {
	var files []string
	for _, k := range keys {
		if name, ok := args[k].(string); ok && name != "" && w.role(k)&(RolePath|RoleGoal) != 0 {
			files = append(files, w.folder(sc.o.Cwd, name))
		}
	}
	if files != nil {
		sc.files = slices.DeleteFunc(files, func(file string) bool { return file == "" })
	}
	for _, k := range keys {
		if text, ok := args[k].(string); ok && text != "" && w.role(k)&RoleContent != 0 {
			w.writesTo(sc.files, text)
		}
	}
}

// writesTo keeps a text that is written to files, and reads those that it may complete.
func (w *walk) writesTo(files []string, text string) {
	for _, file := range files {
		if w.rd.Means.Files != nil && IsUngated(file) {
			_, _ = w.rd.Means.Files.Content(file)
		}
		w.rd.written = append(w.rd.written, Written{file, text})
	}
}

// Written returns the texts that the call writes to files, through its arguments, through patches
// and through its commands.
func (rd *Reading) Written() []Written {
	all := rd.written
	for i := range rd.Commands {
		for _, f := range rd.Commands[i].Script.Writes {
			all = append(all, Written(f))
		}
		all = append(all, added(rd.Commands[i].Script.Commands)...)
	}
	return all
}

// added returns the texts that patches add to files.
func added(commands []shell.Command) []Written {
	var all []Written
	for i := range commands {
		c := &commands[i]
		text, known := c.Stdin.Text.Text()
		if c.Call != nil && c.Call.Verb == shell.VerbWrite && c.Stdin.Kind == shell.InputText && known {
			name, _ := c.Call.Targets[0].Text()
			if cwd, ok := c.Cwd.Text(); ok {
				name = place.Join(cwd, name)
			}
			all = append(all, Written{name, text})
		}
	}
	return all
}

// later holds what a file may run once it contains a text.
type later struct {
	shell.NoFolders
	tasks []shell.Task
}

// laterName stands for whatever will run the file.
const laterName = "what runs it later"

// Tasks returns the file's tasks for the command named laterName.
func (l later) Tasks(c shell.TaskCall) []shell.Task {
	if c.Name != laterName {
		return nil
	}
	return l.tasks
}

// Written returns what a file of the task's own may run.
func (later) Written(file, text string) []shell.Task { return project.Default().Written(file, text) }

// Content finds no further files.
func (later) Content(string) (string, bool) { return "", false }

// ReadWritten reads what a file may run once it contains a text.
func ReadWritten(w Written, o shell.Options) *shell.Script {
	return readLater(project.Default().Written(w.File, w.Text), o)
}

// ReadLoaded is like [ReadWritten], whatever the file is and whoever runs it.
func ReadLoaded(w Written, o shell.Options) *shell.Script {
	return readLater(project.Default().Loaded(w.File, w.Text), o)
}

// ReadUngated reads what an agent's client runs, without asking the gate, once a file contains a
// text. tasks are what was found, also what is only known to be there.
func ReadUngated(w Written, o shell.Options) (s *shell.Script, tasks []shell.Task) {
	tasks = project.Default().Ungated(w.File, w.Text)
	return readLater(tasks, o), tasks
}

// TellsClient reports whether [ReadUngated] may find anything in a file of this name.
func TellsClient(file string) bool { return project.Default().TellsClient(file) }

// IsUngated reports whether a client runs what a file of this name carries without asking the gate.
func IsUngated(file string) bool { return project.Default().IsUngated(file) }

// IsPlain reports whether [ReadLoaded] treats all files of the folder alike and only reads what
// [Telling] finds in their texts.
func IsPlain(file string) bool { return project.Default().IsPlain(file) }

// Alike returns the one file that stands for all those that [ReadLoaded] treats like a file.
func Alike(file string) string { return project.Default().Alike(file) }

// Telling returns the lines of a text that say what it may run in a plain file.
func Telling(text string) string { return project.Default().Telling(text) }

func readLater(tasks []shell.Task, o shell.Options) *shell.Script {
	l := later{tasks: tasks}
	if len(l.tasks) == 0 {
		return &shell.Script{}
	}
	o.Tasks, o.Files = l, l
	return shell.ReadArgv([]string{laterName}, o)
}
