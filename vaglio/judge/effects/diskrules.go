package effects

import "strings"

func diskTool(c *call) []Effect {
	text := " " + join(c.all)
	if c.name == "swapoff" || c.name == "umount" {
		return one(KindPrivilege, "changes mounts or swap: "+c.name+text, c.rest(0))
	}
	if c.diskReads() {
		return reads()
	}
	switch c.name {
	case "swapon", "swapoff", "umount", "losetup":
		return one(KindPrivilege, "changes mounts or swap: "+c.name+text, c.rest(0))
	}
	if len(c.operands) > 0 && c.r.world.placeOf(c.operands[len(c.operands)-1], c.cwd) == placeWorkspace && strings.HasPrefix(c.name, "mkfs") {
		return own("formats a file of the workspace")
	}
	return []Effect{usual(KindPrivilege).with("changes disks or file systems: "+c.name+text, c.rest(0)).as(Irreversible, ReachSystem)}
}

// diskReads reports whether a disk tool only looks. The same letter looks in
// one tool and erases in the next.
func (c *call) diskReads() bool {
	if c.has("--help", "--version", "--dry-run", "--no-act") {
		return true
	}
	first, second := c.operand(0), c.operand(1)
	switch c.name {
	case "parted":
		return c.has("-l", "--list") || len(c.operands) > 1 && second == "print" && len(c.operands) <= 3
	case "fdisk", "sfdisk", "gdisk", "sgdisk", "cfdisk":
		return c.has("-l", "--list", "-p", "--print", "-d", "--dump", "-J", "--json", "-x", "--list-details", "-i", "--info", "-v", "--verify", "-s", "-V") && !c.has("-Z", "--zap-all", "-o", "--clear", "-n", "--new", "--delete", "-z", "--zap")
	case "wipefs":
		return !c.has("-a", "--all", "-o", "--offset") || c.has("-n")
	case "losetup":
		return len(c.all) == 0 || c.has("-a", "--all", "-l", "--list", "-j", "--associated", "-J") && !c.has("-d", "-D", "--detach", "--detach-all")
	case "swapon":
		return len(c.all) == 0 || c.has("--show", "-s", "--summary")
	case "mdadm":
		return c.has("--detail", "-D", "--examine", "-E", "--query", "-Q", "--detail-platform", "-X") && !c.has("--stop", "-S", "--zero-superblock", "--fail", "--remove", "-C", "--create")
	case "hdparm":
		return c.has("-I", "-i", "-t", "-T", "-g", "-C") && !c.has("-Y", "-y", "-z", "--security-erase")
	case "smartctl":
		return c.has("-a", "-i", "-H", "-x", "-l", "-A", "-c", "--all", "--xall", "--info", "--health", "--scan", "--scan-open", "--attributes", "--json") && !c.has("-t", "--test", "-s", "--smart", "-X")
	case "blockdev":
		return strings.Contains(join(c.all), "--get") || c.has("--report")
	case "tune2fs", "resize2fs", "kpartx":
		return c.has("-l", "-P") && len(c.flags) <= 1
	case "e2fsck", "fsck", "xfs_repair", "ntfsfix", "xfs_growfs", "mke2fs":
		return c.has("-n")
	case "mkfs.ext2", "mkfs.ext3", "mkfs.ext4":
		return c.has("-n")
	case "mkfs.xfs":
		return c.has("-N")
	case "partprobe":
		return c.has("-d", "-s") && !c.has("-a")
	case "multipath":
		return c.has("-l", "-ll")
	case "badblocks":
		return !c.has("-w", "-n")
	case "zpool", "zfs":
		return first == "list" || first == "status" || first == "iostat" || first == "history" || first == "get" || first == "events" || first == "diff" || first == "holds" || first == "version" || first == "" || c.has("-n") && first != "send"
	case "btrfs":
		switch first + " " + second {
		case "subvolume list", "subvolume show", "filesystem df", "filesystem show", "filesystem usage", "filesystem du", "device stats", "device usage", "scrub status", "balance status", "property get", "property list", "qgroup show", "inspect-internal dump-tree", "subvolume get-default", "fi df", "fi show", "fi usage":
			return true
		}
	case "cryptsetup":
		return first == "isLuks" || first == "luksDump" || first == "status" || first == "luksUUID" || first == "benchmark"
	case "dmsetup":
		return first == "ls" || first == "info" || first == "status" || first == "table" || first == "deps" || first == "targets" || first == "version" || first == "splitname"
	case "nvme":
		return strings.HasPrefix(first, "list") || strings.HasSuffix(first, "-log") || strings.HasPrefix(first, "id-") || strings.HasPrefix(first, "get-") || strings.HasPrefix(first, "show-") || first == "help" || first == "version"
	case "diskutil":
		return first == "list" || first == "info" || first == "listFilesystems" || strings.HasPrefix(first, "verify") || first == "activity" || (first == "apfs" || first == "cs" || first == "appleRAID") && strings.HasPrefix(second, "list")
	case "hdiutil":
		return first == "info" || first == "imageinfo" || first == "verify" || first == "" || first == "help"
	case "testdisk":
		return c.has("/list")
	}
	return false
}
