package effects

import (
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
		return []Effect{usual(KindInstall).with(say("installs %s for the whole user", names), names).as(Partial, ReachUser)}
	}
	for _, a := range ops {
		if foreignSource(a.text) {
			return []Effect{usual(KindForeignCode).with(say("installs code that is not from the registry: %s", a.text), a.text)}
		}
	}
	if v, ok := c.value("--registry"); ok && !strings.Contains(v.text, "npmjs.org") && !strings.Contains(v.text, "yarnpkg.com") && !localURL(v.text) {
		return []Effect{usual(KindForeignCode).with(say("installs code from the registry %s", v.text), v.text)}
	}
	return []Effect{usual(KindInstall).with(say("installs packages in the project %s", names), names)}
}

// foreignSource reports whether a package is named by a place rather than by
// its name in the registry.
func foreignSource(s string) bool {
	if strings.HasPrefix(s, "git+") || strings.HasPrefix(s, "git@") || strings.HasPrefix(s, "github:") || strings.HasPrefix(s, "gitlab:") ||
		strings.HasPrefix(s, "bitbucket:") || strings.HasPrefix(s, "gist:") || strings.Contains(s, " @ git") || strings.Contains(s, " @ http") {
		return true
	}
	if strings.Contains(s, "://") {
		return !strings.HasPrefix(s, "file:") && !localURL(s)
	}
	if !strings.HasPrefix(s, "@") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") &&
		strings.Count(s, "/") == 1 && !strings.HasSuffix(s, "/") && !strings.Contains(s, "@npm:") {
		owner, _, _ := strings.Cut(s, "/")
		return !strings.Contains(owner, ".") // user/repo of GitHub
	}
	return false
}

func npmConfig(c *call) []Effect {
	switch c.operand(1) {
	case "get", "list", "ls":
		return reads()
	}
	rest := strings.ToLower(c.rest(1))
	for _, s := range []string{
		"strict-ssl false", "strict-ssl=false", "cafile", "ignore-scripts false", "registry", "audit false",
		"enablestrictssl false", "enableimmutable",
	} {
		if strings.Contains(rest, s) {
			return []Effect{usual(KindSafeguardOff).with(say("changes whom the package manager trusts: %s", c.rest(1)), c.rest(1)).as(Reversible, ReachUser)}
		}
	}
	if strings.Contains(rest, "token") || strings.Contains(rest, "_auth") || strings.Contains(rest, "password") {
		return one(KindCredentials, say("stores credentials of the registry"), c.operand(2))
	}
	return []Effect{usual(KindOverwrite).with(say("changes the settings of the package manager: %s", c.rest(1)), c.rest(1)).as(Reversible, ReachUser)}
}

// npxRule judges running a package that may have to be fetched first.
func npxRule(c *call) []Effect {
	args := c.all
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || c.took > 0 && isRunner(args[0].text)) {
		takes := args[0].text == "-p" || args[0].text == "--package" || args[0].text == "--from" || args[0].text == "--with" || args[0].text == "--python"
		if takes && len(args) > 1 {
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
	switch s {
	case "dlx", "exec", "x", "create", "run", "tool", "runx":
		return true
	}
	return false
}

// runTool judges a tool that a package runner starts.
func (c *call) runTool(name string, args []arg) []Effect {
	base := strings.TrimPrefix(name, "@")
	if i := strings.LastIndexByte(base, '@'); i > 0 {
		base = base[:i]
	}
	if foreignSource(name) && !strings.HasPrefix(name, "@") {
		return one(KindForeignCode, say("fetches and runs %s", name), name)
	}
	t := c.r.judge.tables
	for _, n := range []string{base, lastPart(base)} {
		if n == "sh" || n == "bash" || strings.HasPrefix(name, "@") && n == lastPart(base) && !t.trustedScope(name) {
			continue
		}
		if t.sections[n] != nil || t.devtools[n] || t.harmless[n] {
			inner := *c.invocation
			inner.name, inner.path, inner.args = n, n, args[1:]
			return c.r.named(&inner)
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
	args := c.all
	for len(args) > 0 && (args[0].text == "run" || args[0].text == "exec" || args[0].text == "e" || args[0].text == "r" || args[0].text == "x" ||
		strings.HasPrefix(args[0].text, "-")) {
		if (args[0].text == "--with" || args[0].text == "-p" || args[0].text == "--python" || args[0].text == "--package" ||
			args[0].text == "--bin" || args[0].text == "--example" || args[0].text == "--extra" || args[0].text == "--group" ||
			args[0].text == "--features" || args[0].text == "--manifest-path" || args[0].text == "--project" || args[0].text == "--directory") &&
			len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if c.name == "cargo" {
		if c.r.cloned {
			return one(KindForeignCode, say("builds and runs a repository that was just fetched"), "cargo run")
		}
		return own(say("runs the project's program"))
	}
	if len(args) == 0 {
		return own(say("runs %s", c.name))
	}
	if !args[0].known {
		return unknown(say("runs a command whose name is not known: %s", args[0].text), args[0].text)
	}
	if strings.Contains(args[0].text, "://") {
		return one(KindForeignCode, say("fetches and runs %s", args[0].text), args[0].text)
	}
	inner := *c.invocation
	inner.name, inner.path, inner.args = lastPart(args[0].text), args[0].text, args[1:]
	t := c.r.judge.tables
	n := c.r.canonical(&inner)
	if t.sections[n] == nil && !t.devtools[n] && !t.harmless[n] && !isPath(inner.path) {
		return c.task(args[0].text, say("runs the project's %s", args[0].text))
	}
	return c.r.named(&inner)
}

func pipInstall(c *call) []Effect {
	if c.r.cloned {
		return one(KindForeignCode, say("installs a repository that was just fetched"), c.name)
	}
	verb := c.operand(0)
	ops := c.operands[1:]
	if c.name == "uv" && verb == "pip" {
		verb, ops = c.operand(1), c.operands[min(2, len(c.operands)):]
	}
	names := join(ops)
	if c.has("--dry-run") {
		return reads()
	}
	for _, a := range ops {
		archive, stray := localArchive(a.text)
		if stray {
			return one(KindForeignCode, say("installs an archive that was not built here: %s", a.text), a.text)
		}
		if !archive && foreignSource(a.text) && !strings.Contains(a.text, "download.pytorch.org") {
			return one(KindForeignCode, say("installs code that is not from the index: %s", a.text), a.text)
		}
	}
	for _, v := range c.values("-r", "--requirement", "-c", "--constraint") {
		if strings.Contains(v.text, "://") && !localURL(v.text) {
			return one(KindForeignCode, say("installs what the list %s names", v.text), v.text)
		}
	}
	for _, v := range c.values("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index") {
		if !strings.Contains(v.text, "pypi.org") && !strings.Contains(v.text, "pytorch.org") && !localURL(v.text) && strings.Contains(v.text, "://") {
			return one(KindForeignCode, say("installs code from the index %s", v.text), v.text)
		}
	}
	if c.has("--break-system-packages", "--trusted-host") {
		return []Effect{usual(KindSafeguardOff).with(say("installs %s past a safeguard of the package manager", names), names)}
	}
	if c.has("--system") || c.root {
		return []Effect{usual(KindInstall).with(say("installs %s for the whole machine", names), names).as(Partial, ReachSystem)}
	}
	if verb == "uninstall" {
		return own(say("removes packages %s", names))
	}
	if c.has("--user") {
		return []Effect{usual(KindInstall).with(say("installs %s for the whole user", names), names).as(Partial, ReachUser)}
	}
	return []Effect{usual(KindInstall).with(say("installs packages in the environment %s", names), names)}
}

// localArchive says whether a package is an archive on this machine, and
// whether it lies where no build puts one: it came from somewhere.
func localArchive(name string) (archive, stray bool) {
	kept := slices.ContainsFunc([]string{".whl", ".tar.gz", ".tgz", ".zip", ".egg", ".tar.bz2"}, func(end string) bool { return strings.HasSuffix(name, end) })
	if !kept || strings.Contains(name, "://") || strings.Contains(name, " @ ") {
		return false, false
	}
	for step := range strings.SplitSeq(name, "/") {
		switch step {
		case "dist", "build", "target", "out", "wheels", "wheelhouse", "vendor":
			return true, false
		}
	}
	return true, true
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
	if strings.Contains(target, "@") && !knownGoTool(target) {
		return one(KindForeignCode, say("fetches and runs %s", target), target)
	}
	if c.r.cloned {
		return one(KindForeignCode, say("runs a repository that was just fetched"), target)
	}
	return own(say("runs the project's program %s", target))
}

func knownGoTool(s string) bool {
	for _, p := range []string{
		"golang.org/x/", "honnef.co/go/tools", "github.com/golangci/", "mvdan.cc/", "github.com/google/", "google.golang.org/",
		"github.com/vektra/mockery", "go.uber.org/", "github.com/sqlc-dev/", "github.com/a-h/templ", "github.com/swaggo/",
		"github.com/99designs/gqlgen", "github.com/matryer/moq", "gotest.tools/",
	} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func mavenGoals(c *call) []Effect {
	for _, a := range c.operands {
		switch {
		case a.text == "deploy" || strings.HasSuffix(a.text, ":deploy") || strings.HasPrefix(a.text, "release:perform") || a.text == "site-deploy" ||
			strings.HasSuffix(a.text, ":deploy-file") || strings.Contains(a.text, "publish") || strings.HasPrefix(a.text, "nexus-staging:"):
			return one(KindPublish, say("publishes the artifact: %s", a.text), a.text)
		case strings.HasPrefix(a.text, "release:prepare") && !c.has("-DdryRun"):
			return one(KindPublish, say("tags and pushes a release: %s", a.text), a.text)
		case strings.HasPrefix(a.text, "flyway:clean") || strings.HasPrefix(a.text, "liquibase:drop") ||
			strings.HasPrefix(a.text, "flyway:migrate") || strings.HasPrefix(a.text, "liquibase:update") || strings.HasPrefix(a.text, "liquibase:rollback"):
			return []Effect{usual(KindDatabase).with(say("changes the configured database: %s", a.text), a.text).as(Irreversible, ReachUser)}
		case strings.Contains(a.text, "jib:build") || strings.Contains(a.text, "docker:push") || strings.Contains(a.text, "k8s:apply") ||
			strings.Contains(a.text, "undeploy") || strings.Contains(a.text, "appengine:"):
			return one(KindPublish, say("pushes to a registry or a cluster: %s", a.text), a.text)
		}
	}
	if c.r.cloned {
		return one(KindForeignCode, say("builds a repository that was just fetched"), "mvn")
	}
	return own(say("builds the project"))
}
