package guard

import "strings"

// toolTable holds the programs of which more must be found out than what they
// do to the words that the knowledge base tells of.
func toolTable() map[string]tool {
	t := map[string]tool{}
	add := func(do tool, names string) {
		for name := range strings.FieldsSeq(names) {
			t[name] = do
		}
	}
	addFiles(add)
	addProcesses(add)
	addCarriers(add)
	return t
}

func addFiles(add func(tool, string)) {
	add(install, "install ginstall")
	add(link, "ln")
	add(edit, "sed gsed")
	add(search, "grep egrep fgrep zgrep bzgrep xzgrep rg ag ack ack-grep pcregrep ugrep ripgrep")
	add(script, "awk gawk mawk nawk")
	add(find, "find gfind")
	add(gitCommand, "git hub")
	add(mount, "mount")
	add(list, "ls dir vdir")
	add(fdFind, "fd fdfind")
	add(chmod, "chmod gchmod")
	add(chown, "chown chgrp gchown")
	add(acl, "setfacl chattr chcon")
	add(capabilities, "setcap")
	add(sysctl, "sysctl")
	add(registry, "reg")
}

func addProcesses(add func(tool, string)) {
	add(kill, "kill")
	add(killByName, "pkill killall skill slay")
	add(listProcesses, "ps")
	add(mounts, "findmnt lsblk df")
	add(closeFiles, "fuser")
	add(openFiles, "lsof")
	add(debugger, "gdb lldb strace ltrace gcore ptrace perf")
	add(searchProcess, "pgrep pidof")
	add(service, "systemctl service launchctl rc-service initctl sv supervisorctl pm2 s6-svc tmux screen nomad")
	add(packages, "apt apt-get aptitude dpkg rpm dnf yum microdnf zypper pacman yay paru apk emerge xbps-remove opkg brew snap flatpak pkg pkg_delete port")
	add(accountOfRoot, "passwd usermod useradd userdel deluser adduser chpasswd")
	add(vaglioCommand, "vaglio")
}

func addCarriers(add func(tool, string)) {
	add(database, "psql mysql mariadb sqlite3 duckdb mysqlsh")
	add(container, "docker podman nerdctl docker-compose podman-compose")
	add(goTool, "go")
	add(cluster, "kubectl oc helm")
	add(xargs, "xargs parallel")
	add(playbook, "ansible")
	add(fleet, "salt salt-call salt-ssh pssh parallel-ssh pdsh clush dsh mussh fab mco bolt knife consul")
}

// carriedPrograms are the names that an unknown wrapper's words are searched
// for.
func carriedPrograms() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("rm shred dd mkfs chmod chown find sh bash zsh dash ksh python python3 perl ruby node vaglio " +
		"wipefs blkdiscard mke2fs mv rsync sudo env truncate tee") {
		names[name] = true
	}
	return names
}
