package guard

import (
	"strings"
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
	o := l.options("")
	if len(l.cwds) == 1 && !isVague(l.cwds[0]) {
		o.Cwd = l.cwds[0]
	}
	id, problems := l.g.readLine(text, o, l.s.t)
	l.s.t.note("", problems, "", noText, false)
	if id == faultID {
		return "" // no line that this program would run
	}
	return id
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
