package effects

import (
	"path"
	"slices"
	"strings"
)

// search is a find command line as far as deleting goes.
type search struct {
	roots, names, writes []arg
	deletes              bool
	negated, pruned      bool
	empty                bool // only what is empty is found
	ors                  int
}

// searchOf reads find's words.
func searchOf(all []arg) *search {
	s := &search{}
	inRoots := true
	for i := 0; i < len(all); i++ {
		word := all[i].text
		if strings.HasPrefix(word, "-") || word == "(" || word == "!" {
			inRoots = false
		}
		switch word {
		case "-delete":
			s.deletes = true
		case "-exec", "-execdir", "-ok", "-okdir":
			s.deletes = s.deletes || removes(all[i+1:])
			for i+1 < len(all) && all[i].text != ";" && all[i].text != "+" {
				i++
			}
		case "-name", "-iname", "-path", "-wholename", "-ipath":
			if i++; i < len(all) {
				s.names = append(s.names, all[i])
			}
		case "-fprint", "-fls", "-fprintf", "-fprint0":
			if i++; i < len(all) {
				s.writes = append(s.writes, all[i])
			}
		case "!", "-not", "-regex", "-iregex", ",":
			s.negated = true
		case "-o", "-or":
			s.ors++
		case "-empty":
			s.empty = true
		case "-prune":
			s.pruned = true
		default:
			if inRoots {
				s.roots = append(s.roots, all[i])
			}
		}
	}
	if len(s.roots) == 0 {
		s.roots = []arg{literal(".")}
	}
	return s
}

// rebuilds reports whether all that is found can be rebuilt by its name.
func (s *search) rebuilds() bool {
	if len(s.names) <= s.ors || s.negated || s.pruned && s.ors > 0 {
		return false
	}
	for _, n := range s.names {
		if !n.known || !rebuildable(strings.Trim(n.text, "*/")) && !rebuildFile(n.text) {
			return false
		}
	}
	return true
}

// findRule judges find by its actions and by what it would find.
func findRule(c *call) []Effect {
	s := searchOf(c.all)
	out := c.writeAll("writes", s.writes)
	if !s.deletes {
		return append(out, reads()...)
	}
	return append(out, c.findDeletes(s)...)
}

func removes(args []arg) bool {
	for _, a := range args {
		switch path.Base(a.text) {
		case "rm", "rmdir", "unlink", "shred", "trash":
			return true
		case ";", "+":
			return false
		}
	}
	return false
}

func (c *call) findDeletes(s *search) []Effect {
	var out []Effect
	for _, root := range s.roots {
		if p := c.r.world.placeOf(root, c.cwd); (s.rebuilds() || s.empty && !s.negated && s.ors == 0) && root.known && (p == placeWorkspace || p == placeTemp) {
			out = append(out, own("deletes files below "+root.text+" that can be rebuilt")...)
			continue
		}
		e := c.r.remove(c.invocation, root)
		for i := range e {
			e[i].Why = strings.Replace(e[i].Why, "deletes ", "deletes what find finds below ", 1)
		}
		out = append(out, e...)
	}
	return out
}

// tarRule judges tar, whose first word may be options without a dash.
func tarRule(c *call) []Effect {
	mode, dir, file := c.tarMode()
	switch mode {
	case 't', 'd':
		return reads()
	case 'x':
		if c.has("-O", "--to-stdout") {
			return reads()
		}
		if c.stdin.text.remote || slices.Contains(c.stdin.text.from, "curl") || slices.Contains(c.stdin.text.from, "wget") || c.r.fetched[lastPart(file.text)] {
			c.r.cloned = true
		}
		if dir.text == "" {
			return own("unpacks an archive in the workspace")
		}
		return c.r.write(c.invocation, dir, "unpacks over the files in")
	case 'c', 'r', 'u', 'A':
		var out []Effect
		if file.text == "" || file.text == "-" {
			out = own("packs an archive")
		} else {
			out = c.r.write(c.invocation, file, "writes")
		}
		if c.has("--remove-files") {
			out = append(out, usual(KindDelete).with("deletes the files that it packed", ""))
		}
		for _, a := range c.operands {
			if c.r.world.placeOf(a, c.cwd) == placeSecret {
				out = append(out, usual(KindCredentials).with("packs the secrets in "+a.text, a.text))
			}
		}
		return out
	}
	return unknown("runs tar in a way that is not known: "+join(c.all), "tar")
}

func (c *call) tarMode() (mode byte, dir, file arg) {
	for i, a := range c.all {
		s := a.text
		switch {
		case s == "-C" || s == "--directory" || s == "-f" || s == "--file":
			if i+1 < len(c.all) {
				if strings.Contains(s, "C") || s == "--directory" {
					dir = c.all[i+1]
				} else {
					file = c.all[i+1]
				}
			}
			continue
		case strings.HasPrefix(s, "--directory="):
			dir = a.slice(len("--directory="))
		case strings.HasPrefix(s, "--file="):
			file = a.slice(len("--file="))
		case s == "--list" || s == "--diff" || s == "--compare" || s == "--test-label":
			mode = 't'
		case s == "--extract" || s == "--get":
			mode = 'x'
		case s == "--create":
			mode = 'c'
		case s == "--append" || s == "--update" || s == "--delete" || s == "--concatenate":
			mode = 'r'
		case i == 0 && !strings.HasPrefix(s, "--") || strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--"):
			if m := strings.IndexAny(s, "txcruAd"); m >= 0 && mode == 0 {
				mode = s[m]
			}
			if strings.HasSuffix(s, "f") && i+1 < len(c.all) {
				file = c.all[i+1]
			}
		}
	}
	return mode, dir, file
}

// archiveRule judges the other archivers.
func archiveRule(c *call) []Effect {
	if c.has("-l", "-t", "-p", "-c", "--list", "--test", "--stdout", "-v", "-Z", "-z", "--to-stdout", "-tq", "-lv", "-tvf", "-tf", "-tzf") {
		switch c.name {
		case "unzip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "lzma", "brotli", "pigz", "lzop", "cpio", "ar", "jar":
			return reads()
		}
	}
	if op := c.operand(0); strings.HasPrefix(c.name, "7z") || strings.HasSuffix(c.name, "rar") || c.name == "ouch" || c.name == "patool" || c.name == "cpio" || c.name == "jar" || c.name == "ar" || c.name == "unar" {
		switch op {
		case "l", "t", "i", "lb", "lt", "v", "vt", "list", "h", "b", "p", "test", "tf", "tvf":
			return reads()
		}
	}
	var out []Effect
	if dir, ok := c.value("-d"); ok && c.name == "unzip" {
		return c.r.write(c.invocation, dir, "unpacks over the files in")
	}
	for _, a := range c.all {
		if rest, ok := strings.CutPrefix(a.text, "-o"); ok && strings.HasPrefix(c.name, "7z") && rest != "" {
			return c.r.write(c.invocation, a.slice(2), "unpacks over the files in")
		}
	}
	for _, a := range c.operands[min(1, len(c.operands)):] {
		if c.r.world.placeOf(a, c.cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with("packs the secrets in "+a.text, a.text))
		}
	}
	for _, a := range firstOf(c.operands) {
		if strings.Contains(a.text, ".") {
			out = append(out, c.r.write(c.invocation, a, "packs or unpacks")...)
		}
	}
	if c.name == "zip" && c.has("-m", "--move") {
		return append(out, usual(KindDelete).with("deletes the files that it packed", ""))
	}
	return append(out, own("packs or unpacks files")...)
}

func chmodRule(c *call) []Effect {
	ops := c.operands
	mode := ""
	if len(ops) > 0 && !c.has("--reference") {
		mode, ops = ops[0].text, ops[1:]
	}
	for i := range c.flags { // chmod -x file
		if n := c.flags[i].name; len(n) > 1 && strings.Trim(n[1:], "rwxXst") == "" {
			ops = c.operands
		}
	}
	return c.permissions("opens or closes", modeOpens(mode), ops)
}

// modeOpens reports whether a mode gives rights to everyone or special bits.
func modeOpens(mode string) bool {
	digits := strings.TrimLeft(mode, "0")
	if digits != "" && strings.Trim(digits, "01234567") == "" {
		return len(digits) >= 4 && digits[0] != '1' || len(digits) == 3 && strings.ContainsAny(digits[2:], "2367")
	}
	for part := range strings.SplitSeq(mode, ",") {
		who, rights, ok := strings.Cut(part, "+")
		if !ok {
			who, rights, ok = strings.Cut(part, "=")
		}
		if ok && (strings.Contains(rights, "s") || strings.Contains(rights, "w") && strings.ContainsAny(who, "oa")) {
			return true
		}
	}
	return false
}

func (c *call) permissions(what string, opens bool, files []arg) []Effect {
	var out []Effect
	for _, a := range files {
		e := usual(KindPermissions).with("changes who may use "+a.text, a.text)
		p := c.r.world.placeOf(a, c.cwd)
		switch {
		case opens:
			e.Why = what + " " + a.text + " to everyone"
			if p == placeSystem {
				e.Reach = ReachSystem
			}
		case p == placeWorkspace || p == placeTemp || p == placeNowhere:
			e.Reach, e.Reversibility = ReachWorkspace, Reversible
		case p == placeSystem:
			e.Reach = ReachSystem
		}
		out = append(out, e)
	}
	return out
}

func chownRule(c *call) []Effect {
	switch c.name {
	case "setfacl", "setfattr", "chattr", "icacls", "takeown", "cacls", "attr", "chflags", "chcon":
		return one(KindPermissions, "changes who may use "+c.rest(0), c.rest(0))
	case "xattr":
		if !c.has("-w", "-d", "-c") {
			return reads()
		}
	}
	ops := c.operands
	if len(ops) > 0 && !c.has("--reference") {
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return one(KindPermissions, "changes the owner of files", "")
	}
	var out []Effect
	for _, a := range ops {
		out = append(out, usual(KindPermissions).with("changes the owner of "+a.text, a.text))
	}
	return out
}

func editorRule(c *call) []Effect {
	switch c.name {
	case "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "micro", "joe", "pico", "helix", "hx", "kak":
		for _, v := range c.all {
			if strings.Contains(v.text, "!") || strings.HasPrefix(v.text, "+") && strings.Contains(v.text, "Install") {
				return unknown("runs an editor with commands: "+join(c.all), c.name)
			}
		}
		return append(own("edits files"), c.writeAll("edits", c.operands)...)
	}
	return own("opens an editor")
}

func exiftoolRule(c *call) []Effect {
	for _, a := range c.all {
		if strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "=") {
			return append(own("changes metadata"), c.writeAll("changes", c.operands)...)
		}
	}
	return reads()
}
