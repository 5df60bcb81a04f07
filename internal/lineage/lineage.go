// Package lineage tells which processes are above one: who started what asks. It
// says what can be seen. A process that let go of the one above it, as a daemon does,
// has only the system above it.
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

// Line is a process and what is above it, each started by the next.
type Line []Process

// Process is one process.
type Process struct {
	PID, Parent int
	// Session is the id of its session, and Terminal the number of the terminal that
	// controls it, 0 for none.
	Session, Terminal int
	// Began is when it began, in hundredths of a second since the machine's start, 0
	// where that is not told.
	Began uint64
	// Name is what the system calls it, at most 15 bytes, and Words is its command
	// line; it may have changed both.
	Name  string
	Words []string
}

// System is where Linux tells of its processes.
const System = "/proc"

// ErrUnseen says that what is above a process cannot be seen.
var ErrUnseen = errors.New("what is above the process cannot be seen")

// deepest bounds a line: what is deeper is not read, and hides nothing so.
const deepest = 256

// Of returns the line of the process that a folder like [System] tells of. An error,
// which is [ErrUnseen], says that some of it cannot be read; there is no line then.
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

// Read returns the process of a number that a folder like [System] tells of.
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

// parse reads a stat: "pid (name) state parent group session terminal …". A name may
// hold anything, so it ends with the last bracket.
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
		p.Began, _ = strconv.ParseUint(string(fields[began]), 10, 64) // what is no number is not told
	}
	return p, errors.Join(failed[:]...)
}

// Below returns the name of the program, among the given ones, that the line is below;
// "" for none. The program may be called the name alone or begin with it and a dash,
// in any case, and may be a script of an interpreter.
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

// interpreters run programs that are installed as scripts.
func interpreters() []string {
	return []string{"node", "nodejs", "bun", "deno", "npx", "python", "python2", "python3", "uv", "uvx", "pipx", "ruby"}
}

// names are what the process can be known by: what the system calls it, its program,
// and where that is an interpreter, every part of its script's path.
func (p *Process) names() []string {
	all := []string{plain(p.Name)}
	if len(p.Words) == 0 {
		return all
	}
	// A program that renames itself often writes one text over its command line.
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

// plain is a program's name without what says how it is kept.
func plain(name string) string {
	name = strings.ToLower(strings.TrimPrefix(name, "-"))
	for _, kind := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".exe"} {
		name = strings.TrimSuffix(name, kind)
	}
	return name
}
