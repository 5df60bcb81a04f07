package mask_test

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// generated are private keys in the forms that programs write them in.
func generated(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	put := func(name, kind string, der []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	pkcs8 := func(name string, key any, err error) {
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		put(name, "PRIVATE KEY", der, err)
	}
	for name, curve := range map[string]elliptic.Curve{"P256": elliptic.P256(), "P384": elliptic.P384(), "P521": elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		pkcs8(name, key, err)
		der, err := x509.MarshalECPrivateKey(key)
		put(name+" SEC1", "EC PRIVATE KEY", der, err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	pkcs8("Ed25519", ed, err)
	x, err := ecdh.X25519().GenerateKey(rand.Reader)
	pkcs8("X25519", x, err)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	pkcs8("RSA", key, err)
	put("RSA PKCS1", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	put("OpenSSH", "OPENSSH PRIVATE KEY", append([]byte("openssh-key-v1\x00"), x509.MarshalPKCS1PrivateKey(key)...), nil)
	return all
}

// carriers are the surroundings in which keys reach a program.
func carriers(t *testing.T, key string) map[string]string {
	t.Helper()
	account, err := strictjson.Marshal(map[string]any{"type": "service_account", "private_key": key, "client_email": "x@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	oneLine := strings.ReplaceAll(key, "\n", `\n`)
	return map[string]string{
		"alone": key, "here-document": "cat > k.pem <<EOF\n" + key + "EOF\n", "service account": string(account),
		"JSON": `{"k":"` + oneLine + `"}`, "JSON in a string": `"{\"private_key\":\"` + strings.ReplaceAll(oneLine, `\n`, `\\n`) + `\"}"`,
		"YAML": "tls.key: |\n  " + strings.ReplaceAll(key, "\n", "\n  "), "variable": "PRIVATE_KEY=\"" + key + "\" run", "flag": "x --private-key '" + key + "'",
		"flag of one line": `x --key "` + oneLine + `"`, "windows": strings.ReplaceAll(key, "\n", "\r\n"),
	}
}

// TestNoLineOfAPrivateKeyShows puts each generated key into each carrier.
func TestNoLineOfAPrivateKeyShows(t *testing.T) {
	t.Parallel()
	for form, key := range generated(t) {
		for carrier, text := range carriers(t, key) {
			got := masker.Mask(text)
			for line := range strings.Lines(key) {
				if line = strings.TrimSpace(line); len(line) >= 8 && !strings.HasPrefix(line, "-----") && strings.Contains(got, line) {
					t.Errorf("%s in %s shows %s", form, carrier, line)
				}
			}
			if masker.Mask(got) != got {
				t.Errorf("%s in %s: masked twice it is another text", form, carrier)
			}
		}
	}
}

// TestNoPrivateLineOfPuTTYShows does the same with PuTTY's form, whose public lines are no
// secret.
func TestNoPrivateLineOfPuTTYShows(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"Ed25519": 36, "RSA": 812} {
		b := make([]byte, size)
		_, _ = rand.Read(b)
		var private []string
		for text := base64.StdEncoding.EncodeToString(b); text != ""; text = text[min(64, len(text)):] {
			private = append(private, text[:min(64, len(text))])
		}
		const public = "AAAAC3NzaC1lZDI1NTE5AAAAIBPvqFfYJ0nCPvqFfYJ0nCPvqFfYJ0nCPvqF"
		key := fmt.Sprintf("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\n%s\nPrivate-Lines: %d\n%s\nPrivate-MAC: %s\n",
			public, len(private), strings.Join(private, "\n"), strings.Repeat("5a", 32))
		for carrier, text := range carriers(t, key) {
			got := masker.Mask(text)
			for _, line := range private {
				if len(line) >= 8 && strings.Contains(got, line) {
					t.Errorf("%s in %s shows %s", name, carrier, line)
				}
			}
			if masker.Mask(got) != got {
				t.Errorf("%s in %s: masked twice it is another text", name, carrier)
			}
			if carrier == "alone" && !strings.Contains(got, public) {
				t.Error("the public line is masked")
			}
		}
	}
	if text := "Private-Lines: are read one by one"; masker.Mask(text) != text {
		t.Error("prose is masked")
	}
}

// TestNetrc masks what follows the word password there whatever it is, elsewhere what looks
// like one.
func TestNetrc(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]bool{
		"machine example.org login me password hunter2x": false, "machine example.org\n  login me\n  password hunter2x\n": false,
		"machine example.org login me password hunter": false, "forgot the password hunter": true, "forgot the password hunter2x": false,
	} {
		if got := masker.Mask(text); strings.Contains(got, "hunter") != shown {
			t.Errorf("%q became %q", text, got)
		}
	}
}
