package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// ownCertificate writes a certificate for 127.0.0.1 and its key, with which the home then serves,
// and returns the pool that trusts it.
func (h *home) ownCertificate(serial int64) *x509.CertPool {
	return h.certificate(serial, net.IPv4(127, 0, 0, 1), time.Now().Add(time.Hour))
}

// certificate does the same for an address, valid until an instant.
func (h *home) certificate(serial int64, address net.IP, until time.Time) *x509.CertPool {
	h.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		IPAddresses: []net.IP{address}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		h.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		h.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(h.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		h.t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// machine returns a client with an address of its own.
func machine(at string, trusts *x509.CertPool) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(at)}}
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusts, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		},
	}}
}

// TestAgentsOnOtherMachines calls as agents over TLS, which works only with a token, only from the
// listed addresses, and only for what is theirs.
func TestAgentsOnOtherMachines(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	trusts := h.ownCertificate(1)
	s, base := h.serveFar("127.0.0.2, 192.0.2.0/24")
	token := s.newAgent("far")
	const call = `{"turn_id":"t","step":1,"executor":"shell_exec","args":{"command":"ls"}}`
	spoke := 0 // the HTTP version of the last answer
	ask := func(c *http.Client, method, path, token string) (int, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := c.Do(r)
		if err != nil {
			return 0, err
		}
		spoke = resp.ProtoMajor
		return resp.StatusCode, resp.Body.Close()
	}
	listed, newer := machine("127.0.0.2", trusts), machine("127.0.0.2", trusts)
	newer.Transport.(*http.Transport).ForceAttemptHTTP2 = true //nolint:forcetypeassert // it was just made
	for _, row := range []struct {
		what, method, path, token string
		want                      int
	}{
		{"a call with the token", "POST", "/v1/proposals", token, http.StatusOK},
		{"a call without", "POST", "/v1/proposals", "", http.StatusUnauthorized},
		{"a call with another", "POST", "/v1/proposals", token + "x", http.StatusUnauthorized},
		{"the inbox", "GET", "/inbox", token, http.StatusNotFound},
		{"the figures", "GET", "/metrics", token, http.StatusNotFound},
		{"how it is", "GET", "/readyz", token, http.StatusNotFound},
	} {
		for major, c := range map[int]*http.Client{1: listed, 2: newer} {
			if got, err := ask(c, row.method, row.path, row.token); got != row.want || spoke != major {
				t.Errorf("%s gives %d %v over HTTP/%d, want %d over HTTP/%d", row.what, got, err, spoke, row.want, major)
			}
		}
	}
	if got, err := ask(machine("127.0.0.3", trusts), "POST", "/v1/proposals", token); err == nil {
		t.Errorf("an address that is not in the list gets %d", got)
	}
	renewed := h.ownCertificate(2)
	if got, err := ask(machine("127.0.0.2", renewed), "POST", "/v1/proposals", token); got != http.StatusOK {
		t.Errorf("with the certificate renewed it gives %d %v", got, err)
	}
	if err := os.Remove(filepath.Join(h.dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(machine("127.0.0.2", renewed), "POST", "/v1/proposals", token); got != http.StatusOK {
		t.Errorf("with the key's file gone it gives %d %v", got, err)
	}
	s.logs("127.0.0.3")
}

// TestWhatACallOfAnotherMachineNamesIsNotReadHere creates a file here with a name that a call uses
// for one there. The file is not taken for it, whatever the call says about its location.
func TestWhatACallOfAnotherMachineNamesIsNotReadHere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	listed := machine("127.0.0.1", h.ownCertificate(1))
	work := filepath.Join(h.dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(work, "build.sh"), []byte("echo built\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, base := h.serveFar("127.0.0.1")
	token := "Bearer " + s.newAgent("far")
	call := func(said, line string) string {
		return fmt.Sprintf(`{"session_id":"s"%s,"executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":%q}}`, said, line, work)
	}
	far := func(method, path, body string) reply { return s.send(listed, method, base+path, body, token) }
	here := func(method, path, body string) reply {
		return s.send(http.DefaultClient, method, s.base+path, body, token)
	}
	for _, said := range []string{"", `,"elsewhere":true`} {
		if a := here("POST", "/v1/proposals", call(said, "sh build.sh")).answer(t); a.Decision != approval.RulingAllow {
			t.Errorf("here, where the file is read, it is said to be %s: %s", a.Decision, a.Verdict.Reason)
		}
	}
	var asked approval.Answer
	for _, said := range []string{"", `,"elsewhere":false`} {
		asked = far("POST", "/v1/proposals", call(said, "sh build.sh")).answer(t)
		if asked.Decision != approval.RulingPending || !strings.Contains(asked.Verdict.Reason, "build.sh lies on another machine") {
			t.Fatalf("there it is %s: %s", asked.Decision, asked.Verdict.Reason)
		}
	}
	for _, f := range asked.Verdict.Sources {
		if f.SHA256 != "" || f.Head != "" {
			t.Errorf("what lies here is taken for what lies there: %+v", f)
		}
	}
	s.signIn(s.link).decide("allow", "")
	permit := far("GET", "/v1/approvals/"+string(asked.Approval.ID)+"?wait=55s", "").answer(t).Permit
	if permit == nil {
		t.Fatal("there is no permit")
	}
	redeem := "/v1/permits/" + permit.Permit + "/redeem"
	if r := here("POST", redeem, call("", "sh build.sh")); r.status != http.StatusUnprocessableEntity {
		t.Errorf("the permit is redeemed for this machine: %d %s", r.status, r.body)
	}
	if r := far("POST", redeem, call("", "sh build.sh")); r.status != http.StatusNoContent {
		t.Errorf("the permit: %d %s", r.status, r.body)
	}
	for _, line := range []string{"printf 'echo made\\n' > made.sh", "sh made.sh"} {
		if a := far("POST", "/v1/proposals", call("", line)).answer(t); a.Decision != approval.RulingAllow {
			t.Errorf("%s, which the session wrote itself, is %s: %s", line, a.Decision, a.Verdict.Reason)
		}
	}
}

// serveFar serves agents on other machines at the given addresses, and returns the URL.
func (h *home) serveFar(from string) (s *served, base string) {
	h.t.Helper()
	h.env = append(h.env, "METNOS_TLS_LISTEN=127.0.0.1:0", "METNOS_TLS_CERT="+filepath.Join(h.dir, "cert.pem"),
		"METNOS_TLS_KEY="+filepath.Join(h.dir, "key.pem"), "METNOS_TLS_FROM="+from)
	s = h.serve()
	found := regexp.MustCompile(`(https://\S+)/v1 for other machines`).FindStringSubmatch(s.out.String())
	if found == nil {
		h.t.Fatalf("the greeting does not tell the address:\n%s", s.out.String())
	}
	return s, found[1]
}

// TestAHookOfAnotherMachine goes through what users do whose agent is not on the gate's machine: the
// hook is installed with the address, asks, is held and allowed, and reports problems.
func TestAHookOfAnotherMachine(t *testing.T) {
	t.Parallel()
	there, here := newHome(t), newHome(t)
	there.ownCertificate(1)
	s, base := there.serveFar("127.0.0.1")
	token := s.newAgent("far")
	ca, settings := filepath.Join(here.dir, "ca.pem"), filepath.Join(here.dir, ".claude", "settings.json")
	trust := func() {
		t.Helper()
		cert, err := os.ReadFile(filepath.Join(there.dir, "cert.pem"))
		if err == nil {
			err = os.WriteFile(ca, cert, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	trust()
	for _, row := range []struct {
		what, stdin, want string
		flags             []string
		unasked           bool // nobody is asked for a token
	}{
		{"an authority that nobody trusts", token, "is signed by nobody whom this machine trusts", []string{"--at", base}, false},
		{"another's token", "x" + token, "token", []string{"--at", base, "--ca", "ca.pem"}, false},
		{"no token", "", "there is no token", []string{"--at", base, "--ca", "ca.pem"}, false},
		{"nobody there", token, "nobody listens", []string{"--at", "https://127.0.0.1:1", "--ca", "ca.pem"}, false},
		{"in the clear", token, "in the clear", []string{"--at", "http://192.0.2.1:8443"}, true},
		{"no address", token, "must be a URL", []string{"--at", "gate:8443"}, true},
		{"no TLS there", token, "does not speak TLS", []string{"--at", strings.Replace(s.base, "http://", "https://", 1)}, false},
		{"a file that is not a certificate", token, "holds no certificate", []string{"--at", base, "--ca", binary}, true},
		{"a file that is not there", token, "no such file", []string{"--at", base, "--ca", "none.pem"}, true},
		{"an authority for nothing", token, "--ca: goes with --at", []string{"--ca", "ca.pem"}, true},
	} {
		r := here.run(row.stdin+"\n", append([]string{"install", "claude-code", "--yes"}, row.flags...)...)
		_, kept := os.Stat(here.data(""))
		_, written := os.Stat(settings)
		if r.code != exitFailed || !strings.Contains(r.err, row.want) || strings.Count(r.err, "\n") != 1 || strings.Contains(r.err, token) || kept == nil || written == nil {
			t.Errorf("%s: %d\n%s%s\nwant %q, and nothing changed", row.what, r.code, r.out, r.err, row.want)
		}
		if asked := strings.Contains(r.out, "The agent's token"); asked == row.unasked {
			t.Errorf("%s: a token is asked for: %t", row.what, asked)
		}
	}

	r := here.run(token+"\ny\n", "install", "claude-code", "--at", base, "--ca", "ca.pem")
	text, _ := os.ReadFile(settings)
	if info, err := os.Stat(here.data("agents/claude-code.token")); r.code != 0 || err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(text), token) {
		t.Fatalf("install: %d %v\n%s%s", r.code, err, r.out, r.err)
	}
	if r := here.run("", "install", "claude-code", "--at", base, "--ca", "ca.pem"); r.code != 0 || !strings.Contains(r.out, "Nothing to change") {
		t.Errorf("twice: %d\n%s%s", r.code, r.out, r.err)
	}
	var written struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Args []string `json:"args"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := strictjson.UnmarshalLoose(text, &written); err != nil || len(written.Hooks["PreToolUse"]) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	args := written.Hooks["PreToolUse"][0].Hooks[0].Args
	guarded := strings.Replace(hookCall, "git push --force origin main", "cat ~/.ssh/id_rsa", 1)
	if r := here.run(guarded, args...); r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"deny"`) || !strings.Contains(r.out, "ssh") {
		t.Errorf("a guard denial: %d %s%s", r.code, r.out, r.err)
	}
	done := make(chan result, 1)
	go func() { done <- here.run(hookCall, args...) }()
	if waiting := s.waiting(1); waiting[0].Agent != "far" {
		t.Errorf("the hook proposed %+v", waiting[0])
	}
	s.signIn(s.link).decide("allow", "")
	if r := <-done; r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"allow"`) {
		t.Errorf("after the click: %d %s%s", r.code, r.out, r.err)
	}

	status := func(what, want string) {
		t.Helper()
		if r := here.run("", "status"); !strings.Contains(r.out, want) || r.code != min(len(want), exitFailed) {
			t.Errorf("status with %s: %d\n%s%s", what, r.code, r.out, r.err)
		}
	}
	status("all well", "")
	bin := filepath.Join(here.dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\nexit 1\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	here.env = append(here.env, "PATH="+bin)
	if r := here.run("", "doctor", "claude-code"); r.code != exitFailed || !strings.Contains(r.out, "ok     the daemon at "+base+" knows the agent") {
		t.Errorf("doctor: %d\n%s%s", r.code, r.out, r.err)
	}
	there.certificate(2, net.IPv4(127, 0, 0, 1), time.Now().Add(-time.Minute))
	trust()
	status("a certificate that is over", "was good until")
	there.certificate(3, net.IPv4(192, 0, 2, 1), time.Now().Add(time.Hour))
	trust()
	status("another's certificate", "is for another name")
	there.ownCertificate(4)
	status("another authority", "is signed by nobody whom this machine trusts")
	trust()
	if r := there.run("", "agent", "rotate", "far"); r.code != 0 {
		t.Fatal(r.err)
	}
	status("an old token", "token")
	s.stop()
	status("nobody there", "nobody listens")
	if r := here.run(hookCall, append(args, "--limit", "1s")...); r.code != 0 || !strings.Contains(r.out, `"permissionDecision":"deny"`) || !strings.Contains(r.out, "nobody listens") {
		t.Errorf("with nobody there: %d %s%s", r.code, r.out, r.err)
	}
	if r := here.run("", "uninstall", "claude-code", "--yes"); r.code != 0 {
		t.Errorf("uninstall: %d %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(settings); err == nil {
		t.Error("uninstall left the settings")
	}
}

// TestProxiesAndClientsOfAnotherMachine asks over TLS what the hook asks.
func TestProxiesAndClientsOfAnotherMachine(t *testing.T) {
	t.Parallel()
	there, here := newHome(t), newHome(t)
	there.ownCertificate(1)
	s, base := there.serveFar("127.0.0.1")
	token := s.newAgent("far")
	ca := filepath.Join(there.dir, "cert.pem")
	here.env = append(here.env, "METNOS_AGENT_TOKEN="+token)
	const config = `{"mcpServers": {"notes": {"command": "./server.sh"}}}`
	file := filepath.Join(here.dir, ".mcp.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := here.run("", "mcp", "wrap", ".mcp.json", "--yes", "--at", base, "--ca", ca); r.code != 0 {
		t.Errorf("wrap: %d\n%s%s", r.code, r.out, r.err)
	}
	if got, _ := os.ReadFile(file); !strings.Contains(string(got), `"--agent", "mcp", "--at", "`+base+`", "--ca", "`+ca+`", "--", "./server.sh"]`) {
		t.Errorf("%s", got)
	}
	if r := here.run("", "mcp", "unwrap", ".mcp.json", "--yes"); r.code != 0 {
		t.Errorf("unwrap: %d\n%s%s", r.code, r.out, r.err)
	}
	if got, _ := os.ReadFile(file); string(got) != config {
		t.Errorf("%s", got)
	}
	here.env = nil // the token is kept
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"Bash","input":{"command":%q}}}}` + "\n"
	r := here.run(fmt.Sprintf(call, 1, "ls")+fmt.Sprintf(call, 2, "rm -rf /"), "mcp", "approve", "--agent", "mcp", "--at", base, "--ca", ca)
	if r.code != 0 || !strings.Contains(r.out, `{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}`) || !strings.Contains(r.out, `\"behavior\":\"deny\"`) {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	clients, err := filepath.Abs("../../gateway/client")
	if err != nil {
		t.Fatal(err)
	}
	for program, script := range map[string]string{
		"python3": "import os, sys\nsys.path.insert(0, '" + clients + "/python')\nfrom vaglio import Vaglio\n" +
			"gate = Vaglio(os.environ['BASE'], token=os.environ['TOKEN'])\n" +
			"print([gate.ask({'executor': 'shell_exec', 'args': {'command': c}}).run for c in ('ls', 'rm -rf /')])",
		"node": "import('" + clients + "/js/vaglio.mjs').then(async ({connect}) => {\n" +
			"const gate = connect({url: process.env.BASE, token: process.env.TOKEN});\nconst said = [];\n" +
			"for (const c of ['ls', 'rm -rf /']) said.push((await gate.ask({executor: 'shell_exec', args: {command: c}})).run);\n" +
			"console.log(said)})",
	} {
		flag := map[string]string{"python3": "-c", "node": "-e"}[program]
		path, err := exec.LookPath(program)
		if err != nil {
			t.Logf("%s is not here", program)
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, flag, script)
		cmd.Env = []string{"BASE=" + base, "TOKEN=" + token, "SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca, "PYTHONDONTWRITEBYTECODE=1"}
		if out, err := cmd.CombinedOutput(); err != nil || strings.Join(strings.Fields(strings.ToLower(strings.Trim(string(out), "[] \n"))), "") != "true,false" {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
}

// TestAnAddressThatIsNotListed checks that a rejected client is told what to do.
func TestAnAddressThatIsNotListed(t *testing.T) {
	t.Parallel()
	there, here := newHome(t), newHome(t)
	there.ownCertificate(1)
	_, base := there.serveFar("192.0.2.0/24")
	r := here.run("token\n", "install", "claude-code", "--yes", "--at", base, "--ca", filepath.Join(there.dir, "cert.pem"))
	if r.code != exitFailed || !strings.Contains(r.err, "METNOS_TLS_FROM there must name this machine, which calls from 127.0.0.1") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
}

// TestMistakesOfTheAddressForOtherMachines are reported at the start, before anything is created.
func TestMistakesOfTheAddressForOtherMachines(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.ownCertificate(1)
	cert, key := "METNOS_TLS_CERT="+filepath.Join(h.dir, "cert.pem"), "METNOS_TLS_KEY="+filepath.Join(h.dir, "key.pem")
	const listen, from = "METNOS_TLS_LISTEN=127.0.0.1:0", "METNOS_TLS_FROM=192.0.2.7"
	open := filepath.Join(h.dir, "open.pem")
	if err := os.WriteFile(open, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		env  []string
		want string
	}{
		"NoList":      {[]string{listen, cert, key}, "METNOS_TLS_FROM: is missing"},
		"NoKey":       {[]string{listen, cert, from}, "METNOS_TLS_KEY: is missing"},
		"NoAddress":   {[]string{cert, key, from}, "METNOS_TLS_LISTEN: is missing"},
		"NoPort":      {[]string{"METNOS_TLS_LISTEN=192.0.2.1", cert, key, from}, `METNOS_TLS_LISTEN: "192.0.2.1" is not an address and a port`},
		"Everybody":   {[]string{listen, cert, key, "METNOS_TLS_FROM=0.0.0.0/0"}, `METNOS_TLS_FROM: "0.0.0.0/0" is everybody`},
		"InWords":     {[]string{listen, cert, key, "METNOS_TLS_FROM=lan"}, `METNOS_TLS_FROM: "lan" is not an address or a network`},
		"NotThere":    {[]string{listen, "METNOS_TLS_CERT=/nowhere.pem", key, from}, "METNOS_TLS_CERT: /nowhere.pem: no such file"},
		"OpenKey":     {[]string{listen, cert, "METNOS_TLS_KEY=" + open, from}, "METNOS_TLS_CERT: " + open + " can be read or written by others"},
		"NoSuchThing": {[]string{listen, "METNOS_TLS_CERT=" + filepath.Join(h.dir, "key.pem"), key, from}, "are not a certificate and its key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := newHome(t, row.env...)
			if r := other.run("", "serve"); r.code != exitUsage || !strings.Contains(r.err, row.want) {
				t.Errorf("%d\n%s\nwant %s", r.code, r.err, row.want)
			}
		})
	}
}
