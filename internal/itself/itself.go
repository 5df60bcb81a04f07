// Package itself finds out what the gate consists of on this machine, so that the guard can protect
// it and changes are noticed.
package itself

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/seals"
)

// Process is what the program knows about itself. Paths are absolute; empty means unknown.
type Process struct {
	// Program is the executable, Args its command line, Number its process ID.
	Program string
	Args    []string
	Number  int
	// Environ is its environment, as NAME=value.
	Environ []string
	// Home is the user's home folder. Data are the folders with the gate's data.
	Home string
	Data []string
	// Policy is the path of the policy file.
	Policy string
	// Listen is host:port, PublicURL the inbox's address behind a proxy.
	Listen, PublicURL string
}

// Facts returns what the gate consists of.
func (p *Process) Facts() own.Facts {
	f := own.Facts{Data: slices.Clone(p.Data), Env: p.named(), Command: strings.Join(p.Args, " "), Units: p.units(), Processes: []int{p.Number}}
	for name, path := range f.Env {
		if strings.HasSuffix(name, "_FILE") {
			f.Data = append(f.Data, path)
		}
	}
	slices.Sort(f.Data)
	f.Config = known(p.Policy, f.Env["METNOS_TEMPLATES"])
	installed := install.Find(p.Home)
	f.Programs = p.programs(installed)
	f.Settings, f.Local = install.Settings(p.Home)
	if !strings.HasSuffix(p.Listen, ":0") {
		f.Addresses = known(p.Listen)
	}
	if u, err := url.Parse(p.PublicURL); err == nil && u.Host != "" {
		f.Addresses = append(f.Addresses, u.Host)
	}
	return f
}

const dataVariable = "METNOS_DATA_DIR"

// maxSettings is the maximum size of a file that is read here, in bytes.
const maxSettings = 4 << 20

// named returns those of our variables that name a file or a folder.
func (p *Process) named() map[string]string {
	named := map[string]string{}
	for _, pair := range p.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "METNOS_") || value == "" ||
			!strings.HasSuffix(name, "_FILE") && !slices.Contains([]string{"METNOS_POLICY", "METNOS_TEMPLATES", dataVariable}, name) {
			continue
		}
		if path, err := filepath.Abs(value); err == nil && path != "/" {
			named[name] = path
		}
	}
	if _, set := named[dataVariable]; !set && len(p.Data) > 0 {
		named[dataVariable] = p.Data[0] // the default, which an agent's environment may name
	}
	return named
}

// known returns the names that are not empty.
func known(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// programs returns this program and those that clients run as the hook, both as they are named and
// with symbolic links resolved.
func (p *Process) programs(installed []install.Found) []string {
	var all []string
	add := func(name string) {
		if filepath.IsAbs(name) && filepath.Clean(name) != "/" {
			all = append(all, filepath.Clean(name))
			if target, err := filepath.EvalSymlinks(name); err == nil {
				all = append(all, target)
			}
		}
	}
	add(p.Program)
	for _, i := range installed {
		for _, program := range i.Programs {
			add(program)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Off returns the settings files that install the hook but turn off every hook.
func Off(home string) []string {
	var all []string
	for _, i := range install.Find(home) {
		if i.Off {
			all = append(all, i.File)
		}
	}
	return all
}

// units returns the names of the service or container that this process runs in, as far as the
// system tells.
func (p *Process) units() []string {
	var all []string
	for _, pair := range p.Environ {
		if label, ok := strings.CutPrefix(pair, "XPC_SERVICE_NAME="); ok && label != "0" {
			all = append(all, label) // set by launchd
		}
	}
	if text, _, err := regular.Read("/proc/self/cgroup", maxSettings); err == nil {
		for line := range strings.Lines(string(text)) {
			if unit := filepath.Base(strings.TrimSpace(line)); strings.HasSuffix(unit, ".service") {
				all = append(all, unit)
			}
		}
	}
	// A terminal's own scope, and a user's service manager, contain much else.
	return slices.DeleteFunc(known(all...), func(u string) bool { return strings.HasPrefix(u, "user@") || strings.HasPrefix(u, "session-") })
}

// Outside rejects an executable in a folder where agents work, because they could replace it.
func Outside(exe, home string) error {
	folder := workFolder(exe, home)
	if folder == "" {
		return nil
	}
	to := filepath.Join(home, ".local", "bin", "vaglio")
	return fmt.Errorf("%s lies in the project %s, where an agent may put another program in its place; "+
		"install it outside, and let that one write the settings: install -D -m 755 %s %s && %s install <client>",
		exe, folder, exe, to, to)
}

// workFolder returns the project that a file is in, "" if it is in none: the nearest folder above
// it that is under version control. A home folder under version control does not count.
func workFolder(file, home string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	for dir := filepath.Dir(file); dir != filepath.Dir(dir) && dir != home; dir = filepath.Dir(dir) {
		for _, mark := range []string{".git", ".hg", ".svn", ".jj"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
	}
	return ""
}

// Files returns the executables and settings that put the gate in front of agents.
func (p *Process) Files() []seals.File {
	var all []seals.File
	installed := install.Find(p.Home)
	for _, program := range p.programs(installed) {
		all = append(all, seals.File{Path: program, What: "it is vaglio's own program"})
	}
	for _, i := range installed {
		all = append(all, seals.File{Path: i.File, What: "it runs the hook of " + i.Client})
	}
	return all
}
