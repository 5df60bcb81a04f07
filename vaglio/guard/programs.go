package guard

import (
	"slices"
	"strings"
)

// credentialOptions are options whose value a program uses as a credential or
// as its settings: no text of them comes out.
func credentialOptions() []string {
	return []string{
		"-i", "--kubeconfig", "--config", "--key", "--cert", "-E", "--cacert", "--capath", "--netrc-file", "--private-key", "--certificate", "--userconfig",
		"--defaults-file", "--defaults-extra-file", "--identity", "--identity-file", "--client-key", "--client-certificate", "--tls-key", "--ssl-key", "--key-file",
		"--private-key-file", "--service-account-key-file", "--credentials-file", "--vault-password-file", "--authfile", "--registry-config", "-key", "--homedir",
		"--docker-config", "--pubring", "--secret-keyring", "--npmrc", "--creds", "--sslkey", "--sslcert",
	}
}

// client is a program that uses credentials by itself: the values of its
// credential options are its own, everything else counts.
func client(l *look) string {
	in := *l
	in.args = make([]string, 0, len(l.args))
	for i := 0; i < len(l.args); i++ {
		a := l.args[i]
		name, _, joined := strings.Cut(a, "=")
		if slices.Contains(l.g.credentials, name) {
			if !joined {
				i++
			}
			continue
		}
		in.args = append(in.args, a)
	}
	return in.operands(uses)
}

// secureShell is ssh: its key is its own, the rest is not for this machine.
func secureShell(l *look) string {
	for i, a := range l.args {
		if a == "-f" && i+1 < len(l.args) && l.touch(writes, l.args[i+1]) == authWrite {
			return authWrite
		}
		if a == "-E" && i+1 < len(l.args) {
			return l.touch(writes, l.args[i+1])
		}
	}
	return ""
}

// secureCopy is scp and sftp: the key behind -i is its own, its operands are
// not.
func secureCopy(l *look) string {
	var operands []string
	for i := 0; i < len(l.args); i++ {
		a := l.args[i]
		if len(a) > 1 && a[0] == '-' {
			if len(a) == 2 && strings.IndexByte("cDFiJloPSX", a[1]) >= 0 {
				i++
			}
			continue
		}
		operands = append(operands, a)
	}
	for i, o := range operands {
		d := reads
		if i == len(operands)-1 && i > 0 {
			d = writes
		}
		if host, rest, ok := strings.Cut(o, ":"); ok && !strings.Contains(host, "/") {
			if d == writes || !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "~") && !strings.HasPrefix(rest, ".") {
				continue
			}
			o = rest
		}
		if id := l.touch(d, o); id != "" {
			return id
		}
	}
	return ""
}

// download is curl and wget: what they send is read, what they save is written.
func download(l *look) string {
	for i := range l.args {
		next := ""
		if i+1 < len(l.args) {
			next = l.args[i+1]
		}
		switch l.args[i] {
		case "-o", "-O", "--output", "--output-document", "-D", "--dump-header", "-c", "--cookie-jar", "--output-file", "-a", "--append-output":
			if id := l.touch(writes, next); id != "" {
				return id
			}
		case "-T", "--upload-file", "-b", "--cookie", "-K", "--config", "-i", "--input-file", "--load-cookies":
			if id := l.touch(reads, next); id != "" {
				return id
			}
		}
	}
	return client(l)
}

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
	return client(l)
}

// cluster is kubectl and its kin.
func cluster(l *look) string {
	if id := l.stopsVaglio(); id != "" {
		return id
	}
	return client(l)
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
		if l.g.isDisk(l.absolute(value)) {
			return diskRule
		}
	}
	return service(l)
}

// gpg may not give out secret keys.
func gpg(l *look) string {
	for _, a := range l.args {
		if strings.HasPrefix(a, "--export-secret") {
			return keyRule
		}
	}
	return client(l)
}

// keychain is the keychain of macOS.
func keychain(l *look) string {
	for _, a := range l.args {
		switch a {
		case "dump-keychain", "export", "find-generic-password", "find-internet-password":
			return keyRule
		case "delete-keychain":
			return keyRule
		}
	}
	return ""
}

// cmdExe carries the command after /c.
func cmdExe(l *look) string {
	for i, a := range l.args {
		if (strings.EqualFold(a, "/c") || strings.EqualFold(a, "/k")) && i+1 < len(l.args) && l.depth < 2 {
			words := l.args[i+1:]
			if len(words) == 1 {
				words = strings.Fields(words[0])
			}
			if len(words) == 0 {
				return ""
			}
			in := *l
			in.depth, in.args = l.depth+1, words[1:]
			return in.program(strings.ToLower(words[0]))
		}
	}
	return ""
}

// formatDrive is the format of Windows.
func formatDrive(l *look) string {
	for _, a := range l.args {
		if len(a) == 2 && isLetter(a[0]) && a[1] == ':' {
			return formatRule
		}
	}
	return ""
}

// bootEntries deletes entries of the firmware's boot menu.
func bootEntries(l *look) string {
	options, _ := l.split()
	if hasOption(options, 'B', "delete-bootnum") || hasOption(options, 'O', "delete-bootorder") {
		return bootRule
	}
	return ""
}

// jq and its kin read files after a program.
func query(l *look) string { return l.afterPattern("fL", "fe") }

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
	return l.afterPattern("fFvi", "fe")
}

// fromFile is date, wc and du, which read a file that an option names.
func fromFile(l *look) string {
	for i, a := range l.args {
		name, value, joined := strings.Cut(a, "=")
		if name != "-f" && name != "--file" && name != "--files0-from" && name != "--reference" {
			continue
		}
		if !joined && i+1 < len(l.args) {
			value = l.args[i+1]
		}
		if id := l.touch(reads, value); id != "" {
			return id
		}
	}
	return ""
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
