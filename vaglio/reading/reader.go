package reading

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/patch"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/powershell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// maxDepth limits how deep arguments may nest, maxTexts how many command lines and programs of one call are read.
const (
	maxDepth = 128
	maxTexts = 4096
)

// Options say what is known about the environment in which calls run.
type Options struct {
	// Home is the home folder of the user, "" if unknown.
	Home string
	// User is the name of the user; "" derives it from Home.
	User string
	// Clients says what is known about tools, by client and by the executor's whole name. A name that ends with a star stands for all names that start with
	// the part before it. This knowledge overrides the shape of a call.
	Clients map[string]map[string]Tool
	// Env holds variables that every call may have.
	Env map[string]string
	// Arguments says that only what the arguments are is wanted, not what the texts among them do: no step is left for these.
	Arguments bool
}

// Tool is what is known about one tool.
type Tool struct {
	// Args holds the roles of its arguments, by key as written, at any depth. A key that is not listed has the roles of its shape.
	Args map[string]Role
	// Shell says that a shell runs its commands.
	Shell bool
	// Language is the language of its programs, "" if their looks decide.
	Language string
	// Texts are the arguments that are texts; the tool takes nothing else there.
	Texts []string
}

// Call is one proposed call as plain values.
type Call struct {
	Executor string
	// Client is the program that would make the call, "" if unknown. A call of a tool that this client is not known to have is a gap.
	Client string
	// Args hold nil, bool, number, string, []any and map[string]any, nested.
	Args map[string]any
	// Cwd is the folder that the call would run in, "" if unknown.
	Cwd string
	// Means are what all readings of the call share. Its Budget and Env are the reader's.
	Means
	// Capabilities are everything that anybody claims about the executor. They can only add to what is read: "code:exec" makes its texts command lines.
	Capabilities []string
	// Shell marks an executor that the catalog knows as a shell.
	Shell bool
	// Schema is the JSON schema that the executor declares for its arguments, nil if there is none. Only what it declares counts as a claim.
	Schema any
}

// Reader reads calls. It is safe for concurrent use.
type Reader struct {
	o       Options
	keys    map[string]Role
	endings []ending
}

// NewReader returns a reader.
func NewReader(o Options) *Reader {
	if home := path.Clean(o.Home); o.User == "" && strings.HasPrefix(home, "/") && home != "/" {
		o.User = path.Base(home)
	}
	return &Reader{o: o, keys: keyTable(), endings: keyEndings()}
}

// LooksOnly reports whether a script that runs on a web page only looks at the page.
func (r *Reader) LooksOnly(script string) bool { return code.Default().LooksOnly(script) }

// WorksOn reports whether a program works on what its words name, as linters do.
func WorksOn(program string) bool { return project.Default().WorksOn(program) }

// LineOptions returns the options for reading a command line: what is known about its environment,
// the means that all lines of a call share, and the readers of what it carries besides shell code.
func LineOptions(home, user, cwd string, m Means) shell.Options {
	return shell.Options{
		Budget: m.Budget, Files: m.Files, Home: home, User: user, Cwd: cwd, Programs: programs, Foreign: powershell.Carried,
		Tasks: project.Default(), Session: m.Session, Env: m.Env, Steers: m.Steers,
	}
}

// Means are shared by all readings of one call. They are not safe for concurrent use.
type Means struct {
	// Budget limits what the call may still cost.
	Budget *shell.Budget
	// Files reads the files that the call runs; nil leaves them unread.
	Files shell.Files
	// Session is what the calls before this one did; nil knows of nothing.
	Session shell.Session
	// Absent reports whether it is known that nothing is at a path before the call; nil knows it of none.
	Absent func(path string) bool
	// Present reports whether something is known to be at a path before the call.
	Present func(path string) bool
	// Leads returns where a path leads before the call, following all links; nil knows it of none.
	Leads func(path string) string
	// Steers reports whether a file at a path steers what runs by itself; nil knows of none.
	Steers func(path string) bool
	// Output reports whether the project calls a folder the output of its builds; nil knows of none.
	Output func(path string) bool
	// Env holds the known variables of its environment.
	Env map[string]string
}

// ReadLine reads a command line and the patches that it applies.
func ReadLine(line string, o shell.Options) *shell.Script {
	return patch.Expand(withoutStood(shell.Read(line, o), o), &o)
}

// ReadArgv reads a command that runs without a shell, as [ReadLine] does.
func ReadArgv(argv []string, o shell.Options) *shell.Script {
	return patch.Expand(withoutStood(shell.ReadArgv(argv, o), o), &o)
}

// Reading is what one call was understood to say.
type Reading struct {
	// Words are the words of the executor's name, in lower case.
	Words []string
	// Runs says that the executor runs what it is given, judging by its name or by what is known about it.
	Runs bool
	// OnlyRuns says that the arguments hold nothing but a command and its surroundings, and that the executor declares the command if it declares anything.
	OnlyRuns bool
	// Commands are the command lines and programs, in the order of their keys.
	Commands []Command
	// Paths, URLs, Statements and Recipients are the texts under keys with these roles.
	Paths, URLs, Statements, Recipients []Text
	// Marks are the words by which arguments choose one of the executor's verbs, also those of the operations that they describe.
	Marks []Text
	// Bases are the folders that arguments name, and that relative paths beside them may start from.
	Bases []string
	// Patched says that the call applies a patch, whose operations are among the commands.
	Patched bool
	// Deed is what the executor does to paths, and Operations what it does to processes, services and packages, as far as its name says.
	Deed       Deed
	Operations []operation.Operation
	// DryRun says that the call asks for no change, through an argument that the executor declares.
	DryRun bool
	// Gaps lists what could not be read.
	Gaps []Gap
	// Failed says that the reader itself failed, so that the reading is incomplete.
	Failed bool
	// Mistyped is set if an argument is of another type than the tool takes.
	Mistyped *Unreadable

	// Means are used to read further parts of the call later.
	Means Means

	reader  *Reader
	tool    *Tool
	written []Written
}

// Command is one command line or program, as read.
type Command struct {
	// At is the place in the arguments, such as "steps[1].run".
	At string
	// Text is the text there. The words of a list are joined, quoted as for a shell.
	Text string
	// Language is "sh" for a command line, otherwise the program's language.
	Language string
	// Script is what it would run. Its spans are offsets in Text, plus Shift for what the reader put before the text.
	Script *shell.Script
	Shift  int
	// Env holds the variables that arguments beside it set.
	Env map[string]string
	// Final says that a real shell runs the text, so that a text that cannot be read is certainly wrong.
	Final bool
	// Doubt says that the text has another, likelier reading. Findings in this one count; what it does not understand does not.
	Doubt bool
	// Verb says that the text is one word beside other arguments and may select what a tool does.
	Verb bool
}

// IsLine reports whether it is a command line rather than a program in another language.
func (c *Command) IsLine() bool { return c.Language == langShell }

// IsProgram reports whether it is a program in a language other than a shell's.
func (c *Command) IsProgram() bool {
	return c.Language != langShell && c.Language != langPowerShell && c.Language != langPatch
}

// Text is one text and the roles of its key.
type Text struct {
	At, Text string
	Role     Role
}

// Gap is something that could not be read. It is never a pass.
type Gap struct {
	// At is the place in the arguments.
	At string
	// Why is the end of a sentence for a person, such as "is not a program of a language that is known".
	Why wording.Clause
	// Doubt says that everything was read, and that Why says what the text may still do.
	Doubt bool
}

// Read reads a call. It never fails: what it cannot read becomes a [Gap].
func (r *Reader) Read(c Call) (rd *Reading) {
	rd = &Reading{reader: r, Means: c.Means}
	if rd.Means.Budget, rd.Means.Env = new(shell.Budget), r.o.Env; r.o.Arguments {
		rd.Means.Budget.Spend(rd.Means.Budget.Left())
	}
	defer func() {
		if recover() != nil {
			rd.Failed = true
			rd.Gaps = append(rd.Gaps, Gap{Why: wording.Say("made the reader fail")})
		}
	}()
	r.read(rd, c)
	return rd
}

func (r *Reader) read(rd *Reading, c Call) {
	rd.Words = nameWords(c.Executor)
	home := cmp.Or(r.o.Home, HomeOf(c.Cwd))
	w := walk{r: r, home: home, name: c.Executor, rd: rd, class: classOf(rd.Words), schema: properties(c.Schema), applies: patch.NamesApplier(rd.Words)}
	if wordclass.Any("tool-program", rd.Words) { // few names have one
		w.class.client = cmp.Or(w.class.client, programOf(c.Executor))
	}
	w.client(c)
	if c.Shell || slices.Contains(c.Capabilities, "code:exec") {
		w.class.shell = w.class.shell || w.class.language == ""
		w.class.runs, w.class.elsewhere, w.class.data = true, false, false
	}
	rd.Runs = w.class.runs
	w.args(c.Args, scope{o: LineOptions(home, r.o.User, w.folder("", c.Cwd), rd.Means), lang: w.class.language}, "", 0)
	rd.does(c.Args)
	rd.gather()
}

// HomeOf returns the home that a folder is in, judging by its path; "" if it is in none.
func HomeOf(dir string) string {
	for _, homes := range [...]string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(dir, homes); ok && rest != "" && rest[0] != '/' {
			name, _, _ := strings.Cut(rest, "/")
			return dir[:len(homes)+len(name)]
		}
	}
	return ""
}

// Role returns the roles of a key of this call.
func (rd *Reading) Role(key string) Role {
	if rd.tool != nil && rd.tool.Args[key] != 0 {
		return rd.tool.Args[key]
	}
	return rd.reader.roleOf(key)
}

// IsCore reports whether a key holds a command line for the guard's core.
func (rd *Reading) IsCore(key string) bool { return rd.reader.roleOf(key)&roleCore != 0 }

// folder resolves a folder that an argument names; "" stands for an unknown folder.
func (w *walk) folder(cwd, dir string) string {
	if _, ofHome := place.CutHome(dir); ofHome || place.FileURL(dir) != dir { // a drive of Windows stays as it is
		dir = place.Local(dir, w.home)
	}
	if dir == "" || strings.ContainsAny(dir, "$`") || dir[0] == '~' || dir[0] != '/' && cwd == "" {
		return ""
	}
	return place.Join(cwd, dir)
}
