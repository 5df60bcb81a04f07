// Package project knows what a project's tools run from its files: make from a makefile, npm from package.json, git from its hooks
// and settings, test runners from their configuration. It opens nothing itself and runs nothing.
//
// What a tool would run and is not found here stays unread, like any script that a call names
// and nobody read. So this package reads what every project has, and leaves the rest.
package project

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/imports"
	"github.com/metnos/vaglio/internal/memo"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
)

// maxTasks limits the texts of one command, maxBytes what is looked at to find them: variables that refer to themselves twice would double without end.
// bytesPerFile is what each file that the session wrote counts, whose name is compared, bytesPerTake if it is also looked into.
const (
	maxTasks     = 200
	maxBytes     = 2 << 20
	bytesPerFile = 16
	bytesPerTake = 256
)

// Reader is a [shell.Tasks]. It is safe for concurrent use.
type Reader struct {
	table     table
	bare      map[string]string // the languages of files without an extension, by their names
	byEnding  map[string]string // those of the others, by their extensions
	named     *named            // the rows about files that a command runs
	rest      *named            // those for all programs
	clients   *named            // those in unaskedRows
	builds    *named            // those in buildRows
	variables []string          // that the table knows
	imports   map[string]*imports.Finder
	base      *commands.Base // what is known of programs
	searched  *memo.Map[search, found]
}

// New returns a reader over the table of tools. Its error names the line of a mistake in the table.
func New() (*Reader, error) {
	t, err := parseTable(tableText)
	if err != nil {
		return nil, err
	}
	var variables []string
	for name := range t {
		if name, ok := strings.CutSuffix(name, "="); ok {
			variables = append(variables, name)
		}
	}
	slices.Sort(variables)
	base, err := commands.Load()
	if err != nil {
		return nil, err
	}
	return &Reader{
		t, t.languages(slices.Sorted(maps.Keys(t))), t.languages([]string{""}), namedIn(t[""]), namedIn(t["-"]), namedIn(t[unaskedRows]), namedIn(t[buildRows]),
		variables, imports.Finders(), base, memo.New[search, found](mostSearched),
	}, nil
}

//nolint:gochecknoglobals // Made once, never changed.
var shared = rows.Once("vaglio/project", New)

// Default returns the shared reader with the package's own table.
func Default() *Reader { return shared() }

// Tasks returns what a command runs from files.
func (r *Reader) Tasks(c shell.TaskCall) []shell.Task {
	rows := r.rowsOf(c.Name)
	r.manifests(&c, rows)
	var set []shell.Assign
	for _, name := range r.variables {
		if value, ok := c.Variable(name); ok {
			set = append(set, shell.Assign{Name: name, Value: value})
		}
	}
	if rows == nil && (len(set)+len(c.Changed) == 0 || c.Module && !r.base.Known(c.Name)) {
		return nil
	}
	v := &visit{c: c, words: make([]string, len(c.Args)), dir: c.Cwd, left: maxBytes, looked: map[string]bool{}, reader: r}
	for i, a := range c.Args {
		if !a.HasUnknown() { // which names nothing
			v.words[i] = a.String()
		}
	}
	words := v.words
	v.read(rows)
	for _, a := range set {
		text, _ := a.Value.Text()
		v.words = strings.Fields(text)
		v.read(r.table[a.Name+"="])
	}
	v.words, v.dir = words, c.Cwd
	v.loaded(rows)
	for i := range v.tasks {
		v.tasks[i].Passes = v.passes
	}
	if c.Spend != nil {
		c.Spend(maxBytes - v.left + bytesPerFile*len(c.Changed))
	}
	return v.tasks
}

// rowsOf returns the rows of a program, which may have its version in its name.
func (r *Reader) rowsOf(name string) []row {
	if rows := r.table[name]; rows != nil || name == "." { // its dot is no version
		return rows
	}
	return r.table[strings.TrimRight(name, "0123456789.")]
}

// visit is a search for what one command runs.
type visit struct {
	c      shell.TaskCall
	words  []string
	dir    string
	tasks  []shell.Task
	passes bool            // the tool gives what it runs its own environment
	left   int             // bytes that may still be looked at or produced
	seen   map[string]bool // what has been read: targets, scripts, files
	looked map[string]bool // the files that were looked at
	reader *Reader
	asks   []string          // the tasks that the words name, if only those run
	runsOf map[string]string // by file, what of its text runs
	all    bool              // look for all that the files may run, not only what the words ask for
	among  bool              // also look for what any word names
	made   bool              // it may be made from the project's files, whatever its name
	runs   bool              // it may run project code that its words do not name

	noCalls bool // leave out the calls in programs
}

// read looks for what the rows say that apply to the words.
func (v *visit) read(rows []row) {
	for i := range rows {
		row := &rows[i]
		asked := func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return slices.Contains(row.with, w) || w[:min(1, len(w))] == "-" && slices.Contains(row.with, name)
		}
		if len(row.with) == 0 || slices.ContainsFunc(v.words, asked) {
			row.read(v, row)
		}
	}
}

// once reports whether something is seen for the first time.
func (v *visit) once(what string) bool {
	if v.seen[what] || len(v.tasks) >= maxTasks {
		return false
	}
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	v.seen[what] = true
	return true
}

// in returns the path of a name in the command's folder.
func (v *visit) in(name string) string { return joined(v.dir, name) }

// joined returns the path of a name in a folder. An absolute name stays.
func joined(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(folder, name)
}

// content reads a file. If the session changed part of a file that cannot be read, it is only
// known whether what was put into it is loaded. What it downloaded runs, whatever that says.
func (v *visit) content(name string) (file, text string, ok bool) {
	if slices.Contains(inputNames[:], name) {
		text, ok, unknown := v.input()
		if unknown && v.once("input") { // it may say anything
			v.shut(inputNames[1], 1, errInput)
		}
		return inputNames[1], text, ok
	}
	file = v.in(name)
	text, ok = v.c.Files.Content(file)
	v.looked[file] = true
	switch was := v.c.Session; {
	case was == nil:
	case !ok && slices.Contains(was.Loaded(), file) && v.once("changed "+file):
		v.shut(file, 1, errChanged)
	case ok && slices.Contains(v.c.Changed, file) && was.Fetched()[path.Base(file)] && v.once("fetched "+file):
		v.tasks = append(v.tasks, shell.Task{File: file, Line: 1, Found: true})
	}
	return file, text, ok
}

// inputNames are what the standard input is called where a file is asked for.
var inputNames = [...]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"} //nolint:gochecknoglobals // Never changed.

// input returns the text of the standard input: what the call says, or the only file that it is. Unknown says that something gives a text that nobody knows.
func (v *visit) input() (text string, ok, unknown bool) {
	in := v.c.Stdin
	if text, ok = in.Text.Text(); in.Kind == shell.InputInherited || ok {
		return text, ok && in.Kind != shell.InputInherited, false
	}
	if len(v.c.Input) != 1 {
		return "", false, true
	}
	text, ok = v.c.Files.Content(v.c.Input[0])
	return text, ok, false
}

// files yields the existing files of a row that are seen for the first time, with their texts.
func (v *visit) files(r *row) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range v.named(r.files) {
			file, text, ok := v.content(name)
			if !ok || !v.once(r.name+" "+r.language+" "+file) {
				continue
			}
			if v.once(file); !yield(file, text) {
				return
			}
		}
	}
}

// folders returns the folders that a variable lists.
func (v *visit) folders(variable string) (all []string) {
	value, _ := v.c.Variable(variable)
	for folder := range strings.SplitSeq(value.String(), ":") { // what is not known names no folder
		if folder != "" {
			all = append(all, v.in(folder))
		}
	}
	return all
}

// searched returns the folders, besides a program's own, in which its language looks for imports.
func (v *visit) searched(language string) (all []string) {
	find := v.reader.imports[language]
	if find == nil {
		return nil
	}
	if folder, ok := v.value("-I"); ok {
		all = append(all, v.in(folder))
	}
	return append(all, v.folders(find.Variable)...)
}

// first reads the first of several files that exists.
func (v *visit) first(names ...string) (file, text string, ok bool) {
	for _, name := range names {
		if file, text, ok = v.content(name); ok {
			return file, text, true
		}
	}
	return "", "", false
}

// add adds a text that runs.
func (v *visit) add(file string, line int, language, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if v.left -= len(text); v.left < 0 || len(v.tasks) >= maxTasks-1 {
		v.over(file, line)
		return
	}
	v.tasks = append(v.tasks, shell.Task{File: file, Line: line, Text: text, Language: language, Dir: v.dir})
}

// addFrom adds a text that runs, at the line where part first ends in its file. It computes lines only for texts that it keeps: a file may hold thousands.
func (v *visit) addFrom(file, content, part, text string) {
	if strings.TrimSpace(text) == "" || v.seen["more"] {
		return
	}
	end := 0
	if before, _, ok := strings.Cut(content, part); ok {
		end = len(before) + len(part)
	}
	v.add(file, lineOf(content, end), languageOf(text), text)
}

// The reasons why the rest of a file's content is not known.
var (
	errTooMuch = &shell.ClosedError{Why: "%s holds more than is read"}
	errChanged = &shell.ClosedError{Why: "%s was changed in this session, and cannot be read"}
	errInput   = &shell.ClosedError{Why: "%s gets what is only known when it runs"}
)

// over records, once, that more may run than is looked at.
func (v *visit) over(file string, line int) {
	if v.once("more") {
		v.shut(file, line, errTooMuch)
	}
}

// shut adds a file that something runs, but whose content is not known.
func (v *visit) shut(file string, line int, why *shell.ClosedError) {
	v.tasks = append(v.tasks, shell.Task{File: file, Line: line, Closed: why})
}

// value returns the first value of one of the options.
func (v *visit) value(names ...string) (string, bool) {
	if all := v.values(names...); len(all) > 0 {
		return all[0], true
	}
	return "", false
}

// values returns the values of options, in order, whatever else the program has.
func (v *visit) values(names ...string) []string {
	if !slices.ContainsFunc(v.words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return nil
	}
	s := getopt.Of(v.c.Name).Taking(names...).Split(v.words, getopt.Manner{Signs: true}, nil, nil)
	return s.Values(names...)
}

func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
