package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
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
	return client(l)
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
	return l.g.readLine(command, shell.Options{Home: l.g.home, User: l.g.user, Cwd: l.cwds[0]})
}

// filesRead tries the paths in a text that stand behind a word which reads
// them: all else in it is data.
func (l *look) filesRead(text string) string {
	if strings.IndexByte(text, '/') < 0 && strings.IndexByte(text, '~') < 0 {
		return ""
	}
	before := ""
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("'\"`(),;=<>{}[] \t\n", r) }) {
		if readsNext(strings.ToLower(before)) && looksLikePath(token) {
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
func readsNext(word string) bool {
	switch word {
	case "pg_read_file", "pg_read_binary_file", "lo_import", "load_file", "readfile", "infile", "read_csv", "read_csv_auto", "read_text", "read_blob", "read_json", "from",
		".import", ".read", ".open", ".restore", "\\i", "\\ir", "\\copy", "source", "\\.", "cat", "dump", "open", "shell", "attach", "file":
		return true
	default:
		return false
	}
}

// accounts is getent: it prints password hashes when asked for them.
func accounts(l *look) string {
	_, operands := l.splitBy("s", "service")
	if len(operands) > 0 && (operands[0] == "shadow" || operands[0] == "gshadow") {
		return authRead
	}
	return ""
}

// namedInput is a program that reads the file behind some of its options.
func namedInput(names ...string) tool {
	return func(l *look) string {
		for i, a := range l.args {
			for _, n := range names {
				value, joined := strings.CutPrefix(a, n+"=")
				switch {
				case a == n && i+1 < len(l.args):
					value = l.args[i+1]
				case !joined:
					continue
				}
				switch id := l.touch(reads, value); id {
				case authRead, keyRule, credRule, memoryRule:
					return id
				}
			}
		}
		return ""
	}
}

// hexDump is xxd, which may also write: its second operand.
func hexDump(l *look) string {
	_, operands := l.splitBy("cglosnR")
	if len(operands) > 1 {
		if id := l.touch(replaces, operands[1]); id != "" {
			return id
		}
	}
	return readFiles(l)
}

// physical is devmem: with a value it writes to raw memory.
func physical(l *look) string {
	const withValue = 3
	if len(l.args) >= withValue {
		return memoryRule
	}
	return ""
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
	case name == "userdel" && hasOption(options, 'r', "remove"), name == "deluser" && (hasOption(options, 0, "remove-home") || hasOption(options, 0, "remove-all-files")):
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

// crontab sets what runs at a time; root's runs as root.
func crontab(l *look) string {
	options, operands := l.splitBy("u")
	root := slices.Contains(l.args, "-uroot")
	for i, a := range l.args {
		root = root || (a == "-u" && i+1 < len(l.args) && l.args[i+1] == "root")
	}
	if root && (len(operands) > 0 || hasOption(options, 'r', "")) {
		return authWrite
	}
	return l.each(reads, operands)
}

// gio removes files by two of its commands.
func gio(l *look) string {
	_, operands := l.split()
	if len(operands) > 1 && (operands[0] == "trash" || operands[0] == "remove") {
		return l.removeAll(empties, operands[1:])
	}
	return l.operands(uses)
}
