package effects

import (
	"path"
	"strings"
)

// write is the effect of writing a file.
func (r *reading) write(v *invocation, a arg, verb string) []Effect {
	if v.box != "" && !v.exposed && !r.reachesHost(v) {
		return nil
	}
	e := usual(KindOverwrite).with(verb+" "+a.text, a.text)
	at := r.world.placeOf(a, v.cwd)
	if p := r.world.clean(a.text, v.cwd); p == "/tmp" || p == "/var/tmp" {
		at = placeTemp // into the folder
	}
	switch at {
	case placeNowhere:
		return nil
	case placeWorkspace, placeTemp:
	case placeControl:
		e.Reach = ReachUser
		e.Why = verb + " " + a.text + ", which steers what runs by itself or what an agent may do"
	case placeSecret:
		e.Reach = ReachUser
		e.Why = verb + " " + a.text + ", which holds secrets"
	case placeHome:
		e.Reach = ReachUser
		e.Why = verb + " " + a.text + " outside the workspace"
	case placeUnknown:
		e.Reach, e.Sure = ReachUser, 0.4
		e.Why = verb + " a file whose name is not known: " + a.text
	case placeSystem:
		e.Reach = ReachSystem
		e.Why = verb + " " + a.text + " outside the workspace"
	}
	return []Effect{e}
}

// remove is the effect of deleting what a word names.
func (r *reading) remove(v *invocation, a arg) []Effect {
	p := r.world.clean(a.text, v.cwd)
	e := usual(KindDelete).with("deletes "+a.text, a.text)
	if v.box != "" && v.fresh && !v.exposed && !r.reachesHost(v) {
		return own("deletes " + a.text)
	}
	switch r.world.placeOf(a, v.cwd) {
	case placeNowhere:
		return nil
	case placeTemp:
		if base := path.Base(p); base != "*" && base != ".*" || strings.Count(p, "/") > 2 {
			return own("deletes the temporary " + a.text)
		}
		e.Why = "deletes every temporary file, of other programs too: " + a.text
	case placeWorkspace:
		if v.host == "" && (a.known || foundOnly(a)) && rebuildable(r.relative(p)) {
			return own("deletes " + a.text + ", which can be rebuilt")
		}
		e.Reach = ReachWorkspace
	case placeHome:
		if r.world.rebuildableHome(p) && a.known {
			return own("deletes " + a.text + ", a cache that fills itself again")
		}
		e.Why = "deletes " + a.text + " outside the workspace"
	case placeControl, placeSecret:
		e.Why = "deletes " + a.text + ", which holds settings or secrets"
	case placeSystem:
		e.Reach = ReachSystem
		e.Why = "deletes " + a.text + " outside the workspace"
	case placeUnknown:
		e.Sure = 0.4
		e.Why = "deletes files whose names are not known: " + a.text
	}
	if !a.known {
		e.Sure = 0.4
	}
	return []Effect{e}
}

// foundOnly reports whether all that is not known of a word are folders that
// find went through, so that its last part says what is deleted.
func foundOnly(a arg) bool {
	if len(a.names) > 0 || len(a.from) == 0 {
		return false
	}
	for _, f := range a.from {
		if f != "find" && f != "fd" {
			return false
		}
	}
	return !strings.HasSuffix(a.text, ")")
}

// relative is a path as seen from the workspace, so that the names of folders
// above it do not count as rebuildable.
func (r *reading) relative(p string) string {
	for _, root := range r.world.roots {
		if rest, ok := strings.CutPrefix(p, root+"/"); ok {
			return rest
		}
	}
	return p
}

// disclosures adds what a reading command discloses.
func (r *reading) disclosures(v *invocation, p *parsed, out []Effect) []Effect {
	if v.box != "" {
		return out
	}
	switch v.name {
	case "ls", "stat", "test", "[", "[[", "file", "du", "wc", "realpath", "basename", "dirname", "readlink", "which", "tree", "cd", "find", "fd", "git", "locate", "md5sum", "sha256sum", "type", "export", "namei", "getfacl", "lsattr", "exa", "eza", "lsd", "cksum", "shasum", "docker", "podman", "command", "pushd", "gh", "aws", "man", "ssh-keygen", "gpg", "history", "helm", "terraform", "wait", "sleep":
		return out
	case "echo", "printf", "printenv", "print":
		for _, a := range p.all {
			for _, n := range a.names {
				if secretName(n) {
					out = append(out, usual(KindCredentials).with("prints the secret $"+n, n))
				}
			}
		}
		return out
	}
	for i, a := range p.operands {
		if i == 0 && patternFirst(v.name) && !p.has("-e", "-f", "--file", "--regexp", "--files") {
			continue
		}
		if r.world.placeOf(a, v.cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with("shows the secrets in "+a.text, a.text))
		}
	}
	return out
}

// patternFirst reports whether a command's first operand is a pattern.
func patternFirst(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "zgrep", "jq", "yq", "gojq", "sed", "awk", "gawk", "git", "sg", "pcregrep", "gron", "tr":
		return true
	}
	return false
}

// secretName reports whether a variable by its name holds a secret.
func secretName(n string) bool {
	n = strings.ToUpper(n)
	if strings.HasSuffix(n, "_FILE") || strings.HasSuffix(n, "_PATH") || strings.HasSuffix(n, "_DIR") || strings.HasSuffix(n, "_NAME") || strings.HasPrefix(n, "SSH_AUTH") {
		return false
	}
	for _, s := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL", "_PAT", "PASSPHRASE", "DATABASE_URL", "CONNECTION_STRING", "_DSN", "SIGNING_KEY", "ENCRYPTION_KEY"} {
		if strings.Contains(n, s) {
			return true
		}
	}
	return false
}

func fileRules(m map[string]rule) {
	m["remove"] = removeRule
	m["copy"] = copyRule
	m["move"] = moveRule
	m["moveDry"] = func(c *call) []Effect {
		if c.name == "mv" && !c.has("--help", "--version") {
			return moveRule(c)
		}
		return reads()
	}
	m["link"] = linkRule
	m["makeFiles"] = func(c *call) []Effect {
		out := c.writeAll("creates", c.operands)
		for i := range out {
			out[i].Kind, out[i].Reversibility = KindCreate, Reversible
		}
		return out
	}
	m["tee"] = func(c *call) []Effect { return c.writeAll("writes", c.operands) }
	m["inPlace"] = func(c *call) []Effect { return append(own("changes files"), c.writeAll("changes", c.operands)...) }
	m["truncate"] = truncateRule
	m["dd"] = ddRule
	m["split"] = func(c *call) []Effect {
		return append(own("splits a file"), c.writeAll("writes", c.operands[min(1, len(c.operands)):])...)
	}
	m["sed"] = sedRule
	m["editor"] = editorRule
	m["find"] = findRule
	m["tar"] = tarRule
	m["archive"] = archiveRule
	m["chmod"] = chmodRule
	m["chown"] = chownRule
	m["exiftool"] = exiftoolRule
}

func (c *call) writeAll(verb string, list []arg) []Effect {
	var out []Effect
	for _, a := range list {
		out = append(out, c.r.write(c.invocation, a, verb)...)
	}
	return out
}

func removeRule(c *call) []Effect {
	ops := c.operands
	if c.name == "gio" && len(ops) > 0 {
		if ops[0].text != "trash" && ops[0].text != "remove" {
			return own("runs gio")
		}
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return unknown("deletes files whose names are not known", "")
	}
	var out []Effect
	for _, a := range ops {
		e := c.r.remove(c.invocation, a)
		if c.name == "rmdir" || strings.HasPrefix(c.name, "trash") || c.name == "gio" {
			for i := range e {
				e[i].Reversibility = Reversible // only empty folders, or kept in the bin
				if e[i].Reach == ReachWorkspace {
					e[i].Kind = KindMove
				}
			}
		}
		out = append(out, e...)
	}
	return out
}

func copyRule(c *call) []Effect {
	dest, ok := c.value("-t", "--target-directory")
	src := c.operands
	if !ok {
		if len(src) == 0 {
			return reads()
		}
		dest, src = src[len(src)-1], src[:len(src)-1]
	}
	if c.name == "install" && c.has("-d", "--directory") {
		return c.writeAll("creates", c.operands)
	}
	out := c.r.write(c.invocation, dest, "copies over")
	if len(src) == 1 && src[0].text == "/dev/null" {
		return c.r.empty(c.invocation, dest)
	}
	secret := false
	for _, s := range src {
		switch c.r.world.placeOf(s, c.cwd) {
		case placeSecret:
			secret = true
			if c.r.world.placeOf(dest, c.cwd) != placeSecret {
				out = append(out, usual(KindCredentials).with("copies the secrets in "+s.text, s.text))
			}
		case placeWorkspace, placeTemp, placeNowhere, placeControl, placeHome, placeSystem, placeUnknown:
		}
		if !secret && example(strings.ToLower(path.Base(s.text))) && c.r.world.inside(c.r.world.clean(dest.text, c.cwd)) {
			return own("copies the example " + s.text + " to " + dest.text)
		}
	}
	return out
}

func moveRule(c *call) []Effect {
	dest, ok := c.value("-t", "--target-directory")
	src := c.operands
	if c.name != "mv" && c.name != "git-mv" {
		return c.writeAll("renames", src[min(1, len(src)):])
	}
	if !ok {
		if len(src) < 2 {
			return unknown("moves files whose names are not known", c.rest(0))
		}
		dest, src = src[len(src)-1], src[:len(src)-1]
	}
	out := c.r.write(c.invocation, dest, "moves files to")
	for _, s := range src {
		if p := c.r.world.placeOf(s, c.cwd); p != placeWorkspace && p != placeTemp {
			e := usual(KindMove).with("moves "+s.text+" away from where it lies", s.text)
			e.Reach = ReachUser
			e.Reversibility = Partial
			out = append(out, e)
		} else if c.r.world.placeOf(dest, c.cwd) == placeNowhere {
			out = append(out, c.r.remove(c.invocation, s)...)
		}
	}
	return out
}

func linkRule(c *call) []Effect {
	if dest, ok := c.value("-t", "--target-directory"); ok {
		return c.r.write(c.invocation, dest, "links in")
	}
	if len(c.operands) < 2 {
		return own("creates a link in the current folder")
	}
	return c.r.write(c.invocation, c.operands[len(c.operands)-1], "links over")
}

func truncateRule(c *call) []Effect {
	if v, ok := c.value("-s", "--size"); ok && c.name == "truncate" && strings.HasPrefix(v.text, "+") {
		return c.writeAll("extends", c.operands)
	}
	if v, ok := c.value("-s", "--size"); c.name == "fallocate" || ok && strings.Trim(v.text, "0kKMGB") != "" && !strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "<") {
		return c.writeAll("writes", c.operands)
	}
	var out []Effect
	for _, a := range c.operands {
		out = append(out, c.r.remove(c.invocation, a)...)
	}
	return out
}

func ddRule(c *call) []Effect {
	var out []Effect
	for _, a := range c.operands {
		if rest, ok := strings.CutPrefix(a.text, "of="); ok {
			a.text = rest
			if strings.Contains(join(c.operands), "if=/dev/zero") && !strings.Contains(join(c.operands), "notrunc") {
				out = append(out, c.r.empty(c.invocation, a)...)
				continue
			}
			out = append(out, c.r.write(c.invocation, a, "writes")...)
		}
		if rest, ok := strings.CutPrefix(a.text, "if="); ok {
			a.text = rest
			if c.r.world.placeOf(a, c.cwd) == placeSystem {
				out = append(out, usual(KindCredentials).with("copies the raw content of "+rest, rest))
			}
		}
	}
	return out
}

func sedRule(c *call) []Effect {
	if c.has("-n", "--quiet") && !c.has("-i", "--in-place") || !c.inPlace() {
		for _, s := range append(c.values("-e", "--expression"), firstOf(c.operands)...) {
			if strings.Contains(s.text, "w /") || strings.HasSuffix(s.text, "/e") {
				return unknown("runs a sed script that writes files or runs commands: "+s.text, s.text)
			}
		}
		return c.r.disclosures(c.invocation, c.parsed, reads())
	}
	files := c.operands
	if !c.has("-e", "--expression", "-f", "--file") && len(files) > 0 {
		files = files[1:]
	}
	return append(own("edits files in place"), c.writeAll("edits", files)...)
}

func firstOf(list []arg) []arg { return list[:min(1, len(list))] }

func (c *call) inPlace() bool {
	for i := range c.flags {
		if n := c.flags[i].name; n == "--in-place" || n == "-i" || strings.HasPrefix(n, "-i") || n == "-I" {
			return true
		}
	}
	return false
}
