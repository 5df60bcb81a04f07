package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

const hookCall = `{"session_id":"s","transcript_path":"","cwd":"/srv/app","hook_event_name":"PreToolUse",` +
	`"tool_name":"Bash","tool_input":{"command":"git push --force origin main"},"tool_use_id":"toolu_1"}`

func TestAHookThatCannotAskDenies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long/", 25)
	// The longer a client waits, the longer its hook tries to reach the daemon.
	soon := []string{"--limit", "1s"}
	for name, c := range map[string]struct {
		env   []string
		stdin string
		args  []string
		want  string
	}{
		"NoDaemon":     {nil, hookCall, soon, "vaglio serve"},
		"EmptyFolder":  {[]string{"METNOS_DATA_DIR="}, hookCall, nil, "METNOS_DATA_DIR: is set but empty"},
		"BadFolder":    {[]string{"METNOS_DATA_DIR=here"}, hookCall, nil, "not an absolute path"},
		"LongFolder":   {[]string{"METNOS_DATA_DIR=/tmp/" + long}, hookCall, nil, "choose a shorter METNOS_DATA_DIR"},
		"NoLimit":      {nil, hookCall, []string{"--limit", "0"}, "--limit must be more than 0"},
		"NoInput":      {nil, "", nil, "vaglio"},
		"BrokenInput":  {nil, `{"tool_name":`, nil, "vaglio"},
		"BadThreshold": {[]string{"METNOS_JUDGE_THRESHOLD=nan"}, hookCall, soon, "vaglio serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHome(t, c.env...).run(c.stdin, append([]string{"hook", "claude-code"}, c.args...)...)
			if r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"deny"`) || !strings.Contains(r.out, c.want) {
				t.Errorf("exit code %d, want 0 and a denial with %q; got %s%s", r.code, c.want, r.out, r.err)
			}
		})
	}
}

func TestAHookWithoutHomeDenies(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.command(t.Context(), "hook", "claude-code")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(hookCall)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"permissionDecision":"deny"`) || !strings.Contains(string(out), "HOME: must be set") {
		t.Errorf("got %s, %v; want a denial that names HOME", out, err)
	}
}

// TestAHookThatIsSetUpWronglyBlocks checks for the exit code that clients take as a denial, if it
// is not known in which client's format to deny.
func TestAHookThatIsSetUpWronglyBlocks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, args := range map[string][]string{
		"UnknownClient": {"hook", "clod"},
		"UnknownFlag":   {"hook", "claude-code", "--lmit", "1h"},
		"BadLimit":      {"hook", "claude-code", "--limit", "soon"},
		"MisspeltHook":  {"hok", "claude-code"},
		"TwoClients":    {"hook", "claude-code", "claude-code"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := h.run(hookCall, args...); r.code != 2 || r.out != "" || r.err == "" {
				t.Errorf("exit code %d, output %q, error %q; want 2, nothing, and a reason", r.code, r.out, r.err)
			}
		})
	}
}

// TestAHookAsksTheDaemon asks over the socket, as an agent's hook does.
func TestAHookAsksTheDaemon(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	guarded := strings.Replace(hookCall, "git push --force origin main", "cat ~/.ssh/id_rsa", 1)
	if r := s.h.run(guarded, "hook", "claude-code"); r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"deny"`) {
		t.Errorf("a guard denial: %d %s%s", r.code, r.out, r.err)
	}
	done := make(chan result, 1)
	go func() { done <- s.h.run(hookCall, "hook", "claude-code") }()
	waiting := s.waiting(1)
	if waiting[0].Agent != "default" || waiting[0].Command != "git push --force origin main" || waiting[0].Cwd != "/srv/app" {
		t.Errorf("the hook proposed %+v", waiting[0])
	}
	s.signIn(s.link).decide("allow", "")
	if r := <-done; r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"allow"`) {
		t.Errorf("after the click: %d %s%s", r.code, r.out, r.err)
	}
	again := s.h.run("", "pending")
	if again.out != "Nothing waits for you.\n" {
		t.Errorf("after the click %q", again.out)
	}
}

// TestAHookOutlivesARestart asks while no daemon runs, as during a restart.
func TestAHookOutlivesARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve().stop()
	hook := h.command(t.Context(), "hook", "claude-code")
	hook.Stdin = strings.NewReader(hookCall)
	out := &buffer{}
	hook.Stdout = out
	if err := hook.Start(); err != nil {
		t.Fatal(err)
	}
	s := h.serve()
	s.waiting(1)
	s.signIn(s.link).decide("allow", "")
	if err := hook.Wait(); err != nil || !strings.Contains(out.String(), `"permissionDecision":"allow"`) {
		t.Errorf("%v, %s", err, out)
	}
}

// BenchmarkHookStart measures what every tool call of an agent costs: a complete run of the hook,
// which finds no daemon.
func BenchmarkHookStart(b *testing.B) {
	dir := b.TempDir()
	h := &home{dir: dir}
	for b.Loop() {
		cmd := h.command(b.Context(), "hook", "claude-code", "--limit", "100ms")
		cmd.Stdin = strings.NewReader(hookCall)
		if out, err := cmd.Output(); err != nil || len(out) == 0 {
			b.Fatalf("%s, %v", out, err)
		}
	}
}

// TestInstallAsksAndUninstallBringsBack installs and uninstalls as users do.
func TestInstallAsksAndUninstallBringsBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, ".claude", "settings.json")
	const before = "{\n  // mine\n  \"model\": \"x\"\n}\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	now := func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if r := h.run("no\n", "install", "claude-code"); r.code != 1 || !strings.Contains(r.out, "+++") || now() != before {
		t.Errorf("a no: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("y\n", "install", "claude-code", "--limit", "10m"); r.code != 0 || !strings.Contains(now(), "// mine") || !strings.Contains(now(), `"timeout": 600`) {
		t.Errorf("a yes: %d %s%s\n%s", r.code, r.out, r.err, now())
	}
	if r := h.run("", "install", "claude-code", "--limit", "10m"); r.code != 0 || !strings.Contains(r.out, "Nothing to change") {
		t.Errorf("twice: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "status"); r.code != 0 || !strings.Contains(r.out, "10m0s") {
		t.Errorf("status: %d %s%s", r.code, r.out, r.err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(now(), `"timeout": 600`, `"timeout": 5`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "status"); r.code != 1 || !strings.Contains(r.out, "the tool runs when the agent stops waiting") {
		t.Errorf("two limits: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "uninstall", "claude-code", "--yes"); r.code != 0 || now() != before {
		t.Errorf("uninstall: %d %s%s\n%s", r.code, r.out, r.err, now())
	}
	if err := os.WriteFile(file, []byte("{\n  oops\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "install", "claude-code", "--yes"); r.code != 1 || !strings.Contains(r.err, "line 2, column 3") {
		t.Errorf("a mistake: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "install", "amp"); r.code != 1 || !strings.Contains(r.err, "by hand") {
		t.Errorf("by hand: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "install", "vim"); r.code != 2 {
		t.Errorf("no client: %d %s%s", r.code, r.out, r.err)
	}
}

// TestAHookThatNobodyHearsBlocks closes the hook's stdout: the exit code must then tell the client
// what the output would.
func TestAHookThatNobodyHearsBlocks(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	const call = `{"session_id":"s","tool_use_id":"t","tool_name":"Bash","tool_input":{"command":"ls"},"hook_event_name":"PreToolUse"}`
	for stdout, want := range map[string]int{">&-": 2, ">/dev/null": 2, "| cat": 0} {
		cmd := h.command(t.Context(), "hook", "claude-code") // for its environment
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$0" hook claude-code ` + stdout, cmd.Path}
		cmd.Stdin = strings.NewReader(call)
		var errs strings.Builder
		cmd.Stderr = &errs
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != want || (want == 2) != strings.Contains(errs.String(), "stdout is closed") {
			t.Errorf("%s: exit code %d, %s", stdout, code, errs.String())
		}
	}
}

// TestWhatAClientRefusedIsInTheDigest reports a refusal of hermes-agent's own gate in the documented
// format. Nobody is asked, and the digest shows it with the reason.
func TestWhatAClientRefusedIsInTheDigest(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	tell := func(choice, command string) {
		t.Helper()
		in := `{"hook_event_name":"post_approval_response","tool_name":null,"tool_input":null,"session_id":"s","cwd":"/srv/app","profile":"default",` +
			`"extra":{"command":"` + command + `","description":"recursive delete","pattern_key":"rm_rf","pattern_keys":["rm_rf"],"session_key":"k","surface":"cli",` +
			`"turn_id":"t","tool_call_id":"` + command + `","choice":"` + choice + `"}}`
		if r := s.h.run(in, "hook", "hermes"); r.code != 0 || r.out != "{}\n" {
			t.Errorf("%s: exit code %d, output %q %s", choice, r.code, r.out, r.err)
		}
	}
	tell("deny", "rm -rf kept")
	tell("smart_approve", "rm -rf build")
	if out := s.h.run("", "pending", "--json").out; strings.Contains(out, `"id"`) {
		t.Errorf("somebody is asked: %s", out)
	}
	out := s.h.run("", "digest").out
	for want, is := range map[string]bool{"rm -rf kept": true, "refused without asking": true, "rm -rf build": false} {
		if strings.Contains(out, want) != is {
			t.Errorf("%q in the digest: %v\n%s", want, !is, out)
		}
	}
	id := regexp.MustCompile(`veto-[A-Za-z0-9_-]+`).FindString(out)
	if why := s.h.run("", "why", id).out; !strings.Contains(why, "refused by the agent's own gate: “its user said no, about: recursive delete”") {
		t.Errorf("%s: %s", id, why)
	}
	if r := s.h.run("", "digest", "--check"); r.code != 0 {
		t.Errorf("the digest and the log differ: %s%s", r.out, r.err)
	}
	if log := s.h.auditLog(); strings.Count(log, `"approved":false`) != 1 || strings.Contains(log, "kept") {
		t.Errorf("the audit log: %s", log)
	}
}

// asksOverHermes loads the installed plugin as Hermes does, and lets it present one request as
// Hermes' documentation describes.
const asksOverHermes = `
import importlib.util, os, sys

class Request:
    request_id, digest, surface = "r1", "d", "cli"
    command, description = sys.argv[1], "recursive delete"
    timeout_seconds, allowed_choices = 60.0, ("once", "session", "deny")
    def respond(self, choice):
        return choice

class Context:
    def __init__(self):
        self.hooks, self.transports = {}, {}
    def register_hook(self, name, callback):
        self.hooks[name] = callback
    def register_approval_transport(self, name, present):
        self.transports[name] = present

spec = importlib.util.spec_from_file_location("vaglio", os.path.expanduser("~/.hermes/plugins/vaglio/__init__.py"))
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
ctx, request = Context(), Request()
plugin.register(ctx)
about = dict(command=request.command, surface="transport:vaglio", request_id=request.request_id, session_id="s", turn_id="t", tool_call_id=request.command)
ctx.hooks["pre_approval_request"](**about)
print(ctx.transports["vaglio"](request))
ctx.hooks["post_approval_response"](choice="once", **about)
`

// TestHermesOwnGateAsksPeople checks that the installed plugin asks people whatever Hermes' own gate
// asks about.
func TestHermesOwnGateAsksPeople(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	h := newHome(t)
	if r := h.run("", "install", "hermes", "--yes"); r.code != 0 {
		t.Fatal(r.code, r.out, r.err)
	}
	present := func(command string) <-chan string {
		done := make(chan string, 1)
		cmd := h.command(t.Context(), "version") // for its environment
		cmd.Path, cmd.Args = python, []string{python, "-c", asksOverHermes, command}
		go func() {
			out, err := cmd.CombinedOutput()
			done <- fmt.Sprint(string(out), err)
		}()
		return done
	}
	if said := <-present("rm -rf build"); !strings.Contains(said, "deny") {
		t.Errorf("without a daemon Hermes is told %s", said)
	}
	s := h.serve()
	me := s.signIn(s.link)
	for choice, want := range map[string]string{"allow": "once\n<nil>", "deny": "deny\n<nil>"} {
		done := present("rm -rf " + choice)
		asked := s.waiting(1)[0]
		if why := h.run("", "why", string(asked.ID)).out; !strings.Contains(why, "own gate asks") || !strings.Contains(why, "rm -rf "+choice) {
			t.Errorf("the card: %s", why)
		}
		me.decide(choice, "")
		if said := <-done; said != want {
			t.Errorf("after %s Hermes is told %q, want %q", choice, said, want)
		}
	}
	if said := <-present("rm -rf /"); !strings.HasPrefix(said, "deny") {
		t.Errorf("of what the guard denies Hermes is told %s", said)
	}
}
