package effects

import (
	"path"
	"slices"
	"strings"
)

// npmInstall judges installing packages of the JavaScript registries.
func npmInstall(c *call) []Effect {
	ops := c.operands[min(1, len(c.operands)):]
	names := join(ops)
	if c.r.cloned && len(ops) == 0 && !c.has("--ignore-scripts") {
		return one(KindForeignCode, say("runs the install scripts of a repository that was just fetched"), c.name)
	}
	if c.has("-g", "--global", "--location") {
		if len(ops) == 0 && strings.HasSuffix(c.operand(0), "ink") {
			return []Effect{usual(KindInstall).with(say("links the package for the whole user"), names).as(Reversible, ReachUser)}
		}
		return []Effect{usual(KindInstall).with(say("installs %s", names), names).as(Partial, ReachUser)}
	}
	for _, a := range ops {
		if foreignSource(a.text) {
			return one(KindForeignCode, say("installs code that is not from the registry: %s", a.text), a.text)
		}
	}
	if v, ok := c.value("--registry"); ok && !holdsAny(v.text, "npmjs.org", "yarnpkg.com") && !localURL(v.text) {
		return one(KindForeignCode, say("installs code from the registry %s", v.text), v.text)
	}
	return one(KindInstall, say("installs packages in the project %s", names), names)
}

// foreignSource reports whether a package is named by a place rather than by
// its name in the registry.
func foreignSource(s string) bool {
	if startsAny(s, "git+", "git@", "github:", "gitlab:", "bitbucket:", "gist:") || holdsAny(s, " @ git", " @ http") {
		return true
	}
	if strings.Contains(s, "://") {
		return !strings.HasPrefix(s, "file:") && !localURL(s)
	}
	if startsAny(s, "@", ".", "/", "~") || strings.Count(s, "/") != 1 || strings.HasSuffix(s, "/") || strings.Contains(s, "@npm:") {
		return false
	}
	owner, _, _ := strings.Cut(s, "/")
	return !strings.Contains(owner, ".") // user/repo of GitHub
}

func npmConfig(c *call) []Effect {
	switch c.operand(1) {
	case "get", "list", "ls":
		return reads()
	}
	rest := strings.ToLower(c.rest(1))
	if holdsAny(rest, "strict-ssl false", "strict-ssl=false", "cafile", "ignore-scripts false", "registry", "audit false",
		"enablestrictssl false", "enableimmutable") {
		return []Effect{usual(KindSafeguardOff).with(say("changes whom the package manager trusts: %s", c.rest(1)), c.rest(1)).as(Reversible, ReachUser)}
	}
	if holdsAny(rest, "token", "_auth", "password") {
		return one(KindCredentials, say("stores credentials of the registry"), c.operand(2))
	}
	return []Effect{usual(KindOverwrite).with(say("changes the settings of the package manager: %s", c.rest(1)), c.rest(1)).as(Reversible, ReachUser)}
}

// npxRule judges running a package that may have to be fetched first.
func npxRule(c *call) []Effect {
	args := c.all
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || c.took > 0 && isRunner(args[0].text)) {
		switch args[0].text {
		case "-p", "--package", "--from", "--with", "--python":
			if len(args) == 1 {
				return reads()
			}
			if foreignSource(args[1].text) {
				return one(KindForeignCode, say("fetches and runs %s", args[1].text), args[1].text)
			}
			args = args[1:]
		}
		if args[0].text == "-c" || args[0].text == "--call" {
			return unknown(say("runs a command line through the package runner: %s", join(args)), join(args))
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return reads()
	}
	name := args[0].text
	if !args[0].known {
		return unknown(say("fetches and runs a package that is not known: %s", name), name)
	}
	return c.runTool(name, args)
}

func isRunner(s string) bool {
	return slices.Contains([]string{"dlx", "exec", "x", "create", "run", "tool", "runx"}, s)
}

// runTool judges a tool that a package runner starts.
func (c *call) runTool(name string, args []arg) []Effect {
	base := strings.TrimPrefix(name, "@")
	if i := strings.LastIndexByte(base, '@'); i > 0 {
		base = base[:i]
	}
	scoped := strings.HasPrefix(name, "@")
	if !scoped && foreignSource(name) {
		return one(KindForeignCode, say("fetches and runs %s", name), name)
	}
	t := c.r.judge.tables
	for _, n := range []string{base, lastPart(base)} {
		if n == "sh" || n == "bash" || scoped && n == lastPart(base) && !t.trustedScope(name) {
			continue
		}
		if t.knows(n) {
			return c.r.named(c.inner(n, args[1:]))
		}
	}
	return c.foreignTool(name, t.knownTool(name))
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// trustedScope reports whether a scoped package is of a well-known maker.
func (t *tables) trustedScope(name string) bool {
	scope, _, _ := strings.Cut(name, "/")
	return t.nouns["trusted-scope"][scope]
}

func (t *tables) knownTool(name string) bool {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if t.trustedScope(name) || strings.HasPrefix(name, "create-") && t.knownGenerator(strings.TrimPrefix(name, "create-")) {
		return true
	}
	return t.nouns["known-tool"][name]
}

func (t *tables) knownGenerator(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return t.nouns["generator"][name]
}

// foreignTool is the effect of running a package by its name alone.
func (c *call) foreignTool(name string, known bool) []Effect {
	if known {
		return own(say("runs the development tool %s", name))
	}
	return one(KindForeignCode, say("fetches and runs the package %s, which nobody reviewed", name), name)
}

// execTool judges `poetry run pytest` and its like.
func execTool(c *call) []Effect {
	args := behindRunner(c.all)
	if c.name == "cargo" {
		if c.r.cloned {
			return one(KindForeignCode, say("builds and runs a repository that was just fetched"), "cargo run")
		}
		return own(say("runs the project's program"))
	}
	if len(args) == 0 {
		return own(say("runs %s", c.name))
	}
	path := args[0].text
	if !args[0].known {
		return unknown(say("runs a command whose name is not known: %s", path), path)
	}
	if strings.Contains(path, "://") {
		return one(KindForeignCode, say("fetches and runs %s", path), path)
	}
	inner := c.inner(lastPart(path), args[1:])
	inner.path = path
	if !isPath(path) && !c.r.judge.tables.knows(c.r.canonical(inner)) {
		return c.task(path, say("runs the project's %s", path))
	}
	return c.r.named(inner)
}

// behindRunner are the words behind those by which a runner is told to run
// something, and how.
func behindRunner(args []arg) []arg {
	for ; len(args) > 0; args = args[1:] {
		switch s := args[0].text; s {
		case "--with", "-p", "--python", "--package", "--bin", "--example", "--extra", "--group", "--features", "--manifest-path", "--project", "--directory":
			args = args[min(1, len(args)-1):] // its value goes, too
		case "run", "exec", "e", "r", "x":
		default:
			if !strings.HasPrefix(s, "-") {
				return args
			}
		}
	}
	return nil
}

// pipInstall judges what pip and its like install.
func pipInstall(c *call) []Effect {
	if c.r.cloned {
		return one(KindForeignCode, say("installs a repository that was just fetched"), c.name)
	}
	verb := c.operand(0)
	ops := c.operands[1:]
	if c.name == "uv" && verb == "pip" {
		verb, ops = c.operand(1), c.operands[min(2, len(c.operands)):]
	}
	if c.has("--dry-run") {
		return reads()
	}
	if out := append(foreignPackages(ops), c.foreignIndex()...); len(out) > 0 {
		return out[:1]
	}
	names := join(ops)
	switch {
	case c.has("--break-system-packages", "--trusted-host"):
		return one(KindSafeguardOff, say("installs %s past a safeguard of the package manager", names), names)
	case c.has("--system") || c.root:
		return []Effect{usual(KindInstall).with(say("installs %s for the whole machine", names), names).as(Partial, ReachSystem)}
	case verb == "uninstall":
		return own(say("removes packages %s", names))
	case c.has("--user"):
		return []Effect{usual(KindInstall).with(say("installs %s", names), names).as(Partial, ReachUser)}
	}
	return one(KindInstall, say("installs packages in the environment %s", names), names)
}

// foreignPackages is the effect of a package that is not from the index, nil
// if there is none.
func foreignPackages(ops []arg) []Effect {
	for _, a := range ops {
		archive, stray := localArchive(a.text)
		if stray {
			return one(KindForeignCode, say("installs an archive that was not built here: %s", a.text), a.text)
		}
		if !archive && foreignSource(a.text) && !strings.Contains(a.text, "download.pytorch.org") {
			return one(KindForeignCode, say("installs code that is not from the index: %s", a.text), a.text)
		}
	}
	return nil
}

// foreignIndex is the effect of a list or an index of packages that nobody
// vouches for, nil if there is none.
func (c *call) foreignIndex() []Effect {
	for _, v := range c.values("-r", "--requirement", "-c", "--constraint") {
		if strings.Contains(v.text, "://") && !localURL(v.text) {
			return one(KindForeignCode, say("installs what the list %s names", v.text), v.text)
		}
	}
	for _, v := range c.values("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index") {
		if strings.Contains(v.text, "://") && !holdsAny(v.text, "pypi.org", "pytorch.org") && !localURL(v.text) {
			return one(KindForeignCode, say("installs code from the index %s", v.text), v.text)
		}
	}
	return nil
}

// localArchive says whether a package is an archive on this machine, and
// whether it lies where no build puts one: it came from somewhere.
func localArchive(name string) (archive, stray bool) {
	kept := slices.ContainsFunc([]string{".whl", ".tar.gz", ".tgz", ".zip", ".egg", ".tar.bz2"}, func(end string) bool { return strings.HasSuffix(name, end) })
	if !kept || strings.Contains(name, "://") || strings.Contains(name, " @ ") {
		return false, false
	}
	return true, !slices.ContainsFunc(strings.Split(name, "/"), func(step string) bool {
		return slices.Contains([]string{"dist", "build", "target", "out", "wheels", "wheelhouse", "vendor"}, step)
	})
}

// condaInstall judges what conda installs: a channel that nobody vouches for
// hands out code of anyone.
func condaInstall(c *call) []Effect {
	for _, v := range c.values("-c", "--channel") {
		if name, _, _ := strings.Cut(v.text, "/"); !c.r.judge.tables.nouns["known-channel"][name] && !localURL(v.text) {
			return one(KindForeignCode, say("installs code from the channel %s", v.text), v.text)
		}
	}
	return own(say("installs packages in the environment %s", join(c.operands[1:])))
}

func goRun(c *call) []Effect {
	target := c.operand(1)
	if strings.Contains(target, "@") && !startsAny(target, "golang.org/x/", "honnef.co/go/tools", "github.com/golangci/", "mvdan.cc/",
		"github.com/google/", "google.golang.org/", "github.com/vektra/mockery", "go.uber.org/", "github.com/sqlc-dev/", "github.com/a-h/templ",
		"github.com/swaggo/", "github.com/99designs/gqlgen", "github.com/matryer/moq", "gotest.tools/") {
		return one(KindForeignCode, say("fetches and runs %s", target), target)
	}
	return c.task(path.Base(target), say("runs the project's program %s", target))
}

// mavenGoals judges what maven is told to reach.
func mavenGoals(c *call) []Effect {
	for _, a := range c.operands {
		switch {
		case releases(a.text):
			return one(KindPublish, say("publishes the artifact: %s", a.text), a.text)
		case strings.HasPrefix(a.text, "release:prepare") && !c.has("-DdryRun"):
			return one(KindPublish, say("tags and pushes a release: %s", a.text), a.text)
		case startsAny(a.text, "flyway:clean", "liquibase:drop", "flyway:migrate", "liquibase:update", "liquibase:rollback"):
			return []Effect{usual(KindDatabase).with(say("changes the configured database: %s", a.text), a.text).as(Irreversible, ReachUser)}
		case holdsAny(a.text, "jib:build", "docker:push", "k8s:apply", "undeploy", "appengine:"):
			return one(KindPublish, say("pushes to a registry or a cluster: %s", a.text), a.text)
		}
	}
	if c.r.cloned {
		return one(KindForeignCode, say("builds a repository that was just fetched"), "mvn")
	}
	return own(say("builds the project"))
}

// releases reports whether a goal of maven hands the artifact out.
func releases(goal string) bool {
	return goal == "deploy" || goal == "site-deploy" || strings.HasSuffix(goal, ":deploy") || strings.HasSuffix(goal, ":deploy-file") ||
		startsAny(goal, "release:perform", "nexus-staging:") || strings.Contains(goal, "publish")
}
