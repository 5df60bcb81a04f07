package about

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/shell"
)

// form describes how the words of a program name an object.
type form struct {
	// system is the system that the program acts on; "" means the program itself.
	system string
	// verb is the number of leading operands that form the verb.
	verb int
	// same maps other names of a verb to the one it has here.
	same map[string]string
	// files lists the verbs whose operands are files.
	files []string
	// facts maps the name of a fact to the options that give its value.
	facts map[string][]string
	// drop lists the options that skip a prompt, wait, or choose an output format.
	drop []string
	// anywhere says that the working directory does not matter.
	anywhere bool
	// confirms says that the input only answers the program's prompts.
	confirms bool
	// whole says that the words name the object completely.
	whole bool
	// read names the object for a program that has a grammar of its own. It reports false
	// if the object is unknown.
	read func(*line) ([]approval.Subject, bool)
}

// line is a command with its options and operands told apart.
type line struct {
	*form
	w      *work
	c      *shell.Command
	name   string
	parsed commands.Parsed
	cwd    string
	// lost says that the directory the command runs in is unknown.
	lost bool
	// unknown says that the value of some word that matters is unknown.
	unknown bool
	used    map[string]bool
}

// command names what a command would do.
func (w *work) command(c *shell.Command) bool {
	l, ok := w.line(c)
	if !ok || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { _, known := r.Target.Text(); return !known }) {
		return false
	}
	read := l.read
	if read == nil {
		read = (*line).plain
	}
	subjects, ok := read(l)
	if !ok || len(subjects) == 0 {
		return false
	}
	where, ok := l.where()
	if !ok || l.unknown {
		return false
	}
	argued, ok := l.argued()
	if !ok {
		return false
	}
	for i := range subjects {
		subjects[i].Object = append(append(subjects[i].Object, where...), argued...)
	}
	w.whole = w.whole && l.whole && c.Stdin.Kind == shell.InputInherited
	w.add(subjects...)
	return true
}

// line parses the words of a command.
func (w *work) line(c *shell.Command) (*line, bool) {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(c.Name), ".exe"), ".cmd")
	f := w.n.forms[name]
	if f == nil {
		f = &form{}
	}
	l := &line{form: f, w: w, c: c, name: name, used: map[string]bool{}}
	cwd, ok := c.Cwd.Text()
	if !ok && !f.anywhere {
		return nil, false
	}
	l.lost = !ok
	if l.cwd = cwd; cwd == "" {
		l.cwd = w.p.Context.Cwd
	}
	words := make([]string, 0, len(c.Argv))
	for _, word := range c.Argv[min(1, len(c.Argv)):] {
		text, known := word.Text()
		if !known {
			text = unknownWord + word.String()
		}
		words = append(words, text)
	}
	w.n.base.Parse(&l.parsed, name, words)
	return l, true
}

// unknownWord starts a word whose value is partly unknown.
const unknownWord = "\x00"

// text returns s, a word that matters, and records whether part of it is unknown.
func (l *line) text(s string) string {
	if strings.Contains(s, unknownWord) {
		l.unknown = true
	}
	return s
}

// at returns p as a full path, resolved against the directory the command runs in.
func (l *line) at(p string) string {
	l.unknown = l.unknown || l.lost && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/")
	return l.w.n.path(l.cwd, p)
}

// operands returns the operands, starting with the given one.
func (l *line) operands(from int) []string {
	var out []string
	for i, at := range l.parsed.Operands {
		if i >= from {
			out = append(out, l.text(l.parsed.Words[at]))
		}
	}
	return out
}

// operand returns the n-th operand, or "" if there is none.
func (l *line) operand(n int) string {
	if all := l.operands(n); len(all) > 0 {
		return all[0]
	}
	return ""
}

// has reports whether any of the options is set, and marks them as read.
func (l *line) has(names ...string) bool {
	found := false
	for i := range l.parsed.Flags {
		if f := &l.parsed.Flags[i]; slices.Contains(names, f.Name) {
			l.used[f.Name] = true
			found = found || !f.Off
		}
	}
	return found
}

// values returns every value given to any of the options.
func (l *line) values(names ...string) []string {
	var out []string
	for i := range l.parsed.Flags {
		f := &l.parsed.Flags[i]
		if !slices.Contains(names, f.Name) {
			continue
		}
		l.used[f.Name] = true
		if f.Has {
			word := l.parsed.Words[f.At]
			out = append(out, l.text(word[min(f.Cut, len(word)):]))
		}
	}
	return out
}

// variable returns the value of the last variable of these names that is set for the command
// alone, and marks them as read.
func (l *line) variable(names ...string) string {
	out := ""
	for _, a := range l.assigns() {
		if slices.Contains(names, a.Name) {
			if value, ok := a.Value.Text(); ok {
				l.used[a.Name] = true
				out = value
			}
		}
	}
	return out
}

// assigns returns the variables that the command is given: those exported before it, unless it
// has others of their names, and its own.
func (l *line) assigns() []shell.Assign {
	out := slices.DeleteFunc(slices.Clone(l.c.Exported), func(e shell.Assign) bool {
		return slices.ContainsFunc(l.c.Assigns, func(a shell.Assign) bool { return a.Name == e.Name })
	})
	return append(out, l.c.Assigns...)
}

// value returns the last value given to any of the options, or "".
func (l *line) value(names ...string) string {
	if all := l.values(names...); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// named returns the facts that options give.
func (l *line) named() []approval.Fact {
	var out []approval.Fact
	for name, options := range l.facts {
		for _, v := range l.values(options...) {
			out = append(out, approval.Fact{Name: name, Value: v})
		}
	}
	return out
}

// others returns the options that nothing else has read, in a fixed order.
func (l *line) others() []approval.Fact {
	var out []approval.Fact
	l.has(l.drop...)
	for i := range l.parsed.Flags {
		f := &l.parsed.Flags[i]
		letters := len(f.Name) > 2 && f.Name[0] == '-' && f.Name[1] != '-' && !f.Has && l.bundled(i)
		if l.used[f.Name] || letters || f.Off {
			continue
		}
		value := f.Name
		if f.Has {
			word := l.parsed.Words[f.At]
			value += "=" + l.text(word[min(f.Cut, len(word)):])
		}
		out = append(out, approval.Fact{Name: "option", Value: value})
	}
	return out
}

// bundled reports whether the option at index at is a bundle of single letters that are
// listed as options of their own.
func (l *line) bundled(at int) bool {
	name := l.parsed.Flags[at].Name
	return slices.ContainsFunc(l.parsed.Flags, func(f commands.Flag) bool { return f.Name == name[:2] })
}

// where returns the facts about where a command runs and as whom.
func (l *line) where() ([]approval.Fact, bool) {
	var out []approval.Fact
	if r := l.c.Remote; r != nil {
		target, ok := r.Target.Text()
		if !ok {
			return nil, false
		}
		out = append(out, approval.Fact{Name: "on", Value: target})
	} else if !l.anywhere {
		out = append(out, approval.Fact{Name: approval.FactFolder, Value: l.w.n.path(l.w.p.Context.Cwd, l.cwd)})
	}
	for _, a := range l.assigns() {
		if !steers(a.Name) || l.used[a.Name] {
			continue
		}
		value, ok := a.Value.Text()
		if !ok {
			return nil, false
		}
		out = append(out, approval.Fact{Name: a.Name, Value: value})
	}
	return l.input(out)
}

// input adds what the command reads on standard input, if that is more than an answer to
// its prompts.
func (l *line) input(out []approval.Fact) ([]approval.Fact, bool) {
	if l.confirms || l.used["<"] || l.c.Stdin.Kind == shell.InputInherited {
		return out, true
	}
	text, ok := l.c.Stdin.Text.Text()
	if l.c.Stdin.Kind == shell.InputFile && !ok {
		file, known := l.c.Stdin.File.Text()
		if !known {
			return nil, false
		}
		return append(out, approval.Fact{Name: "input", Value: l.at(file)}), true
	}
	if !ok {
		return nil, false
	}
	return append(out, approval.Fact{Name: "input", Value: digest(text)}), true
}

// fed returns the text on the command's standard input, if it is known; nothing was handed to one
// that inherits it.
func (l *line) fed() (string, bool) {
	l.used["<"] = true
	return l.c.Stdin.Text.Text()
}

// steers reports whether a variable, judging by its name, decides where a program acts or
// as whom.
func steers(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{
		"PROFILE", "REGION", "HOST", "CONTEXT", "KUBECONFIG", "NAMESPACE", "DATABASE", "URL", "ENDPOINT", "PROJECT", "ACCOUNT", "REGISTRY",
		"WORKSPACE", "SUBSCRIPTION", "CLUSTER", "GIT_DIR", "WORK_TREE", "TF_VAR", "PGPORT", "PGUSER",
	}, func(part string) bool { return strings.Contains(name, part) })
}

// plain names the object of a program without a grammar of its own: its verb, the facts,
// every other option, and the operands in order.
func (l *line) plain() ([]approval.Subject, bool) {
	verb := l.operands(0)[:min(l.verb, len(l.parsed.Operands))]
	s := approval.Subject{System: l.system, Verb: strings.Join(verb, " "), Object: l.named()}
	if s.System == "" {
		s.System = l.name
	}
	s.Verb = cmp.Or(l.same[s.Verb], s.Verb)
	for i, o := range l.operands(l.verb) {
		name := "object"
		if l.verb == 0 && i > 0 {
			name = "object" + strings.Repeat("+", min(i, 8))
		}
		s.Object = append(s.Object, approval.Fact{Name: name, Value: o})
	}
	s.Object = append(s.Object, l.others()...)
	if l.parsed.Ended >= 0 && l.verb == 0 {
		s.Object = append(s.Object, approval.Fact{Name: "option", Value: "--"})
	}
	return []approval.Subject{s}, true
}
