package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// fakeGate answers one call as its fields say, and keeps the contract of [ask.Gate].
type fakeGate struct {
	answer client.Answer // what Propose answers
	later  client.Answer // what Await answers
	after  time.Duration // when Await answers; negative means never
	fails  map[string]error
	panics bool
	spent  int // how many times Redeem finds the permit spent

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

func (g *fakeGate) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	if g.panics {
		panic("broken")
	}
	g.last = r
	return g.answer, g.note("propose")
}

func (g *fakeGate) Await(ctx context.Context, id client.ID, wait time.Duration) (client.Answer, error) {
	g.wait = wait
	if err := g.note("await " + string(id)); err != nil {
		return client.Answer{}, err
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
		return client.Answer{}, ctx.Err()
	case <-time.After(wait):
		return g.answer, nil
	case <-decided:
		return g.later, nil
	}
}

func (g *fakeGate) Withdraw(ctx context.Context, id client.ID) (client.Answer, error) {
	if ctx.Err() != nil {
		return client.Answer{}, ctx.Err()
	}
	return g.answer, g.note("withdraw " + string(id))
}

func (g *fakeGate) Redeem(_ context.Context, permit string, call client.Proposal) error {
	if diff := cmp.Diff(g.last.Proposal, call); diff != "" {
		return errors.New("another call is redeemed: " + diff)
	}
	if err := g.note("redeem " + permit); err != nil {
		return err
	}
	if g.spent > 0 {
		g.spent--
		return &client.ProblemError{Type: "/problems/spent", Status: 409, Detail: "this permit is spent"}
	}
	return nil
}

func (g *fakeGate) Report(_ context.Context, id client.ID, o client.Outcome) error {
	return g.note(fmt.Sprintf("report %s %+v", id, o))
}

var (
	approved = client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}
	guarded  = client.Answer{
		Decision: client.Deny, Verdict: client.Verdict{BlockedBy: "guard"},
		Text: "vaglio: this call did not run.\nDenied by the guard (rule rm-root).\nThis is final: nobody can allow this call.",
	}
	pending = client.Answer{
		Decision: client.Pending, Verdict: client.Verdict{BlockedBy: "judge"}, Text: "vaglio: this call did not run.",
		Approval: &client.Approval{ID: "i-1", State: "pending"},
	}
	refused = client.Answer{
		Decision: client.Deny, Verdict: client.Verdict{BlockedBy: "judge"},
		Text:     "vaglio: this call did not run.\nThe person's words: \"use make clean\"",
		Approval: &client.Approval{ID: "i-1", State: "denied", Words: "use make clean"},
	}
	allowed = client.Answer{
		Decision: client.Allow, Verdict: client.Verdict{BlockedBy: "judge"},
		Approval: &client.Approval{ID: "i-1", State: "allowed"},
		Permit:   &client.Permit{Permit: "the-permit"},
	}
)

func with(a client.Answer, change func(*client.Answer)) client.Answer {
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

// parse checks that out is one complete answer in the client's protocol.
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

func run(t *testing.T, g ask.Gate, in io.Reader, limit time.Duration) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: in, Out: &out, Limit: limit}); err != nil {
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
		// want is the decision, "" for no output; the reason must contain reason.
		want, reason string
		asked        []string
	}{
		{"approved", &fakeGate{answer: approved}, bash, "", "", []string{"propose"}},
		{"guard-denies", &fakeGate{answer: guarded}, bash, "deny", "final", []string{"propose"}},
		{"person-allows", &fakeGate{answer: pending, later: allowed}, bash, "allow", "A person allowed this call, once (vaglio i-1).", []string{"propose", "await i-1", "redeem the-permit"}},
		{"person-denies", &fakeGate{answer: pending, later: refused}, bash, "deny", "use make clean", []string{"propose", "await i-1"}},
		{"nobody-answers", &fakeGate{answer: pending, after: -1}, bash, "deny", "held as i-1: nobody has answered yet. Repeat the same call after the answer", []string{"propose", "await i-1"}},
		{"old-decision", &fakeGate{answer: allowed}, bash, "allow", "once", []string{"propose", "redeem the-permit"}},
		{"old-denial", &fakeGate{answer: refused}, bash, "deny", "use make clean", []string{"propose"}},
		{"permit-not-redeemed", &fakeGate{answer: allowed, fails: map[string]error{"redeem the-permit": broken}}, bash, "deny", "could not be redeemed", []string{"propose", "redeem the-permit"}},
		{"permit-used-by-an-equal-call", &fakeGate{answer: allowed, spent: 1}, bash, "allow", "once", []string{"propose", "redeem the-permit", "propose", "redeem the-permit"}},
		{"too-large-for-the-daemon", &fakeGate{fails: map[string]error{"propose": &client.ProblemError{Status: 413, Detail: "the body is larger than 1048576 bytes"}}}, bash, "deny", "in several parts", []string{"propose"}},
		{"permit-used-already", &fakeGate{answer: with(allowed, func(a *client.Answer) { a.Permit = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"permit-without-approval", &fakeGate{answer: with(allowed, func(a *client.Answer) { a.Approval = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"allow-without-verdict", &fakeGate{answer: with(approved, func(a *client.Answer) { a.Verdict.Approved = false })}, bash, "deny", "does not understand", []string{"propose"}},
		{"approved-but-denied", &fakeGate{answer: with(approved, func(a *client.Answer) { a.Decision = client.Deny })}, bash, "deny", "without a reason", []string{"propose"}},
		{"unknown-decision", &fakeGate{answer: with(approved, func(a *client.Answer) { a.Decision = "maybe" })}, bash, "deny", "does not understand", []string{"propose"}},
		{"empty-answer", &fakeGate{}, bash, "deny", "does not understand", []string{"propose"}},
		{"pending-without-approval", &fakeGate{answer: with(pending, func(a *client.Answer) { a.Approval = nil })}, bash, "deny", "does not understand", []string{"propose"}},
		{"not-running", &fakeGate{fails: map[string]error{"propose": client.ErrNotRunning}}, bash, "deny", "vaglio is not running: start it with `vaglio serve`", []string{"propose"}},
		{"refused-shape", &fakeGate{fails: map[string]error{"propose": &client.ProblemError{Status: 422, Detail: "field x must be a string", Field: "/args/x"}}}, bash, "deny", "field x must be a string (/args/x)", []string{"propose"}},
		{"wait-fails", &fakeGate{answer: pending, fails: map[string]error{"await i-1": broken}}, bash, "deny", "held as i-1: broken", []string{"propose", "await i-1"}},
		{"gate-panics", &fakeGate{panics: true}, bash, "deny", "failed inside", nil},
		{"empty-input", &fakeGate{answer: approved}, "", "deny", "not the JSON", nil},
		{"not-json", &fakeGate{answer: approved}, "hello", "deny", "byte 0", nil},
		{"cut-json", &fakeGate{answer: approved}, bash[:90], "deny", "cannot be read", nil},
		{"two-documents", &fakeGate{answer: approved}, bash + bash, "deny", "cannot be read", nil},
		{"duplicate-key", &fakeGate{answer: approved}, strings.Replace(bash, `{"command"`, `{"command":"ls","command"`, 1), "deny", "cannot be read", nil},
		{"lone-surrogate", &fakeGate{answer: approved}, strings.Replace(bash, "touch", `\ud800`, 1), "deny", "cannot be read", nil},
		{"wrong-type", &fakeGate{answer: approved}, strings.Replace(bash, `"Bash"`, `7`, 1), "deny", "not the JSON", nil},
		{"other-event", &fakeGate{answer: approved}, strings.Replace(bash, "PreToolUse", "SessionStart", 1), "deny", "an event that it does not know", nil},
		{"no-tool", &fakeGate{answer: approved}, strings.Replace(bash, `"Bash"`, `""`, 1), "deny", "no tool", nil},
		{"no-arguments", &fakeGate{answer: approved}, strings.Replace(bash, "tool_input", "other", 1), "deny", "no arguments of the tool", nil},
		{"null-arguments", &fakeGate{answer: approved}, `{"hook_event_name":"PreToolUse","tool_name":"X","tool_input":null}`, "deny", "no arguments of the tool", nil},
		{"nul", &fakeGate{answer: approved}, strings.Replace(bash, "touch", `\u0000`, 1), "deny", "holds a NUL character", nil},
		{"too-deep", &fakeGate{answer: approved}, strings.Replace(bash, `"touch ran.txt"`, strings.Repeat("[", 70)+strings.Repeat("]", 70), 1), "deny", "nests deeper than 64 levels", nil},
		{"as-large-as-may-be", &fakeGate{answer: approved}, bash + strings.Repeat(" ", maxInput-len(bash)), "", "", []string{"propose"}},
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
	_, err := Run(t.Context(), Options{Client: "vim", Gate: &fakeGate{answer: approved}, In: strings.NewReader(bash), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "claude-code") {
		t.Errorf("error %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestUntoldAnswerIsAnError(t *testing.T) {
	code, err := Run(t.Context(), Options{Client: "claude-code", Gate: &fakeGate{answer: guarded}, In: strings.NewReader(bash), Out: brokenPipe{}})
	if !errors.Is(err, io.ErrClosedPipe) || code != 2 {
		t.Errorf("code %d, error %v", code, err)
	}
}

// TestAnUntoldReasonIsAnError checks that Run fails only if there was a reason to write.
func TestAnUntoldReasonIsAnError(t *testing.T) {
	const call = `{"trajectory_id":"s","agent_action_name":"pre_run_command","tool_info":{"command":"make"}}`
	code, err := Run(t.Context(), Options{Client: "windsurf", Gate: &fakeGate{answer: guarded}, In: strings.NewReader(call), Out: io.Discard, Err: brokenPipe{}})
	if !errors.Is(err, io.ErrClosedPipe) || code != 2 {
		t.Errorf("code %d, error %v", code, err)
	}
	code, err = Run(t.Context(), Options{Client: "windsurf", Gate: &fakeGate{answer: approved}, In: strings.NewReader(call), Out: brokenPipe{}, Err: brokenPipe{}})
	if err != nil || code != 0 {
		t.Errorf("code %d, error %v", code, err)
	}
}

// TestAnAnswerThatCannotBeWritten checks that such an answer denies by exit code.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	if r := line(math.NaN()); r.code != denied || !strings.Contains(r.err, "did not run") || len(r.out) > 0 {
		t.Errorf("%+v", r)
	}
}

// slow is a gate that never accepts a report.
type slow struct{ *fakeGate }

func (slow) Report(ctx context.Context, _ client.ID, _ client.Outcome) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestAReportHoldsNobodyUp checks that the client goes on if the gate does not take a report.
func TestAReportHoldsNobodyUp(t *testing.T) {
	notes := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := slow{&fakeGate{answer: allowed}}
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			start := time.Now()
			in := strings.NewReader(strings.Replace(bash, "PreToolUse", event, 1))
			code, err := Run(t.Context(), Options{Client: "claude-code", Gate: g, In: in, Out: io.Discard, Notes: notes})
			if took := time.Since(start); code != 0 || err != nil || (took == 5*time.Second) != (event == "PostToolUse") {
				t.Errorf("%s took %s: %d %v", event, took, code, err)
			}
		}
	})
}

// TestAnswersBeforeTheLimit checks that the hook answers within its client's limit, whatever the
// gate does.
func TestAnswersBeforeTheLimit(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{time.Minute: 10 * time.Second, time.Hour: 30 * time.Second} {
		if got := margin(limit); got != want {
			t.Errorf("of %s, %s are kept for answering", limit, got)
		}
	}
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
				if took := time.Since(start); took != whole-margin(whole)+margin(whole)/2 || s.Out.Decision != "deny" {
					t.Errorf("a gate that never answers held the hook for %s of %s: %+v", took, whole, s)
				}
			})
		})
	}
}

// deaf is a gate whose wait ends only with its context.
type deaf struct{ *fakeGate }

func (d deaf) Await(ctx context.Context, _ client.ID, _ time.Duration) (client.Answer, error) {
	<-ctx.Done()
	return client.Answer{}, ctx.Err()
}

func TestWordsOfAnAllowReachTheAgent(t *testing.T) {
	g := &fakeGate{answer: with(allowed, func(a *client.Answer) { a.Approval.Words = "only \"build\"\nplease" })}
	defer func() { allowed.Approval.Words = "" }()
	if s := parse(t, run(t, g, strings.NewReader(bash), 0)); !strings.Contains(s.Out.Context, `only \"build\"\nplease`) {
		t.Errorf("%+v", s)
	}
}

func TestLongTextIsCutVisibly(t *testing.T) {
	count := func(text string) (units int) {
		for _, r := range text {
			units++
			if r > 0xFFFF {
				units++
			}
		}
		return units
	}
	for _, text := range []string{
		strings.Repeat("x", 9500), strings.Repeat("x", 9501), strings.Repeat("😀", 5000), strings.Repeat("\xff", 9501), "", "\xff",
		strings.Repeat("x", 9499) + "😀",
		strings.Repeat("\uFFFF", 9500),
	} {
		whole, got := strings.ToValidUTF8(text, "\uFFFD"), fit(text)
		if count(whole) <= 9500 && got != whole || count(whole) > 9500 && (count(got) != 9500 || !strings.HasSuffix(got, " [cut]")) {
			t.Errorf("%d units from %d bytes: …%q", count(got), len(text), got[max(0, len(got)-20):])
		}
	}
}

func TestNobodyReadsWhatIsClosed(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	if unheard(f) || unheard(&bytes.Buffer{}) {
		t.Error("a file or a buffer has no reader")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !unheard(f) {
		t.Error("a closed file has a reader")
	}
}
