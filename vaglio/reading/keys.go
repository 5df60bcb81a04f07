package reading

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Role is what an argument is for, according to its key. A key may have several roles.
type Role uint64

// The roles of arguments.
const (
	// RoleCommand is a command line, or a list of lines or of words.
	RoleCommand Role = 1 << iota
	// RoleScript is a command line or a program, whichever the text looks like.
	RoleScript
	// RoleCode is a program in a language other than the shell's.
	RoleCode
	// RoleTyped is the input of an executor that runs things.
	RoleTyped
	// RoleProse is any text; it counts as typed if the executor types.
	RoleProse
	// RoleProgram is a program's name, if its words are beside it.
	RoleProgram
	// RoleWords are the words of a program that is named beside them.
	RoleWords
	// RoleInput is the standard input of a command beside it.
	RoleInput
	// RoleFolder is where a command runs, RoleBase where relative paths may start.
	RoleFolder
	RoleBase
	// RoleEnv holds variables, RoleSettings a map of any of these surroundings.
	RoleEnv
	RoleSettings
	// RoleLanguage names a language or an interpreter.
	RoleLanguage
	// RoleHost and RoleBox name another machine and a container.
	RoleHost
	RoleBox
	// RolePath is a path, RoleSource one that is copied or moved, RoleGoal its destination. RoleNamed may be a path.
	RolePath
	RoleSource
	RoleGoal
	RoleNamed
	// RoleGlob is a pattern for names.
	RoleGlob
	// RoleData is content that nobody opens or runs.
	RoleData
	// RoleURL is an address, RoleMethod the method of the request, RoleBody its body, RoleSaved the file that the answer is saved in.
	RoleURL
	RoleMethod
	RoleBody
	RoleSaved
	// RoleRecipient is somebody who receives a message.
	RoleRecipient
	// RoleStatement is a database statement.
	RoleStatement
	// RoleClaim claims that nothing is changed.
	RoleClaim
	// RolePatch is a patch.
	RolePatch
	// RoleContent is the new content of the file named beside it.
	RoleContent
	// RoleMark selects one of the executor's several verbs.
	RoleMark
	// roleCore marks the keys of the guard's core.
	roleCore
	// RolePid is a process by number; RoleThing is a process, service or package by name.
	RolePid
	RoleThing
)

// RoleRuns holds the roles under which a text runs, whatever the executor.
const RoleRuns = RoleCommand | RoleScript | RoleCode

// roleNames lists the roles in their order, as the word classes name them.
func roleNames() []string {
	return strings.Fields("command script code typed prose program words input folder base env settings language host box path source goal " +
		"named glob data url method body saved recipient statement claim patch content mark core pid thing")
}

// RoleByName returns the role of that name; false if there is none.
func RoleByName(name string) (Role, bool) {
	i := slices.Index(roleNames(), name)
	return 1 << max(i, 0), i >= 0
}

// keyTable returns the roles of keys in their normal form.
var keyTable = sync.OnceValue(func() map[string]Role { //nolint:gochecknoglobals // It is read once and never changed.
	table := map[string]Role{}
	words := wordclass.Kinds("key")
	for i, name := range roleNames() {
		for _, key := range words[name] {
			table[key] |= 1 << i
		}
	}
	return table
})

// Normal returns a key in lower case, without the marks between its words.
func Normal(key string) string {
	return string(normal(make([]byte, 0, 64), key)) // more than the longest key that has roles
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

// roleOf returns the roles of a key from the table, or else by its ending, so that cli_command, pre_install_cmd and build_script hold what they say.
func (r *Reader) roleOf(key string) (role Role) {
	plain := normal(make([]byte, 0, 64), key)
	if role, ok := r.keys[string(plain)]; ok {
		return role
	}
	for _, end := range r.endings {
		if bytes.HasSuffix(plain, []byte(end.text)) {
			role |= end.role
		}
	}
	return role
}

// ending is the ending of keys that have a role without being in the table.
type ending struct {
	text string
	role Role
}

// keyEndings returns the endings of keys that have a role.
var keyEndings = sync.OnceValue(func() []ending { //nolint:gochecknoglobals // It is read once and never changed.
	var all []ending
	words := wordclass.Kinds("key-end")
	for i, name := range roleNames() {
		for _, end := range words[name] {
			all = append(all, ending{end, 1 << i})
		}
	}
	return all
})

// encoded reports whether a key says that its value is in base64.
func encoded(key string) bool {
	plain := Normal(key)
	return strings.HasSuffix(plain, "b64") || strings.HasSuffix(plain, "base64") || strings.HasPrefix(plain, "encoded")
}

// keyProgram returns the program that a key names and that its command lines may omit: kubectl_command, git_command.
func keyProgram(key string) string {
	plain := Normal(key)
	for _, end := range [...]string{"command", "cmd", "args"} {
		if program, ok := strings.CutSuffix(plain, end); ok && wordclass.Is("program-key", program) {
			return program
		}
	}
	return ""
}
