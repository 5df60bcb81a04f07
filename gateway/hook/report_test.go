package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
)

// say runs the hook for one event of a client.
func say(t *testing.T, g *fakeGate, name, notes, in string) {
	t.Helper()
	var out strings.Builder
	if code, err := Run(t.Context(), Options{Client: name, Gate: g, In: strings.NewReader(in), Out: &out, Notes: notes}); code != 0 || err != nil {
		t.Fatal(code, err, out.String())
	}
}

// TestTheEndOfARunIsTold checks what is reported about calls that a person allowed.
func TestTheEndOfARunIsTold(t *testing.T) {
	const call = `{"session_id":"s","tool_use_id":"t1","tool_name":"Bash","tool_input":{"command":"make"},"hook_event_name":`
	const other = `{"session_id":"s","tool_use_id":"t2","tool_name":"Bash","tool_input":{"command":"make"},"hook_event_name":`
	const tool = `{"session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"make"},"hook_event_name":`
	const within = `{"session_id":"s","tool_name":"terminal","tool_input":{"command":"make"},"hook_event_name":`
	transcript := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(transcript, []byte(`{"payload":{"type":"function_call","call_id":"t1"}}
{"payload":{"type":"function_call_output","call_id":"t1","output":"exit code 6"}}
{"payload":{"type":"function_call_output","call_id":"t1","output":"Wall time: 0\nProcess exited with code 3\nOutput:\nexit code 0\n"}}
{"payload":{"type":"function_call_output","call_id":"t2","output":"t1: exit code 4"}}
{"payload":{"type":"function_call","call_id":"t1","output":"exit code 5"}}
{"payload":{"type":"message","text":"t1"}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	end := `{"session_id":"s","transcript_path":"` + transcript + `","hook_event_name":"Stop"}`
	for name, tc := range map[string]struct {
		client string
		events []string
		want   []string
	}{
		"worked":  {"claude-code", []string{call + `"PreToolUse"}`, call + `"PostToolUse"}`}, []string{"report i-1 {Succeeded:true NotRun:false Detail:}"}},
		"failed":  {"claude-code", []string{call + `"PreToolUse"}`, call + `"PostToolUseFailure","error":"Exit code 1"}`}, []string{"report i-1 {Succeeded:false NotRun:false Detail:Exit code 1}"}},
		"refused": {"claude-code", []string{call + `"PreToolUse"}`, call + `"PermissionDenied","reason":"plan mode"}`}, []string{"report i-1 {Succeeded:false NotRun:true Detail:The agent's own rules refused it: plan mode}"}},
		// If a rule of the client denies a call, only the end of the turn tells.
		"refused in silence": {"claude-code", []string{call + `"PreToolUse"}`, `{"session_id":"s","hook_event_name":"Stop"}`}, []string{"report i-1 {Succeeded:false NotRun:true Detail:The agent's turn ended, and its client had not run the call: its own rules refuse it.}"}},
		"another's end":      {"claude-code", []string{call + `"PreToolUse"}`, `{"session_id":"other","hook_event_name":"Stop"}`, `{"session_id":"s","agent_id":"a","hook_event_name":"SubagentStop"}`}, nil},
		"once":               {"claude-code", []string{call + `"PreToolUse"}`, call + `"PostToolUse"}`, call + `"PostToolUse"}`, `{"session_id":"s","hook_event_name":"Stop"}`}, []string{"report i-1 {Succeeded:true NotRun:false Detail:}"}},
		"without a name":     {"gemini", []string{tool + `"BeforeTool"}`, tool + `"AfterTool","tool_response":{"llmContent":"Output: (empty)\nExit Code: 2"}}`}, []string{"report i-1 {Succeeded:false NotRun:false Detail:exit code 2}"}},
		"equal ones":         {"gemini", []string{tool + `"BeforeTool"}`, tool + `"BeforeTool"}`, tool + `"AfterTool"}`, tool + `"AfterTool"}`}, []string{"report i-1 {Succeeded:true NotRun:false Detail:}", "report i-2 {Succeeded:true NotRun:false Detail:}"}},
		"in another order":   {"claude-code", []string{call + `"PreToolUse"}`, other + `"PreToolUse"}`, other + `"PostToolUse"}`, call + `"PostToolUse"}`}, []string{"report i-2 {Succeeded:true NotRun:false Detail:}", "report i-1 {Succeeded:true NotRun:false Detail:}"}},
		// Codex reports that a command ended, but not how; its transcript tells.
		"by the transcript": {"codex", []string{call + `"PreToolUse"}`, call + `"PostToolUse","tool_response":"exit code 0"}`, end}, []string{"report i-1 {Succeeded:false NotRun:false Detail:exit code 3}"}},
		// A call that Hermes' own gate refuses inside its tool ends as an error.
		"refused within":  {"hermes", []string{within + `"pre_tool_call","extra":{"tool_call_id":"t1"}}`, within + `"post_tool_call","extra":{"tool_call_id":"t1","status":"error","error_message":"BLOCKED: no","result":"{\"exit_code\":-1,\"error\":\"BLOCKED: no\",\"status\":\"blocked\"}"}}`}, []string{"report i-1 {Succeeded:false NotRun:true Detail:The agent's own rules refused it: BLOCKED: no}"}},
		"told once":       {"hermes", []string{within + `"pre_tool_call","extra":{"tool_call_id":"t1"}}`, within + `"post_approval_response","extra":{"tool_call_id":"t1","choice":"deny","command":"make"}}`, within + `"post_tool_call","extra":{"tool_call_id":"t1","status":"error"}}`}, []string{"report i-1 {Succeeded:false NotRun:true Detail:The agent's own rules refused it: its user said no}"}},
		"let pass within": {"hermes", []string{within + `"pre_tool_call","extra":{"tool_call_id":"t1"}}`, within + `"post_approval_response","extra":{"tool_call_id":"t1","choice":"once","command":"make"}}`, within + `"post_tool_call","extra":{"tool_call_id":"t1","status":"ok","result":"{\"exit_code\":3}"}}`}, []string{"report i-1 {Succeeded:false NotRun:false Detail:exit code 3}"}},
		"not asked":       {"claude-code", []string{call + `"PostToolUse"}`, `{"session_id":"s","hook_event_name":"Stop"}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			notes := filepath.Join(t.TempDir(), "runs")
			g := &fakeGate{}
			for i, event := range tc.events {
				g.answer = allowed
				g.answer.Approval = &client.Approval{ID: client.ID([]string{"i-1", "i-2", "i-3", "i-4"}[i]), State: "allowed"}
				say(t, g, tc.client, notes, event)
			}
			var got []string
			for _, asked := range g.asked {
				if strings.HasPrefix(asked, "report") {
					got = append(got, asked)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			left, _ := os.ReadDir(notes)
			if len(left) > 0 != (name == "another's end") {
				t.Errorf("%d notes are left", len(left))
			}
		})
	}
}

// TestARefusalOfTheClientsOwnIsAsked follows a call that the judges approved and the client's own
// gate refused: a person is asked, the model may repeat the call, and the repeated call waits for
// the answer.
func TestARefusalOfTheClientsOwnIsAsked(t *testing.T) {
	call := func(id, event, more string) string {
		return `{"session_id":"s","tool_use_id":"` + id + `","tool_name":"Bash","tool_input":{"command":"make"},"hook_event_name":"` + event + `"` + more + `}`
	}
	const again = `{"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}` + "\n"
	why := `,"reason":"Blocked by classifier"`
	notes := filepath.Join(t.TempDir(), "runs")
	for i, step := range []struct {
		what    string
		answer  client.Answer
		fails   string
		in      string
		out     string // "*" is a denial
		concern bool
		asked   string
	}{
		{"it passes", approved, "", call("t1", "PreToolUse", ""), "", false, "propose"},
		{"nobody can be asked", pending, "propose", call("t1", "PermissionDenied", why), "", true, "propose"},
		{"no more is said of what failed", approved, "", call("t1", "PreToolUse", ""), "", false, "propose"},
		{"the guard is final", guarded, "", call("t1", "PermissionDenied", why), "", true, "propose"},
		{"a person was asked already and said no", refused, "", call("t1", "PermissionDenied", why), "", true, "propose"},
		{"a person is asked", pending, "", call("t1", "PermissionDenied", why), again, true, "propose"},
		{"another call passes", approved, "", strings.Replace(call("t2", "PreToolUse", ""), "make", "ls", 1), "", false, "propose"},
		{"a no", refused, "", call("t3", "PreToolUse", ""), "*", true, "propose"},
		{"a yes", allowed, "", call("t4", "PreToolUse", ""), "+", true, "propose; redeem the-permit"},
		// If the client still refuses, that is reported, and nobody is asked again.
		{"it ends so", pending, "", call("t4", "PermissionDenied", why), "", false, "report i-1 {Succeeded:false NotRun:true Detail:The agent's own rules refused it: Blocked by classifier}"},
		{"the yes served one call", approved, "", call("t5", "PreToolUse", ""), "", false, "propose"},
	} {
		g := &fakeGate{answer: step.answer}
		if step.fails != "" {
			g.fails = map[string]error{step.fails: errors.New("down")}
		}
		var out strings.Builder
		code, err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: strings.NewReader(step.in), Out: &out, Notes: notes})
		got := out.String()
		for sign, word := range map[string]string{"*": `"deny"`, "+": `"allow"`} {
			if step.out == sign && strings.Contains(got, `"permissionDecision":`+word) {
				got = sign
			}
		}
		if code != 0 || err != nil || got != step.out || (len(g.last.Proposal.Context.Concerns) > 0) != step.concern || step.concern && g.last.Proposal.Context.Refusal != "Blocked by classifier" || strings.Join(g.asked, "; ") != step.asked {
			t.Errorf("%d, %s: %d %v %q, concerns %v, asked %q", i, step.what, code, err, got, g.last.Proposal.Context.Concerns, g.asked)
		}
	}
	// Only the user may read the note about a refusal.
	say(t, &fakeGate{}, "claude-code", notes, call("t6", "PreToolUse", ""))
	for _, step := range []struct {
		answer client.Answer
		event  string
	}{{pending, call("t7", "PermissionDenied", why)}, {allowed, call("t8", "PreToolUse", "")}} {
		fresh := filepath.Join(t.TempDir(), "runs")
		if _, err := Run(t.Context(), Options{Client: "claude-code", Gate: &fakeGate{answer: step.answer}, In: strings.NewReader(step.event), Out: &strings.Builder{}, Notes: fresh}); err != nil {
			t.Fatal(err)
		}
		folder, err := os.Stat(fresh)
		files, _ := filepath.Glob(filepath.Join(fresh, "*"))
		if err != nil || folder.Mode().Perm() != 0o700 || len(files) != 1 {
			t.Fatalf("%v %v %v", folder, files, err)
		}
		if file, err := os.Stat(files[0]); err != nil || file.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", files[0], file.Mode(), err)
		}
	}
	// Without notes nobody is asked, because the repeated call would not be recognised.
	g := &fakeGate{answer: pending}
	say(t, g, "claude-code", "", call("t9", "PermissionDenied", why))
	if len(g.asked) != 0 {
		t.Error(g.asked)
	}
}

// TestARefusalThatIsOverIsTold checks clients that cannot repeat a call after their own gate
// refused it: the refusal is reported, and nobody is asked.
func TestARefusalThatIsOverIsTold(t *testing.T) {
	denied := `{"session_id":"s","tool_use_id":"t6","tool_name":"Bash","tool_input":{"command":"make"},"hook_event_name":"PermissionDenied","reason":"no"}`
	answered := func(choice string) string {
		return `{"hook_event_name":"post_approval_response","tool_name":null,"tool_input":null,"session_id":"s","cwd":"/p","extra":{"command":"make","description":"flagged","choice":"` + choice + `","tool_call_id":"t7"}}`
	}
	for _, tc := range []struct{ client, in, why string }{
		{"qwen", denied, "no"},
		{"hermes", answered("deny"), "its user said no, about: flagged"},
		{"hermes", answered("timeout"), "its user did not answer in time, about: flagged"},
		{"hermes", answered("cancelled"), "nobody could be asked, about: flagged"},
		{"hermes", answered("notify_failed"), "nobody could be asked, about: flagged"},
		{"hermes", answered("smart_deny"), "its model said no, about: flagged"},
		{"hermes", answered("what comes later"), "nobody could be asked, about: flagged"},
		{"hermes", answered("once"), ""},
		{"hermes", answered("session"), ""},
		{"hermes", answered("always"), ""},
		{"hermes", answered("smart_approve"), ""},
	} {
		g := &fakeGate{answer: refused}
		say(t, g, tc.client, filepath.Join(t.TempDir(), "runs"), tc.in)
		c := g.last.Proposal.Context
		if told := len(g.asked) > 0; told != (tc.why != "") || told && (strings.Join(g.asked, ";") != "propose" || c.Refusal != tc.why || len(c.Concerns) != 1 || c.Concerns[0] != client.ClientFinal) {
			t.Errorf("%s: %s: asked %q, %+v", tc.client, tc.in, g.asked, c)
		}
	}
}

// TestOldNotesAreForgotten checks that a note is deleted if its call's end is never reported.
func TestOldNotesAreForgotten(t *testing.T) {
	notes := t.TempDir()
	old := filepath.Join(notes, "old")
	if err := os.WriteFile(old, []byte(`{"id":"i-9","session":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-keepNotes - time.Minute)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	say(t, &fakeGate{answer: allowed}, "claude-code", notes, bash)
	left, err := os.ReadDir(notes)
	if err != nil || len(left) != 1 || left[0].Name() == "old" {
		t.Errorf("%v %v", left, err)
	}
}

// TestApproveAllows checks that calls which the judges approved are reported as allowed.
func TestApproveAllows(t *testing.T) {
	for _, name := range Clients() {
		d, err := dialectOf(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs, _ := filepath.Glob("testdata/" + name + "/*.stdin.json")
		before := string(firstBefore(t, d, inputs))
		var out strings.Builder
		code, err := Run(t.Context(), Options{Client: name, Gate: &fakeGate{answer: approved}, In: strings.NewReader(before), Out: &out, Getenv: amps, ApproveAllows: true})
		want := d.allow("vaglio's judges approved this call.", "")
		if err != nil || code != want.code || out.String() != string(want.out) {
			t.Errorf("%s: %d %q %v", name, code, out.String(), err)
		}
	}
}

// TestAQuestionOfTheClientsOwn follows what Codex would ask its user: a call that a person has
// just allowed is not asked about again; any other is, and runs only after a yes.
func TestAQuestionOfTheClientsOwn(t *testing.T) {
	rollout := filepath.Join(t.TempDir(), "rollout.jsonl")
	write := func(lines ...string) {
		t.Helper()
		text := `{"payload":{"type":"message","role":"user"}}` + "\n"
		for _, call := range lines {
			id, _ := strings.CutPrefix(call, "-")
			kind := map[bool]string{true: "function_call_output", false: "function_call"}[id != call]
			text += `{"payload":{"type":"` + kind + `","call_id":"` + id + `","output":"exit code 0"}}` + "\n"
		}
		if err := os.WriteFile(rollout, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	event := func(name, command, more string) string {
		return `{"session_id":"s","transcript_path":"` + rollout + `","tool_name":"Bash","tool_input":{"command":"` + command + `"},"hook_event_name":"` + name + `"` + more + `}`
	}
	const (
		yes = `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}` + "\n"
		no  = `"behavior":"deny"`
	)
	notes := filepath.Join(t.TempDir(), "runs")
	for _, step := range []struct {
		what, client string
		answer       client.Answer
		calls        []string
		in, out      string
		asked        string
	}{
		{"a person allows", "codex", allowed, nil, event("PreToolUse", "make", `,"tool_use_id":"t1"`), "", "propose; redeem the-permit"},
		{"and is not asked again", "codex", refused, []string{"t1"}, event("PermissionRequest", "make", ""), yes, ""},
		{"but about an equal call", "codex", refused, []string{"t1", "t2"}, event("PermissionRequest", "make", ""), no, "propose"},
		{"it ends", "codex", approved, []string{"t1", "-t1"}, event("Stop", "", ""), "", "report i-1 {Succeeded:true NotRun:false Detail:}"},
		{"the judges approve", "codex", approved, nil, event("PreToolUse", "ls", `,"tool_use_id":"t3"`), "", "propose"},
		{"the guard is final", "codex", guarded, []string{"t3"}, event("PermissionRequest", "ls", ""), no, "propose"},
		{"an approval alone is not a yes of a daemon that knows concerns", "codex", client.Answer{Decision: client.Allow}, []string{"t3"}, event("PermissionRequest", "ls", ""), no, "propose"},
		{"a person allows what Codex asks", "codex", allowed, []string{"t0", "-t0", "t3"}, event("PermissionRequest", "ls", ""), yes, "propose; redeem the-permit"},
		{"which ends, too", "codex", approved, []string{"t3", "-t3"}, event("Stop", "", ""), "", "report i-1 {Succeeded:true NotRun:false Detail:}"},
		{"a call that cannot be told from another", "codex", allowed, []string{"t4", "t5"}, event("PermissionRequest", "pwd", ""), yes, "propose; redeem the-permit"},
		{"of which no end is made up", "codex", approved, nil, event("Stop", "", ""), "", ""},
		{"a client that hears nothing", "claude-code", pending, nil, event("PermissionRequest", "ls", ""), "", ""},
	} {
		write(step.calls...)
		g := &fakeGate{answer: step.answer}
		var out strings.Builder
		code, err := Run(t.Context(), Options{Client: step.client, Gate: g, In: strings.NewReader(step.in), Out: &out, Notes: notes})
		got := out.String()
		if step.out == no && strings.Contains(got, no) && strings.Contains(got, `"message":"vaglio`) {
			got = no
		}
		proposed := strings.HasPrefix(step.asked, "propose") && strings.Contains(step.in, "PermissionRequest")
		concerns := g.last.Proposal.Context.Concerns
		if code != 0 || err != nil || got != step.out || strings.Join(g.asked, "; ") != step.asked || proposed != (len(concerns) == 1 && concerns[0] == client.ClientAsks) {
			t.Errorf("%s: %d %v %q, concerns %v, asked %q", step.what, code, err, out.String(), concerns, g.asked)
		}
	}
	if left, _ := os.ReadDir(notes); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestWhatClientsTellOfTheirCalls checks how the clients' events are read: their kind, and how a
// call ended.
func TestWhatClientsTellOfTheirCalls(t *testing.T) {
	const (
		copilotCall = `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"make"}`
		geminiCall  = `{"session_id":"s","tool_name":"run","tool_input":{"command":"make"},"hook_event_name":`
		pluginCall  = `{"session":"s","tool":"run","args":{"command":"make"},"event":"after"`
		hermesCall  = `{"session_id":"s","tool_name":"run","tool_input":{"command":"make"},"hook_event_name":`
	)
	ok, failed := client.Outcome{Succeeded: true}, func(why string) client.Outcome { return client.Outcome{Detail: why} }
	refused := func(why string) client.Outcome { return client.Outcome{NotRun: true, Detail: why} }
	for _, row := range []struct {
		client, in string
		kind       kind
		outcome    client.Outcome
	}{
		{"copilot", copilotCall + `}`, before, client.Outcome{}},
		{"copilot", copilotCall + `,"stopReason":"x"}`, before, client.Outcome{}},
		{"copilot", `{"sessionId":"s","toolName":"bash","toolArgs":" {\"command\":\"make\"}\n"}`, before, client.Outcome{}},
		{"copilot", `{"sessionId":"s","stopReason":"x"}`, ended, client.Outcome{}},
		{"copilot", copilotCall + `,"toolResult":{"resultType":"success","textResultForLlm":"x"}}`, after, ok},
		{"copilot", copilotCall + `,"toolResult":{"resultType":"denied","textResultForLlm":"not here"}}`, after, refused("The agent's own rules refused it: not here")},
		{"copilot", copilotCall + `,"toolResult":{"resultType":"rejected","textResultForLlm":""}}`, after, refused("The agent's own rules refused it.")},
		{"copilot", copilotCall + `,"toolResult":{"resultType":"failure","textResultForLlm":"it broke"}}`, after, failed("it broke")},
		{"copilot", copilotCall + `,"error":"it broke"}`, after, failed("it broke")},
		{"gemini", geminiCall + `"BeforeTool"}`, before, client.Outcome{}},
		{"gemini", geminiCall + `"AfterTool","tool_response":{"llmContent":"x","error":null}}`, after, ok},
		{"gemini", geminiCall + `"AfterTool","tool_response":{"llmContent":"x","error":"it broke"}}`, after, failed("it broke")},
		{"gemini", `{"session_id":"s","hook_event_name":"AfterAgent"}`, ended, client.Outcome{}},
		{"hermes", hermesCall + `"pre_tool_call"}`, before, client.Outcome{}},
		{"hermes", hermesCall + `"post_tool_call","extra":{"result":"x"}}`, after, ok},
		{"hermes", hermesCall + `"post_tool_call","extra":{"status":"blocked","error_message":"not here"}}`, after, refused("The agent's own rules refused it: not here")},
		{"hermes", hermesCall + `"post_tool_call","extra":{"status":"error","error_message":"it broke"}}`, after, failed("it broke")},
		{"cline", `{"taskId":"s","hookName":"tool_call","tool_call":{"name":"run","input":{"command":"make"}}}`, before, client.Outcome{}},
		{"windsurf", `{"trajectory_id":"s","agent_action_name":"pre_run_command","tool_info":{"command":"make"}}`, before, client.Outcome{}},
		{"hermes", `{"session_id":"s","hook_event_name":"on_session_end"}`, ended, client.Outcome{}},
		{"openclaw", pluginCall + `}`, after, ok},
		{"openclaw", pluginCall + `,"exit":0}`, after, ok},
		{"openclaw", pluginCall + `,"exit":2}`, after, failed("exit code 2")},
		{"openclaw", pluginCall + `,"exit":2,"error":"it broke"}`, after, failed("it broke")},
		{"openclaw", pluginCall + `,"exit":0,"error":"it broke"}`, after, failed("it broke")},
		{"kiro", geminiCall + `"PreToolUse"}`, before, client.Outcome{}},
		{"kiro", geminiCall + `"postToolUse"}`, after, ok},
		{"kiro", geminiCall + `"postToolUse","tool_response":{"success":true}}`, after, ok},
		{"kiro", geminiCall + `"postToolUse","tool_response":{"success":false}}`, after, client.Outcome{}},
		{"kiro", `{"session_id":"s","hook_event_name":"Stop"}`, ended, client.Outcome{}},
	} {
		d, err := dialectOf(row.client)
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.decode([]byte(row.in), func(string) string { return "" })
		if err != nil || e.kind != row.kind || e.outcome != row.outcome || e.session != "s" || e.kind == before && e.proposal.Args["command"] != "make" {
			t.Errorf("%s: %s\n is %+v, %v", row.client, row.in, e, err)
		}
	}
	for _, name := range []string{"copilot", "gemini", "hermes", "kiro"} {
		d, err := dialectOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for in, want := range map[string]string{
			`{"sessionId":5,"session_id":5,"x":"hidden"}`: "is not the JSON that " + name + " writes",
			`{"hook_event_name":"hidden"`:                 "cannot be read",
			geminiCall + `"hidden"}`:                      "",
		} {
			if _, err := d.decode([]byte(in), func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s of %s: %v", in, name, err)
			}
		}
	}
}

// TestWindsurfsOtherEvents checks that other events are rejected.
func TestWindsurfsOtherEvents(t *testing.T) {
	for _, action := range []string{"pre_user_prompt", "post_cascade_response", "run_command", ""} {
		if e, err := windsurf().decode([]byte(`{"trajectory_id":"s","agent_action_name":"`+action+`","tool_info":{"command":"make"}}`), nil); !errors.Is(err, errEvent) {
			t.Errorf("%q is read as %+v, %v", action, e, err)
		}
	}
}

// TestFoldersOfCursor checks that the folder is the call's own or else the first workspace folder.
func TestFoldersOfCursor(t *testing.T) {
	for more, want := range map[string]string{``: "", `,"cwd":"/a"`: "/a", `,"workspace_roots":["/b","/c"]`: "/b", `,"cwd":"/a","workspace_roots":["/b"]`: "/a"} {
		e, err := decodeCursor([]byte(`{"hook_event_name":"preToolUse","tool_name":"run","tool_input":{}`+more+`}`), nil)
		if err != nil || e.proposal.Context.Cwd != want {
			t.Errorf("%s: in %q, %v", more, e.proposal.Context.Cwd, err)
		}
	}
}

// TestAmpNamesItsToolBesides checks that decoding fails without the environment.
func TestAmpNamesItsToolBesides(t *testing.T) {
	if _, err := amp().decode([]byte(`{"cmd":"make"}`), nil); err == nil || !strings.Contains(err.Error(), "cannot see the environment") {
		t.Error(err)
	}
}

// TestPatchesOfCodex checks that a patch, and nothing else, is renamed to "patch".
func TestPatchesOfCodex(t *testing.T) {
	for _, row := range []struct{ args, want map[string]any }{
		{map[string]any{"command": "x"}, map[string]any{"patch": "x"}},
		{map[string]any{"input": "x"}, map[string]any{"input": "x"}},
		{map[string]any{"command": "x", "patch": "y"}, map[string]any{"command": "x", "patch": "y"}},
	} {
		patchNotCommand(row.args)
		if diff := cmp.Diff(row.want, row.args); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHowCommandsEnded checks that the last mention counts, or the first one above the output.
func TestHowCommandsEnded(t *testing.T) {
	for told, want := range map[string]string{
		"": "", "exit code 3\nexit code 0": "", "exit code 0\nexit code 3": "exit code 3",
		"Exit code: 3\nexit code 5\nOutput:\nexit code 0": "exit code 3", "x\nOutput:\nexit code 4": "exit code 4",
	} {
		if o := exitOf(told); o.Detail != want || o.Succeeded != (want == "") {
			t.Errorf("%q ended as %+v", told, o)
		}
	}
	name := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(name, []byte(`{"payload":{"type":"function_call_output","output":"exit code 0"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, known := endOf(name, ""); known {
		t.Errorf("a call without a name ended as %+v", o)
	}
}

// TestOneYesAnswersTheClientOnce checks that one yes serves one equal call, and that its file is
// private.
func TestOneYesAnswersTheClientOnce(t *testing.T) {
	h := hook{Options: Options{Notes: filepath.Join(t.TempDir(), "runs")}}
	call := func(args map[string]any) *event {
		return &event{session: "s", proposal: client.Proposal{Executor: "Bash", Args: args}}
	}
	nameless, named := call(map[string]any{"command": func() {}}), call(map[string]any{"command": "make"})
	h.note(nameless, "i-0")
	if _, err := os.Stat(h.Notes); err == nil || h.mark(nameless) != "" || (&hook{}).mark(named) != "" {
		t.Errorf("noted what has no name: %v %q %q", err, h.mark(nameless), (&hook{}).mark(named))
	}
	h.note(named, "i-1")
	for name, text := range map[string]string{"junk": "{", "nothing": "{}"} {
		if err := os.WriteFile(filepath.Join(h.Notes, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, ok := h.read(name); ok {
			t.Errorf("%s is read as %+v", name, n)
		}
	}
	for i, row := range []struct {
		of      *event
		allowed bool
	}{{nameless, false}, {call(map[string]any{"command": "ls"}), false}, {named, true}, {named, false}} {
		if h.allowedNow(row.of) != row.allowed {
			t.Errorf("%d: allowed %v", i, !row.allowed)
		}
	}
	files, err := filepath.Glob(filepath.Join(h.Notes, "settled.*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestAStoppedHookDeniesTheClientsQuestion checks that a stopped hook answers no.
func TestAStoppedHookDeniesTheClientsQuestion(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out strings.Builder
	in := strings.Replace(bash, "PreToolUse", "PermissionRequest", 1)
	code, err := Run(ctx, Options{Client: "codex", Gate: &fakeGate{answer: pending, after: -1}, In: strings.NewReader(in), Out: &out})
	if code != 0 || err != nil || !strings.Contains(out.String(), `"behavior":"deny"`) || !strings.Contains(out.String(), "the hook was stopped") {
		t.Errorf("%d %v %s", code, err, out.String())
	}
}

// TestNothingIsNotedNowhere checks that nothing is written without a notes folder, least of all
// in the call's own folder.
func TestNothingIsNotedNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	say(t, &fakeGate{answer: allowed}, "claude-code", "", bash)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// TestARefusalThatCannotBeNoted checks that the model is not told to repeat a call that would not
// be recognised.
func TestARefusalThatCannotBeNoted(t *testing.T) {
	notes := t.TempDir()
	in := strings.Replace(bash, "PreToolUse", "PermissionDenied", 1)
	e, err := decodeClaude("claude-code", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir((&hook{Options: Options{Notes: notes}}).mark(&e), 0o700); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	code, err := Run(t.Context(), Options{Client: "claude-code", Gate: &fakeGate{answer: pending}, In: strings.NewReader(in), Out: &out, Notes: notes})
	if code != 0 || err != nil || out.String() != "" {
		t.Errorf("%d %v %s", code, err, out.String())
	}
}

// TestNoWordsForCline checks that no words produce no output.
func TestNoWordsForCline(t *testing.T) {
	if r := cline().allow("A person allowed it.", ""); len(r.out) > 0 {
		t.Errorf("%s", r.out)
	}
}

// TestKeysOfCalls checks that keys contain the client's own names where a header can hold them.
func TestKeysOfCalls(t *testing.T) {
	long := strings.Repeat("x", ask.LongestKey-2)
	for name, verbatim := range map[string]bool{"t1": true, "!~": true, long: true, long + "x": false, "a b": false, "a\x7f": false, "é": false} {
		e := event{session: "s", call: name}
		if key := e.key(); (key == "s:"+name) != verbatim || !verbatim && !strings.HasPrefix(key, "sha256:") {
			t.Errorf("the key of %q is %q", name, key)
		}
	}
}

// TestFoldersAreNoNotes checks that only files are read as notes.
func TestFoldersAreNoNotes(t *testing.T) {
	h := hook{Options: Options{Notes: t.TempDir()}}
	if err := os.Mkdir(filepath.Join(h.Notes, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Notes, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file"}, h.names()); diff != "" {
		t.Error(diff)
	}
	h.Notes = filepath.Join(h.Notes, "folder")
	if n, ok := h.claim(""); ok {
		t.Errorf("claimed %+v", n)
	}
	if _, err := os.Stat(h.Notes); err != nil {
		t.Error(err)
	}
}

// TestHowLongClientsWait checks that the limit of an unknown client is 0.
func TestHowLongClientsWait(t *testing.T) {
	if LimitOf("nobody") != 0 || LimitOf("gemini") <= 0 || LimitWithin("nobody", time.Minute) != 0 || LimitWithin("gemini", time.Minute) != time.Minute {
		t.Error(LimitOf("nobody"), LimitOf("gemini"), LimitWithin("nobody", time.Minute), LimitWithin("gemini", time.Minute))
	}
}

// TestNobodyWaitsForEver checks that a client's own cap wins over its settings.
func TestNobodyWaitsForEver(t *testing.T) {
	for name, most := range map[string]time.Duration{"qwen": time.Minute, "cline": 2 * time.Minute, "hermes": 5 * time.Minute, "kimi": 10 * time.Minute} {
		if got := LimitWithin(name, time.Hour); got != most {
			t.Errorf("%s waits %s, want %s", name, got, most)
		}
	}
}

// TestTurnsOfHermes checks that the turn is part of the session's turn ID, if Hermes names it.
func TestTurnsOfHermes(t *testing.T) {
	for extra, want := range map[string]string{`{}`: "s", `{"turn_id":"t"}`: "s:t"} {
		e, err := decodeHermes([]byte(`{"session_id":"s","tool_name":"run","tool_input":{},"hook_event_name":"pre_tool_call","extra":`+extra+`}`), nil)
		if err != nil || e.proposal.TurnID != want {
			t.Errorf("%s: the turn %q, %v", extra, e.proposal.TurnID, err)
		}
	}
}

// TestRecordedCalls checks that a recorded call is proposed as the client's hook would have.
func TestRecordedCalls(t *testing.T) {
	r := Recorded{Client: "claude-code", Session: "s", Turn: "t", Call: "c", Cwd: "/w", Tool: "Bash", Input: []byte(`{"command":"make"}`)}
	p, err := r.Proposal()
	if err != nil || p.Session != "s" || p.Context.Cwd != "/w" || p.Context.Client != "claude-code" || p.Args["command"] != "make" || p.Executor == "" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, input := range []string{"[]", "{", ""} {
		r.Input = []byte(input)
		if p, err := r.Proposal(); err == nil {
			t.Errorf("%q is proposed as %+v", input, p)
		}
	}
}

// TestHermesOwnGateIsAnswered passes the questions that Hermes would ask its user through the
// plugin to the hook: a person's yes to the same call also answers Hermes' own gate, once, and any
// other call is asked about.
func TestHermesOwnGateIsAnswered(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "runs")
	before := func(call string) string {
		return `{"hook_event_name":"pre_tool_call","tool_name":"terminal","tool_input":{"command":"rm -rf build","timeout":60},"session_id":"s","cwd":"/p","extra":{"tool_call_id":"` + call + `"}}`
	}
	asks := func(call string) string {
		return `{"hook_event_name":"approval_request","session_id":"s","cwd":"/p","extra":{"command":"rm -rf build","tool_call_id":"` + call + `"}}`
	}
	after := func(call string) string {
		return `{"hook_event_name":"post_tool_call","tool_name":"terminal","tool_input":{"command":"rm -rf build"},"session_id":"s","extra":{"tool_call_id":"` + call + `","status":"ok"}}`
	}
	for _, step := range []struct {
		what, in, out, asked string
		answer               client.Answer
		fails                string
	}{
		{"a person allows it", before("t1"), "{}\n", "propose; redeem the-permit", allowed, ""},
		{"of another call", asks("t2"), `{"choice":"deny"}` + "\n", "propose", refused, ""},
		{"of what the call runs besides", strings.Replace(asks("t1"), "build", "/", 1), `{"choice":"deny"}` + "\n", "propose", guarded, ""},
		{"that is enough", asks("t1"), `{"choice":"once"}` + "\n", "", allowed, ""},
		{"once", asks("t1"), `{"choice":"deny"}` + "\n", "propose", guarded, ""},
		{"its end is told", after("t1"), "{}\n", "report i-1 {Succeeded:true NotRun:false Detail:}", allowed, ""},
		{"the judges approve it", before("t3"), "{}\n", "propose", approved, ""},
		{"its gate asks, and a person allows", asks("t3"), `{"choice":"once"}` + "\n", "propose; redeem the-permit", allowed, ""},
		{"which serves nothing else that the call runs", asks("t3"), `{"choice":"deny"}` + "\n", "propose", refused, ""},
		{"and hears how it ended", after("t3"), "{}\n", "report i-1 {Succeeded:true NotRun:false Detail:}", allowed, ""},
		{"a call without a name", asks(""), `{"choice":"once"}` + "\n", "propose; redeem the-permit", allowed, ""},
		{"no daemon", asks("t4"), `{"choice":"deny"}` + "\n", "propose", approved, "propose"},
	} {
		g := &fakeGate{answer: step.answer}
		if step.fails != "" {
			g.fails = map[string]error{step.fails: client.ErrNotRunning}
		}
		var out strings.Builder
		code, err := Run(t.Context(), Options{Client: "hermes", Gate: g, In: strings.NewReader(step.in), Out: &out, Notes: notes})
		if code != 0 || err != nil || out.String() != step.out || strings.Join(g.asked, "; ") != step.asked {
			t.Errorf("%s: %d %v %q, asked %q", step.what, code, err, out.String(), g.asked)
		}
	}
	var out strings.Builder
	ours := `{"hook_event_name":"post_approval_response","session_id":"s","extra":{"command":"make","choice":"deny","surface":"transport:vaglio"}}`
	g := &fakeGate{answer: refused}
	if _, err := Run(t.Context(), Options{Client: "hermes", Gate: g, In: strings.NewReader(ours), Out: &out, Notes: notes}); err != nil || len(g.asked) > 0 {
		t.Errorf("its own answer is told again: %v, %q", err, g.asked)
	}
}
