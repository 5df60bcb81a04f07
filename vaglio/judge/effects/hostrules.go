package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

func grpcRule(c *call) []Effect {
	return c.unlessLocal(func() []Effect {
		last := c.operand(len(c.operands) - 1)
		words := taskWords(lastPart(last))
		if last == "list" || last == "describe" || len(words) > 0 && c.r.verbOf(words[0]).effect.Kind == KindRead || c.operand(1) == "list" ||
			c.operand(1) == "describe" {
			return reads()
		}
		return shared(KindSend, say("calls a remote procedure: %s", c.rest(0)), c.rest(0))
	})
}

func downloadRule(c *call) []Effect {
	out := own(say("downloads files to the current folder"))
	for _, a := range c.operands {
		c.r.fetched[lastPart(a.text)] = true
	}
	return append(out, c.writeAll("writes", c.values("-d", "-o", "-P", "--dir", "--output"))...)
}

func netcatRule(c *call) []Effect {
	if c.has("-z") {
		return reads()
	}
	if c.has("-e", "-c", "--exec", "--sh-exec") {
		return one(KindForeignCode, say("gives a shell to whoever connects"), c.rest(0))
	}
	if c.has("-l", "--listen") {
		return shared(KindSend, say("listens for connections"), c.rest(0))
	}
	if len(c.operands) > 0 && localURL(c.operand(0)) {
		if text, all := c.input(); all {
			for w := range strings.FieldsSeq(strings.ToLower(text.text)) {
				switch w {
				case "flush_all", "flushall", "flushdb", "del", "delete", "shutdown", "set", "kill", "stop":
					return []Effect{usual(KindDatabase).with(say("sends %s to a service of this machine", w), c.rest(0)).as(Irreversible, ReachUser)}
				}
			}
		}
		return own(say("talks to this machine"))
	}
	return one(KindSend, say("sends data to %s", c.rest(0)), c.rest(0))
}

func sshRule(c *call) []Effect {
	if !c.wrapper {
		if c.name == "sshpass" {
			return c.passed()
		}
		if c.has("-R", "-L", "-D", "-w") {
			return c.tunnel()
		}
	}
	for _, o := range c.values("-o") {
		if l := strings.ToLower(o.text); strings.HasPrefix(l, "stricthostkeychecking=no") && strings.Contains(join(c.all), "UserKnownHostsFile=/dev/null") {
			return one(KindSafeguardOff, say("connects without checking whom it talks to"), c.rest(0))
		}
	}
	if text, all := c.input(); len(c.operands) > 1 || all && text.text != "" || c.has("-T", "-N") && strings.Contains(c.operand(0), "git@") {
		return reads() // a remote command is judged by itself
	}
	return unknown(say("opens a session on another machine: %s", c.rest(0)), c.rest(0))
}

// tunnel is the effect of ssh's forwarding, by which side it opens to the other.
func (c *call) tunnel() []Effect {
	if c.has("-R") {
		return shared(KindSend, say("opens a local service to another machine"), c.rest(0))
	}
	if c.has("-D", "-w") && !localURL(c.operand(0)) {
		return shared(KindSend, say("sends what uses the tunnel through %s", c.rest(0)), c.rest(0))
	}
	return own(say("opens a tunnel"))
}

// passed judges the command that sshpass gives a password to.
func (c *call) passed() []Effect {
	for i, a := range c.all {
		switch lastPart(a.text) {
		case "ssh", "scp", "sftp", "rsync", "ssh-copy-id":
			if c.r.depth > 3 {
				return unknown(say("nests too deep"), c.name)
			}
			c.r.depth++
			defer func() { c.r.depth-- }()
			return c.r.apart(func() { c.r.shellArgv(texts(c.all[i:])) })
		}
	}
	return unknown(say("gives a password to a command that is not known: %s", c.rest(0)), c.rest(0))
}

func sshKeygenRule(c *call) []Effect {
	switch {
	case c.has("-l", "-F", "-H", "-Y", "-L") && !c.has("-R"), c.has("-y"):
		return reads()
	case c.has("-R"):
		return []Effect{usual(KindSafeguardOff).with(say("forgets the known key of the host %s", c.rest(0)), c.rest(0)).as(Partial, ReachUser)}
	case c.has("-p"):
		return one(KindCredentials, say("changes the passphrase of a key"), c.rest(0))
	}
	if f, ok := c.value("-f"); ok {
		if p := c.r.world.placeOf(f, c.cwd); p == placeTemp || c.r.world.inside(c.r.world.clean(f.text, c.cwd)) {
			return own(say("creates a key in the workspace"))
		}
	}
	return []Effect{usual(KindCredentials).with(say("creates a key in the user's key folder"), "key").as(Partial, ReachUser)}
}

func sftpRule(c *call) []Effect {
	text, all := c.input()
	if !all {
		return unknown(say("opens a file transfer with %s", c.rest(0)), c.rest(0))
	}
	looks := []string{
		"ls", "dir", "pwd", "cd", "lcd", "lls", "lpwd", "get", "reget", "mget", "version", "help", "?", "bye", "exit", "quit", "df", "progress",
	}
	for l := range strings.Lines(text.text) {
		if f := strings.Fields(l); len(f) > 0 && !slices.Contains(looks, strings.TrimPrefix(f[0], "-")) {
			return shared(KindSend, say("changes files on %s: %s", c.rest(0), strings.TrimSpace(l)), c.rest(0))
		}
	}
	return reads()
}

// remotePath reports whether a word names a path on another machine.
func remotePath(s string) bool {
	if strings.Contains(s, "::") || strings.HasPrefix(s, "rsync://") || strings.HasPrefix(s, "scp://") || strings.HasPrefix(s, "sftp://") {
		return true
	}
	host, _, ok := strings.Cut(s, ":")
	return ok && host != "" && !strings.Contains(host, "/") && len(host) > 1
}

func copyHostsRule(c *call) []Effect {
	if len(c.operands) == 0 {
		return unknown(say("copies files that are not known"), "")
	}
	dest := c.operands[len(c.operands)-1]
	src := c.operands[:len(c.operands)-1]
	if len(src) == 0 {
		return reads() // rsync lists
	}
	var out []Effect
	for _, o := range c.told().Operations {
		if o.Role != operation.Target || !o.Object.Host && !remotePath(dest.text) {
			continue
		}
		switch o.Verb {
		case operation.Delete:
			out = append(out, usual(KindDelete).with(say("deletes what %s has besides", dest.text), dest.text).as(Irreversible, ReachShared))
		default:
			out = append(out, usual(KindSend).with(say("copies %s to %s", join(src), dest.text), dest.text))
		}
	}
	if len(out) > 0 {
		return out
	}
	return operationsRule(c)
}

func objectStoreRule(c *call) []Effect {
	verb := c.operand(0)
	ops := c.operands[min(1, len(c.operands)):]
	if len(ops) > 1 {
		dest := ops[len(ops)-1]
		remote := strings.Contains(dest.text, "://") || remotePath(dest.text) || c.name == "mc" && !strings.HasPrefix(dest.text, ".") &&
			!strings.HasPrefix(dest.text, "/")
		if !remote && c.r.judge.tables.ofClass("objects-copied", verb) {
			return c.r.write(c.invocation, dest, "downloads to")
		}
	}
	switch t := c.r.judge.tables; {
	case t.ofClass("objects-fetched", verb):
		return own(say("downloads files"))
	case t.ofClass("objects-deleted", verb):
		return []Effect{usual(KindDelete).with(say("deletes stored objects: %s", join(ops)), join(ops)).as(Irreversible, ReachShared)}
	}
	return one(KindSend, say("writes to remote storage: %s %s", c.name, c.rest(0)), c.rest(0))
}

func opensslRule(c *call) []Effect {
	if out := c.opensslReads(); out != nil {
		return out
	}
	if c.operand(0) == "s_client" && (c.stdin.kind == shell.InputFile && c.stdin.file.text != "/dev/null" || c.stdin.piped && sendsFile(c.stdin.text)) {
		return one(KindSend, say("sends data through a connection: openssl %s", join(c.all)), c.rest(1))
	}
	var out []Effect
	for _, f := range c.values("-out", "-keyout") {
		if c.r.world.inside(c.r.world.clean(f.text, c.cwd)) {
			out = append(out, own(say("writes %s", f.text))...)
			continue
		}
		out = append(out, c.r.write(c.invocation, f, "writes")...)
	}
	return out
}

// opensslReads are the effects of showing or decrypting what is secret.
func (c *call) opensslReads() []Effect {
	verb := c.operand(0)
	if f, ok := c.keyShown(verb); ok {
		return one(KindCredentials, say("shows the key in %s", f.text), f.text)
	}
	switch verb {
	case "pkcs12", "smime", "cms", "rsautl", "pkeyutl":
		if c.has("-nodes", "-decrypt", "-noenc") && !c.has("-nokeys", "-info", "-export") {
			return one(KindCredentials, say("decrypts keys or data"), verb)
		}
	case "enc":
		if c.has("-d") && c.has("-pass", "-k", "-K", "-kfile") {
			return one(KindCredentials, say("decrypts data with a password"), verb)
		}
	}
	return nil
}

// keyShown finds the key that openssl prints.
func (c *call) keyShown(verb string) (arg, bool) {
	switch verb {
	case "rsa", "pkey", "ec", "pkcs12", "pkcs8", "enc", "base64", "asn1parse", "dsa":
		for _, f := range c.values("-key", "-inkey", "-in") {
			if c.r.world.placeOf(f, c.cwd) == placeSecret && !c.has("-pubout", "-noout", "-modulus", "-check") {
				return f, true
			}
		}
	}
	return arg{}, false
}

// sendsFile reports whether piped text comes from a command that reads files.
func sendsFile(a arg) bool {
	return slices.ContainsFunc(a.from, func(f string) bool {
		return slices.Contains([]string{
			"cat", "tar", "base64", "gzip", "zip", "head", "tail", "env", "printenv", "find", "pg_dump", "mysqldump", "gpg", "openssl", "xxd", "dd",
		}, f)
	})
}

// badHost finds an address that is neither this machine nor a registry that
// everybody uses.
func badHost(value arg) string {
	for part := range strings.FieldsFuncSeq(value.text, func(c rune) bool { return c == ',' || c == '|' || c == ' ' }) {
		switch {
		case part == "direct", part == "off", part == "none", part == "on",
			strings.HasPrefix(part, "unix:"), strings.HasPrefix(part, "npipe:"), strings.HasPrefix(part, "."):
		case strings.HasPrefix(part, "/"), strings.HasPrefix(part, "file:"):
		case strings.HasPrefix(part, "$") && !strings.HasPrefix(part, "$("):
		case localURL(part), knownRegistry(part), !strings.ContainsAny(part, ".$"): // a name of the own network has no dot
		default:
			return part
		}
	}
	return ""
}

// knownRegistry reports whether an address is one from which a package manager
// takes packages by default, or its usual mirror.
func knownRegistry(s string) bool {
	s = strings.TrimPrefix(s, "sparse+")
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	host, _, _ := strings.Cut(s, "/")
	if strings.Contains(host, "@") {
		return false
	}
	for _, known := range []string{
		"npmjs.org", "npmjs.com", "yarnpkg.com", "npmmirror.com", "jsr.io", "pypi.org", "pythonhosted.org", "pytorch.org", "golang.org", "goproxy.io",
		"goproxy.cn",
		"crates.io", "rubygems.org", "maven.org", "maven.apache.org", "packagist.org", "anaconda.org", "anaconda.com", "nodejs.org", "rust-lang.org",
		"github.com", "gitlab.com", "tsinghua.edu.cn", "aliyun.com", "hex.pm", "pub.dev", "huggingface.co", "openai.com", "anthropic.com", "amazonaws.com",
	} {
		if host == known || strings.HasSuffix(host, "."+known) {
			return true
		}
	}
	return false
}
