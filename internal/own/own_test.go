package own_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/own"
)

func facts() *own.Facts {
	return &own.Facts{
		Addresses: []string{"127.0.0.1:8787", "gate.example.org"}, Processes: []int{4242}, Command: "/opt/g/vaglio serve", Units: []string{"gatekeeper.service"},
	}
}

// addresses returns texts, and whether they name the gate's address.
func addresses() map[string]bool {
	return map[string]bool{
		"http://127.0.0.1:8787/inbox":                        true,
		"http://127.0.0.1:8787":                              true,
		"http://localhost:8787/v1/../inbox":                  true,
		"http://localhost:8787/v1/%2e%2e/inbox":              true,
		"http://a:b@LOCALHOST:8787/":                         true,
		"http://[::1]:8787/inbox":                            true,
		"http://[::ffff:127.0.0.1]:8787/inbox":               true,
		"http://0.0.0.0:8787/":                               true,
		"http://2130706433:8787/":                            true,
		"http://0x7f.1:8787/":                                true,
		"http://127.0.0.1.nip.io:8787/inbox":                 true,
		":8787/inbox":                                        true,
		"localhost 8787":                                     true,
		"-v 127.0.0.1 8787":                                  true,
		"TCP:localhost:8787":                                 true,
		"9000:localhost:8787":                                true,
		"x.example:8787:127.0.0.1":                           true,
		"::localhost:8787":                                   true,
		"a.example:80:localhost:8787":                        true,
		`create_connection(("127.0.0.1", 8787))`:             true,
		`get({port: 8787, path: "/inbox"})`:                  true,
		"http://127.0.0.1:\x01/inbox":                        true,
		"https://gate.example.org/inbox":                     true,
		"http://loc%61lhost:8787/inbox":                      true,
		"http://localhost:%38787/inbox":                      true,
		"http://localhost:08787/inbox":                       true,
		"localhost 008787":                                   true,
		"http://localhost:80008787/inbox":                    false,
		"https://g%61te.example.org/inbox":                   true,
		"100% of http://localhost:8787/healthz":              false,
		"https://gate.example.org./inbox":                    true,
		"https://Gate.Example.ORG/inbox":                     true,
		"https://gate.example.org.evil.example/inbox":        false,
		"https://gate.example.org./v1/proposals":             false,
		"https://gate.example.org/v1/proposals":              false,
		"https://investigate.example.org/inbox":              false,
		"http://127.0.0.1:8787/v1/proposals?wait=30s":        false,
		"http://127.0.0.1:8787/readyz":                       false,
		"curl -s localhost:8787/healthz http://example.org/": false,
		"http://127.0.0.1:87870/inbox":                       false,
		"http://127.0.0.1:18787/inbox":                       false,
		"http://example.org:8787/x":                          false,
		"http://127.0.0.1:3000/inbox":                        false,
		"sleep 8787":                                         false,
		"8787":                                               false,
		"wrangler dev --port 8787":                           false,
	}
}

func TestAnAddressInAnySpelling(t *testing.T) {
	for text, want := range addresses() {
		if got := facts().Answers(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		"http://host.docker.internal:8787/inbox": true, "host.containers.internal 8787": true, "http://127.0.0.1:8787/inbox": false,
		"http://host.docker.internal:3000/inbox": false, "http://host.docker.internal:8787/v1/proposals": false,
	} {
		if facts().AnswersContainer(text) != want {
			t.Errorf("%s in a container: %v", text, !want)
		}
	}
	if new(own.Facts).Answers("http://127.0.0.1:8787/inbox") {
		t.Error("a gate of which nothing is known has an address")
	}
}

// TestANameThatMayBeThisMachines tells a port of the gate's on a host of which only a name is known.
func TestANameThatMayBeThisMachines(t *testing.T) {
	f := &own.Facts{Addresses: []string{"127.0.0.1:8787"}}
	for text, may := range map[string]bool{
		"http://box:8787": true, "https://box.lan:8787/inbox?x#y": true, "http://u:p@box:8787/": true, "http://box:8787/@x": true, "http://box:8787?a@b": true,
		"http://localhost:8787": false, "http://127.0.0.1:8787": false, "http://10.0.0.1:8787": false, "http://[fe80::1]:8787": false,
		"http://box:80/8787": false, "http://box": false, "box:8787": false, "": false, "http://": false, "http://:8787": false,
	} {
		if got := f.MayAnswer(text); got != may {
			t.Errorf("%q may be this machine's: %v, want %v", text, got, may)
		}
	}
}

func TestItsProcess(t *testing.T) {
	f := facts()
	for number, want := range map[string]bool{"4242": true, "-4242": true, "424": false, "1": false, "-1": false, "": false, "x": false} {
		if f.HasProcess(number) != want {
			t.Errorf("process %q: %v", number, !want)
		}
	}
	for text, want := range map[string]bool{
		"8787": true, "8787/tcp": true, ":8787": true, "-i:8787": true, "-ti:3000,8787": true, "-itcp@localhost:8787": true, "87": false, "": false, "8080/tcp": false,
	} {
		if f.HasPort(text) != want {
			t.Errorf("port %q: %v", text, !want)
		}
	}
	for pattern, want := range map[string]bool{
		"vaglio": true, "vaglio.service": true, "v*": true, "gate*": true, "gatekeeper": true, "gatekeeper.service": true, "nginx": false, "": false, "[": false,
	} {
		if f.HasUnit(pattern) != want {
			t.Errorf("unit %q: %v", pattern, !want)
		}
	}
	for _, row := range []struct {
		pattern    string
		full, want bool
	}{
		{"vaglio", false, true},
		{"va.lio", false, true},
		{"serve$", false, false},
		{"serve$", true, true},
		{"node", true, false},
		{"v", false, false},
		{"(", true, false},
		{"...", true, false},
		{"^.*$", true, false},
		{"^.{3}$", false, false},
	} {
		if f.Picked(row.pattern, row.full) != row.want {
			t.Errorf("pattern %q, full %v: %v", row.pattern, row.full, !row.want)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{"http://127.0.0.1:8787/inbox", ":8787:", "[::1]:8787", "localhost:\x00/inbox", "gate.example.org"} {
		f.Add(seed)
	}
	known := facts()
	f.Fuzz(func(t *testing.T, text string) {
		if known.Answers(text) && !known.Answers(text+" ") {
			t.Errorf("a blank behind %q hides the address", text)
		}
	})
}

func TestARangeOfPorts(t *testing.T) {
	t.Parallel()
	f := &own.Facts{Addresses: []string{"127.0.0.1:8787", "gate.example.org"}}
	for text, want := range map[string]bool{
		"1-9000": true, "22,8000-8787": true, "8787-8787": true, "8788-9000": false, "8787": false, "-p": false, "-": false, "0-": false, "a-b": false, "": false,
	} {
		if got := f.SpansPort(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
