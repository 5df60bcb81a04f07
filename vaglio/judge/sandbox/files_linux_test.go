package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// layers returns the hosts on which file tools must be safe: the machine's, one where bubblewrap
// does not run, and one where the kernel has no Landlock.
func layers(t *testing.T, w *world) map[string]*Host {
	t.Helper()
	landlocked, bare := *w.host, *w.host
	landlocked.layer = Layer{Name: LayerLandlock, Version: "1", Why: "bubblewrap does not run here: no user namespaces"}
	bare.landlock = 0
	if w.host.landlock == 0 {
		t.Fatal("this kernel has no Landlock")
	}
	return map[string]*Host{"bubblewrap": w.host, "landlock": &landlocked, "bubblewrap alone": &bare}
}

func TestFileTools(t *testing.T) {
	w := newWorld(t)
	for layer, host := range layers(t, w) {
		t.Run(layer, func(t *testing.T) {
			config := w.config()
			config.Host = host
			s := w.open(t, config)
			read, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/sub/deep/text.txt", Line: 2, Most: 1})
			if err != nil || read.Text != "two\n" || read.Line != 2 || read.Lines != 1 || read.Cut != "the lines from 3 on" || read.Bytes != 14 {
				t.Errorf("%+v, %v", read, err)
			}
			list, err := s.List(t.Context(), ListRequest{Path: w.ws})
			var names []string
			for _, e := range list.Entries {
				names = append(names, e.Name+" "+e.Kind)
			}
			const want = "agent.sock socket, code.go file, in link, out link, out-dir link, sub folder, to-env link, up link"
			if got := strings.Join(names, ", "); err != nil || got != want || list.Cut != "" {
				t.Errorf("%q, %v", got, err)
			}
			found, err := s.Search(t.Context(), SearchRequest{Pattern: `t[wh]`, Name: "*.txt"})
			if err != nil || fmt.Sprint(found.Matches) != fmt.Sprintf("[{%[1]s 2 two} {%[1]s 3 three}]", w.ws+"/sub/deep/text.txt") || found.Files != 1 {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestWhatASecretsNameLeadsTo checks that the target of a secret's name is hidden, under its own
// name, too.
func TestWhatASecretsNameLeadsTo(t *testing.T) {
	w := newWorld(t)
	write(t, w.ws, map[string]string{"conf/production": canary + "\n", "conf/plain": "plain\n", "conf/folder/file": canary + "\n"})
	for link, to := range map[string]string{"sub/.env": "../conf/production", "conf/.ssh": "folder"} {
		if err := os.Symlink(to, filepath.Join(w.ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, scratch := range []Scratch{NoScratch, CopyScratch} {
		for layer, host := range layers(t, w) {
			t.Run(layer+string(scratch), func(t *testing.T) {
				config := w.config()
				config.Host, config.Scratch = host, scratch
				s := w.open(t, config)
				for _, name := range []string{"conf/production", "conf/folder/file"} {
					if r, err := s.Read(t.Context(), ReadRequest{Path: filepath.Join(w.ws, name)}); err == nil {
						t.Errorf("%s reads %+v", name, r)
					}
				}
				if r, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/conf/plain"}); err != nil || r.Text != "plain\n" {
					t.Errorf("%+v, %v", r, err)
				}
				if r, err := s.Search(t.Context(), SearchRequest{Pattern: canary}); err != nil || len(r.Matches) > 0 {
					t.Errorf("%+v, %v", r, err)
				}
				if layer == "landlock" {
					return
				}
				if r, err := s.Run(t.Context(), RunRequest{Command: `sh -c "cat conf/production conf/folder/file conf/plain"`}); err != nil || r.Stdout.Text != "plain\n" {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	}
}

// TestFileEscapes asks file tools for what is outside or hidden.
func TestFileEscapes(t *testing.T) {
	w := newWorld(t)
	if err := unix.Mkfifo(w.ws+"/pipe", 0o666); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		_ = unix.Mknod(w.ws+"/zero", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5)))
	}
	for layer, host := range layers(t, w) {
		config := w.config()
		config.Host = host
		s := w.open(t, config)
		for _, path := range []string{
			"/etc/passwd", w.secret, w.ws + "/../../secret", w.ws + "/out", w.ws + "/up", w.ws + "/out-dir/secret", w.ws + "/in/../../../../secret",
			w.ws + "/.env", w.ws + "/sub/../.env", w.ws + "/to-env", w.ws + "/.ssh", w.ws + "/.ssh/id_rsa", w.ws + "/sub/.ssh/id_rsa", w.ws + "/keys",
			w.ws + "/keys.real", w.ws + "/pipe", w.ws + "/zero", w.ws + "/agent.sock", w.ws + "/missing", w.ws + "x/secret", "code.go", "",
			"/proc/self/root" + w.secret, "/proc/self/environ", w.ws + "/sub/deep/text.txt/../../../../../secret", w.ws + "/code.go\x00", "~/.ssh/id_rsa",
		} {
			t.Run(layer+" "+path, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var wrong ToolError
				read, err := s.Read(ctx, ReadRequest{Path: path})
				if !errors.As(err, &wrong) || read.Text != "" {
					t.Errorf("read %+v, %v", read, err)
				}
				if list, err := s.List(ctx, ListRequest{Path: path}); path != "" && !errors.As(err, &wrong) || len(list.Entries) > 0 && path != "" {
					t.Errorf("list %+v, %v", list, err)
				}
				if found, _ := s.Search(ctx, SearchRequest{Path: path, Pattern: "canary"}); len(found.Matches) > 0 {
					t.Errorf("search %+v", found)
				}
			})
		}
		if found, err := s.Search(t.Context(), SearchRequest{Pattern: "canary|root"}); err != nil || len(found.Matches) > 0 {
			t.Errorf("search %+v, %v", found, err)
		}
	}
}

// TestConfinedThread does on a confined thread what a file tool never would.
func TestConfinedThread(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Host = layers(t, w)["landlock"]
	s := w.open(t, config)
	err := s.confined(t.Context(), &s.mounts[0], func() error {
		_, read := os.ReadFile(w.secret)
		_, list := os.ReadDir("/")
		_, own := os.ReadFile(w.ws + "/code.go")
		if own != nil {
			return own
		}
		_, link := os.ReadFile(w.ws + "/out")
		_, device := os.ReadFile("/dev/null")
		return each(
			must("read", read), must("list", list), must("follow", link), must("device", device), must("create", os.WriteFile(w.ws+"/new", nil, 0o600)),
			must("write", os.WriteFile(w.ws+"/code.go", nil, 0o600)), must("remove", os.Remove(w.ws+"/code.go")), must("make", os.Mkdir(w.ws+"/d", 0o700)),
			must("link", os.Symlink("x", w.ws+"/l")), must("rename", os.Rename(w.ws+"/code.go", w.ws+"/c")), must("truncate", os.Truncate(w.ws+"/code.go", 0)),
			must("mount", unix.Mount("tmpfs", w.ws, "tmpfs", 0, "")), must("signal", unix.Kill(os.Getppid(), 0)), dialRaw(w.tcp),
		)
	})
	if err == nil || errors.Is(err, errEscaped) {
		t.Error(err)
	}
	t.Log(strings.ReplaceAll(fmt.Sprint(err), "\n", "; "))
	// The rest of the process is as before.
	if _, err := os.ReadFile(w.secret); err != nil {
		t.Error(err)
	}
	if err := s.confined(t.Context(), &s.mounts[0], func() error { panic("x") }); err == nil || !strings.Contains(err.Error(), "panic: x") {
		t.Errorf("a panic: %v", err)
	}
}

// dialRaw connects on the calling thread.
func dialRaw(address string) error {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return escaped("%v", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return must("connect", unix.Connect(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte{127, 0, 0, 1}}))
}

// TestFileRace exchanges a file and a folder for symlinks to secrets while they are read.
func TestFileRace(t *testing.T) {
	w := newWorld(t)
	write(t, w.ws, map[string]string{"racy": "fine\n", "racy-dir/id_rsa": "fine\n", "beside/x": ""})
	for link, to := range map[string]string{"evil": w.secret, "evil-dir": ".ssh"} {
		if err := os.Symlink(to, filepath.Join(w.ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, w.ws+"/racy", unix.AT_FDCWD, w.ws+"/evil", unix.RENAME_EXCHANGE)
				_ = unix.Renameat2(unix.AT_FDCWD, w.ws+"/racy-dir", unix.AT_FDCWD, w.ws+"/evil-dir", unix.RENAME_EXCHANGE)
				time.Sleep(rand.N(200 * time.Microsecond))
			}
		}
	}()
	fine := 0
	for layer, host := range layers(t, w) {
		config := w.config()
		config.Host = host
		s := w.open(t, config)
		for range 300 {
			for _, path := range []string{"/racy", "/racy-dir/id_rsa"} {
				if r, err := s.Read(t.Context(), ReadRequest{Path: w.ws + path}); err == nil && r.Text != "fine\n" {
					t.Fatalf("%s: %s reads %q", layer, path, r.Text)
				} else if err == nil {
					fine++
				}
			}
			if r, _ := s.Search(t.Context(), SearchRequest{Pattern: "canary"}); len(r.Matches) > 0 {
				t.Fatalf("%s: found %+v", layer, r)
			}
		}
		if layer == "bubblewrap" {
			copied := config
			copied.Scratch = CopyScratch
			for range 30 {
				c, err := Open(t.Context(), copied)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(c.scratch.dir + "/1/racy"); err == nil && string(text) != "fine\n" {
					t.Errorf("the copy has %q", text)
				}
				if text, err := os.ReadFile(c.scratch.dir + "/1/racy-dir/id_rsa"); err == nil && string(text) != "fine\n" {
					t.Errorf("the copy has %q", text)
				}
				c.Close()
			}
		}
	}
	close(stop)
	<-stopped
	if fine == 0 {
		t.Error("nothing could be read at all")
	}
}

func TestFileBounds(t *testing.T) {
	w := newWorld(t)
	write(t, w.ws, map[string]string{
		"long": strings.Repeat("x", 200<<10) + "\nend\n", "many": strings.Repeat("line\n", 5000), "binary": "a\x00b", "empty": "", "latin": "caff\xe8\n", "open": "a\nb",
	})
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("full/%04d", i)] = ""
	}
	write(t, w.ws, files)
	config := w.config()
	config.Limits.Output = 1000
	s := w.open(t, config)
	for name, want := range map[string]ReadResult{
		"long": {Line: 1, Text: strings.Repeat("x", 1000), Cut: "what is beyond 1000 bytes, in line 1"}, "empty": {Line: 1},
		"latin": {Line: 1, Lines: 1, Text: "caff\uFFFD\n"}, "open": {Line: 1, Lines: 2, Text: "a\nb"},
	} {
		got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/" + name})
		got.Path, got.Bytes = "", 0
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// Half a line could be half a secret, which would not be masked.
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/long", Line: 1, Most: 1}); err != nil || got.Lines != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/many"}); err != nil || got.Text != strings.Repeat("line\n", 200) || got.Cut != "the lines from 201 on" {
		t.Errorf("%d lines, %q, %v", got.Lines, got.Cut, err)
	}
	write(t, w.ws, map[string]string{"secrets": strings.Repeat("a line of text\n", 60) + "token=" + strings.Repeat("s", 200) + "\nend\n"})
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/secrets"}); err != nil || strings.Contains(got.Text, "token") || got.Cut != "the lines from 61 on" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/long", Line: 2}); err != nil || got.Text != "end\n" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/open", Line: 7}); err != nil || got.Text != "" || got.Lines != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/binary"}); err == nil || !strings.Contains(err.Error(), "is not text") {
		t.Error(err)
	}
	if _, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/long", Line: -1}); err == nil {
		t.Error("a line below 0")
	}
	if got, err := s.List(t.Context(), ListRequest{Path: w.ws + "/full"}); err != nil || len(got.Entries) == 0 || len(got.Entries) > 30 ||
		got.Cut != fmt.Sprintf("all but the first %d of 500 entries", len(got.Entries)) {
		t.Errorf("%d entries, %q, %v", len(got.Entries), got.Cut, err)
	}
	got, err := s.Search(t.Context(), SearchRequest{Pattern: "line", Path: w.ws + "/many"})
	if err != nil || len(got.Matches) == 0 || len(got.Matches) > 20 || got.Cut != fmt.Sprintf("the matches after the first %d", len(got.Matches)) {
		t.Errorf("%d matches, %q, %v", len(got.Matches), got.Cut, err)
	}
	for _, q := range []SearchRequest{{}, {Pattern: "("}, {Pattern: "x", Name: "["}, {Pattern: "x", Path: w.ws + "/none"}, {Pattern: strings.Repeat("x", 1001)}} {
		var wrong ToolError
		if _, err := s.Search(t.Context(), q); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(cancelled, SearchRequest{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Run(cancelled, RunRequest{Command: "true"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
