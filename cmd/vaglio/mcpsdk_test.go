package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// These tests run the protocol's own SDKs through the proxy. `make mcp` builds and installs them,
// and names their folder in VAGLIO_MCP.

// sdks returns the folder of the SDKs' programs.
func sdks(tb testing.TB) string {
	tb.Helper()
	folder := os.Getenv("VAGLIO_MCP")
	if folder == "" {
		tb.Skip("VAGLIO_MCP is not set; make mcp sets it")
	}
	return folder
}

// speakers returns the clients, as the start of their command lines.
func speakers(folder string) map[string][]string {
	script := filepath.Join(folder, "client.mjs")
	return map[string][]string{
		"go": {filepath.Join(folder, "bin", "client")}, "ts-v1": {"node", script, "v1"}, "ts-v2": {"node", script, "v2"},
	}
}

// speak runs a client through its steps against a server, and returns its output.
func (h *home) speak(client, steps, server []string) string {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	args := slices.Concat(client, steps, []string{"--"}, server)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append([]string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}, h.env...)
	cmd.Dir = h.dir
	var errs buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.t.Errorf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// serveSDK starts the SDK's server over HTTP, and a proxy in front of it.
func (h *home) serveSDK(folder string) (bare, proxied string) {
	h.t.Helper()
	bare = h.firstLine(exec.CommandContext(h.t.Context(), filepath.Join(folder, "bin", "server"), "127.0.0.1:0"), false)
	return bare, h.proxied("notes", bare)
}

// proxied starts a proxy in front of the server at a URL, and returns the proxy's URL.
func (h *home) proxied(name, upstream string) string {
	h.t.Helper()
	said := h.firstLine(h.command(h.t.Context(), "mcp", "--name", name, "--listen", "127.0.0.1:0", "--upstream", upstream), true)
	address, _, _ := strings.Cut(strings.TrimPrefix(said, "vaglio: "), " ")
	return address + "/mcp"
}

// firstLine starts a server that is stopped when the test ends, and returns the first line that it
// writes.
func (h *home) firstLine(cmd *exec.Cmd, stderr bool) string {
	h.t.Helper()
	cmd.Dir = h.dir
	pipe := cmd.StdoutPipe
	if stderr {
		pipe = cmd.StderrPipe
	}
	out, err := pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatalf("%v: %q", err, line)
	}
	return strings.TrimSpace(line)
}

// The clients get the same results for approved calls with and without the proxy. Other calls do not
// run.
func TestMCPSDKs(t *testing.T) {
	folder := sdks(t)
	h := newHome(t)
	s := h.serve()
	p := s.signIn(s.link)
	server := filepath.Join(folder, "bin", "server")
	bare, proxied := h.serveSDK(folder)
	for name, client := range speakers(folder) {
		for via, servers := range map[string][2][]string{
			"stdio": {{server}, {binary, "mcp", "--name", "notes", "--", server}},
			"http":  {{bare}, {proxied}},
		} {
			t.Run(name+"-"+via, func(t *testing.T) {
				h := &home{t, h.dir, h.env}
				steps := []string{"read_note", `{"path":"notes.md"}`, "read_note", `{"path":"è.md"}`, "read_note", `{}`}
				want, got := h.speak(client, steps, servers[0]), h.speak(client, steps, servers[1])
				if got != want || strings.Count(got, "\n") != 6 || !strings.Contains(got, "read notes.md") {
					t.Errorf("through the proxy:\n%swithout:\n%s", got, want)
				}
				ran := filepath.Join(h.dir, "ran.txt")
				_ = os.Remove(ran)
				got = h.speak(client, []string{"run_command", `{"command":"rm -rf /"}`}, servers[1])
				if _, err := os.Stat(ran); err == nil || !strings.Contains(got, `"isError":true`) {
					t.Errorf("the guard let it through: %s", got)
				}
				said := make(chan string, 1)
				push := `{"command":"git push --force origin ` + name + "-" + via + `"}`
				go func() { said <- h.speak(client, []string{"run_command", push}, servers[1]) }()
				s.waiting(1)
				if _, err := os.Stat(ran); err == nil {
					t.Error("it ran while the card waited")
				}
				p.decide("allow", "")
				if got := <-said; !strings.Contains(got, "ran git push --force origin "+name+"-"+via) {
					t.Errorf("after the person's yes the client got %s", got)
				}
			})
		}
	}
}

// proposed returns how long the proposal of a call alone takes, in µs, over the socket as a proxy
// makes it.
func (h *home) proposed(gate *client.Client, session string, call []string) int {
	h.t.Helper()
	p := client.Proposal{TurnID: session, Executor: "mcp__notes__" + call[0], Context: client.Context{Cwd: h.dir}}
	if err := strictjson.UnmarshalLoose([]byte(call[1]), &p.Args); err != nil {
		h.t.Fatal(err)
	}
	const calls = 100
	var took time.Duration
	for n := range calls {
		time.Sleep(time.Millisecond) // as between two calls of a client: an idle process must wake up
		start := time.Now()
		if a, err := gate.Propose(h.t.Context(), client.Request{Proposal: p, Key: fmt.Sprintf("%x:%d", session, n)}); err != nil || a.Decision != client.Allow {
			h.t.Fatal(a.Text, err)
		}
		took += time.Since(start)
	}
	return int(took.Microseconds()) / calls
}

// BenchmarkMCP measures an approved call through the proxy, directly, through a relay that looks at
// nothing, through that relay waiting for another process to say yes, which is the minimum for
// anything that asks a daemon, and the proposal alone over the daemon's socket. They take turns in
// each round, so that other load on the machine affects all; the median round is reported, in µs a
// call.
func BenchmarkMCP(b *testing.B) {
	folder := sdks(b)
	h := newHome(b)
	h.serve()
	notes := filepath.Join(h.dir, "notes") // as long as a typical folder of programs, and nobody else's
	if err := os.Mkdir(notes, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		if err := os.WriteFile(filepath.Join(notes, fmt.Sprintf("note-%03d.md", n)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	server, splice := filepath.Join(folder, "bin", "server"), filepath.Join(folder, "bin", "splice")
	bare, proxied := h.serveSDK(folder)
	between := h.firstLine(exec.CommandContext(b.Context(), splice, bare), false)
	asked := h.firstLine(exec.CommandContext(b.Context(), splice, "-ask", bare), false)
	gate := client.Unix(h.data("agent.sock"), "")
	defer gate.Close()
	for via, ways := range map[string]map[string][]string{
		"stdio": {"bare": {server}, "between": {splice, server}, "asked": {splice, "-ask", server}, "proxy": {binary, "mcp", "--name", "notes", "--", server}},
		"http":  {"bare": {bare}, "between": {between}, "asked": {asked}, "proxy": {proxied}},
	} {
		for _, call := range [][]string{{"read_note", `{"path":"notes.md"}`}, {"list_notes", fmt.Sprintf(`{"path":%q}`, notes)}} {
			b.Run(via+"/"+call[0], func(b *testing.B) {
				h := &home{b, h.dir, h.env}
				took := map[string][]int{}
				for b.Loop() {
					took["proposal"] = append(took["proposal"], h.proposed(gate, fmt.Sprint(via, call, len(took["proposal"])), call))
					for way, to := range ways {
						lines := strings.Fields(h.speak(speakers(folder)["go"], append(call, "time", "100"), to))
						n, err := strconv.Atoi(lines[len(lines)-1])
						if err != nil {
							b.Fatal(err)
						}
						took[way] = append(took[way], n)
					}
				}
				for way, all := range took {
					slices.Sort(all)
					b.ReportMetric(float64(all[len(all)/2]), way+"-µs")
				}
			})
		}
	}
}
