package effects

import (
	"slices"
	"strings"
)

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

// npxRule judges running a package that may have to be fetched first.
func npxRule(c *call) []Effect {
	args := c.all
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || c.took > 0 &&
		slices.Contains([]string{"dlx", "exec", "x", "create", "run", "tool", "runx"}, args[0].text)) {
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
		if t.Known(n) {
			return c.r.named(c.inner(n, args[1:]))
		}
	}
	return c.foreignTool(name, t.knownTool(name))
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// trustedScope reports whether a scoped package is of a well-known maker.
func (t *tables) trustedScope(name string) bool {
	scope, _, _ := strings.Cut(name, "/")
	return t.Nouns["trusted-scope"][scope]
}

func (t *tables) knownTool(name string) bool {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if t.trustedScope(name) || strings.HasPrefix(name, "create-") && t.knownGenerator(strings.TrimPrefix(name, "create-")) {
		return true
	}
	return t.Nouns["known-tool"][name]
}

func (t *tables) knownGenerator(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return t.Nouns["generator"][name]
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
	if !isPath(path) && !c.r.judge.tables.Known(c.r.canonical(inner)) {
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
