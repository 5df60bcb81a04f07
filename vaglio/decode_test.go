package vaglio_test

import (
	"bytes"
	stdjson "encoding/json" //nolint:depguard // proves that the standard library reads and writes the same
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

func TestDecodeProposal(t *testing.T) {
	step, critical := 3, false
	tests := map[string]struct {
		in   string
		want vaglio.Proposal
	}{
		"least": {`{"executor":"x"}`, vaglio.Proposal{Executor: "x", Args: vaglio.Args{}}},
		"nulls": {`{"executor":"x","intent":null,"context":null,"turn_id":null,"step":null}`, vaglio.Proposal{Executor: "x", Args: vaglio.Args{}}},
		"whole": {
			`{"agent":"a","turn_id":"t-81","step":2,"intent":"clean","executor":"shell_exec","args":{"n":9007199254740993,"l":[1.50,null,true]},
			  "context":{"mode":"local","step":3,"capability":"code:exec","critical":false,"cwd":"/home/u","mounts":["/w"]}}`,
			vaglio.Proposal{
				Agent: "a", TurnID: "t-81", Step: 2, Intent: "clean", Executor: "shell_exec",
				Args: vaglio.Args{"n": strictjson.Number("9007199254740993"), "l": []any{strictjson.Number("1.50"), nil, true}},
				Context: vaglio.Context{
					Mode: "local", Step: &step, Capability: vaglio.Capabilities{"code:exec"}, Critical: &critical,
					Cwd: "/home/u", Mounts: []string{"/w"},
				},
			},
		},
		"capability_list": {
			`{"executor":"x","context":{"capability":["a","b"]}}`,
			vaglio.Proposal{Executor: "x", Args: vaglio.Args{}, Context: vaglio.Context{Capability: vaglio.Capabilities{"a", "b"}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := vaglio.DecodeProposal([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			roundTrip(t, got)
		})
	}
}

// roundTrip encodes and decodes a proposal with both libraries.
func roundTrip(t *testing.T, p vaglio.Proposal) {
	t.Helper()
	first, err := strictjson.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := vaglio.DecodeProposal(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
	second, err := stdjson.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var std vaglio.Proposal
	if err := stdjson.Unmarshal(second, &std); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, std); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeProposalRefuses(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"no_executor":       {`{"args":{}}`, `field "/executor" is missing or empty; give the name of the tool to call`},
		"blank_executor":    {`{"executor":" "}`, `field "/executor" is missing or empty`},
		"number_executor":   {`{"executor":4711}`, `field "/executor" must be a string, not a number`},
		"args_list":         {`{"executor":"x","args":["s3cr3t"]}`, `field "/args" must be an object that maps argument names to values`},
		"args_null":         {`{"executor":"x","args":null}`, `field "/args" must be an object`},
		"args_text":         {`{"executor":"x","args":"s3cr3t"}`, `field "/args" must be an object`},
		"duplicate_arg":     {`{"executor":"x","args":{"a":"s3cr3t","a":2}}`, `field "/args/a" is given twice; give it once`},
		"duplicate_deep":    {`{"executor":"x","args":{"a":[{"b":1,"b":2}]}}`, `field "/args/a/0/b" is given twice`},
		"unknown":           {`{"executor":"x","tool":"s3cr3t"}`, `field "/tool" is not known; known here are agent, args, context`},
		"unknown_context":   {`{"executor":"x","context":{"approver":"s3cr3t"}}`, `field "/context/approver" is not known; known here are capability, client`},
		"unknown_client":    {`{"executor":"x","context":{"client":"s3cr3t"}}`, `field "/context/client" must be a client whose tools are known: amp, claude-code, cline`},
		"critical_text":     {`{"executor":"x","context":{"critical":"false"}}`, `field "/context/critical" must be true or false, not a string`},
		"critical_zero":     {`{"executor":"x","context":{"critical":0}}`, `field "/context/critical" must be true or false, not a number`},
		"capability_number": {`{"executor":"x","context":{"capability":4711}}`, `field "/context/capability" must be a string or a list of strings`},
		"capability_mixed":  {`{"executor":"x","context":{"capability":["a",4711]}}`, `field "/context/capability" must be a string or a list of strings`},
		"negative_step":     {`{"executor":"x","step":-1}`, `field "/step" must be 1 or more`},
		"fraction_step":     {`{"executor":"x","step":1.5}`, `field "/step" must be a whole number`},
		"nul":               {`{"executor":"x","args":{"p":"/tmp\u0000/s3cr3t"}}`, `field "/args/p" holds a NUL character`},
		"utf8":              {"{\"executor\":\"x\",\"args\":{\"p\":\"s3cr3t\xff\"}}", `field "/args/p" holds bytes that are not valid UTF-8`},
		"deep":              {`{"executor":"x","args":{"p":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, `nests deeper than 64 levels`},
		"long_cwd":          {`{"executor":"x","context":{"cwd":"/s3cr3t` + strings.Repeat("/a", 2050) + `"}}`, `field "/context/cwd" must be at most 4096 bytes long`},
		"long_root":         {`{"executor":"x","context":{"roots":["/a","/s3cr3t` + strings.Repeat("/a", 2050) + `"]}}`, `field "/context/roots" must be at most 4096 bytes long`},
		"many_mounts":       {`{"executor":"x","context":{"mounts":["/s3cr3t"` + strings.Repeat(`,"/a"`, 256) + `]}}`, `field "/context/mounts" must name at most 256 folders`},
		"malformed":         {`{"executor":"x",`, `the JSON document ends before it is complete`},
		"nothing":           {``, `the JSON document`},
		"two":               {`{"executor":"x"}{"executor":"s3cr3t"}`, `goes on after its value`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := vaglio.DecodeProposal([]byte(tt.in))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "4711") || strings.Contains(err.Error(), "\n") {
				t.Errorf("tells a value, or is not a line: %q", err)
			}
		})
	}
}

func TestVerdictOnTheWire(t *testing.T) {
	v := vaglio.Verdict{Approved: true, Reason: "approved <&>", TS: 1777300000.1, JudgeKind: "a", Score: .8}
	want := `{"approved":true,"reason":"approved <&>","ts":1777300000.1,"judge_kind":"a","score":0.8,"blocked_by":null}`
	got, err := strictjson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	for _, phase := range []vaglio.Phase{vaglio.PhaseNone, vaglio.PhaseGuard, vaglio.PhaseJudge} {
		v.BlockedBy = phase
		raw, err := strictjson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again vaglio.Verdict
		if err := strictjson.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, again); diff != "" {
			t.Error(diff)
		}
	}
	var p vaglio.Phase
	if err := strictjson.UnmarshalLoose([]byte(`"police"`), &p); err == nil {
		t.Error("an unknown phase is accepted")
	}
}

func TestContextKeys(t *testing.T) {
	zero, no := 0, false
	got := vaglio.Context{Mode: "x", Step: &zero, Critical: &no, Capability: vaglio.Capabilities{}, Cwd: "/", Mounts: []string{}}.Keys()
	if diff := cmp.Diff([]string{"capability", "critical", "cwd", "mode", "mounts", "step"}, got); diff != "" {
		t.Error(diff)
	}
	if got := (vaglio.Context{}).Keys(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// Only the gate sets what happened in a turn: no caller can send it, and it is never encoded.
func TestTurnFactsAreNotOnTheWire(t *testing.T) {
	for _, text := range []string{`{"executor":"x","context":{"turn":{}}}`, `{"executor":"x","context":{"Turn":{"Earlier":[]}}}`} {
		if p, err := vaglio.DecodeProposal([]byte(text)); err == nil && p.Context.Turn != nil {
			t.Errorf("%s: a caller tells of its turn", text)
		}
	}
	b, err := strictjson.Marshal(vaglio.Proposal{Executor: "x", Context: vaglio.Context{Turn: &vaglio.Turn{Refused: []string{"earlier-tool"}}}})
	if err != nil || strings.Contains(string(b), "earlier-tool") {
		t.Errorf("%s, %v", b, err)
	}
}

func FuzzDecodeProposal(f *testing.F) {
	f.Add([]byte(`{"executor":"x","args":{"a":[1,2.5,"x",null,{"b":true}]},"intent":null,"context":{"capability":["a"],"step":1}}`))
	f.Add([]byte(`{"executor":"x","executor":"y"}`))
	f.Add([]byte(`{"executor":"\u0000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := vaglio.DecodeProposal(data)
		if err != nil {
			if len(err.Error()) > 2000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("no sentence: %q", err)
			}
			return
		}
		raw, err := strictjson.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := vaglio.DecodeProposal(raw)
		if err != nil {
			t.Fatalf("%q, written as %q, is refused: %v", data, raw, err)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhatIsAppendedIsWhatTheLibraryWrites holds that types with their own AppendJSON write
// the same as the library does.
func TestWhatIsAppendedIsWhatTheLibraryWrites(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		vaglio.Args(nil),
		vaglio.Args{},
		vaglio.Args{"b": strictjson.Number("1.50"), "a": []any{nil, true, "x\n\u2028"}, "c": map[string]any{}},
		vaglio.Args{"bad": "\xff"},
		vaglio.Capabilities(nil),
		vaglio.Capabilities{"a"},
		vaglio.Capabilities{"a", "b"},
		vaglio.PhaseNone, vaglio.PhaseGuard,
		vaglio.Proposal{Executor: "x", Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}}},
		vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, Results: []vaglio.GradientResult{{Score: 0.41, Metadata: vaglio.Args{"n": strictjson.Number("9007199254740993")}}}},
	} {
		var want bytes.Buffer
		wantErr := strictjson.MarshalWrite(&want, v)
		got, err := strictjson.Marshal(v)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != want.String() {
			t.Errorf("%#v: %s, %v, want %s, %v", v, got, err, want.String(), wantErr)
		}
	}
}
