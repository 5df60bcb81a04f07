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
	b.WriteString("\n## The core\n\nThese patterns are held against every text in the arguments, in all its spellings; a mention is enough.\n\n| rule | pattern | why |\n|---|---|---|\n")
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
	b.WriteString("\n## Places\n\n`~` is any home, `**` any folders, a trailing `/**` the folder and all below it. A dash leaves the deed to the judges.\n")
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
	b.WriteString("\n## System trees\n\nRemoving one of these folders, or everything directly below it, is `" + treeSystem + "`; so is a folder directly below `/usr` or `/var` but tmp, www, cache, crash, folders, task, app, games and empty.\n\n")
	b.WriteString(patterns(places.Trees()) + "\n\n## Disks\n\nBelow /dev: " + patterns(places.Disks()) + ", disks and volumes by other names (`/dev/disk`, `/dev/mapper`, `/dev/<group>/<volume>`).\n")
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
	quoted := make([]string, len(all))
	for i, p := range all {
		quoted[i] = "`" + p + "`"
	}
	return strings.Join(quoted, ", ")
}

const documentHead = `# The guard

<!-- Written by go test ./vaglio/guard -run TestDocument -update; do not edit. -->

The guard is the first of the two phases: a list of what is not up for debate. It has no setting, no exception list and no score, and never asks a model. What it denies is final: nobody can allow it.

It looks twice. The core holds texts against patterns, where a mention is enough. Behind it a command line is read as a shell reads it (see the package vaglio/shell): wrappers are peeled, carried programs are read in turn, and each command is judged by what it would do to which target. There, what is quoted as data is no command. Other tools are judged by their names and the paths in their arguments.

What cannot be read is no matter for the guard. A command line that no shell would parse, a text beyond the limits (1 MiB, 100 levels, 64 folders mounted in one container, the budget of steps) and arguments that no JSON holds are sent back as an error of shape: the line, what is wrong, and nothing else. That is not final, nobody is notified, and nothing is judged; but what stands before it and breaks a rule is denied by that rule. Text that may be no shell's (typed keys, a program of another language, a command line inside another command, a construct in which shells differ) is left to the judges.

- A target beats a verb: a program that no table knows is denied a disk, an account file or a private key as an operand.
- What may be the root is the root: ` + "`\"$UNSET\"/*`, `\"$(cmd)/\"` and `/$X`" + ` are denied to a removal that recurses. ` + "`\"${DIR:?}\"/*`" + ` is not: it cannot be empty.
- A pattern of the shell counts as every name that it may match.
- What an ls, a find, a which, a ps or a lsblk of the same line prints counts as what it would print: ids out of a list of all processes are every process, a file that a find from / hands on by the name shadow is /etc/shadow.
- A statement or an option that reads a file (pg_read_file, .import, --device) is judged by that file; the rest of a statement is data.
- What cannot be read to its end is sent back: which line, and what is wrong. What is only known when it runs (a script file, a download, an eval of unknown text) is left to the judges, except where the known part already breaks a rule.

## Where commands stand

A call is read once, by the package vaglio/reading, and the guard and the judges use the same reading. It reads by shape: text under a key that names a command (command, cmd, commands, argv, script, bash, run, cli_command, pre_install_cmd and their kin, in any spelling) or a program (code, source_code, cell, python and their kin) is one under any executor: every such key, at any depth, in lists of lines and of words, in base64 where the key says so, in JSON inside a string, and in the cells of notebooks. Keys that name a command in company only (input, stdin, keys, text and their kin) count where the executor runs or types what it is given. Args beside a command are its words, stdin its input, cwd and workdir its folder, env its environment; a host or a container beside it adds a reading and takes none away. Code is read in the language that its key, the executor's name, an argument or its own looks tell.

A caller that names its client (context.client, which the hooks set) has the tools of that client read by a table (vaglio/clients): it says what their arguments are. A key that it does not list is read as above, and a tool that it lacks is asked.

Patches are read as what they do to files: those of apply_patch, git apply, git am and patch on a command line or in a file that can be read, and those among the arguments (an envelope, ` + "`*** Begin Patch`" + `, or a diff under a key that names one). A file that a program may know by either of two names counts by both.

Text that no shell would parse is sent back where the executor really is a shell (shell_exec, an executor with the capability code:exec, one that the catalog marks as a shell, one that is a shell by its name: Bash, run_command, mcp__x__bash). Elsewhere it may be a program of another language: what cannot be read is asked.

The patterns of the core for commands apply to shell_exec, to executors with the capability code:exec and to those that the catalog marks as shells alone, as they always did.

## vaglio's own commands

An agent may run ` + "`vaglio judge`, `vaglio hook`, `vaglio mcp`, `vaglio explain`, `vaglio policy check`, `vaglio version`" + ` and help: they judge or tell, and change nothing. Every other command of vaglio shows or changes what stands between the person and the gate, and is denied. What else vaglio is made of is found out at its start, and kept:

| what | how it is known | denied |
|---|---|---|
| data, keys, sockets, secrets | the data folder, the audit log, every file that a METNOS_*_FILE names, copies of the store by its name | all, and reading or packing whole folders of the home above them |
| policy, texts | METNOS_POLICY, METNOS_TEMPLATES | all |
| programs | the executables of the daemon and of every hook that is installed, where links lead | changing, replacing, packing away, hiding behind a mount (also one that a sandbox makes for one program), moving or removing them or a folder above them; installing a package or downloading a program of their name; putting what nobody names into their folder: an archive, a folder's content |
| settings | of every client that has the hook all files that may take it away, in a home, in a project, of the machine, whether they are there or not; of every other client the files of a project that hold hooks alone (.cursor/hooks.json and their kin) | changing them, by a patch in a file, too; starting a client with its hooks off (claude --bare, codex --disable hooks, opencode --pure, another HOME, CODEX_HOME or CLAUDE_CONFIG_DIR and their kin); and taking the hook or plugin named vaglio from a client by its own commands |
| its address | METNOS_LISTEN and METNOS_PUBLIC_URL, in every spelling of this machine, and from a container that shares its network, asks for its host or is given a name for it | every request but those that are for agents (/v1/, /healthz, /readyz, /metrics, /openapi.yaml) |
| its process | by number, by name, by command line, by its port, by its service or container, by its user | stopping it, taking hold of it (a debugger, its name spaces, a control group, the variables of its service), all that is below its folder in /proc, and what runs in its container or lies there |

What merely may change its programs or settings is asked: what an installer, a clone or a copy from elsewhere puts by names of its own into their folder (make install PREFIX=~/.local, where vaglio lies below it), what an archive, a patch or a branch puts into the folder above them in which a program works, removing a folder of a project in which clients look for hooks, a client in a container, searching or moving a whole home of another machine, and a variable with the gate's address.

Looking at its programs and settings, whether its service runs, what that wrote into the system's log, and reading about it, is free: neither its keys nor the links by which people sign in are ever written into a log. What an agent could do as the same user with a program of its own that hides what it does, this does not stop: the boundary for that is another user.

## Text that is written

What a Write, an Edit, a patch, a here-document or a redirection puts into a file that can be run is read when it is written: by its first line, by its name, or as what make, npm, just or task would run of it, whichever target is asked for. What would destroy a tree or a disk, stop every process or touch vaglio itself is denied then, with the file and the line. Only commands of this machine count of which every word is known: "$ROOTFS"/etc in a script is no folder yet. What a path holds elsewhere (a server's keys, its accounts) is left to when the script runs, and so is all that the judges weigh. Prose, data, and programs that nobody knows and that are given a forbidden command, as tests do, are not read as commands.

A program that the call or the session wrote into a file may build what it asks for from parts. Where it runs because a word names its file, or it is imported by one that does, it is denied when it holds the gate's address, or the name of what is closed of the gate, in any text. So it is, in a language of which only some calls are read, when it names a file that installs the hook and changes files, when it runs vaglio's own commands by a list of words, and when it stops its process by number; in one that is read, and of which it is not known to what it does that, a person is asked. Where a runner of tests or a tool finds it by itself a person is asked: what tests or serves another gate tells of this one, too. Files that a program only reads, prose, and texts that a shell would print do not count.
`

const documentTail = `
## Left to the effects judge on purpose

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
