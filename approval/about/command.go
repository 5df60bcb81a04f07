package about

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/shell"
)

// form is how the words of a program name an object.
type form struct {
	// system is the one that the program works on, "" the program's own.
	system string
	// verb is how many operands are the verb.
	verb int
	// files are the verbs whose operands are files.
	files []string
	// facts are the options that name a part of the object, by the fact's name.
	facts map[string][]string
	// drop are the options that ask nobody, wait, or say how to print.
	drop []string
	// anywhere says that the folder does not matter.
	anywhere bool
	// confirms says that the input only answers the program's questions.
	confirms bool
	// whole says that the words name the object whole.
	whole bool
	// read names the object of a program that has a grammar of its own. It
	// reports false where that is not known.
	read func(*line) ([]approval.Subject, bool)
}

// line is a command whose options and operands were told apart.
type line struct {
	*form
	w      *work
	c      *shell.Command
	name   string
	parsed *commands.Parsed
	cwd    string
	// lost says that nobody knows where the command runs.
	lost bool
	// unknown says that a word that counts is not known.
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
	for i := range subjects {
		subjects[i].Object = append(subjects[i].Object, where...)
	}
	w.whole = w.whole && l.whole && c.Stdin.Kind == shell.InputInherited
	w.add(subjects...)
	return true
}

// line tells the words of a command apart.
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
	sec := &commands.Section{}
	if list := w.n.base.Judged[name]; len(list) > 0 {
		sec = list[0]
	}
	l.parsed = commands.Parse(words, sec)
	return l, true
}

// unknownWord begins a word of which something is not known.
const unknownWord = "\x00"

// text is a word that counts.
func (l *line) text(s string) string {
	if strings.Contains(s, unknownWord) {
		l.unknown = true
	}
	return s
}

// at is a path where the command runs, or in full.
func (l *line) at(p string) string {
	l.unknown = l.unknown || l.lost && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/")
	return l.w.n.path(l.cwd, p)
}

// operands are the words that are no options, from one on.
func (l *line) operands(from int) []string {
	var out []string
	for i, at := range l.parsed.Operands {
		if i >= from {
			out = append(out, l.text(l.parsed.Words[at]))
		}
	}
	return out
}

// operand is one of them, "" where there is none.
func (l *line) operand(n int) string {
	if all := l.operands(n); len(all) > 0 {
		return all[0]
	}
	return ""
}

// has reports whether one of the options is given.
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

// values are all that is given to one of the options.
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

// value is the last that is given to one of the options.
func (l *line) value(names ...string) string {
	if all := l.values(names...); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// named are the facts that options name.
func (l *line) named() []approval.Fact {
	var out []approval.Fact
	for name, options := range l.facts {
		for _, v := range l.values(options...) {
			out = append(out, approval.Fact{Name: name, Value: v})
		}
	}
	return out
}

// others are the options that nothing else has read, in one order.
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

// bundled reports whether the option at a place is letters that stand behind it
// one by one.
func (l *line) bundled(at int) bool {
	name := l.parsed.Flags[at].Name
	return slices.ContainsFunc(l.parsed.Flags, func(f commands.Flag) bool { return f.Name == name[:2] })
}

// where are the facts about where a command runs and for whom.
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
	for _, a := range l.c.Assigns {
		if !steers(a.Name) {
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

// input adds what the command is fed, where that is more than an answer to its
// questions.
func (l *line) input(out []approval.Fact) ([]approval.Fact, bool) {
	if l.confirms || l.used["<"] || l.c.Stdin.Kind == shell.InputInherited && !l.c.Stdin.Piped {
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

// fed is the text that the command is fed, where it is known.
func (l *line) fed() (string, bool) {
	l.used["<"] = true
	if l.c.Stdin.Kind == shell.InputInherited && !l.c.Stdin.Piped {
		return "", true
	}
	return l.c.Stdin.Text.Text()
}

// steers reports whether a variable by its name says where a program works or
// for whom.
func steers(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{
		"PROFILE", "REGION", "HOST", "CONTEXT", "KUBECONFIG", "NAMESPACE", "DATABASE", "URL", "ENDPOINT", "PROJECT", "ACCOUNT", "REGISTRY",
		"WORKSPACE", "SUBSCRIPTION", "CLUSTER", "GIT_DIR", "WORK_TREE", "TF_VAR", "PGPORT", "PGUSER",
	}, func(part string) bool { return strings.Contains(name, part) })
}

// plain names the object of a program without a grammar of its own: its verb, the
// facts, every other option, and the operands in their order.
func (l *line) plain() ([]approval.Subject, bool) {
	verb := l.operands(0)[:min(l.verb, len(l.parsed.Operands))]
	s := approval.Subject{System: l.system, Verb: strings.Join(verb, " "), Object: l.named()}
	if s.System == "" {
		s.System = l.name
	}
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
