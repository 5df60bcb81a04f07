package hook

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// TestClientsAreKnown checks that the gate takes the names of all clients whose
// hooks are understood: their tools are known.
func TestClientsAreKnown(t *testing.T) {
	for _, name := range Clients() {
		p := vaglio.Proposal{Executor: "Read", Context: vaglio.Context{Client: name}}
		data, err := strictjson.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := vaglio.DecodeProposal(data); err != nil || again.Context.Client != name {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
	}
}

// TestGolden maps each stdin in testdata to its proposal, and each answer of
// the gate to its stdout.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.stdin.json")
	if err != nil || len(inputs) < 4 {
		t.Fatal(inputs, err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".stdin.json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			c, err := decodeClaude(data)
			if err != nil {
				t.Fatal(err)
			}
			got, err := strictjson.Marshal(struct {
				Key      string `json:"key"`
				Proposal any    `json:"proposal"`
			}{c.key, c.proposal})
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".proposal.json", string(got)+"\n")
		})
	}
	for name, a := range map[string]approval.Answer{"guard": guarded, "denied": denied, "allowed": allowed} {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, "testdata/"+name+".stdout.json", string(run(t, &fakeGate{answer: a}, strings.NewReader(bash), 0)))
		})
	}
}

func TestKeyIsTheClientsNameOfTheCall(t *testing.T) {
	key := func(session, use string) string { return claudeKey(preToolUse{Session: session, ToolUse: use}) }
	if got := key("4f91", "toolu_1"); got != "4f91:toolu_1" {
		t.Errorf("key %q", got)
	}
	for _, odd := range [][2]string{{"a b", "c"}, {"é", "c"}, {strings.Repeat("x", 200), "c"}} {
		got := key(odd[0], odd[1])
		if got != key(odd[0], odd[1]) || len(got) > 200 || strings.Trim(got, "0123456789abcdefsh:") != "" {
			t.Errorf("%q: key %q", odd, got)
		}
	}
	if a, b := key("s", ""), key("s", ""); a == b || a == "" {
		t.Errorf("calls without a name share the key %q", a)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(bash))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}`))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"\u0000","tool_input":{"a":{"a":[1e999,-0]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeClaude(data)
		if err != nil {
			if err.Error() == "" {
				t.Error("no reason")
			}
			parse(t, claudeCode().deny(claudeCode().fit(err.Error())))
			return
		}
		if c.key == "" || len(c.key) > 200 || c.proposal.Executor == "" || c.proposal.Args == nil || c.proposal.Agent != "" {
			t.Errorf("%+v", c)
		}
		if _, err := strictjson.Marshal(c.proposal); err != nil {
			t.Errorf("cannot be sent: %v", err)
		}
	})
}

func FuzzFit(f *testing.F) {
	f.Add("x", 9500)
	f.Add("😀", 6000)
	f.Fuzz(func(t *testing.T, unit string, n int) {
		if n < 0 || n > 12_000 || len(unit) > 100 {
			return
		}
		parse(t, claudeCode().deny("d"+claudeCode().fit(strings.Repeat(unit, n))))
	})
}

// FuzzServer lets the daemon answer anything at all: the tool runs only on the
// two answers that say so.
func FuzzServer(f *testing.F) {
	type answer struct {
		status int
		body   []byte
	}
	var first, second answer
	socket := filepath.Join(f.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		f.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := second
		if r.URL.Path == "/v1/proposals" {
			a = first
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	}), ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	f.Cleanup(func() {
		server.Close()
		<-done
	})
	gate := client.Unix(socket)
	for _, a := range []approval.Answer{approved, guarded, pending, denied, allowed} {
		body, err := strictjson.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		for _, status := range []int{200, 204, 409, 503} {
			f.Add(200, body, status, body)
			f.Add(status, body, 200, []byte(`{"type":"x","detail":"d"}`))
		}
	}
	f.Add(200, []byte("\x00"), 200, []byte("[]"))
	f.Fuzz(func(t *testing.T, s1 int, b1 []byte, s2 int, b2 []byte) {
		if s1 < 200 || s1 > 599 || s2 < 200 || s2 > 599 {
			return // not HTTP
		}
		first, second = answer{s1, b1}, answer{s2, b2}
		var a approval.Answer
		read := s1 == 200 && strictjson.UnmarshalLoose(b1, &a) == nil
		var out strings.Builder
		// The limit is short: a pending answer is not what is tested here.
		err := Run(t.Context(), Options{Client: "claude-code", Gate: gate, In: strings.NewReader(bash), Out: &out, Limit: 40 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() == 0 {
			if !read || a.Decision != approval.RulingAllow || !a.Verdict.Approved || a.Permit != nil {
				t.Fatalf("no objection to %d %q", s1, b1)
			}
			return
		}
		if parse(t, []byte(out.String())).Out.Decision == "allow" {
			var later approval.Answer
			waited := read && a.Decision == approval.RulingPending && strictjson.UnmarshalLoose(b2, &later) == nil
			redeemed := read && a.Permit != nil && s2 == 204
			if !redeemed && !waited {
				t.Fatalf("allowed on %d %q, then %d %q", s1, b1, s2, b2)
			}
		}
	})
}
