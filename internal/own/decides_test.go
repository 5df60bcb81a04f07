package own_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
)

// TestWhichCharactersDecide removes and doubles each character of a text in turn, and marks
// those on which it depends whether it is aimed at the gate: - if it is without the character
// and was not, or was and is not, + if it is so with two of them, * if both. It then puts each
// character before and behind the gate's names, and writes with which they still are its own.
// After an intended change, run it with -update, and read which marks have moved.
func TestWhichCharactersDecide(t *testing.T) {
	t.Parallel()
	f := facts()
	var b strings.Builder
	draw := func(is func(string) bool, texts ...string) {
		for _, text := range texts {
			var marks strings.Builder
			for i := range len(text) {
				less, more := is(text[:i]+text[i+1:]) != is(text), is(text[:i+1]+text[i:]) != is(text)
				marks.WriteByte(map[[2]bool]byte{{}: ' ', {true, false}: '-', {false, true}: '+', {true, true}: '*'}[[2]bool{less, more}])
			}
			fmt.Fprintf(&b, "%-5v %q\n       %s\n", is(text), text, strings.TrimRight(marks.String(), " "))
		}
	}
	beside := func(is func(string) bool, names ...string) {
		for _, name := range names {
			var before, behind []byte
			for c := byte(' '); c < 0x7F; c++ {
				if is(string(c) + name) {
					before = append(before, c)
				}
				if is(name + string(c)) {
					behind = append(behind, c)
				}
			}
			fmt.Fprintf(&b, "before %s: %s\nbehind it: %s\n", name, before, behind)
		}
	}
	draw(f.Answers, slices.Sorted(maps.Keys(addresses()))...)
	draw(f.Answers, `connect(8787, "localhost")`, `connect('localhost' , 8787)`, "fetch(port=8787)", "PORT: 8787 (x)", `f("x", 8787, 'localhost')`, "http://localhost:$PORT/inbox", "localhost:/inbox", "http://127.0.0.1:8787/metrics#x", "ip6-loopback:8787", "x.localhost:8787", "http://[::]:8787")
	draw(func(s string) bool { return f.AnswersContainer(s, "gw") }, "http://host.docker.internal:8787/inbox", "http://gw:8787/inbox", "host-gateway 8787", "http://gw:8787/v1/proposals")
	draw(f.HasPort, "8787/tcp", ":8787", "-i:8787", "-ti:3000,8787", "-itcp@localhost:8787", "8080")
	draw(f.HasUnit, "vaglio.service", "gate*", "gatekeeper", "*", "?.service")
	draw(f.Keeps, "/run/vaglio.pid", "/var/run/gatekeeper.pid", "/sys/fs/cgroup/system.slice/vaglio.service/cgroup.procs", "/sys/fs/cgroup/x/pids", "vaglio.pids")
	draw(f.SpansPort, "1-9000", "22,8000-8787", "8787-8787", "8788-9000")
	draw(func(s string) bool { return f.Picked(s, true) }, "vaglio", "va.lio", "serve$", "^/opt/g", "ab", "node", strings.Repeat("v?", 99)+"o$", strings.Repeat("v?", 100)+"o$")
	draw(func(s string) bool { return f.Picked(s, false) }, "va.lio", "serve$")
	beside(f.Answers, "http://localhost:8787", "127.0.0.1:8787", "localhost 8787", "gate.example.org", ":8787/inbox", "http://localhost:8787/v1/x")
	beside(f.HasPort, "8787")
	golden.Check(t, "testdata/decides.txt", b.String())
}
