// Package about names what a call is about, in one form for every spelling of it. A
// person's denial or grant is bound to that name. The package weighs nothing and allows
// nothing; a call that it cannot name matches no other call.
package about

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Namer names what calls are about. It is safe for concurrent use.
type Namer struct {
	judge *effects.Judge
	base  *commands.Base
	home  string
	forms map[string]*form
}

// New returns a Namer that reads calls the way the given judge of effects does. home is the
// home directory of the user the agents work for; it may be empty.
func New(judge *effects.Judge, home string) (*Namer, error) {
	base, err := commands.Load()
	if err != nil {
		return nil, fmt.Errorf("about: %w", err)
	}
	return &Namer{judge: judge, base: base, home: home, forms: formsByName()}, nil
}

// Key returns one name for what the call would do, and whether all of it is known.
func (n *Namer) Key(p vaglio.Proposal) (string, bool) {
	key := n.Of(p).Subjects.Key()
	return key, key != ""
}

// Of returns what a call is about. It uses p.Context.Reading if that is set; otherwise it
// reads the call itself, without the files that the call runs.
func (n *Namer) Of(p vaglio.Proposal) approval.About {
	calls := p.Calls()
	if calls == nil {
		about, _ := n.of(p)
		return about
	}
	var all approval.About // no grant covers a batch: its calls may depend on each other
	for _, c := range calls {
		about, known := n.of(c)
		if !known {
			return approval.About{}
		}
		all.Subjects = append(all.Subjects, about.Subjects...)
	}
	all.Subjects = all.Subjects.Sorted()
	return all
}

// of is Of for a call that makes no others. It also reports whether all of the call is known.
func (n *Namer) of(p vaglio.Proposal) (approval.About, bool) {
	read := n.judge.Read(p)
	if len(read.Notes) > 0 {
		return approval.About{}, false // part of the call was not read
	}
	w := &work{n: n, p: p, rd: n.reading(p), all: read.Effects, whole: true}
	about := approval.About{Mild: true}
	for i := 0; i < len(read.Effects); {
		to := i + 1
		for to < len(read.Effects) && read.Effects[to].Of == read.Effects[i].Of {
			to++
		}
		group := slices.DeleteFunc(slices.Clone(read.Effects[i:to]), plain)
		i = to
		if len(group) == 0 || carries(read.Effects, group, i) {
			continue
		}
		if !w.group(group) {
			return approval.About{}, false
		}
		about.Mild = about.Mild && !slices.ContainsFunc(group, harsh)
	}
	about.Subjects, about.Whole = w.subjects.Sorted(), w.whole && bare(p.Context.Reading)
	about.Mild = about.Mild && len(about.Subjects) > 0
	return about, true
}

// reading returns the reading of a call, by its shape alone if it was not read yet.
func (n *Namer) reading(p vaglio.Proposal) *reading.Reading {
	if p.Context.Reading != nil {
		return p.Context.Reading
	}
	return reading.NewReader(reading.Options{Home: n.home}).Read(p.Call())
}

// bare reports whether a call is a single command with nothing around it: no variables, no
// other command, no wrapper, and nothing that it reads or writes.
func bare(rd *reading.Reading) bool {
	if rd == nil || len(rd.Commands) != 1 || len(rd.Gaps) > 0 || len(rd.Commands[0].Env) > 0 {
		return false
	}
	list := rd.Commands[0].Script.Commands
	if len(list) != 1 {
		return false
	}
	c := &list[0]
	fed := c.Stdin.Kind != shell.InputInherited
	return len(c.Assigns)+len(c.Via)+len(c.Redirects) == 0 && c.Remote == nil && !c.Privileged && !fed
}

// plain reports whether an effect is one nobody needs to be asked about: a read, or a
// change to what the agent is working on.
func plain(e effects.Effect) bool {
	own := e.Counts() == operation.ReachWorkspace
	return e.Kind == operation.KindRead || own && e.Kind != operation.KindDelete && e.Kind != operation.KindUnknown
}

// harsh reports whether an effect is one that a person may allow only one call at a time.
func harsh(e effects.Effect) bool {
	if e.Reversibility == operation.Irreversible || e.Reach == operation.ReachPublic || e.Reach == operation.ReachSystem || e.Sure < 1 {
		return true
	}
	return !slices.Contains([]operation.Kind{
		operation.KindCreate, operation.KindOverwrite, operation.KindMove, operation.KindInstall, operation.KindPublish,
		operation.KindInfrastructure, operation.KindDatabase,
	}, e.Kind)
}

// carries reports whether a command only runs a later one that has the same effects.
func carries(all, group []effects.Effect, next int) bool {
	c := group[0].Of
	return c != nil && !slices.ContainsFunc(group, func(e effects.Effect) bool {
		return !slices.ContainsFunc(all[next:], func(o effects.Effect) bool {
			return o.Of != nil && len(o.Of.Via) > 0 && strings.HasPrefix(o.Of.Via[len(o.Of.Via)-1]+" ", c.Name+" ") && o.Kind == e.Kind && o.Target == e.Target && o.Reach == e.Reach
		})
	})
}

// work collects the subjects of one call.
type work struct {
	n        *Namer
	p        vaglio.Proposal
	rd       *reading.Reading
	all      []effects.Effect
	subjects approval.Subjects
	whole    bool
	// gone holds the files and folders that the call deletes by a path from the root; it is nil
	// until included has looked.
	gone map[string]bool
	// words holds the words of the command that isWord was last asked about.
	words   map[string]bool
	wordsOf *shell.Command
}

func (w *work) add(s ...approval.Subject) { w.subjects = append(w.subjects, s...) }

// group names what one command, or the executor itself, would do. It reports false if that
// cannot be named.
func (w *work) group(list []effects.Effect) bool {
	if slices.ContainsFunc(list, func(e effects.Effect) bool { return e.Kind == operation.KindUnknown }) {
		return false
	}
	c := list[0].Of
	if c != nil && len(list) > 1 { // how the command runs, not what it does
		list = slices.DeleteFunc(list, func(e effects.Effect) bool { return e.Kind == operation.KindPrivilege && e.Target == c.Name })
	}
	files := slices.IndexFunc(list, func(e effects.Effect) bool { return !w.onFile(e) }) < 0
	switch {
	case files:
		w.whole = false // what gets written there is not part of the name
		return w.files(list)
	case c == nil:
		return w.executor(list)
	case c.Call != nil:
		return false
	default:
		return w.command(c)
	}
}

// onFile reports whether an effect acts on a file of this machine, named by its path.
func (w *work) onFile(e effects.Effect) bool {
	if e.Reach == operation.ReachShared || e.Reach == operation.ReachPublic || e.Of != nil && e.Of.Remote != nil {
		return false
	}
	switch e.Kind {
	case operation.KindDelete, operation.KindOverwrite, operation.KindCreate, operation.KindMove, operation.KindPermissions, operation.KindCredentials:
	default:
		return false
	}
	if e.Target == "" || strings.Contains(e.Target, "://") {
		return false
	}
	return e.Of == nil || e.Of.Call != nil || w.names(e)
}

// names reports whether the target of a command's effect is a path that is one of the
// command's words or that the shell opens for it.
func (w *work) names(e effects.Effect) bool {
	bare := !strings.ContainsAny(e.Target, "./~")
	if f := w.n.forms[e.Of.Name]; f != nil && f.verb > 0 && (bare || !rooted(e.Target) && !w.takesFiles(e.Of)) {
		return false // a branch, revision or release can be spelled like a path
	}
	return !bare && !strings.Contains(e.Target, " ") || w.isWord(e)
}

// rooted reports whether text starts like a path.
func rooted(text string) bool {
	return slices.ContainsFunc([]string{"/", "~/", "./", "../"}, func(lead string) bool { return strings.HasPrefix(text, lead) })
}

// takesFiles reports whether the operands of the command's verb are files.
func (w *work) takesFiles(c *shell.Command) bool {
	l, ok := w.line(c)
	return ok && slices.Contains(l.files, l.operand(0))
}

// isWord reports whether the target of a command's effect is one of the command's words, or of
// those behind its redirections.
func (w *work) isWord(e effects.Effect) bool {
	if w.wordsOf != e.Of {
		w.wordsOf, w.words = e.Of, map[string]bool{}
		for _, word := range e.Of.Argv {
			w.word(word)
		}
		for _, r := range e.Of.Redirects {
			w.word(r.Target)
		}
	}
	return w.words[e.Target]
}

func (w *work) word(word shell.Word) {
	if text, ok := word.Text(); ok {
		w.words[text] = true
	}
}

// files names what the effects do to files.
func (w *work) files(list []effects.Effect) bool {
	for _, e := range list {
		if w.included(e) {
			continue
		}
		if strings.ContainsAny(e.Target, "$`") {
			return false
		}
		cwd := w.p.Context.Cwd
		if e.Of != nil {
			if at, ok := e.Of.Cwd.Text(); ok {
				cwd = at
			} else if !strings.HasPrefix(e.Target, "/") {
				return false
			}
		}
		object := []approval.Fact{{Name: "path", Value: w.n.path(cwd, e.Target)}}
		if e.Kind == operation.KindPermissions && e.Of != nil {
			object = append(object, approval.Fact{Name: "mode", Value: modeOf(e.Of)})
		}
		if e.Of != nil && e.Of.Name == "find" {
			tests, ok := testsOf(e.Of)
			if !ok {
				return false
			}
			object = append(object, fact("match", tests)...)
		}
		w.add(approval.Subject{System: approval.Files, Verb: string(e.Kind), Object: object})
	}
	return true
}

// testsOf returns what a find looks for below the folders that it searches, "" if it takes
// everything there.
func testsOf(c *shell.Command) (string, bool) {
	var words []string
	for _, word := range c.Argv[1:] {
		text, ok := word.Text()
		if !ok {
			return "", false
		}
		words = append(words, text)
	}
	if does := slices.IndexFunc(words, func(s string) bool { return s == "-exec" || s == "-execdir" }); does >= 0 {
		words = words[:does]
	}
	tests := slices.IndexFunc(words, func(s string) bool { return s == "(" || s == "!" || strings.HasPrefix(s, "-") && s != "-P" })
	if tests < 0 {
		return "", true
	}
	return strings.Join(slices.DeleteFunc(words[tests:], func(s string) bool { return s == "-delete" || s == "-depth" || s == "-print" }), " "), true
}

// included reports whether an effect deletes what goes with a folder that the call deletes.
func (w *work) included(e effects.Effect) bool {
	if e.Kind != operation.KindDelete {
		return false
	}
	if w.gone == nil {
		w.gone = map[string]bool{}
		for _, o := range w.all {
			if o.Kind == operation.KindDelete && strings.HasPrefix(o.Target, "/") && len(o.Target) > 1 && w.onFile(o) {
				w.gone[o.Target] = true
			}
		}
	}
	for i := range len(e.Target) {
		if e.Target[i] == '/' && w.gone[e.Target[:i]] {
			return true
		}
	}
	return false
}

// path returns p as a full path.
func (n *Namer) path(cwd, p string) string {
	home := n.home
	if home == "" {
		if parts := strings.SplitN(cwd, "/", 4); len(parts) > 2 && parts[0] == "" && (parts[1] == "home" || parts[1] == "Users") {
			home = "/" + parts[1] + "/" + parts[2]
		}
	}
	cwd = place.Local(cwd, home)
	return place.ByProcess(place.Join(cwd, place.Local(p, home)), cwd)
}

// modeOf returns the mode that a chmod sets, in digits if it opens the file to everyone, or
// the owner that another command gives the file to.
func modeOf(c *shell.Command) string {
	for _, word := range c.Argv[1:] {
		text, _ := word.Text()
		switch {
		case strings.HasPrefix(text, "--reference="):
			return text
		case strings.HasPrefix(text, "-") && strings.Trim(text, "-rwxXst") != "":
		case text != "" && strings.Trim(text, "01234567") == "":
			return cmp.Or(strings.TrimLeft(text, "0"), "0")
		case text == "a+rwx", text == "a=rwx", text == "ugo+rwx", text == "ugo=rwx", text == "+rwx":
			return "777"
		case strings.ContainsAny(text, "+=-") && !strings.Contains(text, "/"), c.Name != "chmod":
			return text
		}
	}
	return ""
}

// digest returns a short hash that stands for text whose content matters.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:12])
}
