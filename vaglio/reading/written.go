package reading

import (
	"cmp"
	"slices"
	"sync"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Written is a text that a call writes to a file.
type Written struct {
	// File is the path, absolute if its folder is known.
	File string
	Text string
	// kept is what the guard read of it, so that the judges need not read it again; nil if no call's reading holds the text.
	kept *kept
}

// kept is what a written text may run, read at most once.
type kept struct {
	once   sync.Once
	script *shell.Script
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
		if w.rd.Means.Files != nil && RunsElsewhere(file) {
			_, _ = w.rd.Means.Files.Content(file)
		}
		w.rd.written = append(w.rd.written, Written{File: file, Text: text})
	}
}

// Written returns the texts that the call writes to files, through its arguments, through patches and through its commands.
func (rd *Reading) Written() []Written { return rd.written }

// gather adds the texts that commands write to those that arguments do.
func (rd *Reading) gather() {
	for i := range rd.Commands {
		for _, f := range rd.Commands[i].Script.Writes {
			rd.written = append(rd.written, Written{File: f.File, Text: f.Text})
		}
		rd.written = append(rd.written, added(rd.Commands[i].Script.Commands)...)
	}
	for i := range rd.written {
		rd.written[i].kept = new(kept)
	}
}

// added returns the texts that patches add to files.
func added(commands []shell.Command) (all []Written) {
	for i := range commands {
		c := &commands[i]
		text, known := c.Stdin.Text.Text()
		if c.Call != nil && c.Call.Verb == shell.VerbWrite && c.Stdin.Kind == shell.InputText && known {
			name, _ := c.Call.Targets[0].Text()
			if cwd, ok := c.Cwd.Text(); ok {
				name = place.Join(cwd, name)
			}
			all = append(all, Written{File: name, Text: text})
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
func (later) IsCalled(string) bool { return false }

func (later) Written(file, text string) []shell.Task { return project.Default().Written(file, text) }

// Content finds no further files.
func (later) Content(string) (string, bool) { return "", false }

// Runs returns what the file may run once it contains the text, judging by its name or its first line.
func (w Written) Runs(o shell.Options) *shell.Script {
	read := func() *shell.Script { return readLater(project.Default().Written(w.File, w.Text), o) }
	if w.kept == nil {
		return read()
	}
	w.kept.once.Do(func() { w.kept.script = read() })
	costly := func(p shell.Problem) bool { return p.Kind == shell.ProblemTooCostly }
	if o.Budget == nil && slices.ContainsFunc(w.kept.script.Problems, costly) { // it has a budget of its own now
		return read()
	}
	return w.kept.script
}

// Loaded returns like [Written.Runs] what the file may run, but nothing of prose.
func (r *Reader) Loaded(w Written, cwd string) *shell.Script {
	if project.Default().IsProse(w.File) {
		return &shell.Script{}
	}
	return w.Runs(r.later(cwd))
}

// MayRun returns what else in the file may be commands, whoever runs it.
func (r *Reader) MayRun(w Written, cwd string) *shell.Script {
	return readLater(project.Default().Guessed(w.File, w.Text), r.later(cwd))
}

// later returns the options for reading what runs after the call.
func (r *Reader) later(cwd string) shell.Options {
	return LineOptions(cmp.Or(r.o.Home, HomeOf(cwd)), r.o.User, "/", Means{})
}

// ReadUngated reads what an agent's client runs, without asking the gate, once a file contains a text. tasks are what was found, or is only known to be there.
func ReadUngated(w Written, o shell.Options) (s *shell.Script, tasks []shell.Task) {
	tasks = project.Default().Ungated(w.File, w.Text)
	return readLater(tasks, o), tasks
}

// TellsClient reports whether [ReadUngated] may find anything in a file of this name.
func TellsClient(file string) bool { return project.Default().TellsClient(file) }

// IsUngated reports whether a client runs what a file of this name carries without asking the gate.
func IsUngated(file string) bool { return project.Default().IsUngated(file) }

// RunsElsewhere reports whether a client or a build server runs what a file of this name carries, so that all that it holds counts.
func RunsElsewhere(file string) bool { return IsUngated(file) || project.Default().IsBuild(file) }

// Makes reports whether installing a project makes a program, by those of its files that can be read and are trusted.
func Makes(name, cwd string, files shell.Files, trusts func(file string) bool) bool {
	return files != nil && slices.ContainsFunc(project.Manifests(), func(file string) bool {
		text, ok := files.Content(place.Join(cwd, file))
		return ok && trusts(place.Join(cwd, file)) && project.Declares(file, text, name)
	})
}

// ReadBuild reads what a build server runs once its file contains a text, nil if that is not known; taken is as in [project.Reader.Build].
func ReadBuild(w Written, o shell.Options) (s *shell.Script, taken []string) {
	tasks, taken := project.Default().Build(w.File, w.Text)
	if len(tasks) == 0 {
		return nil, nil
	}
	s = readLater(tasks, o)
	s.Commands = slices.DeleteFunc(s.Commands, func(c shell.Command) bool { return len(c.Argv) > 0 && c.Argv[0].Is(laterName) })
	return s, taken
}

// IsPlain reports whether [Reader.MayRun] treats all files of the folder alike and only reads what [Telling] finds in their texts.
func IsPlain(file string) bool { return project.Default().IsPlain(file) }

// Alike returns the one file that stands for all those that [Reader.MayRun] treats like a file.
func Alike(file string) string { return project.Default().Alike(file) }

// Telling returns the lines of a text that say what it may run in a plain file.
func Telling(text string) string { return project.Default().Telling(text) }

func readLater(tasks []shell.Task, o shell.Options) *shell.Script {
	if len(tasks) == 0 {
		return &shell.Script{}
	}
	o.Tasks, o.Files = later{tasks: tasks}, later{tasks: tasks}
	return shell.ReadArgv([]string{laterName}, o)
}
