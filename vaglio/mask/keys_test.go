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

// generated returns private keys in the formats in which programs write them.
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
	der, err := x509.MarshalECPrivateKey(func() *ecdsa.PrivateKey { k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader); return k }())
	put("with parameters", "EC PRIVATE KEY", der, err)
	all["with parameters"] = "-----BEGIN EC PARAMETERS-----\nBggq\n-----END EC PARAMETERS-----\n" + all["with parameters"]
	all["with headers"] = strings.Replace(all["RSA"], "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n", 1)
	all["SSH2"] = "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"me\"\n" + strings.Join(strings.Split(all["RSA"], "\n")[1:4], "\n") + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n"
	all["OpenPGP"] = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + strings.Join(strings.Split(all["RSA"], "\n")[1:4], "\n") + "\nrFtiJ/rDGQcrHQU=\n=ab3D\n-----END PGP PRIVATE KEY BLOCK-----\n"
	body := func(n int) string { return base64.StdEncoding.EncodeToString(key.D.Bytes()[:n]) }
	all["BIND"] = "Private-key-format: v1.3\nAlgorithm: 8 (RSASHA256)\nPrivateExponent: " + body(250) + "\nPrime1: " + body(120) + "\nCreated: 20261123141516\n"
	all["minisign"] = "untrusted comment: minisign encrypted secret key\nRWRTY0Iy" + body(150) + "\n"
	pairs := strings.TrimRight(strings.Repeat("02:70:05:95:4c:4f:76:ab:07:af:4e:a2:f1:c4:62:\n    ", 9), " ")
	all["openssl -text"] = "Private-Key: (2048 bit, 2 primes)\nprivateExponent:\n    " + pairs + "coefficient:\n    " + pairs
	all["certtool, RSA"] = "private exponent:\n\t" + pairs
	all["certtool"] = "Private Key Info:\nprivate key:\n\t" + pairs
	put("OpenSSH", "OPENSSH PRIVATE KEY", append([]byte("openssh-key-v1\x00"), x509.MarshalPKCS1PrivateKey(key)...), nil)
	return all
}

// carriers returns the surroundings in which keys reach a program.
func carriers(t *testing.T, key string) map[string]string {
	t.Helper()
	account, err := strictjson.Marshal(map[string]any{"type": "service_account", "private_key": key, "client_email": "x@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	oneLine := strings.ReplaceAll(key, "\n", `\n`)
	whole := base64.StdEncoding.EncodeToString([]byte(key))
	wrapped := whole
	for at := 76; at < len(wrapped); at += 77 {
		wrapped = wrapped[:at] + "\n" + wrapped[at:]
	}
	return map[string]string{
		"base64": "echo " + whole + " | base64 -d > k", "base64 of lines": "base64 -d > k <<EOF\n" + wrapped + "\nEOF\n",
		"a secret of Kubernetes": "kind: Secret\ndata:\n  tls.key: " + whole + "\n", "base64 in JSON": `{"data":"` + strings.ReplaceAll(wrapped, "\n", `\n`) + `"}`,
		"handed in": "ssh-add - <<< '" + key + "'", "handed to": "echo '" + key + "' | ssh-add -", "printed": "printf '" + oneLine + "' | ssh-add -", "ssh-add": "ssh-add - <<EOF\n" + key + "EOF\n",
		"$'": "ssh-add - <<< $'" + oneLine + "'", "a name": "echo \"" + oneLine + "\" | x --private-key-stdin", "a file": "echo '" + key + "' > /run/secrets/tls_private_key", "a secret": "docker secret create k - <<EOF\n" + key + "EOF\n",
		"a process": "x --password-file=<(printf '" + oneLine + "')",
		"a change":  "+" + strings.ReplaceAll(strings.TrimSuffix(key, "\n"), "\n", "\n+"), "a list": `["` + strings.ReplaceAll(oneLine, `\n`, `", "`) + `"]`,
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
				line = strings.TrimSpace(line)
				if _, value, ok := strings.Cut(line, ": "); ok {
					line = value
				}
				public := strings.HasPrefix(line, "---") || strings.ContainsAny(line, " ,\"") || strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "02:")
				if len(line) >= 8 && !public && line != "20261123141516" && strings.Contains(got, line) {
					t.Errorf("%s in %s shows %s", form, carrier, line)
				}
			}
			if encoded := base64.StdEncoding.EncodeToString([]byte(key)); strings.Contains(got, encoded[len(encoded)/2:][:40]) {
				t.Errorf("%s in %s shows what stands for it:\n%s", form, carrier, got)
			}
			if masker.Mask(got) != got {
				t.Errorf("%s in %s: masked twice it is another text", form, carrier)
			}
		}
	}
}

// TestBase64ThatHoldsNone checks that base64 of other bytes, or of text without a secret,
// is left.
func TestBase64ThatHoldsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"echo " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("hello, world\n", 9))) + " | base64 -d", "sha512-" + strings.Repeat("q83vEjRWeJA", 8) + "==",
		"ls src/components/dashboard/settings/panels/account/overview", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		"private key: in the vault", "Private-Key: see the wiki", "SHA256 Fingerprint=02:70:05:95:4c:4f:76:ab:07:af:4e:a2:f1:c4:62:02:70:05:95:4c:4f",
	} {
		if got := masker.Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestNoPrivateLineOfPuTTYShows does the same with PuTTY's format, whose public lines are
// not secret.
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

// TestNetrc checks that in a .netrc file whatever follows the word password is masked, and
// elsewhere only what looks like a password.
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
