package effects

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
)

// netcatRule judges what is sent to a service of this machine.
func netcatRule(c *call) []Effect {
	if text, all := c.input(); all {
		for w := range strings.FieldsSeq(strings.ToLower(text.text)) {
			if c.r.judge.tables.ofClass("service-changes", w) {
				return []Effect{usual(KindDatabase).with(say("sends %s to a service of this machine", w), c.rest(0)).as(Irreversible, ReachUser)}
			}
		}
	}
	return own(say("talks to this machine"))
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

func sftpRule(c *call) []Effect {
	text, all := c.input()
	if !all {
		return unknown(say("opens a file transfer with %s", c.rest(0)), c.rest(0))
	}
	for l := range strings.Lines(text.text) {
		if f := strings.Fields(l); len(f) > 0 && !c.r.judge.tables.ofClass("sftp-looks", strings.TrimPrefix(f[0], "-")) {
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
