package hook

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// TestClientsAreKnown checks that the gate accepts the names of all clients whose hooks we
// understand, and so knows their tools.
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

// TestGolden maps each input in testdata, in one folder per client, to its event, and each answer
// of the gate to what the client is told.
func TestGolden(t *testing.T) {
	for _, name := range Clients() {
		d, err := dialectOf(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := filepath.Glob("testdata/" + name + "/*.stdin.json")
		if err != nil || len(inputs) == 0 {
			t.Fatal(name, inputs, err)
		}
		for _, input := range inputs {
			t.Run(strings.TrimPrefix(strings.TrimSuffix(input, ".stdin.json"), "testdata/"), func(t *testing.T) {
				data, err := os.ReadFile(input)
				if err != nil {
					t.Fatal(err)
				}
				e, err := d.decode(data, amps)
				if err != nil {
					t.Fatal(err)
				}
				key := e.key()
				if e.call == "" {
					key = key[:len("once:")]
				}
				got, err := strictjson.MarshalIndent(struct {
					Kind     string           `json:"kind"`
					Key      string           `json:"key"`
					Agent    string           `json:"agent,omitzero"`
					Proposal *client.Proposal `json:"proposal,omitzero"`
					Outcome  *client.Outcome  `json:"outcome,omitzero"`
				}{
					[]string{"before", "after", "rejected", "wondering", "ended"}[e.kind], key, e.agent,
					when(e.kind != ended, &e.proposal), when((e.kind == after || e.kind == rejected) && !e.later, &e.outcome),
				})
				if err != nil {
					t.Fatal(err)
				}
				golden.Check(t, strings.TrimSuffix(input, ".stdin.json")+".event.json", string(got)+"\n")
			})
		}
		worded := allowed
		worded.Approval = &client.Approval{ID: "i-1", State: "allowed", Words: "but only once"}
		before := firstBefore(t, d, inputs)
		for what, a := range map[string]client.Answer{"guard": guarded, "denied": refused, "allowed": worded, "approved": approved} {
			t.Run(name+"/"+what, func(t *testing.T) {
				var out, errs bytes.Buffer
				code, err := Run(t.Context(), Options{Client: name, Gate: &fakeGate{answer: a}, In: bytes.NewReader(before), Out: &out, Err: &errs, Getenv: amps})
				if err != nil {
					t.Fatal(err)
				}
				golden.Check(t, "testdata/"+name+"/"+what+".answer", fmt.Sprintf("exit %d\nstdout %sstderr %s", code, lineOf(out.String()), lineOf(errs.String())))
			})
		}
	}
}

func lineOf(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }

// amps is the environment in which Amp names the tool.
func amps(name string) string {
	return map[string]string{"AGENT_TOOL_NAME": "Bash", "AMP_THREAD_ID": "T-1"}[name]
}

func when[T any](holds bool, v *T) *T {
	if holds {
		return v
	}
	return nil
}

func firstBefore(t *testing.T, d dialect, inputs []string) []byte {
	t.Helper()
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := d.decode(data, amps); err == nil && e.kind == before {
			return data
		}
	}
	t.Fatal("no call")
	return nil
}

// TestBadInputIsDeniedInTheClientsWords gives every client's hook input that it cannot parse: the
// tool must not run.
func TestBadInputIsDeniedInTheClientsWords(t *testing.T) {
	for _, name := range Clients() {
		d, err := dialectOf(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs, _ := filepath.Glob("testdata/" + name + "/*.stdin.json")
		good := string(firstBefore(t, d, inputs))
		for what, in := range map[string]string{
			"empty": "", "not-json": "hello", "cut": good[:len(good)/2], "twice": good + good, "list": "[]", "null": "null",
			"duplicate": strings.Replace(good, "{", `{"x":1,"x":2,`, 1), "too-large": strings.Repeat(" ", maxInput+1),
			"lone-surrogate": strings.Replace(good, "{", `{"\ud800":1,`, 1),
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				g := &fakeGate{answer: approved}
				var out, errs bytes.Buffer
				code, err := Run(t.Context(), Options{Client: name, Gate: g, In: strings.NewReader(in), Out: &out, Err: &errs, Getenv: amps})
				if err != nil || len(g.asked) > 0 {
					t.Fatal(err, g.asked)
				}
				want := d.deny("X")
				if code != want.code || (out.Len() > 0) != (len(want.out) > 0) || (errs.Len() > 0) != (want.err != "") {
					t.Fatalf("code %d, %q, %q; want the shape of %+v", code, out.String(), errs.String(), want)
				}
				before, _, _ := strings.Cut(string(want.out), `"X"`)
				if !strings.HasPrefix(out.String(), before) || !strings.Contains(out.String()+errs.String(), "did not run") {
					t.Errorf("%q %q", out.String(), errs.String())
				}
			})
		}
	}
}

func TestKeyIsTheClientsNameOfTheCall(t *testing.T) {
	key := func(session, use string) string { return (&event{session: session, call: use}).key() }
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
	code := claudes()[0]
	f.Add([]byte(bash))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}`))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"\u0000","tool_input":{"a":{"a":[1e999,-0]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeClaude("claude-code", data)
		if err != nil {
			if err.Error() == "" {
				t.Error("no reason")
			}
			parse(t, code.deny(fit(err.Error())).out)
			return
		}
		if key := e.key(); key == "" || len(key) > 200 || e.kind != ended && (e.proposal.Executor == "" || e.proposal.Args == nil) {
			t.Errorf("%+v", e)
		}
		if _, err := strictjson.Marshal(e.proposal); err != nil {
			t.Errorf("cannot be sent: %v", err)
		}
	})
}

func FuzzFit(f *testing.F) {
	code := claudes()[0]
	f.Add("x", 9500)
	f.Add("😀", 6000)
	f.Fuzz(func(t *testing.T, unit string, n int) {
		if n < 0 || n > 12_000 || len(unit) > 100 {
			return
		}
		parse(t, code.deny("d"+fit(strings.Repeat(unit, n))).out)
	})
}

// FuzzServer lets the daemon answer anything at all: the tool runs only after the two answers
// that allow it.
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
	gate := client.Unix(socket, "")
	for _, a := range []client.Answer{approved, guarded, pending, refused, allowed} {
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
		var a client.Answer
		read := s1 == 200 && strictjson.UnmarshalLoose(b1, &a) == nil
		var out strings.Builder
		// The limit is short because pending answers are not the subject here.
		_, err := Run(t.Context(), Options{Client: "claude-code", Gate: gate, In: strings.NewReader(bash), Out: &out, Limit: 40 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() == 0 {
			if !read || a.Decision != client.Allow || !a.Verdict.Approved || a.Permit != nil {
				t.Fatalf("no objection to %d %q", s1, b1)
			}
			return
		}
		if parse(t, []byte(out.String())).Out.Decision == "allow" {
			var later client.Answer
			waited := read && a.Decision == client.Pending && strictjson.UnmarshalLoose(b2, &later) == nil
			redeemed := read && a.Permit != nil && s2 == 204
			if !redeemed && !waited {
				t.Fatalf("allowed on %d %q, then %d %q", s1, b1, s2, b2)
			}
		}
	})
}

// editing is a gate at which the person wants another command.
type editing struct{ fakeGate }

func (g *editing) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	g.last = r
	if r.Proposal.Args["command"] == "git push origin dev" {
		return client.Answer{Decision: client.Allow, Approval: &client.Approval{ID: "b", State: "allowed", Words: "not main"}, Permit: &client.Permit{Permit: "p"}}, nil
	}
	return client.Answer{
		Decision: client.Deny, Text: "vaglio: a person changed it", Approval: &client.Approval{ID: "a", State: "denied"},
		Edited: &client.Edited{Executor: r.Proposal.Executor, Args: map[string]any{"command": "git push origin dev", "timeout": strictjson.Number("120000")}},
	}, nil
}

// TestAChangedCallRunsChanged: Claude Code runs the call as the person changed it; clients that
// cannot are told about the change.
func TestAChangedCallRunsChanged(t *testing.T) {
	out := string(run(t, &editing{}, strings.NewReader(bash), 0))
	for _, want := range []string{`"permissionDecision":"allow"`, `"updatedInput":{"command":"git push origin dev","timeout":120000}`, "changed this call", "not main"} {
		if !strings.Contains(out, want) {
			t.Errorf("the client is told %s, which lacks %s", out, want)
		}
	}
	for _, d := range dialects() {
		if (d.edit != nil) != (d.name == "claude-code") {
			t.Errorf("%s changes calls, of which nobody knows whether it can", d.name)
		}
	}
}

// TestASkillsCommandIsAnsweredByItsEvent checks that an answer names the event that asked, and gives
// nothing that the event refuses: Claude Code drops other answers, or keeps an allowed command from
// running.
func TestASkillsCommandIsAnsweredByItsEvent(t *testing.T) {
	call, err := os.ReadFile("testdata/claude-code/skill.stdin.json")
	if err != nil {
		t.Fatal(err)
	}
	worded := allowed
	worded.Approval = &client.Approval{ID: "i-1", State: "allowed", Words: "but only once"}
	for name, tt := range map[string]struct {
		answer   client.Answer
		input    string
		decision string
	}{
		"guard":         {guarded, string(call), "deny"},
		"denied":        {refused, string(call), "deny"},
		"allowed":       {worded, string(call), "allow"},
		"no arguments":  {approved, strings.Replace(string(call), `{"command":"git push --force origin main"}`, "7", 1), "deny"},
		"no tool":       {approved, strings.Replace(string(call), `"Bash"`, `""`, 1), "deny"},
		"approved here": {approved, string(call), ""},
	} {
		var out, errs bytes.Buffer
		code, err := Run(t.Context(), Options{Client: "claude-code", Gate: &fakeGate{answer: tt.answer}, In: strings.NewReader(tt.input), Out: &out, Err: &errs})
		says := `{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"` + tt.decision + `",`
		if tt.decision == "" {
			says = ""
		}
		if err != nil || code != 0 || !strings.HasPrefix(out.String(), says) || says == "" && out.Len() > 0 ||
			strings.Contains(out.String(), "additionalContext") || strings.Contains(out.String(), "updatedInput") {
			t.Errorf("%s: %d %v %s%s", name, code, err, out.String(), errs.String())
		}
	}
}
