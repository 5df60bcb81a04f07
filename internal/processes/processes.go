// Package processes lists what runs on this machine, for judging calls that stop processes. It reads
// what Linux shows about its processes; on other systems nothing is known.
package processes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/vaglio"
)

// Machine implements [vaglio.Processes] with a folder like [lineage.System].
type Machine struct{ System string }

// This returns the machine on which the program runs.
func This() Machine { return Machine{System: lineage.System} }

// List returns every process in the folder. A process that ends in the meantime is left out.
func (m Machine) List() ([]vaglio.Process, error) {
	up, err := m.up()
	if err != nil {
		return nil, err
	}
	numbers, err := m.numbers()
	if err != nil {
		return nil, err
	}
	start := time.Now().Add(-up)
	out := make([]vaglio.Process, 0, len(numbers))
	for _, pid := range numbers {
		p, err := lineage.Read(m.System, pid)
		switch {
		case isGone(err):
			continue
		case err != nil:
			return nil, err //nolint:wrapcheck // it names the file
		}
		cwd, _ := os.Readlink(m.of(pid, "cwd")) // another user's is not visible
		out = append(out, vaglio.Process{
			PID: pid, Parent: p.Parent, Name: p.Name, Words: p.Words, Cwd: cwd,
			Started: start.Add(time.Duration(p.Began) * tick), //nolint:gosec // A machine runs for less than centuries.
		})
	}
	return out, nil
}

// tick is the unit of a process's start time.
const tick = time.Second / 100

func (m Machine) of(pid int, name string) string {
	return filepath.Join(m.System, strconv.Itoa(pid), name)
}

// isGone reports whether err means that a process has ended in the meantime.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// up returns how long the machine has been running.
func (m Machine) up() (time.Duration, error) {
	name := filepath.Join(m.System, "uptime")
	text, err := os.ReadFile(name) //nolint:gosec // Below what the caller trusts.
	if err != nil {
		return 0, err
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	up, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return up, nil
}

func (m Machine) numbers() ([]int, error) {
	entries, err := os.ReadDir(m.System)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	return out, nil
}

// Users returns the processes with a socket whose local or remote port is the given one. It is an
// error if no visible process holds a socket of this user, because some process must.
func (m Machine) Users(port uint16) ([]int, error) {
	sockets, err := m.sockets(port)
	if err != nil || len(sockets) == 0 {
		return nil, err
	}
	numbers, err := m.numbers()
	if err != nil {
		return nil, err
	}
	var out []int
	held := map[string]bool{}
	for _, pid := range numbers {
		if m.holds(pid, sockets, held) {
			out = append(out, pid)
		}
	}
	for number, ours := range sockets {
		if ours && !held[number] {
			return nil, fmt.Errorf("no visible process holds socket %s at port %d", number, port)
		}
	}
	return out, nil
}

// Free reports whether there is no socket with that port.
func (m Machine) Free(port uint16) (bool, error) {
	sockets, err := m.sockets(port)
	return err == nil && len(sockets) == 0, err
}

// sockets returns the sockets with the port by inode, and whether they are this user's.
func (m Machine) sockets(port uint16) (map[string]bool, error) {
	sockets := map[string]bool{}
	for _, kind := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile(filepath.Join(m.System, "net", kind)) //nolint:gosec // Below what the caller trusts.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if s, ok := socketOf(string(line)); ok && slices.Contains(s.ports, port) {
				sockets[s.number] = s.user == os.Getuid()
			}
		}
	}
	return sockets, nil
}

// holds reports whether a process has one of the sockets, and adds those to held.
func (m Machine) holds(pid int, sockets, held map[string]bool) (some bool) {
	entries, _ := os.ReadDir(m.of(pid, "fd")) // another user's is not visible
	for _, e := range entries {
		to, _ := os.Readlink(filepath.Join(m.of(pid, "fd"), e.Name()))
		number, ok := strings.CutPrefix(to, "socket:[")
		number = strings.TrimSuffix(number, "]")
		if _, meant := sockets[number]; ok && meant {
			held[number], some = true, true
		}
	}
	return some
}

// socket is a socket as Linux lists it.
type socket struct {
	ports  []uint16 // of both ends
	user   int
	number string
}

// socketOf parses a line such as "0: 0100007F:1F90 00000000:0000 0A … uid timeout inode". It returns
// false for the heading, and for a socket that no process holds any more.
func socketOf(line string) (socket, bool) {
	const local, remote, user, number = 1, 2, 7, 9
	f := strings.Fields(line)
	if len(f) <= number || f[number] == "0" {
		return socket{}, false
	}
	s := socket{number: f[number]}
	for _, end := range []string{f[local], f[remote]} {
		port, err := strconv.ParseUint(end[strings.LastIndexByte(end, ':')+1:], 16, 16)
		if err != nil {
			return socket{}, false
		}
		s.ports = append(s.ports, uint16(port))
	}
	var err error
	s.user, err = strconv.Atoi(f[user])
	return s, err == nil
}
