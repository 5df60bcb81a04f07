package effects

import (
	"strings"
)

func sysRules(m map[string]rule) {
	m["mount"] = func(c *call) []Effect {
		if len(c.operands) == 0 || c.has("-l", "--help", "-V", "--version") {
			return reads()
		}
		return one(KindPrivilege, "mounts "+c.rest(0), c.rest(0))
	}
	m["diskTool"] = diskTool
	m["date"] = func(c *call) []Effect {
		for _, a := range c.operands {
			if !strings.HasPrefix(a.text, "+") && a.text != "" && strings.Trim(a.text, "0123456789.") == "" {
				return one(KindPrivilege, "sets the clock to "+a.text, a.text)
			}
		}
		return reads()
	}
	m["hostname"] = func(c *call) []Effect {
		if len(c.operands) > 0 {
			return one(KindPrivilege, "renames the machine to "+c.operand(0), c.operand(0))
		}
		return reads()
	}
	m["ipTool"] = ipTool
	m["ifconfig"] = func(c *call) []Effect {
		if len(c.operands) <= 1 {
			return reads()
		}
		return one(KindPrivilege, "changes the network: ifconfig "+c.rest(0), c.rest(0))
	}
	m["netTool"] = netTool
	m["sysPackage"] = sysPackage
	m["kill"] = killRule
	m["tmux"] = tmuxRule
	m["env"] = envRule
	m["wrapper"] = wrapperRule
	m["uiControl"] = func(c *call) []Effect {
		return unknown("operates the user's programs: "+c.name+" "+join(c.all), c.name)
	}
	m["adb"] = func(c *call) []Effect {
		switch c.operand(0) {
		case "devices", "logcat", "get-state", "version", "help", "get-serialno", "forward", "reverse", "start-server", "wait-for-device", "bugreport", "getvar", "shell-list", "pull", "features", "host-features":
			return own("reads from the device")
		case "shell":
			switch c.operand(1) {
			case "ls", "dumpsys", "getprop", "ps", "cat", "pm", "wm", "df", "top", "id", "screencap", "settings":
				if c.operand(2) != "uninstall" && c.operand(2) != "clear" && c.operand(2) != "put" && c.operand(2) != "grant" && c.operand(2) != "disable" {
					return reads()
				}
			}
		case "install", "install-multiple":
			return own("installs the app on the test device")
		}
		return []Effect{usual(KindPhysical).with("changes the device: "+c.name+" "+c.rest(0), c.rest(0)).as(Irreversible, ReachUser)}
	}
	m["flashTool"] = func(c *call) []Effect {
		text := " " + join(c.all) + " "
		for _, w := range []string{" upload", " flash", "write_flash", "erase", " burn", "-U flash:w", " run", " cp ", " rm ", "program"} {
			if strings.Contains(text, w) && !strings.Contains(text, " --dry") {
				return []Effect{usual(KindPhysical).with("writes to a device: "+c.name+text, c.rest(0)).as(Partial, ReachUser)}
			}
		}
		return own("works on the firmware project")
	}
	m["chain"] = chainRule
}

func ipTool(c *call) []Effect {
	for _, a := range c.operands {
		switch a.text {
		case "add", "del", "delete", "set", "flush", "change", "replace", "append", "exec", "up", "down", "attach", "detach", "prepend", "restore":
			return one(KindPrivilege, "changes the network: ip "+c.rest(0), c.rest(0))
		}
	}
	return reads()
}

func netTool(c *call) []Effect {
	text := " " + join(c.all) + " "
	for _, w := range []string{" add", " del", " set", " up", " down", " connect", " disconnect", " delete", " modify", " replace", " flush", " -s ", " apply", " try", " off", " on ", " block", " unblock", " remove", " pair", " power", " trust", " reload", " change", " -K ", " -G ", " -A ", " -d ", " -r ", " --change", " rescan", " hotspot", " clear", " -L ", " -C ", " enable", " disable", " --set", " -set", " -create", " -remove", " -delete", " -switchto", " -rename"} {
		if strings.Contains(text, w) && !strings.Contains(text, " show") && !strings.Contains(text, " list") {
			return one(KindPrivilege, "changes the network: "+c.name+text, c.rest(0))
		}
	}
	switch c.name {
	case "ifup", "ifdown", "dhclient", "wpa_supplicant":
		return one(KindPrivilege, "changes the network: "+c.name+text, c.rest(0))
	}
	return reads()
}

// sysPackage judges the package managers of systems.
func sysPackage(c *call) []Effect {
	verb := c.operand(0)
	text := strings.TrimSpace(c.name + " " + join(c.all))
	switch verb {
	case "list", "search", "show", "info", "policy", "madison", "depends", "rdepends", "showsrc", "changelog", "why", "why-not", "provides", "whatprovides", "repolist", "history", "check-update", "check", "leaves", "deps", "uses", "desc", "cat", "doctor", "outdated", "config", "home", "log", "--prefix", "query", "files", "connections", "find", "known", "refresh-list", "version", "help", "livecheck", "download", "source", "list-updates", "lu", "se", "if", "repos", "lr", "ls", "grouplist", "updateinfo", "deplist", "contents", "dump", "stats", "verify", "audit", "missing", "shellenv", "formulae", "casks", "options", "tap-info", "which", "checkupdates", "remote-ls", "remotes", "run", "ps", "env", "commands", "analytics", "changes", "model", "whoami", "showauto", "showmanual", "showhold", "get-selections", "repoquery", "list-installed", "list-upgradable", "services", "bundle", "--version", "--cache", "--cellar", "developer", "status", "get-devices", "get-updates", "tap", "export", "query-all", "index", "pin-list", "dotty", "unchanged", "make-cache", "makecache", "linkage", "finger", "list-keys", "logs":
		switch {
		case verb == "tap" && len(c.operands) > 1:
		case verb == "analytics" && len(c.operands) > 1 && c.operand(1) != "state":
		case verb == "services" && len(c.operands) > 1 && c.operand(1) != "list" && c.operand(1) != "info":
		case verb == "config" && len(c.operands) > 1 && c.name != "brew":
		case verb == "bundle" && c.operand(1) != "check" && c.operand(1) != "list" && c.operand(1) != "dump":
		case verb == "history" && len(c.operands) > 1 && c.operand(1) != "list" && c.operand(1) != "info":
		default:
			return reads()
		}
	case "update", "refresh", "ref", "updatedb":
		if c.name == "apt" || c.name == "apt-get" || c.name == "brew" || c.name == "apk" || c.name == "zypper" || c.name == "aptitude" {
			return reads()
		}
	case "":
		switch {
		case c.has("-q", "-Q", "-S", "-l", "-L", "-s", "-p", "-c", "--list", "--status", "--search", "-I", "--get-selections", "--print-architecture", "-V", "--version", "-Qi", "-W", "--verify", "--checksig", "-K", "-i") && (c.name == "dpkg" || c.name == "rpm") && !c.has("-U", "-e", "-F", "--install", "--erase", "--import", "--configure", "-P", "-r", "--remove", "--purge"):
			if c.name != "dpkg" || !c.has("-i") {
				return reads()
			}
		case c.has("-Q", "-Ss", "-Si", "-Sl", "-F", "-T", "-Sg", "-Qi", "-Qs", "-Ql") && (c.name == "pacman" || c.name == "yay" || c.name == "paru"):
			return reads()
		case c.has("--version", "--help", "-h", "--prefix", "--cellar", "--repository", "--cache", "--env", "-p", "--list", "-l", "--display", "--query", "-v") && c.name != "apt-key":
			return reads()
		case len(c.all) == 0:
			return reads()
		}
	}
	if strings.HasPrefix(verb, "-Q") || c.has("--simulate", "--just-print", "--assumeno", "--dry-run", "--no-act", "--recon") || c.has("-s") && strings.HasPrefix(c.name, "apt") {
		return reads()
	}
	if (c.has("-Q", "-Ss", "-Si", "-Sl", "-F", "-T", "-Qi", "-Qs") || strings.HasPrefix(join(c.all), "-Q")) && (c.name == "pacman" || c.name == "yay" || c.name == "paru") {
		return reads()
	}
	if (c.name == "dpkg" || c.name == "rpm") && c.has("-q", "-Q", "-l", "-L", "-S", "-s", "-c", "-I", "-W", "--list", "--status", "--search", "--verify", "-V", "-K", "--listfiles", "-qa", "-qi", "-ql", "-qf", "--print-architecture", "--contents", "--info", "--compare-versions") && !c.has("-i", "-U", "-e", "-r", "-P", "--purge", "--install", "--import", "--erase") || c.name == "rpm" && c.has("-q", "--query") {
		return reads()
	}
	if c.name == "update-alternatives" && c.has("--display", "--list", "--query", "--get-selections") || c.name == "ldconfig" && c.has("-p") || c.name == "nix-env" && c.has("-q", "--query") || c.name == "apt-key" && (verb == "list" || verb == "finger") || c.name == "softwareupdate" && c.has("-l", "--list") || c.name == "apt-mark" && strings.HasPrefix(verb, "show") || c.name == "trust" && verb == "list" {
		return reads()
	}
	if c.box != "" {
		return own("installs packages in the container")
	}
	if strings.HasPrefix(c.name, "nix") {
		return []Effect{usual(KindInstall).with("changes the installed packages: "+text, c.rest(0)).as(Partial, ReachUser)}
	}
	return []Effect{usual(KindInstall).with("changes the software of the machine: "+text, c.rest(1)).as(Partial, ReachSystem)}
}

// killRule passes signals to processes that the same shell started.
func killRule(c *call) []Effect {
	if c.name == "fuser" && !c.has("-k", "--kill") {
		return reads()
	}
	if s, ok := c.value("-s", "--signal"); ok && s.text == "0" || c.has("-0") {
		return reads()
	}
	mine := len(c.operands) > 0 && c.name == "kill"
	for _, a := range c.operands {
		switch {
		case strings.HasPrefix(a.text, "%"), a.text == "0":
		case len(a.names) == 1 && (a.names[0] == "!" || strings.HasSuffix(strings.ToUpper(a.names[0]), "PID")) && a.text == "$"+a.names[0] && a.names[0] != "PPID":
		default:
			mine = false
		}
	}
	if mine {
		return own("stops a process that it started")
	}
	target := c.rest(0)
	if target == "" {
		target = join(c.all)
	}
	return one(KindKill, "stops processes that it may not have started: "+c.name+" "+join(c.all), target)
}

func tmuxRule(c *call) []Effect {
	switch c.operand(0) {
	case "ls", "list-sessions", "list-windows", "lsw", "list-panes", "lsp", "capture-pane", "capturep", "show-options", "show", "display-message", "display", "info", "has-session", "has", "list-keys", "lsk", "list-clients", "list-buffers", "show-buffer", "list-commands", "show-environment", "pipe-pane":
		return reads()
	case "kill-server":
		return one(KindKill, "ends every session of the terminal multiplexer", "tmux")
	case "kill-session", "kill-window", "kill-pane", "killp", "killw", "kill-all-sessions", "k", "ka":
		if c.has("-a") {
			return one(KindKill, "ends the other sessions", "tmux")
		}
		if _, ok := c.value("-t"); ok {
			return own("ends the session")
		}
		return own("ends a session")
	case "send-keys", "send", "run-shell", "run", "if-shell", "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "set-hook":
		return c.carriedText()
	}
	if c.name == "screen" && c.has("-X") {
		if strings.Contains(join(c.all), "quit") {
			return one(KindKill, "ends a session and what runs in it: "+join(c.all), "screen")
		}
		return unknown("types into another session: "+join(c.all), "screen")
	}
	return own("works with a terminal session")
}

// carriedText judges the command lines that a terminal multiplexer is given.
func (c *call) carriedText() []Effect {
	out := own("works with a terminal session")
	if c.r.depth > 3 {
		return unknown("nests too deep", c.name)
	}
	c.r.depth++
	defer func() { c.r.depth-- }()
	for _, a := range c.operands[1:] {
		switch a.text {
		case "Enter", "C-m", "C-c", "C-d", "C-l", "Escape", "Space", "Up", "Down", "Tab", "q", "y", "n":
			continue
		}
		if !a.known {
			out = append(out, unknown("types text that is not known into a session: "+a.text, a.text)...)
			continue
		}
		before := len(c.r.effects)
		c.r.shellText(a.text)
		out = append(out, c.r.effects[before:]...)
		c.r.effects = c.r.effects[:before]
	}
	return out
}

func envRule(c *call) []Effect {
	if c.wrapper {
		return reads()
	}
	for _, a := range c.operands {
		if strings.Contains(a.text, "=") {
			continue
		}
		if c.name == "printenv" {
			if secretName(a.text) {
				return one(KindCredentials, "prints the secret $"+a.text, a.text)
			}
			continue
		}
		return reads() // the command is judged by itself
	}
	if c.name == "printenv" && len(c.operands) > 0 {
		return reads()
	}
	if c.has("-i", "--ignore-environment", "-") || c.filtered() {
		return reads()
	}
	e := usual(KindCredentials).with("prints every variable of the environment, secrets included", "environment")
	e.Sure = 0.6
	return []Effect{e}
}

// filtered reports whether the next command lets through only variables whose
// names do not stand for secrets.
func (c *call) filtered() bool {
	n := c.into
	if n == nil || !n.stdin.piped {
		return false
	}
	switch n.name {
	case "grep", "egrep", "fgrep", "rg":
	case "wc":
		return true
	default:
		return false
	}
	p := parse(n.args, &section{})
	pattern := p.operand(0)
	if len(p.operands) != 1 || p.has("-v", "--invert-match") || len(pattern) < 3 || secretName(pattern) {
		return false
	}
	for _, w := range []string{"key", "pass", "tok", "sec", "auth", "cred", "aws", "api", "gh_", "github", ".", "=", "db", "database", "url", "stripe", "openai"} {
		if strings.Contains(strings.ToLower(pattern), w) {
			return false
		}
	}
	return true
}

func wrapperRule(c *call) []Effect {
	switch c.name {
	case "eval", "exec", "command", "builtin":
		return reads()
	case "chroot", "unshare", "nsenter":
		if !c.wrapper {
			return one(KindPrivilege, "enters another root or name space: "+join(c.all), c.name)
		}
		if c.name == "nsenter" {
			return one(KindPrivilege, "enters the name space of another process: "+join(c.all), c.name)
		}
	case "script":
		return c.writeAll("writes", c.operands)
	}
	return reads()
}

func chainRule(c *call) []Effect {
	text := " " + c.rest(0) + " "
	for _, w := range []string{" send", " transfer", " broadcast", " deploy", " publish", " pay", " create", " --broadcast", " mint", " approve", " stake", " withdraw", " import", " sign", " unlock", " script ", " run "} {
		if strings.Contains(text, w) || strings.Contains(w, "--broadcast") && c.has("--broadcast") {
			if rpc, ok := c.value("--rpc-url", "--url", "--network"); ok && (localURL(rpc.text) || rpc.text == "localhost" || rpc.text == "hardhat") {
				return own("works on a local chain")
			}
			if w == " script " && !c.has("--broadcast") || w == " run " && !c.has("--network") {
				continue
			}
			return one(KindSpend, "sends a transaction or signs: "+c.name+text, c.rest(0))
		}
	}
	switch c.name {
	case "wallet", "subkey":
		return one(KindCredentials, "uses wallet keys", c.name)
	}
	if strings.Contains(text, "wallet") && !strings.Contains(text, "list") || strings.Contains(text, "keygen") || strings.Contains(text, "dumpprivkey") {
		return one(KindCredentials, "uses wallet keys: "+c.name+text, c.name)
	}
	return own("works on the contracts project")
}

// allRules are the rules that the tables name.
func allRules() map[string]rule {
	m := map[string]rule{}
	fileRules(m)
	gitRules(m)
	taskRules(m)
	netRules(m)
	cloudRules(m)
	dbRules(m)
	sysRules(m)
	return m
}
