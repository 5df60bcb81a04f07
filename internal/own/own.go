// Package own knows what the gate itself consists of on this machine: its files, its addresses,
// its processes. The wiring states it once; the package opens nothing.
package own

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Facts are what the gate consists of. The zero value is a gate about which nothing is known.
// Paths are absolute.
type Facts struct {
	// Data are files and folders that nobody else may see: keys, the store, sockets. They are
	// forbidden, with everything below them.
	Data []string
	// Config are files that say how the gate judges. They are forbidden, too.
	Config []string
	// Programs are the executables of daemon and hook, which nobody may change.
	Programs []string
	// Settings are files that put the gate in front of an agent, or could remove it. Nobody may
	// change them.
	Settings []string
	// Local are the names of such files in any project.
	Local []string
	// Addresses are where people answer the gate: host:port, or a host alone for browsers'
	// default ports.
	Addresses []string
	// Processes are the IDs of the gate's processes, Command is the daemon's command line.
	Processes []int
	Command   string
	// Units are the names of the services and containers in which it runs.
	Units []string
	// Env are the environment variables that name what belongs to it.
	Env map[string]string
}

// Paths returns all files and folders.
func (f *Facts) Paths() []string { return slices.Concat(f.Data, f.Config, f.Programs, f.Settings) }

// HasProcess reports whether a text is the ID of one of the gate's processes or groups.
func (f *Facts) HasProcess(number string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(number, "-")) // a process group has the ID of its first process
	return err == nil && n > 1 && slices.Contains(f.Processes, n)
}

// HasPort reports whether a text names a port on which the gate listens, in the forms that lsof,
// fuser and ss use: 8787, 8787/tcp, :8787, tcp:8787, tcp@localhost:8787.
func (f *Facts) HasPort(text string) bool {
	text, _, _ = strings.Cut(text, "/")
	text = text[strings.LastIndexByte(text, ':')+1:]
	return slices.ContainsFunc(f.Addresses, func(address string) bool {
		_, port := split(address)
		return port != "" && slices.Contains(strings.Split(text, ","), port)
	})
}

// SpansPort reports whether a text names a range of ports with one on which the gate listens.
func (f *Facts) SpansPort(text string) bool {
	return strings.Contains(text, "-") && slices.ContainsFunc(strings.Split(text, ","), func(part string) bool {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		return isRange && err == nil && err2 == nil && slices.ContainsFunc(f.Addresses, func(address string) bool {
			_, port := split(address)
			n, _ := strconv.Atoi(port)
			return low <= n && n <= high
		})
	})
}

// HasUnit reports whether a name pattern, as in shells and systemctl, matches a service or container
// in which the gate runs.
func (f *Facts) HasUnit(pattern string) bool {
	pattern = strings.TrimSuffix(pattern, ".service")
	return strings.Trim(pattern, "*?.") != "" && slices.ContainsFunc(append([]string{"vaglio"}, f.Units...), func(unit string) bool {
		fits, err := path.Match(pattern, strings.TrimSuffix(unit, ".service"))
		return err == nil && fits
	})
}

// Keeps reports whether a file holds the ID of one of the gate's processes.
func (f *Facts) Keeps(file string) bool {
	folder, name := path.Split(file)
	its := func(step string) bool { return step != "" && f.HasUnit(step) }
	return strings.HasSuffix(name, ".pid") && its(strings.TrimSuffix(name, ".pid")) ||
		strings.HasPrefix(file, "/sys/fs/cgroup/") && slices.ContainsFunc(strings.Split(folder, "/"), its)
}

// AnyName reports whether a regular expression says nothing of a name but, perhaps, how long it is.
func AnyName(pattern string) bool { return strings.Trim(pattern, `.*+?^$()[]{}|/ `) == "" }

// Picked reports whether a regular expression, as for pkill and pgrep, matches the daemon and hardly
// anything else: by its name or, with full, by its command line. One that AnyName is for matches all.
func (f *Facts) Picked(pattern string, full bool) bool {
	const least, longest = 3, 200
	if strings.Contains(pattern, "vaglio") {
		return true
	}
	if len(pattern) < least || len(pattern) > longest || AnyName(pattern) {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && (re.MatchString("vaglio") || full && f.Command != "" && re.MatchString(f.Command))
}
