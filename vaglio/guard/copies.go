package guard

import (
	"slices"
	"strings"
)

// dd reads if= and writes of=.
func dd(l *look) string {
	for _, a := range l.args {
		key, value, _ := strings.Cut(a, "=")
		d := reads
		switch key {
		case "of", "ofs", "hof", "wof", "wipe", "hwipe":
			d = replaces
		case "if", "hashlog", "log":
		default:
			continue
		}
		if id := l.touch(d, value); id != "" {
			return id
		}
		if d == replaces && strings.HasPrefix(value, "/dev/") && isOpaque(value[len("/dev/"):]) {
			return diskRule
		}
	}
	return ""
}

// archive is tar and its kin: it reads, and may remove what it packed.
func archive(l *look) string {
	options, operands := l.split()
	name, moves := programName(l.c), false
	switch {
	case strings.HasPrefix(name, "7z"):
		moves = slices.Contains(options, "-sdel")
	case name == "rar":
		moves = slices.Contains(options, "-df") || slices.Contains(options, "-dw") || (len(operands) > 0 && operands[0] == "m")
	case name == "zip":
		moves = hasOption(options, 'm', "move")
	}
	if strings.HasSuffix(name, "tar") {
		operands = l.inFolders()
		if id := l.each(reads, operands); id != "" {
			return id
		}
		if id := l.archiveFile(); id != "" {
			return id
		}
	}
	if moves || hasOption(options, 0, "remove-files") {
		if id := l.removeAll(empties, operands); id != "" {
			return id
		}
	}
	return l.operands(reads)
}

// archiveFile tries the file that tar writes its archive to.
func (l *look) archiveFile() string {
	for i, a := range l.args {
		first := i == 0 && a != "" && a[0] != '-'
		if !first && (len(a) < len("-c") || a[0] != '-' || a[1] == '-') || !strings.ContainsAny(a, "cru") || !strings.HasSuffix(a, "f") || i+1 == len(l.args) {
			continue
		}
		if to := l.args[i+1]; !strings.Contains(to, ":") {
			return l.touch(writes, to)
		}
	}
	return ""
}

// inFolders gives tar's operands below the folders that -C names.
func (l *look) inFolders() []string {
	var operands []string
	folder := ""
	for i := 0; i < len(l.args); i++ {
		a := l.args[i]
		to, found := strings.CutPrefix(a, "--directory=")
		switch {
		case (a == "-C" || a == "--directory" || a == "--cd") && i+1 < len(l.args):
			i++
			to, found = l.args[i], true
		case len(a) > 2 && strings.HasPrefix(a, "-C"):
			to, found = a[2:], true
		}
		switch {
		case found && (to == "" || to[0] == '/' || to[0] == '~' || folder == ""):
			folder = to
		case found:
			folder += "/" + to
		case a != "" && a[0] != '-' && (folder == "" || a[0] == '/' || a[0] == '~'):
			operands = append(operands, a)
		case a != "" && a[0] != '-':
			operands = append(operands, folder+"/"+a)
		}
	}
	return operands
}

// rsync reads its sources and, told to delete, empties its destination.
func rsync(l *look) string {
	options, operands := l.splitBy("efTBM", rsyncValued()...)
	if len(operands) < 2 {
		return l.operands(reads)
	}
	to := operands[len(operands)-1]
	dry := hasOption(options, 0, "dry-run") || hasShort(options, 'n')
	deletes := false
	for _, o := range options {
		deletes = deletes || strings.HasPrefix(o, "--del") || o == "--remove-source-files"
	}
	for _, o := range operands[:len(operands)-1] {
		if id := l.touch(reads, o); id != "" {
			return id
		}
		if hasOption(options, 0, "remove-source-files") && !dry {
			if id := l.touch(empties, o); id != "" {
				return id
			}
		}
	}
	local := to
	if host, rest, ok := strings.Cut(to, ":"); ok && !strings.Contains(host, "/") {
		local = rest
	}
	if deletes && !dry {
		if id := l.touch(empties, local); id != "" {
			return id
		}
	}
	if local != to {
		return ""
	}
	return l.into(to, operands[:len(operands)-1])
}

// rsyncValued are rsync's options that take the next word.
func rsyncValued() []string {
	return strings.Fields("exclude include filter rsh exclude-from include-from files-from rsync-path log-file log-file-format timeout contimeout bwlimit port password-file " +
		"backup-dir suffix temp-dir partial-dir compare-dest copy-dest link-dest max-size min-size block-size chmod chown out-format info debug max-delete modify-window iconv " +
		"usermap groupmap remote-option skip-compress compress-level compress-choice checksum-choice sockopts address protocol stop-after stop-at early-input")
}

func hasShort(options []string, letter byte) bool {
	for _, o := range options {
		if !strings.HasPrefix(o, "--") && strings.IndexByte(o[1:], letter) >= 0 {
			return true
		}
	}
	return false
}
