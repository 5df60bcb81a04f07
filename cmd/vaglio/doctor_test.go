package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// doctor runs the command and returns what is wrong, as "subject: text".
func (h *home) doctor(args ...string) []string {
	h.t.Helper()
	r := h.run("", slices.Concat([]string{"doctor", "--json"}, args)...)
	if strings.Contains(r.out+r.err, "AAfake") {
		h.t.Errorf("the doctor shows the token:\n%s%s", r.out, r.err)
	}
	var a struct {
		OK       bool               `json:"ok"`
		Findings []approval.Finding `json:"findings"`
	}
	if err := strictjson.Unmarshal([]byte(r.out), &a); err != nil {
		h.t.Fatalf("%v in %q %q", err, r.out, r.err)
	}
	var wrong []string
	for _, f := range a.Findings {
		// A note may say what would help: a machine need not have what sandboxes require.
		if f.Text == "" || f.Grade != approval.Noted && (f.Grade == approval.Wrong) != (f.Remedy != "") {
			h.t.Errorf("a finding says how it stands, and a problem says what helps: %+v", f)
		}
		if f.Grade == approval.Wrong {
			wrong = append(wrong, f.Subject+": "+f.Text)
		}
	}
	if a.OK != (len(wrong) == 0) || r.code != map[bool]int{true: 0, false: 1}[a.OK] {
		h.t.Errorf("exit code %d, ok %v, %q", r.code, a.OK, wrong)
	}
	return wrong
}

// contents returns the names, modes and contents of all files in the home.
func (h *home) contents() string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(h.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, name, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			body, err := os.ReadFile(name)
			fmt.Fprintf(&b, "%x\n", sha256.Sum256(body))
			return err
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

func TestTheDoctorOfAnEmptyHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if wrong := h.doctor(); len(wrong) != 0 {
		t.Errorf("before the first start something is wrong: %q", wrong)
	}
	if names, err := os.ReadDir(h.dir); err != nil || len(names) != 0 {
		t.Errorf("the doctor made %v, %v", names, err)
	}
	r := h.run("", "doctor")
	if r.code != 0 || !strings.HasSuffix(r.out, "Nothing is wrong.\n") || !strings.Contains(r.out, "note     daemon") {
		t.Errorf("in words: %d\n%s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "doctor", "now"); r.code != 2 {
		t.Errorf("with an argument it ends with %d", r.code)
	}
	if wrong := h.doctor("--tap"); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "tap: There is no channel") {
		t.Errorf("a test card to nowhere: %q", wrong)
	}
}

func TestTheDoctorFindsWhatIsWrongHere(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	write := func(h *home, file, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(h.data(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.data(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(h.data(file), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		env     string
		arrange func(h *home)
		want    string
	}{
		"Threshold": {env: "METNOS_JUDGE_THRESHOLD=2", want: "configuration: METNOS_JUDGE_THRESHOLD: "},
		"Slip":      {env: "METNOS_DATADIR=/x", want: "configuration: METNOS_DATADIR: there is no such setting; did you mean METNOS_DATA_DIR?"},
		"Policy":    {env: "METNOS_POLICY=/nowhere.yaml", want: "policy: METNOS_POLICY: /nowhere.yaml: no such file"},
		"Address":   {env: "METNOS_LISTEN=" + taken.Addr().String(), want: "address: " + taken.Addr().String() + " is taken"},
		"Token":     {env: "METNOS_TELEGRAM_TOKEN=hunter2hunter2", want: "configuration: METNOS_TELEGRAM_TOKEN: the token is not one of BotFather's"},
		"Folder": {arrange: func(h *home) {
			write(h, "x", "", 0o600)
			if err := os.Chmod(h.data("."), 0o777); err != nil {
				t.Fatal(err)
			}
		}, want: "data folder: "},
		"Foreign":   {arrange: func(h *home) { write(h, "vaglio.db", strings.Repeat("no store ", 9999), 0o600) }, want: "store: "},
		"AgentFile": {arrange: func(h *home) { write(h, "agent.token", "vaglio_x", 0o644) }, want: "files: "},
		"NoSocket":  {arrange: func(h *home) { write(h, "agent.sock", "", 0o600) }, want: "sockets: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if c.env != "" {
				h.env = append(h.env, c.env)
			}
			if c.arrange != nil {
				c.arrange(h)
			}
			before := h.contents()
			if wrong := h.doctor(); len(wrong) != 1 || !strings.HasPrefix(wrong[0], c.want) {
				t.Errorf("wrong is %q, want %s…", wrong, c.want)
			}
			if after := h.contents(); after != before {
				t.Errorf("the doctor changed\n%s\ninto\n%s", before, after)
			}
		})
	}
}

// TestTheDoctorOfADaemon examines a healthy daemon, breaks one thing after the other, and examines
// what the daemon left after it stopped.
func TestTheDoctorOfADaemon(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	if wrong := h.doctor(); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "telegram pairing: Nobody has paired") {
		t.Errorf("before somebody paired: %q", wrong)
	}
	p.pair(s)
	if wrong := h.doctor(); len(wrong) != 0 {
		t.Errorf("when all is well: %q\n%s", wrong, s.log)
	}
	p.Block(p.chat, "bot was blocked by the user")
	if wrong := h.doctor(); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "telegram chat: The chat that cards go to has shut the bot out") {
		t.Errorf("when the bot is blocked: %q", wrong)
	}
	p.Block(p.chat, "")
	for _, method := range []string{"getMe", "getWebhookInfo", "getChat", "sendChatAction"} {
		p.Fail(method, 1, telegramtest.Fault{Code: 403, Description: "Forbidden: " + p.url + "/bot" + telegramtest.Token})
		if wrong := h.doctor(); len(wrong) != 1 {
			t.Errorf("when %s fails: %q", method, wrong)
		}
		p.Heal()
	}
	if err := os.Chmod(h.data("agent.sock"), 0o666); err != nil {
		t.Fatal(err)
	}
	if wrong := h.doctor(); len(wrong) != 1 || !strings.Contains(wrong[0], "agent.sock is open to others (mode 0666)") {
		t.Errorf("when a socket is open: %q", wrong)
	}
	if err := os.Remove(h.data("admin.sock")); err != nil {
		t.Fatal(err)
	}
	if wrong := h.doctor(); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "store: A process holds") {
		t.Errorf("when the owner's socket is gone: %q", wrong)
	}
	s.kill()
	before := h.contents()
	if wrong := h.doctor("--telegram-api", p.url); len(wrong) != 0 {
		t.Errorf("after a kill: %q", wrong)
	}
	if after := h.contents(); after != before {
		t.Errorf("the doctor changed\n%s\ninto\n%s", before, after)
	}
	if strings.Contains(s.log.String(), "AAfake") {
		t.Error("the token is in the log")
	}
}

// TestTheDoctorOfADaemonWithoutABot has the token only in the terminal's environment.
func TestTheDoctorOfADaemonWithoutABot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	if wrong := h.doctor(); len(wrong) != 0 {
		t.Errorf("without Telegram: %q", wrong)
	}
	h.env = append(h.env, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	if wrong := h.doctor(); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "telegram: This terminal has a bot token") {
		t.Errorf("with a token that the daemon does not have: %q", wrong)
	}
	s.stop()
}

// TestTheDoctorsTap presses the test card, with a daemon and without one.
func TestTheDoctorsTap(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	p.pair(s)
	tap := func() {
		t.Helper()
		done := make(chan result, 1)
		go func() { done <- h.run("", "doctor", "--tap", "--telegram-api", p.url) }()
		card := p.await("to test", func(m telegramtest.Message) bool {
			return len(m.Buttons()) == 1 && m.Buttons()[0].Text == "It is here"
		})
		if _, err := p.Press(p.ann, p.chat, card.ID, "It is here"); err != nil {
			t.Error(err)
		}
		r := <-done
		if r.code != 0 || !strings.Contains(r.out, "telegram tap") || !strings.Contains(r.out, "Ann (telegram:4711) pressed") ||
			!strings.Contains(r.err, "press its button") {
			t.Errorf("got %d\n%s%s\n%s", r.code, r.out, r.err, s.log)
		}
		if m, _ := p.Message(p.chat, card.ID); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "The test worked") {
			t.Errorf("the test card says %q", m.Text)
		}
	}
	tap()
	s.stop()
	tap()
}
