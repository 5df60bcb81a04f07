package guard

import (
	"strings"
)

// dd reads if= and writes of=.
func dd(l *look) string {
	for _, a := range l.args {
		key, value, _ := strings.Cut(a, "=")
		d := reads
		switch key {
		case "of", "ofs", "hof", "wof":
			d = writes
		case "if", "hashlog", "log":
		default:
			continue
		}
		if id := l.touch(d, value); id != "" {
			return id
		}
		if d == writes && strings.HasPrefix(value, "/dev/") && isOpaque(value[len("/dev/"):]) {
			return diskRule
		}
	}
	return ""
}

// archive is tar and its kin: it reads, and may remove what it packed.
func archive(l *look) string {
	options, operands := l.split()
	if hasOption(options, 0, "remove-files") || (programName(l.c) == "zip" && hasOption(options, 'm', "move")) {
		if id := l.removeAll(empties, operands); id != "" {
			return id
		}
	}
	return l.operands(reads)
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
