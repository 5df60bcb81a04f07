package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/lineage"
)

// bothEnds opens both ends of a terminal, of which the test sees the first.
func bothEnds(t testing.TB) (ptmx, tty *os.File) {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { ptmx.Close() })
	number, err := unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ptmx, tty
}

// TestOnlyATerminalIsGreetedWithALink checks that a link that signs somebody in is printed to a
// person, not into a log.
func TestOnlyATerminalIsGreetedWithALink(t *testing.T) {
	t.Parallel()
	const signsIn = "/inbox/login?code="
	d := inProcess(t)
	defer func() { _ = d.close() }()
	var log strings.Builder
	if err := d.greet(&log); err != nil || strings.Contains(log.String(), signsIn) || !strings.Contains(log.String(), "/inbox\n") {
		t.Errorf("a log begins with\n%s%v", log.String(), err)
	}
	ptmx, tty := bothEnds(t)
	if err := errors.Join(d.greet(tty), tty.Close()); err != nil {
		t.Fatal(err)
	}
	shown, err := io.ReadAll(ptmx)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), signsIn) {
		t.Errorf("a person is greeted with\n%s", shown)
	}
}

// atTerminal runs a shell script at a terminal of its own, with typed as waiting input, and returns
// what the terminal displayed. The shell may be a link with another name.
func (h *home) atTerminal(shell, typed, script string) string {
	h.t.Helper()
	ptmx, tty := bothEnds(h.t)
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	cmd := h.command(ctx, "-")
	// The line after the script keeps the shell running above the command.
	cmd.Path, cmd.Args = shell, []string{filepath.Base(shell), "-c", script + "\n:"}
	cmd.Env = append(cmd.Env, "VAGLIO="+binary)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	tty.Close()
	if _, err := io.WriteString(ptmx, typed); err != nil {
		h.t.Fatal(err)
	}
	// The terminal is closed (EIO) when the last of its processes is gone.
	text, err := io.ReadAll(ptmx)
	if err != nil && !errors.Is(err, syscall.EIO) {
		h.t.Fatal(err)
	}
	_ = cmd.Wait() // the script prints how its commands ended
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// saidAt checks what a terminal displays.
func saidAt(t *testing.T, screen string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(screen, want) {
			t.Errorf("the terminal does not say %q:\n%s", want, screen)
		}
	}
}

// TestAnOwnerAllowsAtTheTerminal checks that only what was shown at this terminal, as it is now, can
// be allowed there.
func TestAnOwnerAllowsAtTheTerminal(t *testing.T) {
	t.Parallel()
	line, err := lineage.Of(lineage.System, os.Getpid())
	if agent := line.Below(install.Programs()); err != nil || agent != "" {
		t.Skipf("this test runs below %q, and nothing could be allowed there: %v", agent, err)
	}
	s := newHome(t).serve()
	waits := s.propose()
	asked := s.waiting(1)[0]
	id, name := string(asked.ID), asked.Agent
	const sh = "/bin/sh"

	saidAt(t, s.h.atTerminal(sh, "", "$VAGLIO allow "+id+"; echo [$?]"), "was not shown at this terminal", "[1]")
	saidAt(t, s.h.atTerminal(sh, "", "$VAGLIO show "+id+" >/dev/null; $VAGLIO allow "+id+"; echo [$?]"), "was not shown at this terminal", "[1]")
	saidAt(t, s.h.atTerminal(sh, "yes\n", "$VAGLIO show "+id+"; $VAGLIO allow "+id+"; echo [$?]"),
		"git push --force origin main", "clean up the history of main", "/srv/app", "Type the agent’s name, "+name, "only if you type", "[1]")
	// What was shown at another terminal was not shown here.
	saidAt(t, s.h.atTerminal(sh, name+"\n", "$VAGLIO allow "+id+"; echo [$?]"), "was not shown at this terminal", "[1]")
	saidAt(t, s.h.atTerminal(sh, name+"\n", "$VAGLIO show "+id+"; $VAGLIO ask "+id+" which remote; $VAGLIO allow "+id+"; echo [$?]"),
		"Asked.", "was not shown at this terminal as it is now", "[1]")
	if r := s.h.run(name+"\n", "allow", id); r.code != exitFailed || !strings.Contains(r.err, "only at the terminal where it was shown") {
		t.Errorf("without a terminal: %d %s%s", r.code, r.out, r.err)
	}
	if a := s.waiting(1)[0]; a.State != approval.Pending {
		t.Fatalf("it is %s before anybody allowed it", a.State)
	}
	saidAt(t, s.h.atTerminal(sh, name+"\n", "$VAGLIO show "+id+"; $VAGLIO allow "+id+"; echo [$?]"), "Allowed", "[0]")
	if a := waits.answer(t); a.Decision != approval.RulingPending { // It left when it was asked a question.
		t.Errorf("the call that was asked back got %+v", a)
	}
	a := s.agent("POST", "/v1/proposals?wait=55s", forcePush).answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil || a.Approval.ID != asked.ID {
		t.Fatalf("the call got %+v, want allow with a permit", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", forcePush); r.status != http.StatusNoContent {
		t.Errorf("redeeming: %d %s", r.status, r.body)
	}
	saidAt(t, s.h.run("", "why", id).out, "allowed by Owner (web:owner) on terminal")
	saidAt(t, s.h.run("", "log", "--json").out, `"channel":"terminal"`)
	if page := s.signIn(s.link).get("/inbox/ask/" + string(asked.ID.Ask())).body; !strings.Contains(page, "Owner") {
		t.Errorf("the inbox does not tell who allowed it:\n%s", page)
	}
	saidAt(t, s.h.atTerminal(sh, name+"\n", "$VAGLIO show "+id+"; $VAGLIO allow "+id+"; echo [$?]"), "already answered", "[1]")
}

// TestTheWorstTakesTheDigitsOfAChat checks that, once a chat is paired, the worst calls can only be
// allowed in the inbox or at a terminal with the digits shown in the chat.
func TestTheWorstTakesTheDigitsOfAChat(t *testing.T) {
	t.Parallel()
	p, h := newChat(t), newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	owner := s.signIn(s.link)
	decide := func(id, digits string) reply {
		form := buttons(t, owner.get("/inbox/ask/"+id).body)[string(approval.ChoiceAllow)]
		form.Set("digits", digits)
		return owner.post("/inbox/decide", form)
	}
	ask := func(call string) (approval.ID, string) {
		answer := s.agent("POST", "/v1/proposals", call).answer(t)
		return answer.Approval.ID, p.digits("")
	}
	// Nobody has paired yet, so no chat shows digits.
	alone := s.agent("POST", "/v1/proposals", forcePush).answer(t).Approval.ID
	if r := decide(string(alone.Ask()), ""); r.status != http.StatusOK {
		t.Fatalf("without a chat: %d %s", r.status, r.body)
	}
	p.pair(s)
	id, digits := ask(laterPush)
	if r := decide(string(id.Ask()), ""); r.status != http.StatusForbidden || !strings.Contains(r.body, "two digits") {
		t.Errorf("without digits: %d", r.status)
	}
	if a := s.waiting(1)[0]; a.ID != id {
		t.Fatalf("%s waits", a.ID)
	}
	line, err := lineage.Of(lineage.System, os.Getpid())
	if agent := line.Below(install.Programs()); err != nil || agent != "" {
		if r := decide(string(id.Ask()), digits); r.status != http.StatusOK {
			t.Errorf("with them: %d %s", r.status, r.body)
		}
		t.Skipf("this test runs below %q, and nothing could be allowed at a terminal: %v", agent, err)
	}
	name, sees := s.waiting(1)[0].Agent, "$VAGLIO show "+string(id)+" >/dev/tty; "
	saidAt(t, h.atTerminal("/bin/sh", name+"\n\n", sees+"$VAGLIO allow "+string(id)+"; echo [$?]"), "Two digits that its card on the chat shows", "Nothing was decided", "[1]")
	saidAt(t, h.atTerminal("/bin/sh", name+"\n", sees+"$VAGLIO allow "+string(id)+" --digits 09; echo [$?]"), "Those are not the digits on the chat", "Tries left: 2", "[1]")
	saidAt(t, h.atTerminal("/bin/sh", name+"\n", sees+"$VAGLIO allow "+string(id)+" --digits "+p.digits(digits)+"; echo [$?]"), "Allowed", "[0]")
}

// TestAnAgentAnswersNothingAtTheTerminal runs the commands below a program with an agent's name, at
// a terminal of its own.
func TestAnAgentAnswersNothingAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	s.agent("POST", "/v1/proposals", forcePush)
	id := string(s.waiting(1)[0].ID)
	agent := filepath.Join(s.h.dir, "codex")
	// A link is enough: the system reports the name under which a program was started.
	if err := os.Symlink("/bin/sh", agent); err != nil {
		t.Fatal(err)
	}
	if program, err := filepath.EvalSymlinks(agent); err != nil || strings.Contains(program, "busybox") {
		t.Skipf("the shell here goes by its own name: %s %v", program, err)
	}
	screen := s.h.atTerminal(agent, "local\n", "$VAGLIO show "+id+"; sh -c '$VAGLIO allow "+id+"; :'; echo [$?]; $VAGLIO deny "+id+" no; echo [$?]; $VAGLIO ask "+id+" why; $VAGLIO stop")
	if n := strings.Count(screen, "below codex, which is an agent’s program"); n != 5 || strings.Contains(screen, "Denied") {
		t.Errorf("an agent is told %d times that it cannot answer, want 5 (show, allow, deny, ask, stop):\n%s", n, screen)
	}
	if a := s.waiting(1)[0]; a.State != approval.Pending {
		t.Errorf("an agent's shell made it %s", a.State)
	}
}
