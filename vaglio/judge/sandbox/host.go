package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Host is what a machine offers to keep tools in.
type Host struct {
	layer    Layer
	bwrap    string   // path of bubblewrap
	prlimit  string   // path of the command that sets limits
	landlock int      // the kernel's version of it, 0 without
	folders  []string // where programs are looked for, in order
	shown    []string // of those, what is not below /usr and needs a mount of its own
	scratch  string   // where private copies lie
	unshared string   // why there can be no private copies, empty where there can
	seccomp  filters
}

// filters are the programs for the kernel, made once.
type filters struct{ closed, withUnix []byte }

// HostConfig says what the operator gives to sandboxes.
type HostConfig struct {
	// Scratch is the absolute folder for private copies, of which a killed process
	// may have left some. Empty: there are none.
	Scratch string
	// Programs holds absolute folders of programs that are not below /usr: shown
	// read-only, and searched first, with their bin.
	Programs []string
}

// LayerName names what keeps tools in.
type LayerName string

const (
	// LayerBubblewrap runs every tool.
	LayerBubblewrap LayerName = "bubblewrap"
	// LayerLandlock reads files, and refuses to run anything.
	LayerLandlock LayerName = "landlock"
	// LayerNone refuses every tool.
	LayerNone LayerName = "none"
)

// Layer is what keeps tools in, for verdict, card and doctor.
type Layer struct {
	Name    LayerName
	Version string // of bubblewrap or Landlock
	Why     string // why it is not bubblewrap
}

// String is name and version.
func (l Layer) String() string { return strings.TrimSpace(string(l.Name) + " " + l.Version) }

// Runs says whether programs can be run in it; else files alone can be read.
func (l Layer) Runs() bool { return l.Name == LayerBubblewrap }

const (
	// sandboxHome is the home of sandboxed commands, empty at each start.
	sandboxHome = "/home/judge"
	// sandboxPath is where every machine has its programs.
	sandboxPath = "/usr/local/bin:/usr/bin:/bin"
)

// Find looks at the machine, proves the best layer by using it, and removes
// private copies that nobody holds any more. An error is a [ConfigError]; that
// there is no isolation is none.
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

// add makes a folder of programs be searched and, unless it is below /usr, shown.
func (h *Host) add(dir string) {
	h.folders = append(h.folders, dir)
	if info, err := os.Stat(filepath.Join(dir, "bin")); err == nil && info.IsDir() {
		h.folders = append(h.folders, filepath.Join(dir, "bin"))
	}
	if _, in := below(dir, "/usr"); !in {
		h.shown = append(h.shown, dir)
	}
}

// Layer says what keeps tools in on this machine.
func (h *Host) Layer() Layer { return h.layer }

// AstGrep is the path of ast-grep, or an error that says where it was looked for.
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

// isProgram says whether there is a program at a path.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
