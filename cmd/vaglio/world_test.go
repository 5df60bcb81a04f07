package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web/webtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/filetest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// binary is the real command, built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if socket := os.Getenv(bareSocket); socket != "" {
		fmt.Fprintln(os.Stderr, serveBare(socket))
		return 1
	}
	dir, err := os.MkdirTemp("", "vaglio")
	if err := errors.Join(err, filetest.Uses("../../Makefile", "../../deploy", "../../channels/telegram/telegramtest/byhand",
		"../../gateway/client/js", "../../gateway/client/python", "../../internal/browser/visit", "../vaglio-hook")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "vaglio")
	if err := build(binary); err != nil {
		fmt.Fprintln(os.Stderr, "build vaglio:", err)
		return 1
	}
	// In tests with several users, each of them runs it.
	if err := errors.Join(os.Chmod(dir, 0o711), os.Chmod(binary, 0o755)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := hermetic(filepath.Join(dir, "home")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// These tests mostly wait, for daemons, browsers and pauses: with as many at a time as there
	// are processors, those would stand idle.
	flag.Parse()
	if given := flag.Lookup("test.parallel"); given.Value.String() == given.DefValue {
		_ = given.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	return m.Run()
}

// build puts the command there. `make mutants` starts these tests for each change, and names a
// program in which each stands behind a switch: to link one takes longer than most tests.
func build(binary string) error {
	if built := os.Getenv("VAGLIO_BUILT"); built != "" {
		return os.Link(built, binary)
	}
	args := []string{"build", "-ldflags=-s -w", "-o", binary, "."}
	if race.Detector {
		args = []string{"build", "-o", binary, "-race", "."}
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// patience bounds what a test waits for. It only decides when a hanging test gives up.
const patience = 60 * time.Second

// home is one user's home folder, in which daemons come and go.
type home struct {
	t   testing.TB
	dir string
	env []string
}

// newHome creates an empty home. Its path is short because sockets are below it.
func newHome(t testing.TB, env ...string) *home {
	t.Helper()
	dir, err := os.MkdirTemp("", "v") //nolint:usetesting // The test's name would make the path too long.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &home{t, dir, env}
}

func (h *home) data(file string) string {
	return filepath.Join(h.dir, ".local", "share", "metnos", file)
}

// command returns the binary with args, in this home and without any other environment.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{
		"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "METNOS_LISTEN=127.0.0.1:0",
	}, h.env...)
	cmd.Dir = h.dir
	return cmd
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// run runs the binary to its end.
func (h *home) run(stdin string, args ...string) result {
	h.t.Helper()
	return h.runWithin(patience, stdin, args...)
}

func (h *home) runWithin(d time.Duration, stdin string, args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), d)
	defer cancel()
	cmd := h.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		h.t.Fatalf("vaglio %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// served is one running daemon.
type served struct {
	h    *home
	cmd  *exec.Cmd
	link string
	base string
	// out and log are what it has written so far.
	out, log *buffer
	// greeting receives the inbox's link once the daemon serves.
	greeting chan string
	done     chan struct{}
}

var linkLine = regexp.MustCompile(`inbox\s+(http://\S+)`)

// serve starts a daemon and waits for its greeting.
func (h *home) serve() *served {
	h.t.Helper()
	return h.start(func(*exec.Cmd) {})
}

// start is serve with changes to the command.
func (h *home) start(change func(*exec.Cmd)) *served {
	h.t.Helper()
	s := h.begin(change)
	select {
	case s.link = <-s.greeting:
	case <-s.done:
		h.t.Fatalf("the daemon ended at its start: %s\n%s", s.cmd.ProcessState, s.log)
	case <-time.After(patience):
		h.t.Fatalf("the daemon did not greet\n%s", s.log)
	}
	u, err := url.Parse(s.link)
	if err != nil {
		h.t.Fatal(err)
	}
	s.base = u.Scheme + "://" + u.Host
	// The greeting is not printed to a terminal, so it must not contain a link that signs in.
	if u.Query().Has("code") {
		h.t.Errorf("the greeting holds a link that signs in: %s", s.link)
	}
	s.link = strings.TrimSpace(h.run("", "inbox").out)
	return s
}

// begin is start without waiting for the greeting.
func (h *home) begin(change func(*exec.Cmd)) *served {
	h.t.Helper()
	s := &served{
		h: h, cmd: h.command(context.WithoutCancel(h.t.Context()), "serve"), out: &buffer{}, log: &buffer{},
		greeting: make(chan string, 1), done: make(chan struct{}),
	}
	change(s.cmd)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Fprintln(s.out, lines.Text())
			if m := linkLine.FindStringSubmatch(lines.Text()); m != nil {
				s.greeting <- m[1]
			}
		}
		_ = s.cmd.Wait() // tests that need it look at ProcessState
	}()
	h.t.Cleanup(s.stop)
	return s
}

// stop ends the daemon in order and waits for it.
func (s *served) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	defer func() {
		if strings.Contains(s.log.String(), "DATA RACE") {
			s.h.t.Errorf("the daemon found a data race\n%s", s.log)
		}
	}()
	select {
	case <-s.done:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.done
		buf := make([]byte, 1<<10)
		s.h.t.Errorf("the daemon did not end when told\n%s\n%s", s.log, buf[:runtime.Stack(buf, false)])
	}
}

// kill ends the daemon as a power cut would.
func (s *served) kill() {
	if err := s.cmd.Process.Kill(); err != nil {
		s.h.t.Fatal(err)
	}
	<-s.done
}

// logs waits until the daemon's log contains text. The log is written independently of the answers,
// so it may come after them.
func (s *served) logs(text string) {
	s.h.t.Helper()
	for late := time.After(patience); ; {
		more := s.log.next()
		if strings.Contains(s.log.String(), text) {
			return
		}
		select {
		case <-more:
			continue
		case <-s.done: // all that it wrote is there
			if strings.Contains(s.log.String(), text) {
				return
			}
		case <-late:
		}
		s.h.t.Errorf("the log does not say %q:\n%s", text, s.log)
		return
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{}
}

// Write appends p.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return b.b.Write(p)
}

// next returns a channel that is closed when more is written.
func (b *buffer) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more == nil {
		b.more = make(chan struct{})
	}
	return b.more
}

// String returns what has been written so far.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// reply is an answer over HTTP.
type reply struct {
	status int
	body   string
	header http.Header
}

// answer decodes the reply as agents do.
func (r reply) answer(t testing.TB) approval.Answer {
	t.Helper()
	var a approval.Answer
	if r.status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", r.status, r.body)
	}
	if err := strictjson.Unmarshal([]byte(r.body), &a); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	return a
}

// agent calls the API at the TCP address, with the token from its file.
func (s *served) agent(method, path, body string) reply {
	s.h.t.Helper()
	token, err := os.ReadFile(s.h.data("agent.token"))
	if err != nil {
		s.h.t.Fatal(err)
	}
	return s.send(http.DefaultClient, method, s.base+path, body, "Bearer "+strings.TrimSpace(string(token)))
}

// local calls the API over the agents' socket.
func (s *served) local(method, path, body string) reply {
	s.h.t.Helper()
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.h.data("agent.sock"))
		},
	}}
	return s.send(c, method, "http://vaglio"+path, body, "")
}

func (s *served) send(c *http.Client, method, address, body, auth string) reply {
	s.h.t.Helper()
	r, err := trySend(s.h.t.Context(), c, method, address, body, auth)
	if err != nil {
		s.h.t.Fatalf("%s %s: %v\n%s", method, address, err, s.log)
	}
	return r
}

// trySend is send for goroutines, and for daemons that may die meanwhile.
func trySend(ctx context.Context, c *http.Client, method, address, body, auth string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	res, err := c.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, string(b), res.Header}, err
}

// person is somebody at the inbox, with a browser that signs what is posted.
type person struct {
	t    testing.TB
	base string
	http *http.Client
	// key signs what is posted; nil signs nothing.
	key *webtest.Key
}

// signIn follows a one-time link and presses the button there.
func (s *served) signIn(link string) *person {
	s.h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.h.t.Fatal(err)
	}
	p := &person{t: s.h.t, base: s.base, http: &http.Client{Jar: jar, Timeout: patience}}
	u, err := url.Parse(link)
	if err != nil {
		s.h.t.Fatal(err)
	}
	p.get(u.RequestURI())
	key := webtest.NewKey()
	if r := p.post("/inbox/login", url.Values{"code": {u.Query().Get("code")}, "key": {key.Public()}}); r.status != http.StatusOK {
		s.h.t.Fatalf("sign in: %d\n%s", r.status, r.body)
	}
	p.key = key
	return p
}

func (p *person) get(path string) reply {
	p.t.Helper()
	r, err := read(p.http.Get(p.base + path))
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *person) post(path string, form url.Values) reply {
	p.t.Helper()
	r, err := p.tries(path, form)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// tries is post for a daemon that may be dying.
func (p *person) tries(path string, form url.Values) (reply, error) {
	body := form.Encode()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if err := p.sign(req.Header, path, body); err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", p.base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return read(p.http.Do(req))
}

// sign signs a form as the page does, if the session is valid.
func (p *person) sign(h http.Header, path, body string) error {
	if p.key == nil {
		return nil
	}
	r, err := read(p.http.Get(p.base + "/inbox/nonce"))
	if err != nil || r.status != http.StatusOK {
		return err
	}
	offer, err := webtest.ReadOffer([]byte(r.body))
	if err != nil {
		return err
	}
	p.key.Sign(h, offer, path, body)
	return nil
}

func read(res *http.Response, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, string(b), res.Header}, err
}

// waiting waits until n calls wait, and returns them.
func (s *served) waiting(n int) []owner.Account {
	s.h.t.Helper()
	return s.waitingWithin(n, patience, 10*time.Millisecond)
}

// waitingWithin looks for them at intervals, until the time is up.
func (s *served) waitingWithin(n int, within, every time.Duration) []owner.Account {
	s.h.t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var a owner.Approvals
		r := s.h.run("", "pending", "--json")
		if r.code == 0 {
			if err := strictjson.Unmarshal([]byte(r.out), &a); err != nil {
				s.h.t.Fatalf("%v in %s", err, r.out)
			}
		}
		if len(a.Approvals) == n {
			return a.Approvals
		}
		select {
		case <-deadline:
			s.h.t.Fatalf("%d calls wait, want %d: %s%s\n%s", len(a.Approvals), n, r.out, r.err, s.log)
		case <-tick.C:
		}
	}
}

// decide presses the first button with the choice on the inbox's page.
func (p *person) decide(choice, words string) {
	p.t.Helper()
	page := p.get("/inbox")
	f, ok := buttons(p.t, page.body)[choice]
	if !ok {
		p.t.Fatalf("the inbox has no button to %s:\n%s", choice, page.body)
	}
	if words != "" {
		f.Set("words", words)
	}
	if r := p.post("/inbox/decide", f); r.status != http.StatusOK {
		p.t.Fatalf("%s: %d\n%s", choice, r.status, r.body)
	}
}

// buttons finds the forms with a token in a page, the first of each choice.
func buttons(t testing.TB, page string) map[string]url.Values {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]url.Values{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || attr(n, "action") != "/inbox/decide" {
			continue
		}
		f, choice := url.Values{}, ""
		for c := range n.Descendants() {
			switch {
			case c.Data == "input":
				f.Set(attr(c, "name"), attr(c, "value"))
			case c.Data == "button" && attr(c, "name") == "token":
				f.Set("token", attr(c, "value"))
				choice = attr(c, "data-choice")
			}
		}
		if _, seen := found[choice]; !seen {
			found[choice] = f
		}
	}
	return found
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
