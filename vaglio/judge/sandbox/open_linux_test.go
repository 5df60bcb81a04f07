package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMounts(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Dir(w.root)
	for link, to := range map[string]string{"leads-out": outside, "leads-in": w.ws, "leads-nowhere": filepath.Join(t.TempDir(), "gone"), "leads-round": "leads-round"} {
		if err := os.Symlink(to, filepath.Join(w.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(w.root, outside+"/root-link"); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{
		outside:                       "is outside of the policy's workspaces",
		w.root + "x":                  "does not exist",
		w.root + "/none":              "does not exist",
		w.root + "/leads-out":         "which is outside of the policy's workspaces",
		w.root + "/leads-out/work":    "", // it leads back in
		w.ws + "/out-dir":             "which is outside of the policy's workspaces",
		w.root + "/leads-nowhere":     "does not exist",
		w.root + "/leads-round":       "cannot be read",
		w.ws + "/code.go":             "cannot be opened",
		w.ws + "/.ssh":                "is a place of secrets",
		w.ws + "/..":                  "",
		w.ws + "/../..":               "is outside of the policy's workspaces",
		"work":                        "is not an absolute path",
		"":                            "is not an absolute path",
		"~":                           "is not an absolute path",
		"/":                           "is outside of the policy's workspaces",
		w.ws + "\x00":                 "is not an absolute path",
		w.root + "/leads-in":          "",
		outside + "/root-link/app":    "",
		w.ws + "/sub/../../../secret": "is outside of the policy's workspaces",
		"/proc/self/root" + w.secret:  "is outside of the policy's workspaces",
	} {
		config := w.config()
		config.Mounts = []string{path}
		s, err := Open(t.Context(), config)
		var wrong MountError
		switch {
		case why == "" && err != nil, why != "" && (!errors.As(err, &wrong) || wrong.Mount != path || !strings.Contains(wrong.Why, why)):
			t.Errorf("%q: %v, want %q", path, err, why)
		}
		if err == nil {
			s.Close()
		}
	}
	config := w.config()
	config.Roots, config.Mounts = []string{"/"}, []string{"/usr"}
	if _, err := Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "would lie over /usr") {
		t.Error(err)
	}
	config.Roots = nil
	config.Mounts = []string{w.ws}
	if _, err := Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("without workspaces: %v", err)
	}
}

// TestMountByAnotherName shows a folder at the path of a symlink to it, too.
func TestMountByAnotherName(t *testing.T) {
	w := newWorld(t)
	link := w.root + "/link"
	if err := os.Symlink(w.ws, link); err != nil {
		t.Fatal(err)
	}
	config := w.config()
	config.Mounts = []string{link, w.ws, w.ws + "/sub", link}
	s := w.open(t, config)
	for _, dir := range []string{link, w.ws} {
		r, err := s.Run(t.Context(), RunRequest{Argv: []string{"sh", "-c", "pwd; cat code.go .env"}, Dir: dir})
		if err != nil || !strings.HasPrefix(r.Stdout.Text, w.ws+"\npackage app\n") || strings.Contains(r.Stdout.Text, canary) {
			t.Errorf("%+v, %v", r, err)
		}
		r, err = s.Run(t.Context(), RunRequest{Argv: []string{"sh", "-c", "cat " + dir + "/.env " + dir + "/.ssh/id_rsa " + dir + "/keys.real " + dir + "/code.go"}, Dir: dir})
		if err != nil || strings.Contains(r.Stdout.Text, canary) || !strings.Contains(r.Stdout.Text, "package app") {
			t.Errorf("%+v, %v", r, err)
		}
		if read, err := s.Read(t.Context(), ReadRequest{Path: dir + "/code.go"}); err != nil || read.Path != w.ws+"/code.go" {
			t.Errorf("%+v, %v", read, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Allow = append(config.Allow, "nosuchprogram")
	s := w.open(t, config)
	for _, c := range []struct {
		q   RunRequest
		why string
	}{
		{RunRequest{}, "it is empty"},
		{RunRequest{Command: "true && touch /tmp/x"}, "is not one plain command: it is more than a program"},
		{RunRequest{Command: "true $(id)"}, "expansion"},
		{RunRequest{Command: "true > x"}, "redirection"},
		{RunRequest{Command: "rm -rf x"}, `"rm -rf x" is not in the list of this judge, which has attacker, sh, true`},
		{RunRequest{Argv: []string{"/bin/true"}}, "is not in the list"},
		{RunRequest{Argv: []string{"true"}, Command: "true"}, "not both"},
		{RunRequest{Argv: []string{"true", "a\x00b"}}, "zero byte"},
		{RunRequest{Argv: []string{"true", strings.Repeat("x", 40_000)}}, "at most 32768"},
		{RunRequest{Command: "nosuchprogram"}, `the program "nosuchprogram" is not installed in `},
		{RunRequest{Command: "true", Dir: "/etc"}, "is in none of the folders " + w.ws},
		{RunRequest{Command: "true", Dir: w.ws + "/code.go"}, "is not a folder"},
		{RunRequest{Command: "true", Dir: w.ws + "/out-dir"}, "is not a folder"},
		{RunRequest{Command: "true", Dir: w.ws + "/none"}, "is not a folder"},
	} {
		r, err := s.Run(t.Context(), c.q)
		var wrong ToolError
		if !errors.As(err, &wrong) || wrong.Tool != "cmd.run" || !strings.Contains(wrong.Why, c.why) {
			t.Errorf("%+v: %+v, %v", c.q, r, err)
		}
	}
	r, err := s.Run(t.Context(), RunRequest{Command: "sh -c 'echo out; echo err >&2; exit 7'", Dir: w.ws + "/sub"})
	if err != nil || r.ExitCode != 7 || r.Stdout.Text != "out\n" || r.Stderr.Text != "err\n" || r.Ended != "" {
		t.Errorf("%+v, %v", r, err)
	}
	// A command's options are not taken for options of what starts it.
	r, err = s.Run(t.Context(), RunRequest{Argv: []string{"sh", "-c", `echo "$0 $@"`, "--bind", "/ /", "--"}})
	if err != nil || r.Stdout.Text != "--bind / / --\n" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = s.Run(t.Context(), RunRequest{Argv: []string{"sh", "-c", "kill -KILL $$"}})
	if err != nil || r.ExitCode != 137 {
		t.Errorf("%+v, %v", r, err)
	}
	// A signal to every process that it can reach affects nobody else.
	r, err = s.Run(t.Context(), RunRequest{Argv: []string{"sh", "-c", "trap '' TERM; kill -TERM 0; echo still"}})
	if err != nil || r.Stdout.Text != "still\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	w := newWorld(t)
	for field, change := range map[string]func(*Config){
		"Host": func(c *Config) { c.Host = nil }, "Network": func(c *Config) { c.Network = "none" }, "Scratch": func(c *Config) { c.Scratch = "tmp" },
		"Allow[0]": func(c *Config) { c.Allow = []string{"a|b"} }, "Limits.Time": func(c *Config) { c.Limits.Time = 2 * time.Hour },
	} {
		config := w.config()
		change(&config)
		_, err := Open(t.Context(), config)
		var wrong ConfigError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, c := range map[string]HostConfig{"Scratch": {Scratch: "x"}, "Programs[1]": {Programs: []string{"/usr/bin", filepath.Join(t.TempDir(), "gone")}}} {
		_, err := Find(t.Context(), c)
		var wrong ConfigError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	host, err := Find(t.Context(), HostConfig{})
	if err != nil {
		t.Fatal(err)
	}
	config := w.config()
	config.Host, config.Scratch = host, CopyScratch
	if _, err := Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "no folder is set for private copies") {
		t.Error(err)
	}
}

// TestWithoutBubblewrap checks what still works without user namespaces, and without any layer.
func TestWithoutBubblewrap(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Host = layers(t, w)["landlock"]
	s := w.open(t, config)
	if got := s.Layer(); got.Name != LayerLandlock || got.String() != "landlock 1" {
		t.Errorf("%+v", got)
	}
	var wrong ToolError
	if _, err := s.Run(t.Context(), RunRequest{Command: "true"}); !errors.As(err, &wrong) || wrong.Why != "is refused here: bubblewrap does not run here: no user namespaces" {
		t.Error(err)
	}
	if _, err := s.AstGrep(t.Context(), AstGrepRequest{Pattern: "a", Language: "go"}); !errors.As(err, &wrong) || !strings.Contains(wrong.Why, "is refused here") {
		t.Error(err)
	}
	if r, err := s.Read(t.Context(), ReadRequest{Path: w.ws + "/code.go"}); err != nil || r.Lines != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	config.Host = &Host{layer: Layer{Name: LayerNone, Why: "bubblewrap is not installed; and the kernel has no Landlock"}}
	if _, err := Open(t.Context(), config); err == nil || err.Error() != "no sandbox: bubblewrap is not installed; and the kernel has no Landlock" {
		t.Error(err)
	}
}

// TestFindWithoutUserNamespaces examines a machine that really has none.
func TestFindWithoutUserNamespaces(t *testing.T) {
	if len(os.Args) > 1 && os.Getenv("VAGLIO_TEST_NO_USERNS") != "" {
		host, err := Find(t.Context(), HostConfig{})
		if err != nil {
			t.Fatal(err)
		}
		layer := host.Layer()
		if layer.Name != LayerLandlock || !strings.Contains(layer.Why, "bubblewrap does not run here: the sandbox could not be made: bubblewrap did not get ready") {
			t.Errorf("%+v", layer)
		}
		t.Log(layer.Why)
		return
	}
	w := newWorld(t)
	// A user namespace whose processes cannot create others.
	self := filepath.Dir(filepath.Dir(w.suid)) + "/sandbox.test"
	copyAttacker(t, self)
	c := exec.Command("unshare", "--user", "--map-user=1000", "--keep-caps", "sh", "-c",
		`echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all "$0" -test.run '^TestFindWithoutUserNamespaces$' -test.v`, self)
	c.Env = append(os.Environ(), "VAGLIO_TEST_NO_USERNS=1")
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Error(err)
	}
}

// TestNoCoreFilesOfOurOwn checks that there are sandboxes even if the machine or container allows
// us no core files.
func TestNoCoreFilesOfOurOwn(t *testing.T) {
	w := newWorld(t)
	if os.Getenv("VAGLIO_TEST_NO_CORE") != "" {
		w.attack(t, w.open(t, w.config()), "core", w.ws)
		return
	}
	c := exec.Command("prlimit", "--core=0:0", os.Args[0], "-test.run=^TestNoCoreFilesOfOurOwn$", "-test.v")
	c.Env = append(os.Environ(), "VAGLIO_TEST_NO_CORE=1")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkTrue(b *testing.B) {
	host, err := Find(b.Context(), HostConfig{})
	if err != nil || host.Layer().Name != LayerBubblewrap {
		b.Skip(err, host.Layer())
	}
	s, err := Open(b.Context(), Config{Host: host, Allow: []string{"true"}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if r, err := s.Run(b.Context(), RunRequest{Argv: []string{"true"}}); err != nil || r.ExitCode != 0 {
			b.Fatal(r, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[0].Microseconds())/1000, "ms-min")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}
