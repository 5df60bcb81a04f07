package guard

import (
	"regexp"
	"strings"
)

// rule is what all rules can say of themselves.
type rule struct {
	id, reason, why, instead string
}

func (r *rule) denial() Denial {
	return Denial{ID: r.id, Reason: r.reason, Why: r.why, Instead: r.instead}
}

// pathRule forbids a place. Its regular expression is written for Python; re
// is the same for Go, where "$" does not match before a final newline.
type pathRule struct {
	rule
	// lead or within must be in a text before re can match: a cheap first look.
	lead, within string
	re           *regexp.Regexp
	// telling rules forbid a name that no project folder has by chance.
	telling bool
}

func (r *pathRule) match(s string) bool {
	if r.lead != "" && !strings.HasPrefix(s, r.lead) {
		return false
	}
	return strings.Contains(s, r.within) && r.re.MatchString(s)
}

// commandRule forbids a command line. re has Python's idea of white space.
type commandRule struct {
	rule
	within string
	re     *regexp.Regexp
}

func (r *commandRule) match(s string) bool {
	return strings.Contains(s, r.within) && r.re.MatchString(s)
}

const rootID = "path.root"

// pathRules are the eleven forbidden paths in their order.
func pathRules() []pathRule {
	const (
		keys  = "Ask the user to do what needs the key, or name a path outside that folder."
		admin = "Ask the user to look or change this by hand, or work inside the workspace."
	)
	row := func(id, pattern, lead, within, why, instead string) pathRule {
		return pathRule{
			rule: rule{
				id:      id,
				reason:  "guard: forbidden path violated: pattern '" + doubled(pattern) + "' in args",
				why:     why,
				instead: instead,
			},
			lead: lead, within: within,
			telling: strings.HasPrefix(pattern, "^/etc/"),
			re:      regexp.MustCompile(strings.ReplaceAll(pattern, "$", `\n?\z`)),
		}
	}
	return []pathRule{
		row("path.ssh", `(^|/)\.ssh(/|$)`, "", ".ssh",
			"SSH keys open other machines, and a key that has left cannot be called back.", keys),
		row("path.auth", `^/etc/(passwd|shadow|sudoers)`, "/etc/", "",
			"These files decide who may log in and who may become root.", admin),
		row("path.sshd", `^/etc/ssh(/|$)`, "/etc/ssh", "",
			"The SSH server's keys and settings decide who may enter this machine.", admin),
		row(rootID, `^/root(/|$)`, "/root", "",
			"The administrator's home holds what belongs to nobody else.",
			"Work in the user's own folders, or ask the user to do it."),
		row("path.boot", `^/boot(/|$)`, "/boot", "",
			"A broken boot folder leaves a machine that does not start.", admin),
		row("path.sys", `^/sys(/|$)`, "/sys", "",
			"Files under /sys switch hardware and firmware at once.", admin),
		row("path.proc", `^/proc(/[0-9]|$)`, "/proc", "",
			"A process's folder shows its memory, environment and open files.",
			"Use a tool that lists processes, or read a file directly below /proc such as /proc/cpuinfo."),
		row("path.disk", `^/dev/(sd|nvme|mmcblk|loop)`, "/dev/", "",
			"A raw disk has no files to protect: one write can lose all of them.",
			"Work on files of the mounted file system, or ask the user to prepare the disk."),
		row("path.aws", `\.aws/credentials`, "", ".aws/credentials",
			"These credentials open a cloud account and whatever it may spend or delete.", keys),
		row("path.credentials", `\.config/[^/]+/credentials\.env`, "", "/credentials.env",
			"A credentials file opens the accounts it was made for.", keys),
		row("path.gnupg", `\.gnupg(/|$)`, "", ".gnupg",
			"GnuPG keys sign and decrypt in the user's name.", keys),
	}
}

// pythonSpace is what \s means in Python: ASCII and Unicode white space.
const pythonSpace = `[\t-\r\x1c- \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`

// commandRules are the six quasi-irrecoverable commands in their order. Go's
// \b sees a border also beside a letter outside ASCII, where Python sees none:
// that is stricter, never laxer.
func commandRules() []commandRule {
	const narrow = "Name exactly the files below the workspace that should go, one by one."
	row := func(id, pattern, within, why, instead string) commandRule {
		translated := strings.ReplaceAll(pattern, `\s`, pythonSpace)
		return commandRule{
			rule: rule{
				id:      id,
				reason:  "guard: quasi-irrecoverable shell command: '" + doubled(pattern) + "'",
				why:     why,
				instead: instead,
			},
			within: within,
			re:     regexp.MustCompile(strings.ReplaceAll(translated, "$", `\n?\z`)),
		}
	}
	return []commandRule{
		row("shell.rm_root", `\brm\s+-rf?\s+/(\s|$)`, "rm",
			"Removing the root of the file system cannot be undone.", narrow),
		row("shell.rm_home", `\brm\s+-rf?\s+~(\s|$|/)`, "rm",
			"Removing a home, or a tree named through it, cannot be undone.", narrow),
		row("shell.mkfs", `\bmkfs\b`, "mkfs",
			"Making a file system erases what was on the device.",
			"Ask the user to format the device, or use a file inside the workspace as an image."),
		row("shell.dd", `\bdd\s+.*\bof=/dev/`, "of=/dev/",
			"Writing to a device overwrites everything on it.",
			"Write to a file inside the workspace."),
		row("shell.forkbomb", `:\s*\(\s*\)\s*\{\s*:\|:&\s*\}`, ":|:&",
			"A fork bomb stops the machine until it is switched off.",
			"Start the processes that are needed, and no more."),
		row("shell.chmod", `\bchmod\s+-?R?\s*0?77[0-9]\s+/`, "chmod",
			"Opening an absolute path to everybody cannot be taken back: the old modes are lost.",
			"Give the needed right to one file by a relative path, such as chmod u+x ./run.sh."),
	}
}

// doubled writes a pattern as Python's repr does.
func doubled(pattern string) string { return strings.ReplaceAll(pattern, `\`, `\\`) }

// Rules returns the denial of every rule that there is, in the order of the
// documentation: what there must be words for, wherever denials are told.
func Rules() []Denial {
	var all []Denial
	for _, r := range pathRules() {
		all = append(all, r.denial())
	}
	for _, r := range commandRules() {
		all = append(all, r.denial())
	}
	for _, r := range append(structuralRules(), *ownRule(), *faultRule()) {
		all = append(all, r.denial())
	}
	return all
}

func ownRule() *rule {
	return &rule{
		id:      "own.path",
		reason:  "guard: forbidden path violated: vaglio's own files in args",
		why:     "Whoever can change the gate's own store, keys or settings is no longer held by the gate.",
		instead: "Use the gate's programming interface for an approval's state, or ask the user.",
	}
}

// faultID is the rule of a guard, or of its reader, that failed.
const faultID = "guard.fault"

func faultRule() *rule {
	return &rule{
		id:      faultID,
		reason:  "guard: the guard itself failed, so the call is denied",
		why:     "A guard that failed has examined nothing.",
		instead: "Report this with the executor's name and the names of its arguments.",
	}
}
