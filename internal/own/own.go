// Package own knows what the gate itself is made of on this machine: its files,
// its address, its process. It is told once, by the wiring, and opens nothing.
package own

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Facts are what the gate is made of. The zero value is a gate of which nothing
// is known. Paths are absolute.
type Facts struct {
	// Data are files and folders with what nobody else may see: keys, the
	// store, sockets. They and all below them are forbidden.
	Data []string
	// Config are files that say how the gate judges. They are forbidden, too.
	Config []string
	// Programs are the executables of daemon and hook, which nobody may change.
	Programs []string
	// Settings are files that put the gate before an agent, or may take it away,
	// which nobody may change.
	Settings []string
	// Local are the names of such files in a project, whichever it is.
	Local []string
	// Addresses are where people answer: host:port, or a host alone for the
	// ports that browsers take by themselves.
	Addresses []string
	// Processes are the numbers of the gate's processes, Command is the
	// daemon's command line.
	Processes []int
	Command   string
	// Units are the names of the services and containers in which it runs.
	Units []string
	// Env are the variables that name what is its own.
	Env map[string]string
}

// Paths are all files and folders.
func (f *Facts) Paths() []string { return slices.Concat(f.Data, f.Config, f.Programs, f.Settings) }

// HasProcess says whether a text is the number of one of the gate's processes.
func (f *Facts) HasProcess(number string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(number, "-")) // a group has the number of its first process
	return err == nil && n > 1 && slices.Contains(f.Processes, n)
}

// HasPort says whether a text names a port at which the gate listens, as lsof,
// fuser and ss write one: 8787, 8787/tcp, :8787, tcp:8787, tcp@localhost:8787.
func (f *Facts) HasPort(text string) bool {
	text, _, _ = strings.Cut(text, "/")
	text = text[strings.LastIndexByte(text, ':')+1:]
	return slices.ContainsFunc(f.Addresses, func(address string) bool {
		_, port := split(address)
		return port != "" && slices.Contains(strings.Split(text, ","), port)
	})
}

// HasUnit says whether a pattern of names, as shells and systemctl write one,
// fits a service or a container in which the gate runs.
func (f *Facts) HasUnit(pattern string) bool {
	pattern = strings.TrimSuffix(pattern, ".service")
	return strings.Trim(pattern, "*?.") != "" && slices.ContainsFunc(append([]string{"vaglio"}, f.Units...), func(unit string) bool {
		fits, err := path.Match(pattern, strings.TrimSuffix(unit, ".service"))
		return err == nil && fits
	})
}

// Keeps says whether a file holds the number of one of the gate's processes.
func (f *Facts) Keeps(file string) bool {
	folder, name := path.Split(file)
	its := func(step string) bool { return step != "" && f.HasUnit(step) }
	return strings.HasSuffix(name, ".pid") && its(strings.TrimSuffix(name, ".pid")) ||
		strings.HasPrefix(file, "/sys/fs/cgroup/") && slices.ContainsFunc(strings.Split(folder, "/"), its)
}

// Picked says whether a regular expression, as pkill and pgrep take one, fits
// the daemon and hardly another: by its name, or with full by its command line.
func (f *Facts) Picked(pattern string, full bool) bool {
	const least, longest = 3, 200
	if strings.Contains(pattern, "vaglio") {
		return true
	}
	if len(pattern) < least || len(pattern) > longest {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && (re.MatchString("vaglio") || full && f.Command != "" && re.MatchString(f.Command))
}
