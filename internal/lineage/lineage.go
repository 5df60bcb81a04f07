// Package lineage tells which processes are above one, that is, who started what is calling. It
// shows what can be seen: a process that detached from its parent, as daemons do, has only the
// system above it.
package lineage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Line is a process and its ancestors, each followed by its parent.
type Line []Process

// Process is one process.
type Process struct {
	PID, Parent int
	// Session is its session's ID, and Terminal the number of its controlling terminal, 0 for
	// none.
	Session, Terminal int
	// Began is when it started, in hundredths of a second since boot, 0 if unknown.
	Began uint64
	// Name is the system's name for it, at most 15 bytes, and Words is its command line; the
	// process may have changed both.
	Name  string
	Words []string
}

// System is the folder in which Linux shows its processes.
const System = "/proc"

// ErrUnseen means that the ancestors of a process cannot be determined.
var ErrUnseen = errors.New("the process's ancestors cannot be seen")

// deepest is the maximum length of a line. A longer one is an error, so that its depth hides
// nothing.
const deepest = 256

// Of returns the line of a process in a folder like [System]. If part of it cannot be read, it
// returns an [ErrUnseen] and no line.
func Of(system string, pid int) (Line, error) {
	var line Line
	for pid > 0 && len(line) < deepest {
		p, err := Read(system, pid)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnseen, err)
		}
		line = append(line, p)
		pid = p.Parent
	}
	if pid != 0 || len(line) == 0 {
		return nil, fmt.Errorf("%w: its line does not end", ErrUnseen)
	}
	return line, nil
}

// Read returns the process with the given ID in a folder like [System].
func Read(system string, pid int) (Process, error) {
	dir := filepath.Join(system, strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat")) //nolint:gosec // A process's number, below what the caller trusts.
	if err != nil {
		return Process{}, err
	}
	p, err := parse(stat)
	if err == nil && p.PID != pid {
		err = fmt.Errorf("is that of process %d", p.PID)
	}
	if err != nil {
		return p, fmt.Errorf("%s/stat: %w", dir, err)
	}
	words, err := os.ReadFile(filepath.Join(dir, "cmdline")) //nolint:gosec // The same.
	if err != nil {
		return Process{}, err
	}
	if words = bytes.TrimRight(words, "\x00"); len(words) > 0 {
		p.Words = strings.Split(string(words), "\x00")
	}
	return p, nil
}

// parse parses a stat file: "pid (name) state parent group session terminal …". The name may contain
// anything, so it ends at the last parenthesis.
func parse(stat []byte) (Process, error) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Process{}, errors.New("has no name in brackets")
	}
	p := Process{Name: string(stat[open+1 : end])}
	const state, parent, session, terminal, began = 0, 1, 3, 4, 19
	fields := bytes.Fields(stat[end+1:])
	if len(fields) <= terminal || len(fields[state]) != 1 {
		return p, errors.New("has too few fields")
	}
	var failed [4]error
	p.PID, failed[0] = strconv.Atoi(string(bytes.TrimSpace(stat[:open])))
	p.Parent, failed[1] = strconv.Atoi(string(fields[parent]))
	p.Session, failed[2] = strconv.Atoi(string(fields[session]))
	p.Terminal, failed[3] = strconv.Atoi(string(fields[terminal]))
	if len(fields) > began {
		p.Began, _ = strconv.ParseUint(string(fields[began]), 10, 64) // if it is not a number, it is unknown
	}
	return p, errors.Join(failed[:]...)
}

// Below returns the first of the given programs that is in the line, "" if none is. A process
// matches if its name, in any case, is the program's or starts with it and a dash. The program may
// also be a script that an interpreter runs.
func (l Line) Below(programs []string) string {
	for i := range l {
		for _, name := range l[i].names() {
			for _, program := range programs {
				if name == program || strings.HasPrefix(name, program+"-") {
					return program
				}
			}
		}
	}
	return ""
}

// interpreters returns the interpreters of programs that are installed as scripts.
func interpreters() []string {
	return []string{"node", "nodejs", "bun", "deno", "npx", "python", "python2", "python3", "uv", "uvx", "pipx", "ruby"}
}

// names returns the names by which the process may be known: the system's name, its program and, if
// that is an interpreter, every part of the script's path.
func (p *Process) names() []string {
	all := []string{plain(p.Name)}
	if len(p.Words) == 0 {
		return all
	}
	// A program that renames itself often overwrites its command line with one string.
	first, _, _ := strings.Cut(p.Words[0], " ")
	program := plain(filepath.Base(first))
	all = append(all, program)
	version := strings.TrimRight(program, "0123456789.")
	if !slices.Contains(interpreters(), program) && !slices.Contains(interpreters(), version) {
		return all
	}
	for _, word := range p.Words[1:] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		for part := range strings.SplitSeq(filepath.ToSlash(word), "/") {
			all = append(all, plain(part))
		}
		break
	}
	return all
}

// plain returns a program's name in lower case, without a login shell's dash or a file extension.
func plain(name string) string {
	name = strings.ToLower(strings.TrimPrefix(name, "-"))
	for _, kind := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".exe"} {
		name = strings.TrimSuffix(name, kind)
	}
	return name
}
