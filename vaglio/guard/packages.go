package guard

import (
	"slices"
	"strings"
)

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
		if isEssential(name) || isWild(o) || o == "*" || o == ".*" || o == "~i" || o == "?essential" {
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
func isEssential(name string) bool {
	switch name {
	case "libc6", "libc-bin", "libc6-amd64", "bash", "dash", "coreutils", "dpkg", "apt", "base-files", "base-passwd", "util-linux", "init", "init-system-helpers", "systemd",
		"systemd-sysv", "systemd-libs", "sysvinit-core", "sysvinit-utils", "sysvinit", "openrc", "login", "passwd", "mount", "e2fsprogs", "gzip", "tar", "grep", "sed", "gawk", "findutils",
		"hostname", "perl-base", "debianutils", "diffutils", "bsdutils", "ncurses-base", "ncurses-bin", "ncurses-libs", "libpam-runtime", "libpam0g", "libpam-modules", "pam",
		"zlib1g", "zlib", "libgcc-s1", "libgcc", "gcc-libs", "libselinux1", "libstdc++6", "libcrypt1", "glibc", "glibc-common", "glibc-minimal-langpack", "filesystem", "setup",
		"basesystem", "rpm", "rpm-libs", "dnf", "yum", "zypper", "musl", "busybox", "alpine-base", "alpine-baselayout", "apk-tools", "base", "pacman", "linux", "shadow",
		"shadow-utils", "portage", "initramfs-tools", "udev", "eudev", "snapd-core", "core", "pkg":
		return true
	default:
		return false
	}
}
