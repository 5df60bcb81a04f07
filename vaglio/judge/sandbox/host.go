package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Host is what a machine offers to confine tools.
type Host struct {
	layer    Layer
	bwrap    string   // path of bubblewrap
	prlimit  string   // path of the command that sets limits
	landlock int      // the kernel's version of it, 0 if none
	folders  []string // where programs are searched, in order
	shown    []string // those of folders that are not below /usr and need a mount of their own
	scratch  string   // folder of private copies
	unshared string   // why there can be no private copies, empty if there can
	seccomp  filters
}

// filters are the seccomp programs, assembled once.
type filters struct{ closed, withUnix []byte }

// HostConfig is what the operator provides to sandboxes.
type HostConfig struct {
	// Scratch is the absolute path of the folder for private copies, in which a killed process may
	// have left some. If empty, there are no private copies.
	Scratch string
	// Programs are absolute paths of folders with programs that are not below /usr. They are shown
	// read-only and searched first, including their bin folders.
	Programs []string
}

// LayerName names what confines tools.
type LayerName string

const (
	// LayerBubblewrap runs every tool.
	LayerBubblewrap LayerName = "bubblewrap"
	// LayerLandlock reads files, and refuses to run anything.
	LayerLandlock LayerName = "landlock"
	// LayerNone refuses every tool.
	LayerNone LayerName = "none"
)

// Layer is what confines tools, as reported in verdicts, on cards and by the doctor.
type Layer struct {
	Name    LayerName
	Version string // of bubblewrap or Landlock
	Why     string // why it is not bubblewrap
}

// String returns the name and version.
func (l Layer) String() string { return strings.TrimSpace(string(l.Name) + " " + l.Version) }

// Runs reports whether programs can be run in it; otherwise files can only be read.
func (l Layer) Runs() bool { return l.Name == LayerBubblewrap }

const (
	// sandboxHome is the home folder of sandboxed commands, empty at each start.
	sandboxHome = "/home/judge"
	// sandboxPath is where every machine has its programs.
	sandboxPath = "/usr/local/bin:/usr/bin:/bin"
)

// Find examines the machine, tests the best layer by using it, and removes private copies that no
// process holds any more. An error is a [ConfigError]; a machine without isolation is not an error.
func Find(ctx context.Context, c HostConfig) (*Host, error) {
	h := &Host{scratch: c.Scratch}
	for i, dir := range c.Programs {
		if info, err := os.Stat(dir); !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
			return nil, ConfigError{fmt.Sprintf("Programs[%d]", i), fmt.Sprintf("is %q; it is the absolute path of a folder", dir)}
		}
		h.add(filepath.Clean(dir))
	}
	for dir := range strings.SplitSeq(sandboxPath, ":") {
		h.folders = append(h.folders, dir)
	}
	switch {
	case c.Scratch == "":
		h.unshared = "no folder is set for private copies"
	case !filepath.IsAbs(c.Scratch):
		return nil, ConfigError{"Scratch", fmt.Sprintf("is %q; it is the absolute path of a folder", c.Scratch)}
	default:
		if err := sweep(c.Scratch); err != nil {
			h.unshared = err.Error()
		}
	}
	h.probe(ctx)
	return h, nil
}

// add adds a folder of programs to the search path and, unless it is below /usr, shows it.
func (h *Host) add(dir string) {
	h.folders = append(h.folders, dir)
	if info, err := os.Stat(filepath.Join(dir, "bin")); err == nil && info.IsDir() {
		h.folders = append(h.folders, filepath.Join(dir, "bin"))
	}
	if _, in := below(dir, "/usr"); !in {
		h.shown = append(h.shown, dir)
	}
}

// Layer returns what confines tools on this machine.
func (h *Host) Layer() Layer { return h.layer }

// AstGrep returns the path of ast-grep, or an error that says where it was searched.
func (h *Host) AstGrep() (string, error) { return h.program(astGrep) }

// program finds a program by its name where a sandbox has programs, never in a
// project.
func (h *Host) program(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("%q is not the name of a program", name)
	}
	for _, dir := range h.folders {
		path := filepath.Join(dir, name)
		if isProgram(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %q is not installed in %s", name, strings.Join(h.folders, ", "))
}

// isProgram reports whether there is a program at a path.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
