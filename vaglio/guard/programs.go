package guard

import (
	"slices"
	"strings"
)

// sysctl may hand crashes to a program, or make small faults crash the machine.
func sysctl(l *look) string {
	for _, a := range l.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			continue
		}
		switch strings.ReplaceAll(strings.TrimSpace(name), "/", ".") {
		case "kernel.core_pattern":
			if strings.HasPrefix(strings.TrimSpace(value), "|") {
				return kernelRule
			}
		case "kernel.panic", "kernel.panic_on_oops", "kernel.panic_on_warn", "kernel.hung_task_panic", "kernel.softlockup_panic", "vm.panic_on_oom",
			"kernel.modprobe", "kernel.hotplug", "kernel.sysrq":
			return kernelRule
		}
	}
	return ""
}

// goTool is go: to run vaglio from its source is to run vaglio.
func goTool(l *look) string {
	for i, a := range l.args {
		path, _, _ := strings.Cut(a, "@")
		if i > 0 && l.args[0] == "run" && baseOf(path) == "vaglio" && strings.Contains(path, "cmd/vaglio") {
			in := *l
			in.args = l.args[i+1:]
			return vaglioCommand(&in)
		}
	}
	return l.words("go")
}

// cluster is kubectl and its kin.
func cluster(l *look) string {
	if id := l.stopsVaglio(); id != "" {
		return id
	}
	return l.words("kubectl")
}

// xargs reads the file that it takes words from.
func xargs(l *look) string {
	for i, a := range l.args {
		if (a == "-a" || a == "--arg-file" || a == "::::") && i+1 < len(l.args) {
			if id := l.touch(reads, l.args[i+1]); id != "" {
				return id
			}
		}
		if name, value, ok := strings.Cut(a, "="); ok && name == "--arg-file" {
			if id := l.touch(reads, value); id != "" {
				return id
			}
		}
	}
	return ""
}

// container copies files in and out; what runs inside is examined by itself.
func container(l *look) string {
	if len(l.args) > 2 && slices.Contains(l.args[:2], "cp") {
		return l.operands(reads)
	}
	for i, a := range l.args {
		value, joined := strings.CutPrefix(a, "--device=")
		if a == "--device" && i+1 < len(l.args) {
			value = l.args[i+1]
		} else if !joined {
			continue
		}
		value, _, _ = strings.Cut(value, ":")
		if l.g.table.IsDisk(l.absolute(value)) {
			return diskRule
		}
	}
	return service(l)
}

// registry deletes the trees of the registry by which Windows starts and knows
// its programs and users; of a program's own key it is the judge's to say.
func registry(l *look) string {
	if len(l.args) < 2 || !strings.EqualFold(l.args[0], "delete") {
		return ""
	}
	key := strings.Trim(strings.ToLower(strings.ReplaceAll(l.args[1], `\`, "/")), "/")
	hive, rest, _ := strings.Cut(key, "/")
	const deep = 2 // of HKLM/SOFTWARE/Microsoft
	switch hive {
	case "hkcu", "hkey_current_user":
		if rest == "" || rest == "software" || rest == "software/microsoft" || rest == "software/microsoft/windows" {
			return vitalRule
		}
	case "hklm", "hkey_local_machine", "hkcr", "hkey_classes_root", "hku", "hkey_users":
		if strings.Count(rest, "/") < deep && !strings.HasPrefix(rest, "software/") || rest == "software/microsoft" ||
			rest == "software/microsoft/windows" || rest == "software/microsoft/windows nt" {
			return vitalRule
		}
	}
	return ""
}

// script is awk: a program, then files. A program that reads lines by itself
// may name the file in any of its texts.
func script(l *look) string {
	l.pickLines()
	for _, a := range l.args {
		if !strings.Contains(a, "getline") {
			continue
		}
		for i, text := range strings.Split(a, `"`) {
			if i%2 == 1 && looksLikePath(text) {
				if id := l.touch(reads, text); id != "" {
					return id
				}
			}
		}
	}
	return l.words("awk")
}

// mount makes a folder another name of one that is there already.
func mount(l *look) string {
	_, operands := l.splitBy("tLUo")
	bind := false
	const two = 2
	for _, a := range l.args {
		bind = bind || strings.HasSuffix(a, "bind") || strings.HasPrefix(a, "bind,") || a == "-B" || a == "-R"
	}
	if len(operands) == two && l.isProgramTree(operands[1]) {
		return treeSystem // what was there is hidden
	}
	if bind && len(operands) == two && l.s != nil && len(l.cwds) > 0 {
		l.s.addLink(l, operands[0], operands[1])
	}
	return ""
}

// isProgramTree says whether a folder holds the system's programs, libraries or
// settings.
func (l *look) isProgramTree(o string) bool {
	switch l.absolute(o) {
	case "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64":
		return true
	default:
		return false
	}
}

// fdFind runs a command on what it finds.
func fdFind(l *look) string {
	at := slices.IndexFunc(l.args, func(a string) bool { return a == "-x" || a == "-X" || a == "--exec" || a == "--exec-batch" })
	if at < 0 || at+1 >= len(l.args) || l.depth > 1 {
		return ""
	}
	before := *l
	before.args = l.args[:at]
	_, operands := before.splitBy("etdEcSojg", "extension", "type", "max-depth", "exclude", "base-directory", "search-path")
	if len(operands) > 0 && isTelling(operands[0]) || hasShortOrLong(before.args, 'e', "--extension") {
		return ""
	}
	starts := []string{"."}
	if len(operands) > 1 {
		starts = operands[1:]
	}
	in := *l
	in.depth++
	in.args = append(slices.Clone(l.args[at+2:]), starts...)
	return in.program(baseOf(l.args[at+1]))
}

const packageRule = "tree.packages"

// packages is a package manager, which may not remove what the system is made
// of, nor vaglio.
func packages(l *look) string {
	options, operands := l.split()
	if !removesPackages(programName(l.c), options, operands) {
		return l.stopsVaglio()
	}
	for _, o := range options {
		if o == "--allow-remove-essential" || strings.HasPrefix(o, "--force-remove-essential") || strings.HasPrefix(o, "--force-remove-protected") {
			return packageRule
		}
	}
	for _, o := range operands {
		name, _, _ := strings.Cut(o, ":")
		if l.g.isEssential(name) || isWild(o) || o == "*" || o == ".*" || o == "~i" || o == "?essential" {
			return packageRule
		}
		if strings.HasPrefix(name, "vaglio") {
			return ownProcess
		}
	}
	return ""
}

// removesPackages says whether a package manager is told to remove. The
// letters of options are those of the managers that have no word for it.
func removesPackages(manager string, options, operands []string) bool {
	if slices.ContainsFunc(options, func(o string) bool {
		return o == "--dry-run" || o == "--simulate" || o == "--no-act" || o == "--help" || o == "--test" || o == "-s"
	}) {
		return false
	}
	switch manager {
	case "dpkg":
		return hasOption(options, 'r', "remove") || hasOption(options, 'P', "purge")
	case "rpm":
		return hasOption(options, 'e', "erase")
	case "pacman", "yay", "paru":
		return hasOption(options, 'R', "remove")
	case "emerge":
		return hasOption(options, 'C', "unmerge")
	case "xbps-remove", "pkg_delete", "rpm-erase":
		return true
	}
	return slices.ContainsFunc(operands, func(o string) bool {
		switch o {
		case "remove", "purge", "autoremove", "erase", "rm", "del", "delete", "uninstall", "autopurge":
			return true
		default:
			return false
		}
	})
}

// isEssential says whether a package is one without which the system does not
// start, or cannot be mended.
func (g *Guard) isEssential(name string) bool { return g.base.Nouns["essential-package"][name] }
