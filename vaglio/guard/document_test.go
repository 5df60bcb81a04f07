package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/place"
)

const document = "../../docs/guard.md"

// TestDocument compares docs/guard.md with the tables. Run it with -update after changing a
// table.
func TestDocument(t *testing.T) { golden.Check(t, document, documentText()) }

func documentText() string {
	var b strings.Builder
	b.WriteString(documentHead)
	b.WriteString("\n## The core\n\nEach pattern is matched against every text in the arguments, in all its spellings. A mention is enough.\n\n| rule | pattern | why |\n|---|---|---|\n")
	table, _ := builtIn()
	for _, r := range table {
		if r.pattern != "" {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r.id, strings.ReplaceAll(r.pattern, "|", `\|`), r.why)
		}
	}
	b.WriteString("\n## What a call would do\n\n| rule | denied because | why | instead |\n|---|---|---|---|\n")
	for _, r := range append(slices.Clip(table), faultRule()) {
		if r.pattern == "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.id, r.what, r.why, r.instead)
		}
	}
	b.WriteString("\n## Places\n\n`~` is any home, `**` any folders, a trailing `/**` the folder and all below it. Braces list alternatives. A dash means that the judges decide.\n")
	places, err := place.Load("", false)
	if err != nil {
		return err.Error()
	}
	for _, p := range places.Rows() {
		if p.Reading+p.Writing+p.Replacing+p.Removing == "" {
			continue
		}
		fmt.Fprintf(&b, "\n### %s%s\n\nreading: %s · writing: %s · removing: %s\n\n", strings.ToUpper(p.What[:1]), p.What[1:], deedText(p.Reading), deedText(p.Writing), deedText(p.Removing))
		if p.Copying != "" {
			fmt.Fprintf(&b, "Copying or packing a folder of a home that holds it: %s\n\n", deedText(p.Copying))
		}
		fmt.Fprintf(&b, "%s\n", patterns(p.Where))
		if len(p.Except) > 0 {
			fmt.Fprintf(&b, "\nFree below: %s\n", patterns(p.Except))
		}
	}
	b.WriteString("\n## System trees\n\nRemoving one of these folders, or everything directly below it, is `" + treeSystem + "`; so is any folder directly below `/usr` or `/var` except tmp, www, cache, crash, folders, task, app, games and empty.\n\n")
	where := map[string][]string{}
	for _, r := range places.Rows() {
		for _, p := range r.Where {
			where[r.What] = append(where[r.What], strings.TrimPrefix(p, "/dev/"))
		}
	}
	b.WriteString(patterns(where["system trees"]) + "\n\n## Disks\n\nBelow /dev: " + patterns(where["disks"]) + ", disks and volumes by other names (`/dev/disk`, `/dev/mapper`, `/dev/<group>/<volume>`).\n")
	b.WriteString(documentTail)
	return b.String()
}

func deedText(id string) string {
	if id == "" {
		return "–"
	}
	return "`" + id + "`"
}

func patterns(all []string) string {
	quoted := make([]string, 0, len(all))
	for _, p := range folded(all) {
		quoted = append(quoted, "`"+p+"`")
	}
	return strings.Join(quoted, ", ")
}

// folded writes the patterns of folders that hold the same names as one: {/bin,/usr/bin}/{ls,cp}.
func folded(all []string) []string {
	names := map[string][]string{} // by folder
	for _, p := range all {
		folder, name := inFolder(p)
		names[folder] = append(names[folder], name)
	}
	alike := map[string][]string{} // folders, by their names
	for _, p := range all {
		folder, _ := inFolder(p)
		if same := strings.Join(names[folder], ","); !slices.Contains(alike[same], folder) {
			alike[same] = append(alike[same], folder)
		}
	}
	var result []string
	for _, p := range all {
		folder, _ := inFolder(p)
		same := strings.Join(names[folder], ",")
		switch folders := alike[same]; {
		case len(names[folder]) < 3 || len(folders) < 2:
			result = append(result, p)
		case folder == folders[0]:
			if one := fmt.Sprintf("{%s}{%s}", strings.Join(folders, ","), same); !slices.Contains(result, one) {
				result = append(result, one)
			}
		}
	}
	return result
}

// inFolder cuts a pattern behind the folder that is named exactly.
func inFolder(p string) (string, string) {
	if folder, _, deep := strings.Cut(p, "/**/"); deep {
		return folder + "/**", strings.TrimPrefix(p, folder+"/**")
	}
	at := strings.LastIndex(p, "/") + 1
	return p[:max(at-1, 0)], p[max(at-1, 0):]
}

const documentHead = `# The guard

<!-- Written by go test ./vaglio/guard -run TestDocument -update; do not edit. -->

This page lists everything that the guard denies. The guard is the first of two phases: fixed rules, without a setting, an exception list, a score or a model. Its denials are final: nobody can allow what it denies.

It looks twice:

- The **core** matches every text in the arguments against patterns. A mention is enough.
- Then a command line is read as a shell reads it (package vaglio/shell): wrappers are removed, programs carried in other commands are read in turn, and each command is judged by what it would do to which target. Quoted data is not a command here. Other tools are judged by their names and by the paths in their arguments.

What cannot be read is not the guard's business. Three things are sent back as malformed: a command line that no shell would parse; a text beyond the limits (1 MiB, 100 levels, 64 folders mounted in one container, the budget of steps); and arguments that no JSON can hold. The agent is told the line and what is wrong. The error is not final, nobody is notified and nothing is judged, but a part before it that breaks a rule is denied by that rule. Text that may not be a shell's (typed keys, a program in another language, a command line inside another command, a construct that shells read differently) is left to the judges.

- A target beats a verb: a program that no table knows may not have a disk, an account file or a private key as an operand.
- What may be the root is the root: ` + "`\"$UNSET\"/*`" + `, ` + "`\"$(cmd)/\"`" + ` and ` + "`/$X`" + ` are denied to a recursive removal. ` + "`\"${DIR:?}\"/*`" + ` is not, because it cannot be empty.
- A shell pattern counts as every name that it may match; a search's also as names that begin with a dot. A pattern in a project
  that may only match credentials by a name, as "cat .*rc" does, is no denial: a person is asked.
- The output of ls, find, which, ps or lsblk on the same line counts as what it would print, unless head or tail leaves only some of it. IDs taken from a list of all processes are every process; a file named shadow that a find from / hands on is /etc/shadow.
- A list of names counts as what it holds, where a program reads what the list names (tar -T, cpio -o, rsync --files-from). What a search selects by its whole path (find -path) counts as that path below some folder.
- A statement or an option that reads a file (pg_read_file, .import, --device) is judged by that file; the rest of a statement is data.
- What is known only when it runs (a script file, a download, an eval of unknown text) is left to the judges, unless the known part already breaks a rule.

## Where commands stand

A call is read once, by the package vaglio/reading; the guard and the judges use the same reading. It goes by shape, under any executor:

- Text under a key that names a command is a command: command, cmd, commands, argv, script, bash, run, cli_command, pre_install_cmd and similar keys, in any spelling.
- Text under a key that names a program is a program: code, source_code, cell, python and similar keys. Its language is told by the key, the executor's name, another argument, or the text itself.
- Every such key counts, at any depth, in lists of lines and of words, in base64 where the key says so, in JSON inside a string, and in the cells of notebooks.
- Keys that name a command only in context (input, stdin, keys, text and similar keys) count where the executor runs or types what it is given.
- Beside a command, args are its words, stdin is its input, cwd and workdir are its folder, and env is its environment. A host or a container adds a reading and takes none away.

If the caller names its client (context.client, which the hooks set), a table says what the arguments of that client's tools are (vaglio/clients). A key that the table does not list is read as above; a call of a tool that it lacks is asked about.

Patches are read as what they do to files: those of apply_patch, git apply, git am and patch, on a command line or in a file that can be read, and those among the arguments (an envelope, ` + "`*** Begin Patch`" + `, or a diff under a key that names one). A file that a program may know by either of two names counts under both.

Text that no shell would parse is sent back if the executor really is a shell: shell_exec, an executor with the capability code:exec, one that the catalog marks as a shell, or one that is a shell by its name (Bash, run_command, mcp__x__bash). Elsewhere it may be a program in another language, so it is asked about.

The core's patterns for commands apply only to shell_exec, to executors with the capability code:exec and to those that the catalog marks as shells.

## vaglio's own commands

An agent may run ` + "`vaglio judge`" + `, ` + "`vaglio hook`" + `, ` + "`vaglio mcp`" + `, ` + "`vaglio explain`" + `, ` + "`vaglio policy check`" + `, ` + "`vaglio version`" + ` and help: they judge or tell, and change nothing. Every other command of vaglio shows or changes what stands between the person and the gate, and is denied. At its start the gate finds out what else it is made of:

| what | how it is known | denied |
|---|---|---|
| data, keys, sockets, secrets | the data folder, the audit log, every file that a METNOS_*_FILE names, copies of the store by its name | everything, and reading or packing whole folders of the home above them |
| policy, texts | METNOS_POLICY, METNOS_TEMPLATES | everything |
| programs | the executables of the daemon and of every installed hook, where links lead | changing, replacing, packing away, moving or removing them or a folder above them; hiding them behind a mount, even one that a sandbox makes for one program; installing a package or downloading a program of their name; putting files that the call does not name into their folder, such as an archive or a folder's content |
| settings | of every client that has the hook, all files that may take it away, in a home, in a project or of the machine, whether they exist or not; of every other client, the files of a project that hold only hooks (.cursor/hooks.json and similar files) | changing them, also by a patch in a file; starting a client with its hooks off (claude --bare, codex --disable hooks, opencode --pure, another HOME, CODEX_HOME or CLAUDE_CONFIG_DIR, and similar ways); taking the hook or plugin named vaglio from a client by the client's own commands |
| its address | METNOS_LISTEN and METNOS_PUBLIC_URL, in every spelling of this machine, and from a container that shares its network, asks for its host or is given a name for it | every request except those meant for agents (/v1/, /healthz, /readyz, /metrics, /openapi.yaml) |
| its process | by number, name, command line, port, service, container or user | stopping it; taking hold of it (a debugger, its namespaces, a control group, the variables of its service); everything below its folder in /proc; what runs in its container or lies there |

What only *may* change its programs or settings is asked about:

- an installer, a clone or a copy from elsewhere that puts files under names of its own into their folder (make install PREFIX=~/.local, if vaglio lies below it)
- what an archive, a patch or a branch puts into the folder above them in which a program works
- an archive that cannot be listed, unpacked where settings lie that name the hook or cannot be read. Those that are tar (plain, gzip, bzip2) or zip, up to 4 MiB, are listed: what would land on the gate's files, or on a client's settings in the project where the call begins, is denied
- removing a folder of a project in which clients look for hooks, if nothing of that lies there; else it is denied
- a client in a container
- its program copied, also by its content, or linked to by another name
- a program that goes through a range of this machine's ports with the gate's among them
- a client's settings or their folder, named to a script or a program of the project that was not read
- searching or moving a whole home of another machine
- a variable with the gate's address, and the address among the words of git, pip and the like

An agent may look at the gate's programs and settings, at whether its service runs and at what the service wrote into the system's log, and may read about it: neither keys nor sign-in links are ever written to a log. The guard does not stop a program of the agent's own that runs as the same user and hides what it does. The boundary for that is another user.

## Text that is written

What a Write, an Edit, a patch, a here-document or a redirection puts into a file that can be run is read when it is written: by its first line, by its name, or as what make, npm, just or task would run of it, for any target. It is denied at that point, with the file and the line, if it would destroy a tree or a disk, stop every process or touch vaglio itself. Only commands of this machine whose every word is known count: "$ROOTFS"/etc in a script is not a folder yet. What a path holds elsewhere (a server's keys, its accounts) is left to when the script runs, and so is everything that the judges weigh. Prose, data, and unknown programs that are given a forbidden command, as in tests, are not read as commands.

Some files have the agent's client run commands that nobody asks the gate about: hooks and servers in the settings of an agent or a skill, commands whose output a client puts into a prompt. What a call writes, copies or moves there is read for such commands. All rules count for them, and a person is asked about the others; without any, such a file is one like others.

A program that the call or the session wrote may assemble from parts what it asks for. If it runs because a word names its file, or because another such program imports it, it is denied if one of its texts holds the gate's address or the name of something of the gate that is closed. In a language of which only some calls are read, it is also denied if it names a file that installs the hook and changes files, runs vaglio's own commands from a list of words, or stops vaglio by its number; in a language that is read, a person is asked if the target of such a call is not known. A person is also asked if a test runner or a tool finds the program by itself: what tests or serves another gate mentions this one, too. Files that a program only reads, prose, and texts that a shell would print do not count.
`

const documentTail = `
## Left to the effects judge on purpose

A pattern of the core counts all the same, since a mention is enough: "ls ~/.ssh/" and "ssh -i ~/.ssh/key" are denied, "ssh -i ~/keys/key"
is not. A key below ~/.ssh needs no mention: ssh takes it by its usual name, or as IdentityFile in the user's settings says.

| what | why |
|---|---|
| listing, testing or naming a forbidden place (ls, stat, test -f, find without an action) | tells a name, not the content |
| programs that use a credential by themselves (ssh -i, kubectl --kubeconfig, aws, gcloud, git, gpg --verify, curl --key) | that is what the credential is for |
| .env, .npmrc, server.key, *.pem and *.p12 in a workspace | everyday files of a project; a person is asked |
| shell histories, ~/.m2/settings.xml, ~/.gradle, ~/.config/pip, ~/.dbt, ~/.config/gcloud/configurations | hold a secret now and then, are read honestly every day |
| /etc/group, /etc/ssh/sshd_config, /etc/hosts, ordinary settings below /etc | hold no secret; writing the first two is denied |
| adding to ~/.npmrc, ~/.pypirc, ~/.kube/config, ~/.docker/config.json, ~/.aws/config | logging in writes them |
| ~/Documents, ~/.config, /opt/app, /var/www, /srv/x, one folder below a tree | somebody's data, but not a home or a system: a person is asked |
| find with a test that leaves most files out, below any folder | cleaning |
| reading a disk to make an image, fsck, resize2fs, labels, lvreduce, vgreduce, mounting | repair and care; a person is asked |
| /sys/class, /sys/devices, cgroups, /proc/sys outside kernel | lights, fans, limits |
| useradd, usermod, passwd and their kin for others than root and the user, crontab for others than root, visudo, systemctl, shutdown, iptables | change the machine by its own tools; a person is asked |
| programs that print a credential by themselves (gh auth token, gcloud auth print-access-token, aws configure get, pass show, vault read) | their words name no file; a person is asked |
| copying, packing, serving or searching all of /etc, a home or the root | backups and searches do it now and then; a person is asked because of the keys below, and one pattern or name that means a secret there is denied |
| removing a service's data below /var/lib (docker, mysql, postgresql) | lost for good, but not the system; a person is asked |
| removing packages that the system is not made of, old kernels among them | the package manager knows what needs them; a person is asked |
| repair of a file system or a volume (fsck -y, xfs_repair -L, lvreduce) | care, with its own risk; a person is asked |
| rm -rf of the workspace itself | the user's own, and in version control as a rule |
| a path in which two unknown names must both be empty to hit a tree | "$dir/$name" is in every second script |
| docker run without a mount of this machine | the container is thrown away |
`
