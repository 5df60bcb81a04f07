package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// throwaway is a system below a folder, with users of its own.
type throwaway struct {
	t    *testing.T
	root string
}

// claude is the ID there of the user of that name, and of its group.
const claude = 64011

// newThrowaway creates a system with the user claude and a workspace.
func newThrowaway(t *testing.T) *throwaway {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("makes users and runs as them, which takes root")
	}
	for _, tool := range []string{"groupadd", "useradd", "usermod", "userdel", "groupdel", "setfacl", "getfacl", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: %v", tool, err)
		}
	}
	root, err := os.MkdirTemp("", "v") //nolint:usetesting // Its users must pass it, and sockets are below it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	m := &throwaway{t, root}
	for path, mode := range map[string]os.FileMode{"": 0o711, "etc": 0o755, "home": 0o755, "home/claude": 0o700, "home/claude/work": 0o700} {
		if err := errors.Join(os.MkdirAll(m.at(path), 0o755), os.Chmod(m.at(path), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		"etc/passwd": fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\nclaude:x:%d:%d::/home/claude:/bin/sh\nadmin:x:64013:27::/home/admin:/bin/sh\n", claude, claude),
		"etc/group":  fmt.Sprintf("root:x:0:\nclaude:x:%d:\nsudo:x:27:admin\n", claude),
		"etc/shadow": "root:*:19000:0:99999:7:::\n", "etc/gshadow": "",
	} {
		if err := os.WriteFile(m.at(file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"home/claude", "home/claude/work"} {
		if err := os.Chown(m.at(path), claude, claude); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *throwaway) at(path string) string { return filepath.Join(m.root, path) }

// setup runs the command as root.
func (m *throwaway) setup(args ...string) result {
	m.t.Helper()
	return newHome(m.t).run("", slices.Concat([]string{"setup", "--root", m.root}, args)...)
}

// accounts returns the users and groups.
func (m *throwaway) accounts() string {
	m.t.Helper()
	var all string
	for _, file := range []string{"etc/passwd", "etc/group"} {
		text, err := os.ReadFile(m.at(file))
		if err != nil {
			m.t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// number returns the ID of a user (in etc/passwd) or a group (in etc/group).
func (m *throwaway) number(file, name string) int {
	m.t.Helper()
	text, err := os.ReadFile(m.at("etc/" + file))
	if err != nil {
		m.t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + `:x:(\d+):`).FindSubmatch(text)
	if found == nil {
		m.t.Fatalf("there is no %s in\n%s", name, text)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// tree returns the names, owners and modes of all files.
func (m *throwaway) tree() string {
	m.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			fmt.Fprintf(&b, "%s %v %d:%d\n", strings.TrimPrefix(path, m.root), info.Mode(), stat.Uid, stat.Gid)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return b.String()
}

// as runs a shell script as claude, who may connect to the agents' socket, or as the serving user,
// in a folder of its own.
func (m *throwaway) as(user, script string) (said string, err error) {
	m.t.Helper()
	if user == "claude" {
		return m.by(script, claude, claude, m.number("group", "vaglio-agents"))
	}
	return m.by(script, m.number("passwd", user), m.number("group", user))
}

// by runs a script with a user ID and group IDs.
func (m *throwaway) by(script string, uid, gid int, groups ...int) (said string, err error) {
	m.t.Helper()
	dir, err := os.MkdirTemp("", "by") // The user must be able to enter it.
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chown(dir, uid, gid)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir
	who := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, g := range groups {
		who.Groups = append(who.Groups, uint32(g))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestSetup(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	m := newThrowaway(t)
	before, accounts := m.tree(), m.accounts()
	asked := []string{"--agent", "claude", "--workspace", "/home/claude/work"}
	r := m.setup(append(asked, "--dry-run")...)
	if r.code != 0 || !strings.Contains(r.out, "make the system user vaglio") || m.tree() != before {
		t.Fatalf("a dry run: %d\n%s%s\n%s", r.code, r.out, r.err, m.tree())
	}
	if r := m.setup(asked...); r.code != 1 || !strings.Contains(r.err, "say yes") || m.tree() != before {
		t.Fatalf("unanswered: %d\n%s%s\n%s", r.code, r.out, r.err, m.tree())
	}
	if r := m.setup(append(asked, "--yes")...); r.code != 0 {
		t.Fatalf("set up: %d\n%s%s", r.code, r.out, r.err)
	}
	gate, group := m.number("passwd", "vaglio"), m.number("group", "vaglio-agents")
	after := m.tree()
	for _, want := range []string{
		fmt.Sprintf("/var/lib/vaglio drwx------ %d:", gate), "/usr/local/bin/vaglio -rwxr-xr-x 0:0", "/etc/systemd/system/vaglio.service -rw-r--r-- 0:0",
		fmt.Sprintf("/run/vaglio dgrwxr-x--- %d:%d\n", gate, group), "/etc/vaglio drwxr-xr-x 0:0", "/etc/vaglio/vaglio.env -rw-r----- 0:",
	} {
		if !strings.Contains(after, want) {
			t.Errorf("there is no %q in\n%s", want, after)
		}
	}
	work := m.at("home/claude/work")
	if said, err := m.as("claude", "mkdir "+work+"/in; echo made later > "+work+"/in/x"); err != nil {
		t.Fatalf("the agent cannot work: %v %s", err, said)
	}
	if said, err := m.as("vaglio", "cat "+work+"/in/x"); err != nil || said != "made later\n" {
		t.Errorf("the gate cannot read the workspace: %v %s", err, said)
	}
	if said, err := m.as("vaglio", "echo x > "+work+"/in/x"); err == nil {
		t.Errorf("the gate can write there: %s", said)
	}
	after = m.tree()
	if said, err := m.as("vaglio", "ls "+m.at("home/claude")); err == nil {
		t.Errorf("the gate can list the home: %s", said)
	}
	for _, again := range [][]string{asked, nil} {
		if r := m.setup(again...); r.code != 0 || !strings.HasPrefix(r.out, "Everything is already set up.") || m.tree() != after {
			t.Errorf("once more, %v: %d\n%s%s", again, r.code, r.out, r.err)
		}
	}
	m.fenced(1.5)
	m.withJudgeAgents(after)
	if r := m.setup("--uninstall", "--yes"); r.code != 0 || !strings.Contains(r.out, "kept  the folder /var/lib/vaglio") {
		t.Errorf("undone: %d\n%s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(m.at("var/lib/vaglio/.local/share/metnos/vaglio.db")); err != nil {
		t.Errorf("the store did not stay: %v", err)
	}
	if said, err := m.by("ls "+m.at("home/claude/work"), gate, gate); err == nil {
		t.Errorf("the gate's user can still read the workspace: %s", said)
	}
	if err := os.RemoveAll(m.at("var")); err != nil {
		t.Fatal(err)
	}
	if r := m.setup("--uninstall", "--yes"); r.code != 0 || m.accounts() != accounts {
		t.Errorf("undone to the end: %d\n%s%s\n%s", r.code, r.out, r.err, m.accounts())
	}
	if r := m.setup("--uninstall"); r.code != 0 || !strings.HasPrefix(r.out, "Nothing is set up here.") {
		t.Errorf("undone once more: %d\n%s%s", r.code, r.out, r.err)
	}
}

// withJudgeAgents opens the unit for sandboxes, runs setup again without the flag, and restores what
// the tree was before.
func (m *throwaway) withJudgeAgents(before string) {
	m.t.Helper()
	unit := func() string {
		text, err := os.ReadFile(m.at("etc/systemd/system/vaglio.service"))
		if err != nil {
			m.t.Fatal(err)
		}
		return string(text)
	}
	closed := unit()
	for _, args := range [][]string{{"--judge-agents", "--yes"}, {"--yes"}} {
		if r := m.setup(args...); r.code != 0 || strings.Contains(unit(), "\nRestrictNamespaces=") || !strings.Contains(unit(), "\nSystemCallFilter=@mount ") {
			m.t.Errorf("%v: %d\n%s%s\n%s", args, r.code, r.out, r.err, unit())
		}
	}
	m.fenced(2.7)
	if r := m.setup("--judge-agents=false", "--yes"); r.code != 0 || unit() != closed || m.tree() != before || !strings.Contains(closed, "\nRestrictNamespaces=yes\n") {
		m.t.Errorf("taken back: %d\n%s%s\n%s", r.code, r.out, r.err, unit())
	}
}

// fenced checks that systemd rates the unit's exposure as at most most.
func (m *throwaway) fenced(most float64) {
	m.t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		m.t.Log("systemd-analyze is not here: the unit's exposure is not measured")
		return
	}
	said, err := exec.CommandContext(m.t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", "--root="+m.root, "vaglio.service").CombinedOutput()
	if found := regexp.MustCompile(`exposure level for vaglio.service: ([0-9.]+)`).FindSubmatch(said); err != nil || len(found) == 0 {
		m.t.Errorf("systemd-analyze: %v\n%s", err, said)
	} else if score, err := strconv.ParseFloat(string(found[1]), 64); err != nil || score > most {
		m.t.Errorf("the unit's exposure is %s, at most %.1f\n%s", found[1], most, said)
	}
}

func TestSetupRefusesWhatCannotBe(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	m := newThrowaway(t)
	if err := os.Symlink("/", m.at("home/claude/up")); err != nil {
		t.Fatal(err)
	}
	before := m.tree()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoUser":      {[]string{"--agent", "bob"}, `--agent: there is no user "bob"; make one`},
		"Owner":       {[]string{"--agent", "owner"}, "people would take it for somebody else"},
		"Empty":       {[]string{"--agent", ""}, "--agent: name: is empty"},
		"Root":        {[]string{"--agent", "root"}, "is root, which nothing can confine"},
		"Relative":    {[]string{"--workspace", "work"}, "--workspace: \"work\" is not an absolute path"},
		"All":         {[]string{"--workspace", "/"}, "is a home or holds homes"},
		"Home":        {[]string{"--workspace", "/home/claude"}, "is a home or holds homes"},
		"Homes":       {[]string{"--workspace", "/home"}, "is a home or holds homes"},
		"Absent":      {[]string{"--workspace", "/nowhere"}, "no such file"},
		"Out":         {[]string{"--workspace", "/home/claude/up/etc"}, "leads out of"},
		"NoSystem":    {[]string{"--root", "/proc/self/task"}, "holds no folder etc"},
		"Both":        {[]string{"--uninstall", "--agent", "claude"}, "cannot be given together"},
		"Superfluous": {[]string{"now"}, "takes no argument"},
	} {
		t.Run(name, func(t *testing.T) {
			r := m.setup(append(c.args, "--yes")...)
			if r.code != 2 || !strings.Contains(r.err, c.want) || m.tree() != before {
				t.Errorf("%d, want 2 and %q\n%s%s", r.code, c.want, r.out, r.err)
			}
		})
	}
	if r := m.setup("--agent", "admin", "--dry-run"); r.code != 0 || !strings.Contains(r.out, "note  the user admin is in the group sudo and may become root") {
		t.Errorf("an agent who may become root: %d\n%s%s", r.code, r.out, r.err)
	}
	if said, err := exec.CommandContext(t.Context(), "setpriv", "--reuid", strconv.Itoa(claude), "--clear-groups", binary, "setup", "--yes").CombinedOutput(); err == nil ||
		!strings.Contains(string(said), "takes root") {
		t.Errorf("without rights: %v %s", err, said)
	}
}

// serve starts the daemon as its user, as the unit says.
func (m *throwaway) serve(args ...string) *served {
	m.t.Helper()
	unit, err := os.ReadFile(m.at("etc/systemd/system/vaglio.service"))
	if err != nil {
		m.t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^Environment=(.*)$`).FindSubmatch(unit)
	if said == nil || !bytes.Contains(unit, []byte("\nExecStart=/usr/local/bin/vaglio serve\n")) {
		m.t.Fatalf("the unit starts something else:\n%s", unit)
	}
	// The system is below a folder, and its groups only have names there.
	env := strings.NewReplacer("/run/", m.at("run")+"/", "vaglio-agents", strconv.Itoa(m.number("group", "vaglio-agents"))).Replace(string(said[1]))
	settings, err := os.ReadFile(m.at("etc/vaglio/vaglio.env"))
	if err != nil {
		m.t.Fatal(err)
	}
	set := regexp.MustCompile(`(?m)^\w+=.*$`).FindAllString(string(settings), -1)
	h := &home{m.t, m.at("var/lib/vaglio"), append(strings.Fields(env), set...)}
	return h.start(func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, args...)
		cmd.Path, cmd.Args[0] = m.at("usr/local/bin/vaglio"), m.at("usr/local/bin/vaglio")
		who := &syscall.Credential{Uid: uint32(m.number("passwd", "vaglio")), Gid: uint32(m.number("group", "vaglio"))}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	})
}

// exploits runs what an agent did to a gate that ran as its own user: as another user, who must not
// succeed, and as the serving user where that user can do it.
func (m *throwaway) exploits(s *served, waits approval.ID) {
	m.t.Helper()
	t, socket := m.t, "curl -sf --unix-socket "+m.at("run/vaglio/agent.sock")+" http://vaglio"
	data, program, pid := m.at("var/lib/vaglio/.local/share/metnos"), m.at("usr/local/bin/vaglio"), s.cmd.Process.Pid
	for name, c := range map[string]struct {
		script string
		// owners is set if the serving user can do it.
		owners bool
	}{
		"F2OwnersSocket":  {"curl -sf -X POST --unix-socket " + data + "/admin.sock http://vaglio/inbox-link", true},
		"F2OwnersCommand": {"HOME=" + m.at("var/lib/vaglio") + " " + program + " inbox", true},
		"F2OwnersFolder":  {"METNOS_DATA_DIR=" + data + " " + program + " deny " + string(waits) + " no", false},
		"F2NamesAnAgent":  {"METNOS_DATA_DIR=" + data + " " + program + " agent add other", true},
		"F2OnTheirSocket": {socket + "/inbox-link -X POST", false},
		"F3CopyOfData":    {"cp -r " + m.at("var/lib/vaglio") + " m && test -s m/.local/share/metnos/vaglio.db", true},
		"F3CopyFromAbove": {"cp -r " + m.at("var/lib") + " m; test -s m/vaglio/.local/share/metnos/vaglio.db", true},
		// 1 is said of a file that changes meanwhile, as the daemon's store may; 2 of one that
		// cannot be read.
		"F3Archive":        {"{ tar czf m.tgz -C " + m.at("var") + " lib || test $? = 1; } && tar tzf m.tgz | grep -q vaglio.db", true},
		"F3Token":          {"cat " + data + "/agent.token", true},
		"F3Key":            {"cat " + data + "/history.key", true},
		"F3Memory":         {fmt.Sprintf("cat /proc/%d/maps && test -s /proc/%d/maps && cat /proc/%d/environ", pid, pid, pid), false},
		"F3OpenFiles":      {fmt.Sprintf("ls /proc/%d/fd", pid), false},
		"F14Journal":       {"grep -r code= " + m.at("run") + " " + m.at("etc") + " " + m.at("home"), false},
		"Kill":             {fmt.Sprintf("kill -0 %d", pid), true},
		"ReplaceProgram":   {"cp /bin/true " + program, false},
		"ReplaceProgramBy": {"mv " + program + " " + program + ".old", false},
		"ReplaceUnit":      {"echo >> " + m.at("etc/systemd/system/vaglio.service"), false},
		"ReplaceSettings":  {"echo METNOS_JUDGE_THRESHOLD=0 >> " + m.at("etc/vaglio/vaglio.env"), false},
		"ReadSettings":     {"cat " + m.at("etc/vaglio/vaglio.env"), true},
		"ReplaceSocket":    {"rm -f " + m.at("run/vaglio/agent.sock") + " && test ! -e " + m.at("run/vaglio/agent.sock"), false},
		"ANewSocket":       {"touch " + m.at("run/vaglio/other"), false},
		"F5StolenCookie":   {s.signIn(s.link).replays("allow"), false},
	} {
		if said, err := m.as("claude", c.script); err == nil {
			t.Errorf("%s succeeds: %s", name, said)
		}
		if !c.owners {
			continue
		}
		if said, err := m.as("vaglio", c.script); err != nil {
			t.Errorf("%s proves nothing: it fails for the serving user, too: %v %s", name, err, said)
		}
	}
	// Not even the serving user may look into the process.
	for what, script := range map[string]string{
		"environ": fmt.Sprintf("cat /proc/%d/environ", pid), "mem": fmt.Sprintf("dd if=/proc/%d/mem of=m bs=1 count=1 skip=4194304", pid),
		"open files": fmt.Sprintf("ls /proc/%d/fd", pid), "gcore": fmt.Sprintf("gcore -o core %d && ls core*", pid),
	} {
		if said, err := m.as("vaglio", script); err == nil {
			t.Errorf("the serving user looks into the process by %s: %s", what, said)
		}
	}
}

// replays returns a shell command that posts the choice with the cookie of p, but not its key.
func (p *person) replays(choice string) string {
	p.t.Helper()
	f, ok := buttons(p.t, p.get("/inbox").body)[choice]
	u, err := url.Parse(p.base + "/inbox/decide")
	if err != nil || !ok {
		p.t.Fatalf("the inbox has no button to %s, or: %v", choice, err)
	}
	var cookies []string
	for _, c := range p.http.Jar.Cookies(u) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	if len(cookies) == 0 {
		p.t.Fatal("there is no cookie")
	}
	return fmt.Sprintf("curl -sf -b '%s' -H 'Origin: %s' -H 'Sec-Fetch-Site: same-origin' -d '%s' %s", strings.Join(cookies, "; "), p.base, f.Encode(), u)
}

// TestTheExploitsFromAnotherUser runs what an agent did to a gate that ran as its own user against
// a gate with a user of its own: nothing may succeed. What the serving user could do is also run as
// that user, to notice an exploit that does nothing.
func TestTheExploitsFromAnotherUser(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	m := newThrowaway(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	if r := m.setup("--agent", "claude", "--workspace", "/home/claude/work", "--yes"); r.code != 0 {
		t.Fatalf("set up: %d\n%s%s", r.code, r.out, r.err)
	}
	s := m.serve()
	const call = `{"intent":"x","executor":"shell_exec","args":{"command":"git push --force origin main"},"context":{"capability":"code:exec","cwd":"/srv"}}`
	socket := "curl -sf --unix-socket " + m.at("run/vaglio/agent.sock") + " http://vaglio"
	said, err := m.as("claude", socket+"/v1/proposals -H 'Content-Type: application/json' -d '"+call+"'")
	if err != nil || !strings.Contains(said, `"decision":"pending"`) {
		t.Fatalf("the agent cannot ask: %v %s", err, said)
	}
	waiting := s.waiting(1)
	if waiting[0].Agent != "claude" {
		t.Errorf("the agent is %q", waiting[0].Agent)
	}
	m.exploits(s, waiting[0].ID)
	if said := s.out.String() + s.log.String(); strings.Contains(said, "code=") {
		t.Errorf("what the journal has holds a link that signs in:\n%s", said)
	}
	var list owner.SessionList
	r := s.h.run("", "session", "list", "--json")
	if err := strictjson.Unmarshal([]byte(r.out), &list); err != nil || len(list.Sessions) != 1 {
		t.Errorf("others are signed in than the one whose cookie was stolen: %v %s%s", err, r.out, r.err)
	}
	if left := s.waiting(1); left[0].ID != waiting[0].ID {
		t.Errorf("something else waits: %+v", left)
	}
	if said, err := m.as("vaglio", "HOME="+m.at("var/lib/vaglio")+" "+m.at("usr/local/bin/vaglio")+" doctor"); err != nil || !strings.Contains(said, "ok       boundary") {
		t.Errorf("the doctor: %v\n%s", err, said)
	}
	s.signIn(strings.TrimSpace(s.h.run("", "inbox").out)).decide("allow", "")
	said, err = m.as("claude", socket+"/v1/approvals/"+string(waiting[0].ID))
	permit := regexp.MustCompile(`"permit":"([^"]+)"`).FindStringSubmatch(said)
	if err != nil || permit == nil {
		t.Fatalf("the person's yes does not reach the agent: %v %s", err, said)
	}
	said, err = m.as("claude", "curl -s -o /dev/null -w '%{http_code}' --unix-socket "+m.at("run/vaglio/agent.sock")+" http://vaglio/v1/permits/"+permit[1]+
		"/redeem -H 'Content-Type: application/json' -d '"+call+"'")
	if err != nil || said != strconv.Itoa(http.StatusNoContent) {
		t.Errorf("the permit: %v %s", err, said)
	}
}

// TestTheWholeWalk sets up a gate on a new system, has another user's coding agent ask through its
// hook, and has a person allow in a browser with a passkey. Each sign-in appears in the chat. In
// the end the doctor finds nothing, and the agent does not succeed with what it could do to a gate
// of its own user.
func TestTheWholeWalk(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	page := browser(t)
	m, chat := newThrowaway(t), newChat(t)
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", m.at(""), "../vaglio-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if said, err := exec.CommandContext(t.Context(), "cp", binary, m.at("vaglio")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, args := range [][]string{{"--dry-run"}, {"--yes"}} {
		setup := exec.CommandContext(t.Context(), m.at("vaglio"), slices.Concat([]string{"setup", "--root", m.root, "--agent", "claude", "--workspace", "/home/claude/work"}, args)...)
		if said, err := setup.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("make the system user vaglio")) {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	settings, err := os.OpenFile(m.at("etc/vaglio/vaglio.env"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = settings.WriteString("METNOS_TELEGRAM_TOKEN=" + telegramtest.Token + "\n")
		err = errors.Join(err, settings.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s := m.serve("--telegram-api", chat.url)
	chat.pair(s)

	calls := "METNOS_AGENT_SOCKET=" + m.at("run/vaglio/agent.sock") + " " + m.at("usr/local/bin/vaglio-hook") + " claude-code <<'EOF'\n" + hookCall + "\nEOF\n"
	type ended struct {
		said string
		err  error
	}
	called := make(chan ended, 1)
	go func() { said, err := m.as("claude", calls); called <- ended{said, err} }()
	if waiting := s.waiting(1); waiting[0].Agent != "claude" {
		t.Errorf("the agent is %q", waiting[0].Agent)
	}
	// A passkey is bound to a name, which a numeric address is not.
	if err := page.do(t, "passkey", strings.Replace(s.link, "127.0.0.1", "localhost", 1)); err != nil {
		t.Fatalf("in the browser: %v\n%s", err, s.log)
	}
	if end := <-called; end.err != nil || !strings.Contains(end.said, `"permissionDecision":"allow"`) {
		t.Errorf("the agent is told: %v %s", end.err, end.said)
	}
	signIns := func(n int) {
		t.Helper()
		chat.await(fmt.Sprintf("of sign-in %d", n), func(telegramtest.Message) bool {
			told := slices.DeleteFunc(chat.Messages(chat.chat), func(m telegramtest.Message) bool {
				return !strings.Contains(m.Text, "A browser signed in to the inbox")
			})
			return len(told) == n
		})
	}
	signIns(1)
	chat.await("of the passkey", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "Laptop") })
	saidAt(t, s.h.run("", "log").out, "signed-in", "passkey", "allowed")
	if said, err := m.as("vaglio", "HOME="+m.at("var/lib/vaglio")+" "+m.at("usr/local/bin/vaglio")+" doctor"); err != nil || !strings.Contains(said, "ok       boundary") {
		t.Errorf("the doctor: %v\n%s", err, said)
	}

	s.link = strings.TrimSpace(s.h.run("", "inbox").out)
	calls = strings.NewReplacer("origin main", "origin release", "toolu_1", "toolu_2").Replace(calls)
	go func() { said, err := m.as("claude", calls); called <- ended{said, err} }()
	waits := s.waiting(1)[0].ID
	m.exploits(s, waits) // one of them steals the cookie of a second browser
	signIns(2)
	if left := s.waiting(1); left[0].ID != waits {
		t.Errorf("something else waits: %+v", left)
	}
	if r := s.h.run("", "deny", string(waits), "no"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if end := <-called; end.err != nil || !strings.Contains(end.said, `"permissionDecision":"deny"`) {
		t.Errorf("the agent is told: %v %s", end.err, end.said)
	}
}
