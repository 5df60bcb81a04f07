package reading

import (
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

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

// roleNames are the roles in their order, as the classes of words name them.
func roleNames() []string {
	return strings.Fields("command script code typed prose program words input folder base env settings language host box path source goal " +
		"named glob data url method body saved recipient statement claim patch content mark core pid thing")
}

// RoleByName gives the role of a name, false if there is none.
func RoleByName(name string) (Role, bool) {
	i := slices.Index(roleNames(), name)
	return 1 << max(i, 0), i >= 0
}

// keyTable gives the roles of keys in their normal form.
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

// keyEndings are the endings of keys that have a role.
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
		if program, ok := strings.CutSuffix(plain, end); ok && wordclass.Is("program-key", program) {
			return program
		}
	}
	return ""
}
