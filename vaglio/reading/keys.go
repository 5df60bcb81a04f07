package reading

import "strings"

// Role is what an argument is for, as its key says. A key may have several.
type Role uint64

// The roles of arguments.
const (
	// RoleCommand is a command line, or a list of lines or of words.
	RoleCommand Role = 1 << iota
	// RoleScript is a command line or a program, as its text shows.
	RoleScript
	// RoleCode is a program of another language than the shell's.
	RoleCode
	// RoleTyped is what an executor that runs things reads as its input.
	RoleTyped
	// RoleProse is a text of any kind: typed where the executor types.
	RoleProse
	// RoleProgram is a program's name where its words stand beside it.
	RoleProgram
	// RoleWords are the words of a program that is named beside them.
	RoleWords
	// RoleInput is a command's standard input where a command is beside it.
	RoleInput
	// RoleFolder is where a command runs, RoleBase where paths may begin.
	RoleFolder
	RoleBase
	// RoleEnv are variables, RoleSettings a map of any of these surroundings.
	RoleEnv
	RoleSettings
	// RoleLanguage names a language or an interpreter.
	RoleLanguage
	// RoleHost and RoleBox name another machine and a container.
	RoleHost
	RoleBox
	// RolePath is a path, RoleSource one that is copied or moved, RoleGoal one
	// that it goes to. RoleNamed may be a path.
	RolePath
	RoleSource
	RoleGoal
	RoleNamed
	// RoleGlob is a pattern of names.
	RoleGlob
	// RoleData is content, which nobody opens and nobody runs.
	RoleData
	// RoleURL is an address, RoleMethod how it is asked, RoleBody what it is
	// sent, RoleSaved the file in which the answer is kept.
	RoleURL
	RoleMethod
	RoleBody
	RoleSaved
	// RoleRecipient is somebody who is written to.
	RoleRecipient
	// RoleStatement is a statement of a database.
	RoleStatement
	// RoleClaim says that nothing is to be changed.
	RoleClaim
	// RolePatch is a patch.
	RolePatch
	// RoleContent is what a file beside it would hold.
	RoleContent
	// RoleMark says which verb of several the executor is to do.
	RoleMark
	// roleCore are the keys of the guard's core.
	roleCore
	// RolePid is a process by its number, RoleThing a process, a service or a
	// package by its name.
	RolePid
	RoleThing
)

// runs are the roles under which a text is run, whatever the executor.
const runs = RoleCommand | RoleScript | RoleCode

// keyLine are keys in their normal form that share roles.
type keyLine struct {
	role Role
	keys string
}

// keyTable gives the roles of keys in their normal form.
func keyTable() map[string]Role {
	table := map[string]Role{}
	for _, line := range append(runKeys(), thingKeys()...) {
		for key := range strings.FieldsSeq(line.keys) {
			table[key] |= line.role
		}
	}
	return table
}

// runKeys are the keys of what is run and of what surrounds it.
func runKeys() []keyLine {
	return []keyLine{
		{RoleCommand | roleCore, "command cmd commands cmds commandline cmdline"},
		{RoleCommand | roleCore | RoleWords, "argv"},
		{RoleScript | roleCore, "script"},
		{RoleCode | roleCore, "code"},
		{RoleTyped | RoleInput | roleCore, "stdin"},
		{RoleCommand, "commandstring commandtext shellcommand shellcmd bashcommand bashcmd shcommand runcommand execcommand shell bash sh zsh " +
			"powershell pwsh run exec execute " +
			"shelltext shellline bashline commandlist commandlines"},
		{RoleCommand | RoleTyped, "keystrokes"},
		{RoleScript, "scripts shellscript bashscript scripttext scriptcontent scriptbody scriptblock oneliner"},
		{RoleCode, "sourcecode cell cellsource cellcontent cellcode codeblock codesnippet codetext program python python3 javascript " +
			"typescript js ts node nodejs ruby perl php lua pythoncode jscode pythonscript inlinecode"},
		{RoleTyped, "chars line keys source statement expression expr __arg1 arg1 file input"},
		{RoleProse, "text data content contents payload query prompt instruction instructions message body q x c todo task"},
		{RoleProgram, "executable binary program exe file filename path command cmd"},
		{RoleWords, "args arguments parameters params flags"},
		{RoleInput, "input stdindata standardinput"},
		{RoleFolder, "cwd workdir workingdirectory workingdir dir directory pwd currentdirectory currentdir currentworkingdirectory " +
			"initialdirectory chdir basedir"},
		{RoleBase, "cwd pwd workdir workingdirectory workingdir dir directory folder basepath basedir basefolder base root rootdir rootpath " +
			"parent parentdir parentpath dirname " +
			"dirpath folderpath directorypath prefix location"},
		{RoleEnv, "env environment envvars environmentvariables"},
		{RoleSettings, "options opts config settings"},
		{RoleLanguage, "language lang interpreter runtime shell kernel kernelname"},
		{RoleHost, "host hostname server remote"},
		{RoleBox, "container containerid containername pod"},
	}
}

// thingKeys are the keys of what a call is about.
func thingKeys() []keyLine {
	return []keyLine{
		{RolePath, "path paths file files filename filepath filepaths targetfile notebookpath absolutepath relativepath relativeworkspacepath " +
			"dir directory folder directorypath dirpath edits"},
		{RolePath | RoleGoal, "target"},
		{RoleSource, "source src from oldpath sourcepath originalpath"},
		{RoleGoal, "destination dest dst to newpath targetpath destinationpath newname"},
		{RoleGoal | RoleSaved, "output outputpath outputfile"},
		{RoleSaved, "saveto path destination filename file"},
		{RoleNamed, "filenames directories input inputpath inputfile attachment attachments location uri root base basepath name uris items entries"},
		{RoleNamed | RoleGoal, "targets"},
		{RoleGlob, "pattern glob globs include exclude patterns"},
		{RoleData, "content contents text body message query prompt description subject title comment comments summary oldstring newstring " +
			"oldstr newstr oldtext newtext inserttext filetext " +
			"data html markdown note notes question answer reason thought explanation instructions replacement search find regex replace diff " +
			"patch code snippet label caption value sql " +
			"todo todos template intent plan reasoning"},
		{RoleContent, "content contents filetext filecontent newstring newstr newtext newsource inserttext"},
		{RoleURL, "url uri endpoint address href"},
		{RoleMethod, "method httpmethod verb requestmethod"},
		{RoleBody, "body data json payload"},
		{RoleRecipient, "to recipient recipients attendees participants assignee assignees useremail emails email invitees guests sharedwith " +
			"sharewith cc bcc"},
		{RoleStatement, "sql query statement sqlquery queries statements querystring"},
		{RoleClaim, "dryrun preview simulate validateonly checkonly noop whatif planonly mode"},
		{RolePatch | RoleData, "patch patches diff diffs patchtext difftext patchcontent diffcontent unifieddiff"},
		{RoleMark, "action operation op verb method mode actiontype operationtype command"},
		{RolePid, "pid processid pids id process"},
		{RoleThing, "name names process processname service servicename unit unitname package packages packagename target pattern program app command"},
	}
}

// longestKey is how long a key with a role of its own may be.
const longestKey = 64

// Normal is a key in lower case and without the marks between its words.
func Normal(key string) string {
	var room [longestKey]byte
	return string(normal(room[:0], key))
}

func normal(into []byte, key string) []byte {
	for i := range len(key) {
		switch c := key[i]; {
		case c == '_' || c == '-' || c == ' ' || c == '.':
		case 'A' <= c && c <= 'Z':
			into = append(into, c+'a'-'A')
		default:
			into = append(into, c)
		}
	}
	return into
}

// roleOf gives the roles of a key by the table, and otherwise by its ending:
// cli_command, pre_install_cmd and build_script hold what they say.
func (r *Reader) roleOf(key string) Role {
	var room [longestKey]byte
	plain := normal(room[:0], key)
	if role, ok := r.keys[string(plain)]; ok {
		return role
	}
	for _, end := range r.endings {
		if n := len(plain) - len(end.text); n >= 0 && string(plain[n:]) == end.text {
			return end.role
		}
	}
	return 0
}

// ending is how keys end that have a role without being in the table.
type ending struct {
	text string
	role Role
}

func keyEndings() []ending {
	return []ending{
		{"command", RoleCommand},
		{"commands", RoleCommand},
		{"cmd", RoleCommand},
		{"cmds", RoleCommand},
		{"commandline", RoleCommand},
		{"cmdline", RoleCommand},
		{"commandb64", RoleCommand},
		{"cmdb64", RoleCommand},
		{"commandbase64", RoleCommand},
		{"cmdbase64", RoleCommand},
		{"encodedcommand", RoleCommand},
		{"script", RoleScript},
		{"scriptb64", RoleScript},
		{"scriptbase64", RoleScript},
		{"sourcecode", RoleCode},
		{"codeb64", RoleCode},
		{"codebase64", RoleCode},
	}
}

// encoded says that what stands under a key is written in base64.
func encoded(key string) bool {
	plain := Normal(key)
	return strings.HasSuffix(plain, "b64") || strings.HasSuffix(plain, "base64") || strings.HasPrefix(plain, "encoded")
}

// keyProgram gives the program that a key names whose command lines may leave
// it out: kubectl_command, git_command.
func keyProgram(key string) string {
	plain := Normal(key)
	for _, end := range [...]string{"command", "cmd", "args"} {
		program, ok := strings.CutSuffix(plain, end)
		if !ok {
			continue
		}
		switch program {
		case "aws", "gcloud", "az", "kubectl", "gh", "git", "docker", "terraform", "helm", "npm":
			return program
		}
	}
	return ""
}
