package effects

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// switched notes which main branch the next push works on, unless an option means that the word is not an existing branch.
func (c *command) switched() {
	c.r.onMain = ""
	if to := c.operand(1); len(c.operands) == 2 && c.r.judge.tables.mainBranch(to) && !c.has("-b", "-B", "-c", "--create", "-d", "--orphan", "--detach") {
		c.r.onMain = to
	}
}

// mainBranch reports whether others build on a branch of that name.
func (t *tables) mainBranch(ref string) bool {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "+"), "refs/heads/")
	return t.ofClass("main-branch", ref) || startsAny(ref, "release/", "releases/", "release-", "hotfix/")
}

// gitCheckout tells switching a branch from restoring files.
func gitCheckout(c *command) []Effect {
	if what, ok := c.checkedOut(); ok {
		said, at := say("discards uncommitted changes in %s", what), slices.IndexFunc(c.all, isDashes)
		if at >= 0 && !slices.ContainsFunc(c.all[at+1:], func(a arg) bool { return !c.ownFile(a) }) {
			return own(say("replaces %s, which this session made", what))
		}
		if at > c.Operands[0]+1 && !startsAny(c.all[at-1].text, "-") {
			said = say("replaces %s with what %s has", what, c.all[at-1].text)
		}
		return c.here(usual(KindDelete).with(said, what))
	}
	return own(say("switches the branch"))
}

// isDashes reports whether only operands follow a word.
func isDashes(a arg) bool { return a.text == "--" }

// ownFile reports whether a word names a file of the call's own work tree that the session made.
func (c *command) ownFile(a arg) bool {
	name, did := c.r.world.clean(a.text, c.cwd), c.r.did
	if n := len(did); n > 0 && did[n-1].Deed == vaglio.Brought && c.operand(0) == "checkout" {
		did = did[:n-1] // by this command
	}
	return a.known && !c.diverted() && !strings.ContainsAny(a.text, "*?[:") && c.r.made(c.invocation, name) && !slices.Concat(c.r.facts, did).BroughtTo(name)
}

// here returns an effect on the folder that the command works in: the current one, or the one that git is told to use.
func (c *command) here(e Effect) []Effect {
	folder := literal(c.cwd)
	for _, to := range c.values("-C") {
		folder = arg{text: place.Join(folder.text, to.text), known: folder.known && to.known}
	}
	git := func(a assignment) bool { return strings.HasPrefix(a.name, "GIT_") }
	inside := folder.known && c.r.world.placeOf(folder, c.cwd) == placeWorkspace && c.direct() &&
		!c.has("--git-dir", "--work-tree", "-R", "--repository") && !slices.ContainsFunc(c.assigns, git)
	if folder.text != c.r.world.cwd && folder.text != "" {
		e.Why = e.Why.And("in %s", folder.text)
	}
	return []Effect{e.inFolder(inside)}
}

// diverted reports whether git works elsewhere than in the current folder.
func (c *command) diverted() bool {
	return c.has("-C", "--git-dir", "--work-tree") || slices.ContainsFunc(c.assigns, func(a assignment) bool { return strings.HasPrefix(a.name, "GIT_") })
}

// ref returns the file of a branch or a tag, or for no name their folder, if the current folder is all of a repository.
func (c *command) ref(name string) string {
	kind, git := "heads", path.Join(c.cwd, ".git")
	if c.operand(0) == "tag" {
		kind = "tags"
	}
	if c.diverted() || !c.r.present(c.invocation, git+"/HEAD") || c.r.present(c.invocation, git+"/reftable") {
		return ""
	}
	return path.Join(git, "refs", kind, name)
}

// branched records the branch or the tag that a command makes, if there is none of that name.
func (c *command) branched() {
	names := append(c.values("-b", "-c", "--create", "--orphan"), c.operands[min(c.took, len(c.operands)):]...)
	if len(names) == 0 || !names[0].known || strings.ContainsAny(names[0].text, "*?[") || c.r.means.Files == nil {
		return
	}
	packed := path.Join(c.cwd, ".git/packed-refs")
	text, read := c.r.means.Files.Content(packed)
	taken := strings.Contains(strings.ToLower(text)+"\n", "/"+strings.ToLower(names[0].text)+"\n")
	if ref := c.ref(names[0].text); c.r.isAbsent(ref) && !taken && (read || !c.r.present(c.invocation, packed)) {
		c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Named, Path: ref, New: true})
	}
}

// ownRef reports whether a word names a branch or a tag that the session made.
func (c *command) ownRef(a arg) bool {
	ref := c.ref(a.text)
	all := slices.Concat(c.r.facts, c.r.did)
	made := func(f vaglio.Fact) bool { return f.New && f.Path == ref }
	renamed := func(f vaglio.Fact) bool { return f.Deed == vaglio.Moved && path.Base(f.Path) == "refs" }
	return a.known && ref != "" && !c.r.movedTo(ref) && slices.ContainsFunc(all, made) && !slices.ContainsFunc(all, renamed)
}

// gitFetch passes a fetch that leaves the local branches alone.
func gitFetch(c *command) []Effect {
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

// gitPush passes a push that only adds commits to a feature branch.
func gitPush(c *command) []Effect {
	ops := c.operands[min(c.took, len(c.operands)):]
	to := pushTarget(ops)
	out := c.pushOptions(to)
	if out == nil || c.rewired(ops) && out[0].Kind != KindRead { // where it goes is not what the options say
		out = append(out, c.pushRemote(ops, to)...)
	}
	if out != nil {
		return out
	}
	refs := ops[min(1, len(ops)):]
	if out = lists.All(refs, func(r arg) []Effect { return c.pushRef(ops[0], r) }); out != nil {
		return out
	}
	if c.r.onMain != "" && (len(refs) == 0 || refs[0].text == "HEAD") {
		return shared(KindPublish, spoken.Pushed(cmp.Or(pushTarget(ops[:min(1, len(ops))]), "origin")+" "+c.r.onMain, false, ""), c.r.onMain)
	}
	if len(ops) > 0 && !ops[0].known {
		return shared(KindPublish, say("pushes to a remote that is not known: %s", ops[0].text), to)
	}
	e := own(spoken.Pushed(to, false, ""))[0]
	e.counts, e.Reach = ReachWorkspace, ReachShared
	return []Effect{e}
}

// pushOptions returns the effects of a push whose options decide, whatever branches it names.
func (c *command) pushOptions(to string) []Effect {
	e := usual(KindPublish).as(Irreversible, ReachShared)
	remote, refs, _ := strings.Cut(to, " ")
	all := map[bool]string{true: "tags"}[c.has("--tags")] // of what it sends all that there are
	if c.has("--all", "--branches") {
		all = "branches"
	}
	switch {
	case c.has("-n", "--dry-run") || c.name == "git" && c.has("--help"):
		return reads()
	case c.has("--mirror") && to != "":
		return []Effect{e.with(say("makes %s the mirror of this repository", to), to)}
	case c.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune"):
		return []Effect{e.with(spoken.Pushed(to, true, all), to)}
	case c.has("-d", "--delete"):
		return shared(KindDelete, sayOf("deletes %s on %s", wording.List(strings.Fields(strings.TrimPrefix(refs, "tag "))), object(remote)), to)
	case all != "", c.has("--follow-tags"):
		return shared(KindPublish, spoken.PushedWith(to, all), cmp.Or(all, "tags"))
	case c.has("--no-verify"):
		return shared(KindSafeguardOff, spoken.Pushed(to, false, "").And("without the checks of the hooks"), to)
	}
	return nil
}

// pushRemote returns the effects of a push to a remote that is not just for commits, or that nobody has chosen.
func (c *command) pushRemote(ops []arg, to string) []Effect {
	e := usual(KindSend).as(Irreversible, ReachShared)
	switch {
	case len(ops) == 0 && c.rewired(ops):
		return []Effect{e.with(say("pushes to a remote that was just changed"), "remote")}
	case len(ops) == 0:
		return nil
	case strings.Contains(ops[0].text, "heroku.com"), strings.HasPrefix(ops[0].text, "dokku@"), c.r.judge.tables.ofClass("deploy-remote", ops[0].text):
		return one(KindPublish, say("deploys by a push to %s", ops[0].text), ops[0].text)
	case c.rewired(ops) || strings.Contains(ops[0].text, "://") || strings.Contains(ops[0].text, "@"):
		return []Effect{e.with(say("pushes to a remote that the project did not have: %s", to), to)}
	}
	return nil
}

// rewired reports whether the call changed git's remotes, or the session the one that a push names, or any if it names none.
func (c *command) rewired(ops []arg) bool {
	at := c.r.world.clean(".git/remotes", c.cwd)
	changed := func(f vaglio.Fact) bool {
		return path.Dir(f.Path) == at && (len(ops) == 0 || path.Base(f.Path) == ops[0].text)
	}
	return c.r.rewired || slices.ContainsFunc(c.r.facts, changed)
}

// pushRef returns the effects of pushing to a ref that others build on, or on which something is lost.
func (c *command) pushRef(remote, r arg) []Effect {
	to := pushTarget([]arg{remote, r})
	src, dst, colon := strings.Cut(r.text, ":")
	if !colon {
		dst = src
	}
	switch {
	case !r.known && !strings.Contains(r.text, "$(git)"):
		return shared(KindPublish, say("pushes to a branch that is not known: %s", r.text), r.text)
	case strings.HasPrefix(r.text, "+"):
		return []Effect{usual(KindPublish).as(Irreversible, ReachShared).with(spoken.Pushed(to, true, ""), to)}
	case colon && src == "":
		return shared(KindDelete, say("deletes %s on %s", strings.TrimPrefix(strings.TrimPrefix(dst, "refs/heads/"), "refs/tags/"), remote.text), to)
	case c.r.judge.tables.mainBranch(dst) && dst != "HEAD", strings.HasPrefix(dst, "refs/tags/"), r.text == "tag", versionTag.MatchString(dst):
		return shared(KindPublish, spoken.Pushed(to, false, ""), dst)
	}
	return nil
}

// pushTarget names the remote and the refs that are pushed to.
func pushTarget(ops []arg) string {
	names := texts(ops)
	for i := 1; i < len(names); i++ {
		if _, dst, ok := strings.Cut(names[i], ":"); ok {
			names[i] = dst
		}
		names[i] = strings.TrimPrefix(strings.TrimPrefix(names[i], "+"), "refs/heads/")
	}
	return clip(strings.Join(names, " "), 160)
}

// versionTag matches what tags are called after versions.
var versionTag = regexp.MustCompile(`^v?\d[\d.abcrt-]*\.[\d.abcrt-]+$`)

// restores reports whether git's output replaces the file that it is an older version of: git show HEAD:a > a.
func (v *invocation) restores(w arg) bool {
	return v.name == "git" && slices.ContainsFunc(v.args, func(a arg) bool {
		_, file, ok := strings.Cut(a.text, ":")
		return ok && file != "" && strings.TrimPrefix(w.text, "./") == strings.TrimPrefix(file, "./")
	})
}

// checkedOut names the files that git checkout restores, and reports whether it restores any: the same words may name a branch.
func (c *command) checkedOut() (string, bool) {
	if at := slices.IndexFunc(c.all, isDashes) + 1; at > 0 && at < len(c.all) {
		return join(c.all[at:]), true
	}
	if c.has("-p", "--patch", "--ours", "--theirs", "--merge", "-m", "--pathspec-from-file") {
		return c.rest(1), true
	}
	ops := c.operands[1:]
	if at := slices.IndexFunc(ops, pathspec); at >= 0 {
		return ops[at].text, true
	}
	if len(ops) == 1 {
		return ops[0].text, fileLike(ops[0].text) || c.r.judge.tables.ofClass("well-known-file", lastPart(ops[0].text))
	}
	return join(ops), len(ops) > 1
}

// pathspec reports whether a word can only name files, not a branch.
func pathspec(a arg) bool {
	s := a.text
	return s == "." || s == ":/" || strings.HasPrefix(s, "./") || strings.HasSuffix(s, "/") || strings.Contains(s, "*")
}

// The endings of files' names, and of numbers.
var (
	fileEnd   = regexp.MustCompile(`\.[^./]{1,5}$`)
	numberEnd = regexp.MustCompile(`\.\d+$`)
)

// fileLike reports whether a name looks like a file rather than a branch.
func fileLike(s string) bool {
	return fileEnd.MatchString(s) && !numberEnd.MatchString(s) && !versionTag.MatchString(s) && !strings.HasPrefix(s, "origin/")
}

// gitConfig judges the words after config, whose options take values differently from git's own.
func gitConfig(c *command) []Effect {
	at := slices.IndexFunc(c.all, func(a arg) bool { return a.text == "config" })
	return c.rows("(git-config)", c.all[at+1:]...)
}

// gitSetting judges setting a key of git's configuration, or removing it, which gives it no value.
func (c *command) gitSetting(key string, value arg) []Effect {
	key = strings.ToLower(key)
	d, ok := c.r.judge.doors.door(doorGit, key)
	if ok && d.kind == "command" && !c.has("--system") && c.r.judge.tables.shows(value.text) {
		return own(say("changes git's settings of this project"))
	}
	if out := c.rows("(git-setting)", literal(key), value); out[0].Kind != KindRead {
		return out
	}
	if ok {
		if out := c.r.throughDoor(c.invocation, d, key, value); len(out) > 0 {
			return out
		}
	}
	if c.has("--global", "--system") {
		return []Effect{usual(KindOverwrite).with(say("changes git's settings for every project: %s", key), key).as(Reversible, ReachUser)}
	}
	return own(say("changes git's settings of this project"))
}

// shows reports whether a command line is an editor or a pager with nothing but options.
func (t *tables) shows(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && t.ofClass("shows-text", words[0]) && !strings.ContainsAny(line, "$`;|&<>()'\"\n") &&
		!slices.ContainsFunc(words[1:], func(w string) bool {
			return w[0] != '-' || strings.ContainsAny(w, "=/+") || w == "-c" || w == "-S" || w == "-u"
		})
}

// repository returns the folder that a clone makes in the current one if no word names it: it is named like what is cloned, "." if that is not known.
func (c *command) repository() string {
	if c.took >= len(c.operands) || !c.operands[c.took].known {
		return "."
	}
	return strings.TrimSuffix(path.Base(c.operands[c.took].text), ".git")
}

// isOutput reports whether a path is, or lies in, a folder that the project's own files call the output of its builds.
func (r *reading) isOutput(p string) bool {
	for ; r.means.Output != nil && place.Inside(r.world.roots, path.Dir(p)); p = path.Dir(p) {
		if r.judge.tables.ofClass("output-folder", path.Base(p)) && r.means.Output(p) {
			return true
		}
	}
	return false
}

// directed adds to what a command changes where, or as whom, it does so.
func (c *command) directed(out []Effect) []Effect {
	for _, aim := range spoken.Aims() {
		if !c.r.judge.tables.ofClass(aim.Client, c.called) {
			continue
		}
		at := append(c.values(aim.Keys...), c.variables(aim.Keys...)...)
		if aim.Keys == nil && c.cwd != "" && c.cwd != c.r.world.cwd {
			at = []arg{literal(strings.TrimPrefix(c.cwd, c.r.world.cwd+"/"))}
		}
		for i := 0; i < len(out) && len(at) > 0; i++ {
			out[i].Why = aim.At(out[i].Why, string(out[i].Kind), at[0].text)
		}
	}
	return out
}

// runsFolder reports whether a word names a folder, or the command works in it, of which nothing was read.
func (r *reading) runsFolder(v *invocation, a arg, at string) bool {
	return (a.text == v.cwd || r.mayBeFolder(a, at)) && r.unreadIn(at)
}

// keepsFar marks what the call puts somewhere as brought from elsewhere. If it runs foreign code, it is remembered only if
// a person let it: then what was brought counts as what lies in the project, there and here.
func (r *reading) keepsFar() {
	if slices.ContainsFunc(r.effects, func(e Effect) bool { return e.Kind == KindForeignCode && e.score(nil) < Threshold }) {
		r.did = append(r.did, r.met...)
		return
	}
	for i := range r.did {
		f := &r.did[i]
		text, here := r.wrote[f.Path]
		own := here && !text.Remote() && !slices.ContainsFunc(text.Parts(), func(p shell.Part) bool { return p.File != "" })
		f.Far = !own && f.Path != r.world.cwd && (place.Inside(r.foreign, f.Path) || r.facts.Far(f.Path) != "")
	}
}

// passesOn notes that what a command wrote since may be foreign code, as what it is given may be.
func (r *reading) passesOn(v *invocation, since int) {
	if since < len(r.did) && r.worksOnForeign(v, false) {
		r.putForeign(since)
	}
}
