package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/race"
)

// secretText must not appear in any output.
const secretText = "correct-horse-battery-staple"

func TestMistakesInTheConfigurationAreAllTold(t *testing.T) {
	t.Parallel()
	h := newHome(t,
		"METNOS_JUDGE_THRESHOLD=nan", "METNOS_JUDGE_KIND=oracle", "METNOS_DATA_DIR=here",
		"METNOS_LISTEN=0.0.0.0:8787", "METNOS_PUBLIC_URL=http://vaglio.example.org", "METNOS_APPROVAL_DEADLINE=2d",
		"METNOS_POLICY=/nowhere/policy.yaml", "METNOS_AGENT_TOKEN="+secretText, "METNOS_AGENT_TOKEN_FILE=/nowhere/token",
		"METNOS_JUDGE_TRESHOLD=0.5")
	r := h.run("", "serve")
	if r.code != 2 || r.out != "" {
		t.Errorf("exit code %d and output %q, want 2 and none", r.code, r.out)
	}
	for _, want := range []string{
		`METNOS_JUDGE_THRESHOLD: "nan" is not a number between 0 and 1`,
		`METNOS_JUDGE_KIND: there is no judge "oracle"; known: rule-based-v1`,
		`METNOS_DATA_DIR: "here" is not an absolute path`,
		`METNOS_LISTEN: "0.0.0.0:8787" can be reached from other machines`,
		`METNOS_PUBLIC_URL: "http://vaglio.example.org" is not encrypted`,
		`METNOS_APPROVAL_DEADLINE: "2d" is not a duration`,
		`METNOS_POLICY: /nowhere/policy.yaml: no such file`,
		`METNOS_AGENT_TOKEN: is set, and so is METNOS_AGENT_TOKEN_FILE`,
		`METNOS_JUDGE_TRESHOLD: there is no such setting; did you mean METNOS_JUDGE_THRESHOLD?`,
	} {
		if strings.Count(r.err, want) != 1 {
			t.Errorf("want one line with %s, got\n%s", want, r.err)
		}
	}
	if strings.Contains(r.err, secretText) {
		t.Errorf("the secret is shown:\n%s", r.err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, ".local")); !os.IsNotExist(err) {
		t.Errorf("something was left behind: %v", err)
	}
}

func TestOneMistakeInTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ env, want string }{
		"EmptyThreshold":   {"METNOS_JUDGE_THRESHOLD=", `METNOS_JUDGE_THRESHOLD: "" is not a number`},
		"ThresholdOfGo":    {"METNOS_JUDGE_THRESHOLD=0_1", `METNOS_JUDGE_THRESHOLD: "0_1" is not a number between 0 and 1`},
		"ThresholdTooBig":  {"METNOS_JUDGE_THRESHOLD=1.01", `METNOS_JUDGE_THRESHOLD: "1.01" is not a number between 0 and 1`},
		"ThresholdInWords": {"METNOS_JUDGE_THRESHOLD=high", `METNOS_JUDGE_THRESHOLD: "high"`},
		"ThresholdInf":     {"METNOS_JUDGE_THRESHOLD=-Inf", `METNOS_JUDGE_THRESHOLD: "-Inf"`},
		"EmptyKind":        {"METNOS_JUDGE_KIND=", `METNOS_JUDGE_KIND: there is no judge ""`},
		"EmptyFolder":      {"METNOS_DATA_DIR=", "METNOS_DATA_DIR: is set but empty"},
		"NoPort":           {"METNOS_LISTEN=127.0.0.1", "METNOS_LISTEN: "},
		"PortTooBig":       {"METNOS_LISTEN=127.0.0.1:70000", `METNOS_LISTEN: port "70000"`},
		"EveryAddress":     {"METNOS_LISTEN=:8787", `METNOS_LISTEN: ":8787" can be reached`},
		"PathInURL":        {"METNOS_PUBLIC_URL=https://example.org/vaglio", "METNOS_PUBLIC_URL: "},
		"DenialLong":       {"METNOS_DENIAL_STANDS=25h", "METNOS_DENIAL_STANDS: 25h is not between"},
		"DeadlineShort":    {"METNOS_APPROVAL_DEADLINE=59s", "METNOS_APPROVAL_DEADLINE: 59s is not between 1m and 24h"},
		"DeadlineLong":     {"METNOS_APPROVAL_DEADLINE=25h", "METNOS_APPROVAL_DEADLINE: 25h is not between"},
		"QuietInWords":     {"METNOS_QUIET=at night", `METNOS_QUIET: "at night" is not a part of the day, such as 22:00-07:00`},
		"QuietTooLate":     {"METNOS_QUIET=22:00-24:30", `METNOS_QUIET: "22:00-24:30" is not a part of the day`},
		"DigestEmptyOff":   {"METNOS_DIGEST_EMPTY=no", `METNOS_DIGEST_EMPTY: "no" is neither say nor silent`},
		"DigestInWords":    {"METNOS_DIGEST_AT=at dawn", `METNOS_DIGEST_AT: "at dawn" is not a time such as 08:00, and not off`},
		"HistoryInWords":   {"METNOS_HISTORY_DAYS=a year", `METNOS_HISTORY_DAYS: "a year" is not a number of days from 1 to 36500, such as 365, and not forever`},
		"ValuesForEver":    {"METNOS_KEEP_VALUES=forever", `METNOS_KEEP_VALUES: "forever" is not a number of days from 1 to 36500, such as 30`},
		"ValuesForNoDay":   {"METNOS_KEEP_VALUES=0", `METNOS_KEEP_VALUES: "0" is not a number of days`},
		"HistoryOfNothing": {"METNOS_HISTORY_DAYS=0", `METNOS_HISTORY_DAYS: "0" is not a number of days`},
		"QuietForNothing":  {"METNOS_QUIET=22:00-22:00", `METNOS_QUIET: "22:00-22:00" begins and ends at the same time`},
		"NoSuchZone":       {"METNOS_TZ=Europe/Roma", `METNOS_TZ: "Europe/Roma" is not a time zone, such as Europe/Rome`},
		"EmptyZone":        {"METNOS_TZ=", `METNOS_TZ: "" is not a time zone`},
		"EmptyPolicy":      {"METNOS_POLICY=", "METNOS_POLICY: is set but empty"},
		"TokenShort":       {"METNOS_AGENT_TOKEN=hunter2", "METNOS_AGENT_TOKEN: has 7 characters"},
		"TokenEmpty":       {"METNOS_AGENT_TOKEN=", "METNOS_AGENT_TOKEN: is set but empty"},
		"TokenFileMissing": {"METNOS_AGENT_TOKEN_FILE=/nowhere/token", "METNOS_AGENT_TOKEN_FILE: /nowhere/token: no such file"},
		"NoSuchLanguage":   {"METNOS_LANG=de", `METNOS_LANG: "de" is not a language of the texts: choose en or it`},
		"LanguageInFull":   {"METNOS_LANG=it_IT.UTF-8", `METNOS_LANG: "it_IT.UTF-8" is not a language`},
		"NoTexts":          {"METNOS_TEMPLATES=/nowhere", `METNOS_TEMPLATES: "/nowhere" is not a folder`},
		"TextsEmpty":       {"METNOS_TEMPLATES=", `METNOS_TEMPLATES: "" is not a folder`},
		"NoSuchGroup":      {"METNOS_AGENT_GROUP=1a", `METNOS_AGENT_GROUP: there is no group "1a"`},
		"GroupTooBig":      {"METNOS_AGENT_GROUP=4294967295", `METNOS_AGENT_GROUP: there is no group "4294967295"`},
		"GroupWithoutRoom": {"METNOS_AGENT_GROUP=54321", "METNOS_AGENT_GROUP: needs METNOS_AGENT_SOCKET"},
		"RelativeSocket":   {"METNOS_AGENT_SOCKET=agent.sock", `METNOS_AGENT_SOCKET: "agent.sock" is not an absolute path`},
		"LongSocketPath":   {"METNOS_DATA_DIR=/tmp/" + strings.Repeat("long/", 25), "choose a shorter METNOS_DATA_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHome(t, c.env).run("", "serve")
			if r.code != 2 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, c.want) {
				t.Errorf("exit code %d, want 2 and one line with %q; got\n%s", r.code, c.want, r.err)
			}
			if strings.Contains(r.err, "hunter2") {
				t.Errorf("the secret is shown:\n%s", r.err)
			}
		})
	}
}

func TestASecondDaemonIsRefusedAndHarmsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	r := h.run("", "serve")
	if r.code != 1 || !strings.Contains(r.err, "another vaglio holds") || r.out != "" {
		t.Errorf("the second daemon ended with %d and said %q %q", r.code, r.out, r.err)
	}
	if r := s.local("GET", "/readyz", ""); r.status != http.StatusOK {
		t.Errorf("after the second daemon, the first answers %d %s", r.status, r.body)
	}
	if r := h.run("", "inbox"); r.code != 0 || !strings.HasPrefix(r.out, s.base+"/inbox/login?code=") {
		t.Errorf("after the second daemon, inbox says %d %q %q", r.code, r.out, r.err)
	}
}

// TestFilesThatHoldNoKeyStopTheStart checks that the daemon says which file it is, and makes no other
// key: what the old one signed or locked would be lost.
func TestFilesThatHoldNoKeyStopTheStart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.policy(t, "resume_urls: [http://127.0.0.1:1/hooks]\n")
	h.serve().stop()
	for _, name := range []string{datafolder.KeyFile, datafolder.ResumeFile, datafolder.ValueKeys} {
		file := h.data(name)
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{"not a key\n", ""} {
			if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := h.run("", "serve"); r.code == exitOK || !strings.Contains(r.err, name) || strings.Count(r.err, "\n") != 1 {
				t.Errorf("%q in %s: %d %s", damaged, name, r.code, r.err)
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != damaged {
				t.Errorf("%s became %q: %v", name, now, err)
			}
		}
		if err := os.WriteFile(file, kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.serve().stop()
}

func TestADataFolderThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "file")
	open := filepath.Join(h.dir, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, want string }{
		"AFile":            {file, file + " is not a folder"},
		"BelowAFile":       {filepath.Join(file, "data"), filepath.Join(file, "data") + ": not a directory"},
		"NowhereToMakeIt":  {"/proc/vaglio", "/proc/vaglio: "},
		"CannotBeWritten":  {"/proc/self", "/proc/self"},
		"WritableByOthers": {open, "can be written by others (mode 0777); run chmod go-w"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &home{t, h.dir, []string{"METNOS_DATA_DIR=" + c.dir}}
			r := h.run("", "serve")
			if r.code != 1 || !strings.Contains(r.err, c.want) || strings.Count(r.err, "\n") != 1 {
				t.Errorf("exit code %d, want 1 and one line with %q; got\n%s", r.code, c.want, r.err)
			}
		})
	}
}

func TestWhatTheDaemonMakesIsForTheOwnerAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve()
	for file, want := range map[string]os.FileMode{
		"": 0o700, "vaglio.db": 0o600, "agent.token": 0o600, "agent.sock": 0o600, "admin.sock": 0o600,
	} {
		info, err := os.Stat(h.data(file))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", file, got, want)
		}
	}
	db, err := os.ReadFile(h.data("vaglio.db"))
	if err != nil {
		t.Fatal(err)
	}
	if token := readToken(t, h); strings.Contains(string(db), token) {
		t.Error("the store holds the agents' token itself")
	}
}

func readToken(t testing.TB, h *home) string {
	t.Helper()
	b, err := os.ReadFile(h.data("agent.token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func (s *served) agentToken() string { return readToken(s.h.t, s.h) }

func TestTokens(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	status := func(s *served, token string) int {
		return s.send(http.DefaultClient, "GET", s.base+"/v1/turns/none", "", "Bearer "+token).status
	}
	s := h.serve()
	first := readToken(t, h)
	if got := status(s, first); got == http.StatusUnauthorized {
		t.Errorf("the token of the first start is refused: %d", got)
	}
	s.stop()

	s = h.serve()
	if got := readToken(t, h); got != first {
		t.Error("a restart changed the token")
	}
	s.stop()

	if err := os.Remove(h.data("agent.token")); err != nil {
		t.Fatal(err)
	}
	s = h.serve()
	second := readToken(t, h)
	if second == first {
		t.Error("the lost token came back")
	}
	if got := status(s, first); got != http.StatusUnauthorized {
		t.Errorf("the lost token still works: %d", got)
	}
	if got := status(s, second); got == http.StatusUnauthorized {
		t.Error("the new token does not work")
	}
	s.logs("a new token was made")
	s.stop()

	h.env = []string{"METNOS_AGENT_TOKEN=" + secretText}
	s = h.serve()
	if got := status(s, secretText); got == http.StatusUnauthorized {
		t.Error("the operator's token does not work")
	}
	if got := status(s, second); got != http.StatusUnauthorized {
		t.Errorf("beside the operator's token the file's works too: %d", got)
	}
	s.stop()
	for _, secret := range []string{first, second, secretText} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("a token is in the log:\n%s", s.log)
		}
	}
}

func TestTheOwnersSocketIsNotTheAgents(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	for _, r := range []reply{s.local("POST", "/inbox-link", ""), s.agent("POST", "/inbox-link", "")} {
		if r.status != http.StatusNotFound || strings.Contains(r.body, "code=") {
			t.Errorf("an agent asked for a login and got %d %s", r.status, r.body)
		}
	}
}

func TestALinkSignsInOnce(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	r := s.h.run("", "inbox")
	link := strings.TrimSpace(r.out)
	s.signIn(link).get("/inbox")
	p := &person{t: t, base: s.base, http: &http.Client{Timeout: patience}}
	_, code, _ := strings.Cut(link, "code=")
	if r := p.post("/inbox/login", map[string][]string{"code": {code}}); r.status == http.StatusOK || r.header.Get("Set-Cookie") != "" {
		t.Errorf("the link worked twice: %d", r.status)
	}
}

func TestCommandLines(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"Help":           {[]string{"--help"}, 0, "vaglio serve"},
		"Version":        {[]string{"version"}, 0, "vaglio "},
		"UnknownCommand": {[]string{"serv"}, 2, `unknown command "serv"`},
		"UnknownFlag":    {[]string{"serve", "--port"}, 2, "unknown flag: --port"},
		"WhyWithoutID":   {[]string{"why"}, 2, "vaglio why needs <id>, as in: vaglio why "},
		"ReplayTwice":    {[]string{"replay", "a", "b"}, 2, `vaglio replay takes one <file or folder>, and was given "b", too`},
		"WhyTwice":       {[]string{"why", "a", "b"}, 2, `vaglio why takes one <id>, and was given "b", too`},
		"WhyEmpty":       {[]string{"why", " "}, 2, "vaglio why needs <id>"},
		"ServeWhat":      {[]string{"serve", "it"}, 2, `vaglio serve takes no argument, and was given "it"`},
		"PolicyWhat":     {[]string{"policy", "show"}, 2, `vaglio policy knows no command "show"`},
		"PolicyNowhere":  {[]string{"policy", "check", "/nowhere"}, 2, "/nowhere: no such file"},
		"PolicyFolder":   {[]string{"policy", "check", "/"}, 2, "/ is a folder, not a policy file"},
		"TextsNowhere":   {[]string{"texts", "check", "/nowhere"}, 2, "/nowhere: no such file"},
		"TextsFile":      {[]string{"texts", "check", "/dev/null"}, 2, "/dev/null is not a folder"},
		"FlagValue":      {[]string{"pending", "--json=maybe"}, 2, `--json: "maybe" is not true or false`},
		"FlagsTogether":  {[]string{"digest", "--send", "--json"}, 2, "--json and --send cannot be given together"},
		"ExplainNothing": {[]string{"explain"}, 2, "there is nothing to explain"},
		"ExplainEmpty":   {[]string{"explain", "--command", " "}, 2, "--command is empty"},
		"HookUnknown":    {[]string{"hook", "nope"}, 2, `"nope" is not a client with a hook; known: `},
		"WhyUnknown":     {[]string{"why", "abcd"}, 1, "no vaglio is serving this data folder"},
		"JudgeFlag":      {[]string{"judge", "--nope"}, 3, "unknown flag: --nope"},
		"HookNoClient":   {[]string{"hook"}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.run("", c.args...)
			if r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
				t.Errorf("exit code %d, want %d and %q; got\n%s%s", r.code, c.code, c.want, r.out, r.err)
			}
		})
	}
	astray := newHome(t, "METNOS_DATA_DIR=not/absolute")
	for _, cmd := range []string{
		"agent list", "agent add x", "agent rotate x", "agent remove x", "log", "log key", "log verify", "log checkpoint", "digest", "inbox", "pair",
		"pending", "why abcd", "stop", "grants", "session list", "passkeys list", "rotate", "compact", "serve",
	} {
		r := astray.run("", strings.Fields(cmd)...)
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, `METNOS_DATA_DIR: "not/absolute" is not an absolute path`) {
			t.Errorf("%s in a folder that cannot be: %d\n%s%s", cmd, r.code, r.out, r.err)
		}
	}
	for _, cmd := range []string{"serve", "judge", "explain", "policy", "policy check", "texts", "texts check", "inbox", "pending", "why", "hook", "pair", "digest", "doctor", "log", "log verify", "version"} {
		r := h.run("", append(strings.Fields(cmd), "--help")...)
		if r.code != 0 || !strings.Contains(r.out, "Examples:\n  vaglio "+cmd) || !strings.Contains(r.out, "Exit codes: ") {
			t.Errorf("%s --help: %d without an example or its exit codes:\n%s", cmd, r.code, r.out)
		}
	}
}

// A text that would leave a card empty stops the start.
func TestABrokenTextStopsTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "it.tmpl"), []byte("\n{{define \"button.deny\"}}{{end}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newHome(t, "METNOS_TEMPLATES="+dir).run("", "serve")
	want := "METNOS_TEMPLATES: it.tmpl:2: button.deny: the text is empty; it must say something"
	if r.code != 2 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, want) {
		t.Errorf("exit code %d, want 2 and one line with %q; got\n%s", r.code, want, r.err)
	}
}

// The output of texts is a folder that passes its check; a mistake is reported.
func TestTextsAreTheirOwnOverride(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h, dir := newHome(t), t.TempDir()
	for _, lang := range []string{"en", "it"} {
		r := h.run("", "texts", lang)
		if r.code != 0 || !strings.Contains(r.out, `{{define "button.allow"}}`) {
			t.Fatalf("%s: exit code %d and %.100q", lang, r.code, r.out)
		}
		if err := os.WriteFile(filepath.Join(dir, lang+".tmpl"), []byte(r.out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.run("", "texts", "check", dir); r.code != 0 || r.out != "The texts are right.\n" {
		t.Errorf("exit code %d, %q and %q", r.code, r.out, r.err)
	}
	older := regexp.MustCompile(`(?m)^\{\{define "(button\.allow|button\.deny)"}}.*\n`)
	for _, file := range []struct{ text, want string }{
		{older.ReplaceAllString(h.run("", "texts", "it").out, ""), "In it.tmpl 2 texts are left out and stay as they are built in: button.allow button.deny\n"},
		{`{{define "button.allow"}}Vai{{end}}`, " more\n"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "it.tmpl"), []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := h.run("", "texts", "check", dir); r.code != 0 || !strings.HasPrefix(r.out, "The texts are right.\nIn it.tmpl ") || !strings.HasSuffix(r.out, file.want) {
			t.Errorf("exit code %d, %q and %q", r.code, r.out, r.err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "it.tmpl"), []byte(`{{define "from"}}Da un agente{{end}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "texts", "check", dir); r.code != 1 || !strings.Contains(r.err, "it.tmpl:1: from: the field .agent does not show") {
		t.Errorf("exit code %d and %q", r.code, r.err)
	}
	if r := h.run("", "texts", "de"); r.code != 2 || !strings.Contains(r.err, "known: en, it") {
		t.Errorf("exit code %d and %q", r.code, r.err)
	}
}

// TestFilesThatOthersCanChangeStopTheStart puts each file that the daemon relies on where others
// could change it.
func TestFilesThatOthersCanChangeStopTheStart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := func(name string) string { return filepath.Join(h.dir, name) }
	write := func(folder, file, text string, of, mode os.FileMode) {
		if err := errors.Join(os.MkdirAll(at(folder), 0o700), os.WriteFile(at(folder+"/"+file), []byte(text), 0o600),
			os.Chmod(at(folder+"/"+file), mode), os.Chmod(at(folder), of)); err != nil {
			t.Fatal(err)
		}
	}
	write("written", "policy.yaml", "closed: false\n", 0o700, 0o666)
	write("open", "policy.yaml", "closed: false\n", 0o777, 0o600)
	write("texts", "en.tmpl", `{{define "web.signout"}}Out{{end}}`, 0o777, 0o600)
	write("secret", "token", strings.Repeat("x", 30), 0o777, 0o600)
	write("read", "token", strings.Repeat("x", 30), 0o700, 0o644)
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ env, want string }{
		"Policy":       {"METNOS_POLICY=" + at("written/policy.yaml"), "policy.yaml can be written by others (mode 0666); run chmod go-w " + at("written/policy.yaml")},
		"PolicyFolder": {"METNOS_POLICY=" + at("open/policy.yaml"), at("open") + " can be written by others (mode 0777); run chmod go-w " + at("open")},
		"PolicyPipe":   {"METNOS_POLICY=" + at("pipe"), at("pipe") + ": is not a regular file"},
		"PolicyDevice": {"METNOS_POLICY=/dev/zero", "/dev/zero: is not a regular file"},
		"Texts":        {"METNOS_TEMPLATES=" + at("texts"), at("texts") + " can be written by others (mode 0777); run chmod go-w " + at("texts")},
		"SecretFolder": {"METNOS_AGENT_TOKEN_FILE=" + at("secret/token"), at("secret") + " can be written by others (mode 0777)"},
		"SecretRead":   {"METNOS_AGENT_TOKEN_FILE=" + at("read/token"), "can be read or written by others (mode 0644); run chmod 600 " + at("read/token")},
		"SecretPipe":   {"METNOS_AGENT_TOKEN_FILE=" + at("pipe"), at("pipe") + " is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &home{t, h.dir, []string{c.env}}
			r := h.run("", "serve")
			if r.code != 2 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "xxxx") {
				t.Errorf("exit code %d, want 2 and %q; got\n%s", r.code, c.want, r.err)
			}
			if _, err := os.Stat(h.data("")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the start left something: %v", err)
			}
		})
	}
}
