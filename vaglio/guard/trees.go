package guard

import "strings"

// The rules about trees.
const (
	treeRoot   = "tree.root"
	treeHome   = "tree.home"
	treeSystem = "tree.system"
)

// systemTrees are the folders that belong to the system: to remove one, or
// everything directly below it, breaks the machine.
func systemTrees() []string {
	top := strings.Fields("bin boot dev etc lib lib32 lib64 libx32 opt proc run sbin srv sys usr var mnt media nix efi snap " +
		"System Library Applications Volumes private Network cores")
	more := strings.Fields("/home /Users /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/include /usr/local " +
		"/usr/local/bin /usr/local/sbin /usr/local/lib /var/lib /var/log /var/spool /var/mail /var/db /var/backups /var/run " +
		"/etc/systemd /etc/init.d /etc/alternatives /etc/ssl /etc/apt /etc/default /etc/profile.d /etc/network /etc/netplan /etc/X11 " +
		"/lib/modules /lib/systemd /lib/firmware /usr/lib/modules /usr/lib/systemd /usr/lib/firmware /usr/lib/python3 /usr/lib/jvm " +
		"/lib/*-linux-gnu* /usr/lib/*-linux-gnu* /var/lib/dpkg /var/lib/rpm /var/lib/pacman /var/lib/systemd /nix/store /nix/var " +
		"/private/etc /private/var /System/Library /System/Volumes /usr/share/man " +
		"/c: /c:/windows /c:/windows/system32 /c:/users /c:/programdata /mnt/? /d: /c")
	for _, t := range top {
		more = append(more, "/"+t)
	}
	return more
}

// treeAt says what a spot is the root of, or everything below it: "", treeRoot,
// treeHome or treeSystem. files says that only files could be meant.
func (g *Guard) treeAt(clean string) string {
	if !strings.HasPrefix(clean, "/") {
		return ""
	}
	var r room
	steps := stepsOf(clean, &r)
	for len(steps) > 0 && isWild(steps[len(steps)-1]) {
		steps = steps[:len(steps)-1]
	}
	if len(steps) == 0 {
		return treeRoot
	}
	if isOpaque(steps[0]) {
		return ""
	}
	if steps[0] == "mnt" && len(steps) > 1 && len(steps[1]) == 1 && isLetter(steps[1][0]) {
		steps = append([]string{steps[1] + ":"}, steps[2:]...)
		if len(steps) > 1 {
			steps[1] = strings.ToLower(steps[1])
		}
	}
	if g.isHome(steps) {
		return treeHome
	}
	const deepest = 3
	if len(steps) > deepest {
		return ""
	}
	if len(steps) == 1 && !isVague(steps[0]) {
		if _, ok := g.topTrees[steps[0]]; ok {
			return treeSystem
		}
		return ""
	}
	if len(steps) == 2 && (steps[0] == "usr" || steps[0] == "var") && !isVague(steps[1]) {
		return ofSystem(steps[1])
	}
	for _, t := range g.trees {
		if len(t) == len(steps) && matchSteps(t, steps) {
			return treeSystem
		}
	}
	return ""
}

// ofSystem says that a folder directly below /usr or /var is the system's.
func ofSystem(name string) string {
	switch name {
	case "tmp", "www", "cache", "crash", "folders", "task", "app", "games", "empty":
		return ""
	default:
		return treeSystem
	}
}

// isHome says whether steps lead to a home folder. A pattern that fits only
// some names is a home when it fits the user's own.
func (g *Guard) isHome(steps []string) bool {
	if matchSteps(g.homeSteps, steps) && len(g.homeSteps) > 0 {
		return true
	}
	switch len(steps) {
	case 1:
		return steps[0] == "root"
	case 2:
		if !meet(steps[0], "home") && !meet(steps[0], "Users") && steps[0] != "c:/users" {
			return steps[0] == "var" && steps[1] == "root"
		}
		return !isVague(steps[1]) || isOpaque(steps[1])
	case 3:
		return steps[0] == "c:" && steps[1] == "users"
	default:
		return false
	}
}

// homeOfSteps gives how many of the steps name a home, 0 if they do not begin
// with one.
func (g *Guard) homeOfSteps(steps []string) int {
	if n := len(g.homeSteps); n > 0 && len(steps) >= n && matchSteps(g.homeSteps, steps[:n]) {
		return n
	}
	switch {
	case len(steps) == 0:
		return 0
	case steps[0] == "root":
		return 1
	case len(steps) > 1 && (meet(steps[0], "home") || meet(steps[0], "Users")):
		return 2
	case len(steps) > 1 && steps[0] == "var" && steps[1] == "root":
		return 2
	case len(steps) > 2 && steps[0] == "c:" && steps[1] == "users":
		return 3
	default:
		return 0
	}
}
