package reading

import (
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
	"github.com/metnos/vaglio/vaglio/wording"
)

// maxDepth is how deep arguments may nest, maxTexts how many command lines and
// programs of one call are read.
const (
	maxDepth = 128
	maxTexts = 4096
)

// Options say what is known of the world in which calls run.
type Options struct {
	// Home is the home folder of the user, "" if it is not known.
	Home string
	// User is the name of the user, "" takes it from the home.
	User string
	// Clients are the tools of which it is known what their arguments are, by
	// the client that has them and the executor's whole name; one that ends with
	// a star stands for all that begin so. It wins over the shape of a call.
	Clients map[string]map[string]Tool
	// Env are variables that every call may have.
	Env map[string]string
}

// Tool is what is known of one tool.
type Tool struct {
	// Args are the roles of its arguments by their keys as written, at any
	// depth. A key that is not listed has the roles of its shape.
	Args map[string]Role
	// Shell says that its commands are run by a shell.
	Shell bool
	// Language is the language of its programs, "" for whatever they look like.
	Language string
}

// Call is one proposed call as plain values.
type Call struct {
	Executor string
	// Client is the program that would make the call, "" if it is not known. A
	// call of a tool that this client is not known to have is a gap.
	Client string
	// Args hold nil, bool, number, string, []any and map[string]any, nested.
	Args map[string]any
	// Cwd is the folder in which the call would run, "" if it is not known.
	Cwd string
	// Files reads what the call runs; nil leaves it unread. Changed gives the
	// files that the session wrote, Loaded those of them that hold what would be
	// asked about or denied if it ran.
	Files           shell.Files
	Changed, Loaded func() []string
	// Capabilities are all that anybody claims of the executor. They can add
	// to what is read: "code:exec" makes its texts a shell's.
	Capabilities []string
	// Shell marks an executor that the catalog knows as a shell.
	Shell bool
	// Schema is the executor's declared JSON schema of its arguments, nil if
	// there is none. Only what it declares counts as a claim.
	Schema any
}

// Reader reads calls. It is safe for concurrent use.
type Reader struct {
	o       Options
	keys    map[string]Role
	endings []ending
}

// NewReader makes a reader.
func NewReader(o Options) *Reader {
	if home := path.Clean(o.Home); o.User == "" && strings.HasPrefix(home, "/") && home != "/" {
		o.User = path.Base(home)
	}
	return &Reader{o: o, keys: keyTable(), endings: keyEndings()}
}

// LooksOnly reports whether a script that runs on a web page does no more than look at it.
func (r *Reader) LooksOnly(script string) bool { return code.Default().LooksOnly(script) }

// LineOptions are the options with which every command line is read: what is
// known of its world, the means that all lines of a call share, and the readers
// of what it carries besides shell code.
func LineOptions(home, user, cwd string, m Means) shell.Options {
	return shell.Options{
		Budget: m.Budget, Files: m.Files, Home: home, User: user, Cwd: cwd, Programs: code.Default(), Foreign: powershell.Carried,
		Tasks: project.Default(), Changed: m.Changed, Loaded: m.Loaded, Env: m.Env,
	}
}

// Means are what all readings of one call share. They are not safe for
// concurrent use.
type Means struct {
	// Budget is what the call may still cost.
	Budget *shell.Budget
	// Files reads what the call runs; nil leaves it unread. Changed gives the
	// files that the session wrote, Loaded those of them that hold what would be
	// asked about or denied if it ran.
	Files           shell.Files
	Changed, Loaded func() []string
	// Env are the variables of its environment that are known.
	Env map[string]string
}

// ReadLine reads a command line, and what the patches do that it applies.
func ReadLine(line string, o shell.Options) *shell.Script {
	return patch.Expand(shell.Read(line, o), &o)
}

// ReadArgv reads a command that runs without a shell, as [ReadLine] does.
func ReadArgv(argv []string, o shell.Options) *shell.Script {
	return patch.Expand(shell.ReadArgv(argv, o), &o)
}

// Reading is what one call was understood to say.
type Reading struct {
	// Words are the words of the executor's name, in lower case.
	Words []string
	// Runs says that the executor runs what it is given, by its name or by
	// what is known of it.
	Runs bool
	// OnlyRuns says that the arguments hold a command and what surrounds one,
	// and that the executor declares the command if it declares anything.
	OnlyRuns bool
	// Commands are the command lines and programs, in the order of their keys.
	Commands []Command
	// Paths, URLs, Statements and Recipients are the texts that stand under keys
	// with these roles.
	Paths, URLs, Statements, Recipients []Text
	// Patched says that what the call does is to apply a patch, whose operations
	// are among the commands.
	Patched bool
	// Deed is what the executor does to paths, and Operations what it does to
	// processes, services and packages, as far as its name tells.
	Deed       Deed
	Operations []operation.Operation
	// DryRun says that the call asks for nothing to be changed, by an argument
	// that the executor declares.
	DryRun bool
	// Gaps are what could not be read.
	Gaps []Gap
	// Failed says that the reader itself failed, so that nothing here is whole.
	Failed bool

	// Means are for whatever of the call is read later.
	Means Means

	reader  *Reader
	tool    *Tool
	written []Written
}

// Command is one command line or program, as read.
type Command struct {
	// At is the place in the arguments, such as "steps[1].run".
	At string
	// Text is what stands there. The words of a list are joined as a shell
	// would have to read them.
	Text string
	// Language is "sh" for a command line, else the program's language.
	Language string
	// Script is what it would run. Its places are those in Text, moved by Shift:
	// what stands around a line is put before it.
	Script *shell.Script
	Shift  int
	// Env are the variables that arguments beside it set.
	Env map[string]string
	// Final says that an executor that really is a shell runs the text: that
	// it cannot be read is then no matter of guessing.
	Final bool
	// Doubt says that the text has another, likelier reading. What is found
	// here counts; what is not understood does not.
	Doubt bool
	// Verb says that the text is one word beside other arguments: it may name
	// what a tool of many is to do.
	Verb bool
}

// IsLine says whether it is a command line, and no program of another language.
func (c *Command) IsLine() bool { return c.Language == langShell }

// IsProgram says whether it is a program of another language than a shell's.
func (c *Command) IsProgram() bool {
	return c.Language != langShell && c.Language != langPowerShell && c.Language != langPatch
}

// Text is one text with the roles of its key.
type Text struct {
	At, Text string
	Role     Role
}

// Gap is something that could not be read. It is never a pass.
type Gap struct {
	// At is the place in the arguments.
	At string
	// Why is one sentence part for a person, such as "is no program of a
	// language that is known".
	Why wording.Clause
	// Doubt says that all was read, and that Why tells what it may do all the same.
	Doubt bool
}

// Read reads a call. It never fails: what it cannot read is a [Gap].
func (r *Reader) Read(c Call) (rd *Reading) {
	rd = &Reading{reader: r, Means: Means{Budget: new(shell.Budget), Env: r.o.Env}}
	rd.Means.Files, rd.Means.Changed, rd.Means.Loaded = c.Files, c.Changed, c.Loaded
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
	home := r.o.Home
	if home == "" {
		home = HomeOf(c.Cwd)
	}
	w := walk{r: r, home: home, name: c.Executor, rd: rd, class: classOf(rd.Words), schema: properties(c.Schema), applies: patch.NamesApplier(rd.Words)}
	w.client(c)
	if c.Shell || slices.Contains(c.Capabilities, "code:exec") {
		w.class.shell = w.class.shell || w.class.language == ""
		w.class.runs, w.class.elsewhere, w.class.data = true, false, false
	}
	rd.Runs = w.class.runs
	rd.does(c.Args)
	w.args(c.Args, scope{o: LineOptions(home, r.o.User, w.folder("", c.Cwd), rd.Means), lang: w.class.language}, "", 0)
}

// HomeOf gives the home in which a folder lies by its name, "" if it tells none.
func HomeOf(dir string) string {
	const root, users, name, below = 0, 1, 2, 4
	parts := strings.SplitN(strings.TrimRight(dir, "/"), "/", below)
	if len(parts) > name && parts[root] == "" && parts[name] != "" && (parts[users] == "home" || parts[users] == "Users") {
		return "/" + parts[users] + "/" + parts[name]
	}
	return ""
}

// Role gives the roles of a key of this call.
func (rd *Reading) Role(key string) Role {
	if rd.tool != nil && rd.tool.Args[key] != 0 {
		return rd.tool.Args[key]
	}
	return rd.reader.roleOf(key)
}

// IsCore says whether a key holds a command line for the guard's core.
func (rd *Reading) IsCore(key string) bool { return rd.reader.roleOf(key)&roleCore != 0 }

// folder resolves a folder that an argument names; "" is one that is not known.
func (w *walk) folder(cwd, dir string) string {
	const scheme = "file://"
	if len(dir) > len(scheme) && strings.EqualFold(dir[:len(scheme)], scheme) {
		dir = dir[len(scheme):]
	}
	if home := strings.TrimRight(w.home, "/"); home != "" {
		if rest, ok := place.CutHome(dir); ok {
			dir = home + "/" + strings.TrimPrefix(rest, "/")
		}
	}
	switch {
	case dir == "", strings.ContainsAny(dir, "$`"), dir[0] == '~':
		return ""
	case dir[0] == '/':
		return path.Clean(dir)
	case cwd == "":
		return ""
	default:
		return path.Join(cwd, dir)
	}
}
