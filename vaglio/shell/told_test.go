package shell_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// TestTold checks all that is read in each source of testdata/told.txt: the commands with their
// words, redirections and marks, the problems and the files written. It is in testdata/told.reads:
// after an intended change, run it with -update, and read what has changed.
func TestTold(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/told.txt")
	if err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	steps := 0
	for src := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
		o := toldOptions()
		found.WriteString(src + "\n" + told(shell.Read(src, o)))
		steps += o.Budget.Steps()
	}
	fmt.Fprintf(&found, "%d steps\n", steps) // what a step stands for is what bounds the work
	golden.Check(t, "testdata/told.reads", found.String())
}

// toldOptions are those of a user whose project has a few files.
func toldOptions() shell.Options {
	return shell.Options{
		Home: "/home/user", User: "user", Cwd: "/work", Tasks: project.Default(), Programs: code.Default(),
		Env:     map[string]string{"EDITOR": "vi", "PATH": "/usr/bin:/bin"},
		Foreign: foreign, Session: earlier{}, Budget: &shell.Budget{},
		Files: files{onDisk{
			"/work/a.sh": "#!/bin/bash\nset -e\nif true; then\n  rm -rf \"$1\"/x\nfi\n", "/work/x.py": "import os\nos.remove('/data')\n",
			"/work/env.sh": "export A=/etc\nf() { rm f; }\n", "/work/bad.sh": "rm early\nif then fi (\n", "/work/d/1.sh": "rm one\n", "/work/d/2.sh": "rm $X\n",
			"/work/Makefile": "all:\n\techo hi\n\nclean:\n\trm -rf build\n", "/work/package.json": `{"scripts": {"build": "tsc && rm -rf dist"}}`, "/work/list": "one\ntwo\n", "/home/user/.bashrc": "alias ll='ls -l'\n",
			"/dev/x": "p device\n", "/work/changed.sh": "p changed\n", "/work/nul.sh": "p\x00\n", "/work/fn.sh": "fa() { p a; }\nfunction fb { p b; }\nalias x='p x' y=\"p y\"\n", "/work/s.sed": "1e p sed\n",
		}},
	}
}

// foreign reads the last word of a foreign shell as a line of this one.
func foreign(c shell.Command, o shell.Options) *shell.Script {
	if len(c.Argv) < 3 {
		return nil
	}
	text, _ := c.Argv[len(c.Argv)-1].Text()
	return shell.Read(text, o)
}

// files are those of a project, some of which cannot be read.
type files struct{ onDisk }

func (files) Closed(path string) *shell.ClosedError {
	return map[string]*shell.ClosedError{
		"/work/locked.sh": {Why: "%s cannot be opened"}, "/work/tool": {Why: "%s is machine code", Inert: true}, "/work/usual.sh": {Why: "%s is large", Usual: true},
	}[path]
}

// earlier is a session that wrote one file.
type earlier struct{}

func (earlier) Changed() []string            { return []string{"/work/changed.sh"} }
func (earlier) Loaded() []string             { return nil }
func (earlier) Origin(string) (string, bool) { return "", false }
func (earlier) Fetched() map[string]bool     { return nil }
func (earlier) Exported() []string           { return []string{"EARLIER"} }

// told writes what was read, line by line.
func told(s *shell.Script) string {
	var b strings.Builder
	for i := range s.Commands {
		b.WriteString("\t" + toldCommand(&s.Commands[i]) + "\n")
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "\t! %s: %s%s%s", p.Kind, p.Detail, named(" word ", toldWord(p.Word)), named(" by ", p.Interpreter))
		fmt.Fprintf(&b, "%s%s%s at %d-%d\n", named(" args ", toldWords(p.Args)), named(" below ", toldWord(p.Below)), mark(p.Privileged, " privileged"), p.Span.Start, p.Span.End)
	}
	for _, w := range s.Writes {
		fmt.Fprintf(&b, "\twrites %s: %q\n", w.File, w.Text)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Wrote)) {
		fmt.Fprintf(&b, "\twrote %s: %s\n", name, toldWord(s.Wrote[name]))
	}
	for _, p := range s.Ran {
		fmt.Fprintf(&b, "\tran %s:%d%s%s%s%s\n", p.File, p.Line, mark(p.Sure, " sure"), mark(p.Loose, " loose"), mark(p.Unnamed, " unnamed"), mark(p.Inline, " inline"))
	}
	return b.String()
}

func toldCommand(c *shell.Command) string {
	var b strings.Builder
	b.WriteString(c.Name + ":" + named(" ", toldWords(c.Argv)))
	for _, r := range c.Redirects {
		fmt.Fprintf(&b, " %s%s%s", r.FD, [...]string{"", "<", ">", ">>", "<>"}[r.Kind], toldWord(r.Target))
	}
	b.WriteString(toldAssigns(" with ", c.Assigns) + toldAssigns(" exported ", c.Exported))
	b.WriteString(named(" via ", strings.Join(c.Via, ",")))
	if !c.Cwd.Is("/work") {
		b.WriteString(" in " + toldWord(c.Cwd))
	}
	if c.Stdin.Kind != shell.InputInherited {
		fmt.Fprintf(&b, " input %s%s%s", toldWord(c.Stdin.Text), named(" of ", toldWord(c.Stdin.File)), mark(c.Stdin.Piped, " piped"))
	}
	if r := c.Remote; r != nil {
		fmt.Fprintf(&b, " remote %d %s%s%s%s", r.Kind, toldWord(r.Target), mark(r.Shares, " shares"), mark(r.HostAccess, " host"), mark(r.HostNetwork, " network"))
		for _, m := range r.Mounts {
			fmt.Fprintf(&b, " %s:%s%s", toldWord(m.Host), toldWord(m.Inside), mark(m.ReadOnly, ":ro"))
		}
	}
	b.WriteString(mark(c.Privileged, " privileged") + mark(c.Wrapper, " wrapper") + mark(c.Background, " background") + mark(c.InLoop, " loop"))
	b.WriteString(mark(c.Conditional, " conditional") + mark(c.Guess, " guess"))
	b.WriteString(named(" unless ", toldWords(c.Unless)))
	if c.Until != 0 {
		fmt.Fprintf(&b, " until %d", c.Until)
	}
	if c.File != "" {
		fmt.Fprintf(&b, " @%s:%d%s", c.File, c.Line, mark(c.Own, " own"))
	}
	fmt.Fprintf(&b, " at %d-%d", c.Span.Start, c.Span.End)
	return b.String()
}

func toldWords(words []shell.Word) string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = toldWord(w); all[i] == "" {
			all[i] = "''"
		}
	}
	return strings.Join(all, " ")
}

// toldWord marks what is a pattern, and what is unknown in which way.
func toldWord(w shell.Word) string {
	var b strings.Builder
	for _, p := range w.Parts() {
		switch p.Kind {
		case shell.PartText:
			b.WriteString(strings.NewReplacer("\n", `\n`, "\t", `\t`, "\x00", `\0`).Replace(p.Text))
		case shell.PartGlob:
			b.WriteString("«" + p.Text + "»")
		case shell.PartUnknown:
			b.WriteString("${" + p.Name + named(" from ", p.From) + named(" file ", p.File))
			b.WriteString(mark(p.MayBeEmpty, "?") + mark(p.Splits, " splits") + mark(p.Remote, " remote") + mark(p.Default, " default") + "}")
		}
	}
	return b.String()
}

func toldAssigns(label string, list []shell.Assign) string {
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = a.Name + "=" + toldWord(a.Value)
	}
	return named(label, strings.Join(all, " "))
}

func named(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

func mark(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
