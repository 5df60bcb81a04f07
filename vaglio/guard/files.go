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

// remove is rm and all that removes its operands.
func remove(l *look) string {
	options, operands := l.split()
	d := removes
	if hasOption(options, 'r', "recursive") || hasOption(options, 'R', "") {
		d = empties
	}
	return l.removeAll(d, operands)
}

// destroy is shred, truncate and the like: the content goes, the name stays.
func destroy(l *look) string {
	_, operands := l.split()
	if id := l.removeAll(removes, operands); id != "" {
		return id
	}
	return l.each(replaces, operands)
}

func (l *look) removeAll(d deed, operands []string) string {
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		if id := l.touch(d, o); id != "" {
			return id
		}
		if strings.Trim(o, "/") == string(perhaps) && d == empties && l.s != nil && slices.Contains(l.s.listed, "/") && l.comesFrom("sed", "awk", "xargs", "grep") {
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

// into writes sources to a destination that may be a folder.
func (l *look) into(to string, sources []string) string {
	if to == "" {
		return ""
	}
	if id := l.touch(writes, to); id != "" {
		return id
	}
	for _, s := range sources {
		if base := baseOf(s); base != "" && base != "." && base != ".." {
			if id := l.touch(writes, strings.TrimRight(to, "/")+"/"+base); id != "" && id != vitalRule && id != diskRule {
				return id
			}
		}
	}
	return ""
}

func move(l *look) string {
	_, sources, to := l.destination()
	if id := l.removeAll(empties, sources); id != "" {
		return id
	}
	if id := l.each(reads, sources); id != "" {
		return id
	}
	return l.into(to, sources)
}

func copyFiles(l *look) string {
	options, sources, to := l.destination()
	if id := l.each(reads, sources); id != "" {
		return id
	}
	if hasOption(options, 0, "remove-source-files") {
		if id := l.removeAll(removes, sources); id != "" {
			return id
		}
	}
	l.remember(sources, to)
	if len(sources) == 1 && sources[0] == "/dev/null" {
		return l.touch(replaces, to)
	}
	return l.into(to, sources)
}

// readFiles is cat and all that only reads its operands.
func readFiles(l *look) string {
	for i, a := range l.args {
		name, value, joined := strings.Cut(a, "=")
		if name != "-o" && name != "-out" && name != "--output" && name != "--output-file" {
			continue
		}
		if !joined && i+1 < len(l.args) {
			value = l.args[i+1]
		}
		if id := l.touch(writes, value); id != "" {
			return id
		}
	}
	return l.operands(reads)
}

// writeFiles is tee and all that only writes its operands.
func writeFiles(l *look) string {
	_, operands := l.split()
	return l.each(writes, operands)
}

// edit reads its operands, or writes them when it is told to work in place.
func edit(l *look) string {
	options, operands := l.split()
	inPlace := hasOption(options, 'i', "in-place")
	if inPlace {
		if id := l.each(writes, operands); id != "" {
			return id
		}
	}
	for _, a := range l.args {
		if to, ok := writtenBySed(a); ok {
			if id := l.touch(writes, to); id != "" {
				return id
			}
		}
	}
	return l.afterPattern("efs", "efl")
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
	return l.afterPattern("ABCmDdefgtT", "ef")
}

// afterPattern does a deed to the operands after the first, which is a pattern
// or a program unless an option of given holds one. valued are the letters of
// options whose value is a word of its own.
func (l *look) afterPattern(valued, given string) string {
	pattern := true
	var operands []string
	for i := 0; i < len(l.args); i++ {
		a := l.args[i]
		if a == "--" {
			operands = append(operands, l.args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			operands = append(operands, a)
			continue
		}
		letter := a[len(a)-1]
		if a[1] == '-' {
			if name, value, ok := strings.Cut(a, "="); ok && (name == "--file" || name == "--exclude-from") {
				operands = append(operands, value)
			}
			pattern = pattern && !strings.HasPrefix(a, "--regexp") && !strings.HasPrefix(a, "--expression") && !strings.HasPrefix(a, "--file") && a != "--files"
			continue
		}
		if strings.IndexByte(given, a[1]) >= 0 || strings.IndexByte(given, letter) >= 0 {
			pattern = false
		}
		if strings.IndexByte(valued, letter) >= 0 && i+1 < len(l.args) {
			i++
			if letter == 'f' {
				if id := l.touch(reads, l.args[i]); id != "" {
					return id
				}
			}
		}
	}
	if pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	return l.each(reads, operands)
}
