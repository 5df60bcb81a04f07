package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// ownCertificate writes a certificate for 127.0.0.1 and its key, which the home then
// serves with, and returns the pool that trusts it.
func (h *home) ownCertificate(serial int64) *x509.CertPool {
	h.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
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

// machine is a client at an address of its own.
func machine(at string, trusts *x509.CertPool) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(at)}}
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusts, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		},
	}}
}

// TestAgentsOnOtherMachines has agents call over TLS: by a token, from addresses of the
// list alone, and to what is theirs.
func TestAgentsOnOtherMachines(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	trusts := h.ownCertificate(1)
	h.env = append(h.env, "METNOS_TLS_LISTEN=127.0.0.1:0", "METNOS_TLS_CERT="+filepath.Join(h.dir, "cert.pem"),
		"METNOS_TLS_KEY="+filepath.Join(h.dir, "key.pem"), "METNOS_TLS_FROM=127.0.0.2, 192.0.2.0/24")
	s := h.serve()
	found := regexp.MustCompile(`(https://\S+)/v1 for other machines`).FindStringSubmatch(s.out.String())
	if found == nil {
		t.Fatalf("the greeting does not tell the address:\n%s", s.out.String())
	}
	base, token := found[1], s.newAgent("far")
	const call = `{"turn_id":"t","step":1,"executor":"shell_exec","args":{"command":"ls"}}`
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
		return resp.StatusCode, resp.Body.Close()
	}
	listed := machine("127.0.0.2", trusts)
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
		if got, err := ask(listed, row.method, row.path, row.token); got != row.want {
			t.Errorf("%s gives %d %v, want %d", row.what, got, err, row.want)
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
	s.stop()
	if !strings.Contains(s.log.String(), "127.0.0.3") {
		t.Errorf("the log does not tell who was cut off:\n%s", s.log.String())
	}
}

// TestMistakesOfTheAddressForOtherMachines are told at the start, before anything is made.
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
		"NoSuchThing": {[]string{listen, "METNOS_TLS_CERT=" + filepath.Join(h.dir, "key.pem"), key, from}, "are no certificate and its key"},
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
