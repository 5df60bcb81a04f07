package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio/shell"
)

// fence is a code block of a document.
type fence struct {
	doc, lang, text string
	line            int
}

// first returns the first non-blank line, which identifies the block.
func (f *fence) first() string {
	line, _, _ := strings.Cut(f.text, "\n")
	return strings.TrimSpace(line)
}

// fences returns the code blocks of all documents.
func fences(t *testing.T) []fence {
	t.Helper()
	var all []fence
	for _, doc := range documents(t) {
		text := document(t, doc)
		for _, at := range regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$").FindAllStringSubmatchIndex(text, -1) {
			all = append(all, fence{doc, text[at[2]:at[3]], text[at[4]:at[5]], 1 + strings.Count(text[:at[0]], "\n")})
		}
	}
	if len(all) < 30 {
		t.Fatalf("the documents have %d blocks", len(all))
	}
	return all
}

// ranElsewhere lists the blocks of commands that the test below does not run, by their first line,
// with the test that runs them or, where there is a reason why none can, does the same.
func ranElsewhere() map[string]struct{ test, why string } {
	type is = struct{ test, why string }
	return map[string]is{
		"make run": {test: "TestTheReadmeToTheLetter"},
		"TOKEN=$(cat ~/.local/share/metnos/agent.token)":                                                    {test: "TestTheReadmeToTheLetter"},
		`PERMIT=$(sed -n 's/.*"permit":{"permit":"\([^"]*\)".*/\1/p' answer.json); rm answer.json`:          {test: "TestTheReadmeToTheLetter"},
		`curl -s -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8787/v1/proposals' --json '{`:          {test: "TestTheReadmeToTheLetter"},
		"bin/vaglio explain --command 'rm -rf ./build && git push --force origin main' --intent 'clean up'": {test: "TestTheReadmeToTheLetter"},
		"install -D -m 755 -t ~/.local/bin bin/vaglio bin/vaglio-hook":                                      {test: "TestTheReadmeToTheLetter"},
		"install -d -m 750 -g agents /run/vaglio":                                                           {test: "TestAgentsAreToldApart", why: "takes root and a group"},
		"vaglio install claude-code             # for you; --project for this project, --managed for the machine": {
			test: "TestInstallAsksAndUninstallBringsBack", why: "asks a person",
		},
		"vaglio mcp wrap .mcp.json              # put it before each server that the file starts; unwrap takes it away": {
			test: "TestMCPWrap", why: "takes a server of yours",
		},
		"vaglio install claude-code --at https://192.0.2.1:8443 --ca gate-ca.pem   # asks for the token": {
			test: "TestAHookOfAnotherMachine", why: "takes another machine",
		},
		"ollama pull qwen3:8b": {test: "TestDoctorAsksTheModels", why: "fetches a model"},
		"sudo sh -c 'umask 077; head -c 32 /dev/urandom > /etc/vaglio/vaglio.key'": {why: "takes root and systemd"},
		"make build": {test: "TestSetup", why: "takes root"},
		"sudo -u claude -i vaglio install claude-code":                               {test: "TestInstallAsksAndUninstallBringsBack", why: "takes root"},
		"sudo -H -u vaglio vaglio inbox        # a link into the inbox":              {test: "TestSetup", why: "takes root"},
		"sudo vaglio setup --judge-agents      # --judge-agents=false takes it back": {test: "TestSetup", why: "takes root"},
		"install -m 600 /dev/null ~/.slack-bot; cat > ~/.slack-bot    # paste xoxb-…, Enter, Ctrl-D": {
			test: "TestSlackFromTheCardToTheClick", why: "takes an app at Slack",
		},
		"install -m 600 /dev/null ~/.telegram-token":             {test: "TestTelegramFromTheCodeToTheTap", why: "takes a bot"},
		"go run ./channels/telegram/telegramtest/byhand":         {test: "TestTheTelegramAtTheTerminal"},
		"vaglio doctor          # what is wrong, and what helps": {test: "TestTheDoctorsTap", why: "waits for a press"},
	}
}

// TestTheDocumentsCommandsRun runs the blocks of commands in an empty home with a daemon, except for
// those listed above.
func TestTheDocumentsCommandsRun(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	h.policy(t, "approval: {routes: [{name: careful, approvers: [anyone]}], rules: [{route: careful}]}\n")
	s := h.serve()
	calls := `{"executor":"read_file","args":{"path":"notes.md"},"expect":"pass"}` + "\n"
	if err := os.WriteFile(filepath.Join(h.dir, "calls.jsonl"), []byte(calls), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(h.dir, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere, ran, stages := ranElsewhere(), 0, staged(h)
	for _, f := range fences(t) {
		_, listed := elsewhere[f.first()]
		delete(elsewhere, f.first())
		if f.lang != "sh" && f.lang != "console" || listed {
			continue
		}
		ran++
		stage := stages[f.first()]
		delete(stages, f.first())
		s.bash(t, &f, &stage)
	}
	s.stop()
	for first := range stages {
		t.Errorf("no document has the block that begins with %q any more", first)
	}
	if ran < 4 {
		t.Errorf("%d blocks ran", ran)
	}
	for first := range elsewhere {
		t.Errorf("no document has the block that begins with %q any more", first)
	}
}

// bash runs a block as a person would who has vaglio in their PATH.
func (s *served) bash(t *testing.T, f *fence, stage *staging) {
	t.Helper()
	h := s.h
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", stage.before+"\n"+f.text+"\n"+stage.after)
	with := h.command(ctx)
	cmd.Dir, cmd.Env = h.dir, append(with.Env, "PATH="+filepath.Dir(binary)+":"+filepath.Join(h.dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, stage.env...)
	cmd.Stdin = strings.NewReader(stage.typed)
	var answered sync.WaitGroup
	if stage.answers {
		cmd.Env = append(cmd.Env, "METNOS_LISTEN="+strings.TrimPrefix(s.base, "http://"))
		answered.Go(func() {
			s.waiting(1)
			s.signIn(s.link).decide("allow", "")
		})
	}
	out, err := cmd.CombinedOutput()
	answered.Wait()
	if err != nil {
		t.Errorf("%s:%d: %v; run it elsewhere, or say why not, in ranElsewhere\n%s\n%s", f.doc, f.line, err, f.text, out)
	}
}

// TestTheDocumentsListedBlocksHaveTests checks that the tests in the list exist.
func TestTheDocumentsListedBlocksHaveTests(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests bytes.Buffer
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for first, is := range ranElsewhere() {
		if is.test == "" && is.why == "" || is.test != "" && !strings.Contains(tests.String(), "\nfunc "+is.test+"(t *testing.T)") {
			t.Errorf("%s: there is no test %q, and no reason", first, is.test)
		}
	}
}

// TestTheDocumentsCommandLinesAreRight checks every command line of the blocks, including those that
// no test runs, against the commands and their flags.
func TestTheDocumentsCommandLinesAreRight(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, f := range fences(t) {
		if f.lang != "sh" && f.lang != "console" {
			continue
		}
		for _, c := range shell.Read(f.text, shell.Options{}).Commands {
			if c.Name != "vaglio" || c.Wrapper {
				continue
			}
			seen++
			if err := rightLine(c.Argv[1:]); err != nil {
				t.Errorf("%s:%d: vaglio %v: %v", f.doc, f.line, c.Argv[1:], err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d command lines of vaglio were read", seen)
	}
}

// rightLine returns what is wrong with a command's arguments.
func rightLine(words []shell.Word) error {
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = "unknown"
		if text, known := w.Text(); known {
			args[i] = text
		}
	}
	cmd, rest, err := newRoot(stdio{}).Find(args)
	if err != nil {
		return err
	}
	if !cmd.Runnable() || cmd.Parent() == nil {
		return fmt.Errorf("%s does nothing", cmd.CommandPath())
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestTheDocumentsPoliciesAreRight parses what a document shows of the policy file. The blocks of
// one document form one policy.
func TestTheDocumentsPoliciesAreRight(t *testing.T) {
	t.Parallel()
	per := map[string]string{}
	for _, f := range fences(t) {
		if f.lang == "yaml" {
			per[f.doc] += f.text
		}
	}
	if len(per) < 4 {
		t.Fatalf("%d documents show policies", len(per))
	}
	for doc, text := range per {
		if _, err := policyfile.Parse(doc, []byte(text), "/home/u"); err != nil {
			t.Error(err)
		}
	}
}
