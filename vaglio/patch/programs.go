package patch

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// applier is a program that applies patches, as its command line describes it.
type applier struct {
	name    string
	words   []shell.Word // operands
	options shell.Given
	cmd     *shell.Command
	made    map[string]shell.Word // the files that the line and its patches write, by their paths
	opts    *shell.Options
}

// NotPart is the detail of a problem about a patch in a file.
const NotPart wording.Phrase = "%s: applies a patch that is not part of the command"

// Fetched is the detail of a problem about a downloaded patch.
const Fetched wording.Phrase = "%s: applies a patch from the network"

// Expand returns a script in which every command that applies a patch is followed by what the patch does to files, as calls of inline programs. Its problems
// include the patches that could not be read. A script without such commands is returned unchanged. o holds the options that the script was read with.
func Expand(s *shell.Script, o *shell.Options) *shell.Script {
	if !slices.ContainsFunc(s.Commands, applies) {
		return s
	}
	out := &shell.Script{Problems: slices.Clone(s.Problems), Wrote: maps.Clone(s.Wrote), Writes: s.Writes}
	if out.Wrote == nil {
		out.Wrote = map[string]shell.Word{}
	}
	at := make([]int, len(s.Commands)+1) // where they are, with what patches add
	for i := range s.Commands {
		c := s.Commands[i]
		at[i] = len(out.Commands)
		if name, given, words := programOf(&c); name != "" && c.Call == nil {
			a := &applier{name: name, options: given, words: words, cmd: &s.Commands[i], made: out.Wrote, opts: o}
			calls, problems := a.expand()
			c.Wrapper = c.Wrapper || strings.HasPrefix(name, "apply") // what it does is in its patch
			out.Commands = append(append(out.Commands, c), calls...)
			out.Problems = append(out.Problems, problems...)
			continue
		}
		out.Commands = append(out.Commands, c)
	}
	at[len(s.Commands)] = len(out.Commands)
	for i := range out.Commands {
		out.Commands[i].Until = at[out.Commands[i].Until]
	}
	return out
}

func applies(c shell.Command) bool {
	name, _, _ := programOf(&c)
	return c.Call == nil && name != ""
}

// programOf returns the applier that a command runs, with its options and operands; "" if it runs none.
func programOf(c *shell.Command) (name string, given shell.Given, words []shell.Word) {
	switch c.Name {
	case "apply_patch", "applypatch": // the patch itself may begin with a dash
		return c.Name, nil, c.Argv[1:]
	case "patch", "gpatch", "git", "hg":
		given, words = shell.ParseOptions(c.Argv[1:], getopt.Of(c.Name))
	}
	if c.Name == "patch" || c.Name == "gpatch" {
		return c.Name, given, words
	}
	for _, verb := range []string{"apply", "am", "import"} {
		if len(words) > 0 && words[0].Is(verb) {
			return c.Name + " " + verb, given, words[1:]
		}
	}
	return "", nil, nil
}

func (a *applier) expand() ([]shell.Command, []shell.Problem) {
	if a.onlyLooks() {
		return nil, nil
	}
	var calls []shell.Command
	var problems []shell.Problem
	o := a.settings()
	for _, in := range a.inputs() {
		more, odd := a.changes(in, o)
		calls, problems = append(calls, more...), append(problems, odd...)
	}
	if a.isPatch() && len(a.words) > 0 && len(calls) == 0 { // whatever the patch says
		calls = append(calls, a.call(shell.VerbWrite, a.words[0]))
	}
	if out, ok := a.options.Get("o", "output"); ok && a.isPatch() {
		calls = append(calls, a.call(shell.VerbWrite, out))
	}
	return calls, problems
}

// changes returns the calls that one patch stands for, and the problems with it.
func (a *applier) changes(in input, o Options) (calls []shell.Command, problems []shell.Problem) {
	text, known := in.text.Text()
	if !known {
		return nil, []shell.Problem{a.unread(in)}
	}
	changes, err := Parse(text, o)
	if err != nil {
		problems = append(problems, a.problem(shell.ProblemPartialCode, "%s: %s", shell.Word{}, err.Error()))
	}
	for i := range changes {
		calls = append(calls, a.calls(&changes[i])...)
	}
	return calls, problems
}

func (a *applier) has(names ...string) bool {
	_, ok := a.options.Get(names...)
	return ok
}

func (a *applier) isPatch() bool { return a.name == "patch" || a.name == "gpatch" }

// unread returns the problem of a patch whose text is unknown. What git prints about the repository itself is not foreign text.
func (a *applier) unread(in input) shell.Problem {
	if in.file && in.text.IsUnknown() {
		if _, one := in.name.Text(); one {
			p := a.problem(shell.ProblemScriptFile, NotPart, in.name)
			if a.cmd.Remote == nil {
				p.Below = a.below()
			}
			return p
		}
		in.text = in.name // any number of files
	}
	own := len(in.text.Parts()) > 0
	for _, p := range in.text.Parts() {
		own = own && p.Kind == shell.PartUnknown && strings.HasPrefix(p.From, "git") && !p.Remote
	}
	if own {
		return a.problem(shell.ProblemScriptFile, NotPart, in.text)
	}
	if in.text.Remote() {
		return a.problem(shell.ProblemDownload, Fetched, in.text)
	}
	return a.problem(shell.ProblemDynamicCode, "%s: applies a patch whose text is not known", in.text)
}

func (a *applier) problem(kind shell.ProblemKind, detail wording.Phrase, w shell.Word, besides ...string) shell.Problem {
	return shell.Problem{Kind: kind, Detail: wording.Say(detail, append([]string{a.name}, besides...)...), Word: w, Interpreter: a.name, Span: a.cmd.Span}
}

// onlyLooks reports whether the options say that no file changes.
func (a *applier) onlyLooks() bool {
	switch a.name {
	case "git apply":
		return !a.has("apply") && a.has("check", "stat", "numstat", "summary")
	case "git am":
		return a.has("abort", "continue", "skip", "quit", "show-current-patch", "r", "resolved")
	case "patch", "gpatch":
		return a.has("dry-run", "C", "check", "version", "v", "help")
	}
	return false
}

// settings returns the options that affect how the patch is read.
func (a *applier) settings() Options {
	o := Options{Strip: StripGit, Reverse: a.has("R", "reverse")}
	switch a.name {
	case "git apply", "git am", "hg import":
		o.Strip = 1
	case "patch", "gpatch":
		o.Strip = StripBase
		if len(a.words) > 0 {
			o.File, _ = a.words[0].Text()
		}
	}
	if w, ok := a.options.Get("p", "strip"); ok {
		s, _ := w.Text()
		if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < 100 {
			o.Strip = n
		}
	}
	return o
}

// input is one place from which a patch is read.
type input struct {
	text shell.Word
	name shell.Word
	file bool
}

func (a *applier) inputs() []input {
	if strings.HasPrefix(a.name, "apply") && len(a.words) > 0 {
		return []input{{text: a.words[0]}}
	}
	var out []input
	for _, f := range a.files() {
		if !f.Is("-") {
			out = append(out, a.inFile(f))
		}
	}
	if len(out) > 0 {
		return out
	}
	switch in := a.cmd.Stdin; in.Kind {
	case shell.InputFile:
		return []input{{text: a.held(in.Text), name: in.File, file: true}}
	case shell.InputText:
		return []input{{text: a.held(in.Text)}}
	case shell.InputInherited:
	}
	return nil
}

func (a *applier) files() []shell.Word {
	if !a.isPatch() {
		return a.words
	}
	if w, ok := a.options.Get("i", "input"); ok && !w.Is("") {
		return []shell.Word{w}
	}
	return a.words[min(1, len(a.words)):min(2, len(a.words))]
}

// inFile returns the patch in a file. Its text is known if the line wrote it, or if the file can be read.
func (a *applier) inFile(f shell.Word) input {
	part := shell.Part{Kind: shell.PartUnknown}
	if name, ok := f.Text(); ok {
		part.File = a.absolute(name)
		if text, known := a.made[part.File].Text(); known && text != "" {
			return input{text: shell.Text(text), name: f, file: true}
		}
	}
	return input{text: a.held(shell.NewWord(part)), name: f, file: true}
}

// held returns a file's content, for a word that is nothing but its unread content.
func (a *applier) held(w shell.Word) shell.Word {
	parts := w.Parts()
	if len(parts) != 1 || !path.IsAbs(parts[0].File) || a.cmd.Remote != nil || a.opts.Files == nil {
		return w
	}
	text, ok := a.opts.Files.Content(parts[0].File)
	if !ok || a.opts.Budget != nil && !a.opts.Budget.Spend(len(text)>>4) {
		return w
	}
	return shell.Text(text)
}

// absolute resolves a name against the folder that the command runs in.
func (a *applier) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	cwd, _ := a.cmd.Cwd.Text()
	return path.Join(cwd, name)
}

// calls expresses a change as calls of inline programs.
func (a *applier) calls(c *Change) []shell.Command {
	at := a.located(c.Path)
	switch c.Verb {
	case shell.VerbDelete, shell.VerbPermissions:
		return []shell.Command{a.call(c.Verb, at)}
	case shell.VerbLink:
		return []shell.Command{a.call(c.Verb, shell.Text(c.To), at)}
	case shell.VerbMove, shell.VerbCopy:
		return []shell.Command{a.call(c.Verb, at, a.located(c.To))}
	case Create:
		a.make(at, c.Added)
	default:
	}
	out := a.call(shell.VerbWrite, at)
	out.Stdin = shell.Input{Kind: shell.InputText, Text: shell.Text(c.Added)}
	return []shell.Command{out}
}

// make remembers the content of a local file that a patch creates.
func (a *applier) make(at shell.Word, text string) {
	name, known := at.Text()
	if name = a.absolute(name); known && path.IsAbs(name) && a.cmd.Remote == nil {
		a.made[name] = shell.Text(text)
	}
}

// located returns a path below the folder that an option names. Git's own -C already affects where the command runs.
func (a *applier) located(p string) shell.Word {
	dir, ok := a.options.Get("d", "directory")
	if strings.HasPrefix(p, "/") || !ok {
		return shell.Text(p)
	}
	return shell.Glue(dir, shell.Text("/"+p))
}

// below returns the folder in which a patch changes files.
func (a *applier) below() shell.Word {
	dir, ok := a.options.Get("d", "directory")
	if text, _ := dir.Text(); ok && path.IsAbs(text) {
		return dir
	}
	return a.cmd.Cwd
}

// call returns a command that stands for one change.
func (a *applier) call(v shell.Verb, targets ...shell.Word) shell.Command {
	c := *a.cmd
	c.Name = "patch:" + string(v)
	c.Argv = append([]shell.Word{shell.Text(c.Name)}, targets...)
	c.Redirects, c.Assigns, c.Stdin, c.Wrapper = nil, nil, shell.Input{}, false
	c.Call = &shell.Call{Language: a.name, Function: string(v), Verb: v, Targets: targets}
	return c
}
