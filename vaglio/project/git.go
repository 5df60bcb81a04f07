package project

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// repository finds the folder of git's own files for the command's folder: a
// repository lies there or above, and a work tree's .git is a file that names it.
func (v *visit) repository() (dir string, config setting, ok bool) {
	const highest = 12
	start := v.dir
	if c, ok := value(v.words, "-C"); ok {
		start = v.in(c)
	}
	for range highest {
		git := path.Join(start, ".git")
		if text, ok := v.c.Files.Content(git); ok {
			if to, is := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); is {
				git = to
				if !path.IsAbs(git) {
					git = path.Join(start, git)
				}
			}
		}
		file := path.Join(git, "config")
		text, ok := v.c.Files.Content(file)
		if !ok {
			_, ok = v.c.Files.Content(path.Join(git, "HEAD"))
		}
		if ok {
			v.dir = start
			return git, parseSettings(file, text), true
		}
		if start == "/" {
			break
		}
		start = path.Dir(start)
	}
	return path.Join(v.dir, ".git"), setting{}, false
}

// setting is a file of git's settings.
type setting struct {
	file    string
	entries []entry
}

// entry is one setting, its name in lower case but for the subsection.
type entry struct {
	line                     int
	section, sub, key, value string
}

func parseSettings(file, text string) setting {
	s := setting{file: file}
	section, sub := "", ""
	for _, l := range joined(text) {
		line := strings.TrimSpace(l.text)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, _, _ := strings.Cut(line[1:], "]")
			section, sub, _ = strings.Cut(head, " ")
			section, sub = strings.ToLower(section), strings.Trim(sub, `"`)
		default:
			key, val, _ := strings.Cut(line, "=")
			s.entries = append(s.entries, entry{l.line, section, sub, strings.ToLower(strings.TrimSpace(key)), unquoted(val)})
		}
	}
	return s
}

// unquoted is a value without its quotes and its comment.
func unquoted(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// readGitConfig reads what a repository's own settings make git run.
func readGitConfig(v *visit, _ *row) {
	verb := gitVerb(v.words)
	if verb == "" || slices.Contains([]string{"version", "help", "config", "init", "clone", "rev-parse"}, verb) {
		return
	}
	_, s, ok := v.repository()
	if !ok {
		return
	}
	for _, e := range s.entries {
		if code := e.code(verb, v.words); code != "" {
			v.add(s.file, e.line, "sh", code)
		}
	}
}

// code is what git runs for a setting when it does something, "" for nothing.
func (e *entry) code(verb string, words []string) string {
	switch e.section + "." + e.key {
	case "core.fsmonitor":
		return e.unlessSwitch()
	case "core.pager", "core.sshcommand", "core.askpass", "core.gitproxy", "diff.external", "gpg.program",
		"diff.textconv", "diff.command", "filter.clean", "filter.smudge", "filter.process", "merge.driver", "sequence.editor", "interactive.difffilter":
		return e.value
	case "pager." + verb:
		return e.unlessSwitch()
	case "alias." + verb:
		if code, shell := strings.CutPrefix(e.value, "!"); shell {
			return code
		}
		return "git " + e.value
	case "credential.helper":
		code, _ := strings.CutPrefix(e.value, "!")
		if code != e.value {
			return code
		}
	case "remote.push":
		return e.pushes(verb, words)
	}
	return ""
}

// pushes is what a push does that names no branch of its own.
func (e *entry) pushes(verb string, words []string) string {
	const remoteAndBranch = 2
	if verb != "push" || len(gitOperands(words)) >= remoteAndBranch {
		return ""
	}
	return "git push " + e.sub + " " + e.value
}

// unlessSwitch is the value of a setting that may also be on or off.
func (e *entry) unlessSwitch() string {
	if slices.Contains([]string{"", "true", "false", "0", "1", "yes", "no", "on", "off"}, strings.ToLower(e.value)) {
		return ""
	}
	return e.value
}

// gitVerb is git's subcommand: the first word that is no option of git's own,
// nor an option's value.
func gitVerb(words []string) string {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace":
			i++
		case !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// gitOperands are the operands of a subcommand.
func gitOperands(words []string) []string {
	at := slices.Index(words, gitVerb(words))
	return operands(words[at+1:])
}

// readGitHook reads the hooks that a subcommand runs.
func readGitHook(v *visit, r *row) {
	if !slices.Contains(r.with, gitVerb(v.words)) || slices.Contains(v.words, "--no-verify") {
		return
	}
	git, s, _ := v.repository()
	hooks := path.Join(git, "hooks")
	for _, e := range s.entries {
		if e.section == "core" && e.key == "hookspath" {
			hooks = v.in(e.value)
		}
	}
	for _, name := range r.files {
		if file, text, ok := v.content(path.Join(hooks, name)); ok && v.once(file) {
			v.add(file, 1, languageOf(text), text)
		}
	}
}

// languageOf is the language of a script by its first line.
func languageOf(text string) string {
	language := strings.TrimRight(shell.Runner(text), "0123456789.")
	if slices.Contains([]string{"python", "perl", "ruby", "node", "php"}, language) {
		return language
	}
	return "sh"
}
