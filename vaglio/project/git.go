package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// repository finds the git directory, in the command's folder or above, whose settings and hooks count, and the work tree's HEAD: "" without one.
func (v *visit) repository() (head, dir string, config []setting) {
	start, named := v.dir, ""
	given := getopt.Of("git").Split(v.words, getopt.Manner{Leading: true}, nil, nil)
	for _, c := range given.Values("-C") {
		start = joined(start, c)
	}
	if all := given.Values("--git-dir"); all != nil {
		named = all[len(all)-1]
	}
	if at, ok := v.c.Variable("GIT_DIR"); ok && named == "" {
		named, _ = at.Text()
	}
	for range 64 {
		head, git := v.headOf(start, cmp.Or(named, ".git"))
		file := path.Join(git, "config")
		_, text, ok := v.content(file)
		if !ok {
			_, ok = v.c.Files.Content(head)
		}
		if ok {
			v.dir, config = start, v.included(file, text, map[string]bool{})
			if slices.ContainsFunc(config, func(s setting) bool { return s.Section == "extensions" && s.Key == "worktreeconfig" }) {
				file, text, _ = v.content(path.Join(path.Dir(head), "config.worktree"))
				config = append(config, v.included(file, text, map[string]bool{})...)
			}
			return head, git, config
		}
		if start == "/" {
			return "", path.Join(v.dir, ".git"), nil
		}
		start = path.Dir(start)
	}
	v.over(path.Join(start, ".git/config"), 1)
	return "", path.Join(v.dir, ".git"), nil
}

// headOf returns the path of a folder's HEAD, and the git directory that holds its settings, hooks and refs: a work tree shares those of another.
func (v *visit) headOf(folder, name string) (head, dir string) {
	at := joined(folder, name)
	text, _ := v.c.Files.Content(at)
	if to, is := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); is {
		at = joined(folder, to)
	}
	if path.Base(at) == ".git" {
		return path.Join(at, "HEAD"), at
	}
	common, _ := v.c.Files.Content(path.Join(at, "commondir"))
	return path.Join(at, "HEAD"), joined(at, cmp.Or(strings.TrimSpace(common), "."))
}

type setting struct {
	file string
	settings.Entry
}

// included returns the settings in a file and in the files that it includes.
func (v *visit) included(file, text string, seen map[string]bool) (all []setting) {
	seen[file] = true
	for _, e := range settings.Git(text) {
		all = append(all, setting{file, e})
		if e.Key == "path" && (e.Section == "include" || e.Section == "includeif") {
			if to, text, ok := v.content(joined(path.Dir(file), e.Value)); ok && !seen[to] {
				all = append(all, v.included(to, text, seen)...)
			}
		}
	}
	return all
}

// readGitConfig adds what a repository's own settings make git run.
func readGitConfig(v *visit, _ *row) {
	verb, operated := gitVerb(v.words)
	if verb == "" || slices.Contains([]string{"version", "help", "config", "init", "clone", "rev-parse"}, verb) {
		return
	}
	_, git, all := v.repository()
	if slices.Contains([]string{"branch", "checkout", "switch", "tag", "worktree"}, verb) {
		v.c.Files.Content(path.Join(git, "packed-refs")) // where a judge looks for a branch of that name
	}
	for _, name := range slices.Concat(v.folders("GIT_CONFIG_GLOBAL"), v.listed("XDG_CONFIG_HOME/git/config"), v.following("include.path=")) {
		file, text, _ := v.content(name)
		all = append(all, v.included(file, text, map[string]bool{})...)
	}
	for i := range all {
		if code := gitCode(&all[i].Entry, verb, operated); code != "" {
			v.add(all[i].file, all[i].Line, "sh", code)
		}
	}
}

// gitCode returns what git runs because of a setting, or "".
func gitCode(e *settings.Entry, verb string, operated []string) string {
	code, shell := strings.CutPrefix(e.Value, "!")
	low := strings.ToLower(e.Value)
	switch key := e.Section + "." + e.Key; {
	case wordclass.Is("git-program", key), key == "credential.helper" && shell, key == "alias."+verb && shell:
		return code
	case key == "alias."+verb:
		return "git " + e.Value
	case (key == "core.fsmonitor" || key == "pager."+verb) && !wordclass.Is("git-false", low) && !wordclass.Is("git-true", low):
		return e.Value
	case e.Section == "remote" && verb == "push":
		return pushCode(e, operated)
	}
	return ""
}

// pushCode returns the push that a remote's settings make of a push without a branch of its own.
func pushCode(e *settings.Entry, operated []string) string {
	const remoteAndBranch = 2
	switch {
	case e.Key == "mirror" && !wordclass.Is("git-false", strings.ToLower(e.Value)):
		return "git push --mirror " + e.Sub
	case e.Key == "push" && len(operated) < remoteAndBranch:
		return "git push " + e.Sub + " " + e.Value
	}
	return ""
}

// gitVerb returns git's subcommand, "" if there is none, and its operands.
func gitVerb(words []string) (verb string, operated []string) {
	behind := words[getopt.Of("git").Split(words, getopt.Manner{Leading: true}, nil, nil).Tail:]
	if len(behind) == 0 {
		return "", nil
	}
	return behind[0], operands(behind[1:])
}

// readGitRefs reads the refs whose commits a push sends, so that the call is bound to where they point. They run nothing.
func readGitRefs(v *visit, _ *row) {
	file, git, _ := v.repository()
	verb, names := gitVerb(v.words)
	if verb != "push" || file == "" {
		return
	}
	head, _ := v.c.Files.Content(file)
	names = append(names, strings.TrimPrefix(strings.TrimSpace(head), "ref: "))
	for _, name := range names {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "+"), ":")
		plain := strings.TrimPrefix(name, "refs/")
		if _, _, ok := v.first(path.Join(git, "refs/heads", name), path.Join(git, "refs/tags", name), path.Join(git, "refs", plain)); !ok {
			v.c.Files.Content(path.Join(git, "packed-refs"))
		}
	}
}

// readGitHook adds the hooks that a subcommand runs.
func readGitHook(v *visit, r *row) {
	if verb, _ := gitVerb(v.words); !slices.Contains(r.with, verb) || slices.Contains(v.words, "--no-verify") {
		return
	}
	_, git, all := v.repository()
	hooks := v.hooks(git, all)
	files := slices.Clone(r.files)
	for i := 0; i < len(r.files) && path.Base(hooks) == "_"; i++ { // husky's, which run those above them
		files = append(files, "../"+r.files[i])
	}
	for _, name := range files {
		file, text, ok := v.content(path.Join(hooks, name))
		if !ok || !v.once(file) {
			continue
		}
		language := languageOf(text)
		v.add(file, 1, language, text)
		if language == "sh" && !strings.HasSuffix(shell.Runner(text), "sh") { // a program that reads files of its own form
			v.add(file, 1, "sh", quoted(file))
		}
	}
}

// hooks returns the folder of a repository's hooks.
func (v *visit) hooks(git string, all []setting) string {
	at := path.Join(git, "hooks")
	for _, e := range all {
		if e.Section == "core" && e.Key == "hookspath" {
			at = v.in(e.Value)
		}
	}
	return at
}

// languageOf returns the language of a script, judging by its first line.
func languageOf(text string) string {
	language := strings.TrimRight(shell.Runner(text), "0123456789.")
	if slices.Contains([]string{"python", "perl", "ruby", "node", "php"}, language) {
		return language
	}
	return "sh"
}
