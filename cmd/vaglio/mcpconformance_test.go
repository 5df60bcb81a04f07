package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// These tests run the protocol's own conformance suite and its Inspector against the proxy. Both
// talk to a server that implements everything, with and without the proxy.

// everything starts the SDK's server that implements everything, over HTTP.
func (h *home) everything(folder string, flags ...string) string {
	h.t.Helper()
	l, err := new(net.ListenConfig).Listen(h.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	address := l.Addr().String() // The server does not print which port it got.
	l.Close()
	args := append([]string{"-http", address}, flags...)
	h.firstLine(exec.CommandContext(h.t.Context(), filepath.Join(folder, "bin", "everything-server"), args...), true)
	for deadline := time.Now().Add(patience); ; {
		c, err := new(net.Dialer).DialContext(h.t.Context(), "tcp", address)
		if err == nil {
			c.Close()
			return "http://" + address + "/mcp"
		}
		if time.Now().After(deadline) {
			h.t.Fatal(err)
		}
	}
}

// node runs one of the installed npm programs to its end.
func (h *home) node(folder, program string, args ...string) (out string, code int) {
	h.t.Helper()
	bin := filepath.Join(folder, "node_modules", ".bin")
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), append([]string{filepath.Join(bin, program)}, args...)...)
	cmd.Env = append([]string{"HOME=" + h.dir, "PATH=" + bin + ":" + os.Getenv("PATH"), "NO_COLOR=1"}, h.env...)
	cmd.Dir = h.dir
	var errs buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		h.t.Fatalf("%s %v: %v %s", program, args, err, errs.String())
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// conformance runs every scenario against a server, and returns the result of each check, by
// scenario and check.
func (h *home) conformance(folder, server string) map[string]string {
	h.t.Helper()
	return h.checks(folder, "server", "--url", server, "--suite", "all")
}

// checks runs the suite, and returns the result of each check.
func (h *home) checks(folder string, args ...string) map[string]string {
	h.t.Helper()
	results := h.t.TempDir()
	out, _ := h.node(folder, "conformance", append(args, "--output-dir", results)...)
	ended := map[string]string{}
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	grouped, wrong := filepath.Glob(filepath.Join(results, "*", "*", "checks.json")) // such as auth/basic-cimd
	if files = append(files, grouped...); err != nil || wrong != nil || len(files) == 0 {
		h.t.Fatalf("no scenario was run: %v %v\n%s", err, wrong, out)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			h.t.Fatal(err)
		}
		var checks []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		}
		if err := strictjson.UnmarshalLoose(data, &checks); err != nil {
			h.t.Fatal(err)
		}
		scenario, _, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-20") // the time follows
		// The informational entries between checks vary from run to run.
		nth := map[string]int{}
		for _, c := range checks {
			nth[c.ID]++
			ended[fmt.Sprintf("%s %s %d", scenario, c.ID, nth[c.ID])] = c.Status
		}
	}
	return ended
}

// passes counts the checks that a server passed.
func passes(ended map[string]string) (n int) {
	for _, status := range ended {
		if status == "SUCCESS" {
			n++
		}
	}
	return n
}

// allowAll presses every button to allow until the returned function is called, which returns how
// many there were.
func (p *person) allowAll() (stop func() int) {
	done, clicked := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				clicked <- n
				return
			case <-tick.C:
			}
			if f, ok := buttons(p.t, p.get("/inbox").body)["allow"]; ok {
				p.post("/inbox/decide", f) // It is not a mistake if the call was withdrawn meanwhile.
				n++
			}
		}
	}()
	return func() int { close(done); return <-clicked }
}

// The proxy passes what the bare server passes, both where the judges approve every call and where a
// person is asked about each.
func TestMCPConformance(t *testing.T) {
	folder := sdks(t)
	for name, env := range map[string][]string{"approved": nil, "held": {"METNOS_JUDGE_THRESHOLD=0.99"}} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, env...)
			s := h.serve()
			p := s.signIn(s.link)
			for _, flag := range []string{"-stateless=false", "-stateless=true"} {
				server := h.everything(folder, flag)
				want := h.conformance(folder, server)
				stop := p.allowAll()
				got := h.conformance(folder, h.proxied("everything", server))
				clicked := stop()
				t.Logf("%s: of %d checks %d pass, behind the proxy of %d %d, with %d clicks", flag, len(want), passes(want), len(got), passes(got), clicked)
				if passes(want) == 0 || (env != nil) != (clicked > 0) {
					t.Errorf("%d checks passed, %d clicks", passes(want), clicked)
				}
				for _, check := range slices.Sorted(maps.Keys(want)) {
					if want[check] == "SUCCESS" && got[check] != "SUCCESS" {
						t.Errorf("%s: %s: %q behind the proxy", flag, check, got[check])
					}
				}
			}
		})
	}
}

// The suite's own servers get the same results from a client behind the proxy, while a person allows
// what is asked.
func TestMCPConformanceOfAClient(t *testing.T) {
	folder := sdks(t)
	h := newHome(t)
	s := h.serve()
	p := s.signIn(s.link)
	bare := filepath.Join(folder, "bin", "everything-client")
	// The suite starts the client with the address of its server. This script puts the proxy between
	// the two.
	gated := filepath.Join(h.dir, "gated-client")
	script := fmt.Sprintf(`#!/bin/sh
said=$(mktemp)
%q mcp --name conformance --listen 127.0.0.1:0 --upstream "$1" 2>"$said" &
proxy=$!
until address=$(sed -n 's/^vaglio: \(http[^ ]*\) .*/\1/p;q' "$said") && [ -n "$address" ]; do kill -0 $proxy || exit 1; sleep 0.05; done
%q "$address/$(printf %%s "$1" | cut -d/ -f4-)"
code=$?
kill $proxy
wait $proxy
exit $code
`, binary, bare)
	if err := os.WriteFile(gated, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	all := []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"}
	// The scenarios with tokens, except auth/2025-03-26-oauth-endpoint-fallback, in which the client
	// would have to post something other than messages to the server itself.
	for name := range strings.FieldsSeq(`metadata-default metadata-var1 metadata-var2 metadata-var3 basic-cimd
		scope-from-www-authenticate scope-from-scopes-supported scope-omitted-when-undefined scope-step-up scope-retry-limit
		token-endpoint-auth-basic token-endpoint-auth-post token-endpoint-auth-none pre-registration
		2025-03-26-oauth-metadata-backcompat resource-mismatch offline-access-scope offline-access-not-supported`) {
		all = append(all, "auth/"+name)
	}
	passed := [2]int{}
	for _, scenario := range all {
		t.Run(scenario, func(t *testing.T) {
			h := &home{t, h.dir, h.env}
			ended := func(client string) map[string]string {
				return h.checks(folder, "client", "--command", client, "--scenario", scenario, "--timeout", "60000")
			}
			want := ended(bare)
			stop := p.allowAll()
			got := ended(gated)
			stop()
			passed[0], passed[1] = passed[0]+passes(want), passed[1]+passes(got)
			if passes(want) == 0 {
				t.Error("none passed")
			}
			for _, check := range slices.Sorted(maps.Keys(want)) {
				if want[check] == "SUCCESS" && got[check] != "SUCCESS" {
					t.Errorf("%s: %q behind the proxy", check, got[check])
				}
			}
		})
	}
	t.Logf("%d checks pass, behind the proxy %d", passed[0], passed[1])
}

// The Inspector prints the same with and without the proxy, over both transports.
func TestMCPInspector(t *testing.T) {
	folder := sdks(t)
	h := newHome(t)
	program := filepath.Join(folder, "bin", "everything-server")
	h.serve()
	bare := h.everything(folder, "-stateless=false")
	config := filepath.Join(h.dir, "servers.json")
	text := fmt.Sprintf(`{"mcpServers":{"bare":{"command":%q},"gated":{"command":%q,"args":["mcp","--name","everything","--",%q]}}}`, program, binary, program)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for via, servers := range map[string][2][]string{
		"stdio": {{"--config", config, "--server", "bare"}, {"--config", config, "--server", "gated"}},
		"http":  {{bare}, {h.proxied("everything", bare)}},
	} {
		for _, steps := range []string{
			"tools/list", "resources/list", "resources/templates/list", "prompts/list",
			"resources/read --uri test://static-text", "resources/read --uri test://static-binary", "resources/read --uri test://nothing",
			"prompts/get --prompt-name test_simple_prompt", "prompts/get --prompt-name test_prompt_with_arguments --prompt-args arg1=a arg2=è",
			"tools/call --tool-name test_simple_text", "tools/call --tool-name test_image_content", "tools/call --tool-name test_multiple_content_types",
			"tools/call --tool-name test_error_handling", "tools/call --tool-name test_tool_with_progress", "tools/call --tool-name test_tool_with_logging",
			"tools/call --tool-name json_schema_2020_12_tool --tool-arg name=x", "tools/call --tool-name test_sampling --tool-arg prompt=x",
			"logging/setLevel --log-level debug",
		} {
			var said [2]string
			for i, server := range servers {
				args := append(append([]string{"--cli"}, server...), "--method")
				out, code := h.node(folder, "inspector", append(args, strings.Fields(steps)...)...)
				said[i] = fmt.Sprintf("%d %s", code, out)
			}
			if said[0] != said[1] || strings.HasPrefix(said[0], "1 ") != strings.Contains(steps, "nothing") {
				t.Errorf("%s: %s: behind the proxy\n%s\nwithout\n%s", via, steps, said[1], said[0])
			}
		}
	}
}
