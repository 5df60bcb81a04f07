package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// fakeGate answers one call as its fields say, under the contract of Gate.
type fakeGate struct {
	answer approval.Answer // what Propose answers
	later  approval.Answer // what Await answers
	after  time.Duration   // when Await answers; negative means never
	fails  map[string]error
	panics bool

	mu    sync.Mutex
	asked []string
	last  client.Request
	wait  time.Duration
	// waits receives when Await is entered.
	waits chan struct{}
}

func (g *fakeGate) note(what string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, what)
	return g.fails[what]
}

func (g *fakeGate) Propose(_ context.Context, r client.Request) (approval.Answer, error) {
	if g.panics {
		panic("broken")
	}
	g.last = r
	return g.answer, g.note("propose")
}

func (g *fakeGate) Await(ctx context.Context, id approval.ID, wait time.Duration) (approval.Answer, error) {
	g.wait = wait
	if err := g.note("await " + string(id)); err != nil {
		return approval.Answer{}, err
	}
	if g.waits != nil {
		close(g.waits)
	}
	var decided <-chan time.Time
	if g.after >= 0 {
		decided = time.After(g.after)
	}
	select {
	case <-ctx.Done():
		return approval.Answer{}, ctx.Err()
	case <-time.After(wait):
		return g.answer, nil
	case <-decided:
		return g.later, nil
	}
}

func (g *fakeGate) Withdraw(ctx context.Context, id approval.ID) (approval.Answer, error) {
	if ctx.Err() != nil {
		return approval.Answer{}, ctx.Err()
	}
	return g.answer, g.note("withdraw " + string(id))
}

func (g *fakeGate) Redeem(_ context.Context, permit string, call vaglio.Proposal) error {
	if diff := cmp.Diff(g.last.Proposal, call); diff != "" {
		return errors.New("another call is redeemed: " + diff)
	}
	return g.note("redeem " + permit)
}

var (
	approved = approval.Answer{Decision: approval.RulingAllow, Verdict: vaglio.Verdict{Approved: true}}
	guarded  = approval.Answer{
		Decision: approval.RulingDeny, Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseGuard},
		Refusal: &approval.Refusal{
			Final: true, Phase: vaglio.PhaseGuard, Wanted: "Bash {}", Why: "The guard forbids it.", Rule: "rm-root",
			Alternatives: []string{"Delete less."},
		},
	}
	pending = approval.Answer{
		Decision: approval.RulingPending, Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseJudge},
		Refusal:  &approval.Refusal{Phase: vaglio.PhaseJudge, Why: "y"},
		Approval: &approval.Summary{ID: "i-1", State: approval.Pending},
	}
	denied = approval.Answer{
		Decision: approval.RulingDeny, Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseJudge},
		Refusal:  &approval.Refusal{Phase: vaglio.PhaseJudge, Final: true, Why: "A person said no.", Words: "use make clean"},
		Approval: &approval.Summary{ID: "i-1", State: approval.Denied, Words: "use make clean"},
	}
	allowed = approval.Answer{
		Decision: approval.RulingAllow, Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseJudge},
		Approval: &approval.Summary{ID: "i-1", State: approval.Allowed},
		Permit:   &approval.PermitText{Permit: "the-permit"},
	}
)

func with(a approval.Answer, change func(*approval.Answer)) approval.Answer {
	change(&a)
	return a
}

const bash = `{"session_id":"4f91","transcript_path":"/none.jsonl","cwd":"/p","prompt_id":"ce6c","permission_mode":"default",
 "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"touch ran.txt","timeout":9007199254740993},"tool_use_id":"toolu_1","effort":{"level":"high"}}`

// said is what the client reads.
type said struct {
	Out struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Context  string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// read checks that out is one whole answer of the client's protocol.
func parse(t testing.TB, out []byte) said {
	t.Helper()
	var s said
	if err := strictjson.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	if d := s.Out.Decision; s.Out.Event != "PreToolUse" || (d != "allow" && d != "deny") ||
		s.Out.Reason == "" || len(s.Out.Reason) > 4*9500 || len(s.Out.Context) > 4*9500 {
		t.Fatalf("%q", out)
	}
	return s
}

func run(t *testing.T, g Gate, in io.Reader, limit time.Duration) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: in, Out: &out, Limit: limit}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAnswers(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name string
		gate *fakeGate
		in   string
		// want is the decision, or "" for no output; reason must be in it.
		want, reason string
		asked        []string
	}{
		{"approved", &fakeGate{answer: approved}, bash, "", "", []string{"propose"}},
		{"guard-denies", &fakeGate{answer: guarded}, bash, "deny", "final", []string{"propose"}},
		{"person-allows", &fakeGate{answer: pending, later: allowed}, bash, "allow", "A person allowed this call, once (vaglio i-1).", []string{"propose", "await i-1", "redeem the-permit"}},
		{"person-denies", &fakeGate{answer: pending, later: denied}, bash, "deny", "use make clean", []string{"propose", "await i-1"}},
		{"nobody-answers", &fakeGate{answer: pending, after: -1}, bash, "deny", "held as i-1, nobody answered yet; the same call may be proposed again", []string{"propose", "await i-1"}},
		{"old-decision", &fakeGate{answer: allowed}, bash, "allow", "once", []string{"propose", "redeem the-permit"}},
		{"old-denial", &fakeGate{answer: denied}, bash, "deny", "use make clean", []string{"propose"}},
		{"permit-not-redeemed", &fakeGate{answer: allowed, fails: map[string]error{"redeem the-permit": broken}}, bash, "deny", "could not be redeemed", []string{"propose", "redeem the-permit"}},
		{"permit-used-already", &fakeGate{answer: with(allowed, func(a *approval.Answer) { a.Permit = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"permit-without-approval", &fakeGate{answer: with(allowed, func(a *approval.Answer) { a.Approval = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"allow-without-verdict", &fakeGate{answer: with(approved, func(a *approval.Answer) { a.Verdict.Approved = false })}, bash, "deny", "does not understand", []string{"propose"}},
		{"approved-but-denied", &fakeGate{answer: with(approved, func(a *approval.Answer) { a.Decision = approval.RulingDeny })}, bash, "deny", "without a reason", []string{"propose"}},
		{"unknown-decision", &fakeGate{answer: with(approved, func(a *approval.Answer) { a.Decision = "maybe" })}, bash, "deny", "does not understand", []string{"propose"}},
		{"empty-answer", &fakeGate{}, bash, "deny", "does not understand", []string{"propose"}},
		{"pending-without-approval", &fakeGate{answer: with(pending, func(a *approval.Answer) { a.Approval = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"not-running", &fakeGate{fails: map[string]error{"propose": client.ErrNotRunning}}, bash, "deny", "vaglio is not running: start it with `vaglio serve`", []string{"propose"}},
		{"refused-shape", &fakeGate{fails: map[string]error{"propose": &client.ProblemError{Status: 422, Detail: "field x must be a string", Field: "/args/x"}}}, bash, "deny", "field x must be a string (/args/x)", []string{"propose"}},
		{"wait-fails", &fakeGate{answer: pending, fails: map[string]error{"await i-1": broken}}, bash, "deny", "broken (held as i-1", []string{"propose", "await i-1"}},
		{"gate-panics", &fakeGate{panics: true}, bash, "deny", "failed inside", nil},
		{"empty-input", &fakeGate{answer: approved}, "", "deny", "not the JSON", nil},
		{"not-json", &fakeGate{answer: approved}, "hello", "deny", "byte 0", nil},
		{"cut-json", &fakeGate{answer: approved}, bash[:90], "deny", "cannot be read", nil},
		{"two-documents", &fakeGate{answer: approved}, bash + bash, "deny", "cannot be read", nil},
		{"duplicate-key", &fakeGate{answer: approved}, strings.Replace(bash, `{"command"`, `{"command":"ls","command"`, 1), "deny", "cannot be read", nil},
		{"lone-surrogate", &fakeGate{answer: approved}, strings.Replace(bash, "touch", `\ud800`, 1), "deny", "cannot be read", nil},
		{"wrong-type", &fakeGate{answer: approved}, strings.Replace(bash, `"Bash"`, `7`, 1), "deny", "not the JSON", nil},
		{"other-event", &fakeGate{answer: approved}, strings.Replace(bash, "PreToolUse", "PostToolUse", 1), "deny", "another event", nil},
		{"no-tool", &fakeGate{answer: approved}, strings.Replace(bash, `"Bash"`, `""`, 1), "deny", "no tool", nil},
		{"no-arguments", &fakeGate{answer: approved}, strings.Replace(bash, "tool_input", "other", 1), "deny", "no tool_input", nil},
		{"null-arguments", &fakeGate{answer: approved}, `{"hook_event_name":"PreToolUse","tool_name":"X","tool_input":null}`, "deny", "no tool_input", nil},
		{"too-large", &fakeGate{answer: approved}, strings.Repeat(" ", maxInput+1), "deny", "larger than", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := run(t, tc.gate, strings.NewReader(tc.in), 0)
				if diff := cmp.Diff(tc.asked, tc.gate.asked); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				if tc.want == "" {
					if len(out) != 0 {
						t.Errorf("wrote %q", out)
					}
					return
				}
				if s := parse(t, out); s.Out.Decision != tc.want || !strings.Contains(s.Out.Reason, tc.reason) {
					t.Errorf("wrote %s, want %s with %q", out, tc.want, tc.reason)
				}
			})
		})
	}
}

func TestInputThatBreaksOffDenies(t *testing.T) {
	out := run(t, &fakeGate{answer: approved}, iotest.TimeoutReader(strings.NewReader(bash+strings.Repeat(" ", 200_000))), 0)
	if s := parse(t, out); s.Out.Decision != "deny" {
		t.Errorf("wrote %s", out)
	}
}

func TestUnknownClientIsAnError(t *testing.T) {
	err := Run(t.Context(), Options{Client: "vim", Gate: &fakeGate{answer: approved}, In: strings.NewReader(bash), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "claude-code") {
		t.Errorf("error %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestUntoldAnswerIsAnError(t *testing.T) {
	err := Run(t.Context(), Options{Client: "claude-code", Gate: &fakeGate{answer: guarded}, In: strings.NewReader(bash), Out: brokenPipe{}})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

// TestAnswersBeforeTheLimit holds the hook to its client's limit whatever the
// gate does.
func TestAnswersBeforeTheLimit(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Minute, 10 * time.Minute, 4 * time.Second} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				whole := limit
				if limit == 0 {
					whole = DefaultLimit
				}
				start := time.Now()
				g := &fakeGate{answer: pending, after: -1}
				parse(t, run(t, g, strings.NewReader(bash), limit))
				if took := time.Since(start); took != whole-margin(whole) || g.wait != took {
					t.Errorf("answered after %s of %s", took, whole)
				}
				start = time.Now()
				s := parse(t, run(t, deaf{g}, strings.NewReader(bash), limit))
				if took := time.Since(start); took >= whole || s.Out.Decision != "deny" {
					t.Errorf("a gate that never answers held the hook for %s of %s: %+v", took, whole, s)
				}
			})
		})
	}
}

// deaf is a gate whose wait ends with its context only.
type deaf struct{ *fakeGate }

func (d deaf) Await(ctx context.Context, _ approval.ID, _ time.Duration) (approval.Answer, error) {
	<-ctx.Done()
	return approval.Answer{}, ctx.Err()
}

func TestWordsOfAnAllowReachTheAgent(t *testing.T) {
	g := &fakeGate{answer: with(allowed, func(a *approval.Answer) { a.Approval.Words = "only \"build\"\nplease" })}
	defer func() { allowed.Approval.Words = "" }()
	if s := parse(t, run(t, g, strings.NewReader(bash), 0)); !strings.Contains(s.Out.Context, `only \"build\"\nplease`) {
		t.Errorf("%+v", s)
	}
}

func TestLongTextIsCutVisibly(t *testing.T) {
	d := claudeCode()
	for _, text := range []string{
		strings.Repeat("x", 9500), strings.Repeat("x", 9501), strings.Repeat("😀", 5000), strings.Repeat("\xff", 9501), "", "\xff",
		strings.Repeat("x", 9499) + "😀",
	} {
		got := d.fit(text)
		units := 0
		for _, r := range got {
			units++
			if r > 0xFFFF {
				units++
			}
		}
		if units > 9500 || (got != strings.ToValidUTF8(text, "\uFFFD") && !strings.HasSuffix(got, " [cut]")) {
			t.Errorf("%d units from %d bytes: …%q", units, len(text), got[max(0, len(got)-20):])
		}
	}
}

func TestSettings(t *testing.T) {
	got, err := Settings("claude-code", "/usr/local/bin/vaglio")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "claude-code-settings.json")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][2]string{{"claude-code", "vaglio"}, {"vim", "/v"}} {
		if _, err := Settings(bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if diff := cmp.Diff([]string{"claude-code"}, Clients()); diff != "" {
		t.Error(diff)
	}
}
