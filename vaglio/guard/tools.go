package guard

import "strings"

// toolTable says what the known programs do. A nil tool has words that are
// data, or only lists.
func toolTable() map[string]tool {
	t := map[string]tool{}
	add := func(do tool, names string) {
		for name := range strings.FieldsSeq(names) {
			t[name] = do
		}
	}
	addData(add)
	addFiles(add)
	addDisks(add)
	addOthers(add)
	return t
}

// addData names what cannot do harm with its words.
func addData(add func(tool, string)) {
	add(nil, "echo printf print : true false test [ [[ export declare typeset local readonly alias unalias set unset shift return exit break continue "+
		"cd chdir pushd popd dirs pwd read mapfile readarray getopts let expr seq sleep wait jobs fg bg disown trap umask ulimit hash type which whereis whatis man info "+
		"apropos help tldr cheat command builtin basename dirname realpath readlink ll stat tree exa eza lsd lsattr getfacl mountpoint namei id groups "+
		"whoami cal uname hostname uptime free top htop btop who w last lastlog finger env printenv tput clear wall notify-send say figlet cowsay mkdir "+
		"locate mlocate plocate updatedb stty tty nproc arch umount swapon swapoff blkid blockdev smartctl eject udevadm udisksctl losetup partprobe partx kpartx "+
		"iostat hwinfo inxi lshw dmidecode lscpu lspci lsusb sync fsck e2fsck fsck.ext2 fsck.ext3 fsck.ext4 fsck.xfs fsck.vfat fsck.fat fsck.btrfs fsck.exfat dosfsck ntfsfix xfs_repair resize2fs xfs_growfs "+
		"e2label dosfslabel fatlabel exfatlabel ntfslabel swaplabel xfs_admin xfs_info dumpe2fs e2freefrag filefrag e2image xfsdump photorec testdisk hdparm-read growpart fstrim "+
		"lvs vgs pvs lvdisplay vgdisplay pvdisplay lvscan vgscan pvscan lvmdiskscan lvcreate lvextend lvresize lvreduce lvrename lvchange lvconvert vgchange vgrename vgcfgbackup vgcfgrestore vgck "+
		"pvresize pvmove pvck pvchange pvs multipath iscsiadm compgen complete bind history fc shopt times caller enable suspend logout "+
		"git-log apt-cache groupadd chage visudo "+
		"fdisk-list gnome-disks isosize timedatectl hostnamectl journalctl dmesg systemd-analyze strings-of commit say diskutil-list")
}

func addFiles(add func(tool, string)) {
	add(remove, "rm rmdir unlink srm rimraf del-cli trash trash-put rd del erase Remove-Item ri wipe sfill rmtree")
	add(destroy, "shred truncate scrub")
	add(move, "mv rename ren move Move-Item")
	add(install, "install ginstall")
	add(copyFiles, "cp gcp pcp xcp ditto Copy-Item")
	add(link, "ln")
	add(readFiles, "cat tac head tail less more most bat batcat nl od hexdump hd strings base64 base32 basenc uuencode cut sort uniq tr rev paste join comm diff cmp sdiff colordiff "+
		"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum crc32 shasum gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd zstdcat lz4 pigz pv "+
		"column fold fmt pr split csplit shuf tsort iconv file openssl cksfv hashdeep mbuffer cpio look expand unexpand vis")
	add(hexDump, "xxd")
	add(namedInput("-f", "--file"), "logger at batch")
	add(crontab, "crontab")
	add(gio, "gio")
	add(archive, "tar bsdtar gtar zip 7z 7za 7zz rar ar zipinfo")
	add(writeFiles, "tee sponge touch fallocate mktemp-at mkfifo mknod")
	add(edit, "sed gsed")
	add(search, "grep egrep fgrep zgrep bzgrep xzgrep rg ag ack ack-grep pcregrep ugrep ripgrep")
	add(script, "awk gawk mawk nawk")
	add(query, "jq yq gojq jaq xq tomlq xmlstarlet xmllint")
	add(dd, "dd dcfldd dc3dd gdd sg_dd sgp_dd sgm_dd")
	add(rsync, "rsync")
	add(find, "find gfind")
	add(gitCommand, "git hub")
	add(fromFile, "date wc du")
	add(mount, "mount")
	add(list, "ls dir vdir")
	add(fdFind, "fd fdfind")
	add(chmod, "chmod gchmod")
	add(chown, "chown chgrp gchown")
	add(acl, "setfacl chattr chcon")
	add(capabilities, "setcap")
}

func addDisks(add func(tool, string)) {
	add(format, "mkfs mke2fs mkntfs mkdosfs mkexfatfs newfs mkudffs mkreiserfs mkjfs mkfs-btrfs bcachefs make_f2fs mformat newfs_msdos newfs_hfs newfs_apfs make-bcache mkfs_msdos")
	add(mkswap, "mkswap pvcreate vgcreate vgextend grub-install grub2-install lilo extlinux syslinux bootsect ms-sys install-mbr")
	add(wipefs, "wipefs")
	add(always(formatRule), "blkdiscard sg_format sg_sanitize sg_unmap sg_write_same diskpart nwipe dban")
	add(cryptsetup, "cryptsetup cryptsetup-reencrypt")
	add(parted, "parted gparted")
	add(fdisk, "fdisk sfdisk gdisk sgdisk cfdisk cgdisk fixparts")
	add(tune2fs, "tune2fs tunefs.ocfs2 tune.exfat")
	add(removeVolume, "lvremove vgremove pvremove")
	add(whenTold(volumeRule, "--force", "-f", "-ff"), "vgreduce")
	add(lvm, "lvm")
	add(zfs, "zfs")
	add(btrfs, "btrfs")
	add(fio, "fio")
	add(rescue, "ddrescue gddrescue dd_rescue myrescue")
	add(qemuImage, "qemu-img")
	add(whenTold(volumeRule, "destroy", "labelclear", "create"), "zpool")
	add(whenTold(volumeRule, "--create", "-C*", "--build", "-B", "--zero-superblock"), "mdadm")
	add(whenTold(formatRule, "format", "sanitize", "write", "write-zeroes", "write-uncor", "dsm", "delete-ns", "create-ns", "fw-download", "fw-activate", "fw-commit", "security-send", "sanitize-log-clear"), "nvme")
	add(whenTold(formatRule, "--security-erase*", "--security-set-pass", "--trim-sector-ranges*", "--write-sector", "--repair-sector", "--make-bad-sector", "--fwdownload*", "--dco-restore",
		"--sanitize*", "--security-disable", "--drq-hsm-error"), "hdparm")
	add(whenTold(formatRule, "eraseDisk", "eraseVolume", "partitionDisk", "reformat", "zeroDisk", "randomDisk", "secureErase", "eraseOptical", "deleteContainer", "deleteVolume", "eraseVolume",
		"resetFusion", "destroy", "mergePartitions", "splitPartition"), "diskutil")
	add(whenTold(formatRule, "-w", "-wsv*", "-ws*", "-wv*", "-sw*", "-vw*", "-svw*"), "badblocks")
	add(whenTold(formatRule, "-w"), "debugfs")
	add(whenTold(volumeRule, "remove_all", "wipe_table"), "dmsetup")
	add(whenTold(volumeRule, "wipe-md", "create-md", "down-all"), "drbdadm drbdmeta")
	add(whenTold(volumeRule, "zap"), "ceph-volume ceph-disk")
	add(whenTold(tableRule, "destroy", "delete", "create", "bootcode"), "gpart")
	add(whenTold(formatRule, "-w", "--write", "-E", "--erase"), "flashrom")
	add(whenTold(formatRule, "-E", "-rE"), "dmraid")
	add(whenTold(formatRule, "erase", "write"), "mtd")
	add(bootEntries, "efibootmgr")
	add(formatDrive, "format format.com")
}

func addOthers(add func(tool, string)) {
	add(kill, "kill")
	add(killByName, "pkill killall skill slay")
	add(func(*look) string { return killRule }, "killall5")
	add(listProcesses, "ps")
	add(mounts, "findmnt lsblk df")
	add(closeFiles, "fuser")
	add(openFiles, "lsof")
	add(sessions, "loginctl")
	add(debugger, "gdb lldb strace ltrace gcore ptrace perf")
	add(packages, "apt apt-get aptitude dpkg rpm dnf yum microdnf zypper pacman yay paru apk emerge xbps-remove opkg brew snap flatpak pkg pkg_delete port")
	add(accounts, "getent")
	add(accountOfRoot, "passwd usermod useradd userdel deluser adduser chpasswd")
	add(database, "psql mysql mariadb sqlite3 duckdb mysqlsh")
	add(physical, "devmem devmem2")
	add(searchProcess, "pgrep pidof")
	add(service, "systemctl service launchctl rc-service initctl sv supervisorctl pm2 s6-svc tmux screen nomad")
	add(container, "docker podman nerdctl docker-compose podman-compose")
	add(vaglioCommand, "vaglio")
	add(secureShell, "ssh mosh autossh ssh-add ssh-keygen ssh-copy-id ssh-keyscan sshpass ssh-agent sshd dropbear sshfs")
	add(secureCopy, "scp sftp pscp psftp lftp")
	add(download, "curl wget aria2c")
	add(goTool, "go")
	add(cluster, "kubectl oc helm")
	add(client, "aws gcloud gsutil az npm npx pnpm yarn pip pip3 uv pipx twine poetry cargo gh glab terraform tofu terragrunt pulumi ansible-playbook ansible-vault vault "+
		"mysqldump mongosh redis-cli k9s kubectx stern flux argocd fly vercel netlify heroku doctl rclone restic borg s3cmd gem bundle composer mvn gradle http https xh")
	add(gpg, "gpg gpg2 gpgv gpgconf pass gopass age sops")
	add(keychain, "security")
	add(sysctl, "sysctl")
	add(xargs, "xargs parallel")
	add(playbook, "ansible")
	add(fleet, "salt salt-call salt-ssh pssh parallel-ssh pdsh clush dsh mussh fab mco bolt knife consul")
	add(cmdExe, "cmd")
}

// familyTool knows programs by the beginning of their names.
func familyTool(name string) (tool, bool) {
	switch {
	case strings.HasPrefix(name, "mkfs."), strings.HasPrefix(name, "newfs_"):
		return format, true
	case strings.HasPrefix(name, "fsck."):
		return nil, true
	case strings.HasPrefix(name, "ld-linux"), strings.HasPrefix(name, "ld-musl"):
		return loader, true
	case strings.HasPrefix(name, "sg_"):
		return nil, true
	case strings.HasPrefix(name, "partclone."):
		return cloner, true
	default:
		return nil, false
	}
}

// carriedPrograms are the names that an unknown wrapper's words are searched
// for.
func carriedPrograms() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("rm shred dd mkfs chmod chown find sh bash zsh dash ksh python python3 perl ruby node vaglio wipefs blkdiscard mke2fs mv rsync sudo env truncate tee") {
		names[name] = true
	}
	return names
}
