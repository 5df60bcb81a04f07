package guard

import (
	"slices"
	"strings"
)

// database is a client that sends the statements in its words: a statement
// may read a file of this machine.
func database(l *look) string {
	for _, a := range l.args {
		if id := l.filesRead(a); id != "" {
			return id
		}
		if id := l.runsProgram(a); id != "" {
			return id
		}
	}
	return l.words("psql")
}

// runsProgram tries the command that a statement hands to a shell: copy from
// program '...'.
func (l *look) runsProgram(statement string) string {
	at := strings.Index(strings.ToLower(statement), "program '")
	if at < 0 {
		return ""
	}
	command, _, ok := strings.Cut(statement[at+len("program '"):], "'")
	if !ok || len(l.cwds) != 1 || isVague(statement) {
		return ""
	}
	id, problems := l.g.readLine(command, l.options(l.cwds[0]), l.s.t)
	l.s.t.note("", problems, "", noText, false)
	return id
}

// filesRead tries the paths in a text that stand behind a word which reads
// them: all else in it is data.
func (l *look) filesRead(text string) string {
	if strings.IndexByte(text, '/') < 0 && strings.IndexByte(text, '~') < 0 {
		return ""
	}
	before := ""
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("'\"`(),;=<>{}[] \t\n", r) }) {
		if l.readsNext(strings.ToLower(before)) && looksLikePath(token) {
			switch id := l.touch(reads, token); id {
			case authRead, keyRule, credRule, memoryRule, ownID:
				return id
			}
		}
		before = token
	}
	return ""
}

// readsNext says whether a word of a statement or of a command reads the file
// behind it.
func (l *look) readsNext(word string) bool {
	return l.g.base.Nouns["reads-next"][word]
}

// accountOfRoot is passwd and its kin: they manage accounts, but neither open
// root's nor make another one of root.
func accountOfRoot(l *look) string {
	options, operands := l.splitBy("pugGdsceloS")
	for i, a := range l.args {
		if a == "-ou0" || a == "-u0" || a == "--uid=0" {
			return authWrite
		}
		if i+1 < len(l.args) && l.args[i+1] == "0" && (a == "--uid" || (len(a) > 1 && a[0] == '-' && a[1] != '-' && a[len(a)-1] == 'u')) {
			return authWrite
		}
	}
	switch name := programName(l.c); {
	case name == "chpasswd":
		text, _ := l.c.Stdin.Text.Text()
		for line := range strings.Lines(text) {
			if name, _, _ := strings.Cut(line, ":"); name == "root" || name == l.g.user && name != "" {
				return authWrite // it locks out the person
			}
		}
	case name == "userdel" && hasOption(options, 'r', "remove"), name == "deluser" && (hasOption(options, 0, "remove-home") ||
		hasOption(options, 0, "remove-all-files")):
		if l.g.user != "" && slices.Contains(operands, l.g.user) {
			return treeHome
		}
	}
	if !slices.Contains(operands, "root") && !slices.Contains(l.args, "root") {
		return ""
	}
	switch programName(l.c) {
	case "userdel":
		return authWrite
	case "passwd":
		if hasOption(options, 'd', "delete") || hasOption(options, 'u', "unlock") {
			return authWrite
		}
	case "usermod":
		if hasOption(options, 'p', "password") || hasOption(options, 'U', "unlock") {
			return authWrite
		}
	}
	return ""
}
