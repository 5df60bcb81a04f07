package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/gateway/trial"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/clients"
)

// These tests run real coding agents, offline, behind the gate. `make agents`
// installs them and names their folder in VAGLIO_AGENTS.

// gated is a client with the hook in its settings, in a home with a daemon.
type gated struct {
	h      *home
	r      trial.Recipe
	folder string
	work   string
}

// agentPatience bounds a run of an agent: some take most of a minute to start.
const agentPatience = 5 * patience

// newGated installs the hook with the command that users run.
func newGated(t *testing.T, r trial.Recipe) *gated {
	t.Helper()
	g := newBare(t, r)
	g.install()
	return g
}

// newBare is newGated without a hook.
func newBare(t *testing.T, r trial.Recipe) *gated {
	t.Helper()
	folder := os.Getenv("VAGLIO_AGENTS")
	if folder == "" {
		t.Skip("VAGLIO_AGENTS is not set; make agents sets it")
	}
	h := newHome(t, "PATH="+folder+":"+os.Getenv("PATH"))
	g := &gated{h, r, folder, filepath.Join(h.dir, "work")}
	if err := os.MkdirAll(g.work, 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gated) install(more ...string) {
	g.h.t.Helper()
	if out := g.h.run("", append([]string{"install", g.r.Client, "--yes"}, more...)...); out.code != 0 {
		g.h.t.Fatalf("install: %d %s%s", out.code, out.out, out.err)
	}
}

// start makes the model call the tools, and returns what came of it.
func (g *gated) start(calls ...string) <-chan trial.Seen { return g.begin(trial.Run{Calls: calls}) }

func (g *gated) begin(run trial.Run) <-chan trial.Seen {
	done := make(chan trial.Seen, 1)
	program, err := exec.LookPath(filepath.Join(g.folder, g.r.Program))
	if err != nil {
		g.h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(g.h.t.Context(), agentPatience)
	g.h.t.Cleanup(cancel)
	go func() {
		run.Program, run.Dir = program, g.work
		run.Env = append([]string{"HOME=" + g.h.dir, "TERM=dumb"}, g.h.env...)
		seen, err := g.r.Do(ctx, run)
		if err != nil {
			seen.Output += err.Error()
		}
		done <- seen
	}()
	return done
}

// ran reports whether a call left its file.
func (g *gated) ran(what string) bool {
	_, err := os.Stat(filepath.Join(g.work, what))
	return err == nil
}

// state returns an approval's state, once it is the wanted one or the time is up.
func (g *gated) state(s *served, id approval.ID, want approval.State) approval.State {
	var a approval.Answer
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		reply := s.local("GET", "/v1/approvals/"+string(id), "")
		if err := strictjson.UnmarshalLoose([]byte(reply.body), &a); err != nil {
			g.h.t.Fatal(err)
		}
		if a.Approval.State == want {
			break
		}
	}
	return a.Approval.State
}

// TestAgents runs every client that is installed, and prints a table.
func TestAgents(t *testing.T) {
	var table strings.Builder
	head := []string{"version", "tools, unknown", "approved runs", "guard holds", "click lets go on", "words reach the model", "outcome told", "parallel calls", "sub-agent", "daemon killed and back", "limit passes, nothing runs", "missing hook found"}
	fmt.Fprintf(&table, "%-12s", "")
	for _, h := range head {
		fmt.Fprintf(&table, " | %s", h)
	}
	for _, r := range trial.Recipes() {
		t.Run(r.Client, func(t *testing.T) {
			g := newGated(t, r)
			marks := g.examine(t)
			fmt.Fprintf(&table, "\n%-12s", r.Client)
			for i, h := range head {
				fmt.Fprintf(&table, " | %-*s", len(h), marks[i])
			}
		})
	}
	t.Log("\n" + table.String())
}

// asked waits for an agent's only card. The agent may take long to start.
func (g *gated) asked(s *served) owner.Account {
	g.h.t.Helper()
	return s.waitingWithin(1, agentPatience, 200*time.Millisecond)[0]
}

// examine tests everything that can become of a client's call.
func (g *gated) examine(t *testing.T) []string {
	s := g.h.serve()
	me := s.signIn(s.link)
	// A denial ends the run of some clients, so each denied call is the last one of its run.
	done := g.start("touch approved.txt", "touch allowed.txt; git push --force origin main; true", "touch guarded.txt; cat ./.ssh/id_rsa")
	asked := g.asked(s)
	if g.ran("allowed.txt") {
		t.Error("the call ran while its card waited")
	}
	me.decide("allow", "")
	first := <-done
	done = g.start("touch denied.txt; git push --force origin other")
	g.asked(s)
	me.decide("deny", "leave that branch alone")
	seen := <-done
	results := strings.Join(append(first.Results, seen.Results...), "\n")
	seen.Output = first.Output + seen.Output
	mark := func(ok bool, what string) string {
		if !ok {
			t.Errorf("%s: the model read %q\n%s", what, results, seen.Output)
			return "NO"
		}
		return "yes"
	}
	words := "-"
	if !g.r.EndsOnDenial {
		words = mark(strings.Contains(results, "leave that branch alone"), "the words did not arrive")
	}
	marks := []string{
		g.version(),
		g.knowsItsTools(t, first.Tools),
		mark(g.ran("approved.txt"), "an approved call did not run"),
		mark(!g.ran("guarded.txt"), "a guarded call ran"),
		mark(g.ran("allowed.txt") && !g.ran("denied.txt"), "the clicks were not heeded"),
		words,
		mark(g.state(s, asked.ID, approval.Succeeded) == approval.Succeeded, "its end was not told"),
	}
	both := trial.Run{Calls: []string{"touch one.txt; git push --force origin sixth; true", "touch two.txt; git push --force origin seventh; true"}, Together: true}
	seen, ran := g.clicks(s, me, both, "one.txt", "two.txt")
	results = strings.Join(seen.Results, "\n")
	marks = append(marks, mark(ran, "two calls of one message did not run after two clicks"))
	sub := "-"
	if g.r.Delegate != nil {
		seen, ran = g.clicks(s, me, trial.Run{Calls: []string{"touch sub.txt; git push --force origin eighth; true"}, Delegated: true}, "sub.txt")
		results = strings.Join(seen.Results, "\n")
		sub = mark(ran, "a sub-agent's call did not run after a click")
	}
	marks = append(marks, sub, mark(g.goesOn(s), "the call did not outlive the daemon"))
	g.install("--limit", "6s")
	seen = <-g.start("touch late.txt; git push --force origin third")
	marks = append(marks, mark(!g.ran("late.txt") && (g.r.EndsOnDenial || strings.Contains(strings.Join(seen.Results, " "), "held as")), "the limit passed"))
	if out := g.h.run("", "uninstall", g.r.Client, "--yes"); out.code != 0 {
		t.Errorf("uninstall: %s%s", out.out, out.err)
	}
	out := g.h.runWithin(agentPatience, "", "doctor", g.r.Client)
	return append(marks, mark(out.code == 1 && strings.Contains(out.out, "never asked"), "a missing hook was not found: "+out.out+out.err))
}

// clicks allows whatever waits until the run is over. It reports whether every file was created, and
// none before the first click.
func (g *gated) clicks(s *served, me *person, run trial.Run, files ...string) (seen trial.Seen, ran bool) {
	g.h.t.Helper()
	done := g.begin(run)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for clicked := 0; ; {
		select {
		case seen := <-done:
			if clicked != len(run.Calls) {
				g.h.t.Errorf("%d clicks, want %d", clicked, len(run.Calls))
			}
			return seen, !slices.ContainsFunc(files, func(f string) bool { return !g.ran(f) })
		case <-tick.C:
		}
		if !strings.Contains(s.h.run("", "pending", "--json").out, `"id"`) {
			continue
		}
		if clicked == 0 && slices.ContainsFunc(files, g.ran) {
			g.h.t.Error("a call ran while its card waited")
		}
		me.decide("allow", "")
		clicked++
	}
}

// version returns what the client reports as its version.
func (g *gated) version() string {
	cmd := exec.CommandContext(g.h.t.Context(), filepath.Join(g.folder, g.r.Program), "--version")
	cmd.Env = append([]string{"HOME=" + g.h.dir}, g.h.env...)
	out, err := cmd.Output()
	if err != nil {
		g.h.t.Error(err)
	}
	return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(string(out))
}

// goesOn reports whether a call that waits when the daemon is killed runs once the next daemon's
// card is allowed.
func (g *gated) goesOn(s *served) bool {
	g.h.t.Helper()
	done := g.start("touch back.txt; git push --force origin fifth; true")
	g.asked(s)
	s.kill()
	s = g.h.serve()
	g.asked(s)
	s.signIn(s.link).decide("allow", "")
	<-done
	return g.ran("back.txt")
}

// knowsItsTools checks the client's table against the tools it offered its model, and counts both.
func (g *gated) knowsItsTools(t *testing.T, offered []string) string {
	t.Helper()
	set, err := clients.Load()
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, name := range offered {
		if set.Tool(g.r.Client, name) == nil {
			unknown = append(unknown, name)
		}
	}
	if len(offered) < 5 || len(unknown) > 0 {
		slices.Sort(unknown)
		t.Errorf("of %d tools the table lacks %v", len(offered), unknown)
	}
	return fmt.Sprintf("%d, %d", len(offered), len(unknown))
}

// TestAgentThatTrustsNoHook changes the hook that Codex was told to trust, and disables all hooks:
// Codex reports neither, but `vaglio status` does.
func TestAgentThatTrustsNoHook(t *testing.T) {
	r, _ := trial.For("codex")
	g := newGated(t, r)
	settings := filepath.Join(g.h.dir, ".codex")
	change := func(file string, by func(text string) string) {
		data, err := os.ReadFile(filepath.Join(settings, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(settings, file), []byte(by(string(data))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stands := func(want string, code int) {
		t.Helper()
		out := g.h.runWithin(agentPatience, "", "status")
		line := regexp.MustCompile(`(?m)^codex .*$`).FindString(out.out)
		if fields := strings.Fields(line); out.code != code || len(fields) < 5 || fields[4] != want {
			t.Errorf("%d %s%s", out.code, out.out, out.err)
		}
	}
	stands("yes", 0)
	change("hooks.json", func(text string) string { return strings.ReplaceAll(text, "1h0m0s", "59m0s") })
	stands("no", 1)
	g.install()
	stands("yes", 0)
	change("config.toml", func(text string) string { return "features.hooks = false\n" + text })
	stands("no", 1)
}

// TestAgentThatRefusesAfterTheYes lets Claude Code's own rule deny what a person allowed.
func TestAgentThatRefusesAfterTheYes(t *testing.T) {
	r, _ := trial.For("claude-code")
	g := newGated(t, r)
	file := filepath.Join(g.h.dir, ".claude", "settings.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ruled := strings.Replace(string(data), "{", `{ "permissions": {"deny": ["Bash(git push*)"]},`, 1)
	if err := os.WriteFile(file, []byte(ruled), 0o600); err != nil {
		t.Fatal(err)
	}
	s := g.h.serve()
	done := g.start("git push --force origin main")
	asked := s.waiting(1)[0]
	s.signIn(s.link).decide("allow", "")
	seen := <-done
	if state := g.state(s, asked.ID, approval.Failed); state != approval.Failed {
		t.Errorf("it stands as %s; the model read %q", state, seen.Results)
	}
}

// TestAgentThatPlans has Claude Code refuse, in plan mode, what a person allowed, whose card had
// shown the mode.
func TestAgentThatPlans(t *testing.T) {
	g := newGated(t, trial.ClaudeIn("plan"))
	s := g.h.serve()
	me := s.signIn(s.link)
	done := g.start("touch ran.txt; git push --force origin main")
	asked := s.waiting(1)[0]
	if page := me.get("/inbox").body; !strings.Contains(page, "plan mode") {
		t.Errorf("the card says nothing of the mode: %s", page)
	}
	me.decide("allow", "")
	seen := <-done
	if state := g.state(s, asked.ID, approval.Failed); state != approval.Failed || g.ran("ran.txt") {
		t.Errorf("it stands as %s; the model read %q", state, seen.Results)
	}
	if why := g.h.run("", "why", string(asked.ID)).out; !strings.Contains(why, "not run: ") {
		t.Errorf("nobody is told that nothing ran: %s", why)
	}
}

// TestAgentOfASkill has Claude Code load skills whose own texts run commands: one that passes, one
// that waits for a click, one that the guard denies, and one that a person denies.
func TestAgentOfASkill(t *testing.T) {
	g := newGated(t, trial.ClaudeSkills())
	for name, command := range map[string]string{
		"look": "touch passed.txt", "publish": "touch allowed.txt; git push --force origin main; true",
		"peek": "touch guarded.txt; cat ./.ssh/id_rsa", "again": "touch denied.txt; git push --force origin other",
	} {
		file := filepath.Join(g.h.dir, ".claude", "skills", name, "SKILL.md")
		text := "---\nname: " + name + "\ndescription: scripted\nallowed-tools: Bash\n---\nIt says !`" + command + "`.\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := g.h.serve()
	me := s.signIn(s.link)
	done := g.start("look", "publish", "peek")
	g.asked(s)
	if !g.ran("passed.txt") || g.ran("allowed.txt") {
		t.Error("a command of a skill that passes did not run, or one ran while its card waited")
	}
	me.decide("allow", "")
	seen := <-done
	if !g.ran("allowed.txt") || g.ran("guarded.txt") {
		t.Errorf("the click or the guard was not heeded: the model read %q\n%s", seen.Results, seen.Output)
	}
	done = g.start("again")
	g.asked(s)
	me.decide("deny", "leave that branch alone")
	seen = <-done
	if g.ran("denied.txt") {
		t.Errorf("the denial was not heeded: the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentOfEqualCalls puts two equal calls in one message, of Claude Code, which asks about one
// after the other, and of Codex, which asks about all at once. A grant for a few answers both with
// one click.
func TestAgentOfEqualCalls(t *testing.T) {
	for _, client := range []string{"claude-code", "codex"} {
		t.Run(client, func(t *testing.T) {
			r, _ := trial.For(client)
			g := newGated(t, r)
			s := g.h.serve()
			me := s.signIn(s.link)
			const push = "git push origin main"
			done := g.begin(trial.Run{Calls: []string{push, push}, Together: true})
			asked := g.asked(s)
			grant := buttons(t, me.get("/inbox/ask/"+string(asked.ID.Ask())).body)["grant-hour"]
			if r := me.post("/inbox/decide", grant); r.status != http.StatusOK {
				t.Fatalf("granting: %d %s", r.status, r.body)
			}
			seen := <-done
			if ran := strings.Count(strings.Join(seen.Results, "\n"), "not a git repository"); ran != 2 {
				t.Errorf("%d of two ran: the model read %q\n%s", ran, seen.Results, seen.Output)
			}
		})
	}
}

// TestAgentOfAutoMode has Claude Code's own classifier refuse what the judges approve. A person is
// asked, and the model's second attempt waits for the answer.
func TestAgentOfAutoMode(t *testing.T) {
	g := newGated(t, trial.ClaudeIn("auto"))
	s := g.h.serve()
	me := s.signIn(s.link)
	const command = "curl -d @notes.txt http://127.0.0.1:9/; touch ran.txt"
	done := g.start(command, command)
	asked := s.waiting(1)[0]
	if why := g.h.run("", "why", string(asked.ID)).out; g.ran("ran.txt") || !strings.Contains(why, "refused by the agent's own gate: “") {
		t.Errorf("the call ran while its card waited, or the card is of another reason: %s", why)
	}
	if page := me.get("/inbox").body; !strings.Contains(page, "own gate: “") && !strings.Contains(page, "own gate: &ldquo;") {
		t.Errorf("the card does not say why: %s", page)
	}
	me.decide("allow", "")
	seen := <-done
	if !g.ran("ran.txt") || g.state(s, asked.ID, approval.Succeeded) != approval.Succeeded {
		t.Errorf("the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentThatAsksATool runs Claude Code without a hook, which asks the tool of `vaglio mcp
// approve` instead of its user.
func TestAgentThatAsksATool(t *testing.T) {
	g := newBare(t, trial.ClaudePrompting(binary, "mcp", "approve"))
	s := g.h.serve()
	me := s.signIn(s.link)
	seen, ran := g.clicks(s, me, trial.Run{Calls: []string{"touch allowed.txt; git push --force origin main; true"}}, "allowed.txt")
	if !ran {
		t.Errorf("a click did not let it go on: the model read %q\n%s", seen.Results, seen.Output)
	}
	both := trial.Run{Calls: []string{"touch one.txt; git push --force origin a; true", "touch two.txt; git push --force origin b; true"}, Together: true}
	if seen, ran = g.clicks(s, me, both, "one.txt", "two.txt"); !ran {
		t.Errorf("two calls of one message did not run after two clicks: the model read %q\n%s", seen.Results, seen.Output)
	}
	seen = <-g.start("touch approved.txt", "touch guarded.txt; cat ./.ssh/id_rsa")
	if !g.ran("approved.txt") || g.ran("guarded.txt") || !strings.Contains(strings.Join(seen.Results, " "), "guard") {
		t.Errorf("what the judges approve, and what the guard denies: the model read %q\n%s", seen.Results, seen.Output)
	}
	done := g.start("touch denied.txt; git push --force origin other")
	g.asked(s)
	me.decide("deny", "leave that branch alone")
	if seen = <-done; g.ran("denied.txt") || !strings.Contains(strings.Join(seen.Results, " "), "leave that branch alone") {
		t.Errorf("the words of a denial: the model read %q\n%s", seen.Results, seen.Output)
	}
	if !g.goesOn(s) {
		t.Error("the call did not outlive the daemon")
	}
	g.r = trial.ClaudePrompting(binary, "mcp", "approve", "--limit", "6s")
	if seen = <-g.start("touch late.txt; git push --force origin third"); g.ran("late.txt") || !strings.Contains(strings.Join(seen.Results, " "), "held as") {
		t.Errorf("the limit: the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentThatAsksAToolWithoutADaemon runs it without a daemon.
func TestAgentThatAsksAToolWithoutADaemon(t *testing.T) {
	g := newBare(t, trial.ClaudePrompting(binary, "mcp", "approve"))
	if seen := <-g.start("touch ran.txt"); g.ran("ran.txt") || !strings.Contains(strings.Join(seen.Results, ""), "vaglio serve") {
		t.Errorf("the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentOfCodeMode has a program in OpenClaw's code mode call a tool. The call waits for a
// person as a direct one does.
func TestAgentOfCodeMode(t *testing.T) {
	g := newGated(t, trial.OpenClawCode())
	s := g.h.serve()
	done := g.start("touch ran.txt; git push --force origin main; true")
	asked := g.asked(s)
	if g.ran("ran.txt") {
		t.Error("the call ran while its card waited")
	}
	s.signIn(s.link).decide("allow", "")
	seen := <-done
	if !g.ran("ran.txt") || g.state(s, asked.ID, approval.Succeeded) != approval.Succeeded {
		t.Errorf("the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentThatAsksItself has Codex's own gate ask about what the judges approve. A person is asked
// instead of its front end, and is not asked again about what they allowed.
func TestAgentThatAsksItself(t *testing.T) {
	r := trial.CodexAsking(filepath.Join(os.Getenv("VAGLIO_AGENTS"), "..", "..", "appserver.mjs"))
	g := newGated(t, r)
	g.r.Program = "node"
	s := g.h.serve()
	me := s.signIn(s.link)
	calls := []string{"touch approved.txt", "touch allowed.txt; git push --force origin main; true"}
	seen, ran := g.clicks(s, me, trial.Run{Calls: calls}, "approved.txt", "allowed.txt")
	if !ran || strings.Contains(seen.Output, "asked the front end") {
		t.Errorf("the model read %q\n%s", seen.Results, seen.Output)
	}
	done := g.start("touch told.txt")
	asked := g.asked(s)
	me.decide("allow", "")
	if <-done; g.state(s, asked.ID, approval.Succeeded) != approval.Succeeded {
		t.Error("its end was not told")
	}
	done = g.start("touch denied.txt")
	if why := g.h.run("", "why", string(g.asked(s).ID)).out; !strings.Contains(why, "own gate asks") {
		t.Errorf("the card is of another reason: %s", why)
	}
	me.decide("deny", "leave it")
	if seen := <-done; g.ran("denied.txt") || !strings.Contains(strings.Join(seen.Results, " "), "leave it") || strings.Contains(seen.Output, "asked the front end") {
		t.Errorf("the model read %q\n%s", seen.Results, seen.Output)
	}
}

// TestAgentInAnEditor starts agents as editors do, with the protocol's own library, behind `vaglio
// acp`, which asks a daemon on another machine. The editor is asked nothing.
func TestAgentInAnEditor(t *testing.T) {
	folder := os.Getenv("VAGLIO_AGENTS")
	if folder == "" {
		t.Skip("VAGLIO_AGENTS is not set; make agents sets it")
	}
	there := newHome(t)
	there.ownCertificate(1)
	s, base := there.serveFar("127.0.0.1")
	me, token := s.signIn(s.link), s.newAgent("far")
	for _, r := range trial.InEditors(filepath.Join(folder, "..", "..", "editor.mjs"),
		binary, "acp", "--at", base, "--ca", filepath.Join(there.dir, "cert.pem"), "--") {
		t.Run(r.Client, func(t *testing.T) {
			here := newHome(t, "METNOS_AGENT_TOKEN="+token, "PATH="+folder+":"+os.Getenv("PATH"))
			r.Program = "node"
			g := &gated{here, r, folder, here.dir}
			seen, ran := g.clicks(s, me, trial.Run{Calls: []string{"touch allowed.txt; git push --force origin main; true"}}, "allowed.txt")
			// A denial ends the turn of some clients. Gemini CLI only reports a title, so a person is
			// asked about every call.
			calls, files := []string{"touch approved.txt", "touch guarded.txt; cat ./.ssh/id_rsa"}, "approved.txt"
			if r.Client == "gemini" {
				calls, files = calls[1:], ""
			}
			second := <-g.start(calls...)
			said := seen.Output + second.Output
			if !ran || !g.ran(files) || g.ran("guarded.txt") {
				t.Errorf("the model read %q and %q", seen.Results, second.Results)
			}
			if strings.Contains(said, "asked the editor") || strings.Count(said, `"stopReason":"end_turn"`) != 2 {
				t.Errorf("the editor got\n%s", said)
			}
			t.Log(said)
		})
	}
}

// TestAgentIsDeniedWithoutADaemon runs an agent without a daemon.
func TestAgentIsDeniedWithoutADaemon(t *testing.T) {
	r, _ := trial.For("claude-code")
	g := newGated(t, r)
	if seen := <-g.start("touch ran.txt"); g.ran("ran.txt") || !strings.Contains(strings.Join(seen.Results, ""), "vaglio serve") {
		t.Errorf("the model read %q", seen.Results)
	}
}
