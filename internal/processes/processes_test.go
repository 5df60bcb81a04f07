package processes_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/processes"
	"github.com/metnos/vaglio/vaglio"
)

// machine writes a folder like Linux's /proc, of a machine that has been running for an hour.
type machine struct {
	*testing.T
	dir string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t, t.TempDir()}
	m.write("uptime", "3600.00 7000.00\n")
	return m
}

func (m machine) write(name, text string) {
	m.Helper()
	name = filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// runs adds a process that started that many hundredths of a second after boot.
func (m machine) runs(pid, parent, began int, name, words, cwd string, sockets ...int) {
	m.Helper()
	at := strconv.Itoa(pid)
	m.write(at+"/stat", fmt.Sprintf("%d (%s) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 9 9\n", pid, name, parent, began))
	m.write(at+"/cmdline", words)
	if cwd != "" {
		m.link(cwd, at+"/cwd")
	}
	for i, s := range sockets {
		m.link(fmt.Sprintf("socket:[%d]", s), fmt.Sprintf("%s/fd/%d", at, i+3))
	}
}

func (m machine) link(to, name string) {
	m.Helper()
	name = filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.Symlink(to, name); err != nil {
		m.Fatal(err)
	}
}

// listens adds the line of a socket with a local and a remote port.
func (m machine) listens(kind string, port, to uint16, user, number int) {
	m.Helper()
	name := filepath.Join(m.dir, "net", kind)
	before, _ := os.ReadFile(name)
	m.write("net/"+kind, string(before)+
		fmt.Sprintf("  0: 0100007F:%04X 0100007F:%04X 0A 00000000:00000000 00:00000000 00000000 %d 0 %d 1 0 100\n", port, to, user, number))
}

func TestProcessesAreListed(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(1, 0, 1, "init", "/sbin/init\x00", "")
	m.runs(40, 1, 350_000, "npm run dev", "npm run dev\x00\x00\x00", "/home/u/app")
	m.write("self", "")
	m.write("77/status", "no stat: it ended meanwhile")
	got, err := processes.Machine{System: m.dir}.List()
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	slices.SortFunc(got, func(a, b vaglio.Process) int { return a.PID - b.PID })
	p := got[1]
	if p.PID != 40 || p.Parent != 1 || p.Name != "npm run dev" || !slices.Equal(p.Words, []string{"npm run dev"}) || p.Cwd != "/home/u/app" {
		t.Errorf("%+v", p)
	}
	if apart := p.Started.Sub(got[0].Started); apart != 349_999*10*time.Millisecond {
		t.Errorf("started %s apart", apart)
	}
	if got[0].Cwd != "" {
		t.Errorf("a folder that cannot be seen is %q", got[0].Cwd)
	}
}

// TestWhatIsNotToldIsAnError removes the folder, or corrupts its files.
func TestWhatIsNotToldIsAnError(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(m *machine){
		"no folder": func(m *machine) { m.dir = filepath.Join(m.dir, "none") },
		"uptime":    func(m *machine) { m.write("uptime", "soon") },
		"stat":      func(m *machine) { m.write("40/stat", "40 npm"); m.write("40/cmdline", "") },
		"another":   func(m *machine) { m.runs(40, 1, 5, "x", "x", ""); m.write("40/stat", "41 (x) S 1 1 1 0\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			spoil(&m)
			if got, err := (processes.Machine{System: m.dir}).List(); err == nil {
				t.Errorf("no error, but %+v", got)
			}
		})
	}
}

func TestWhoUsesAPort(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(40, 1, 5, "node", "node\x00", "/home/u/app", 900)
	m.runs(41, 1, 5, "firefox", "firefox\x00", "/home/u", 700, 901)
	m.runs(42, 1, 5, "sshd", "sshd\x00", "/", 902)
	ours := os.Getuid()
	m.listens("tcp", 3000, 0, ours, 900)
	m.listens("tcp6", 51000, 3000, ours, 901)
	m.listens("tcp", 4000, 0, ours, 902)
	m.listens("udp", 5000, 0, ours, 903)
	m.listens("tcp", 6000, 0, ours+1, 904)
	m.listens("tcp", 7000, 0, ours, 0)
	for port, want := range map[uint16][]int{3000: {40, 41}, 4000: {42}, 6000: nil, 7000: nil, 8000: nil} {
		got, err := processes.Machine{System: m.dir}.Users(port)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v, %v, want %v", port, got, err, want)
		}
	}
	for port, want := range map[uint16]bool{3000: false, 6000: false, 7000: true, 8000: true} {
		if got, err := (processes.Machine{System: m.dir}).Free(port); err != nil || got != want {
			t.Errorf("%d is free: %v, %v, want %v", port, got, err, want)
		}
	}
	if got, err := (processes.Machine{System: m.dir}).Users(5000); err == nil {
		t.Errorf("a socket that nobody is seen to hold gives %v", got)
	}
}

// TestThisProcessIsSeen checks the reading on this machine, if it has such a folder.
func TestThisProcessIsSeen(t *testing.T) {
	t.Parallel()
	all, err := processes.This().List()
	if err != nil {
		t.Skipf("nothing tells of processes here: %v", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(p vaglio.Process) bool { return p.PID == os.Getpid() })
	if at < 0 || all[at].Parent != os.Getppid() || all[at].Cwd != cwd {
		t.Errorf("this process is not among the %d, or another: %d", len(all), at)
	}
	var of net.ListenConfig
	l, err := of.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	// Another process's socket with that port may close during the search.
	if users, err := processes.This().Users(uint16(port)); err == nil && !slices.Contains(users, os.Getpid()) {
		t.Errorf("port %d is used by %v, %v", port, users, err)
	}
}
