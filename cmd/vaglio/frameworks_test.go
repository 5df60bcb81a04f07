package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/gateway/scripted"
)

// TestFrameworks runs the frameworks of docs/frameworks.md that are on npm, each with a scripted
// model, against the real daemon. An approved call runs, a guarded one does not, one that is asked
// about runs after a click, and the model reads why a call did not run. `make frameworks` installs
// them, and names their folder in VAGLIO_FRAMEWORKS.
func TestFrameworks(t *testing.T) {
	folder := os.Getenv("VAGLIO_FRAMEWORKS")
	if folder == "" {
		t.Skip("VAGLIO_FRAMEWORKS is not set; make frameworks sets it")
	}
	for _, framework := range []string{"ai-sdk", "openai-agents", "langchain", "mastra"} {
		t.Run(framework, func(t *testing.T) {
			s := newHome(t).serve()
			person := s.signIn(s.link)
			call := func(command string) []scripted.Call {
				return []scripted.Call{{Tool: "shell_exec", Args: map[string]any{"command": command}}}
			}
			model := scripted.New(call("ls -la"), call("rm -rf /"), call("git push --force origin main"), call("git push --force origin prod"))
			server := httptest.NewServer(model)
			defer server.Close()
			file := filepath.Join(s.h.dir, "ran.txt")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", filepath.Join(folder, "run.mjs"), framework, server.URL, s.base, file)
			cmd.Env = []string{"HOME=" + s.h.dir, "PATH=" + os.Getenv("PATH"), "VAGLIO_TOKEN=" + s.agentToken()}
			said := &buffer{}
			cmd.Stdout, cmd.Stderr = said, said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for _, choice := range []string{"allow", "deny"} {
				s.waiting(1)
				person.decide(choice, "")
			}
			if err := <-ended; err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			ran, err := os.ReadFile(file)
			if want := "ls -la\ngit push --force origin main\n"; err != nil || string(ran) != want {
				t.Errorf("%v: ran\n%s\nwant\n%s\n%s", err, ran, want, said)
			}
			read := strings.Join(model.Results(), "\n")
			for _, want := range []string{"ran ls -la", "shell.rm_root", "ran git push --force origin main", "did not run"} {
				if !strings.Contains(read, want) {
					t.Errorf("the model did not read %q in\n%s", want, read)
				}
			}
		})
	}
}
