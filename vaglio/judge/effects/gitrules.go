package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/wording"
)

func gitRules(m map[string]rule) {
	m["gitPush"] = gitPush
	m["gitFetch"] = gitFetch
	m["gitSwitch"] = func(c *call) []Effect {
		c.switched("-c", "--create", "--orphan", "-d", "--detach")
		return own(say("switches the branch"))
	}
	m["gitNoVerify"] = gitNoVerify
	m["gitClean"] = gitClean
	m["gitReset"] = gitReset
	m["gitCheckout"] = gitCheckout
	m["gitClone"] = gitClone
	m["gitForeach"] = func(c *call) []Effect {
		c.r.depth++
		defer func() { c.r.depth-- }()
		if c.r.depth < 4 && len(c.operands) > 2 {
			return c.r.apart(func() { c.r.shellText(c.rest(2)) })
		}
		return unknown(say("runs a command in every submodule"), c.rest(2))
	}
	m["gitConfig"] = gitConfig
	m["gitRemote"] = func(c *call) []Effect {
		c.r.rewired = true
		return own(say("changes the remotes of the repository"))
	}
	m["historyRewrite"] = func(c *call) []Effect { return c.lost(say("rewrites the history of the repository"), "history") }
	m["ghApi"] = ghAPI
}

// here is an effect on the folder in which the command works: that in which it
// is called, or the one to which git is told to go.
func (c *call) here(e Effect) []Effect {
	folder := literal(c.cwd)
	for _, to := range c.values("-C") {
		folder = arg{text: place.Join(folder.text, to.text), known: folder.known && to.known}
	}
	git := func(a assignment) bool { return strings.HasPrefix(a.name, "GIT_") }
	inside := folder.known && c.r.world.placeOf(folder, c.cwd) == placeWorkspace && c.host+c.box == "" && !c.pod &&
		!c.has("--git-dir", "--work-tree", "-R", "--repository") && !slices.ContainsFunc(c.assigns, git)
	return []Effect{e.inFolder(inside)}
}

// lost is the effect of losing work that nobody else keeps.
func (c *call) lost(why wording.Sentence, what string) []Effect {
	return c.here(usual(KindDelete).with(why, what))
}

// gitFetch passes a fetch that leaves the local branches as they are.
func gitFetch(c *call) []Effect {
	for _, a := range c.operands {
		src, dst, ok := strings.Cut(a.text, ":")
		if !ok || dst == "" || strings.Contains(src, "@") || strings.Contains(a.text, "://") || strings.HasPrefix(dst, "refs/remotes/") {
			continue
		}
		if strings.HasPrefix(src, "+") || c.has("-f", "--force") {
			return c.here(usual(KindOverwrite).with(say("fetches over the local branch %s", dst), dst).as(Partial, ReachUser))
		}
	}
	return own(say("fetches from the remote"))
}

// switched keeps on which branch the next push works, unless one of the options
// makes the word another thing than a branch that is there.
func (c *call) switched(unless ...string) {
	c.r.onMain = ""
	if len(c.operands) == 2 && mainBranch(c.operand(1)) && !c.has(unless...) {
		c.r.onMain = c.operand(1)
	}
}

// mainBranches are the names of branches that others build on.
func mainBranch(ref string) bool {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "+"), "refs/heads/")
	switch ref {
	case "main", "master", "trunk", "develop", "dev", "development", "prod", "production", "staging", "stable", "live", "release", "gh-pages",
		"HEAD:main", "next", "mainline", "default":
		return true
	}
	return strings.HasPrefix(ref, "release/") || strings.HasPrefix(ref, "releases/") || strings.HasPrefix(ref, "release-") || strings.HasPrefix(ref, "hotfix/")
}

// gitPush passes a push that only adds commits to a feature branch.
func gitPush(c *call) []Effect {
	ops := c.operands[min(c.took, len(c.operands)):]
	to := pushTarget(ops)
	if out := c.pushOptions(to); out != nil {
		return out
	}
	if out := c.pushRemote(ops, to); out != nil {
		return out
	}
	refs := ops[min(1, len(ops)):]
	for _, r := range refs {
		if out := pushRef(r, ops[0].text, to); out != nil {
			return out
		}
	}
	if c.r.onMain != "" && (len(refs) == 0 || refs[0].text == "HEAD") {
		return shared(KindPublish, pushed(cmp.Or(pushTarget(ops[:min(1, len(ops))]), "origin")+" "+c.r.onMain, false), c.r.onMain)
	}
	if len(ops) > 0 && !ops[0].known {
		return shared(KindPublish, say("pushes to a remote that is not known: %s", ops[0].text), to)
	}
	e := own(pushed(to, false))[0]
	e.counts, e.Reach = ReachWorkspace, ReachShared
	return []Effect{e}
}

// pushOptions are the effects of a push whose options say enough, whatever
// branches it names.
func (c *call) pushOptions(to string) []Effect {
	e := usual(KindPublish).as(Irreversible, ReachShared)
	switch {
	case c.has("-n", "--dry-run") || c.name == "git" && c.has("--help"):
		return reads()
	case c.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune"):
		return []Effect{e.with(pushed(to, true), to)}
	case c.has("-d", "--delete"):
		remote, refs, _ := strings.Cut(to, " ")
		return shared(KindDelete, say("deletes %s on %s", refs, remote), to)
	case c.has("--tags", "--follow-tags", "--all"):
		return []Effect{e.with(say("pushes tags or all branches to the remote"), "tags")}
	case c.has("--no-verify"):
		return shared(KindSafeguardOff, say("pushes without the checks of the hooks"), to)
	}
	return nil
}

// pushRemote are the effects of a push to a remote that is no place for
// commits alone, or that nobody has chosen.
func (c *call) pushRemote(ops []arg, to string) []Effect {
	e := usual(KindSend).as(Irreversible, ReachShared)
	switch {
	case len(ops) == 0 && c.r.rewired:
		return []Effect{e.with(say("pushes to a remote that was just changed"), "remote")}
	case len(ops) == 0:
		return nil
	case strings.Contains(ops[0].text, "heroku.com"), strings.HasPrefix(ops[0].text, "dokku@"), c.r.judge.tables.ofClass("deploy-remote", ops[0].text):
		return one(KindPublish, say("deploys by a push to %s", ops[0].text), ops[0].text)
	case c.r.rewired || strings.Contains(ops[0].text, "://") || strings.Contains(ops[0].text, "@"):
		return []Effect{e.with(say("pushes to a remote that the project did not have: %s", to), to)}
	}
	return nil
}

// pushRef are the effects of pushing to one ref that others build on, or of
// which something is lost there.
func pushRef(r arg, remote, to string) []Effect {
	e := usual(KindPublish).as(Irreversible, ReachShared)
	src, dst, colon := strings.Cut(r.text, ":")
	if !colon {
		dst = src
	}
	switch {
	case !r.known && !strings.Contains(r.text, "$(git)"):
		return shared(KindPublish, say("pushes to a branch that is not known: %s", r.text), r.text)
	case strings.HasPrefix(r.text, "+"):
		return []Effect{e.with(pushed(to, true), to)}
	case colon && src == "":
		return shared(KindDelete, say("deletes %s on %s", strings.TrimPrefix(dst, "refs/heads/"), remote), to)
	case mainBranch(dst) && dst != "HEAD":
		return shared(KindPublish, pushed(to, false), dst)
	case strings.HasPrefix(dst, "refs/tags/") || r.text == "tag" || versionTag(dst):
		return []Effect{e.with(say("publishes the tag %s", dst), dst)}
	}
	return nil
}

// pushTarget names the remote and what is pushed to on it.
func pushTarget(ops []arg) string {
	var b strings.Builder
	for i, a := range ops {
		s := a.text
		if i > 0 {
			b.WriteByte(' ')
			if _, dst, ok := strings.Cut(s, ":"); ok {
				s = dst
			}
			s = strings.TrimPrefix(strings.TrimPrefix(s, "+"), "refs/heads/")
		}
		b.WriteString(s)
	}
	return clip(b.String(), 160)
}

func versionTag(s string) bool {
	s = strings.TrimPrefix(s, "v")
	return len(s) > 2 && s[0] >= '0' && s[0] <= '9' && strings.Contains(s, ".") && strings.Trim(s, "0123456789.-abcrt") == ""
}

// restores reports whether git's output replaces the file that it is an older
// version of: git show HEAD:a > a.
func (v *invocation) restores(w arg) bool {
	return v.name == "git" && slices.ContainsFunc(v.args, func(a arg) bool {
		_, file, ok := strings.Cut(a.text, ":")
		return ok && file != "" && strings.TrimPrefix(w.text, "./") == strings.TrimPrefix(file, "./")
	})
}

func gitNoVerify(c *call) []Effect {
	verb := c.operand(0)
	if !c.has("--no-verify") && (verb != "commit" || !c.has("-n")) {
		return own(say("changes the local repository"))
	}
	return []Effect{usual(KindSafeguardOff).with(say("skips the checks of the project's hooks: git %s", verb), verb).as(Reversible, ReachUser)}
}

func gitClean(c *call) []Effect {
	if c.has("-n", "--dry-run") {
		return reads()
	}
	paths := c.operands[1:]
	if len(paths) > 0 && !slices.ContainsFunc(paths, func(p arg) bool {
		return !p.known || !c.r.judge.places.Rebuilt(c.r.relative(c.r.world.clean(p.text, c.cwd)))
	}) {
		return own(say("deletes untracked files that programs write anew"))
	}
	if !c.has("-f", "--force", "-i", "--interactive") {
		return own(say("asks git which untracked files it would delete"))
	}
	return c.lost(say("deletes untracked files %s", join(paths)), "untracked files")
}

func gitReset(c *call) []Effect {
	if to := c.rest(1); to != "" && to != "HEAD" {
		return c.lost(say("discards uncommitted changes and goes back to %s", to), "uncommitted changes")
	}
	return c.lost(say("discards uncommitted changes"), "uncommitted changes")
}

func gitCheckout(c *call) []Effect {
	c.switched("-b", "-B", "--orphan", "--detach")
	switch {
	case c.has("-f", "--force"):
		return c.lost(say("discards uncommitted changes"), "the whole workspace")
	case c.has("-B"):
		return c.here(usual(KindOverwrite).with(say("moves a branch away from its commits"), c.rest(1)).as(Partial, ReachUser))
	case c.has("-b", "--orphan", "--detach", "-t", "--track", "--guess"):
		return own(say("switches the branch"))
	}
	if what, ok := c.checkedOut(); ok {
		return c.lost(say("discards uncommitted changes in %s", what), what)
	}
	return own(say("switches the branch"))
}

// checkedOut names the files that git checkout takes back, and whether it does:
// the same words may name a branch.
func (c *call) checkedOut() (string, bool) {
	for i, a := range c.all {
		if a.text == "--" && i+1 < len(c.all) {
			return join(c.all[i+1:]), true
		}
	}
	if c.has("-p", "--patch", "--ours", "--theirs", "--merge", "-m", "--pathspec-from-file") {
		return c.rest(1), true
	}
	ops := c.operands[1:]
	for _, a := range ops {
		if pathspec(a.text) {
			return a.text, true
		}
	}
	if len(ops) == 1 {
		return ops[0].text, fileLike(ops[0].text) || c.r.judge.tables.ofClass("well-known-file", lastPart(ops[0].text))
	}
	return join(ops), len(ops) > 1
}

// pathspec reports whether a word can only name files, no branch.
func pathspec(s string) bool {
	return s == "." || s == ":/" || strings.HasPrefix(s, "./") || strings.HasSuffix(s, "/") || strings.Contains(s, "*")
}

// fileLike reports whether a name looks like a file rather than a branch.
func fileLike(s string) bool {
	_, ext, ok := cutLast(s, ".")
	return ok && len(ext) > 0 && len(ext) <= 5 && strings.Trim(ext, "0123456789") != "" && !versionTag(s) && !strings.HasPrefix(s, "origin/") &&
		!strings.Contains(ext, "/")
}

func cutLast(s, sep string) (string, string, bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func gitClone(c *call) []Effect {
	c.r.cloned = true
	if len(c.operands) > 2 {
		return c.r.write(c.invocation, c.operands[2], "clones to")
	}
	return own(say("clones a repository"))
}

func gitConfig(c *call) []Effect {
	ops := c.gitConfigOperands()
	if c.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--show-origin", "--show-scope", "--name-only", "--get-color") {
		return reads()
	}
	if len(ops) == 0 {
		return reads()
	}
	verb := ops[0].text
	if verb == "set" || verb == "unset" {
		ops = ops[1:]
	}
	if verb == "get" || verb == "list" || len(ops) == 0 {
		return reads()
	}
	if len(ops) > 1 {
		return c.gitSetting(strings.ToLower(ops[0].text), ops[1])
	}
	if c.has("--unset", "--unset-all", "--add", "--remove-section", "--rename-section", "-e", "--edit") || verb == "unset" {
		return c.gitSetting(strings.ToLower(ops[0].text), arg{})
	}
	return reads()
}

// gitConfigOperands are the operands of git config, without its options' values.
func (c *call) gitConfigOperands() []arg {
	ops := slices.Clone(c.operands[1:])
	for i, a := range c.all[:max(0, len(c.all)-1)] {
		if at := slices.IndexFunc(ops, func(o arg) bool { return o.text == c.all[i+1].text }); at >= 0 && c.r.judge.tables.ofClass("git-config-value", a.text) {
			ops = slices.Delete(ops, at, at+1)
		}
	}
	return ops
}

// gitSetting is the effect of setting a key of git's configuration.
func (c *call) gitSetting(key string, value arg) []Effect {
	switch {
	case gitSafeguard(key, value.text):
		return one(KindSafeguardOff, say("switches a safeguard of git off: %s %s", key, value.text), key)
	case gitTrusts(key, value.text):
		return []Effect{usual(KindSafeguardOff).with(say("changes what git runs or whom it trusts: %s", key), key).as(Reversible, ReachUser)}
	}
	if d, ok := c.r.judge.doors.door(doorGit, key); ok {
		if out := c.r.throughDoor(c.invocation, d, key, value); len(out) > 0 {
			return out
		}
	}
	if c.has("--global", "--system") {
		return []Effect{usual(KindOverwrite).with(say("changes git's settings for every project: %s", key), key).as(Reversible, ReachUser)}
	}
	return own(say("changes git's settings of this project"))
}

// gitSafeguard reports whether a value of a key of git's makes it check less.
func gitSafeguard(key, value string) bool {
	switch key {
	case "core.hookspath", "protocol.file.allow":
		return true
	case "safe.directory":
		return value == "*"
	case "commit.gpgsign", "tag.gpgsign", "receive.denynonfastforwards", "receive.denydeletes", "fetch.fsckobjects", "transfer.fsckobjects":
		return value == "false"
	}
	forces := strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".push") && strings.HasPrefix(value, "+")
	return forces || strings.HasSuffix(key, ".sslverify") && value != "true"
}

// gitTrusts reports whether a key of git's names programs that it runs, or where
// it really goes.
func gitTrusts(key, value string) bool {
	switch key {
	case "core.sshcommand", "core.fsmonitor", "core.pager", "core.editor", "credential.helper", "diff.external":
		return true
	}
	return strings.HasPrefix(key, "alias.") && strings.HasPrefix(value, "!") || strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "url.") ||
		strings.HasSuffix(key, ".insteadof") || strings.HasPrefix(key, "http.") && strings.Contains(key, "extraheader")
}
