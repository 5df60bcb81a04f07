package guard

import (
	"slices"
	"strings"
)

// The rules about what lies below files.
const (
	formatRule = "disk.format"
	tableRule  = "disk.table"
	volumeRule = "disk.volume"
)

// isHelp says that a command only explains itself or only pretends.
func isHelp(l *look) bool {
	return len(l.args) == 0 || slices.ContainsFunc(l.args, func(a string) bool {
		switch a {
		case "--help", "-h", "--version", "-V", "--dry-run", "--test", "--usage":
			return true
		default:
			return false
		}
	})
}

// format is mkfs by all its names.
func format(l *look) string {
	if isHelp(l) {
		return ""
	}
	_, operands := l.split()
	if slices.ContainsFunc(operands, l.onDevice) {
		return formatRule
	}
	return l.operands(writes)
}

// onDevice says whether an operand is or may be a device rather than a file.
func (l *look) onDevice(o string) bool {
	if l.touch(uses, o) == diskRule {
		return true
	}
	return strings.HasPrefix(o, "/dev/") || (o != "" && isOpaque(o))
}

// always is a tool of which every call but a question for help breaks a rule.
func always(rule string) tool {
	return func(l *look) string {
		if isHelp(l) {
			return ""
		}
		return rule
	}
}

// whenTold breaks a rule when one of its words orders the harm. A word that
// ends in * stands for all that begin so.
func whenTold(rule string, orders ...string) tool {
	return func(l *look) string {
		if isHelp(l) {
			return ""
		}
		for _, a := range l.args {
			name, _, _ := strings.Cut(a, "=")
			for _, o := range orders {
				start, open := strings.CutSuffix(o, "*")
				if name == o || (open && strings.HasPrefix(a, start)) {
					return rule
				}
			}
		}
		return ""
	}
}

// withDisk breaks a rule when a disk is among the words.
func (l *look) withDisk(rule string) string {
	for _, a := range l.args {
		if a != "" && a[0] != '-' && l.onDevice(a) {
			return rule
		}
	}
	return ""
}

// mkswap may make a swap file, but not a swap disk.
func mkswap(l *look) string {
	if isHelp(l) {
		return ""
	}
	return l.withDisk(formatRule)
}

// wipefs lists unless it is told to erase.
func wipefs(l *look) string {
	options, _ := l.split()
	if hasOption(options, 'a', "all") || hasOption(options, 'o', "offset") {
		if !hasOption(options, 'n', "no-act") && !isHelp(l) {
			return formatRule
		}
	}
	return ""
}

// cryptsetup destroys by some of its actions.
func cryptsetup(l *look) string {
	_, operands := l.split()
	for _, o := range operands {
		switch o {
		case "luksFormat", "luksErase", "erase", "reencrypt", "luksHeaderRestore", "luksKillSlot", "luksRemoveKey", "format":
			if !isHelp(l) {
				return volumeRule
			}
		}
	}
	return ""
}

// parted changes the table by some of its commands.
func parted(l *look) string {
	if isHelp(l) {
		return ""
	}
	for _, a := range l.args {
		for _, order := range []string{"mklabel", "mktable", "mkpart", "rm", "resizepart", "rescue", "mkfs", "mkpartfs", "disk_set", "set", "toggle", "name", "type"} {
			if a == order || strings.HasPrefix(a, order+" ") {
				return tableRule
			}
		}
	}
	return l.fed(tableRule)
}

// fed breaks a rule when an interactive tool gets its orders from the command.
func (l *look) fed(rule string) string {
	if l.c != nil && (l.c.Stdin.Piped || l.c.Stdin.Kind != 0) {
		return rule
	}
	return ""
}

// fdisk and its kin change a partition table unless they are told to show it.
func fdisk(l *look) string {
	if isHelp(l) {
		return ""
	}
	options, operands := l.split()
	const shows = "lsxpidbvDFLJTV"
	for _, o := range options {
		switch {
		case o == "--list" || o == "--dump" || o == "--json" || o == "--verify" || o == "--print" || strings.HasPrefix(o, "--info") ||
			strings.HasPrefix(o, "--backup") || strings.HasPrefix(o, "--list-") || o == "--show-size" || o == "--show-geometry" || o == "--show-id":
			return ""
		case len(o) > 1 && o[1] != '-' && strings.IndexByte(shows, o[1]) >= 0 && !strings.ContainsAny(o, "ZzogG"):
			if programName(l.c) == "sgdisk" && (o[1] == 'd' || o[1] == 'l') {
				continue
			}
			return ""
		}
	}
	if len(operands) == 0 && len(options) > 0 {
		return tableRule
	}
	return l.withDisk(tableRule)
}

// tune2fs may set a label or a count, but not rewrite the file system.
func tune2fs(l *look) string {
	options, _ := l.split()
	for _, o := range options {
		if len(o) > 1 && strings.IndexByte("OIJUQ", o[1]) >= 0 {
			return l.withDisk(formatRule)
		}
	}
	return ""
}

// removeVolume is lvremove and its kin.
func removeVolume(l *look) string {
	if isHelp(l) || slices.Contains(l.args, "-t") {
		return ""
	}
	return volumeRule
}

// lvm runs its kin by their names.
func lvm(l *look) string {
	if len(l.args) == 0 {
		return ""
	}
	in := *l
	in.args = l.args[1:]
	switch l.args[0] {
	case "lvremove", "vgremove", "pvremove":
		return removeVolume(&in)
	case "pvcreate", "vgcreate", "vgextend":
		return in.withDisk(volumeRule)
	default:
		return ""
	}
}

// zfs destroys a file system; a snapshot is not one.
func zfs(l *look) string {
	if len(l.args) < 2 || isHelp(l) {
		return ""
	}
	options, operands := l.split()
	if operands == nil || operands[0] != "destroy" || hasShort(options, 'n') {
		return ""
	}
	for _, o := range operands[1:] {
		if !strings.ContainsAny(o, "@#") {
			return volumeRule
		}
	}
	return ""
}

// btrfs may delete a subvolume that is a system tree, or take a disk.
func btrfs(l *look) string {
	_, operands := l.split()
	if len(operands) < 2 {
		return ""
	}
	sub, verb := operands[0], operands[1]
	switch {
	case strings.HasPrefix("subvolume", sub) && strings.HasPrefix(verb, "del"):
		return l.removeAll(empties, operands[2:])
	case strings.HasPrefix("device", sub) && (verb == "add" || verb == "delete" || verb == "remove"), sub == "replace" && verb == "start",
		sub == "rescue" && (verb == "zero-log" || verb == "clear-uuid-tree"):
		return l.withDisk(volumeRule)
	default:
		return ""
	}
}

// fio writes to a disk unless it only reads.
func fio(l *look) string {
	for _, a := range l.args {
		if a == "--readonly" || a == "--rw=read" || a == "--rw=randread" || a == "--readwrite=read" {
			return ""
		}
	}
	return l.operands(uses)
}

// rescue copies a disk to a file, and never the other way.
func rescue(l *look) string {
	_, operands := l.split()
	if len(operands) > 1 {
		return l.touch(writes, operands[1])
	}
	return ""
}

// cloner is partclone, which writes what its output option names.
func cloner(l *look) string {
	for i, a := range l.args {
		name, value, joined := strings.Cut(a, "=")
		switch name {
		case "-o", "-O", "--output", "--overwrite":
			if !joined && i+1 < len(l.args) {
				value = l.args[i+1]
			}
			if id := l.touch(replaces, value); id != "" {
				return id
			}
		}
	}
	return ""
}

// qemuImage reads and writes images.
func qemuImage(l *look) string {
	_, operands := l.split()
	if len(operands) == 0 {
		return ""
	}
	switch operands[0] {
	case "info", "check", "map", "compare", "measure", "snapshot", "bench":
		return l.operands(reads)
	case "convert", "dd":
		if n := len(operands); n > 2 {
			return l.touch(writes, operands[n-1])
		}
		return dd(l)
	default:
		return l.operands(uses)
	}
}
