package sandbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/metnos/vaglio/internal/race"
)

const attackerName = "attacker"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == attackerName || len(os.Args) > 1 && filepath.Base(os.Args[0]) == "exe" {
		attacker(os.Args[1:])
	}
	if len(os.Args) > 2 && os.Args[1] == orphanMaker {
		makeOrphans(os.Args[2:])
	}
	os.Exit(m.Run())
}

// world is a machine for tests: a workspace with secrets, listeners outside, and a host with the
// attacker among its programs.
type world struct {
	host   *Host
	root   string // the policy's workspace
	ws     string // the mounted folder
	secret string // a file outside that everybody may read
	tcp    string
	udp    string
	socket string // the name of an abstract one
	suid   string // the attacker, setuid root if the tests run as root
	heard  chan string
}

func isSecret(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".env" || part == ".ssh" || part == "keys" || part == "keys.real" {
			return true
		}
	}
	return false
}

// sharedDir returns a temporary folder that other users may enter, because root's commands run as
// another user.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "vaglio-sandbox-") //nolint:usetesting // that one's parent is ours alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes files that everybody may change, owned by the sandbox's user: permissions are not
// what must stop an attack.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	giveAway(t, dir)
}

// giveAway gives a folder and everything in it to the sandbox's user.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || sandboxUser() < 0 {
			return err
		}
		return os.Lchown(path, sandboxUser(), sandboxUser())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld needs bubblewrap. Without it, a test is skipped, but fails in continuous integration.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir := sharedDir(t)
	w := &world{root: dir + "/work", ws: dir + "/work/app", secret: dir + "/secret", heard: make(chan string, 100)}
	write(t, w.ws, map[string]string{
		"code.go": "package app\n\nfunc a() { b(1) }\n", "sub/deep/text.txt": "one\ntwo\nthree\n", ".env": canary, ".ssh/id_rsa": canary,
		"sub/.ssh/id_rsa": canary, "keys.real": canary,
	})
	write(t, dir, map[string]string{"secret": canary, "bin/.keep": ""})
	for link, to := range map[string]string{"out": w.secret, "out-dir": dir, "to-env": ".env", "keys": "keys.real", "in": "sub/deep", "up": "../../secret"} {
		if err := os.Symlink(to, filepath.Join(w.ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.suid = dir + "/bin/suid-" + attackerName
	for _, path := range []string{dir + "/bin/" + attackerName, dir + "/bin/suid/" + attackerName} {
		copyAttacker(t, path)
	}
	w.suid = dir + "/bin/suid/" + attackerName
	if err := os.Chown(w.suid, os.Geteuid(), os.Getegid()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.suid, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	w.listen(t)
	host, err := Find(t.Context(), HostConfig{Scratch: dir + "/scratch", Programs: []string{dir + "/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if layer := host.Layer(); layer.Name != LayerBubblewrap {
		// A machine that forbids namespaces cannot run these tests. One that only lacks the program is
		// not set up.
		if _, err := exec.LookPath("bwrap"); err != nil && os.Getenv("CI") != "" {
			t.Fatal("no bubblewrap: " + layer.Why)
		}
		t.Skip("no bubblewrap: " + layer.Why)
	}
	w.host = host
	return w
}

func copyAttacker(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
}

// listen lets somebody outside answer all connections.
func (w *world) listen(t *testing.T) {
	t.Helper()
	answer := func(l net.Listener) {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.heard <- l.Addr().String()
			_, _ = c.Write([]byte("x"))
			c.Close()
		}
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.socket = fmt.Sprintf("vaglio-test-%d", os.Getpid())
	abstract, err := net.Listen("unix", "@"+w.socket)
	if err != nil {
		t.Fatal(err)
	}
	path, err := net.Listen("unix", w.ws+"/agent.sock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.ws+"/agent.sock", 0o777); err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 10)
		for {
			_, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			w.heard <- "udp"
			_, _ = udp.WriteTo(b[:1], from)
		}
	}()
	for _, l := range []net.Listener{tcp, abstract, path} {
		go answer(l)
		t.Cleanup(func() { l.Close() })
	}
	t.Cleanup(func() { udp.Close() })
	w.tcp, w.udp = tcp.Addr().String(), udp.LocalAddr().String()
}

func (w *world) config() Config {
	return Config{Host: w.host, Roots: []string{w.root}, Mounts: []string{w.ws}, Hide: isSecret, Allow: []string{attackerName, "sh", "true"}}
}

func (w *world) open(t *testing.T, c Config) *Sandbox {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// attack runs an attack with everything that the attacker knows about the world.
func (w *world) attack(t *testing.T, s *Sandbox, name, where string) RunResult {
	t.Helper()
	r, err := s.Run(t.Context(), RunRequest{Argv: []string{attackerName, name, where, w.secret, w.tcp, w.udp, w.socket, fmt.Sprint(os.Getpid()), w.suid}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Stdout.Text, errEscaped.Error()) || r.ExitCode == 66 || r.ExitCode == 99 || strings.Contains(r.Stdout.Text, canary) {
		t.Errorf("%s: %d %s%s", name, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	return r
}

// TestEscapes runs every attack that ends by itself. None may get out, and each must have been
// tried: its output says what stopped it.
func TestEscapes(t *testing.T) {
	t.Setenv("VAGLIO_TEST_SECRET", canary)
	w := newWorld(t)
	s := w.open(t, w.config())
	before := snapshot(t, w.ws)
	for _, part := range []map[string]func([]string) error{fileAttacks(), netAttacks(), processAttacks(), kernelAttacks()} {
		for name := range part {
			if slices.Contains([]string{"scratch", "outlive", "deadline", "whoami", "kill-all"}, name) {
				continue // tested below
			}
			t.Run(name, func(t *testing.T) {
				r := w.attack(t, s, name, w.ws)
				if !strings.HasPrefix(r.Stdout.Text, "held: ") && name != "loopback" {
					t.Errorf("the attack was not carried out: %d %q %s %s", r.ExitCode, r.Ended, r.Stdout.Text, r.Stderr.Text)
				}
				t.Log(strings.ReplaceAll(r.Stdout.Text, "\n", "; "))
			})
		}
	}
	if after := snapshot(t, w.ws); after != before {
		t.Errorf("the workspace changed:\n%s\nwas\n%s", after, before)
	}
	select {
	case who := <-w.heard:
		t.Errorf("%s was reached", who)
	default:
	}
}

// TestAttacksWorkOutside proves that the attacks are real: without a sandbox they succeed.
func TestAttacksWorkOutside(t *testing.T) {
	t.Setenv("VAGLIO_TEST_SECRET", canary)
	w, own := newWorld(t), t.TempDir()
	for _, name := range []string{
		"outside", "hidden", "symlink-out", "tcp", "udp", "abstract-socket", "path-socket", "environ", "kill", "hidden-memory",
		"chmod", "utimes", "setuid-file", "overwrite", "create", "rename", "proc-root", "i386",
	} {
		args := []string{name, w.ws, w.secret, w.tcp, w.udp, w.socket, fmt.Sprint(os.Getpid()), w.suid}
		c := exec.Command(filepath.Dir(filepath.Dir(w.suid))+"/"+attackerName, args...)
		c.Dir, c.Env = w.ws, append(os.Environ(), "TMPDIR="+own)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 66 {
			if name == "i386" {
				t.Logf("this kernel runs no i386 programs: %s", out)
				continue
			}
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

// snapshot describes a folder's contents.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestResources runs every bomb. The limit it is about must end it.
func TestResources(t *testing.T) {
	if race.Detector {
		// The attacker is the tests' own binary.
		t.Skip("the race detector takes more memory than the limits leave; 'make test' lets the bombs off")
	}
	w := newWorld(t)
	// The time limit is for the bombs that it ends; on a busy machine the others take long.
	limits := Limits{Time: 20 * time.Minute, Memory: 192 * mib, Disk: 32 * mib, Output: 4096}
	for _, c := range []struct {
		name, where, held, ended string
		refused                  string // the output if not even the attacker gets what it needs
		scratch                  Scratch
		time                     time.Duration
		processes                int
	}{
		{name: "fork-bomb", processes: 64, held: "resource temporarily unavailable", refused: "failed to create new OS thread"},
		// A shell without a process to fork ends at once; which of them gets none is chance.
		{name: "fork-shell", processes: 64, ended: "it took longer than 2s", refused: "ork", time: 2 * time.Second},
		{name: "memory", ended: "memory"},
		{name: "memory-many", ended: "memory"},
		{name: "memory-shared", ended: "memory"},
		{name: "fill", where: "/tmp", held: "no space left on device"},
		{name: "fill", where: "/home/judge", held: "no space left on device"},
		{name: "fill", where: "/dev/shm", held: "no space left on device"},
		{name: "fill", ended: "it wrote more than 32 MiB", scratch: CopyScratch},
		{name: "fill-one", held: "file too large", scratch: CopyScratch},
		{name: "names", where: "/tmp", ended: "it made more than 200000 files"},
		{name: "spin", ended: "it took longer than 1s", time: time.Second},
		{name: "deadline", ended: "it took longer than 1s", time: time.Second},
	} {
		t.Run(c.name+c.where+string(c.scratch), func(t *testing.T) {
			config := w.config()
			config.Limits, config.Scratch = limits, c.scratch
			config.Limits.Processes = c.processes
			if c.time > 0 {
				config.Limits.Time = c.time
			}
			s := w.open(t, config)
			where := c.where
			if where == "" {
				where = w.ws
			}
			r := w.attack(t, s, c.name, where)
			stopped := c.ended != "" && strings.Contains(r.Ended, c.ended)
			held := c.held != "" && r.Ended == "" && strings.Contains(r.Stdout.Text, c.held)
			refused := c.refused != "" && r.Ended == "" && r.ExitCode > 0 && strings.Contains(r.Stderr.Text, c.refused)
			if !stopped && !held && !refused {
				t.Errorf("ended %q, code %d after %s: %s %s", r.Ended, r.ExitCode, r.Duration, r.Stdout.Text, r.Stderr.Text)
			}
			if (r.Ended != "") != (r.ExitCode == -1) {
				t.Errorf("ended %q with %d", r.Ended, r.ExitCode)
			}
			t.Logf("%s: %q %s", r.Duration, r.Ended, r.Stdout.Text)
			nobodyLeft(t)
		})
	}
}

// nobodyLeft fails if a process of a sandbox is still running.
func nobodyLeft(t *testing.T) {
	t.Helper()
	for _, pid := range descendants(os.Getpid())[1:] {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if !strings.Contains(string(status), ") Z ") && len(line) > 0 {
			t.Errorf("process %d is left: %q", pid, line)
		}
	}
}

func TestOutput(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Limits.Output = 1000
	s := w.open(t, config)
	r := w.attack(t, s, "flood", w.ws)
	if r.Stdout.Bytes < 512<<20 || len(r.Stdout.Text) > 1100 || r.Stdout.Cut == "" || !strings.HasPrefix(r.Stdout.Text, "yyy") ||
		!strings.HasSuffix(r.Stdout.Text, "the end of the flood\n") || !strings.Contains(r.Stdout.Text, "left out") {
		t.Errorf("%d bytes, cut %q: %q", r.Stdout.Bytes, r.Stdout.Cut, r.Stdout.Text)
	}
}

// TestNothingOutlivesItsCommand leaves processes behind when the command ends.
func TestNothingOutlivesItsCommand(t *testing.T) {
	w := newWorld(t)
	s := w.open(t, w.config())
	r := w.attack(t, s, "outlive", w.ws)
	if !strings.HasPrefix(r.Stdout.Text, "held: left") || r.Ended != "" {
		t.Errorf("%+v", r)
	}
	nobodyLeft(t)
	r = w.attack(t, s, "kill-all", w.ws)
	if r.Ended != "" {
		t.Errorf("%+v", r)
	}
}

// TestScratch writes to a copy. The workspace must not change, and nothing may be left afterwards.
func TestScratch(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Scratch = CopyScratch
	before := snapshot(t, w.ws)
	s := w.open(t, config)
	dir := s.scratch.dir
	r := w.attack(t, s, "scratch", w.ws)
	if !strings.HasPrefix(r.Stdout.Text, "held: ") {
		t.Errorf("%+v", r)
	}
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/new"}); err != nil || got.Text != "x" {
		t.Errorf("what was written in the copy reads %+v, %v", got, err)
	}
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/in/text.txt", Line: 2, Most: 1}); err != nil || got.Text != "two\n" || got.Path != w.ws+"/sub/deep/text.txt" {
		t.Errorf("a link within reads %+v, %v", got, err)
	}
	r, err := s.Run(t.Context(), RunRequest{Command: `sh -c "chmod 000 sub; mkdir -p a/b/c; echo x > a/b/c/d; chmod 000 a/b/c a/b a; ls -A"`})
	if err != nil || r.ExitCode != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, name := range []string{"out", "up", "out-dir", ".env", ".ssh", "keys.real", "agent.sock"} {
		if slices.Contains(strings.Fields(r.Stdout.Text), name) {
			t.Errorf("the copy has %s:\n%s", name, r.Stdout.Text)
		}
	}
	if after := snapshot(t, w.ws); after != before {
		t.Errorf("the workspace changed:\n%s\nwas\n%s", after, before)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Dir(dir) + "/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	config.Limits.Copy = 20
	if _, err := Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "too much for a private copy") {
		t.Errorf("too large a copy: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(dir) + "/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestUnixSocketsInACopy proves that Unix sockets, which a project's tests need, work where nobody
// else can listen.
func TestUnixSocketsInACopy(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Scratch = CopyScratch
	s := w.open(t, config)
	if r := w.attack(t, s, "abstract-socket", w.ws); !strings.Contains(r.Stdout.Text, "connection refused") {
		t.Errorf("%+v", r)
	}
	if r := w.attack(t, s, "path-socket", w.ws); !strings.Contains(r.Stdout.Text, "no such file") {
		t.Errorf("%+v", r)
	}
}

// TestNetwork proves that the network can be reached only if the configuration opens it.
func TestNetwork(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Network = OpenNetwork
	s := w.open(t, config)
	if r := w.attack(t, s, "open-network", w.ws); !strings.HasPrefix(r.Stdout.Text, "done") {
		t.Errorf("%+v", r)
	}
	if who := <-w.heard; who != w.tcp {
		t.Errorf("%s was reached", who)
	}
	if r := w.attack(t, s, "abstract-socket", w.ws); !strings.HasPrefix(r.Stdout.Text, "held: ") {
		t.Errorf("%+v", r)
	}
}

// TestMountRace keeps exchanging a mount for a symlink to elsewhere while sandboxes are created with
// it.
func TestMountRace(t *testing.T) {
	w := newWorld(t)
	race := w.root + "/race"
	write(t, race, map[string]string{"id": "fine"})
	outside := filepath.Dir(w.root) + "/outside"
	write(t, outside, map[string]string{"id": canary})
	link := w.root + "/link"
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, race, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
				time.Sleep(rand.N(20 * time.Millisecond)) // so that some get through
			}
		}
	}()
	ran := 0
	tries := 0
	for ; ran < 20 && tries < 5000; tries++ {
		config := w.config()
		config.Mounts = []string{race}
		s, err := Open(t.Context(), config)
		if err != nil {
			if _, ok := errors.AsType[MountError](err); !ok {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			continue
		}
		if r, err := s.Read(t.Context(), ReadRequest{Path: race + "/id"}); err == nil && r.Text != "fine" {
			t.Errorf("read %q", r.Text)
		}
		if r, err := s.Run(t.Context(), RunRequest{Command: "sh -c 'cat id'", Dir: race}); err == nil {
			ran++
			if strings.Contains(r.Stdout.Text, canary) {
				t.Error("the mount was exchanged")
			}
		}
		s.Close()
	}
	close(stop)
	<-stopped
	t.Logf("%d of %d ran", ran, tries)
	if ran == 0 {
		t.Error("none ran")
	}
}
