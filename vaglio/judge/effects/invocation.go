package effects

import (
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// invocation is one command as the rules see it.
type invocation struct {
	*shell.Command

	name     string // base name, without suffixes such as .exe
	path     string // the name as written
	args     []arg
	writes   []arg  // files that the shell opens for writing
	appends  []bool // of writes: the content is kept
	muted    bool   // what it prints is thrown away
	toError  bool   // one of writes is not for what it prints
	reads    []arg  // files that the shell opens for reading
	assigns  []assignment
	cwd      string // "" if unknown
	astray   bool   // it changed to a folder that is not known
	stdin    stdin
	host     string // the other machine, if it runs there
	pod      bool   // in a container in a cluster
	box      string // the container, if it runs in one
	fresh    bool   // the container is created for this command
	exposed  bool   // the container has the host's rights or namespaces
	supplied bool   // words give the container variables or a network with others
	filled   bool   // a file gives it variables
	shares   bool   // the container sees volumes that no word names
	mounts   []mount
	reaches  *bool       // whether one of them is a folder of the host outside the workspace, once asked
	into     *invocation // the next command, nil if there is none
	outOf    *invocation // the one before
}

// mount is a folder of the host, or a named volume, as a container sees it.
type mount struct{ host, inside string }

// volume reports whether the mount is a volume rather than a folder of the host.
func (m mount) volume() bool { return !startsAny(m.host, "/", "~", "$", ".") }

type assignment struct {
	name  string
	value arg
}

type stdin struct {
	text  arg
	word  shell.Word
	kind  shell.InputKind
	file  arg
	piped bool
	here  bool // this machine opens the file
}

// arg is one word of a command, as text for rules and people. Unknown parts read as $NAME or $(command).
type arg struct {
	text   string
	known  bool
	remote bool     // a part was fetched from a network
	names  []string // the variables of unknown parts
	from   []string // the commands of unknown parts
	among  string   // the names that these were given, one a line
	climbs bool     // an unknown part may lead out of the folder before it
	either bool     // it begins, or its host does, with a variable for which there is a default, which is judged, too
	word   shell.Word
}

func literal(s string) arg { return arg{text: s, known: true} }

// onlyOf reports whether the unknown parts of a word are all printed by some programs.
func (a arg) onlyOf(programs ...string) bool {
	return len(a.from) > 0 && len(a.names) == 0 && !slices.ContainsFunc(a.from, func(f string) bool { return !slices.Contains(programs, f) })
}

func (a arg) slice(n int) arg {
	a.text, a.word = a.text[min(n, len(a.text)):], a.word.Cut(n)
	a.known = a.known || !strings.Contains(a.text, "$")
	return a
}

func argOf(w shell.Word) arg {
	if s, ok := w.Text(); ok {
		return arg{text: s, known: true, word: w}
	}
	a := arg{known: true, word: w}
	var b strings.Builder
	for i, p := range w.Parts() {
		begins := i == 0 && (len(w.Parts()) > 1 || !wordclass.Is("set-by-systems", p.Name)) || i == 1 && strings.HasSuffix(b.String(), "://")
		a.either = a.either || p.Default && begins
		switch p.Kind {
		case shell.PartText, shell.PartGlob:
			b.WriteString(p.Text)
		case shell.PartUnknown:
			b.WriteString(a.unknown(&p))
		}
	}
	a.text = b.String()
	return a
}

// unknown records an unknown part of the word, and returns what stands for it.
func (a *arg) unknown(p *shell.Part) string {
	if strings.HasPrefix(p.Name, "~") { // somebody's home
		return p.Name
	}
	a.known, a.climbs = false, a.climbs || !p.Level
	a.remote, a.among = a.remote || p.Remote, strings.TrimLeft(a.among+"\n"+p.Among, "\n")
	switch {
	case p.From == shell.Cut:
		a.names, a.from = append(a.names, p.Name), append(a.from, p.From)
		return "${" + p.Name + p.From + "}"
	case p.Name != "":
		a.names = append(a.names, p.Name)
		return "$" + p.Name
	case p.From != "":
		first, _, _ := strings.Cut(p.From, " ")
		a.from = append(a.from, first)
		return "$(" + p.From + ")"
	}
	return "$?"
}

func argsOf(words []shell.Word) []arg {
	out := make([]arg, len(words))
	for i, w := range words {
		out[i] = argOf(w)
	}
	return out
}

func invocationOf(c *shell.Command) *invocation {
	v := &invocation{Command: c, name: c.Name}
	if len(c.Argv) > 0 {
		v.path = argOf(c.Argv[0]).text
		v.args = argsOf(c.Argv[1:min(len(c.Argv), maxWords+1)])
	}
	switch cwd := argOf(c.Cwd); {
	case cwd.known:
		v.cwd = cwd.text
	case strings.HasPrefix(cwd.text, made):
		v.cwd = "/tmp/" + cwd.text
	default:
		v.astray = !startsAny(cwd.text, "$PWD", "$(pwd)", "$(git)")
	}
	for i := range c.Redirects {
		v.redirected(&c.Redirects[i])
	}
	for _, a := range c.Assigns {
		v.assigns = append(v.assigns, assignment{a.Name, argOf(a.Value)})
	}
	v.stdin = stdin{kind: c.Stdin.Kind, piped: c.Stdin.Piped, text: argOf(c.Stdin.Text), word: c.Stdin.Text, file: argOf(c.Stdin.File), here: c.Stdin.Here}
	if c.Remote != nil {
		v.remoteOf(c.Remote)
	}
	return v
}

func (v *invocation) redirected(r *shell.Redirect) {
	if r.Kind == shell.RedirectRead {
		v.reads = append(v.reads, argOf(r.Target))
		return
	}
	v.writes = append(v.writes, argOf(r.Target))
	v.appends = append(v.appends, r.Kind != shell.RedirectWrite)
	v.toError = v.toError || r.FD != "" && r.FD != "1"
	v.muted = v.muted || (r.FD == "" || r.FD == "1") && r.Target.Is("/dev/null")
}

// inner returns the command that a command runs in its place.
func (v *invocation) inner(name string, args []arg) *invocation {
	in := *v
	in.name, in.path, in.args = name, name, args
	return &in
}

func (v *invocation) remoteOf(r *shell.Remote) {
	target := argOf(r.Target).text
	switch r.Kind {
	case shell.RemoteHost:
		v.host = target
	case shell.RemotePod:
		v.pod, v.box = true, target
	case shell.RemoteContainer:
		v.box = target
		for _, w := range v.Via {
			v.fresh = v.fresh || strings.HasSuffix(w, " run") || strings.HasSuffix(w, " create")
		}
	case shell.RemoteRoot:
	}
	v.exposed, v.shares, v.supplied, v.filled = r.HostAccess, r.Shares, r.Given, r.Filled
	for _, m := range r.Mounts {
		if host := argOf(m.Host).text; host != "" { // otherwise it is created for the container
			v.mounts = append(v.mounts, mount{host, argOf(m.Inside).text})
		}
	}
}

// onHost returns the command as one on the machine that its container runs on, in a folder there.
func (v *invocation) onHost(cwd string) *invocation {
	out := *v
	out.box, out.cwd, out.mounts = "", cwd, nil
	return &out
}

// input returns what is known of the text that the command reads, and whether that is all of it.
func (v *invocation) input() (arg, bool) {
	return v.stdin.text, v.stdin.text.known && v.stdin.kind == shell.InputText
}

// tables holds the knowledge base as the rules look it up.
type tables struct {
	*commands.Base
	verbs map[string]verb
}

// verb is what a verb does, and whether it is usually a noun.
type verb struct {
	effect Effect
	light  bool // stays with the agent
	weak   bool // usually a noun
	phrase bool // of two words
}

// loadTables returns the tables, which all judges share.
var loadTables = sync.OnceValues(func() (*tables, error) { //nolint:gochecknoglobals // They are read once and never changed.
	b, err := commands.Load()
	if err != nil {
		return nil, err
	}
	t := &tables{b, map[string]verb{}}
	for name, v := range b.Verbs {
		t.verbs[name] = verb{effect: effectOf(v.Outcome), light: v.Light, weak: v.Weak, phrase: v.Phrase}
	}
	return t, nil
})

// ofClass reports whether a word is in a class of the knowledge base.
func (t *tables) ofClass(class, word string) bool { return t.Nouns[class][word] }

// inText returns the words of a class that occur in a text, sorted.
func (t *tables) inText(class, text string) (found []string) {
	for w := range t.Nouns[class] {
		if w = strings.ReplaceAll(w, "+", " "); strings.Contains(text, w) {
			found = append(found, w)
		}
	}
	slices.Sort(found)
	return found
}

// effectOf returns the effect that a table states.
func effectOf(o commands.Outcome) Effect {
	e := usual(o.Kind)
	if o.Own && (o.Reversibility != e.Reversibility || o.Reach != e.Reach) {
		e.counts, e.eased = e.Reach, e.Reversibility
	}
	e.Reversibility, e.Reach = o.Reversibility, o.Reach
	return e
}

// parsed holds a command's arguments, split into options and operands.
type parsed struct {
	commands.Parsed

	operands []arg
	all      []arg
}

// parse splits a program's arguments into options and operands.
func (r *reading) parse(program string, args []arg) *parsed {
	var words []string
	for i := range r.parses {
		switch was := &r.parses[i]; {
		case was.parsed == nil || len(was.all) != len(args) || len(args) > 0 && &was.all[0] != &args[0]: // another list
		case was.program == program:
			again := *was.parsed
			again.Found = ""
			return &again
		default:
			words = was.Words
		}
	}
	if words == nil {
		words = texts(args)
	}
	p := &parsed{all: args}
	r.judge.tables.Parse(&p.Parsed, program, words)
	p.operands = make([]arg, 0, len(p.Operands))
	for _, i := range p.Operands {
		p.operands = append(p.operands, args[i])
	}
	r.parses[r.nextParse] = parse{p, program}
	r.nextParse = 1 - r.nextParse
	return p
}

// parse is how the arguments of a program were split. Several rules split those of each command.
type parse struct {
	*parsed

	program string
}

// has reports whether one of the options is present, perhaps abbreviated, and not switched off.
func (p *parsed) has(names ...string) bool {
	return slices.ContainsFunc(p.Flags, func(f commands.Flag) bool {
		return !f.Off && slices.ContainsFunc(names, func(name string) bool { return f.Name == name || commands.Abbreviates(&f, name) })
	})
}

// value returns the last value given to one of the options.
func (p *parsed) value(names ...string) (arg, bool) {
	if all := p.values(names...); len(all) > 0 {
		return all[len(all)-1], true
	}
	return arg{}, false
}

func (p *parsed) valueOf(f *commands.Flag) arg { return p.all[f.At].slice(f.Cut) }

// values returns all values given to the options.
func (p *parsed) values(names ...string) (out []arg) {
	for i := range p.Flags {
		if f := &p.Flags[i]; f.Has && slices.Contains(names, f.Name) {
			out = append(out, p.valueOf(f))
		}
	}
	return out
}

// operand returns the text of the n-th operand, "" if there is none.
func (p *parsed) operand(n int) string {
	if n >= 0 && n < len(p.operands) {
		return p.operands[n].text
	}
	return ""
}

// rest joins the operands from n on for a person to read. Each but the first comes with the option whose value it may be.
func (p *parsed) rest(n int) string {
	var list []arg
	for k, i := range p.Operands[min(n, len(p.Operands)):] {
		if k > 0 && i > 0 && strings.HasPrefix(p.all[i-1].text, "-") && !slices.Contains(p.Operands, i-1) {
			list = append(list, p.all[i-1])
		}
		list = append(list, p.all[i])
	}
	return join(list)
}

func (p *parsed) valued() (values []arg) {
	for i := range p.Flags {
		if f := &p.Flags[i]; f.Has && !f.Off {
			values = append(values, p.valueOf(f))
		}
	}
	return values
}

func join(args []arg) string {
	var b strings.Builder
	for _, a := range args {
		if b.Len() > 160 {
			return b.String() + "…"
		}
		b.WriteString(a.text + " ")
	}
	return strings.TrimSuffix(b.String(), " ")
}

// holdsAny reports whether a text contains one of the parts.
func holdsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// startsAny reports whether a text begins with one of the parts.
func startsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(s, p) })
}
