package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// fleet is a program that runs command lines on many machines, this one often
// among them: each of its words may be such a line.
func fleet(l *look) string {
	for _, a := range l.args {
		if id := l.lineRule(a); id != "" {
			return id
		}
	}
	return l.unknownProgram()
}

// lineRule gives the rule that a word breaks if it is a command line.
func (l *look) lineRule(text string) string {
	if !strings.Contains(text, " ") || strings.ContainsAny(text, vague) || l.depth > 1 {
		return ""
	}
	o := shell.Options{Home: l.g.home, User: l.g.user}
	if len(l.cwds) == 1 && !isVague(l.cwds[0]) {
		o.Cwd = l.cwds[0]
	}
	switch id := l.g.readLine(text, o); id {
	case unreadableRule, limitRule, readerRule:
		return "" // no line, or none that this program would run
	default:
		return id
	}
}

// playbook is ansible: what its module does stands in the module's arguments.
func playbook(l *look) string {
	for _, a := range l.args {
		if !strings.Contains(a, "=") {
			continue
		}
		removes := strings.Contains(a, "state=absent")
		for field := range strings.FieldsSeq(a) {
			name, value, _ := strings.Cut(field, "=")
			d := writes
			if removes {
				d = empties
			}
			switch name {
			case "path", "dest", "name":
				if id := l.touch(d, value); id != "" && (value == "" || value[0] == '/' || value[0] == '~') {
					return id
				}
			}
		}
	}
	return fleet(l)
}
