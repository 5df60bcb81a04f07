package guard

import (
	"slices"
	"strings"
)

// tool examines one command of a known program.
type tool func(*look) string

// split parts the words into options and operands. Everything after -- is an
// operand.
func (l *look) split() (options, operands []string) {
	for i, a := range l.args {
		if a == "--" {
			return options, append(operands, l.args[i+1:]...)
		}
		if len(a) > 1 && a[0] == '-' {
			options = append(options, a)
		} else {
			operands = append(operands, a)
		}
	}
	return options, operands
}

// splitBy is split for a program whose options take values of their own: the
// short ones by letter, the long ones by name.
func (l *look) splitBy(letters string, long ...string) (options, operands []string) {
	for i := 0; i < len(l.args); i++ {
		a := l.args[i]
		switch {
		case a == "--":
			return options, append(operands, l.args[i+1:]...)
		case len(a) < 2 || a[0] != '-':
			operands = append(operands, a)
		case a[1] == '-':
			options = append(options, a)
			if slices.Contains(long, a[2:]) {
				i++
			}
		default:
			options = append(options, a)
			if strings.IndexByte(letters, a[len(a)-1]) >= 0 {
				i++
			}
		}
	}
	return options, operands
}

// hasOption says whether options hold a short letter, alone or in a bundle, or
// a long name or an unmistakable beginning of it.
func hasOption(options []string, short byte, long string) bool {
	for _, o := range options {
		if strings.HasPrefix(o, "--") {
			name, _, _ := strings.Cut(o[2:], "=")
			const least = 2
			if long != "" && len(name) >= least && strings.HasPrefix(long, name) {
				return true
			}
			continue
		}
		if short != 0 && strings.IndexByte(o[1:], short) >= 0 {
			return true
		}
	}
	return false
}

// list is ls. What it shows with its folder may be fed to another command.
func list(l *look) string {
	options, operands := l.split()
	if l.s == nil {
		return ""
	}
	l.s.listed = append(l.s.listed, operands...)
	for _, o := range operands {
		if hasShort(options, 'd') || isVague(o) {
			l.s.shown = append(l.s.shown, o)
		}
	}
	return ""
}

func (l *look) removeAll(d deed, operands []string) string {
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		if id := l.touch(d, o); id != "" {
			return id
		}
		if strings.Trim(o, "/") == string(perhaps) && d == empties && l.s != nil && slices.Contains(l.s.listed, "/") &&
			l.comesFrom("sed", "awk", "xargs", "grep") {
			return treeRoot
		}
		if o == string(perhaps) && l.listed() {
			if id := l.each(d, l.s.shown); id != "" {
				return id
			}
			for _, cwd := range l.cwds {
				if id := l.rule(empties, cwd, true); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// listed says that the command's unknown words come from a listing of its own
// folder.
func (l *look) listed() bool {
	return l.s != nil && l.comesFrom("ls", "find", "dir")
}

// comesFrom says that a part of the command's words is the output of one of
// some programs.
func (l *look) comesFrom(programs ...string) bool {
	if l.c == nil {
		return false
	}
	for _, w := range l.c.Argv {
		for _, p := range w.Parts() {
			if p.From != "" && slices.Contains(programs, p.From) {
				return true
			}
		}
	}
	return false
}

func (l *look) each(d deed, operands []string) string {
	for _, o := range operands {
		if id := l.touch(d, o); id != "" {
			return id
		}
	}
	return ""
}

// destination splits operands into sources and where they go: the last one, or
// what -t names.
func (l *look) destination() (options, sources []string, to string) {
	options, operands := l.splitBy("Sgmo", "suffix", "backup-suffix", "mode", "owner", "group", "context")
	for i, a := range l.args {
		switch {
		case a == "--":
		case a == "-t" || a == "--target-directory":
			if i+1 < len(l.args) {
				to = l.args[i+1]
			}
		case strings.HasPrefix(a, "--t") && strings.Contains(a, "="):
			_, to, _ = strings.Cut(a, "=")
		case strings.HasPrefix(a, "-t") && len(a) > 2:
			to = a[2:]
		}
	}
	if to != "" {
		return options, slices.DeleteFunc(operands, func(o string) bool { return o == to }), to
	}
	if n := len(operands); n > 1 {
		return options, operands[:n-1], operands[n-1]
	}
	return options, operands, ""
}

// edit is sed, whose script may write files by itself.
func edit(l *look) string {
	for _, a := range l.args {
		if to, ok := writtenBySed(a); ok {
			if id := l.touch(writes, to); id != "" {
				return id
			}
		}
	}
	return l.words("sed")
}

// writtenBySed is the file that the w command of a sed script names.
func writtenBySed(program string) (string, bool) {
	for line := range strings.FieldsFuncSeq(program, func(r rune) bool { return r == ';' || r == '\n' }) {
		order := strings.TrimLeft(line, "0123456789,$!{} \t")
		if to, ok := strings.CutPrefix(order, "w "); ok {
			return strings.TrimSpace(to), true
		}
		if i := strings.LastIndex(order, "/w "); i > 0 && order[0] == 's' {
			return strings.TrimSpace(order[i+len("/w "):]), true
		}
	}
	return "", false
}

// search reads files after a pattern.
func search(l *look) string {
	for _, a := range l.args {
		l.pick(a)
	}
	return l.words("grep")
}

func hasShort(options []string, letter byte) bool {
	for _, o := range options {
		if !strings.HasPrefix(o, "--") && strings.IndexByte(o[1:], letter) >= 0 {
			return true
		}
	}
	return false
}
