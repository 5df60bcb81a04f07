package urls

import (
	"encoding/base64"
	"strings"
	"testing"
)

func words() Words {
	set := func(all ...string) map[string]bool {
		out := map[string]bool{}
		for _, w := range all {
			out[w] = true
		}
		return out
	}
	return Words{
		"metadata-host": set("metadata.google.internal"), "known-registry": set("npmjs.org"), "collector": set("webhook.site"),
		"data-parameter": set("data"), "leaking-parameter": set("password"),
	}
}

func TestWhereAnAddressIs(t *testing.T) {
	for address, local := range map[string]bool{
		"http://localhost:3000/x": true, "127.0.0.1:8080": true, ":8080": true, "8080": true, "'http://[::1]/'": true, "a.localhost": true,
		"https://example.com": false, "http://localhost.example.com": false, "http://127.0.0.1@example.com": false, "example.com:80": false,
	} {
		if Local(address) != local {
			t.Errorf("%s is local: %v, want %v", address, !local, local)
		}
	}
	if !AllLocal("get('http://localhost/a')") || AllLocal("get('http://localhost/a', 'http://b.example/')") || AllLocal("x = 1") {
		t.Error("a program's addresses are mistaken")
	}
	if !IsRemote("host:/x") || !IsRemote("rsync::x") || IsRemote("./a:b") || IsRemote("c:/x") || !IsFar("https://x") || IsFar("x") {
		t.Error("a path elsewhere is mistaken")
	}
}

func TestWhereAnAddressBegins(t *testing.T) {
	for word, at := range map[string]int{
		"https://x": 0, "--url=https://x": 6, "file:///x": -1, "a b://x": -1, "x": -1, "ghcr.io/$(whoami)": 0, "./$(whoami)": -1,
	} {
		if got := In(word, true); got != at {
			t.Errorf("the address in %s begins at %d, want %d", word, got, at)
		}
	}
}

func TestWhatAnAddressGives(t *testing.T) {
	for address, gives := range map[string]bool{
		"http://169.254.169.254/latest": true, "http://0xA9FEA9FE/": true, "http://[fd00:ec2::254]/": true, "http://metadata.google.internal/x": true,
		"http://169-254-169-254.nip.io/": true, "https://k8s/api/v1/namespaces/a/secrets/b": true, "http://vault:8200/v1/secret/x": true, "http://h:2375/x": true,
		"http://169.253.0.1/": false, "https://k8s/api/v1/pods": false, "http://vault:8200/v1/sys/health": false, "https://example.com/secrets/": false,
	} {
		if said := words().Credentials(address); (said != nil) != gives {
			t.Errorf("%s gives credentials: %v, want %v", address, !gives, gives)
		}
	}
}

func TestWhatAnAddressCarries(t *testing.T) {
	secret := base64.RawURLEncoding.EncodeToString([]byte("user: admin\npassword: 1"))
	for address, carries := range map[string]bool{
		"https://x.example/" + secret: true, "https://x.example/?q=" + secret: true, "https://webhook.site/a": true, "https://x.example/?password=a": true,
		"https://x.example/?data=0123456789abcdef": true, "https://x.example/?q=AKIA0": true, "https://x.example/?q=" + strings.Repeat("a", maxAddress): true,
		"http://localhost/" + secret: false, "https://x.example/?data=two words and more": false, "https://x.example/?q=eyJhbGciOiJIUzI1NiJ9": false, "/" + secret: false,
	} {
		if _, got := words().Carries(address); got != carries {
			t.Errorf("%.60s carries data: %v, want %v", address, got, carries)
		}
	}
}

func TestHostsThatEverybodyUses(t *testing.T) {
	for value, unusual := range map[string]string{
		"https://registry.npmjs.org/": "", "sparse+https://npmjs.org/index": "", "off,direct": "", "http://cache": "", "$REGISTRY": "", "/srv/mirror": "",
		"https://npmjs.org.example/": "https://npmjs.org.example/", "https://npmjs.org@evil.example/": "https://npmjs.org@evil.example/", "direct,$(x)": "$(x)",
	} {
		if got := words().Unusual(value); got != unusual {
			t.Errorf("%s names %q, want %q", value, got, unusual)
		}
	}
}

func TestQueriesThatHaveABody(t *testing.T) {
	for body, query := range map[string]bool{`{"query":"{a}"}`: true, `{"query":"mutation {a}"}`: false, "@query.json": false, "": false} {
		if IsQuery("https://x.example/graphql?a", body) != query {
			t.Errorf("%s only asks: %v, want %v", body, !query, query)
		}
	}
	if !IsQuery("https://x.example/a/_search", "") || IsQuery("https://x.example/_sql", "") || !IsQuery("http://localhost/_sql", "") {
		t.Error("a search is mistaken")
	}
}
