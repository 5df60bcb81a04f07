package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the hook itself when a test starts this binary as one.
func TestMain(m *testing.M) {
	if os.Getenv("VAGLIO_TEST_HOOK") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// TestAStoppedHookWithdrawsAndDenies stops a hook that waits for a person, as a client does.
func TestAStoppedHookWithdrawsAndDenies(t *testing.T) {
	folder := t.TempDir()
	socket := filepath.Join(folder, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	const pending = `{"decision":"pending","verdict":{"blocked_by":"judge"},"approval":{"id":"i-1","state":"pending"}}`
	held, withdrawn := make(chan struct{}, 1), make(chan struct{}, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, _ = io.ReadAll(r.Body); r.Method {
		case http.MethodGet:
			held <- struct{}{}
			<-r.Context().Done()
			return
		case http.MethodDelete:
			withdrawn <- struct{}{}
		}
		_, _ = io.WriteString(w, pending)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	defer func() {
		_ = server.Close()
		<-served
	}()

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "claude-code")
	cmd.Env = []string{"VAGLIO_TEST_HOOK=1", "HOME=" + folder, "METNOS_DATA_DIR=" + folder, "METNOS_AGENT_SOCKET=" + socket}
	cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t","cwd":"/p"}`)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-held:
	case <-ctx.Done():
		t.Fatal("it asked nobody")
	}
	// A hook that has only just started may miss the signal, so send it again.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for gone := false; !gone; {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-withdrawn:
			gone = true
		case <-again.C:
		case <-ctx.Done():
			t.Fatal("it did not stop")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v %s", err, errs.String())
	}
	if !strings.Contains(out.String(), `"deny"`) || !strings.Contains(out.String(), "i-1 was withdrawn") {
		t.Errorf("said %q %q", out.String(), errs.String())
	}
}

// TestAnInstalledHookObeysItsCommandLine runs the hook with an environment that names another
// daemon, which approves everything: what a file in a project or a session's shell may set. Only
// who knows the agent's token may name one.
func TestAnInstalledHookObeysItsCommandLine(t *testing.T) {
	t.Parallel()
	daemon := func(asked *atomic.Int32) string {
		folder := t.TempDir()
		l, err := net.Listen("unix", filepath.Join(folder, "agent.sock"))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, `{"decision":"approved","verdict":{"approved":true}}`)
		})}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(l)
		}()
		t.Cleanup(func() {
			_ = server.Close()
			<-served
		})
		return folder
	}
	var asked, diverted atomic.Int32
	own, other := daemon(&asked), daemon(&diverted)
	if err := os.Mkdir(filepath.Join(own, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "agents", "coder.token"), []byte("known-to-few\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := "METNOS_AGENT_SOCKET=" + filepath.Join(other, "agent.sock")
	installed := []string{"claude-code", "--agent", "coder", "--data", own}
	for name, tt := range map[string]struct {
		args, env []string
		diverts   bool
	}{
		"its own":                       {installed, nil, false},
		"another socket":                {installed, []string{socket}, false},
		"another data folder":           {installed, []string{"METNOS_DATA_DIR=" + other}, false},
		"another home":                  {installed, []string{"HOME=" + other, "XDG_DATA_HOME=" + other}, false},
		"both, and a file of its token": {installed, []string{socket, "METNOS_DATA_DIR=" + other, "METNOS_AGENT_TOKEN_FILE=" + own + "/agents/coder.token"}, false},
		"both, and a wrong token":       {installed, []string{socket, "METNOS_DATA_DIR=" + other, "METNOS_AGENT_TOKEN=guessed"}, false},
		"both, and an empty token":      {installed, []string{socket, "METNOS_DATA_DIR=" + other, "METNOS_AGENT_TOKEN="}, false},
		"both, and the token":           {installed, []string{socket, "METNOS_DATA_DIR=" + other, "METNOS_AGENT_TOKEN=known-to-few"}, true},
		"installed for nobody by name":  {[]string{"claude-code"}, []string{socket}, true},
	} {
		cmd := exec.CommandContext(t.Context(), exe, tt.args...)
		cmd.Env = append([]string{"VAGLIO_TEST_HOOK=1", "HOME=" + own}, tt.env...)
		cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t","cwd":"/p"}`)
		diverted.Store(0)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := diverted.Load() > 0; got != tt.diverts {
			t.Errorf("%s: asked another daemon: %v, want %v: %s", name, got, tt.diverts, out)
		}
	}
	if asked.Load() == 0 {
		t.Error("it never asked its own daemon")
	}
}

// TestTheHookLinksNothingOfTheEngine keeps the hook small: it starts for every tool call of an
// agent, and each start initialises all linked packages.
func TestTheHookLinksNothingOfTheEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 20 {
		t.Fatalf("only %v", packages)
	}
	const ours = "github.com/metnos/vaglio/"
	for _, p := range packages {
		rest, own := strings.CutPrefix(p, ours)
		switch first, _, _ := strings.Cut(p, "/"); {
		case p == "net/http", p == "crypto/tls":
			t.Errorf("links %s, whose start costs more than a call", p)
		case own:
			if !strings.HasPrefix(rest, "gateway/") && !strings.HasPrefix(rest, "internal/") && rest != "cmd/vaglio-hook" {
				t.Errorf("links %s", p)
			}
		case strings.Contains(first, ".") && !strings.HasPrefix(p, "golang.org/x/sys") && !strings.HasPrefix(p, "github.com/go-json-experiment/json"):
			t.Errorf("links %s", p)
		}
	}
}
