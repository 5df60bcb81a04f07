package setup

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Options say what to set up.
type Options struct {
	// Root is the absolute path of the root folder of the machine to set up; "/" is this machine.
	Root string
	// Program is the path of the program to install.
	Program string
	// Agents are users whose processes become agents with their names, in addition to those of
	// earlier setups.
	Agents []string
	// Workspaces are the folders in which they work, as absolute paths on the machine.
	Workspaces []string
	// JudgeAgents says whether the daemon may create sandboxes for judge agents; nil keeps the
	// previous choice, which is initially no.
	JudgeAgents *bool
}

// The names used on the machine.
const (
	// User is the user who runs the daemon.
	User = "vaglio"
	// Group is the group whose members may connect to the agents' socket.
	Group = "vaglio-agents"
	// Home is that user's home folder.
	Home = "/var/lib/vaglio"

	programs = "/usr/local/bin/"
	settings = "/etc/vaglio"
	unitFile = "/etc/systemd/system/vaglio.service"
	tmpFile  = "/etc/tmpfiles.d/vaglio.conf"
	noteFile = settings + "/setup.json"
)

// firstEnv is the initial content of the settings file.
const firstEnv = `# Settings of vaglio, NAME=value; 'vaglio serve --help' lists them.
# systemctl restart vaglio makes them count.
`

// MistakeError says in one sentence what is wrong with a requested setup.
type MistakeError struct {
	// Field is the flag, such as "--agent".
	Field, Problem string
}

func (e *MistakeError) Error() string { return e.Field + ": " + e.Problem }

// note records what setups were asked for, for later setups and for undoing.
type note struct {
	Version    int      `json:"v"`
	Agents     []string `json:"agents"`
	Workspaces []string `json:"workspaces"`
	// JudgeAgents is omitted if false, so that an older vaglio can still read the note.
	JudgeAgents bool `json:"judge_agents,omitempty"`
}

//go:embed vaglio.service
var unitText string

// unit returns the systemd unit for a gate that reads the noted workspaces.
func (n *note) unit() ([]byte, error) {
	t, err := template.New("unit").Parse(unitText)
	if err != nil {
		return nil, fmt.Errorf("the unit: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, n)
	return b.Bytes(), err
}

// New returns the plan of a setup. If the options are invalid, the error is a [*MistakeError].
func New(o Options) (*Plan, error) {
	if !filepath.IsAbs(o.Root) {
		return nil, &MistakeError{"--root", fmt.Sprintf("%q is not an absolute path", o.Root)}
	}
	if info, err := os.Stat(filepath.Join(o.Root, "etc")); err != nil || !info.IsDir() {
		return nil, &MistakeError{"--root", fmt.Sprintf("%s holds no folder etc, so it is not a system", o.Root)}
	}
	m := machine{filepath.Clean(o.Root)}
	n, err := m.noted()
	if err != nil {
		return nil, err
	}
	p := new(Plan)
	for _, name := range o.Agents {
		if err := m.checkAgent(name, p); err != nil {
			return nil, err
		}
	}
	for i, dir := range o.Workspaces {
		if o.Workspaces[i], err = m.checkWorkspace(dir); err != nil {
			return nil, err
		}
	}
	n.Agents = union(n.Agents, o.Agents)
	n.Workspaces = union(n.Workspaces, o.Workspaces)
	if o.JudgeAgents != nil {
		n.JudgeAgents = *o.JudgeAgents
	}
	return p, p.fill(m, o.Program, &n)
}

// fill adds the steps, in order.
func (p *Plan) fill(m machine, program string, n *note) error {
	own := func(mode fs.FileMode) owned { return owned{mode: mode} }
	kept, err := strictjson.Marshal(*n)
	if err != nil {
		return err
	}
	unit, err := n.unit()
	if err != nil {
		return err
	}
	p.steps = []Step{
		m.makeGroup(Group, "its members may ask the gate"),
		m.makeFolder(settings, own(0o755), "its settings"),
		m.makeFile(noteFile, own(0o644), text(string(kept)+"\n"), false, "what this setup was asked for"),
		m.makeGroup(User, "the gate's own"),
		m.makeUser(User, Home),
		m.makeFolder(Home, owned{User, User, 0o700}, "the store, the history, the audit log and the owner's socket, for nobody else"),
		m.makeFile(settings+"/vaglio.env", owned{"", User, 0o640}, text(firstEnv), true, "the settings, yours to change"),
		m.makeFile(programs+"vaglio", own(0o755), fileOf(program), false, "the program, where no agent can put another"),
	}
	if hook := filepath.Join(filepath.Dir(program), "vaglio-hook"); isFile(hook) {
		p.steps = append(p.steps, m.makeFile(programs+"vaglio-hook", own(0o755), fileOf(hook), false, "the hook of agents"))
	}
	// The setgid bit gives what is created in the folder to the group, so that the daemon needs no
	// right to change ownership.
	shared := owned{User, Group, fs.ModeSetgid | 0o750}
	p.steps = append(p.steps,
		m.makeFile(tmpFile, own(0o644), text(fmt.Sprintf("d %s %s %s %s -\n", filepath.Dir(datafolder.SharedSocket), shared.octal(), User, Group)), false,
			"the folder of the agents' socket, after each start of the machine"),
		m.makeFolder(filepath.Dir(datafolder.SharedSocket), shared, "the agents' socket, which the group "+Group+" reaches"),
	)
	for _, dir := range n.Workspaces {
		p.steps = append(p.steps, m.letRead(User, dir))
	}
	for _, name := range n.Agents {
		p.steps = append(p.steps, m.join(name, Group), m.nameAgent(name))
	}
	if _, err := exec.LookPath("systemctl"); err != nil {
		p.Notes = append(p.Notes, "there is no systemd here: have your supervisor run '"+programs+"vaglio serve' as "+User+
			", with METNOS_AGENT_SOCKET="+datafolder.SharedSocket+" METNOS_AGENT_GROUP="+Group)
		return nil
	}
	p.steps = append(p.steps,
		m.makeFile(unitFile, own(0o644), text(string(unit)), false, "the unit of systemd, fenced in"),
		m.enable())
	if m.here() && isFolder("/run/systemd/system") {
		p.steps = append(p.steps, m.start(unit, program))
	}
	return nil
}

// fileOf is the content of a program's file.
func fileOf(path string) content {
	return func() ([]byte, error) { return os.ReadFile(path) } //nolint:gosec // This program, or the one beside it.
}

// enable makes systemd start the unit at boot.
func (m machine) enable() Step {
	link := m.path("/etc/systemd/system/multi-user.target.wants/vaglio.service")
	systemctl := func(ctx context.Context, verb string) error {
		return run(ctx, "systemctl", "--root="+m.root, "--quiet", verb, "vaglio.service")
	}
	return Step{
		Say:  "have it start with the machine (systemctl enable)",
		Done: func(context.Context) (bool, error) { _, err := os.Lstat(link); return err == nil, nil },
		Do:   func(ctx context.Context) error { return systemctl(ctx, "enable") },
		Undo: func(ctx context.Context) error { return systemctl(ctx, "disable") },
	}
}

// start runs the daemon with the current unit and program.
func (m machine) start(unit []byte, program string) Step {
	have, err := os.ReadFile(unitFile)
	now, mistake := os.ReadFile(program) //nolint:gosec // This program.
	installed, none := os.ReadFile(programs + "vaglio")
	// Otherwise the running daemon is older than what this setup installs.
	current := errors.Join(err, mistake, none) == nil && bytes.Equal(have, unit) && bytes.Equal(now, installed)
	return Step{
		Say: "start it (systemctl restart)",
		Done: func(ctx context.Context) (bool, error) {
			return current && exec.CommandContext(ctx, "systemctl", "is-active", "--quiet", "vaglio.service").Run() == nil, nil
		},
		Do: func(ctx context.Context) error {
			current = true
			return errors.Join(run(ctx, "systemctl", "daemon-reload"), run(ctx, "systemctl", "restart", "vaglio.service"))
		},
		Undo: func(ctx context.Context) error { return run(ctx, "systemctl", "stop", "vaglio.service") },
	}
}

// nameAgent registers a user's processes as an agent.
func (m machine) nameAgent(name string) Step {
	ask := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, m.path(programs+"vaglio"), append([]string{"agent"}, args...)...) //nolint:gosec // The program that was installed.
		cmd.Env = []string{"HOME=" + m.path(Home), "PATH=/usr/bin:/bin"}
		cmd.Dir = "/"
		return cmd
	}
	return Step{
		Say: "name the agent " + name + ", whose calls are those of the user " + name,
		Done: func(ctx context.Context) (bool, error) {
			rights, err := m.as(User)
			if err != nil || !isFile(m.path(programs+"vaglio")) {
				return false, nil //nolint:nilerr // The steps before make them.
			}
			cmd := ask(ctx, "list", "--json")
			cmd.SysProcAttr = rights
			said, err := cmd.Output()
			if err != nil {
				return false, nil //nolint:nilerr // There is no store yet; naming tells what is wrong.
			}
			var list struct {
				Agents []agents.Agent `json:"agents"`
			}
			err = strictjson.Unmarshal(said, &list)
			return slices.ContainsFunc(list.Agents, func(a agents.Agent) bool { return a.Name == name }), err
		},
		Do: func(ctx context.Context) error {
			a, ok, err := m.user(name)
			if err != nil || !ok {
				return errors.Join(err, fmt.Errorf("there is no user %q", name))
			}
			rights, err := m.as(User)
			if err != nil {
				return err
			}
			cmd := ask(ctx, "add", name, "--uid", strconv.Itoa(a.uid))
			cmd.SysProcAttr = rights
			return ran(cmd)
		},
		Undo: func(ctx context.Context) error {
			rights, err := m.as(User)
			if err != nil {
				return err
			}
			cmd := ask(ctx, "remove", name)
			cmd.SysProcAttr = rights
			return ran(cmd)
		},
	}
}

// checkAgent returns an error if a user cannot be an agent.
func (m machine) checkAgent(name string, p *Plan) error {
	bad := func(format string, args ...any) error { return &MistakeError{"--agent", fmt.Sprintf(format, args...)} }
	if err := agents.CheckName(name); err != nil {
		return bad("%v", err)
	}
	a, ok, err := m.user(name)
	switch {
	case err != nil:
		return err
	case !ok:
		return bad("there is no user %q; make one for the agent, such as by: useradd --create-home %s", name, name)
	case a.uid == 0:
		return bad("%q is root, which nothing can confine; give the agent a user of its own", name)
	case name == User:
		return bad("%q is the gate's own user; give the agent another", name)
	}
	if powers := m.memberOf(name, "root", "sudo", "wheel", "admin", "docker", "lxd", "disk"); len(powers) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("the user %s is in the group %s and may become root: the gate cannot confine root", name, strings.Join(powers, ", ")))
	}
	return nil
}

// checkWorkspace returns the folder with symbolic links resolved, or an error if it cannot be an
// agent's workspace.
func (m machine) checkWorkspace(dir string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", &MistakeError{"--workspace", fmt.Sprintf(format, args...)}
	}
	if !filepath.IsAbs(dir) {
		return bad("%q is not an absolute path", dir)
	}
	led, err := filepath.EvalSymlinks(m.path(dir))
	if err != nil {
		return bad("%v", datafolder.Plain(err))
	}
	inside, err := filepath.Rel(m.root, led)
	if err != nil || !filepath.IsLocal(inside) {
		return bad("%s leads out of %s", dir, m.root)
	}
	led = filepath.Join("/", inside)
	switch {
	case !isFolder(m.path(led)):
		return bad("%s is not a folder", dir)
	case agents.IsHome(led, "", m.path("/etc/passwd")):
		return bad("%s is a home or holds homes, and the gate should not read everything in it; give a folder for the agent's work alone", dir)
	case strings.ContainsFunc(led, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`:\"'%`, r) }):
		return bad("%q has a character that a unit of systemd takes for something else; give a folder without spaces, quotes, colons and %%", led)
	}
	return led, nil
}

// noted reads what earlier setups were asked for.
func (m machine) noted() (note, error) {
	n := note{Version: 1, Agents: []string{}, Workspaces: []string{}}
	b, err := os.ReadFile(m.path(noteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = strictjson.Unmarshal(b, &n)
	}
	if err == nil && n.Version != 1 {
		err = errors.New("it is from a newer vaglio")
	}
	if err != nil {
		return n, fmt.Errorf("%s cannot be read: %w", m.path(noteFile), err)
	}
	return n, nil
}

// union returns the strings of both lists, sorted and without duplicates.
func union(a, b []string) []string {
	all := slices.Concat([]string{}, a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
