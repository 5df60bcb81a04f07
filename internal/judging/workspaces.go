package judging

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/metnos/vaglio/vaglio/judge/agent"
	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// scratchFolder is the folder for private copies for judges, below the data folder.
const scratchFolder = "judges"

// workspaces gives judge agents access to the policy's workspaces, without what the guard forbids.
func (x *minds) workspaces(ctx context.Context) (agent.Workspaces, error) {
	if x.host == nil {
		var err error
		if x.host, err = sandbox.Find(ctx, hostOf(&x.Config)); err != nil {
			return nil, err
		}
	}
	if _, err := x.guarding(); err != nil {
		return nil, err
	}
	return agent.Sandboxed{Host: x.host, Roots: x.Policy.Workspaces, Hide: x.guard.Hides}, nil
}

// hostOf returns what this machine provides to sandboxes: a private folder for copies, and the
// folders of the programs that judges may run, unless they are below the user's home.
func hostOf(c *Config) (h sandbox.HostConfig) {
	h.Scratch = scratchOf(c.DataDir)
	for i := range c.Policy.Thinking.JudgeAgents {
		for _, t := range c.Policy.Thinking.JudgeAgents[i].Uses() {
			programs := t.Allowlist
			if t.Name == agent.ToolAstGrep {
				programs = []string{"ast-grep"}
			}
			for _, command := range programs {
				name, _, _ := strings.Cut(command, " ")
				at, err := exec.LookPath(name)
				if err == nil {
					at, err = filepath.EvalSymlinks(at)
				}
				dir := filepath.Dir(at)
				if err == nil && !strings.HasPrefix(dir, c.Home+"/") && !slices.Contains(h.Programs, dir) {
					h.Programs = append(h.Programs, dir)
				}
			}
		}
	}
	return h
}

// scratchOf creates the folder for private copies. For root it is outside the data folder, because
// commands run as another user, who could not enter that.
func scratchOf(data string) string {
	dir, mode := filepath.Join(data, scratchFolder), os.FileMode(0o700)
	if os.Geteuid() == 0 {
		dir, mode = "/var/tmp/vaglio-"+scratchFolder, 0o711
	}
	if data == "" || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return ""
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() || os.Chmod(dir, mode) != nil {
		return "" // it belongs to somebody else
	}
	return dir
}
